// Values whose names are values themselves: `{"name":"password","value":…}`.
extension SecretScanner {
  /// How far before a value the beginning of its object is looked for.
  private static let mostBefore = 1_024
  /// How much of an object is looked through for the name.
  private static let mostOfObject = 4_096

  /// Whether two bytes can end the name of a value that has another name beside it; it may be written with capitals.
  @inline(__always)
  static func mayEndValueName(_ last: UInt8, behind before: UInt8) -> Bool {
    last | 0x20 == UInt8(ascii: "e") && before | 0x20 == UInt8(ascii: "u")
  }

  /// Whether the name of a member is `value`, and another one of its object says by the name of a secret whose value.
  /// - Parameters:
  ///   - name: The name.
  ///   - start: Where it begins.
  ///   - escapes: The number of backslashes before each quote.
  /// - Returns: Whether it is so.
  func isNamedBeside(_ name: UnsafeRawBufferPointer, at start: Int, escapes: Int) -> Bool {
    guard SecretNames.isValueName(name),
      let object = objectStart(before: start - 1 - escapes, escapes)
    else { return false }
    let end = min(bytes.count, object + Self.mostOfObject)
    let part = UnsafeRawBufferPointer(rebasing: bytes[object..<end])
    return SecretScanner(part, names).beginsWithNamedMembers(escapes)
  }

  /// Returns where the members of the object begin that a name stands in; nil where that is too far away, or no object.
  private func objectStart(before name: Int, _ escapes: Int) -> Int? {
    let first = max(0, name - Self.mostBefore)
    var (index, depth, isInString) = (name, 0, false)
    while index > first {
      index -= 1
      switch bytes[index] {
      case UInt8(ascii: "\""):
        if endsString(at: index, from: first, escapes) { isInString.toggle() }
      case _ where isInString: continue
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth += 1
      case UInt8(ascii: "{") where depth == 0: return index + 1
      case UInt8(ascii: "[") where depth == 0: return nil
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth -= 1
      default: continue
      }
    }
    return nil
  }

  /// Whether one of the members that the text begins with has a name for a value, and that is the name of a secret.
  private func beginsWithNamedMembers(_ escapes: Int) -> Bool {
    var place = 0
    while let name = string(at: spaceEnd(from: place), escapes),
      let start = valueStart(after: name.upperBound + escapes + 1)
    {
      var end: Int
      if let text = string(at: start, escapes) {
        if SecretNames.isNameOfName(part(name)), names.contain(value: part(text)) { return true }
        end = text.upperBound + escapes + 1
      } else {
        let isContainer = "{[".utf8.contains(bytes[start])
        end = isContainer ? containerEnd(from: start, escapes) : scalarEnd(from: start)
      }
      end = spaceEnd(from: end)
      guard end < bytes.count, bytes[end] == UInt8(ascii: ",") else { return false }
      place = end + 1
    }
    return false
  }

  private func part(_ range: Range<Int>) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[range])
  }

  /// Returns the string that begins at an index, without its quotes; nil where there is none, or not all of it.
  private func string(at start: Int, _ escapes: Int) -> Range<Int>? {
    let quote = start + escapes
    guard quote < bytes.count, bytes[quote] == UInt8(ascii: "\""),
      backslashes(before: quote, from: start) == escapes,
      let end = stringEnd(from: quote + 1, escapes), end > quote
    else { return nil }
    return quote + 1..<end
  }
}

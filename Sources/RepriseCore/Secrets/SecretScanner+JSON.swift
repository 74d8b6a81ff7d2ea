// The values of JSON members.
extension SecretScanner {
  /// Returns the value of a member that begins at an index; nil for an empty string and for `null`, `true` and
  /// `false`, which tell nothing.
  ///
  /// `escapes` is the number of backslashes before each quote that ends a name or a string there: 0, or in
  /// JSON that stands in a string itself 1, 3, 7 and so on.
  func value(at start: Int, escapes: Int) -> Secret? {
    let quote = String(repeating: "\\", count: escapes) + "\""
    let opening = start + escapes
    if opening < bytes.count, bytes[opening] == UInt8(ascii: "\""),
      backslashes(before: opening, from: start) == escapes
    {
      let end = stringEnd(from: opening + 1, escapes) ?? bytes.count
      guard end > opening + 1 else { return nil }
      return Secret(range: opening + 1..<end, substitute: RedactionRules.mark)
    }
    let end =
      switch bytes[start] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): containerEnd(from: start, escapes)
      default: scalarEnd(from: start)
      }
    guard end > start, !Self.tellsNothing(bytes[start..<end]) else { return nil }
    return Secret(range: start..<end, substitute: quote + RedactionRules.mark + quote)
  }

  /// Whether it is a word of JSON or of Python: what has no value is asked for otherwise than what has one.
  static func tellsNothing(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
    ["null", "true", "false", "None", "True", "False"].contains { word.elementsEqual($0.utf8) }
  }

  /// Returns where a number or a word ends that begins at an index.
  func scalarEnd(from start: Int) -> Int {
    var index = start
    while index < bytes.count, !Self.isSpace(bytes[index]) {
      switch bytes[index] {
      case UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "{"),
        UInt8(ascii: "["), UInt8(ascii: "\""):
        return index
      // White space, or the end of the text, in JSON that stands in a string.
      case UInt8(ascii: "\\") where index > start: return index
      default: index += 1
      }
    }
    return index
  }

  /// Returns where an object or an array ends that begins at an index; where the text is cut, its end.
  func containerEnd(from start: Int, _ escapes: Int) -> Int {
    var depth = 0
    var index = start
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return index + 1 }
      case UInt8(ascii: "\""):
        guard let end = stringEnd(from: index + 1, escapes) else { return bytes.count }
        index = end + escapes
      default: break
      }
      index += 1
    }
    return bytes.count
  }

  /// Returns where a string ends, before the backslashes of its closing quote; nil when the text is cut.
  func stringEnd(from start: Int, _ escapes: Int) -> Int? {
    var index = start
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "\""), endsString(at: index, from: start, escapes) {
        return index - escapes
      }
      index += 1
    }
    return nil
  }

  /// Whether a quote ends the string that began before `start`, and is no character of it.
  ///
  /// Where the ending quote has n backslashes, a backslash of the string's own is written by n + 1 of them, and
  /// comes in pairs, but for the one before a quote that is a character.
  func endsString(at index: Int, from start: Int, _ escapes: Int) -> Bool {
    backslashes(before: index, from: start) % (2 * (escapes + 1)) == escapes
  }
}

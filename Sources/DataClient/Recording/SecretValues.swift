import Wire

extension [UInt8] {
  /// Appends well-formed UTF-8 as ``append(escaped:)`` does, with `***` for the values of JSON
  /// members whose names are those of secrets.
  ///
  /// What is JSON stays JSON: `***` is a string in the place of every value, be it a number or an object.
  mutating func append(escapedHidingSecrets bytes: RawSpan) {
    bytes.withUnsafeBytes { SecretValues.hide(in: $0) { append(escaped: $0) } }
  }
}

extension String {
  /// The text with `***` for the values of JSON members in it whose names are those of secrets; it may be JSON
  /// or contain it, also as a string of JSON.
  package var hidingSecrets: String {
    guard SecretKeys.stand(in: utf8Span.span.bytes) else { return self }
    var hidden: [UInt8] = []
    Array(utf8).withUnsafeBytes { SecretValues.hide(in: $0) { hidden.append(contentsOf: $0) } }
    return String(decoding: hidden, as: UTF8.self)
  }
}

/// Where the values of secrets stand in JSON, one after the other.
///
/// The text is not parsed: it may be several texts, a part of one, or in an encoding that is not UTF-8.
struct SecretValues {
  /// The value of a secret.
  struct Secret {
    /// Where it stands; a string without its quotes.
    var range: Range<Int>
    /// What may be shown in its place.
    var substitute: String
  }

  private let bytes: UnsafeRawBufferPointer
  private var index = 0
  /// The index after the last quote; -1 before the first.
  private var quote = -1

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  /// Tells whether the value of a secret stands anywhere in some bytes.
  static func stand(in bytes: RawSpan) -> Bool {
    bytes.withUnsafeBytes { bytes in
      var secrets = SecretValues(bytes)
      return secrets.next() != nil
    }
  }

  /// Hands on some bytes in pieces, with `***` in the place of secrets.
  static func hide(in bytes: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Void) {
    var secrets = SecretValues(bytes)
    var start = 0
    while let secret = secrets.next() {
      take(UnsafeRawBufferPointer(rebasing: bytes[start..<secret.range.lowerBound]))
      var substitute = secret.substitute
      substitute.withUTF8 { take(UnsafeRawBufferPointer($0)) }
      start = secret.range.upperBound
    }
    take(UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Returns the next secret's value.
  mutating func next() -> Secret? {
    // Every payload goes through here: the places stay in registers.
    var (place, name) = (index, quote)
    defer { (index, quote) = (place, name) }
    while place < bytes.count {
      place += 1
      guard bytes[place - 1] == UInt8(ascii: "\"") else { continue }
      let secret = mayEndName(place - 1) ? secret(named: name, place - 1) : nil
      if let secret { place = secret.range.upperBound }
      name = place
      if let secret { return secret }
    }
    return nil
  }

  /// Whether the quote at an index has something behind it that can stand between a name and its value.
  @inline(__always)
  private func mayEndName(_ quote: Int) -> Bool {
    guard quote + 1 < bytes.count else { return false }
    let byte = bytes[quote + 1]
    return byte == UInt8(ascii: ":") || byte == UInt8(ascii: "\\") || Self.isSpace(byte)
  }

  /// Returns the value of the member whose name stands between an index and a quote, if it is the name of a
  /// secret.
  private func secret(named start: Int, _ end: Int) -> Secret? {
    // JSON in a string of JSON has backslashes before its quotes.
    guard start >= 0, let value = valueStart(after: end + 1) else { return nil }
    let escapes = backslashes(before: end, from: start)
    guard SecretKeys.contain(UnsafeRawBufferPointer(rebasing: bytes[start..<end - escapes])) else {
      return nil
    }
    return self.value(at: value, escapes: escapes)
  }

  /// How many backslashes stand right before an index, looked for back to another one.
  private func backslashes(before index: Int, from start: Int) -> Int {
    var first = index
    while first > max(0, start), bytes[first - 1] == UInt8(ascii: "\\") { first -= 1 }
    return index - first
  }

  /// Returns where a value begins when what stands before an index is the name of a member.
  private func valueStart(after index: Int) -> Int? {
    let colon = spaceEnd(from: index)
    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return nil }
    let start = spaceEnd(from: colon + 1)
    return start < bytes.count ? start : nil
  }

  /// Returns where white space ends that begins at an index (RFC 8259 section 2); in a string it is escaped.
  private func spaceEnd(from index: Int) -> Int {
    var index = index
    while index < bytes.count {
      if Self.isSpace(bytes[index]) {
        index += 1
      } else if let end = escapedSpaceEnd(from: index) {
        index = end
      } else {
        break
      }
    }
    return index
  }

  /// Returns where an escaped line end or tabulator ends that begins at an index; nil when there is none.
  private func escapedSpaceEnd(from index: Int) -> Int? {
    var end = index
    while end < bytes.count, bytes[end] == UInt8(ascii: "\\") { end += 1 }
    guard end > index, end < bytes.count else { return nil }
    switch bytes[end] {
    case UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"): return end + 1
    default: return nil
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  // MARK: Values

  /// Returns the value of a member that begins at an index; nil for an empty string and for `null`, `true` and
  /// `false`, which tell nothing.
  ///
  /// `escapes` is the number of backslashes before each quote that ends a name or a string there: 0, or in
  /// JSON that stands in a string itself 1, 3, 7 and so on.
  private func value(at start: Int, escapes: Int) -> Secret? {
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

  /// Whether it is a word of JSON: what has no value is asked for otherwise than what has one.
  private static func tellsNothing(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
    ["null", "true", "false"].contains { word.elementsEqual($0.utf8) }
  }

  /// Returns where a number or a word ends that begins at an index.
  private func scalarEnd(from start: Int) -> Int {
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
  private func containerEnd(from start: Int, _ escapes: Int) -> Int {
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
  private func stringEnd(from start: Int, _ escapes: Int) -> Int? {
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
  private func endsString(at index: Int, from start: Int, _ escapes: Int) -> Bool {
    backslashes(before: index, from: start) % (2 * (escapes + 1)) == escapes
  }
}

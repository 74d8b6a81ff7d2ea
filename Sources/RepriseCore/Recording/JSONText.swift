import Wire

/// The pieces of JSON text, appended to a buffer without making strings (RFC 8259).
extension [UInt8] {
  @inline(__always)
  mutating func append(_ literal: StaticString) {
    literal.withUTF8Buffer { append(copying: UnsafeRawBufferPointer($0)) }
  }

  mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes { append(copying: $0) }
  }

  /// Appends a whole number in decimal.
  mutating func append(decimal value: Int) {
    if value >= 0, value < 10 { return append(UInt8(ascii: "0") + UInt8(value)) }
    appendShort(atMost: 20) { $0.append(decimal: value) }
  }

  mutating func append(_ value: Bool) { append(value ? "true" : "false" as StaticString) }

  /// Appends a JSON string; what is not well-formed UTF-8 becomes U+FFFD.
  mutating func append(quoted bytes: RawSpan) {
    append(UInt8(ascii: "\""))
    if UTF8Text.isWellFormed(bytes) {
      append(escaped: bytes)
    } else {
      let repaired = Array(String(copying: bytes).utf8)
      append(escaped: repaired.span.bytes)
    }
    append(UInt8(ascii: "\""))
  }

  /// Appends a JSON string.
  package mutating func append(quoted text: String) {
    var text = text
    append(UInt8(ascii: "\""))
    text.withUTF8 { append(escaped: UnsafeRawBufferPointer($0)) }
    append(UInt8(ascii: "\""))
  }

  /// Appends well-formed UTF-8 with the escapes that JSON asks for.
  mutating func append(escaped bytes: RawSpan) {
    bytes.withUnsafeBytes { append(escaped: $0) }
  }

  /// Appends well-formed UTF-8 with the escapes that JSON asks for, and with escapes for what must not reach a
  /// terminal: the characters of control and of direction, see `TerminalText`.
  mutating func append(escaped bytes: UnsafeRawBufferPointer) {
    let most = Self.shortTextLimit / JSONEscape.longest
    var start = 0
    while start < bytes.count {
      var end = Swift.min(start + most, bytes.count)
      // A character is not cut.
      while end > start, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
      if end == start { end = Swift.min(start + most, bytes.count) }
      let piece = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      appendShort(atMost: piece.count * JSONEscape.longest) { $0.append(escaped: piece) }
      start = end
    }
  }

  /// Appends base64 with padding (RFC 4648 section 4).
  package mutating func append(base64 bytes: RawSpan) {
    bytes.withUnsafeBytes { bytes in
      var index = 0
      while index < bytes.count {
        let rest = bytes.count - index
        let second = rest > 1 ? bytes[index + 1] : 0
        let third = rest > 2 ? bytes[index + 2] : 0
        let word = UInt32(bytes[index]) << 16 | UInt32(second) << 8 | UInt32(third)
        append(JSONEscape.base64Digit(word >> 18))
        append(JSONEscape.base64Digit(word >> 12))
        append(rest > 1 ? JSONEscape.base64Digit(word >> 6) : UInt8(ascii: "="))
        append(rest > 2 ? JSONEscape.base64Digit(word) : UInt8(ascii: "="))
        index += 3
      }
    }
  }
}

extension OutputSpan<UInt8> {
  /// Appends a piece of UTF-8 with the escapes that JSON asks for.
  mutating func append(escaped bytes: UnsafeRawBufferPointer) {
    var start = 0
    var index = JSONEscape.next(in: bytes, from: 0)
    while index < bytes.count {
      let byte = bytes[index]
      let size = byte < 0x80 ? 1 : TerminalText.size(lead: byte, rest: bytes.count - index)
      let character = UnsafeRawBufferPointer(rebasing: bytes[index..<index + size])
      if byte < 0x80 {
        append(copying: UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
        append(escape: byte)
        start = index + size
      } else if TerminalText.isUnsafe(character) {
        append(copying: UnsafeRawBufferPointer(rebasing: bytes[start..<index]))
        append(number: TerminalText.scalar(character))
        start = index + size
      }
      index = JSONEscape.next(in: bytes, from: index + size)
    }
    append(copying: UnsafeRawBufferPointer(rebasing: bytes[start...]))
  }

  /// Appends a character by its number, in two halves where four digits are not enough (RFC 8259 section 7).
  private mutating func append(number: UInt32) {
    guard number > 0xFFFF else { return append(unit: number) }
    let rest = number - 0x1_0000
    append(unit: 0xD800 | rest >> 10)
    append(unit: 0xDC00 | rest & 0x3FF)
  }

  private mutating func append(unit: UInt32) {
    append("\\u")
    for shift: UInt32 in [12, 8, 4, 0] {
      append(JSONEscape.hexDigit(UInt8(truncatingIfNeeded: unit >> shift & 0xF)))
    }
  }

  /// Appends the escape of one byte below U+0020, of a quotation mark or of a backslash.
  private mutating func append(escape byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      append(UInt8(ascii: "\\"))
      append(byte)
    case UInt8(ascii: "\n"): append("\\n")
    case UInt8(ascii: "\r"): append("\\r")
    case UInt8(ascii: "\t"): append("\\t")
    default:
      append("\\u00")
      append(JSONEscape.hexDigit(byte >> 4))
      append(JSONEscape.hexDigit(byte & 0xF))
    }
  }
}

/// Digits and the question which bytes a JSON string can't hold as they are, or may not.
enum JSONEscape {
  /// The bytes of the longest escape: `\\u001f`.
  static let longest = 6

  /// Returns where the next byte stands from a place on that is to be escaped, or begins a character that may
  /// be; the end if there is none.
  @inline(__always)
  static func next(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
    var index = start
    while index &+ 8 <= bytes.count {
      let lanes = ByteLanes(bytes, at: index)
      let found =
        lanes.below(0x20) | lanes.equal(UInt8(ascii: "\""))
        | lanes.equal(UInt8(ascii: "\\")) | lanes.equal(0x7F) | lanes.beyondASCII
      guard found == 0 else { return index &+ ByteLanes.first(found) }
      index &+= 8
    }
    while index < bytes.count, !mayBeNeeded(bytes[index]) { index &+= 1 }
    return index
  }

  @inline(__always)
  private static func mayBeNeeded(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte >= 0x7F
  }

  static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + (value - 10)
  }

  @inline(__always)
  static func base64Digit(_ word: UInt32) -> UInt8 {
    switch UInt8(truncatingIfNeeded: word & 0x3F) {
    case let value where value < 26: UInt8(ascii: "A") + value
    case let value where value < 52: UInt8(ascii: "a") + (value - 26)
    case let value where value < 62: UInt8(ascii: "0") + (value - 52)
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }
}

import Wire

/// Text from outside, made safe to show at a terminal.
///
/// Control characters could move the cursor or rewrite the title, and marks of writing direction
/// could show a text in another order than it has; both are shown by their numbers instead.
package enum TerminalText {
  /// Appends text for people.
  /// - Parameters:
  ///   - text: The text; what is not well-formed UTF-8 becomes U+FFFD.
  ///   - buffer: Where to append UTF-8.
  ///   - limit: The most characters to show; `…` stands for the rest.
  package static func append(_ text: RawSpan, to buffer: inout [UInt8], limit: Int = .max) {
    guard UTF8Text.isWellFormed(text) else {
      let repaired = Array(String(copying: text).utf8)
      return append(repaired.span.bytes, to: &buffer, limit: limit)
    }
    var offset = 0
    var shown = 0
    while offset < text.byteCount {
      guard shown < limit else {
        buffer.append("…")
        return
      }
      shown += 1
      let byte = text.byte(at: offset)
      let size = size(lead: byte, rest: text.byteCount - offset)
      if size == 1 {
        append(ascii: byte, to: &buffer)
      } else {
        append(text.extracting(offset..<(offset + size)), to: &buffer)
      }
      offset += size
    }
  }

  static func size(lead: UInt8, rest: Int) -> Int {
    switch lead {
    case 0..<0xC0: 1
    case 0xC0..<0xE0: min(2, rest)
    case 0xE0..<0xF0: min(3, rest)
    default: min(4, rest)
    }
  }

  private static func append(ascii byte: UInt8, to buffer: inout [UInt8]) {
    switch byte {
    case 0x0A: buffer.append("\\n")
    case 0x0D: buffer.append("\\r")
    case 0x09: buffer.append("\\t")
    case 0..<0x20, 0x7F: append(number: UInt32(byte), to: &buffer)
    default: buffer.append(byte)
    }
  }

  /// The character that two to four bytes of well-formed UTF-8 are.
  static func scalar(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    guard let lead = bytes.first else { return 0 }
    return bytes.dropFirst().reduce(UInt32(lead) & (0xFF >> UInt32(bytes.count + 1))) {
      $0 << 6 | UInt32($1 & 0x3F)
    }
  }

  /// Whether a character of UTF-8 is one to be shown by its number.
  @inline(__always)
  static func isUnsafe(_ character: UnsafeRawBufferPointer) -> Bool {
    switch character.first {
    case 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF3: isUnsafe(scalar(character))
    // None that begins so is one.
    default: false
    }
  }

  private static func append(_ sequence: RawSpan, to buffer: inout [UInt8]) {
    let value = sequence.withUnsafeBytes { scalar($0) }
    if isUnsafe(value) {
      append(number: value, to: &buffer)
    } else {
      buffer.append(sequence)
    }
  }

  /// Whether a character is one of control, of direction, of no width, or an end of line.
  static func isUnsafe(_ value: UInt32) -> Bool {
    switch value {
    case 0x80..<0xA0, 0xAD, 0x61C, 0x180E, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x206F,
      0xFEFF,
      0xFFF9...0xFFFB, 0xE0000...0xE007F:
      true
    default: false
    }
  }

  private static func append(number: UInt32, to buffer: inout [UInt8]) {
    buffer.append("\\u{")
    buffer.append(contentsOf: String(number, radix: 16).utf8)
    buffer.append("}")
  }
}

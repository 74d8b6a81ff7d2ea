import Wire

extension JSONParser {
  /// Reads a string from its opening quote on.
  mutating func readString() throws(JSONSyntaxError) -> String {
    offset += 1
    let start = offset
    skipPlainText()
    switch next {
    case UInt8(ascii: "\""):
      let text = try validated(start..<offset)
      offset += 1
      return text
    case UInt8(ascii: "\\"): return try readEscapedString(from: start)
    case nil: throw error("the text ends inside a string")
    default: throw error("a control character in a string must be escaped")
    }
  }

  /// Goes on to the next quote, backslash or control character, eight bytes at a time where there is none.
  private mutating func skipPlainText() {
    while offset &+ 8 <= bytes.byteCount,
      Self.isPlain(bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    {
      offset &+= 8
    }
    while let byte = next, byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
      offset += 1
    }
  }

  private static func isPlain(_ word: UInt64) -> Bool {
    let low: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    let quote = word ^ (low &* UInt64(UInt8(ascii: "\"")))
    let backslash = word ^ (low &* UInt64(UInt8(ascii: "\\")))
    // A byte below n has its high bit set in (x - n) & ~x; a borrow can only add such bits, and then single bytes
    // have the last word.
    let stops =
      ((quote &- low) & ~quote) | ((backslash &- low) & ~backslash)
      | ((word &- low &* 0x20) & ~word)
    return stops & high == 0
  }

  private func validated(_ range: Range<Int>) throws(JSONSyntaxError) -> String {
    let text = bytes.extracting(range)
    guard UTF8Text.isWellFormed(text) else {
      throw JSONSyntaxError(
        message: "the string is not well-formed UTF-8", offset: range.lowerBound)
    }
    return String(copying: text)
  }

  /// Reads a string that has escapes; the place of reading is the first of them.
  private mutating func readEscapedString(from start: Int) throws(JSONSyntaxError) -> String {
    var text = try validated(start..<offset)
    var plain = offset
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        text += try validated(plain..<offset)
        offset += 1
        return text
      case UInt8(ascii: "\\"):
        text += try validated(plain..<offset)
        text.unicodeScalars.append(try readEscape())
        plain = offset
      case 0..<0x20: throw error("a control character in a string must be escaped")
      default: offset += 1
      }
    }
    throw error("the text ends inside a string")
  }

  private mutating func readEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
    offset += 1
    guard let byte = next else { throw error("the text ends inside a string") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try readUnicodeEscape()
    default:
      offset -= 1
      throw error("JSON has no such escape")
    }
  }

  private mutating func readUnicodeEscape() throws(JSONSyntaxError) -> Unicode.Scalar {
    let start = offset
    let first = try readFourDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    // Half of a surrogate pair; only the two halves together are a character.
    if first < 0xDC00, next == UInt8(ascii: "\\") {
      offset += 1
      if next == UInt8(ascii: "u") {
        offset += 1
        let second = try readFourDigits()
        if (0xDC00...0xDFFF).contains(second) {
          let value = 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
          if let scalar = Unicode.Scalar(value) { return scalar }
        }
      }
    }
    throw JSONSyntaxError(message: "half a surrogate pair is no character", offset: start)
  }

  private mutating func readFourDigits() throws(JSONSyntaxError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Hexadecimal.value(of: byte) else {
        throw error("four hexadecimal digits should stand behind \\u")
      }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }
}

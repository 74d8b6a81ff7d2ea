/// What a UTF-8 string on the wire holds that a rule may forbid, found in one pass.
struct TextScan {
  /// Offset in the text of the first byte that is not well-formed UTF-8 (RFC 3629), if any.
  var invalidUTF8: Int?
  /// Offset of the first U+0000, if any.
  var null: Int?
  /// Offset of the first `+` or `#`, if any.
  var wildcard: Int?

  /// Scans text; plain ASCII, which most topics are, goes eight bytes at a time.
  @inline(__always)
  init(_ text: RawSpan) {
    var offset = 0
    let count = text.byteCount
    while offset &+ 8 <= count {
      let word = text.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard Self.isPlain(word) else { break }
      offset &+= 8
    }
    guard offset < count else { return }
    // Of what is left the last eight bytes say the same, some of them once more.
    if count >= 8, offset > count &- 8,
      Self.isPlain(text.unsafeLoadUnaligned(fromByteOffset: count &- 8, as: UInt64.self))
    {
      return
    }
    scanBytes(text, from: offset)
  }

  /// Tells whether eight bytes are all ASCII and none of them is NUL, `+` or `#`.
  @inline(__always)
  private static func isPlain(_ word: UInt64) -> Bool {
    let low: UInt64 = 0x0101_0101_0101_0101
    let high: UInt64 = 0x8080_8080_8080_8080
    // (x - 1) & ~x has its high bit set in a byte that is zero; a borrow can only add such bits, and
    // then the slow path has the last word.
    let plus = word ^ (low &* UInt64(UInt8(ascii: "+")))
    let hash = word ^ (low &* UInt64(UInt8(ascii: "#")))
    let zero = ((word &- low) & ~word) | ((plus &- low) & ~plus) | ((hash &- low) & ~hash)
    return (word | zero) & high == 0
  }

  private mutating func scanBytes(_ text: RawSpan, from start: Int) {
    var offset = start
    while offset < text.byteCount {
      let byte = text.byte(at: offset)
      if byte < 0x80 {
        if byte == 0, null == nil { null = offset }
        if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "#"), wildcard == nil {
          wildcard = offset
        }
        offset += 1
      } else if let size = Self.sequenceSize(text, at: offset) {
        offset += size
      } else {
        if invalidUTF8 == nil { invalidUTF8 = offset }
        offset += 1
      }
    }
  }

  /// Returns the length of a well-formed multi-byte sequence (RFC 3629 section 4), or nil.
  private static func sequenceSize(_ text: RawSpan, at offset: Int) -> Int? {
    let lead = text.byte(at: offset)
    func tail(_ index: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
      offset + index < text.byteCount && range.contains(text.byte(at: offset + index))
    }
    switch lead {
    case 0xC2...0xDF: return tail(1) ? 2 : nil
    case 0xE0: return tail(1, 0xA0...0xBF) && tail(2) ? 3 : nil
    case 0xE1...0xEC, 0xEE, 0xEF: return tail(1) && tail(2) ? 3 : nil
    // U+D800...U+DFFF are surrogates, which UTF-8 must not encode.
    case 0xED: return tail(1, 0x80...0x9F) && tail(2) ? 3 : nil
    case 0xF0: return tail(1, 0x90...0xBF) && tail(2) && tail(3) ? 4 : nil
    case 0xF1...0xF3: return tail(1) && tail(2) && tail(3) ? 4 : nil
    case 0xF4: return tail(1, 0x80...0x8F) && tail(2) && tail(3) ? 4 : nil
    default: return nil
    }
  }
}

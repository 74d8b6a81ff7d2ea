/// Tells whether a text that comes in pieces is well-formed UTF-8 (RFC 3629 section 4).
public struct UTF8Validator: Sendable {
  /// How many bytes the current character still lacks.
  private var lacking = 0
  /// What its next byte must be.
  private var lower: UInt8 = 0x80
  private var upper: UInt8 = 0xBF

  /// Creates a validator at the start of a text.
  public init() {}

  /// Whether the text may end here: not inside a character.
  public var isComplete: Bool { lacking == 0 }

  /// Takes the next piece of the text.
  /// - Parameter bytes: The piece; a character may go on in the next one.
  /// - Returns: The offset in the piece of the first byte that can't stand there, nil if there is none.
  public mutating func consume(_ bytes: RawSpan) -> Int? {
    var offset = 0
    let count = bytes.byteCount
    while offset < count {
      if lacking == 0 {
        while offset &+ 8 <= count,
          bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
            & 0x8080_8080_8080_8080 == 0
        {
          offset &+= 8
        }
        guard offset < count else { break }
      }
      guard take(bytes.byte(at: offset)) else { return offset }
      offset &+= 1
    }
    return nil
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard lacking == 0 else {
      guard byte >= lower, byte <= upper else { return false }
      lacking -= 1
      lower = 0x80
      upper = 0xBF
      return true
    }
    switch byte {
    case 0..<0x80: return true
    case 0xC2...0xDF: lacking = 1
    case 0xE0...0xEF:
      lacking = 2
      if byte == 0xE0 { lower = 0xA0 }
      // U+D800...U+DFFF are surrogates, which UTF-8 must not encode.
      if byte == 0xED { upper = 0x9F }
    case 0xF0...0xF4:
      lacking = 3
      if byte == 0xF0 { lower = 0x90 }
      if byte == 0xF4 { upper = 0x8F }
    default: return false
    }
    return true
  }
}

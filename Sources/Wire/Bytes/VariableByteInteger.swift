/// The Variable Byte Integer of MQTT: seven bits a byte, least significant first.
///
/// MQTT 5.0 section 1.5.5; the Remaining Length of MQTT 3.1.1 section 2.2.3 is the same.
public enum VariableByteInteger {
  /// The largest value that four bytes hold: 268,435,455.
  public static let maximum = 268_435_455

  /// What stands at a place.
  public enum Reading: Sendable, Hashable {
    /// A value, and the number of bytes that encode it (1...4).
    case value(Int, size: Int)
    /// The bytes end before the value does.
    case needMore
    /// The fourth byte still says that another follows.
    case tooLong
  }

  /// Reads a value.
  /// - Parameters:
  ///   - bytes: The bytes to read from.
  ///   - offset: Where the value starts; at or after `end` there is nothing yet.
  ///   - end: Where to stop reading; clamped to the span.
  /// - Returns: The value and its size, or why there is none.
  @inline(__always)
  public static func read(_ bytes: RawSpan, at offset: Int, end: Int) -> Reading {
    let end = Swift.min(end, bytes.byteCount)
    var value = 0
    var size = 0
    while size < 4 {
      guard offset >= 0, offset &+ size < end else { return .needMore }
      let byte = bytes.byte(at: offset &+ size)
      value |= Int(byte & 0x7F) << (7 * size)
      size += 1
      if byte & 0x80 == 0 { return .value(value, size: size) }
    }
    return .tooLong
  }

  /// Returns how many bytes the shortest encoding of a value takes (1...4).
  public static func size(of value: Int) -> Int {
    switch value {
    case ..<128: 1
    case ..<16_384: 2
    case ..<2_097_152: 3
    default: 4
    }
  }

  /// Appends the encoding of a value.
  /// - Parameters:
  ///   - value: 0...``maximum``; clamped to it.
  ///   - bytes: Where to append.
  ///   - size: The number of bytes to use; raised to what the value needs.
  public static func append(_ value: Int, to bytes: inout [UInt8], size: Int = 1) {
    var rest = Swift.min(Swift.max(0, value), maximum)
    let count = Swift.min(4, Swift.max(size, self.size(of: rest)))
    for index in 1...count {
      bytes.append(UInt8(rest & 0x7F) | (index < count ? 0x80 : 0))
      rest >>= 7
    }
  }
}

/// Eight bytes of a text that are compared at once, the first of them in the lowest lane.
///
/// A comparison sets the high bit of each lane that fits. Of several set lanes only the lowest is sure to fit, unless
/// it says otherwise: the borrow of a subtraction can set those above it.
struct ByteLanes {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let lows: UInt64 = 0x7F7F_7F7F_7F7F_7F7F
  private static let highs: UInt64 = 0x8080_8080_8080_8080

  private let word: UInt64

  /// Reads eight bytes, all of which the text has.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  /// Where a byte stands, in which some bits may be set or not.
  @inline(__always)
  func equal(_ byte: UInt8, settingBits bits: UInt8 = 0) -> UInt64 {
    let rest = (word | Self.ones &* UInt64(bits)) ^ Self.ones &* UInt64(byte)
    return (rest &- Self.ones) & ~rest & Self.highs
  }

  /// Where a byte does not stand, in which some bits may be set or not: of all lanes, of which each is told for sure.
  @inline(__always)
  func differ(from byte: UInt8, settingBits bits: UInt8 = 0) -> UInt64 {
    let rest = (word | Self.ones &* UInt64(bits)) ^ Self.ones &* UInt64(byte)
    // No lane carries into the next one, as its high bit is left out.
    return ((rest & Self.lows) &+ Self.lows | rest) & Self.highs
  }

  /// The lanes that are not set.
  @inline(__always)
  static func others(_ lanes: UInt64) -> UInt64 { ~lanes & highs }

  /// Where a byte stands that is less than another one, of at most 0x80.
  @inline(__always)
  func below(_ limit: UInt8) -> UInt64 {
    (word &- Self.ones &* UInt64(limit)) & ~word & Self.highs
  }

  /// Where a byte stands that is no ASCII.
  @inline(__always)
  var beyondASCII: UInt64 { word & Self.highs }

  /// The offset of the lowest lane that is set; 8 if none is.
  @inline(__always)
  static func first(_ lanes: UInt64) -> Int { lanes.trailingZeroBitCount >> 3 }
}

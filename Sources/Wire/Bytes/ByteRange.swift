/// A place inside a packet: offset and length in bytes, counted from the packet's first byte.
///
/// Packets are at most 268,435,460 bytes long (MQTT 5.0 section 2.1.4), so 32 bits are enough, and
/// a decoded packet stays small.
struct ByteRange: Sendable, Hashable {
  var start: UInt32
  var count: UInt32

  static let empty = ByteRange(start: 0, count: 0)

  init(start: UInt32, count: UInt32) {
    self.start = start
    self.count = count
  }

  /// Creates a range from bounds that the caller has checked against a span.
  init(_ bounds: Range<Int>) {
    start = UInt32(truncatingIfNeeded: bounds.lowerBound)
    count = UInt32(truncatingIfNeeded: bounds.count)
  }

  var bounds: Range<Int> { Int(start)..<(Int(start) + Int(count)) }
}

extension RawSpan {
  /// Returns the byte at an offset that the caller has checked; out of bounds is a bug of the caller.
  @inline(__always)
  func byte(at offset: Int) -> UInt8 {
    unsafeLoad(fromByteOffset: offset, as: UInt8.self)
  }

  /// Returns a part of the span; empty when the range does not lie in it.
  @inline(__always) @_lifetime(copy self)
  func part(_ range: ByteRange) -> RawSpan {
    let bounds = range.bounds
    return extracting(bounds.upperBound <= byteCount ? bounds : 0..<0)
  }
}

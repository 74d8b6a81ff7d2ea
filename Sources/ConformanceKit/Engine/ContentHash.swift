extension Int64 {
  /// The sum, or the end of the range that it lies beyond: times of a capture may be any.
  @inline(__always)
  func addingSaturating(_ other: Int64) -> Int64 {
    let (sum, isBeyond) = addingReportingOverflow(other)
    return isBeyond ? (other < 0 ? .min : .max) : sum
  }
}

/// Tells messages from others by their topic and payload, in 64 bits: of all messages that are kept at once two differ
/// and have the same one less than once in a hundred million captures.
struct ContentHash: Hashable {
  let value: UInt64

  init(topic: RawSpan, payload: RawSpan) {
    var state = Self.fold(Self.seed ^ UInt64(truncatingIfNeeded: topic.byteCount), Self.factor)
    Self.add(topic, to: &state)
    state = Self.fold(state ^ UInt64(truncatingIfNeeded: payload.byteCount), Self.factor)
    Self.add(payload, to: &state)
    value = state
  }

  /// The hash of one text, mixed with what it belongs to.
  static func of(_ bytes: RawSpan, in context: UInt64 = 0) -> UInt64 {
    var state = fold(seed ^ context, factor ^ UInt64(truncatingIfNeeded: bytes.byteCount))
    add(bytes, to: &state)
    return state
  }

  private static let seed: UInt64 = 0x9E37_79B9_7F4A_7C15
  private static let factor: UInt64 = 0xD6E8_FEB8_6659_FD93

  private static func fold(_ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = first.multipliedFullWidth(by: second)
    return product.high ^ product.low
  }

  private static func add(_ bytes: RawSpan, to state: inout UInt64) {
    bytes.withUnsafeBytes { bytes in
      let count = bytes.count
      var index = 0
      while count - index >= 8 {
        state = fold(state ^ bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self), factor)
        index += 8
      }
      guard index < count else { return }
      // The last eight bytes, some of which were there before: which, the length tells, and it is in the hash.
      guard count < 8 else {
        state = fold(
          state ^ bytes.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self), factor)
        return
      }
      var word: UInt64 = 0
      for byte in bytes { word = word << 8 | UInt64(byte) }
      state = fold(state ^ word, factor)
    }
  }
}

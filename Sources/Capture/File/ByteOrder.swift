/// The order in which the bytes of a number stand in a file.
enum ByteOrder: Sendable {
  case little, big
}

/// Numbers read from bytes nobody has vouched for: nil, never a trap, where there are too few.
extension RawSpan {
  /// Returns the byte at an offset.
  @inline(__always)
  func uint8(at offset: Int) -> UInt8? {
    guard offset >= 0, offset < byteCount else { return nil }
    return unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
  }

  /// Returns the 16-bit number in network byte order at an offset.
  @inline(__always)
  func uint16(at offset: Int) -> UInt16? {
    guard offset >= 0, byteCount &- offset >= 2 else { return nil }
    return UInt16(
      bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
  }

  /// Returns the 32-bit number in network byte order at an offset.
  @inline(__always)
  func uint32(at offset: Int) -> UInt32? {
    guard offset >= 0, byteCount &- offset >= 4 else { return nil }
    return UInt32(
      bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
  }

  /// Returns the 64-bit number in network byte order at an offset.
  @inline(__always)
  func uint64(at offset: Int) -> UInt64? {
    guard offset >= 0, byteCount &- offset >= 8 else { return nil }
    return UInt64(
      bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self))
  }

  /// Returns the 16-bit number at an offset, in the given byte order.
  @inline(__always)
  func uint16(at offset: Int, _ order: ByteOrder) -> UInt16? {
    guard let value = uint16(at: offset) else { return nil }
    return order == .big ? value : value.byteSwapped
  }

  /// Returns the 32-bit number at an offset, in the given byte order.
  @inline(__always)
  func uint32(at offset: Int, _ order: ByteOrder) -> UInt32? {
    guard let value = uint32(at: offset) else { return nil }
    return order == .big ? value : value.byteSwapped
  }

  /// Returns the bytes of a range, cut to what there is.
  @inline(__always)
  @_lifetime(copy self)
  func clamped(_ start: Int, _ end: Int) -> RawSpan {
    let upper = Swift.max(0, Swift.min(end, byteCount))
    let lower = Swift.max(0, Swift.min(start, upper))
    return extracting(lower..<upper)
  }
}

/// A reading position in a packet, with an end that it never passes.
struct ByteCursor: ~Escapable {
  let bytes: RawSpan
  private(set) var offset: Int
  let end: Int

  /// Creates a cursor over a part of a span.
  /// - Parameters:
  ///   - bytes: The bytes that offsets count from.
  ///   - offset: Where reading starts.
  ///   - end: Where it ends; clamped to the span.
  @_lifetime(copy bytes)
  init(_ bytes: RawSpan, from offset: Int, to end: Int) {
    self.bytes = bytes
    self.end = Swift.min(end, bytes.byteCount)
    self.offset = Swift.min(offset, self.end)
  }

  var remaining: Int { end - offset }
  var isAtEnd: Bool { offset >= end }

  mutating func readByte() -> UInt8? {
    guard offset < end else { return nil }
    defer { offset += 1 }
    return bytes.byte(at: offset)
  }

  mutating func readUInt16() -> UInt16? {
    guard remaining >= 2 else { return nil }
    defer { offset += 2 }
    return UInt16(bytes.byte(at: offset)) << 8 | UInt16(bytes.byte(at: offset + 1))
  }

  mutating func readUInt32() -> UInt32? {
    guard let high = remaining >= 4 ? readUInt16() : nil, let low = readUInt16() else { return nil }
    return UInt32(high) << 16 | UInt32(low)
  }

  /// Reads a field with a length of two bytes before it; nil, and nothing consumed, when it is cut.
  mutating func readPrefixed() -> ByteRange? {
    guard remaining >= 2 else { return nil }
    let count = Int(bytes.byte(at: offset)) << 8 | Int(bytes.byte(at: offset + 1))
    guard remaining >= 2 + count else { return nil }
    defer { offset += 2 + count }
    return ByteRange(offset + 2..<offset + 2 + count)
  }

  /// Reads a Variable Byte Integer (MQTT 5.0 section 1.5.5); nothing consumed when it is bad or cut.
  mutating func readVariableByteInteger() -> VariableByteInteger.Reading {
    let reading = VariableByteInteger.read(bytes, at: offset, end: end)
    if case .value(_, let size) = reading { offset += size }
    return reading
  }

  mutating func readRest() -> ByteRange {
    defer { offset = end }
    return ByteRange(offset..<end)
  }

  /// Moves forward, at most to the end.
  mutating func skip(_ count: Int) {
    offset = Swift.min(end, offset + Swift.max(0, count))
  }
}

/// A block of a pcapng file in the making (draft-ietf-opsawg-pcapng section 3.1), in the byte order of its section.
struct PcapngBlock {
  let order: ByteOrder
  /// The block without the copy of its length.
  private(set) var bytes: [UInt8] = []

  /// Begins a block.
  init(_ type: UInt32, _ order: ByteOrder) {
    self.order = order
    put(type)
    put(UInt32(0))
  }

  /// Adds a number.
  mutating func put(_ value: some FixedWidthInteger) {
    let ordered = order == .big ? value.bigEndian : value.littleEndian
    withUnsafeBytes(of: ordered) { bytes.append(contentsOf: $0) }
  }

  /// Adds bytes, and what brings the block to a multiple of four of them.
  mutating func put(padded span: RawSpan) {
    span.withUnsafeBytes { bytes.append(contentsOf: $0) }
    while !bytes.count.isMultiple(of: 4) { bytes.append(0) }
  }

  /// Adds a moment in two halves, the higher one first.
  mutating func put(ticks: UInt64) {
    put(UInt32(truncatingIfNeeded: ticks >> 32))
    put(UInt32(truncatingIfNeeded: ticks))
  }

  /// Adds an option; of a longer one than 65,532 bytes, its first ones.
  mutating func putOption(_ code: UInt16, _ value: [UInt8]) {
    let value = value.prefix(65_532)
    put(code)
    put(UInt16(truncatingIfNeeded: value.count))
    put(padded: Array(value).span.bytes)
  }

  /// Adds comments as options, and ends those if there are any.
  mutating func putComments(_ comments: [String]) {
    guard !comments.isEmpty else { return }
    for comment in comments { putOption(1, Array(comment.utf8)) }
    endOptions()
  }

  mutating func endOptions() { put(UInt32(0)) }

  /// Writes the length on both sides.
  consuming func finished() -> [UInt8] {
    let length = UInt32(truncatingIfNeeded: bytes.count + 4)
    put(length)
    bytes.put(length, at: 4, order)
    return bytes
  }
}

extension [UInt8] {
  /// Overwrites bytes by a number; does nothing where there are too few.
  mutating func put(_ value: some FixedWidthInteger, at offset: Int, _ order: ByteOrder) {
    let ordered = order == .big ? value.bigEndian : value.littleEndian
    let size = MemoryLayout.size(ofValue: ordered)
    guard offset >= 0, offset + size <= count else { return }
    Swift.withUnsafeBytes(of: ordered) { replaceSubrange(offset..<offset + size, with: $0) }
  }
}

/// Bytes of many packets, each in one piece, in blocks that never move.
///
/// One array would be copied whenever it grows, and would take twice its size for that moment.
struct ByteStore: Sendable {
  /// Where the bytes of a packet are.
  struct Place: Sendable {
    var block: UInt32
    var offset: UInt32
    var count: UInt32
  }

  private static let blockSize = 1 << 20
  private var blocks: [[UInt8]] = []

  /// Keeps bytes; nil where there are more than can be counted.
  mutating func append(_ bytes: RawSpan) -> Place? {
    let count = bytes.byteCount
    guard let size = UInt32(exactly: count) else { return nil }
    if blocks.last.map({ $0.count + count > max(Self.blockSize, count) }) ?? true {
      var block: [UInt8] = []
      block.reserveCapacity(max(Self.blockSize, count))
      blocks.append(block)
    }
    let last = blocks.count - 1
    guard let number = UInt32(exactly: last), let offset = UInt32(exactly: blocks[last].count)
    else { return nil }
    bytes.withUnsafeBytes { blocks[last].append(contentsOf: $0) }
    return Place(block: number, offset: offset, count: size)
  }

  /// Calls a closure with bytes that were kept.
  func withBytes<Result>(at place: Place, _ use: (RawSpan) -> Result) -> Result? {
    guard blocks.indices.contains(Int(place.block)) else { return nil }
    let block = blocks[Int(place.block)]
    let end = Int(place.offset) + Int(place.count)
    guard end <= block.count else { return nil }
    return use(block.span.bytes.extracting(Int(place.offset)..<end))
  }
}

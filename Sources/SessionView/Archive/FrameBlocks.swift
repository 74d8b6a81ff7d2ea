/// Where among events the frames of a number can be.
///
/// Events mostly come in the order of their frames, but not those of streams that waited for bytes of others. So of
/// each block of events the least and the largest number is known, and only blocks that may have one are searched.
struct FrameBlocks: Sendable {
  private static let blockSize = 1_024
  private var blocks: [ClosedRange<Int>] = []
  private var count = 0

  /// Takes the frame of the next event.
  mutating func append(_ frame: Int) {
    if count.isMultiple(of: Self.blockSize) {
      blocks.append(frame...frame)
    } else if let last = blocks.popLast() {
      blocks.append(min(last.lowerBound, frame)...max(last.upperBound, frame))
    }
    count += 1
  }

  /// The places of the events among which those of some frames are.
  func places(near frames: ClosedRange<Int>) -> [Range<Int>] {
    blocks.indices.filter { blocks[$0].overlaps(frames) }.map { block in
      let start = block * Self.blockSize
      return start..<min(start + Self.blockSize, count)
    }
  }
}

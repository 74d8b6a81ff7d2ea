import RepriseCore
import TestSupport
import Testing

@testable import Capture

/// What waits behind a hole: in order, without overlap, and with no more work for more of it.
@Suite struct PendingSegmentsTests {
  private static func arrival(_ frame: Int) -> Arrival {
    Arrival(frame: frame, time: Timestamp(nanoseconds: 0))
  }

  private static func take(
    _ segment: PendingSegments.Segment, from expected: inout [Int: UInt8]
  ) {
    for (index, byte) in segment.bytes.enumerated() {
      let first = expected.removeValue(forKey: segment.offset + index)
      #expect(first == byte)
    }
  }

  @Test("Whatever the order, each byte is the first that came for its place", arguments: 0..<20)
  func firstBytesWin(_ seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var pending = PendingSegments()
    var expected: [Int: UInt8] = [:]
    var taken = 0
    for frame in 1...600 {
      let offset = taken + random.int(0...899)
      let value = UInt8(truncatingIfNeeded: frame)
      let bytes = [UInt8](repeating: value, count: random.int(1...20))
      pending.insert(
        bytes.span.bytes, at: offset, length: bytes.count, demand: .min, Self.arrival(frame))
      for place in offset..<(offset + bytes.count) where expected[place] == nil {
        expected[place] = value
      }
      if frame % 3 == 0 {
        let first = pending.removeFirst()
        let segment = try #require(first)
        #expect(segment.offset == expected.keys.min())
        Self.take(segment, from: &expected)
        taken = segment.end
      }
    }
    #expect(pending.byteCount == expected.count)
    var last = taken
    while let segment = pending.removeFirst() {
      #expect(segment.offset >= last)
      last = segment.end
      Self.take(segment, from: &expected)
    }
    #expect(expected.isEmpty && pending.isEmpty && pending.count == 0)
    #expect(pending.byteCount == 0 && pending.reserved == 0)
  }

  @Test("A segment takes more than its bytes")
  func reserved() {
    var pending = PendingSegments()
    for place in 0..<1_000 {
      let byte: [UInt8] = [0]
      pending.insert(byte.span.bytes, at: 2 * place, length: 1, demand: .min, Self.arrival(1))
    }
    #expect(pending.byteCount == 1_000 && pending.count == 1_000)
    #expect(pending.reserved >= 1_000 * MemoryLayout<PendingSegments.Segment>.stride)
    for left in (0..<1_000).reversed() {
      let segment = pending.removeFirst()
      #expect(segment?.offset == 2 * (999 - left))
      #expect(pending.count == left)
      #expect(pending.first?.offset == (left > 0 ? 2 * (1_000 - left) : nil))
    }
    #expect(pending.isEmpty && pending.reserved == 0)
  }
}

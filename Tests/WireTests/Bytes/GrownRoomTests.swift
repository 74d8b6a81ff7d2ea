import Testing

@testable import Wire

/// How the room of buffers is counted.
@Suite struct GrownRoomTests {
  @Test(arguments: [(0, 0), (1, 1), (2, 2), (3, 4), (4, 4), (5, 8), (4_096, 4_096), (4_097, 8_192)])
  func roomOfAnArrayIsTheNextPowerOfTwo(count: Int, size: Int) {
    #expect([UInt8](repeating: 0, count: count).grownSize == size)
    #expect([UInt64](repeating: 0, count: count).grownSize == size * 8)
  }

  /// An array's own capacity is what the allocator had beside what was asked for.
  @Test func dependsOnNothingButTheCount() {
    var roomy: [UInt8] = [1, 2, 3]
    roomy.reserveCapacity(1_000)
    #expect(roomy.capacity >= 1_000 && roomy.grownSize == 4)
  }

  @Test func staysWhenABufferIsEmptied() {
    var room = GrownRoom()
    for (count, size) in [(0, 0), (3, 3), (0, 3), (4, 6), (5, 6), (7, 12), (100, 100), (2, 100)] {
      room.hold(count)
      #expect(room.size == size)
    }
  }
}

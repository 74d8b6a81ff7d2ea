import RepriseCore
import Testing

@testable import Capture

/// Captures of the same traffic that were put together by clocks that differ.
@Suite struct MergedClocksTests {
  private static let second: Int64 = 1_000_000_000

  private static func feed(
    _ repeats: [(side: Side, first: Int64, distance: Int64)], isAcknowledged: Bool = true,
    apart shift: UInt64 = 0
  ) -> Bool {
    var clocks = MergedClocks()
    for (index, entry) in repeats.enumerated() {
      let mark = UInt64(index + 1) << (32 + shift) | 1
      clocks.take(mark, of: entry.side, at: entry.first) { isAcknowledged }
    }
    for (index, entry) in repeats.enumerated() {
      let mark = UInt64(index + 1) << (32 + shift) | 1
      clocks.take(mark, of: entry.side, at: entry.first + entry.distance) { isAcknowledged }
    }
    return clocks.areThere
  }

  private static func repeats(
    _ count: Int, every pause: Int64 = 250_000_000, distance: Int64, varying: Int64 = 0,
    sides: [Side] = [.first, .second]
  ) -> [(side: Side, first: Int64, distance: Int64)] {
    (0..<count).map {
      (sides[$0 % sides.count], Int64($0) * pause, distance + Int64($0) * varying)
    }
  }

  @Test(
    "What is repeated at one distance in both directions shows two clocks",
    arguments: [
      (6, 5_000, 0, true), (5, 5_000, 0, false), (6, -5_000, 0, true), (6, 3_600_000, 0, true),
      // Clocks that differ by less than any rule leaves room for.
      (6, 1_000, 0, false), (6, 1_001, 0, true), (6, -1_000, 0, false),
      // On a long way, and sent again.
      (6, 5_000, 50, true), (6, 5_000, 300, false), (60, 5_000, 300, false),
    ] as [(Int, Int64, Int64, Bool)])
  func oneDistance(count: Int, distance: Int64, varying: Int64, areThere: Bool) {
    let repeats = Self.repeats(
      count, distance: distance * 1_000_000, varying: varying * 1_000_000)
    #expect(Self.feed(repeats) == areThere)
  }

  @Test(
    "Segments that want one place get places of their own, as long as there may be more",
    // Eight bits tell the first places from each other, and fifteen those that there are at the most.
    arguments: [(0, true), (7, true), (8, true), (11, true), (12, true), (13, false), (15, false)])
  func places(apart shift: UInt64, areThere: Bool) {
    let repeats = Self.repeats(7, distance: 5 * Self.second)
    #expect(Self.feed(repeats, apart: shift) == areThere)
  }

  @Test("What one end sends again shows nothing", arguments: [Side.first, .second])
  func oneDirection(side: Side) {
    #expect(!Self.feed(Self.repeats(60, distance: 5 * Self.second, sides: [side])))
  }

  @Test("What is sent again at once had been sent at once", arguments: [(199, false), (200, true)])
  func burst(pause: Int64, areThere: Bool) {
    let repeats = Self.repeats(6, every: pause * 1_000_000, distance: 3 * Self.second)
    #expect(Self.feed(repeats) == areThere)
  }

  @Test("What nobody acknowledged is sent again")
  func notAcknowledged() {
    #expect(!Self.feed(Self.repeats(60, distance: 5 * Self.second), isAcknowledged: false))
  }

  @Test("Three clocks have three distances, of which each counts")
  func threeClocks() {
    let five = Self.repeats(6, distance: 5 * Self.second)
    let nine = Self.repeats(6, distance: 9 * Self.second)
    #expect(Self.feed(zip(five, nine).flatMap { [$0, $1] }))
  }

  /// The ends of a session whose segments stand in the capture once more, by other times.
  private func ends(
    of part: Range<Int>, later distance: Int64, fromOne sender: Peer? = nil, clock: UInt32? = nil
  ) -> [Bool] {
    var dialogue = Dialogue.opened()
    for _ in 0..<20 {
      dialogue.send(.client, SmallPacket.ping)
      dialogue.send(.server, SmallPacket.pong)
    }
    dialogue.close()
    var timed = dialogue.segments.enumerated().map { index, segment in
      (segment: segment, time: Int64(index) * 100_000_000)
    }
    for (segment, time) in timed[part] where sender == nil || segment.sender == sender {
      var copy = segment
      copy.clock = clock
      timed.append((copy, time + distance))
    }
    timed.sort { $0.time < $1.time }
    let tap = Tap(timed.map(\.segment), time: { Int(timed[$0].time) })
    #expect(tap.gaps == [])
    return tap.events.compactMap { event in
      if case .closed(let closing) = event.body { closing.isLate } else { nil }
    }
  }

  @Test("Of a connection that is there twice by two clocks nothing says when anything arrived")
  func connections() {
    #expect(ends(of: 10..<60, later: 3 * Self.second) == [true])
    #expect(ends(of: 10..<60, later: 900_000_000) == [false])
    #expect(ends(of: 10..<16, later: 3 * Self.second) == [false])
    // The sender's clock goes on between what is sent and what is sent again.
    #expect(ends(of: 10..<60, later: 3 * Self.second, clock: 7) == [false])
    #expect(ends(of: 10..<60, later: 3 * Self.second, fromOne: .client) == [false])
  }
}

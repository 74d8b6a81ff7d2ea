import RepriseCore
import Testing

@testable import ConformanceKit

/// Times of both directions, in milliseconds and in the order of the events.
struct ClocksCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let differ: Bool
  let times: [(peer: Peer, milliseconds: Int64)]
  /// The frames, from 1 on where nothing else is said.
  let frames: [Int]

  init(_ name: String, differ: Bool, _ times: [(Peer, Int64)], frames: [Int]? = nil) {
    testDescription = name
    self.differ = differ
    self.times = times.map { (peer: $0.0, milliseconds: $0.1) }
    self.frames = frames ?? Array(1...times.count)
  }

  static let all = Peer.allCases.flatMap { first -> [ClocksCase] in
    let second = first.other
    return [
      ClocksCase("nothing of the other side than the \(first)", differ: false, [(first, 5_000)]),
      ClocksCase(
        "in order, the \(first) first", differ: false, [(first, 1_000), (second, 90_000)]),
      ClocksCase("a second behind the \(first)", differ: false, [(first, 9_000), (second, 8_000)]),
      ClocksCase(
        "more than a second behind the \(first)", differ: true, [(first, 9_001), (second, 8_000)]),
      ClocksCase(
        "what waited in the direction of the \(first)", differ: false,
        [(first, 9_000), (first, 1_000)], frames: [2, 1]),
      ClocksCase(
        "set back by a second in the direction of the \(first)", differ: false,
        [(first, 9_000), (first, 8_000)]),
      ClocksCase(
        "set back by more in the direction of the \(first)", differ: true,
        [(first, 9_001), (first, 8_000)]),
      ClocksCase(
        "set back behind what waited in the direction of the \(first)", differ: true,
        [(first, 9_001), (first, 1_000), (first, 8_000)], frames: [2, 1, 3]),
      ClocksCase(
        "what waited for the latest of the \(first)", differ: true,
        [(first, 9_001), (first, 1_000), (second, 8_000)], frames: [2, 1, 3]),
      ClocksCase(
        "once and for all, the \(first) ahead", differ: true,
        [(first, 9_001), (second, 8_000), (first, 9_500), (second, 9_600)]),
    ]
  }
}

@Suite("The clocks of both directions")
struct ConnectionClocksTests {
  @Test("They differ where an answer comes before what it answers", arguments: ClocksCase.all)
  func differ(_ test: ClocksCase) {
    var clocks = ConnectionClocks()
    for ((peer, milliseconds), frame) in zip(test.times, test.frames) {
      let time = Timestamp(nanoseconds: milliseconds * 1_000_000)
      clocks.take(Moment(time: time, frame: frame), of: peer)
    }
    #expect(clocks.differ == test.differ)
  }
}

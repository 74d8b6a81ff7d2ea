import RepriseCore
import Testing

@testable import ConformanceKit

/// Times of both directions, in milliseconds and in the order of the events.
struct ClocksCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let differ: Bool
  let times: [(peer: Peer, milliseconds: Int64)]

  init(_ name: String, differ: Bool, _ times: [(Peer, Int64)]) {
    testDescription = name
    self.differ = differ
    self.times = times.map { (peer: $0.0, milliseconds: $0.1) }
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
        "within the direction of the \(first)", differ: false, [(first, 9_000), (first, 1_000)]),
      ClocksCase(
        "what waited for the latest of the \(first)", differ: true,
        [(first, 9_001), (first, 1_000), (second, 8_000)]),
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
    for (peer, milliseconds) in test.times {
      clocks.take(Timestamp(nanoseconds: milliseconds * 1_000_000), of: peer)
    }
    #expect(clocks.differ == test.differ)
  }
}

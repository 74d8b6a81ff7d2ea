import CloudSimulator
import RepriseCore
import Testing

@Suite struct VirtualTimeTests {
  /// Sends a heartbeat every five seconds for an hour, and says what it saw when.
  private static func beat(_ name: String, _ peer: Peer) async throws -> [String] {
    var lines: [String] = []
    try await peer.connect(name)
    var next = peer.client.now
    let end = Timestamp(nanoseconds: next.nanoseconds + 3_600_000_000_000)
    while next < end {
      let event = try await peer.client.next(before: next)
      lines.append("\(peer.seconds) \(Peer.line(event))")
      switch event {
      case .connected: try await peer.subscribe("beat/#")
      case .deadline:
        try await peer.publish("beat/\(name)", "\(peer.seconds)")
        next = Timestamp(nanoseconds: next.nanoseconds + 5_000_000_000)
      default: break
      }
    }
    return lines
  }

  private static func hour() async throws -> [[String]] {
    let broker = InProcessBroker()
    let peers = ["a", "b", "c"].map { ($0, Peer(broker.client(named: $0))) }
    return try await withThrowingTaskGroup(of: (String, [String]).self) { group in
      for (name, peer) in peers {
        group.addTask {
          let lines = try await beat(name, peer)
          peer.client.leave()
          return (name, lines)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  @Test(.timeLimit(.minutes(20))) func passesAnHourOfHeartbeatsAtOnceAndTheSameEveryTime()
    async throws
  {
    let first = try await Self.hour()
    #expect(first.map { $0.count { $0.contains("deadline") } } == [720, 720, 720])
    #expect(first.allSatisfy { $0.contains { $0.hasPrefix("3590.0 beat/") } })
    for _ in 0..<5 {
      let again = try await Self.hour()
      #expect(again == first)
    }
  }

  @Test func standsStillWhileItIsHeld() async throws {
    let broker = InProcessBroker()
    let ticker = Peer(broker.client(named: "ticker"))
    let user = Peer(broker, "user")
    try await withThrowingTaskGroup(of: [String].self) { group in
      try await broker.withTimeHeld {
        group.addTask { try await ticker.lines(for: .seconds(100)) }
        try await user.connect("user")
        #expect(try await user.client.next(before: nil) == .connected(.init()))
        try await user.subscribe("t")
        try await user.publish("t", "x")
        for _ in 0..<3 { _ = try await user.client.next(before: nil) }
        #expect(user.seconds == 0)
      }
      #expect(try await group.next() == [])
    }
    #expect(user.seconds == 100)
  }

  @Test func tellsEqualDeadlinesInTheOrderOfCreation() async throws {
    let broker = InProcessBroker()
    let peers = (0..<4).map { _ in Peer(broker.client(named: "peer")) }
    let names = try await withThrowingTaskGroup(of: Void.self) { group in
      let (stream, continuation) = AsyncStream<Int>.makeStream()
      for (number, peer) in peers.enumerated().reversed() {
        group.addTask {
          let deadline = Timestamp(nanoseconds: peer.client.now.nanoseconds + 1)
          for _ in 0..<3 {
            _ = try await peer.client.next(before: deadline)
            continuation.yield(number)
          }
          peer.client.leave()
        }
      }
      try await group.waitForAll()
      continuation.finish()
      return await stream.reduce(into: []) { $0.append($1) }
    }
    // Past its deadline, a client that asks again comes before those made later.
    #expect(names == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
  }
}

import CloudSimulator
import RepriseCore
import Testing

/// What a client owes its users.
@Suite struct InProcessClientTests {
  private let broker = InProcessBroker()

  private func code(_ body: () async throws -> Void) async -> DataClientError.Code? {
    do {
      try await body()
      return nil
    } catch { return (error as? DataClientError)?.code }
  }

  @Test func refusesWhatNeedsAConnection() async throws {
    let peer = Peer(broker, "a")
    #expect(await code { try await peer.publish("t", "x") } == .notConnected)
    #expect(await code { try await peer.perform(.disconnect) } == .notConnected)
    try await peer.connect("a")
    // CONNACK has not been seen yet.
    #expect(await code { try await peer.subscribe("t") } == .notConnected)
    #expect(await code { try await peer.connect("a") } == .invalidAction)
    #expect(try await peer.lines() == ["connected"])
    #expect(await code { try await peer.connect("a") } == .invalidAction)
    try await peer.perform(.disconnect)
    #expect(await code { try await peer.publish("t", "x") } == .notConnected)
    #expect(try await peer.lines() == ["closed"])
  }

  @Test(arguments: ["", "a/+", "#", "a\u{0}b"])
  func refusesTopicsThatAreNone(topic: String) async throws {
    let peer = Peer(broker, "a")
    try await peer.connect("a")
    _ = try await peer.lines()
    #expect(await code { try await peer.publish(topic, "x") } == .invalidAction)
  }

  @Test(arguments: ["", "a#", "a/#/b", "a+/b"])
  func refusesFiltersThatAreNone(filter: String) async throws {
    let peer = Peer(broker, "a")
    try await peer.connect("a")
    _ = try await peer.lines()
    #expect(await code { try await peer.subscribe(filter) } == .invalidAction)
    #expect(await code { try await peer.perform(.unsubscribe([filter])) } == .invalidAction)
    #expect(await code { try await peer.perform(.subscribe([])) } == .invalidAction)
  }

  @Test func refusesWhatItCannotDo() async throws {
    let peer = Peer(
      broker.client(named: "a", capabilities: [.messages, .push], isAwaited: false))
    let will = Message(topic: "w", payload: [])
    #expect(await code { try await peer.connect("a", will: will) } == .unsupported)
    try await peer.connect("a")
    _ = try await peer.lines()
    #expect(await code { try await peer.publish("t", "x", qos: .exactlyOnce) } == .unsupported)
    #expect(await code { try await peer.publish("t", "x", retained: true) } == .unsupported)
    #expect(await code { try await peer.subscribe("t", qos: .exactlyOnce) } == .unsupported)
    let request = RequestMessage(path: "/", method: "GET")
    #expect(await code { try await peer.perform(.send(request)) } == .unsupported)
    let typed = Message(topic: "t", payload: [], properties: MessageProperties(contentType: "c"))
    #expect(await code { try await peer.perform(.publish(typed)) } == .unsupported)
  }

  @Test func jumpsToDeadlines() async throws {
    let peer = Peer(broker, "a")
    let start = peer.client.now
    let later = Timestamp(nanoseconds: start.nanoseconds + 5_000_000_000)
    #expect(try await peer.client.next(before: later) == .deadline)
    #expect(peer.client.now == later)
    // A deadline that has passed does not turn time back.
    #expect(try await peer.client.next(before: start) == .deadline)
    #expect(peer.client.now == later)
  }

  @Test func wakesThePendingReaderOrTheNextOne() async throws {
    let peer = Peer(broker, "a")
    peer.client.wake()
    try await peer.connect("a")
    #expect(try await peer.lines() == ["woken", "connected"])
    async let event = peer.client.next(before: nil)
    peer.client.wake()
    #expect(try await event == .woken)
  }

  @Test func losesNothingToACancelledReader() async throws {
    let peer = Peer(broker, "a")
    await withThrowingTaskGroup(of: ClientEvent.self) { group in
      group.addTask { try await peer.client.next(before: nil) }
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    try await peer.connect("a")
    #expect(try await peer.lines() == ["connected"])
  }

  @Test func letsOneTaskReadOnly() async throws {
    let peer = Peer(broker, "a")
    let codes = try await withThrowingTaskGroup(of: DataClientError.Code?.self) { group in
      for _ in 0..<2 {
        group.addTask { await code { _ = try await peer.client.next(before: nil) } }
      }
      let first = try await group.next()
      peer.client.wake()
      return [first, try await group.next()]
    }
    #expect(codes == [.invalidAction, .some(nil)])
  }

  @Test func losesTheConnectionOfASlowReader() async throws {
    let broker = InProcessBroker(eventLimit: 3)
    let slow = Peer(broker, "slow")
    let fast = Peer(broker, "fast")
    try await slow.connect("slow")
    try await fast.connect("fast")
    _ = try await slow.lines() + fast.lines()
    try await slow.subscribe("t")
    for number in 1...5 {
      try await fast.publish("t", "\(number)")
      #expect(try await fast.lines() == ["published"])
    }
    #expect(
      try await slow.lines() == ["subscribed 1", "t 1 q1", "t 2 q1", "lost: 3 events are unread"])
  }

  @Test func endsForEverybody() async throws {
    let second = Peer(broker, "second")
    try await second.connect("second")
    #expect(try await second.lines() == ["connected"])
    // What has not reached the broker yet, as somebody is awaited, is answered all the same.
    let first = Peer(broker.client(named: "first"))
    try await first.connect("first")
    broker.end()
    #expect(try await second.lines() == ["lost: the broker has ended", "ended"])
    #expect(try await first.lines() == ["lost: the broker has ended", "ended"])
    #expect(try await first.lines() == ["ended"])
    #expect(await code { try await first.connect("first") } == .notConnected)
  }

  @Test func leavesAndHoldsNobodyUp() async throws {
    let first = Peer(broker.client(named: "first"))
    let second = Peer(broker.client(named: "second"))
    async let lines = second.lines(for: .seconds(1))
    first.client.leave()
    #expect(try await lines == [])
    #expect(try await first.lines() == ["ended"])
    #expect(second.seconds == 1)
  }
}

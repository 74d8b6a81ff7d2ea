import RepriseCore
import Synchronization
import TestSupport
import Testing

@Suite struct FaultInjectorTests {
  /// A broker that answers each publication by three messages.
  private static func broker() throws -> LocalFileClient {
    let topics = #"""
      {"publish": [{"topic": "#", "answers": [{"topic": "n", "payload": "1", "after": 1},
        {"topic": "n", "payload": "2", "after": 2}, {"topic": "n", "payload": "3", "after": 3}]}]}
      """#
    return try LocalFileClient(files: ["topics.json": Array(topics.utf8)])
  }

  /// Connects, subscribes and publishes once.
  private static func ask(_ client: some DataClient) async throws {
    var user = Actor(client)
    try await user.connect()
    _ = try await client.next(before: nil)
    try await user.subscribe("n")
    _ = try await client.next(before: nil)
    try await user.publish("p")
  }

  /// What a user sees who connects, subscribes, publishes once and reads for 100 s.
  private static func seen(
    _ faults: [Fault], seed: UInt64 = 0
  ) async throws -> [(String, Duration)] {
    let client = try FaultInjector(broker(), faults, seed: seed)
    let start = client.now
    try await Self.ask(client)
    var seen: [(String, Duration)] = []
    while true {
      let event = try await client.next(before: start.advanced(by: .seconds(100)))
      let time = Duration.nanoseconds(client.now.nanoseconds(since: start))
      switch event {
      case .published: seen.append(("published", time))
      case .message(let message):
        seen.append((String(decoding: message.payload, as: UTF8.self), time))
      case .closed(.lost): seen.append(("lost", time))
      case .deadline: return seen
      default: seen.append(("\(event)", time))
      }
    }
  }

  @Test(arguments: [
    ([], ["published", "1", "2", "3"]),
    ([Fault(.drop, .at(2, .message))], ["published", "1", "3"]),
    ([Fault(.duplicate, .at(2, .message))], ["published", "1", "2", "2", "3"]),
    ([Fault(.reorder, .at(1, .message))], ["published", "2", "1", "3"]),
    ([Fault(.reorder, .at(3, .message))], ["published", "1", "2", "3"]),
    ([Fault(.disconnect, .at(2, .message))], ["published", "1", "2", "lost"]),
    ([Fault(.disconnect, .at(1, .publish))], ["lost"]),
    ([Fault(.drop, .at(1, .publish))], ["published"]),
    ([Fault(.drop, .at(1, .published))], ["1", "2", "3"]),
    (
      [Fault(.drop, .every(2, .message)), Fault(.duplicate, .at(3, .message))],
      ["published", "1", "3", "3"]
    ),
  ])
  func goesWrongAsAsked(_ faults: [Fault], _ expected: [String]) async throws {
    #expect(try await Self.seen(faults).map(\.0) == expected)
  }

  @Test func delayHoldsUpWhatComesBehind() async throws {
    let seen = try await Self.seen([Fault(.delay(.seconds(10)), .at(1, .message))])
    #expect(seen.map(\.0) == ["published", "1", "2", "3"])
    #expect(seen.map(\.1) == [.zero, .seconds(11), .seconds(11), .seconds(11)])
  }

  @Test func whatLetsAnotherGoFirstComesAloneAtLast() async throws {
    let client = try FaultInjector(Self.broker(), [Fault(.reorder, .at(3, .message))])
    let start = client.now
    try await Self.ask(client)
    var events: [ClientEvent] = []
    // Without a deadline: nothing else ever happens.
    for _ in 0..<4 { events.append(try await client.next(before: nil)) }
    #expect(events.last == .message(Message("n", "3")))
    #expect(client.now == start.advanced(by: .seconds(13)))
  }

  @Test func nothingComesBehindTheCut() async throws {
    let message = ClientEvent.message(Message("n", "1"))
    let client = try FaultInjector(
      ScriptedClient.everySecond([.connected(.init()), message, .woken, .closed(.byUser)]),
      [Fault(.reorder, .at(1, .message)), Fault(.disconnect, .at(1, .publish))])
    var user = Actor(client)
    #expect(try await client.next(before: nil) == .connected(.init()))
    // The message has come by then, and waits for one that may go first.
    #expect(try await client.next(before: nil) == .woken)
    try await user.publish("p")
    #expect(try await client.next(before: nil) == message)
    guard case .closed(.lost) = try await client.next(before: nil) else {
      Issue.record("the end is not told")
      return
    }
    #expect(try await client.next(before: nil) == .ended)
  }

  @Test func equalSeedsAreEqual() async throws {
    let faults = [Fault(.drop, .chance(0.5, .message)), Fault(.duplicate, .chance(0.5, .message))]
    var different: Set<[String]> = []
    for seed in 0..<20 as Range<UInt64> {
      let first = try await Self.seen(faults, seed: seed)
      let second = try await Self.seen(faults, seed: seed)
      #expect(first.map(\.0) == second.map(\.0))
      different.insert(first.map(\.0))
    }
    #expect(different.count > 4)
  }

  @Test func droppedPublicationWakesNobodyTwice() async throws {
    let client = try FaultInjector(Self.broker(), [Fault(.drop, .at(1, .publish))])
    var user = Actor(client)
    try await user.connect()
    _ = try await client.next(before: nil)
    async let event = client.next(before: nil)
    let id = try await user.publish("p")
    #expect(try await event == .published(id))
    client.wake()
    #expect(try await client.next(before: nil) == .woken)
    let end = client.now.advanced(by: .seconds(60))
    #expect(try await client.next(before: end) == .deadline)
  }

  @Test(arguments: [
    Fault(.drop, .at(0, .message)), Fault(.drop, .chance(2, .message)),
    Fault(.delay(.seconds(-1)), .at(1, .message)), Fault(.delay(.seconds(1)), .at(1, .publish)),
    Fault(.reorder, .at(1, .subscribed)), Fault(.drop, .at(1, .subscribe)),
    Fault(.drop, .at(1, .request)), Fault(.disconnect, .at(1, .request)),
    Fault(.fail(.unanswered(.lost, "")), .at(1, .send)),
    Fault(.fail(.unanswered(.lost, "")), .at(1, .message)),
  ])
  func nonsenseIsRefused(_ fault: Fault) {
    #expect(throws: DataClientError.self) { try FaultInjector(Self.broker(), [fault]) }
  }

  @Test func anActionThatIsRefusedCutsNothing() async throws {
    let (refusal, broker) = (Refusal(), try Self.broker())
    let client = try FaultInjector(
      refusal.client(broker), [Fault(.disconnect, .at(1, .publish))])
    var user = Actor(client)
    try await user.connect()
    _ = try await client.next(before: nil)
    refusal.set(.publish)
    await #expect(throws: DataClientError.self) { try await user.publish("p") }
    let id = try await user.publish("p")
    #expect(try await client.next(before: nil) == .published(id))
  }

  @Test(arguments: [DataClientError.Code.notConnected, .transport])
  func aCutThatFailsLeavesAClientThatCanBeUsed(_ code: DataClientError.Code) async throws {
    let (refusal, broker) = (Refusal(), try Self.broker())
    let client = try FaultInjector(
      refusal.client(broker), [Fault(.disconnect, .at(1, .message))])
    var user = Actor(client)
    try await user.connect()
    _ = try await client.next(before: nil)
    try await user.subscribe("n")
    _ = try await client.next(before: nil)
    let id = try await user.publish("p")
    #expect(try await client.next(before: nil) == .published(id))
    refusal.set(.disconnect, code)
    let message = Message(topic: "n", payload: Array("1".utf8))
    guard code == .notConnected else {
      let error = await #expect(throws: DataClientError.self) { try await client.next(before: nil) }
      #expect(error?.code == code)
      // Nothing was cut, so that all of it comes.
      #expect(try await client.next(before: nil) == .message(message))
      guard case .message = try await client.next(before: nil) else {
        Issue.record("the second message is lost")
        return
      }
      return
    }
    // The connection is over already, which the client is about to tell.
    #expect(try await client.next(before: nil) == .message(message))
    try await broker.perform(ClientAction(.init(rawValue: 99), .disconnect))
    guard case .closed(.lost) = try await client.next(before: nil) else {
      Issue.record("the end is not told")
      return
    }
  }
}

/// Refuses the next action of a kind, once it is told to.
private final class Refusal: Sendable {
  enum Kind { case publish, disconnect }

  private let next = Mutex<(kind: Kind, code: DataClientError.Code)?>(nil)

  func set(_ kind: Kind, _ code: DataClientError.Code = .transport) {
    next.withLock { $0 = (kind, code) }
  }

  /// Wraps the client whose actions are refused.
  func client(_ client: LocalFileClient) -> AnyClient {
    AnyClient(client) { action, client in
      if let code = self.take(action.kind) { throw DataClientError(code, "broken") }
      try await client.perform(action)
    }
  }

  private func take(_ action: ClientAction.Kind) -> DataClientError.Code? {
    next.withLock { next in
      switch (action, next?.kind) {
      case (.publish, .publish), (.disconnect, .disconnect): break
      default: return nil
      }
      defer { next = nil }
      return next?.code
    }
  }
}

import RepriseCore
import Testing

@Suite struct ReplayWaitingTests {
  @Test func readerWaitsForWhoeverActs() async throws {
    let client = try ReplayClient(SessionBuilder.tap())
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    async let read = [user.next(300), user.next(300)]
    let due = try #require(try await client.nextDueAction())
    #expect(due.place.frame == 4)
    #expect(due.action == .publish(Message("tap", "1")))
    #expect(client.now == SessionBuilder.time(10))
    var other = Actor(client)
    let id = try await other.publish("tap", "1")
    #expect(try await read == [.published(id), .message(Message("answer", "1"))])
    #expect(try await client.nextDueAction() == nil)
  }

  @Test func wakingLosesNothing() async throws {
    let client = try ReplayClient(SessionBuilder.tap())
    var user = Actor(client)
    client.wake()
    #expect(try await user.next() == .woken)
    try await user.connect()
    client.wake()
    #expect(try await user.next() == .woken)
    #expect(try await user.next() == .connected(.init()))
    async let read = user.next()
    _ = try await client.nextDueAction()
    client.wake()
    #expect(try await read == .woken)
  }

  @Test func finishingEndsTheWait() async throws {
    let client = try ReplayClient(SessionBuilder.tap())
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    async let read = user.next()
    _ = try await client.nextDueAction()
    #expect(throws: DataClientError.self) { try client.finish() }
    do {
      let event = try await read
      Issue.record("\(event) came instead of an error")
    } catch let error as DataClientError {
      #expect(error.code == .diverged)
      #expect(error.message.contains("expected: PUBLISH tap, QoS 0"))
    }
  }

  @Test func cancellationLosesNothing() async throws {
    let client = try ReplayClient(SessionBuilder.tap())
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    let reader = user
    try await withThrowingTaskGroup(of: ClientEvent.self) { group in
      group.addTask { try await reader.next() }
      _ = try await client.nextDueAction()
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.next() }
    }
    let id = try await user.publish("tap", "1")
    #expect(try await user.next() == .published(id))
  }

  @Test func actionsNeedAConnection() async throws {
    let client = try ReplayClient(SessionBuilder.tap())
    var user = Actor(client)
    for kind in [
      ClientAction.Kind.publish(Message("tap", "1")), .subscribe([]), .unsubscribe([]), .disconnect,
    ] {
      let error = await #expect(throws: DataClientError.self) { try await user.do(kind) }
      #expect(error?.code == .notConnected)
    }
    let request = RequestMessage(path: "p", method: "GET")
    let error = await #expect(throws: DataClientError.self) { try await user.do(.send(request)) }
    #expect(error?.code == .unsupported)
    try await user.connect()
    let again = await #expect(throws: DataClientError.self) { try await user.connect() }
    #expect(again?.code == .invalidAction)
    // None of these was part of the replay.
    #expect(client.divergence == nil)
    #expect(try await user.next() == .connected(.init()))
  }

  @Test(arguments: [1, 4]) func paceIsThatOfTheClock(_ factor: Double) async throws {
    let clock = HandClock()
    let client = try ReplayClient(
      SessionBuilder.tap(), options: ReplayOptions(pace: .scaled(factor, by: clock)))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    #expect(try await user.next(8) == .deadline)
    #expect(clock.now.offset == .seconds(8) / factor)
    try await user.publish("tap", "1")
    _ = try await user.next(300)
    #expect(try await user.next(300) == .message(Message("answer", "1")))
    #expect(clock.now.offset == .seconds(11) / factor)
  }

  @Test(arguments: [0, -1, .infinity, .nan]) func paceIsPositive(_ factor: Double) {
    #expect(throws: DataClientError.self) {
      try ReplayClient(
        SessionBuilder.tap(), options: ReplayOptions(pace: .scaled(factor, by: HandClock())))
    }
  }
}

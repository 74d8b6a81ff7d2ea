import RepriseCore
import Testing

/// Replays whose time passes.
@Suite struct ReplayPaceTests {
  /// No reader waits longer because others act, or because the reader is told something else.
  @Test(.timeLimit(.minutes(20)), arguments: [1, 4])
  func whatPassedIsNotSleptAgain(_ factor: Double) async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(10, .client, "tap")
    session.publish(20, .server, "answer")
    let clock = HandClock(late: nil)
    let client = try ReplayClient(
      session.events, options: ReplayOptions(pace: .scaled(factor, by: clock)))
    let reader = Actor(client)
    var user = reader
    var sleeps = clock.sleeps.makeAsyncIterator()
    try await user.connect()
    async let connected = reader.next()
    _ = await sleeps.next()
    clock.move(by: .seconds(1) / factor)
    client.wake()
    // A second is more than the CONNACK took.
    #expect(try await connected == .woken)
    #expect(client.now == SessionBuilder.time(0.01))
    #expect(try await reader.next() == .connected(.init()))

    async let woken = reader.next()
    #expect(await sleeps.next() == .seconds(10) / factor)
    clock.move(by: .seconds(6) / factor)
    client.wake()
    #expect(try await woken == .woken)
    #expect(client.now == SessionBuilder.time(7))

    // An action before its time lets time pass as it did.
    async let answer = [reader.next(), reader.next()]
    #expect(await sleeps.next() == .seconds(10) / factor)
    let id = try await user.publish("tap")
    #expect(await sleeps.next() == .seconds(20) / factor)
    clock.move(by: .seconds(13) / factor)
    client.wake()
    #expect(try await answer == [.published(id), .woken])
    #expect(client.now == SessionBuilder.time(20))
    #expect(try await reader.next() == .message(Message("answer", "")))
  }

  /// A clock always wakes a little late; of many sleeps that would be a lot.
  @Test func latenessDoesNotAddUp() async throws {
    var session = SessionBuilder()
    session.connect(0)
    for number in 1...1_000 { session.publish(Double(number) / 100, .server, "t") }
    let clock = HandClock(late: .milliseconds(3))
    let client = try ReplayClient(
      session.events, options: ReplayOptions(pace: .scaled(1, by: clock)))
    var user = Actor(client)
    try await user.connect()
    while try await user.next() != .ended {}
    #expect(client.now == SessionBuilder.time(10))
    #expect(clock.now.offset <= .seconds(10) + .milliseconds(3))
  }

  /// What the server said a second after the user's action comes a second after it, however late it is.
  @Test func aLateUserIsNotCaughtUpWith() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(10, .client, "tap")
    session.publish(11, .server, "answer")
    let clock = HandClock(late: .zero)
    let client = try ReplayClient(
      session.events, options: ReplayOptions(pace: .scaled(1, by: clock)))
    let reader = Actor(client)
    var user = reader
    try await user.connect()
    _ = try await user.next()
    async let read = [reader.next(), reader.next()]
    _ = try await client.nextDueAction()
    clock.move(by: .seconds(60))
    let id = try await user.publish("tap")
    #expect(try await read == [.published(id), .message(Message("answer", ""))])
    #expect(clock.now.offset == .seconds(71))
  }
}

import RepriseCore
import Testing

/// How long a replay waits for an action that is due.
@Suite(.timeLimit(.minutes(20))) struct ReplayPatienceTests {
  private static func connected(_ options: ReplayOptions) async throws -> (ReplayClient, Actor) {
    let client = try ReplayClient(SessionBuilder.tap(), options: options)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    return (client, user)
  }

  /// Reads for a thing that can't come, be it with a deadline that lies behind the action or without one.
  @Test(arguments: [nil, 300]) func endsWhenNobodyActs(deadline: Double?) async throws {
    let clock = HandClock()
    let patience = ReplayPatience.limited(.seconds(10), by: clock)
    let (client, user) = try await Self.connected(ReplayOptions(patience: patience))
    let error = await #expect(throws: DataClientError.self) { try await user.next(deadline) }
    #expect(error?.code == .diverged)
    #expect(clock.now.offset == .seconds(10))
    let divergence = try #require(client.divergence)
    #expect(divergence.kind == .missingAction)
    #expect(divergence.place?.frame == 4)
    #expect(divergence.expected == #"PUBLISH tap, QoS 0, payload {"utf8":"1"}"#)
    #expect(divergence.actual?.hasPrefix("the reader waits for something else") == true)
    #expect(client.now == SessionBuilder.time(10))
    // The world stays broken.
    await #expect(throws: DataClientError.self) { try await user.next() }
  }

  /// A deadline that is not behind the action passes first.
  @Test func deadlinesPassFirst() async throws {
    let clock = HandClock()
    let (_, user) = try await Self.connected(
      ReplayOptions(patience: .limited(.seconds(10), by: clock)))
    for second in 1...9 { #expect(try await user.next(Double(second)) == .deadline) }
    #expect(clock.now.offset == .zero)
  }

  @Test func whoActsInTimeIsWaitedFor() async throws {
    // By this clock no time passes.
    let patience = ReplayPatience.limited(.seconds(10), by: HandClock(late: nil))
    let (client, user) = try await Self.connected(ReplayOptions(patience: patience))
    async let read = [user.next(), user.next()]
    _ = try await client.nextDueAction()
    var other = Actor(client)
    let id = try await other.publish("tap", "1")
    #expect(try await read == [.published(id), .message(Message("answer", "1"))])
  }

  /// Where time passes, people may act, however long that takes them.
  @Test func isUnlimitedWhereTimePasses() async throws {
    let clock = HandClock()
    let (client, user) = try await Self.connected(
      ReplayOptions(
        pace: .recorded(by: clock), patience: .limited(.seconds(1), by: clock)))
    async let read = user.next()
    _ = try await client.nextDueAction()
    for _ in 0..<100 { await Task.yield() }
    #expect(client.divergence == nil)
    var other = Actor(client)
    let id = try await other.publish("tap", "1")
    #expect(try await read == .published(id))
  }
}

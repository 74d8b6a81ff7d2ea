import RepriseCore
import Testing

@Suite struct ScaledTimeClientTests {
  private static func session() -> [Event] {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(3, .server, "t")
    session.publish(3.0000001, .server, "t")
    return session.events
  }

  @Test func timeRunsFasterForTheUser() async throws {
    let inner = try ReplayClient(Self.session())
    let client = try ScaledTimeClient(inner, speed: 20)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    _ = try await user.next()
    #expect(inner.now == SessionBuilder.time(3))
    #expect(client.now == SessionBuilder.time(60))
  }

  /// When a deadline is told it is reached, though it falls between two nanoseconds of the client.
  @Test(arguments: [1, 3, 7, 20, 999]) func deadlinesAreReached(speed: Int) async throws {
    let inner = try ReplayClient(Self.session())
    let client = try ScaledTimeClient(inner, speed: speed)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    let start = client.now
    for step in 1...50 {
      let deadline = start.advanced(by: .nanoseconds(step * 1_000_003))
      #expect(try await client.next(before: deadline) == .deadline)
      #expect(client.now >= deadline)
      #expect(client.now.nanoseconds(since: deadline) < speed)
    }
  }

  @Test func theFarFutureDoesNotOverflow() async throws {
    let client = try ScaledTimeClient(ReplayClient(Self.session()), speed: 1_000)
    let far = Timestamp(nanoseconds: .max)
    var user = Actor(client)
    try await user.connect()
    #expect(try await client.next(before: far) == .connected(.init()))
  }

  @Test(arguments: [-1, 0, 1_001]) func refusesOtherSpeeds(speed: Int) throws {
    let inner = try ReplayClient(Self.session())
    #expect(throws: DataClientError.self) { try ScaledTimeClient(inner, speed: speed) }
  }
}

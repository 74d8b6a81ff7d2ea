import RepriseCore
import Testing
import Wire

/// Not a benchmark: it holds what would make a replay slower than linear.
@Suite struct ReplaySpeedTests {
  @Test(.timeLimit(.minutes(20))) func manyMessagesComeWithoutSuspension() async throws {
    let count = 20_000
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "up", #"{"id":"7"}"#)
    for number in 0..<count {
      session.publish(
        2, .server, "plant/line/\(number % 4)/temperature",
        #"{"sensor":"t1","value":21.5,"unit":"C"}"#, qos: 1, id: 9)
    }
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    try await user.publish("up", #"{"id":"8"}"#)
    _ = try await user.next()
    var messages = 0
    while case .message = try await client.next(before: nil) { messages += 1 }
    #expect(messages == count)
  }

  @Test(.timeLimit(.minutes(20))) func manyConnectionsAreKnownAtOnce() throws {
    let count = 60_000
    var session = FrameSession()
    // The end of each is seen behind the beginning of the next one.
    for number in 1...count {
      session.connection = number
      session.open(Double(number), isFromStart: false)
      session.frame(Double(number), .server, .text, "a")
      guard number > 1 else { continue }
      session.connection = number - 1
      session.end(Double(number), by: .server, .fin)
    }
    _ = try ReplayClient(session.events)
  }

  @Test func severalConnectionsAtATimeAreTold() throws {
    var session = FrameSession()
    for second in 0..<3 {
      for number in 1...3 {
        session.connection = number
        if second == 0 { session.open(0) }
        session.frame(Double(second) + 1, .client, .text, "a")
      }
    }
    session.connection = 4
    session.open(9)
    let error = #expect(throws: DataClientError.self) { try ReplayClient(session.events) }
    #expect(error?.message.hasSuffix("choose one: connection 1, 2, 3, 4") == true)
  }

  @Test(arguments: [0, -1, .nan, .infinity, 1e-25, 9e-7]) func refusesASpeed(_ factor: Double) {
    var session = SessionBuilder()
    session.connect(0)
    let options = ReplayOptions(pace: .scaled(factor, by: ContinuousClock()))
    let error = #expect(throws: DataClientError.self) {
      try ReplayClient(session.events, options: options)
    }
    #expect(error?.code == .invalidAction)
  }
}

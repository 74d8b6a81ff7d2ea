import RepriseCore
import Testing
import Wire

/// Replays of sessions that are too long to be kept.
@Suite struct ReplayRereadingTests {
  /// A client that asks once, is told a lot, and asks again.
  private static func longSession(_ count: Int) -> [Event] {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "up", #"{"id":"17"}"#)
    for number in 0..<count {
      session.publish(2, .server, "down", #"{"id":"17","n":\#(number)}"#, qos: 1, id: 9)
      session.acknowledge(2, .client, .puback, 9)
    }
    session.publish(3, .client, "up", #"{"id":"18"}"#)
    session.publish(4, .server, "down", #"{"id":"18"}"#)
    session.disconnect(5)
    return session.events
  }

  @Test func readsNoFurtherThanItHasTo() async throws {
    let source = RereadSource(Self.longSession(20_000))
    let client = try ReplayClient(source.gathered())
    #expect(source.walks == 0)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    try await user.publish("up", #"{"id":"1"}"#)
    _ = try await user.next()
    #expect(source.readCount < 2_000)
    for _ in 0..<5_000 {
      guard case .message = try await user.next() else { break }
    }
    #expect(source.readCount < 12_000)
    #expect(source.walks == 1)
  }

  @Test func findsAnActionFarAhead() async throws {
    let count = 20_000
    let source = RereadSource(Self.longSession(count))
    let client = try ReplayClient(source.gathered())
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    // Performed before the answers to the first are read, and long before its time.
    let first = try await user.publish("up", #"{"id":"1"}"#)
    let second = try await user.publish("up", #"{"id":"2"}"#)
    #expect(source.walks == 2)
    #expect(try await user.next() == .published(first))
    for number in 0..<count {
      let text = #"{"id":"1","n":\#(number)}"#
      #expect(try await user.next() == .message(Message("down", text, qos: .atLeastOnce)))
    }
    #expect(try await user.next() == .published(second))
    #expect(try await user.next() == .message(Message("down", #"{"id":"2"}"#)))
    #expect(client.now == SessionBuilder.time(4))
    try await user.do(.disconnect)
    #expect(try await user.next() == .closed(.byUser))
    #expect(try await user.next() == .ended)
    try client.finish()
  }

  @Test func tellsWhatIsLeftOverFarAhead() async throws {
    let source = RereadSource(Self.longSession(3_000))
    let client = try ReplayClient(source.gathered())
    var user = Actor(client)
    try await user.connect()
    #expect(client.leftOvers.count == 1_000)
    #expect(client.leftOvers.first?.summary.contains("CONNACK") == true)
    let error = #expect(throws: DataClientError.self) { try client.finish() }
    #expect(error?.code == .diverged)
  }

  @Test func tellsWhereTheSessionHasAnActionLater() async throws {
    let source = RereadSource(Self.longSession(3_000))
    let client = try ReplayClient(source.gathered(), options: ReplayOptions(match: .strict))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    await #expect(throws: DataClientError.self) { try await user.publish("up", #"{"id":"18"}"#) }
    #expect(client.divergence?.laterPlace?.time == SessionBuilder.time(3))
  }

  @Test(arguments: [0, 100, 1_000, 1 << 20])
  func handsOutTheSameHoweverMuchIsKept(limit: Int) throws {
    let source = RereadSource(Self.longSession(3_000))
    var kept = ReplayEvents()
    for event in source.events { kept.append(event) }
    let wanted = try kept.dialogue().map { "\($0.place) \($0.content)" }
    let seen = try source.gathered(keeping: limit).dialogue().map { "\($0.place) \($0.content)" }
    #expect(seen == wanted)
    #expect(wanted.count == 3_000 + 9)
    #expect(source.walks == (limit == 1 << 20 ? 0 : 1))
  }

  @Test func keepsToTheWindowAndToTheClient() throws {
    var session = SessionBuilder()
    session.connection = 1
    session.connect(0, as: "other")
    session.connection = 2
    session.connect(1, as: "c")
    for number in 2..<10 { session.publish(Double(number), .server, "t/\(number)") }
    session.connection = 1
    session.publish(10, .server, "no")
    let window = ReplayWindow(
      from: ReplayWindow.Moment("+3s"), to: ReplayWindow.Moment("+5s"))
    let source = RereadSource(session.events)
    let dialogue = try source.gathered(of: .client("c"), within: window).dialogue()
    let topics = dialogue.compactMap { step -> String? in
      if case .event(.message(let message)) = step.content { message.topic } else { nil }
    }
    #expect(topics == ["t/3", "t/4", "t/5"])
  }

  @Test func endsWhereTheSessionEndedWhenItWasReadFirst() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .server, "t", "1")
    let source = RereadSource(session.events)
    let client = try ReplayClient(source.gathered())
    session.publish(2, .server, "t", "2")
    source.events = session.events
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    #expect(try await user.next() == .message(Message("t", "1")))
    #expect(try await user.next() == .ended)
    try client.finish()
  }

  @Test(arguments: [true, false]) func saysThatTheSessionHasChanged(isGone: Bool) async throws {
    let source = RereadSource(Self.longSession(2_000))
    let client = try ReplayClient(source.gathered())
    source.events = isGone ? [] : Array(source.events.prefix(100))
    var user = Actor(client)
    let error = await #expect(throws: DataClientError.self) {
      try await user.connect()
      _ = try await user.next()
      try await user.publish("up", #"{"id":"1"}"#)
      while try await user.next() != .ended {}
    }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains(isGone ? "no such file" : "it ends earlier") == true)
    // A broken world stays broken.
    let again = await #expect(throws: DataClientError.self) { try await user.next() }
    #expect(again == error)
  }

  @Test func leavesASessionThatBreaksOffFarAhead() async throws {
    var session = SessionBuilder()
    session.connect(0)
    for _ in 0..<3_000 { session.publish(1, .server, "t") }
    session.close(2, how: .endOfCapture)
    let client = try ReplayClient(RereadSource(session.events).gathered())
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    // How it went on is not known, so the user may leave when it likes.
    try await user.do(.disconnect)
    var messages = 0
    while case .message = try await user.next() { messages += 1 }
    #expect(messages == 3_000)
    try client.finish()
  }
}

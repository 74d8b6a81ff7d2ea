import RepriseCore
import Synchronization
import Testing

/// Several replays in one time.
@Suite(.timeLimit(.minutes(20))) struct SharedTimeTests {
  /// Two clients that hear a message at each second in turn: `a` at even ones, and `b` at odd ones.
  private static func sessions(until end: Int = 10) -> (a: [Event], b: [Event]) {
    var (a, b) = (SessionBuilder(), SessionBuilder())
    a.connect(0, as: "a")
    b.connect(0.1, as: "b")
    for second in 1...end {
      let text = "\(second)"
      if second.isMultiple(of: 2) {
        a.publish(Double(second), .server, "even", text)
      } else {
        b.publish(Double(second), .server, "odd", text)
      }
    }
    return (a.events, b.events)
  }

  private static func options(
    _ time: SharedTime?, _ actors: ReplayActors = .anyTask,
    patience: ReplayPatience = .standard, tolerance: Duration = .zero
  ) -> ReplayOptions {
    ReplayOptions(
      pace: time.map { .shared($0) } ?? .virtual, actors: actors, timerTolerance: tolerance,
      patience: patience)
  }

  /// Reads what comes to a client, and notes it with the client's time.
  private static func listen(
    to name: String, _ client: ReplayClient, _ heard: Heard, connecting: Bool = true
  ) async throws {
    if connecting {
      var user = Actor(client)
      try await user.connect(as: name)
    }
    while true {
      let event = try await client.next(before: nil)
      heard.note(name, event, client.now)
      if event == .ended { return }
    }
  }

  /// What the clients of a test heard, in order.
  private final class Heard: Sendable {
    private let all = Mutex<[String]>([])

    func note(_ name: String, _ event: ClientEvent, _ time: Timestamp) {
      let what =
        switch event {
        case .message(let message): String(decoding: message.payload, as: UTF8.self)
        case .connected: "connected"
        case .deadline: "deadline"
        case .ended: "ended"
        default: "\(event)"
        }
      let seconds = Double(time.nanoseconds(since: SessionBuilder.time(0))) / 1_000_000_000
      all.withLock { $0.append("\(name) \(what) \(seconds)") }
    }

    var lines: [String] { all.withLock { $0 } }
    /// Without the ends, which have no order among each other.
    var linesBeforeEnds: [String] { lines.filter { !$0.contains("ended") } }
  }

  // MARK: Order

  @Test func eventsComeInTheOrderOfAllClients() async throws {
    let (a, b) = Self.sessions(until: 6)
    let expected =
      ["a connected 0.01", "b connected 0.11"]
      + (1...6).map { "\($0.isMultiple(of: 2) ? "a" : "b") \($0) \(Double($0))" }
    for _ in 0..<100 {
      let (time, heard) = (SharedTime(), Heard())
      // Whichever client begins: what was recorded first is first.
      let second = try ReplayClient(b, options: Self.options(time))
      let first = try ReplayClient(a, options: Self.options(time))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await Self.listen(to: "b", second, heard) }
        group.addTask { try await Self.listen(to: "a", first, heard) }
        try await group.waitForAll()
      }
      try first.finish()
      try second.finish()
      #expect(heard.linesBeforeEnds == expected)
      #expect(heard.lines.count == expected.count + 2)
    }
  }

  /// The near miss: each in a time of its own, one client is through before the other has begun.
  @Test func withoutASharedTimeThereIsNoOrder() async throws {
    let (a, b) = Self.sessions()
    let heard = Heard()
    try await Self.listen(to: "b", try ReplayClient(b, options: Self.options(nil)), heard)
    try await Self.listen(to: "a", try ReplayClient(a, options: Self.options(nil)), heard)
    #expect(heard.linesBeforeEnds.last == "a 10 10.0")
    #expect(heard.linesBeforeEnds.dropFirst().first == "b 1 1.0")
    #expect(heard.linesBeforeEnds[6] == "a connected 0.01")
  }

  /// Timers of one client and events of the other are one order.
  @Test func deadlinesPassInTheOrderOfAllClients() async throws {
    let (time, heard) = (SharedTime(), Heard())
    var silent = SessionBuilder()
    silent.connect(0, as: "a")
    silent.close(9)
    let a = try ReplayClient(silent.events, options: Self.options(time))
    let b = try ReplayClient(Self.sessions(until: 7).b, options: Self.options(time))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await Self.listen(to: "b", b, heard) }
      group.addTask {
        var user = Actor(a)
        try await user.connect(as: "a")
        _ = try await user.next()
        // At five both are due, and the event is first.
        for second in [2.5, 4, 5, 6] {
          heard.note("a", try await user.next(second), a.now)
        }
        heard.note("a", try await user.next(8), a.now)
        guard case .closed = try await user.next() else {
          Issue.record("the end of the connection is missing")
          return
        }
      }
      try await group.waitForAll()
    }
    #expect(
      heard.lines.filter { !$0.contains("connected") && !$0.contains("ended") } == [
        "b 1 1.0", "a deadline 2.5", "b 3 3.0", "a deadline 4.0", "b 5 5.0", "a deadline 5.0",
        "a deadline 6.0", "b 7 7.0", "a deadline 8.0",
      ])
  }

  // MARK: Causality

  /// A client that taps at two seconds, and one that hears something at one and at three.
  private static func tapBetween() -> (a: [Event], b: [Event]) {
    var (a, b) = (SessionBuilder(), SessionBuilder())
    a.connect(0, as: "a")
    a.publish(2, .client, "tap", "1")
    b.connect(0, as: "b")
    b.publish(1, .server, "first", "1")
    b.publish(3, .server, "second", "2")
    return (a.events, b.events)
  }

  /// What was heard on one client behind an action on another does not come before it.
  @Test func anActionOnOneClientHoldsBackTheOther() async throws {
    let (time, heard) = (SharedTime(), Heard())
    let (a, b) = Self.tapBetween()
    let first = try ReplayClient(a, options: Self.options(time, patience: .unlimited))
    let second = try ReplayClient(b, options: Self.options(time, patience: .unlimited))
    async let hearing: Void = Self.listen(to: "b", second, heard)
    var user = Actor(first)
    try await user.connect(as: "a")
    _ = try await user.next()
    let reader = user
    async let reading = reader.next()
    #expect(try await first.nextDueAction()?.action == .publish(Message("tap", "1")))
    #expect(heard.lines == ["b connected 0.01", "b 1 1.0"])
    #expect(first.now == SessionBuilder.time(2) && second.now == SessionBuilder.time(2))
    var other = Actor(first)
    let id = try await other.publish("tap", "1")
    try await hearing
    #expect(try await reading == .published(id))
    #expect(heard.lines == ["b connected 0.01", "b 1 1.0", "b 2 3.0", "b ended 3.0"])
    #expect(try await user.next() == .ended)
    try first.finish()
    try second.finish()
  }

  /// As a near miss, what was recorded before the action waits for nothing.
  @Test func anActionHoldsBackNothingThatWasBefore() async throws {
    let (time, heard) = (SharedTime(), Heard())
    var (a, b) = (SessionBuilder(), SessionBuilder())
    a.connect(4, as: "a")
    b.connect(0, as: "b")
    b.publish(4, .server, "first", "1")
    // The first one is not used.
    let first = try ReplayClient(a.events, options: Self.options(time))
    let second = try ReplayClient(b.events, options: Self.options(time))
    try await Self.listen(to: "b", second, heard)
    #expect(heard.lines == ["b connected 0.01", "b 1 4.0", "b ended 4.0"])
    #expect(first.divergence == nil && first.leftOvers.count == 2)
  }

  /// An action that is never performed breaks its client after a while, and the others go on.
  @Test func whatNobodyPerformsBreaksItsOwnClient() async throws {
    let (clock, heard) = (HandClock(), Heard())
    let time = SharedTime()
    let (a, b) = Self.tapBetween()
    let patience = ReplayPatience.limited(.seconds(10), by: clock)
    let first = try ReplayClient(a, options: Self.options(time, patience: patience))
    let second = try ReplayClient(b, options: Self.options(time, patience: patience))
    var (user, other) = (Actor(first), Actor(second))
    try await user.connect(as: "a")
    try await other.connect(as: "b")
    _ = try await user.next()
    // It is not read any more.
    try await Self.listen(to: "b", second, heard, connecting: false)
    #expect(heard.lines == ["b connected 0.01", "b 1 1.0", "b 2 3.0", "b ended 3.0"])
    #expect(clock.now.offset == .seconds(10))
    #expect(second.divergence == nil)
    let divergence = try #require(first.divergence)
    #expect(divergence.kind == .missingAction && divergence.place?.frame == 4)
    #expect(divergence.expected == #"PUBLISH tap, QoS 0, payload {"utf8":"1"}"#)
    try second.finish()
    #expect(throws: DataClientError.self) { try first.finish() }
  }

  /// Where only readers act, and all of them wait, nothing can come any more.
  @Test func readersAloneAreToldAtOnce() async throws {
    let clock = HandClock()
    let time = SharedTime()
    let (a, b) = Self.tapBetween()
    let options = Self.options(
      time, .readerOnly, patience: .limited(.seconds(10), by: clock))
    let first = try ReplayClient(a, options: options)
    let second = try ReplayClient(b, options: options)
    let heard = Heard()
    async let hearing: Void = Self.listen(to: "b", second, heard)
    var user = Actor(first)
    try await user.connect(as: "a")
    _ = try await user.next()
    let error = await #expect(throws: DataClientError.self) { try await user.next() }
    #expect(error?.code == .diverged && clock.now.offset == .zero)
    #expect(first.divergence?.kind == .missingAction)
    try await hearing
    #expect(heard.lines.last == "b ended 3.0" && second.divergence == nil)
  }

  /// But the reader of another client may act on what it hears.
  @Test(arguments: [ReplayActors.anyTask, .readerOnly])
  func readersMayActOnOtherClients(_ actors: ReplayActors) async throws {
    let time = SharedTime()
    let (a, b) = Self.tapBetween()
    let first = try ReplayClient(a, options: Self.options(time, actors))
    let second = try ReplayClient(b, options: Self.options(time, actors))
    let heard = Heard()
    async let hearing: Void = Self.listen(to: "a", first, heard)
    var user = Actor(second)
    try await user.connect(as: "b")
    _ = try await user.next()
    #expect(try await user.next() == .message(Message("first", "1")))
    var tapper = Actor(first)
    try await tapper.publish("tap", "1")
    #expect(try await user.next() == .message(Message("second", "2")))
    #expect(try await user.next() == .ended)
    try await hearing
    try first.finish()
    try second.finish()
  }

  /// A timer may be late by the tolerance of the client whose action it brings about, and no more.
  @Test(arguments: [(2.4, true), (2.6, false)])
  func theToleranceIsThatOfTheAction(_ deadline: Double, passes: Bool) async throws {
    let time = SharedTime()
    let (a, b) = Self.tapBetween()
    let first = try ReplayClient(
      a, options: Self.options(time, .readerOnly, tolerance: .milliseconds(500)))
    let second = try ReplayClient(b, options: Self.options(time, .readerOnly))
    var (one, other) = (Actor(first), Actor(second))
    try await one.connect(as: "a")
    try await other.connect(as: "b")
    for user in [one, other] { _ = try await user.next() }
    _ = try await other.next()
    #expect(try await other.next(deadline) == .deadline)
    #expect((first.divergence == nil) == passes)
    #expect(second.divergence == nil)
  }

  // MARK: Readers that wait for each other

  /// One task may read one client after the other, and nobody waits for what it has read.
  @Test func oneTaskMayReadThemAll() async throws {
    let time = SharedTime()
    let (a, b) = Self.sessions()
    let first = try ReplayClient(a, options: Self.options(time))
    let second = try ReplayClient(b, options: Self.options(time))
    var (one, other) = (Actor(first), Actor(second))
    try await one.connect(as: "a")
    try await other.connect(as: "b")
    #expect(try await one.next() == .connected(.init()))
    #expect(try await other.next() == .connected(.init()))
    for second in stride(from: 1, to: 10, by: 2) {
      #expect(try await other.next() == .message(Message("odd", "\(second)")))
      #expect(try await one.next() == .message(Message("even", "\(second + 1)")))
    }
    #expect(try await other.next() == .ended)
    #expect(try await one.next() == .ended)
    try first.finish()
    try second.finish()
  }

  /// A reader that waits for what another client has to bring does not wait for ever.
  @Test func aReaderMayWaitForAnotherClient() async throws {
    let (time, heard) = (SharedTime(), Heard())
    let (a, b) = Self.sessions(until: 4)
    let first = try ReplayClient(a, options: Self.options(time))
    let second = try ReplayClient(b, options: Self.options(time))
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var user = Actor(second)
        try await user.connect(as: "b")
        while case let event = try await user.next(), event != .ended {
          heard.note("b", event, second.now)
          continuation.yield()
        }
      }
      group.addTask {
        var others = stream.makeAsyncIterator()
        var user = Actor(first)
        try await user.connect(as: "a")
        while case let event = try await user.next(), event != .ended {
          heard.note("a", event, first.now)
          // In the middle of its work it needs what the other one hears.
          await others.next()
        }
      }
      try await group.waitForAll()
    }
    #expect(
      heard.lines == [
        "a connected 0.01", "b connected 0.11", "b 1 1.0", "a 2 2.0", "b 3 3.0", "a 4 4.0",
      ])
  }

  /// A reader that was overtaken goes on in the time that it was in.
  @Test func theTimeOfABusyReaderStands() async throws {
    let time = SharedTime()
    let (a, b) = Self.sessions()
    let first = try ReplayClient(a, options: Self.options(time))
    let second = try ReplayClient(b, options: Self.options(time))
    var user = Actor(first)
    try await user.connect(as: "a")
    _ = try await user.next()
    // Another task hears what comes next to the other client.
    let event = try await Task {
      var other = Actor(second)
      try await other.connect(as: "b")
      _ = try await other.next()
      return try await other.next()
    }.value
    #expect(event == .message(Message("odd", "1")))
    #expect(second.now == SessionBuilder.time(1))
    #expect(first.now == SessionBuilder.time(0.01))
    #expect(try await user.next(0.5) == .deadline)
    #expect(first.now == SessionBuilder.time(0.5))
  }

  // MARK: Ends

  /// A client that nobody reads holds up nobody, used or not.
  @Test(arguments: [false, true]) func anUnreadClientHoldsUpNobody(isUsed: Bool) async throws {
    let (time, heard) = (SharedTime(), Heard())
    var unread = SessionBuilder()
    unread.connect(0, as: "a")
    for second in 1...5 { unread.publish(Double(second), .server, "unread", "\(second)") }
    let first = try ReplayClient(unread.events, options: Self.options(time))
    let second = try ReplayClient(Self.sessions().b, options: Self.options(time))
    if isUsed {
      var user = Actor(first)
      try await user.connect(as: "a")
    } else {
      #expect(throws: DataClientError.self) { try first.finish() }
    }
    try await Self.listen(to: "b", second, heard)
    #expect(heard.lines.last == "b ended 9.0" && heard.lines.count == 7)
    #expect(first.leftOvers.count == (isUsed ? 6 : 7))
    #expect(isUsed ? first.divergence == nil : first.divergence?.kind == .leftOver)
  }

  /// One whose session is over says so, and the other goes on.
  @Test func oneMayEndEarly() async throws {
    let (time, heard) = (SharedTime(), Heard())
    let (a, _) = Self.sessions(until: 2)
    let (_, b) = Self.sessions()
    let first = try ReplayClient(a, options: Self.options(time))
    let second = try ReplayClient(b, options: Self.options(time))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await Self.listen(to: "a", first, heard) }
      group.addTask { try await Self.listen(to: "b", second, heard) }
      try await group.waitForAll()
    }
    #expect(
      heard.linesBeforeEnds.dropFirst(2) == [
        "b 1 1.0", "a 2 2.0", "b 3 3.0", "b 5 5.0", "b 7 7.0", "b 9 9.0",
      ])
    let end = heard.lines.firstIndex(of: "a ended 2.0")
    #expect(end != nil && end != heard.lines.indices.last)
    #expect(try await first.next(before: SessionBuilder.time(20)) == .ended)
  }

  /// One that is gone is not waited for, whatever it still had to do.
  @Test func oneMayBeGone() async throws {
    let (time, heard) = (SharedTime(), Heard())
    let (a, b) = Self.tapBetween()
    let second = try ReplayClient(b, options: Self.options(time, patience: .unlimited))
    var other = Actor(second)
    try await other.connect(as: "b")
    do {
      let first = try ReplayClient(a, options: Self.options(time))
      var user = Actor(first)
      try await user.connect(as: "a")
      _ = try await user.next()
    }
    try await Self.listen(to: "b", second, heard, connecting: false)
    #expect(heard.lines.last == "b ended 3.0")
  }

  @Test func cancellationLosesNothingAndHoldsUpNobody() async throws {
    let (time, heard) = (SharedTime(), Heard())
    let (a, b) = Self.sessions(until: 4)
    let first = try ReplayClient(a, options: Self.options(time))
    let second = try ReplayClient(b, options: Self.options(time))
    var (one, other) = (Actor(first), Actor(second))
    try await one.connect(as: "a")
    try await other.connect(as: "b")
    let reader = one
    #expect(try await reader.next() == .connected(.init()))
    // Its next event comes behind two of the other client, which nobody reads.
    let reading = Task { try await reader.next(1.5) }
    await Task.yield()
    reading.cancel()
    let result = await reading.result
    #expect(throws: CancellationError.self) { try result.get() }
    try await Self.listen(to: "b", second, heard, connecting: false)
    #expect(heard.lines == ["b connected 0.11", "b 1 1.0", "b 3 3.0", "b ended 3.0"])
    #expect(try await one.next() == .message(Message("even", "2")))
    #expect(try await one.next() == .message(Message("even", "4")))
    #expect(try await one.next() == .ended)
  }

  @Test func wakingNeedsNoTurn() async throws {
    let time = SharedTime()
    let (a, b) = Self.tapBetween()
    let first = try ReplayClient(a, options: Self.options(time, patience: .unlimited))
    let second = try ReplayClient(b, options: Self.options(time, patience: .unlimited))
    var (one, other) = (Actor(first), Actor(second))
    try await one.connect(as: "a")
    try await other.connect(as: "b")
    for user in [one, other] { _ = try await user.next() }
    _ = try await other.next()
    let reader = other
    async let read = reader.next()
    second.wake()
    #expect(try await read == .woken)
    #expect(first.divergence == nil && second.divergence == nil)
  }

  /// A single client of a time is as one in a time of its own.
  @Test func aloneItIsLikeAnyOther() async throws {
    for time in [SharedTime(), nil] {
      let client = try ReplayClient(
        SessionBuilder.tap(), options: Self.options(time, .readerOnly))
      var user = Actor(client)
      try await user.connect()
      #expect(try await user.next() == .connected(.init()))
      #expect(try await user.next(4) == .deadline)
      #expect(client.now == SessionBuilder.time(4))
      let id = try await user.publish("tap", "1")
      #expect(client.now == SessionBuilder.time(10))
      #expect(try await user.next(300) == .published(id))
      #expect(try await user.next(300) == .message(Message("answer", "1")))
      #expect(client.now == SessionBuilder.time(11))
      #expect(try await user.next(300) == .ended)
      try client.finish()
    }
  }
}

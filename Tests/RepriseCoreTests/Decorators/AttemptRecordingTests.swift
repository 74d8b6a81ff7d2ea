import RepriseCore
import TestSupport
import Testing

/// Connections that a recorded client wanted and that never came to be.
@Suite struct AttemptRecordingTests {
  /// What a session can do.
  enum Speech: CaseIterable {
    case messages, frames

    var capabilities: Capabilities {
      switch self {
      case .messages: [.messages, .retain, .will, .exactlyOnce, .push, .binary]
      case .frames: [.frames, .push, .binary]
      }
    }

    /// The beginning of a connection, from OPEN on.
    func beginning() -> [String] {
      switch self {
      case .messages: ["client OPEN", "client CONNECT"]
      case .frames: ["client OPEN", "client UPGRADE"]
      }
    }
  }

  /// No server is there twice; then one closes without an answer, and answers at last.
  private static let outcomes: [ClientEvent] = [
    .closed(.unreached("h port 1: Connection refused")), .closed(.unreached("the name is unknown")),
    .closed(.lost("h port 1: the server closed the connection")),
    .closed(.byServer(code: nil, "closed")), .connected(.init()), .closed(.byUser),
  ]

  /// Connects until there is a connection, and leaves it.
  private static func run(on client: any DataClient, as name: String = "c") async throws
    -> [ClientEvent]
  {
    var user = Actor(client)
    var events: [ClientEvent] = []
    while events.last != .connected(.init()) {
      try await user.do(.connect(ConnectOptions(clientID: name, username: "u", password: [0x70])))
      events.append(try await client.next(before: nil))
    }
    try await user.do(.disconnect)
    events.append(try await client.next(before: nil))
    return events
  }

  private static func recorded(_ speech: Speech) async throws -> MemorySink {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond(outcomes, speech.capabilities), to: MemorySink(),
      url: "mqtt://me@h:1")
    #expect(try await run(on: recorder) == outcomes)
    try recorder.finish()
    return recorder.sink
  }

  @Test(arguments: Speech.allCases)
  func areToldByOneEventThatIsNoConnection(_ speech: Speech) async throws {
    let sink = try await Self.recorded(speech)
    let events = try sink.events()
    let end =
      switch speech {
      case .messages: ["server CONNACK", "client DISCONNECT", "client CLOSE fin"]
      case .frames: ["server UPGRADED", "client CLOSE", "server CLOSE", "client CLOSE fin"]
      }
    var expected = ["client ATTEMPT failed", "client ATTEMPT failed"]
    for ending in [["server CLOSE reset"], ["server CLOSE fin"], end] {
      expected += speech.beginning() + ending
    }
    #expect(events.map(\.shownType) == expected)
    #expect(events.map(\.context.frame) == Array(2..<events.count + 2))
    #expect(events.map(\.context.connection).prefix(6) == [1, 2, 3, 3, 3, 4])
    // The one is of the time at which nothing came of it, and knows when it was begun.
    let attempt = try #require(events[1].attempt)
    #expect(attempt.firstTime == SessionBuilder.time(1))
    #expect(events[1].context.time == SessionBuilder.time(2))
    #expect(attempt.reason == "the name is unknown" && attempt.server == "mqtt://***@h:1")
    // A connection that was has the time at which it was asked for.
    #expect(events[2].context.time == SessionBuilder.time(2))
    #expect(events[4].context.time == SessionBuilder.time(3))
  }

  @Test(arguments: Speech.allCases) func areRepeatedByAReplay(_ speech: Speech) async throws {
    let sink = try await Self.recorded(speech)
    let events = try sink.events()
    let replay = try ReplayClient(events, options: ReplayOptions(match: .strict))
    #expect(replay.capabilities == speech.capabilities)
    #expect(try await Self.run(on: replay) == Self.outcomes)
    try replay.finish()
    // Recorded again it is the same recording.
    let again = try RecordingClient(
      ReplayClient(events), to: MemorySink(), url: "mqtt://me@h:1")
    #expect(try await Self.run(on: again) == Self.outcomes)
    try again.finish()
    #expect(
      sink.text.split(separator: "\n").dropFirst()
        .elementsEqual(again.sink.text.split(separator: "\n").dropFirst()))
  }

  @Test func areALineThatIsReadAndWrittenAsItWas() async throws {
    let sink = try await Self.recorded(.messages)
    let lines = sink.text.split(separator: "\n").dropFirst().map(String.init)
    let first =
      #"{"frame":2,"time":"2025-06-15T15:06:41.000000Z","connection":1,"#
      + #""from":"client","protocol":"mqtt-3.1.1","type":"ATTEMPT","#
      + #""server":"mqtt://***@h:1","how":"failed","firstTime":"2025-06-15T15:06:40.000000Z","#
      + #""reason":"h port 1: Connection refused","clientID":"c","cleanStart":true,"#
      + #""keepAlive":60,"username":"u","password":"***"}"#
    #expect(lines.first == first)
    let events = try sink.events()
    let writer = EventJSONWriter()
    let again = events.map { event in
      var line: [UInt8] = []
      event.withView { writer.append($0, to: &line) }
      return String(decoding: line, as: UTF8.self)
    }
    // Of a CONNECT that was sent the length tells how long the password was.
    #expect(Array(again.prefix(3)) == Array(lines.prefix(3)))
    #expect(again.count == lines.count)
    var text: [UInt8] = []
    var shown = EventTextWriter()
    events[0].withView { shown.append($0, to: &text) }
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n").last.map(String.init)
    let shownLine =
      "15:06:41.000000      2  #1   → ATTEMPT     mqtt://***@h:1  c  mqtt-3.1.1  clean  "
      + "keep-alive 60 s  user u  password ***  failed  h port 1: Connection refused"
    #expect(line == shownLine)
  }

  /// The cause stands in the line only where there is one, and an application in a replay learns it.
  @Test(arguments: Speech.allCases) func haveTheCauseThatTheClientTells(_ speech: Speech)
    async throws
  {
    let outcomes: [ClientEvent] = [
      .closed(.unreached("no way", cause: .noNetwork)), .closed(.unreached("refused")),
      .connected(.init()), .closed(.byUser),
    ]
    let recorder = try RecordingClient(
      ScriptedClient.everySecond(outcomes, speech.capabilities), to: MemorySink())
    #expect(try await Self.run(on: recorder) == outcomes)
    try recorder.finish()
    let lines = recorder.sink.text.split(separator: "\n")
    #expect(lines.map { $0.contains(#","cause":"noNetwork""#) }.prefix(3) == [false, true, false])
    #expect(lines.filter { $0.contains("\"cause\"") }.count == 1)
    let events = try recorder.sink.events()
    #expect(events.compactMap(\.attempt?.cause) == [.noNetwork, .other])
    let replay = try ReplayClient(events)
    #expect(try await Self.run(on: replay) == outcomes)
    try replay.finish()
    // What is written of "other" is read as well, and what nobody knows is refused.
    let other = recorder.sink.text.replacing("noNetwork", with: "other")
    #expect(
      try EventList(recording: Array(other.utf8)).events.compactMap(\.attempt?.cause)
        == [.other, .other])
    let wrong = recorder.sink.text.replacing("noNetwork", with: "noNet")
    let thrown = #expect(throws: RecordingError.self) {
      try EventList(recording: Array(wrong.utf8))
    }
    #expect(
      thrown?.description.contains(#""cause" is neither "noNetwork" nor "other""#) == true,
      "\(String(describing: thrown))")
  }

  @Test(arguments: [
    (#""how":"lost""#, #""how" is none of "failed", "given-up" and "end-of-capture""#),
    (#""ho":"failed""#, #"the key "how" is missing"#),
  ])
  func thatMakeNoSenseAreRefused(_ how: String, _ error: String) async throws {
    let text = try await Self.recorded(.messages).text.replacing(#""how":"failed""#, with: how)
    let thrown = #expect(throws: RecordingError.self) {
      try EventList(recording: Array(text.utf8))
    }
    #expect(thrown?.description.contains(error) == true, "\(String(describing: thrown))")
  }

  @Test(arguments: Speech.allCases) func mayBeGivenUpByTheUser(_ speech: Speech) async throws {
    let outcomes: [ClientEvent] = [.closed(.byUser), .connected(.init())]
    func run(on client: any DataClient) async throws -> [ClientEvent] {
      var user = Actor(client)
      try await user.do(.connect(ConnectOptions(clientID: "c")))
      try await user.do(.disconnect)
      let first = try await client.next(before: nil)
      try await user.do(.connect(ConnectOptions(clientID: "c")))
      return [first, try await client.next(before: nil)]
    }
    let recorder = try RecordingClient(
      ScriptedClient.everySecond(outcomes, speech.capabilities), to: MemorySink())
    #expect(try await run(on: recorder) == outcomes)
    let events = try recorder.sink.events()
    let answer = speech == .messages ? "server CONNACK" : "server UPGRADED"
    let expected = ["client ATTEMPT given-up"] + speech.beginning() + [answer]
    #expect(events.map(\.shownType) == expected)
    let replay = try ReplayClient(events)
    #expect(try await run(on: replay) == outcomes)
    try replay.finish()
    // A user who stays learns at the same time that nothing came of it.
    let patient = try ReplayClient(events)
    var user = Actor(patient)
    try await user.do(.connect(ConnectOptions(clientID: "c")))
    #expect(
      try await patient.next(before: nil)
        == .closed(.unreached("the client left before the server had answered")))
  }

  @Test func thatSucceededAfterAllHaveTheFarewellInItsPlace() async throws {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([.connected(.init()), .closed(.byUser)]), to: MemorySink())
    var user = Actor(recorder)
    try await user.connect()
    try await user.do(.disconnect)
    for _ in 0..<2 { _ = try await recorder.next(before: nil) }
    #expect(
      try recorder.sink.events().map(\.shownType) == [
        "client OPEN", "client CONNECT", "client DISCONNECT", "server CONNACK", "client CLOSE fin",
      ])
  }

  @Test func withoutAnOutcomeEndTheRecordingIfThereIsRoom() async throws {
    for (limit, types) in [(nil, ["client ATTEMPT end-of-capture"]), (400, [])] {
      let recorder = try RecordingClient(
        ScriptedClient.everySecond([]), to: MemorySink(), url: "mqtt://host", limit: limit)
      var user = Actor(recorder)
      try await user.connect(as: "some-client-of-a-name")
      try recorder.finish()
      let events = try recorder.sink.events()
      #expect(events.map(\.shownType) == types)
      guard limit == nil else {
        #expect(recorder.sink.bytes.count <= 400)
        continue
      }
      let replay = try ReplayClient(events)
      var again = Actor(replay)
      try await again.connect(as: "some-client-of-a-name")
      #expect(try await replay.next(before: nil) == .ended)
      try replay.finish()
    }
  }

  @Test func goOnInTheNextFile() async throws {
    let first = MemorySink()
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([.closed(.unreached("nobody"))]), to: first,
      nextSink: { _ in MemorySink() })
    var user = Actor(recorder)
    try await user.connect()
    try recorder.startNextFile()
    _ = try await recorder.next(before: nil)
    #expect(try recorder.sink.events().map(\.shownType) == ["client ATTEMPT failed"])
  }

  @Test func belongToTheClientThatWantedThem() async throws {
    let events = try await Self.recorded(.messages).events()
    var session = events
    session.insert(contentsOf: try await Self.other().events(), at: 2)
    for (options, outcome) in [
      (ConnectOptions(clientID: "c", username: "u", password: [0x70]), Self.outcomes[0]),
      (ConnectOptions(clientID: "d"), .closed(.unreached("nobody"))),
    ] {
      let replay = try ReplayClient(session, of: .client(options.clientID))
      var user = Actor(replay)
      try await user.do(.connect(options))
      #expect(try await replay.next(before: nil) == outcome)
    }
    let unknown = #expect(throws: DataClientError.self) {
      try ReplayClient(session, of: .client("e"))
    }
    #expect(unknown?.message.contains("has no client \"e\"") == true)
    // Another client's attempt is not this one's.
    let replay = try ReplayClient(events)
    var user = Actor(replay)
    let error = await #expect(throws: DataClientError.self) {
      try await user.do(.connect(ConnectOptions(clientID: "d", username: "u")))
    }
    #expect(error?.code == .diverged)
    #expect(replay.divergence?.differences.map(\.place).contains("clientID") == true)
  }

  @Test(arguments: Speech.allCases) func areLeftOverUntilTheyAreTold(_ speech: Speech) async throws
  {
    let replay = try ReplayClient(try await Self.recorded(speech).events())
    var user = Actor(replay)
    try await user.do(.connect(ConnectOptions(clientID: "c", username: "u", password: [0x70])))
    // The outcome of the first, and the second with its own.
    let left = replay.leftOvers.prefix(3)
    #expect(left.map(\.place.frame) == [2, 3, 3])
    #expect(left.map { $0.action != nil } == [false, true, false])
    #expect(left.first?.summary.contains("Connection refused") == true)
    _ = try await replay.next(before: nil)
    #expect(replay.leftOvers.first?.place.frame == 3)
    #expect(replay.leftOvers.first?.action != nil)
  }

  /// The attempt of another client, on a connection of its own.
  private static func other() async throws -> MemorySink {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([.closed(.unreached("nobody"))]), to: MemorySink())
    var user = Actor(recorder)
    try await user.connect(as: "d")
    _ = try await recorder.next(before: nil)
    let text = recorder.sink.text.replacing(#""connection":1"#, with: #""connection":99"#)
    var sink = MemorySink()
    Array(text.utf8).withUnsafeBytes { sink.write($0.bytes) }
    return sink
  }

  @Test func areFoundByAFilter() async throws {
    let events = try await Self.recorded(.messages).events()
    for (expression, frames) in [
      ("type == ATTEMPT", [2, 3]), ("type == OPEN && connection <= 3", [4]),
      ("client == \"c\" && type == ATTEMPT", [2, 3]), ("client == \"d\"", []),
      ("from == server && connection <= 2", []),
    ] {
      var filter = try SessionFilter(expression)
      let found = events.filter { event in event.withView { filter.matches($0) } }
      #expect(found.map(\.context.frame) == frames, "\(expression)")
    }
  }
}

extension Event {
  fileprivate var attempt: ConnectionAttempt? {
    if case .attempted(let attempt) = body { attempt } else { nil }
  }
}

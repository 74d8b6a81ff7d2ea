import RepriseCore
import TestSupport
import Testing

/// Sessions of requests over HTTP as a world.
@Suite struct RequestReplayTests {
  /// Lines of a recording: what is told of two connections to one server.
  private static func events(_ lines: [String]) throws -> [Event] {
    let text = lines.enumerated().map { index, line in
      let second = index < 10 ? "0\(index)" : "\(index)"
      return #"{"time":"2026-11-21T00:00:\#(second)Z","protocol":"http",\#(line)}"#
    }
    return try EventList(recording: Array(text.joined(separator: "\n").utf8)).events
  }

  private static func open(_ connection: Int, server: String = "10.0.0.2:80") -> String {
    #""connection":\#(connection),"from":"client","type":"OPEN","client":"10.0.0.1:4\#(connection)","#
      + #""server":"\#(server)","fromStart":true,"firstFrame":1,"firstTime":"2026-11-21T00:00:00Z""#
  }

  private static func ask(
    _ connection: Int, _ exchange: Int, _ method: String, _ target: String, _ body: String = ""
  ) -> String {
    #""connection":\#(connection),"from":"client","type":"REQUEST","exchange":\#(exchange),"#
      + #""method":"\#(method)","target":"\#(target)","payload":\#(quoted(body))"#
  }

  private static func answer(
    _ connection: Int, _ exchange: Int, _ status: Int = 200, _ body: String = "",
    missing: Int = 0
  ) -> String {
    #""connection":\#(connection),"from":"server","type":"RESPONSE","exchange":\#(exchange),"#
      + #""status":\#(status),"payload":\#(quoted(body)),"missing":\#(missing)"#
  }

  private static func close(_ connection: Int, _ how: String) -> String {
    #""connection":\#(connection),"from":"server","type":"CLOSE","how":"\#(how)","firstFrame":1,"#
      + #""firstTime":"2026-11-21T00:00:09Z""#
  }

  private static func quoted(_ text: String) -> String {
    String(decoding: JSONValue.string(text).utf8, as: UTF8.self)
  }

  private static func get(_ path: String, _ parameters: [String: JSONValue] = [:])
    -> ClientAction.Kind
  {
    .send(RequestMessage(path: path, method: "GET", parameters: parameters))
  }

  private static func post(_ path: String, _ parameters: [String: JSONValue])
    -> ClientAction.Kind
  {
    .send(RequestMessage(path: path, method: "POST", parameters: parameters))
  }

  private static func ok(_ id: UInt32, _ body: String, status: Int = 200) -> ClientEvent {
    .response(
      ClientAction.ID(rawValue: id), ResponseMessage(status: status, body: Array(body.utf8)))
  }

  /// One request after the other, with an answer that names the request by its identifier.
  private static func session(_ server: String = "10.0.0.2:80") -> [String] {
    [
      open(1, server: server),
      ask(1, 1, "GET", "/v1/a%20b?q=1%262"),
      answer(1, 1, 100),
      answer(1, 1, 404, "no"),
      open(2, server: server),
      ask(2, 1, "POST", "/v1/c", #"{"id":"17","n":5,"list":["x"]}"#),
      answer(2, 1, 200, #"{"id":"17","ok":true}"#),
    ]
  }

  private func replay(_ lines: [String], _ options: ReplayOptions = ReplayOptions()) throws
    -> Actor
  {
    Actor(try ReplayClient(Self.events(lines), options: options))
  }

  private static let based = ReplayOptions(requestBase: "/v1/")

  @Test func answersInRecordedTimeWithTheIdentifiersOfThisRun() async throws {
    var user = try replay(Self.session(), Self.based)
    #expect(user.client.capabilities == [.requests, .binary])
    try await user.do(Self.get("a b", ["q": "1&2"]))
    #expect(try await user.next() == Self.ok(1, "no", status: 404))
    let start = try #require(Timestamp("2026-11-21T00:00:03Z"))
    #expect(user.client.now == start)
    try await user.do(Self.post("/c", ["id": "3", "n": 5, "list": ["x"]]))
    #expect(try await user.next() == Self.ok(2, #"{"id":"3","ok":true}"#))
    #expect(user.client.now == start.advanced(by: .seconds(3)))
    #expect(try await user.next() == .ended)
    try (user.client as? ReplayClient)?.finish()
  }

  /// The base stands in a recording's address of the server.
  @Test func aRecordingTellsItsBase() async throws {
    var user = try replay(Self.session("http://host/v1"))
    try await user.do(Self.get("a b", ["q": "1&2"]))
    #expect(try await user.next() == Self.ok(1, "no", status: 404))
    var other = try replay(Self.session("http://host/v2"))
    let error = await #expect(throws: DataClientError.self) {
      try await other.do(Self.get("a b", ["q": "1&2"]))
    }
    #expect(error?.code == .diverged)
  }

  @Test(
    arguments: [
      (get("a b", ["q": "1"]), ["parameters.q: 1&2, 1"]),
      (get("a b"), ["parameters.q: 1&2, nil"]),
      (get("a b", ["q": "1&2", "r": ""]), ["parameters.r: nil, "]),
      (get("a", ["q": "1&2"]), ["path: a b, a"]),
      (
        .send(RequestMessage(path: "a b", method: "HEAD", parameters: ["q": "1&2"])),
        ["method: GET, HEAD"]
      ),
    ] as [(ClientAction.Kind, [String])])
  func anotherRequestIsADivergence(_ kind: ClientAction.Kind, _ differences: [String]) async throws
  {
    var user = try replay(Self.session(), Self.based)
    let error = await #expect(throws: DataClientError.self) { try await user.do(kind) }
    #expect(error?.code == .diverged)
    let divergence = (user.client as? ReplayClient)?.divergence
    #expect(divergence?.kind == .otherAction && divergence?.place.map(\.frame) == 2)
    func text(_ value: String?) -> String {
      value.map { JSONValue(parsing: Array($0.utf8))?.text ?? $0 } ?? "nil"
    }
    let shown = divergence?.differences.map { difference in
      "\(difference.place): \(text(difference.expected)), \(text(difference.actual))"
    }
    #expect(shown == differences)
  }

  @Test(
    arguments: [
      (ReplayMatch.json, ["id": "3", "n": 5, "list": ["x"]], true),
      (.json, ["id": "3", "n": 6, "list": ["x"]], false),
      (.json, ["id": "3", "n": "5", "list": ["x"]], false),
      (.strict, ["id": "17", "n": 5, "list": ["x"]], true),
      (.strict, ["id": "3", "n": 5, "list": ["x"]], false),
      (.strict, ["id": "17", "n": 5, "list": ["x", 1]], false),
      (.topic, ["id": "3", "other": "1"], true),
    ] as [(ReplayMatch, [String: JSONValue], Bool)])
  func matchesAsExactlyAsAsked(
    _ match: ReplayMatch, _ parameters: [String: JSONValue], _ isOne: Bool
  ) async throws {
    var options = Self.based
    options.match = match
    var user = try replay(Self.session(), options)
    try await user.do(Self.get("a b", ["q": "1&2"]))
    _ = try await user.next()
    if isOne {
      try await user.do(Self.post("c", parameters))
      let id = parameters["id"]?.text ?? ""
      #expect(try await user.next() == Self.ok(2, #"{"id":"\#(id)","ok":true}"#))
    } else {
      let error = await #expect(throws: DataClientError.self) {
        try await user.do(Self.post("c", parameters))
      }
      #expect(error?.code == .diverged)
    }
  }

  @Test func takesNothingButRequests() async throws {
    var user = try replay(Self.session(), Self.based)
    for kind: ClientAction.Kind in [
      .connect(ConnectOptions()), .disconnect, .publish(Message("a", "")), .sendText("a"),
    ] {
      let error = await #expect(throws: DataClientError.self) { try await user.do(kind) }
      #expect(error?.code == .unsupported)
    }
    try await user.do(Self.get("a b", ["q": "1&2"]))
  }

  /// Three calls at once, of which the first was answered before the last was made.
  private static let atOnce = [
    open(1), open(2), ask(1, 1, "GET", "/a"), ask(2, 1, "GET", "/b"), answer(1, 1, 200, "A"),
    ask(1, 2, "GET", "/c"), answer(2, 1, 200, "B"), answer(1, 2, 200, "C"),
  ]

  @Test(arguments: [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
  func requestsAtOnceComeInAnyOrder(_ paths: [String]) async throws {
    var user = try replay(Self.atOnce)
    var expected: Set<ClientEvent> = []
    for path in paths {
      let id = try await user.do(Self.get(path))
      expected.insert(Self.ok(id.rawValue, path.uppercased()))
    }
    var got: Set<ClientEvent> = []
    for _ in paths { got.insert(try await user.next()) }
    #expect(got == expected)
    try (user.client as? ReplayClient)?.finish()

    var strict = try replay(Self.atOnce, ReplayOptions(order: .recorded))
    do {
      for path in paths { try await strict.do(Self.get(path)) }
      #expect(paths == ["a", "b", "c"])
    } catch let error as DataClientError {
      #expect(error.code == .diverged && paths != ["a", "b", "c"])
    }
  }

  /// What an answer brought can't be asked for before it.
  @Test func aRequestThatUsesAnAnswerComesBehindIt() async throws {
    let lines = [
      Self.open(1), Self.ask(1, 1, "GET", "/list"), Self.answer(1, 1, 200, #"["item-4711"]"#),
      Self.ask(1, 2, "GET", "/items/item-4711"), Self.answer(1, 2, 200, "it"),
    ]
    var user = try replay(lines)
    let error = await #expect(throws: DataClientError.self) {
      try await user.do(Self.get("items/item-4711"))
    }
    #expect(error?.code == .diverged)
    var other = try replay(lines)
    try await other.do(Self.get("list"))
    _ = try await other.next()
    try await other.do(Self.get("items/item-4711"))
    #expect(try await other.next() == Self.ok(2, "it"))
  }

  @Test func theEndOfAConnectionAnswersWhatItLeavesOpen() async throws {
    var user = try replay([
      Self.open(1), Self.ask(1, 1, "GET", "/a"), Self.ask(1, 2, "GET", "/b"),
      Self.answer(1, 1, 200, "A"), Self.close(1, "fin"),
    ])
    try await user.do(Self.get("a"))
    try await user.do(Self.get("b"))
    #expect(try await user.next() == Self.ok(1, "A"))
    #expect(
      try await user.next()
        == .failed(
          ClientAction.ID(rawValue: 2),
          .unanswered(.lost, "the connection was closed before the answer was complete")))
    #expect(try await user.next() == .ended)

    // The end of a capture says nothing.
    var cut = try replay([
      Self.open(1), Self.ask(1, 1, "GET", "/a"), Self.close(1, "end-of-capture"),
    ])
    try await cut.do(Self.get("a"))
    #expect(try await cut.next() == .ended)
  }

  @Test func theSessionEndsAtAHole() async throws {
    var user = try replay([
      Self.open(1), Self.ask(1, 1, "GET", "/a"), Self.answer(1, 1, 200, "A", missing: 4),
    ])
    try await user.do(Self.get("a"))
    let error = await #expect(throws: DataClientError.self) { try await user.next() }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains("4 bytes of a body of the server") == true)
  }

  @Test func leftOversAreTold() async throws {
    var user = try replay(Self.session(), Self.based)
    try await user.do(Self.get("a b", ["q": "1&2"]))
    let client = try #require(user.client as? ReplayClient)
    #expect(client.leftOvers.map(\.place.frame) == [4, 6, 7])
    let error = #expect(throws: DataClientError.self) { try client.finish() }
    #expect(error?.code == .diverged)
    #expect(client.divergence?.kind == .leftOver)
  }

  @Test func requestsToSeveralServersHaveToBeChosen() async throws {
    let lines = [
      Self.open(1), Self.ask(1, 1, "GET", "/a"), Self.answer(1, 1, 200, "A"),
      Self.open(2, server: "10.0.0.3:80"), Self.ask(2, 1, "GET", "/b"), Self.answer(2, 1, 200, "B"),
    ]
    let events = try Self.events(lines)
    let error = #expect(throws: DataClientError.self) { try ReplayClient(events) }
    #expect(error?.message.contains("connection 2 (10.0.0.1 to 10.0.0.3:80)") == true)
    var user = Actor(try ReplayClient(events, of: .connection(2)))
    try await user.do(Self.get("b"))
    #expect(try await user.next() == Self.ok(1, "B"))
    #expect(try await user.next() == .ended)
    let none = #expect(throws: DataClientError.self) {
      try ReplayClient(events, of: .connection(3))
    }
    #expect(none?.message.contains("by its number: 1, 2") == true)
  }

  /// A long session is read again instead of being kept.
  @Test func aSessionIsReadAgain() async throws {
    let events = try Self.events(Self.session())
    var kept = ReplayEvents(rereading: RereadSource(events), keeping: 0)
    for event in events { kept.append(event) }
    var user = Actor(try ReplayClient(kept, options: Self.based))
    try await user.do(Self.get("a b", ["q": "1&2"]))
    #expect(try await user.next() == Self.ok(1, "no", status: 404))
    #expect(try kept.dialogue().map(\.place.frame) == [2, 4, 6, 7])
  }
}

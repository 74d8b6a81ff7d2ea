import RepriseCore
import SessionReplay
import Testing
import Wire

/// Either end of a recorded session over HTTP, with another one that does what was recorded, and with one that does not.
@Suite struct ExchangeTests {
  /// Two clients: one makes a thing and looks at it, the other waits for a change meanwhile.
  private static let lines: [ExchangeDialogue.Line] = [
    .ask(1, .request("POST /things", #"{"requestId":"r1","name":"fan"}"#)),
    .answer(1, .response("100 Continue")),
    .answer(
      1,
      .response(
        "201 Created", #"{"requestId":"r1","id":"41"}"#, [.init("Location", "/things/41")])),
    .ask(1, .request("GET /changes?since=1&ts=5"), on: 2),
    .ask(2, .request("GET /things/41")), .answer(2, .response("200 OK", #"{"id":"41"}"#)),
    .ask(3, .request("GET /things/41")), .answer(3, .response("404 Not Found")),
    .answer(1, .response("200 OK", #"["fan"]"#), on: 2), .end(.client, .fin),
  ]

  private static func script(_ lines: [ExchangeDialogue.Line] = lines) throws -> SessionScript {
    try ExchangeDialogue(lines).script()
  }

  // MARK: What is gathered

  @Test("Interim answers are none, and who has no answer when the connection ends gets none")
  func gathers() throws {
    let script = try Self.script(
      Self.lines + [
        .ask(4, .request("GET /hang-up")), .end(.server, .reset), .ask(9, .request("GET /last")),
      ])
    #expect(script.isHTTP && script.connectionCount == 2 && script.connections.isEmpty)
    #expect(
      script.exchanges.map(\.request.words) == [
        #"POST /things {"requestId":"r1","name":"fan"}"#, "GET /changes?since=1&ts=5",
        "GET /things/41", "GET /things/41", "GET /hang-up", "GET /last",
      ])
    let outcomes = script.exchanges.map { exchange in
      switch exchange.answer?.outcome {
      case .response(let message): "\(message.status ?? 0)"
      case .end(let peer, let how): "\(peer.rawValue) \(how.rawValue)"
      case nil: "nothing"
      }
    }
    #expect(outcomes == ["201", "200", "200", "404", "server reset", "nothing"])
  }

  @Test("An answer that is complete before its request belongs to it")
  func gathersEarlyAnswers() throws {
    let script = try Self.script([
      .client(.opening(of: "s")),
      .answer(1, .response("413 Content Too Large")), .ask(1, .request("PUT /a", "much")),
      .ask(2, .request("GET /a")), .answer(2, .response("200 OK")),
    ])
    var play = ExchangePlay(script, as: .client)
    #expect(play.said == ["0: PUT /a much"])
    #expect(play.answer(0, .response("413 Content Too Large")) == ["1: GET /a"])
    play.answer(1, .response("200 OK"))
    #expect(play.divergence == nil && play.end.isDone)
  }

  @Test("A client that was recorded does not tell its connections")
  func knowsNoConnections() throws {
    let request = ExchangeDialogue.Line.ask(1, .request("GET /a"))
    let told = try Self.script([.client(.opening(of: "https://h/base")), request])
    #expect(told.exchanges.map(\.isOnOneConnection) == [false])
    #expect(
      try Self.script([.client(.opening(of: "h:80")), request]).exchanges.map(\.isOnOneConnection)
        == [true])
  }

  @Test("HTTP beside MQTT or WebSocket is left out, and says so")
  func leavesOut() throws {
    let connect = MQTTPacket(.connect("a"), version: .v3_1_1)
    let mqtt: [ExchangeDialogue.Line] = [
      .client(.mqtt(PacketBytes(try connect.encoded())), on: 7),
      .client(.ask("/chat"), on: 8),
    ]
    let note = "which is another server: connections 1, 2; choose them by --connection"
    let both = try ExchangeDialogue(Self.lines + mqtt[..<1]).script()
    #expect(!both.isHTTP && both.connections.map(\.number) == [7])
    #expect(both.notes == ["not replayed as they are HTTP beside MQTT, \(note)"])
    let socket = try ExchangeDialogue(Self.lines + mqtt[1...]).script()
    #expect(socket.isWebSocket)
    #expect(socket.notes == ["not replayed as they are HTTP beside WebSocket, \(note)"])
    let chosen = try ExchangeDialogue(Self.lines + mqtt).script(.init(numbers: [2]))
    #expect(chosen.isHTTP && chosen.exchanges.count == 1 && chosen.notes.isEmpty)
  }

  @Test("What is missing, too much, or of a client of MQTT can't be replayed")
  func refuses() throws {
    var cut = HTTPMessage.request("PUT /a", "half")
    cut.missing = 4
    let error = #expect(throws: DataClientError.self) {
      try Self.script([.ask(1, .request("GET /a")), .ask(2, cut)])
    }
    #expect(error?.message.hasPrefix("4 bytes of a body are missing at frame 2, ") == true)
    let large = #expect(throws: DataClientError.self) {
      try ExchangeDialogue(Self.lines).script(limit: 500)
    }
    #expect(large?.message.contains("more packets than") == true)
    let named = #expect(throws: DataClientError.self) {
      try ExchangeDialogue(Self.lines).script(.init(clientID: "a"))
    }
    #expect(named?.message.contains("no such connection of MQTT, WebSocket or HTTP") == true)
  }

  // MARK: The server

  @Test("Requests are found in any order, and equal ones in theirs")
  func findsRequests() throws {
    var play = ExchangePlay(try Self.script(), as: .server)
    #expect(play.ask(.request("GET /things/41")) == [#"2: 200 {"id":"41"}"#])
    #expect(play.ask(.request("GET /changes?ts=7&since=1")) == [#"1: 200 ["fan"]"#])
    #expect(play.ask(.request("GET http://h:80/things/41")) == ["3: 404"])
    #expect(!play.end.isDone)
    #expect(
      play.ask(.request("POST /things", #"{ "name": "fan", "requestId": "r1" }"#)).count == 1)
    #expect(play.divergence == nil && play.end.isDone)
  }

  @Test("An id that a client makes anew stands in the answer, and in what is asked for by it")
  func repeatsIdentifiers() throws {
    var lines = Self.lines
    lines[2] = .answer(
      1,
      .response(
        "201 Created", #"{"requestId":"r1","id":"r1"}"#, [.init("Location", "/things/r1")]))
    lines[4] = .ask(2, .request("GET /things/r1?requestid=r1"))
    var play = ExchangePlay(try Self.script(lines), as: .server)
    let said = play.ask(.request("POST /things", #"{"requestId":"q9","name":"fan"}"#))
    #expect(said == [#"0: 201 {"requestId":"q9","id":"q9"}"#])
    #expect(play.ask(.request("GET /things/q9?requestid=q9")) == [#"2: 200 {"id":"41"}"#])
    #expect(play.divergence == nil)
  }

  @Test("Of requests that differ by their ids alone the one with the same id is meant")
  func prefersSameIdentifiers() throws {
    var play = ExchangePlay(
      try Self.script([
        .ask(1, .request("POST /a", #"{"id":1}"#)), .answer(1, .response("200 OK", "[1]")),
        .ask(2, .request("POST /a", #"{"id":2}"#)), .answer(2, .response("200 OK", "[2]")),
      ]), as: .server)
    #expect(play.ask(.request("POST /a", #"{"id":2}"#)) == ["1: 200 [2]"])
    #expect(play.ask(.request("POST /a", #"{"id":3}"#)) == ["0: 200 [1]"])
  }

  /// Near misses of the first request, and what differs.
  private static let misses: [(HTTPMessage, ReplayMatch, [String])] = [
    (
      .request("POST /things", #"{"requestId":"r1","name":"fans"}"#), .json,
      [#"body.name: expected "fan", actual "fans""#]
    ),
    (
      .request("PUT /things", #"{"requestId":"r1","name":"fan"}"#), .json,
      ["method: expected POST, actual PUT"]
    ),
    (
      .request("POST /things?x=1", #"{"requestId":"r1","name":"fan"}"#), .json,
      ["query.x: expected nothing, actual 1"]
    ),
    (
      .request("POST /thing", #"{"requestId":"r1","name":"fan"}"#), .topic,
      ["path: expected /things, actual /thing"]
    ),
    (
      .request("POST /things", #"{"requestId":"r1","name":"fan"}"#, type: "text/plain"), .json,
      ["contentType: expected application/json, actual text/plain"]
    ),
    (
      .request("POST /things", #"{"requestId":"r2","name":"fan"}"#), .strict,
      [
        "body from byte 15: expected 31 22 2c 22 6e 61 6d 65 22 3a 22 66 61 6e 22 7d, actual 32 22 "
          + "2c 22 6e 61 6d 65 22 3a 22 66 61 6e 22 7d"
      ]
    ),
  ]

  @Test("A near miss is told with what differs", arguments: misses.indices)
  func tellsMisses(index: Int) throws {
    let (request, match, differences) = Self.misses[index]
    var play = ExchangePlay(try Self.script(), as: .server, match: match)
    #expect(play.ask(request).isEmpty)
    let divergence = try #require(play.divergence)
    #expect(divergence.kind == .otherAction && divergence.place?.frame == 1)
    #expect(divergence.differences.map(\.words) == differences)
    #expect(divergence.expected?.hasPrefix("REQUEST POST  /things  host h  exchange 1") == true)
    #expect(divergence.remedy.hasPrefix("reprise inspect a.jsonl --filter 'connection == 1 "))
    #expect(divergence.advice.last == "if the client is right: record the session anew")
  }

  @Test("By topics alone, a request has its method and its path")
  func matchesTopics() throws {
    var play = ExchangePlay(try Self.script(), as: .server, match: .topic)
    #expect(play.ask(.request("GET /changes")).count == 1)
    #expect(play.ask(.request("POST /things", "other", type: "text/plain")).count == 1)
    #expect(play.divergence == nil)
  }

  @Test("What is hidden may be anything, and who asks does not matter")
  func takesHidden() throws {
    var play = ExchangePlay(
      try Self.script([
        .ask(
          1,
          .request(
            "POST /login?token=***", "user=ada&password=***",
            type: "application/x-www-form-urlencoded",
            [.init("Cookie", "***"), .init("Authorization", "***"), .init("User-Agent", "a")])),
        .answer(1, .response("200 OK")),
      ]), as: .server)
    let said = play.ask(
      .request(
        "POST /login?token=t0psecret", "user=ada&password=lovelace",
        type: "application/x-www-form-urlencoded; charset=utf-8", [.init("User-Agent", "b")]))
    #expect(said == ["0: 200"] && play.divergence == nil)
  }

  @Test("Parts of a body have this run's line between them")
  func takesParts() throws {
    func request(_ line: String, _ text: String) -> HTTPMessage {
      .request(
        "POST /a", "--\(line)\r\n\r\n- \(text)\r\n--\(line)--\r\n",
        type: "multipart/form-data; boundary=\"\(line)\"")
    }
    let script = try Self.script([
      .ask(1, request("one", "text")), .answer(1, .response("200 OK")),
    ])
    var play = ExchangePlay(script, as: .server)
    #expect(play.ask(request("another", "text")) == ["0: 200"])
    var other = ExchangePlay(script, as: .server)
    #expect(other.ask(request("another", "tex")).isEmpty && other.divergence != nil)
  }

  @Test("A request too many is told, and so is one that nobody sends")
  func tellsSurplus() throws {
    var play = ExchangePlay(
      try Self.script([
        .ask(1, .request("GET /a")), .ask(2, .request("GET /b")),
        .answer(1, .response("200 OK")),
      ]), as: .server)
    #expect(play.ask(.request("GET /a")) == ["0: 200"])
    let absence = play.end.absence("nobody is there")
    #expect(absence?.kind == .missingAction && absence?.place?.frame == 2)
    #expect(play.ask(.request("GET /a")).isEmpty)
    #expect(play.divergence?.differences.map(\.words) == ["path: expected /b, actual /a"])
    #expect(play.ask(.request("GET /b")).isEmpty && play.end.isDone)
    play.ask(.request("GET /b"))
    #expect(play.divergence?.kind == .extraAction && play.divergence?.expected == nil)
    #expect(play.end.absence("nobody is there") == nil)
  }

  @Test("Answers come as much later than their requests as they did")
  func keepsTime() throws {
    var play = ExchangePlay(try Self.script(), as: .server, speed: 0.5)
    // It was answered five milliseconds later.
    #expect(play.ask(.request("GET /changes?since=1&ts=5")).isEmpty)
    #expect(play.ask(.request("GET /things/41")).isEmpty)
    #expect(play.wait(.milliseconds(2)) == [#"2: 200 {"id":"41"}"#])
    #expect(play.wait(.milliseconds(7)) == [])
    #expect(play.wait(.milliseconds(1)) == [#"1: 200 ["fan"]"#])
  }

  @Test(
    "A connection that the server ended is ended again, and nobody waits for one that the client did"
  )
  func ends() throws {
    var play = ExchangePlay(
      try Self.script([
        .ask(1, .request("GET /a")), .end(.server, .reset), .ask(1, .request("GET /b"), on: 2),
        .end(.client, .fin, on: 2),
      ]), as: .server)
    #expect(play.ask(.request("GET /b")).isEmpty)
    #expect(play.ask(.request("GET /a")) == ["0: reset"])
    #expect(play.end.isDone)
  }

  // MARK: The clients

  @Test(
    "Each request waits for all that stands before it, and has the ids that the server has made")
  func asks() throws {
    var play = ExchangePlay(try Self.script(), as: .client)
    #expect(play.said == [#"0: POST /things {"requestId":"r1","name":"fan"}"#])
    let made = HTTPMessage.response(
      "201 Created", #"{"id":"7","requestId":"r1"}"#, [.init("Location", "/things/7")])
    #expect(play.answer(0, made) == ["1: GET /changes?since=1&ts=5", "2: GET /things/7"])
    #expect(play.answer(2, .response("200 OK", #"{"id":"7"}"#)) == ["3: GET /things/7"])
    // Sooner than it was.
    #expect(play.answer(1, .response("200 OK", #"[ "fan" ]"#)).isEmpty)
    #expect(!play.end.isDone)
    play.answer(3, .response("404 Nothing Here"))
    #expect(play.divergence == nil && play.end.isDone)
  }

  @Test("An answer that is another one is told with what differs")
  func tellsOtherAnswers() throws {
    let answers: [(HTTPMessage, [String])] = [
      (
        .response("200 OK", #"{"id":"41","requestId":"r1"}"#),
        ["status: expected 201, actual 200"]
      ),
      (
        .response("201 Created", #"{"id":"41"}"#),
        [#"body.requestId: expected "r1", actual nothing"#]
      ),
      (
        .response("201 Created", #"{"id":"41","requestId":"r1"}"#, type: "text/html"),
        ["contentType: expected application/json, actual text/html"]
      ),
    ]
    for (answer, differences) in answers {
      var play = ExchangePlay(try Self.script(), as: .client)
      #expect(play.answer(0, answer).isEmpty)
      #expect(play.divergence?.differences.map(\.words) == differences)
      #expect(play.divergence?.place?.frame == 3)
    }
    var refused = ExchangePlay(try Self.script(), as: .client)
    refused.answer(0, .response("401 Unauthorized"))
    #expect(refused.divergence?.advice.first?.contains("--header 'Authorization: ...'") == true)
  }

  @Test("A server that ends a connection without an answer is told, unless it did so")
  func takesEnds() throws {
    var play = ExchangePlay(
      try Self.script([
        .ask(1, .request("GET /a")), .end(.server, .fin), .ask(1, .request("GET /b"), on: 2),
        .end(.client, .reset, on: 2), .ask(1, .request("GET /c"), on: 3),
        .answer(1, .response("200 OK"), on: 3),
      ]), as: .client)
    #expect(play.said == ["0: GET /a"])
    #expect(play.hangUp(0) == ["1: GET /b", "1: reset", "2: GET /c"])
    #expect(play.divergence == nil)
    #expect(play.hangUp(2).isEmpty)
    #expect(play.divergence?.kind == .missingAction)
    #expect(play.divergence?.actual == "the server ends the connection")
    #expect(play.divergence?.expected?.hasPrefix("RESPONSE 200 OK") == true)
  }
}

import RepriseCore
import SessionReplay
import Testing
import Wire

/// Either end of a recorded WebSocket without MQTT, with another one that does what was recorded, and with one that does
/// not.
@Suite struct SocketTests {
  /// A client asks twice at once, is told something, and leaves.
  private static let lines: [SocketDialogue.Line] = [
    .client(.ask("/chat?token=abc", [.init("Sec-WebSocket-Protocol", "chat.v2, chat.v1")])),
    .server(.accept("chat.v2")),
    .client(.text(#"{"id":1,"do":"join"}"#)), .client(.text(#"{"id":2,"do":"who"}"#)),
    .server(.text(#"{"id":2,"who":["ann"]}"#)), .server(.text(#"{"id":1,"ok":true}"#)),
    .server(.text(#"{"news":"bob"}"#)), .server(.control(.ping)), .client(.control(.pong)),
    .client(.binary([1, 2, 3])), .client(.close(1_000)), .server(.close(1_000)),
    .server(.end(.fin)),
  ]

  private static func script() throws -> SessionScript { try SocketDialogue(lines).script() }

  private static let asking = Event.Body.ask(
    "/chat?token=xyz", [.init("Sec-WebSocket-Protocol", "chat.v2, chat.v1")])

  // MARK: What is gathered

  @Test("Pongs, the answer to a Close, and the end behind it are no steps")
  func gathers() throws {
    let connection = try #require(try Self.script().connections.first)
    #expect(connection.language == .webSocket(target: "/chat?token=abc"))
    #expect(
      connection.steps.map { $0.unit?.words } == [
        "GET /chat?token=abc", "101", #"{"id":1,"do":"join"}"#, #"{"id":2,"do":"who"}"#,
        #"{"id":2,"who":["ann"]}"#, #"{"id":1,"ok":true}"#, #"{"news":"bob"}"#, "PING []",
        "BINARY [1, 2, 3]", "CLOSE [3, 232]",
      ])
    #expect(connection.hasEnd && connection.clientID == "")
  }

  @Test("Fragments are one message, whatever stands between them")
  func joins() throws {
    let script = try SocketDialogue([
      .client(.ask("/")), .server(.accept()), .client(.text("one ", isFinal: false)),
      .server(.text("between")), .client(.control(.ping)), .client(.rest("message")),
      .client(.end(.reset)),
    ]).script()
    let steps = script.connections[0].steps
    #expect(
      steps.map { $0.unit?.words } == ["GET /", "101", "between", "PING []", "one message", nil])
    #expect(steps.last?.summary == "the client breaks the connection off")
    #expect(script.isWebSocket && script.connections[0].hasEnd)
  }

  @Test("WebSocket that carries MQTT is MQTT, and beside it WebSocket alone is another server")
  func tellsMQTT() throws {
    let connect = MQTTPacket(.connect("a"), version: .v3_1_1)
    let lines: [SocketDialogue.Line] = [
      .client(.ask("/mqtt")), .server(.accept("mqtt")),
      .client(.mqtt(PacketBytes(try connect.encoded()))),
      .client(.ask("/chat"), on: 2), .server(.accept(), on: 2), .client(.text("hello"), on: 2),
    ]
    let script = try SocketDialogue(lines).script()
    #expect(script.connections.map(\.language) == [.mqtt(.v3_1_1)])
    #expect(script.connections[0].steps.count == 1)
    #expect(
      script.notes == [
        "not replayed as they are WebSocket beside MQTT, which is another server: connection 2; "
          + "choose them by --connection"
      ])
    let chosen = try SocketDialogue(lines).script(.init(numbers: [2]))
    #expect(chosen.connections.map(\.language) == [.webSocket(target: "/chat")])
    #expect(chosen.notes == [])
    // Names are given by MQTT alone.
    #expect(try SocketDialogue(lines).script(.init(clientID: "a")).connections.count == 1)
  }

  @Test("A connection without its request, and one of which a part is missing, are not replayed")
  func refuses() throws {
    let headless = try #require(throws: DataClientError.self) {
      try SocketDialogue([.client(.text("x"), on: 4)]).script()
    }
    #expect(
      headless.message
        == "connection 4 begins before the session does, without its request for WebSocket, so it "
        + "can't be replayed; capture it from its beginning")
    let gap = try #require(throws: DataClientError.self) {
      try SocketDialogue([
        .client(.ask("/")), .server(.accept()), .server(.gap(Gap(bytes: 7, reason: .acknowledged))),
      ]).script()
    }
    #expect(gap.message.hasPrefix("7 bytes of the server are missing at frame 3, connection 1, "))
    var cut = WebSocketFrame(.text, Array("hel".utf8))
    cut.header.payloadLength = 5
    let part = try #require(throws: DataClientError.self) {
      try SocketDialogue([
        .client(.ask("/")), .server(.accept()), .client(.webSocket(cut)),
      ]).script()
    }
    #expect(part.message.hasPrefix("a part of a message is missing at frame 3, connection 1, "))
  }

  // MARK: The server

  @Test("A client that does what was recorded gets what was recorded, with its own ids")
  func serves() throws {
    var play = Play(try Self.script(), as: .server)
    #expect(play.say(Self.asking) == ["101"])
    #expect(play.say(.text(#"{"id":71,"do":"join"}"#)) == [#"{"id":71,"ok":true}"#])
    #expect(
      play.say(.text(#"{"do":"who", "id":72}"#)) == [
        #"{"id":72,"who":["ann"]}"#, #"{"news":"bob"}"#, "PING []",
      ])
    #expect(play.say(.binary([1, 2, 3])) == [])
    #expect(play.say(.close(1_000)) == [])
    #expect(play.divergence == nil && play.end.isDone)
  }

  /// What a client does behind its request, and what is said of it; nothing where it is no difference.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var match = ReplayMatch.json
    var asking = SocketTests.asking
    let said: [Event.Body]
    var kind: ReplayDivergence.Kind?
    var frame: Int?
    var differences: [String] = []
  }

  private static let both = [
    Event.Body.text(#"{"id":71,"do":"join"}"#), .text(#"{"id":72,"do":"who"}"#),
  ]

  static let changes: [Change] = [
    Change(testDescription: "in another order", said: [both[1], both[0], .binary([1, 2, 3])]),
    Change(
      testDescription: "without a farewell", said: both + [.binary([1, 2, 3])]),
    Change(
      testDescription: "another path", asking: .ask("/talk"), said: [], kind: .otherAction,
      frame: 1,
      differences: [
        "target: expected /chat, actual /talk",
        "subprotocols: expected chat.v2, chat.v1, actual none",
      ]),
    Change(
      testDescription: "another path by topic", match: .topic, asking: .ask("/talk"), said: [],
      kind: .otherAction, frame: 1, differences: ["target: expected /chat, actual /talk"]),
    Change(
      testDescription: "other subprotocols by topic", match: .topic, asking: .ask("/chat"),
      said: both),
    Change(
      testDescription: "another query by strict", match: .strict, said: [], kind: .otherAction,
      frame: 1,
      differences: ["target: expected /chat?token=***, actual /chat?token=***"]),
    Change(
      testDescription: "another text", said: [.text(#"{"id":71,"do":"leave"}"#)],
      kind: .otherAction, frame: 3, differences: [#"text.do: expected "join", actual "leave""#]),
    Change(
      testDescription: "another text by topic", match: .topic,
      said: [.text(#"{"id":71,"do":"leave"}"#)]),
    Change(
      testDescription: "binary for text", said: [.binary(Array(#"{"id":1,"do":"join"}"#.utf8))],
      kind: .otherAction, frame: 3, differences: ["kind: expected TEXT, actual BINARY"]),
    Change(
      testDescription: "other bytes", said: both + [.binary([1, 2, 4])], kind: .otherAction,
      frame: 10, differences: ["binary from byte 2: expected 03, actual 04"]),
    Change(
      testDescription: "another code", said: both + [.binary([1, 2, 3]), .close(1_001)],
      kind: .otherAction, frame: 11, differences: ["code: expected 1000, actual 1001"]),
    Change(
      testDescription: "another code by topic", match: .topic,
      said: both + [.binary([1, 2, 3]), .close(1_001)]),
    Change(
      testDescription: "too early a farewell", said: both + [.close(1_000)], kind: .otherAction,
      frame: 10, differences: ["kind: expected BINARY, actual CLOSE"]),
    Change(
      testDescription: "a message more", said: both + [.binary([1, 2, 3]), .text("more")],
      kind: .otherAction, frame: 11, differences: ["kind: expected CLOSE, actual TEXT"]),
  ]

  @Test("A client that does something else diverges at the place", arguments: changes)
  func diverges(change: Change) throws {
    var play = Play(try Self.script(), as: .server, match: change.match)
    play.say(change.asking)
    for body in change.said { play.say(body) }
    #expect(play.divergence?.kind == change.kind)
    #expect(play.divergence?.place?.frame == change.frame)
    #expect(play.divergence?.actual?.contains("  ! ") != true)
    #expect((play.divergence?.differences ?? []).map(\.words) == change.differences)
  }

  @Test("A client that leaves before it was told what it was told, or says too little, diverges")
  func leaves() throws {
    var early = Play(try Self.script(), as: .server, speed: 1)
    early.say(Self.asking)
    early.leave()
    #expect(early.divergence?.kind == .leftOver && early.divergence?.place?.frame == 2)
    var silent = Play(try Self.script(), as: .server)
    silent.say(Self.asking)
    silent.wait(.seconds(11))
    #expect(silent.divergence?.kind == .missingAction && silent.divergence?.place?.frame == 3)
    // The Ping is not waited for, as nobody has to.
    var hasty = Play(
      try SocketDialogue([
        .client(.ask("/")), .server(.accept()), .server(.control(.ping)),
        .client(.end(.fin)),
      ]).script(), as: .server, speed: 1)
    hasty.say(.ask("/"))
    hasty.wait(.milliseconds(1))
    hasty.leave()
    #expect(hasty.divergence == nil && hasty.units.map(\.words) == ["101"])
  }

  @Test("What answers nothing waits for all that came before it")
  func waits() throws {
    var play = Play(
      try SocketDialogue([
        .client(.ask("/")), .server(.accept()), .client(.text("a")), .client(.text("b")),
        .server(.text("c")),
      ]).script(), as: .server)
    play.say(.ask("/"))
    #expect(play.say(.text("b")) == [])
    #expect(play.say(.text("a")) == ["c"])
    #expect(play.divergence == nil && play.end.isDone)
  }

  // MARK: The client

  @Test("The client says what it said, and a server may say its own in any order")
  func drives() throws {
    var play = Play(try Self.script(), as: .client)
    #expect(play.units.map(\.words) == ["GET /chat?token=abc"])
    #expect(
      play.say(.accept("chat.v2")) == [#"{"id":1,"do":"join"}"#, #"{"id":2,"do":"who"}"#])
    #expect(play.say(.text(#"{"news":"bob"}"#)) == [])
    #expect(play.say(.text(#"{"ok":true,"id":1}"#)) == [])
    #expect(
      play.say(.text(#"{"id":2,"who":["ann"]}"#)) == ["BINARY [1, 2, 3]", "CLOSE [3, 232]"])
    #expect(play.divergence == nil && play.end.isDone)
  }

  @Test("A server that refuses, chooses otherwise or says something else diverges")
  func serverDiverges() throws {
    var refused = Play(try Self.script(), as: .client)
    refused.say(
      .handshake(
        .response(
          WebSocketResponse(
            HTTPHead(startLine: "HTTP/1.1 403 Forbidden", fields: []), to: nil))))
    #expect(
      refused.divergence?.differences.map(\.words) == [
        "status: expected 101, actual 403", "subprotocol: expected chat.v2, actual none",
      ])
    var other = Play(try Self.script(), as: .client)
    other.say(.accept("chat.v1"))
    #expect(
      other.divergence?.differences.map(\.words) == [
        "subprotocol: expected chat.v2, actual chat.v1"
      ])
    var wrong = Play(try Self.script(), as: .client)
    wrong.say(.accept("chat.v2"))
    wrong.say(.text(#"{"id":2,"who":["eve"]}"#))
    #expect(wrong.divergence?.place?.frame == 5)
    #expect(
      wrong.divergence?.differences.map(\.words) == [
        #"text.who[0]: expected "ann", actual "eve""#
      ])
  }

  // MARK: Several connections

  @Test("A client gets the connection with the target that it asks for, or the next that is free")
  func chooses() throws {
    let script = try SocketDialogue([
      .client(.ask("/a")), .server(.accept()), .client(.ask("/b"), on: 2),
      .server(.accept(), on: 2), .client(.ask("/a"), on: 3), .server(.accept(), on: 3),
    ]).script()
    var choice = ConnectionChoice(script)
    func take(_ target: String) -> Int? { choice.take(for: .handshake(.request(.asking(target)))) }
    #expect(take("/b") == 1)
    #expect(take("/a") == 0)
    #expect(take("/c") == 2)
    #expect(take("/a") == nil && choice.next == nil)
    let refusal = choice.refusal(of: .handshake(.request(.asking("/a"))), .matching(.json))
    #expect(refusal.kind == .extraAction && refusal.expected == "no other connection")
    #expect(refusal.place?.frame == 6)
  }
}

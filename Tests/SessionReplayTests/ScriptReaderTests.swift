import RepriseCore
import SessionReplay
import Testing
import Wire

/// Which part of a session is replayed, and what is said where it can't be.
@Suite struct ScriptReaderTests {
  private static func two() throws -> Dialogue {
    try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.server(.connack),
      Dialogue.client(.connect("b"), on: 2), Dialogue.server(.connack, on: 2),
      Dialogue.client(.subscribe(1, "t", qos: 0)), Dialogue.server(.suback(1, 0)),
      Dialogue.client(.publish("t", "x"), on: 2), Dialogue.server(.publish("t", "x")),
      Dialogue.client(.disconnect, on: 2), Dialogue.client(.disconnect),
    ])
  }

  @Test("All connections, some or those of a client are replayed")
  func selects() throws {
    let dialogue = try Self.two()
    #expect(try dialogue.script().connections.map(\.clientID) == ["a", "b"])
    #expect(try dialogue.script(.init(numbers: [2])).connections.map(\.number) == [2])
    let named = try dialogue.script(.init(clientID: "a")).connections
    #expect(named.map(\.number) == [1])
    #expect(named[0].steps.map(\.place.frame) == [1, 2, 5, 6, 8, 10])
  }

  @Test("What a message comes of is the last like it that another client published")
  func findsDeliveries() throws {
    let script = try Self.two().script()
    #expect(
      script.deliveries == [.init(connection: 0, step: 4): .init(connection: 1, step: 2)])
    #expect(try Self.two().script(.init(numbers: [1])).deliveries == [:])
  }

  @Test("Before the window a connection opens and subscribes, in no time")
  func hurries() throws {
    let window = ReplayWindow(from: ReplayWindow.Moment("+7ms"), to: ReplayWindow.Moment("+8ms"))
    let connections = try Self.two().script(within: window).connections
    #expect(connections.map(\.number) == [1, 2])
    #expect(connections[0].steps.map(\.place.frame) == [1, 2, 5, 6, 8])
    #expect(connections[1].steps.map(\.place.frame) == [3, 4, 9])
    #expect(Set(connections[0].steps.map(\.time)) == [Dialogue.time(8)])
  }

  /// What is in the way of a replay.
  struct Obstacle: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let body: Event.Body
    let message: String
  }

  static let obstacles = [
    Obstacle(
      testDescription: "a gap", body: .gap(Gap(bytes: 7, reason: .acknowledged)),
      message: "7 bytes of the server are missing at frame 11, connection 1, "),
    Obstacle(
      testDescription: "a selection", body: .gap(Gap(bytes: 0, reason: .leftOut)),
      message: "events of the server are missing at frame 11, connection 1, "),
    Obstacle(
      testDescription: "no packet",
      body: .malformed(Malformation(code: "x", offset: 3, message: "the length has no end")),
      message: "the length has no end at frame 11, connection 1, "),
    Obstacle(
      testDescription: "a packet that is cut",
      body: .mqtt(PacketBytes([0x30, 9, 0, 1, 0x61])),
      message: "6 bytes of the packet are missing at frame 11, connection 1, "),
  ]

  @Test("What is missing is told with its place and what to do", arguments: obstacles)
  func tellsDamage(obstacle: Obstacle) throws {
    let dialogue = try Self.two().adding(obstacle.body, by: .server)
    let error = try #require(throws: DataClientError.self) { try dialogue.script() }
    #expect(error.message.hasPrefix(obstacle.message), "\(error.message)")
    #expect(
      error.message.hasSuffix(
        ", so it can't be replayed; choose other connections by --connection, or begin behind it by "
          + "--from"))
    #expect(try dialogue.script(.init(numbers: [2])).connections.count == 1)
    let window = ReplayWindow(to: ReplayWindow.Moment("+9ms"))
    #expect(try dialogue.script(within: window).connections.count == 2)
  }

  @Test("A connection without its CONNECT is left out, and told")
  func leavesOut() throws {
    let lines = [Dialogue.client(.publish("t", "x"), on: 7)]
    #expect(
      throws: DataClientError(
        .unreadable,
        "connection 7 begins before the session does, without its CONNECT, so it can't be replayed; "
          + "capture it from its beginning")
    ) { try Dialogue(lines).script() }
    let script = try Dialogue(
      lines + [Dialogue.client(.connect("a")), Dialogue.server(.connack)]
    ).script()
    #expect(script.connections.map(\.number) == [1])
    #expect(script.notes == ["not replayed as their beginning is not there: connection 7"])
  }

  @Test("What is not there is told")
  func tellsAbsence() throws {
    let dialogue = try Self.two()
    let nothing =
      "of MQTT, WebSocket or HTTP, or none in the time that was asked for; reprise inspect shows "
      + "all, and --decode PORT=http is for HTTP"
    for selection in [ScriptReader.Selection(numbers: [9]), .init(clientID: "c")] {
      let error = try #require(throws: DataClientError.self) { try dialogue.script(selection) }
      #expect(error.message == "it has no such connection \(nothing)")
    }
    let strange: [(WireProtocol, Event.Body, String)] = [
      (
        .http, .http(.unanswered(exchange: 1, .timedOut, reason: "")),
        "it has no connection \(nothing)"
      ),
      (
        .tls, .tls(.alert(TLSAlert(isFatal: true, code: 0))),
        "connection 4 speaks \(WireProtocol.tls.name), and only connections of MQTT, WebSocket and "
          + "HTTP can be replayed so; name the keys of TLS: --keylog FILE"
      ),
    ]
    for (wire, body, message) in strange {
      let context = EventContext(
        time: Dialogue.time(1), frame: 1, connection: 4, sender: .client, wire: wire)
      var reader = ScriptReader(.init(), within: .init(), limit: 1 << 20)
      Event(context, body).withView { reader.consume($0) }
      let error = try #require(throws: DataClientError.self) { try reader.script() }
      #expect(error.message == message)
    }
  }

  @Test("Too much is not kept")
  func isLimited() throws {
    let error = try #require(throws: DataClientError.self) { try Self.two().script(limit: 60) }
    #expect(error.message.hasPrefix("it has more packets than 0 MiB hold; choose a part by "))
  }

  @Test("Other credentials stand in every CONNECT")
  func replacesCredentials() throws {
    var script = try Self.two().script()
    script.replaceCredentials(username: "u", password: [1, 2])
    for connection in script.connections {
      guard case .connect(let connect) = connection.steps[0].packet?.decoded?.content else {
        Issue.record("no CONNECT")
        continue
      }
      #expect(connect.username == "u" && connect.password == [1, 2])
      #expect(connect.clientID == connection.clientID)
    }
  }

  @Test(
    "A client gets the next connection of its name, and one of another name the next that is free")
  func chooses() throws {
    let script = try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.client(.connect("b"), on: 2),
      Dialogue.client(.connect("a"), on: 3),
    ]).script()
    var choice = ConnectionChoice(script)
    func take(_ name: String) throws -> Int? {
      choice.take(for: .packet(try ReplayPacket(.connect(name))))
    }
    #expect(try take("a") == 0)
    #expect(try take("c") == 1)
    #expect(try take("b") == nil)
    #expect(try take("a") == 2)
    #expect(try take("a") == nil && choice.next == nil)
  }

  @Test("A message in which something is hidden is found, of a client alone")
  func findsWhatIsHidden() throws {
    let start = [Dialogue.client(.connect("a")), Dialogue.server(.publish("t", "***"))]
    #expect(try Dialogue(start).script().hidingMessage == nil)
    let hidden = start + [Dialogue.client(.publish("t", #"{"token":"***"}"#))]
    #expect(try Dialogue(hidden).script().hidingMessage?.frame == 3)
  }

  @Test("A client that gets none is told why")
  func refuses() throws {
    let script = try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.server(.connack),
      Dialogue.client(.connect("b"), on: 2),
    ]).script()
    var choice = ConnectionChoice(script)
    _ = choice.take(for: .packet(try ReplayPacket(.connect("a"))))
    let settings = ReplaySettings.matching(.json)
    let again = choice.refusal(of: .packet(try ReplayPacket(.connect("a"))), settings)
    #expect(again.kind == .extraAction && again.place?.frame == 2)
    #expect(again.expected == "no other connection of a")
    let early = choice.refusal(of: .packet(try ReplayPacket(.pingreq)), settings)
    #expect(early.kind == .otherAction && early.place?.frame == 3)
    #expect(early.expected == "CONNECT b  mqtt-3.1.1  clean  keep-alive 60 s")
    #expect(early.actual == "PINGREQ")
    #expect(choice.absence("nobody came", settings)?.place?.frame == 3)
  }
}

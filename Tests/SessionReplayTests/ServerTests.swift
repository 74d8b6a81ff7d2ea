import RepriseCore
import SessionReplay
import Testing
import Wire

/// The recorded server, with a client that does what was recorded, and with one that does not.
@Suite struct ServerTests {
  private static func recorded() throws -> SessionScript {
    try Dialogue([
      Dialogue.client(.connect("meter")), Dialogue.server(.connack),
      Dialogue.client(.subscribe(1, "down/#")), Dialogue.server(.suback(1)),
      Dialogue.server(.publish("down/a", #"{"id":17,"set":1}"#, qos: 1, id: 9)),
      Dialogue.client(.puback(9)),
      Dialogue.client(.publish("up/a", #"{"id":17,"value":21.5}"#, qos: 1, id: 2)),
      Dialogue.server(.puback(2)),
      Dialogue.client(.publish("up/b", "done", qos: 2, id: 3)), Dialogue.server(.pubrec(3)),
      Dialogue.client(.pubrel(3)), Dialogue.server(.pubcomp(3)),
      Dialogue.client(.disconnect),
    ]).script()
  }

  @Test("A client that does what was recorded gets what was recorded, by its own identifiers")
  func servesWhatWasRecorded() throws {
    var play = Play(try Self.recorded(), as: .server)
    #expect(try play.send(.connect("meter")) == [.connack])
    #expect(
      try play.send(.subscribe(41, "down/#")) == [
        .suback(41), .publish("down/a", #"{"id":17,"set":1}"#, qos: 1, id: 9),
      ])
    #expect(try play.send(.puback(9)) == [])
    #expect(
      try play.send(.publish("up/a", #"{"value":21.50,"id":99}"#, qos: 1, id: 77)) == [.puback(77)])
    #expect(try play.send(.publish("up/b", "done", qos: 2, id: 5)) == [.pubrec(5)])
    #expect(try play.send(.pubrel(5)) == [.pubcomp(5)])
    try play.send(.disconnect)
    #expect(play.divergence == nil && play.end.isDone && play.passed == 0)
  }

  @Test("Pings are answered, and repeated messages and acknowledgements are no difference")
  func letsPass() throws {
    var play = Play(try Self.recorded(), as: .server)
    try play.send(.connect("meter"))
    try play.send(.pingreq)
    try play.send(.subscribe(1, "down/#"))
    try play.send(.puback(9))
    try play.send(.puback(9))
    try play.send(.publish("up/a", #"{"id":1,"value":21.5}"#, qos: 1, id: 2))
    try play.send(.publish("up/a", #"{"id":1,"value":21.5}"#, qos: 1, id: 2), dup: true)
    try play.send(.publish("up/b", "done", qos: 2, id: 3))
    try play.send(.pubrel(3))
    try play.send(.disconnect)
    #expect(play.divergence == nil && play.end.isDone && play.passed == 3)
  }

  /// What a client does, and what is said of it.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var match = ReplayMatch.json
    let sent: [MQTTPacket.Content]
    let kind: ReplayDivergence.Kind
    let frame: Int?
    let expected: String?
    let actual: String
    let differences: [String]
  }

  private static let start: [MQTTPacket.Content] = [
    .connect("meter"), .subscribe(1, "down/#"), .puback(9),
  ]
  private static let value = MQTTPacket.Content.publish(
    "up/a", #"{"id":1,"value":21.5}"#, qos: 1, id: 2)
  private static let recordedValue =
    #"PUBLISH up/a  qos 1  id 2  22 B  "{"id":17,"value":21.5}""#

  static let changes: [Change] = [
    Change(
      testDescription: "another client", sent: [.connect("other")], kind: .otherAction, frame: 1,
      expected: "CONNECT meter  mqtt-3.1.1  clean  keep-alive 60 s",
      actual: "CONNECT other  mqtt-3.1.1  clean  keep-alive 60 s",
      differences: ["clientID: expected meter, actual other"]),
    Change(
      testDescription: "another filter", sent: [.connect("meter"), .subscribe(1, "down/+")],
      kind: .otherAction, frame: 3, expected: "SUBSCRIBE id 1  down/# qos 1",
      actual: "SUBSCRIBE id 1  down/+ qos 1",
      differences: ["filters[0] level 2: expected #, actual +"]),
    Change(
      testDescription: "another topic",
      sent: start + [.publish("up/c", #"{"id":1,"value":21.5}"#, qos: 1, id: 2)],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up/c  qos 1  id 2  21 B  "{"id":1,"value":21.5}""#,
      differences: ["topic level 2: expected a, actual c"]),
    Change(
      testDescription: "another payload",
      sent: start + [.publish("up/a", #"{"id":1,"value":22}"#, qos: 1, id: 2)],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up/a  qos 1  id 2  19 B  "{"id":1,"value":22}""#,
      differences: ["payload.value: expected 21.5, actual 22"]),
    Change(
      testDescription: "another QoS",
      sent: start + [.publish("up/a", #"{"id":1,"value":21.5}"#)],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up/a  qos 0  21 B  "{"id":1,"value":21.5}""#,
      differences: ["qos: expected 1, actual 0"]),
    Change(
      testDescription: "a retained one",
      sent: start + [.publish("up/a", #"{"id":1,"value":21.5}"#, qos: 1, id: 2, retain: true)],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up/a  qos 1  id 2  retain  21 B  "{"id":1,"value":21.5}""#,
      differences: ["retain: expected false, actual true"]),
    Change(
      testDescription: "a missing message", sent: start + [.publish("up/b", "done", qos: 2, id: 3)],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up/b  qos 2  id 3  4 B  "done""#,
      differences: [
        "topic level 2: expected a, actual b", "qos: expected 1, actual 2",
        "payload from byte 0: expected 7b 22 69 64 22 3a 31 37 2c 22 76 61 6c 75 65 22 …, actual "
          + "64 6f 6e 65", "payload length: expected 22, actual 4",
      ]),
    Change(
      testDescription: "a surplus message", sent: start + [value, value], kind: .otherAction,
      frame: 9, expected: #"PUBLISH up/b  qos 2  id 3  4 B  "done""#,
      actual: #"PUBLISH up/a  qos 1  id 2  21 B  "{"id":1,"value":21.5}""#,
      differences: [
        "topic level 2: expected b, actual a", "qos: expected 2, actual 1",
        "payload from byte 0: expected 64 6f 6e 65, actual "
          + "7b 22 69 64 22 3a 31 2c 22 76 61 6c 75 65 22 3a …",
        "payload length: expected 4, actual 21",
      ]),
    Change(
      testDescription: "an acknowledgement of nothing", sent: [.connect("meter"), .puback(5)],
      kind: .extraAction, frame: 13, expected: nil, actual: "PUBACK id 5", differences: []),
    Change(
      testDescription: "a DISCONNECT too early", sent: start + [.disconnect], kind: .otherAction,
      frame: 7, expected: recordedValue, actual: "DISCONNECT",
      differences: ["kind: expected PUBLISH, actual DISCONNECT"]),
    Change(
      testDescription: "another id, strictly", match: .strict, sent: start + [value],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up/a  qos 1  id 2  21 B  "{"id":1,"value":21.5}""#,
      differences: [
        "payload from byte 7: expected 37 2c 22 76 61 6c 75 65 22 3a 32 31 2e 35 7d, actual "
          + "2c 22 76 61 6c 75 65 22 3a 32 31 2e 35 7d", "payload length: expected 22, actual 21",
      ]),
    Change(
      testDescription: "another topic, by topics alone", match: .topic,
      sent: [.connect("other"), .subscribe(1, "down/#", qos: 0), .puback(9)]
        + [.publish("up", "x")],
      kind: .otherAction, frame: 7, expected: recordedValue,
      actual: #"PUBLISH up  qos 0  1 B  "x""#,
      differences: ["topic: expected up/a, actual up"]),
  ]

  @Test("A client that does something else diverges at the place", arguments: changes)
  func diverges(change: Change) throws {
    var play = Play(try Self.recorded(), as: .server, match: change.match)
    for content in change.sent { try play.send(content) }
    let divergence = try #require(play.divergence)
    #expect(divergence.kind == change.kind)
    #expect(divergence.place?.frame == change.frame)
    #expect(divergence.expected == change.expected)
    #expect(divergence.actual == change.actual)
    #expect(divergence.differences.map(\.description) == change.differences)
    #expect(divergence.remedy.hasPrefix("reprise inspect a.jsonl --filter 'connection == 1 and "))
  }

  @Test("A client that goes too early is told what it lacks")
  func leavesTooEarly() throws {
    var play = Play(try Self.recorded(), as: .server)
    for content in Self.start { try play.send(content) }
    play.leave()
    let divergence = try #require(play.divergence)
    #expect(divergence.kind == .missingAction)
    #expect(divergence.place?.frame == 7)
    #expect(divergence.actual == "the client ends the connection")
  }

  @Test("A client that disconnects before it was sent everything is told what it misses")
  func disconnectsTooEarly() throws {
    let script = try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.server(.connack),
      Dialogue.server(.publish("b", "x")), Dialogue.client(.disconnect),
    ]).script()
    var play = Play(script, as: .server, speed: 1)
    try play.send(.connect("a"))
    play.wait(.milliseconds(1))
    try play.send(.disconnect)
    #expect(play.divergence?.kind == .leftOver)
    #expect(play.divergence?.place?.frame == 3)
    #expect(play.divergence?.expected == #"PUBLISH b  qos 0  1 B  "x", from the server"#)
    #expect(play.divergence?.actual == "the client ends the connection before")
    var patient = Play(script, as: .server, speed: 1)
    try patient.send(.connect("a"))
    patient.wait(.milliseconds(1))
    patient.wait(.milliseconds(1))
    try patient.send(.disconnect)
    #expect(patient.divergence == nil && patient.end.isDone)
  }

  @Test(
    "A password that the recording hides may be any, and what can't be read is what has its bytes")
  func comparesWhatIsHidden() throws {
    func connect(_ password: String) -> MQTTPacket.Content {
      .connect(.init(clientID: "a", username: "u", password: Array(password.utf8)))
    }
    let reserved = PacketBytes([0x00, 1, 7])
    let script = try Dialogue([Dialogue.client(connect("***"))])
      .adding(.mqtt(reserved), by: .client).script()
    #expect(script.connections[0].lacksPassword)
    for match in ReplayMatch.allCases {
      for (byte, isRight) in [(UInt8(7), true), (8, false)] {
        var play = Play(script, as: .server, match: match)
        try play.send(connect("secret"))
        try play.send(bytes: [0x00, 1, byte])
        #expect((play.divergence == nil) == isRight && play.end.isDone == isRight)
      }
    }
    let shown = try Dialogue([Dialogue.client(connect("known"))]).script()
    #expect(!shown.connections[0].lacksPassword)
    var play = Play(shown, as: .server, match: .strict)
    try play.send(connect("secret"))
    #expect(play.divergence?.differences.map(\.place) == ["password"])
    #expect(play.divergence.map { "\($0)".contains("secret") } == false)
  }

  @Test("A client that says nothing more is given up, so much later than recorded")
  func givesUp() throws {
    var play = Play(try Self.recorded(), as: .server)
    for content in Self.start { try play.send(content) }
    play.wait(.milliseconds(10_000))
    #expect(play.divergence == nil)
    play.wait(.milliseconds(1))
    let divergence = try #require(play.divergence)
    #expect(divergence.kind == .missingAction)
    #expect(divergence.place?.frame == 7)
    #expect(divergence.actual == "the client sends nothing more")
  }

  @Test("What nothing separates comes in any order, and what an answer separates does not")
  func ordersCausally() throws {
    let script = try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.server(.connack),
      Dialogue.client(.publish("1", "x", qos: 1, id: 1)),
      Dialogue.client(.publish("2", "x", qos: 1, id: 2)), Dialogue.server(.puback(1)),
      Dialogue.server(.puback(2)), Dialogue.client(.publish("3", "x")),
    ]).script()
    var swapped = Play(script, as: .server)
    try swapped.send(.connect("a"))
    #expect(try swapped.send(.publish("2", "x", qos: 1, id: 1)) == [.puback(1)])
    #expect(try swapped.send(.publish("1", "x", qos: 1, id: 2)) == [.puback(2)])
    try swapped.send(.publish("3", "x"))
    #expect(swapped.divergence == nil && swapped.end.isDone)
    var early = Play(script, as: .server)
    try early.send(.connect("a"))
    try early.send(.publish("3", "x"))
    #expect(early.divergence?.place?.frame == 3)
    #expect(early.divergence?.laterPlace?.frame == 7)
  }

  @Test("What a client makes anew stands in the answer")
  func bindsValues() throws {
    let script = try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.server(.connack),
      Dialogue.client(.publish("ask", #"{"id":17}"#)),
      Dialogue.server(.publish("answer", #"{"id":17,"code":200}"#)),
    ]).script()
    var play = Play(script, as: .server)
    try play.send(.connect("a"))
    #expect(
      try play.send(.publish("ask", #"{"id":"q3"}"#)) == [
        .publish("answer", #"{"id":"q3","code":200}"#)
      ])
  }

  @Test("A packet is sent as much later as it was, by the speed", arguments: [1, 2, 0.5])
  func keepsTime(speed: Double) throws {
    let script = try Dialogue([
      Dialogue.client(.connect("a")), Dialogue.server(.connack),
      Dialogue.server(.publish("b", "x")),
    ]).script()
    var play = Play(script, as: .server, speed: speed)
    #expect(try play.send(.connect("a")) == [])
    let step = Duration.nanoseconds(Int64(1_000_000 / speed))
    play.wait(step - .nanoseconds(1))
    #expect(play.sent == [])
    #expect(play.wait(.nanoseconds(1)) == [.connack])
    play.wait(step - .nanoseconds(1))
    #expect(play.sent == [.connack])
    #expect(play.wait(.nanoseconds(1)) == [.publish("b", "x")])
  }
}

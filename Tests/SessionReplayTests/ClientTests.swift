import RepriseCore
import SessionReplay
import Testing
import Wire

/// The recorded client, with a server that does what was recorded, and with one that does not.
@Suite struct ClientTests {
  private static func recorded() throws -> SessionScript {
    try Dialogue([
      Dialogue.client(.connect("meter", clean: false)), Dialogue.server(.connack),
      Dialogue.client(.subscribe(1, "down/#")), Dialogue.server(.suback(1)),
      Dialogue.server(.publish("down/a", "on", qos: 1, id: 9)),
      Dialogue.server(.publish("down/b", "off", qos: 2, id: 10)), Dialogue.client(.puback(9)),
      Dialogue.client(.pubrec(10)), Dialogue.server(.pubrel(10)), Dialogue.client(.pubcomp(10)),
      Dialogue.client(.publish("up/a", "21.5", qos: 1, id: 2)), Dialogue.server(.puback(2)),
      Dialogue.client(.disconnect),
    ]).script()
  }

  @Test("A server that does what was recorded gets what was recorded, by its own identifiers")
  func drivesWhatWasRecorded() throws {
    var play = Play(try Self.recorded(), as: .client)
    #expect(play.sent == [.connect("meter", clean: false)])
    #expect(try play.send(.connack) == [.subscribe(1, "down/#")])
    // Messages may be in another order, and sooner than what they come of is granted.
    #expect(try play.send(.publish("down/b", "off", qos: 2, id: 31)) == [.pubrec(31)])
    #expect(try play.send(.suback(1)) == [])
    #expect(try play.send(.pubrel(31)) == [.pubcomp(31)])
    #expect(
      try play.send(.publish("down/a", "on", qos: 1, id: 32)) == [
        .puback(32), .publish("up/a", "21.5", qos: 1, id: 2),
      ])
    #expect(try play.send(.pingresp) == [])
    #expect(try play.send(.puback(2)) == [.disconnect])
    #expect(play.divergence == nil && play.end.isDone)
  }

  /// What a server does, and what is said of it.
  struct Change: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let sent: [MQTTPacket.Content]
    let kind: ReplayDivergence.Kind
    let frame: Int?
    let expected: String?
    let actual: String
    var differences: [String] = []
    var advice: [String] = ["if the server is right: record the session anew"]
  }

  private static let byTopics = "if kinds and topics alone matter: add --match topic"
  private static let anew = "if the server is right: record the session anew"

  static let changes: [Change] = [
    Change(
      testDescription: "a refusal", sent: [.connack(.init(code: 5))], kind: .otherAction, frame: 2,
      expected: "CONNACK accepted", actual: "CONNACK refused  code 0x05 (not authorized)",
      differences: ["reasonCode: expected 0, actual 5"],
      advice: [
        byTopics, "if the server wants a password: add --username NAME --password-file FILE", anew,
      ]),
    Change(
      testDescription: "a session that it has", sent: [.connack(.init(sessionPresent: true))],
      kind: .otherAction, frame: 2, expected: "CONNACK accepted",
      actual: "CONNACK accepted  session present",
      differences: ["sessionPresent: expected false, actual true"], advice: [byTopics, anew]),
    Change(
      testDescription: "a lower QoS", sent: [.connack, .suback(1, 0)], kind: .otherAction, frame: 4,
      expected: "SUBACK id 1  qos 1", actual: "SUBACK id 1  qos 0",
      differences: ["reasonCodes: expected [1], actual [0]"], advice: [byTopics, anew]),
    Change(
      testDescription: "an answer to another request", sent: [.connack, .suback(2)],
      kind: .extraAction, frame: 13, expected: nil, actual: "SUBACK id 2  qos 1"),
    Change(
      testDescription: "another payload",
      sent: [.connack, .suback(1), .publish("down/a", "on!", qos: 1, id: 9)], kind: .otherAction,
      frame: 5, expected: #"PUBLISH down/a  qos 1  id 9  2 B  "on""#,
      actual: #"PUBLISH down/a  qos 1  id 9  3 B  "on!""#,
      differences: [
        "payload from byte 2: expected nothing, actual 21", "payload length: expected 2, actual 3",
      ], advice: [byTopics, anew]),
    Change(
      testDescription: "a message twice",
      sent: [
        .connack, .suback(1), .publish("down/a", "on", qos: 1, id: 9),
        .publish("down/b", "off", qos: 2, id: 10), .pubrel(10),
        .publish("down/a", "on", qos: 1, id: 11),
      ], kind: .extraAction, frame: 13, expected: nil,
      actual: #"PUBLISH down/a  qos 1  id 11  2 B  "on""#),
  ]

  @Test("A server that does something else diverges at the place", arguments: changes)
  func diverges(change: Change) throws {
    var play = Play(try Self.recorded(), as: .client)
    for content in change.sent { try play.send(content) }
    let divergence = try #require(play.divergence)
    #expect(divergence.kind == change.kind)
    #expect(divergence.place?.frame == change.frame)
    #expect(divergence.expected == change.expected)
    #expect(divergence.actual == change.actual)
    #expect(divergence.differences.map(\.description) == change.differences)
    #expect(divergence.advice == change.advice)
  }

  @Test("A server that says nothing more is given up, by what it has not said")
  func givesUp() throws {
    var play = Play(try Self.recorded(), as: .client)
    try play.send(.connack)
    try play.send(.suback(1))
    try play.send(.publish("down/b", "off", qos: 2, id: 10))
    try play.send(.pubrel(10))
    play.wait(.seconds(11))
    #expect(play.divergence?.kind == .missingAction)
    #expect(play.divergence?.expected == #"PUBLISH down/a  qos 1  id 9  2 B  "on""#)
    #expect(play.divergence?.actual == "the server sends nothing more")
  }

  @Test("A server that ends the connection is told what it lacks")
  func isLeft() throws {
    var play = Play(try Self.recorded(), as: .client)
    try play.send(.connack)
    play.leave()
    #expect(play.divergence?.kind == .missingAction)
    #expect(play.divergence?.place?.frame == 4)
    #expect(play.divergence?.actual == "the server ends the connection")
  }

  @Test("What servers say of themselves counts strictly alone", arguments: ReplayMatch.allCases)
  func comparesProperties(match: ReplayMatch) throws {
    func connack(_ limit: Int) -> MQTTPacket.Content {
      .connack(.init(properties: [MQTTProperty(.receiveMaximum, .integer(limit))]))
    }
    let script = try Dialogue(
      [Dialogue.client(.connect("a")), Dialogue.server(connack(20))], version: .v5_0
    ).script()
    var play = Play(script, as: .client, match: match)
    try play.send(connack(10), .v5_0)
    #expect(
      play.divergence?.differences.map(\.description)
        == (match == .strict ? ["properties.receiveMaximum: expected 20, actual 10"] : nil))
  }

  @Test("A recorded client that kept to its Keep Alive is one that does, and a silent one is not")
  func keepsAlive() throws {
    func script(_ seconds: Int64) throws -> SessionScript {
      var reader = ScriptReader(.init(), within: .init(), limit: 1 << 20)
      let dialogue = try Dialogue([
        Dialogue.client(.connect(.init(clientID: "a", keepAlive: 5))), Dialogue.server(.connack),
        Dialogue.client(.pingreq),
      ])
      for (index, event) in dialogue.events.enumerated() {
        var event = event
        if index == 2 { event.context.time = Dialogue.time(0).advanced(by: .seconds(seconds)) }
        event.withView { reader.consume($0) }
      }
      return try reader.script()
    }
    for (seconds, isKept) in [(Int64(5), true), (8, false)] {
      var play = Play(try script(seconds), as: .client, speed: 0.1)
      play.wait(.seconds(1))
      try play.send(.connack)
      #expect(play.end.keepsAlive == isKept)
    }
  }
}

import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfall 28: the port is not the protocol, in either direction.
@Suite struct RecognitionPitfallTests {
  @Test(
    "28: MQTT is recognised on any port",
    arguments: [1, 80, 443, 1_337, 8_884, 17_501, 65_535]
      as [UInt16], MQTTVersion.allCases)
  func anyPort(_ port: UInt16, _ version: MQTTVersion) {
    let session = Session.all(version)
    for pieces in [1, 1_460] {
      let tap = Tap(session.dialogue(pieces: pieces, port: port))
      #expect(tap.packets(.client) == session.packets(.client))
      #expect(tap.packets(.server) == session.packets(.server))
      #expect(tap.openings.map(\.server) == ["10.0.0.2:\(port)"])
    }
  }

  /// What other protocols send first, from the client and from the server.
  static let others: [(name: String, client: String, server: String)] = [
    ("HTTP", "GET /index.html HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\nhello"),
    (
      "HTTP POST", "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 90\r\n\r\n0123456789",
      "HTTP/1.1 204\r\n"
    ),
    ("HTTP PUT", "PUT /0 HTTP/1.0\r\n\r\n", "HTTP/1.0 404 Not Found\r\n\r\n"),
    ("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\u{12}\u{4}\0\0\0\0\0", "\0\0\u{6}\u{4}\0"),
    ("SSH", "SSH-2.0-OpenSSH_9.2\r\n", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"),
    ("SMTP", "EHLO a\r\nMAIL FROM:<a@b>\r\n", "220 mail.example ESMTP Postfix\r\n250-SIZE\r\n"),
    ("FTP", "USER anonymous\r\n", "220 (vsFTPd 3.0.3)\r\n331 Please specify the password.\r\n"),
    ("Redis", "*1\r\n$4\r\nPING\r\n", "+PONG\r\n"),
    ("IRC", "NICK a\r\nUSER a 0 * :a\r\n", ":irc.example NOTICE * :*** Looking up\r\n"),
    ("SIP", "REGISTER sip:a SIP/2.0\r\n", "SIP/2.0 200 OK\r\n"),
    ("digits", "0123456789 0123456789 0123456789\n", "2222222222222222222222222222\n"),
  ]

  /// A dialogue of other bytes, with or without its handshake, turn by turn.
  private static func dialogue(
    _ client: [UInt8], _ server: [UInt8], port: UInt16, isFromStart: Bool, pieces: Int
  ) -> Dialogue {
    var dialogue = Dialogue(serverPort: port)
    if isFromStart { dialogue.open() }
    for _ in 0..<6 {
      dialogue.send(.client, client, pieces: pieces)
      dialogue.send(.server, server, pieces: pieces)
    }
    dialogue.close()
    return dialogue
  }

  @Test(
    "28: other protocols give no event, not even on the port of MQTT", arguments: others.indices)
  func otherText(_ index: Int) {
    let other = Self.others[index]
    for port: UInt16 in [1_883, 8_883, 5_555] {
      for isFromStart in [true, false] {
        for pieces in [1, 5, 1_460] {
          let dialogue = Self.dialogue(
            Array(other.client.utf8), Array(other.server.utf8), port: port,
            isFromStart: isFromStart, pieces: pieces)
          let comment: Comment = "\(other.name) \(port) from start: \(isFromStart), \(pieces)"
          #expect(Tap(dialogue).events.isEmpty, comment)
        }
      }
    }
  }

  @Test(
    "28: TLS gives one event, that says why it is not read, from its start or from its middle",
    arguments: [UInt64](1...40))
  func tls(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func record(_ type: UInt8, _ count: Int) -> [UInt8] {
      [type, 3, 3, UInt8(count >> 8), UInt8(count & 0xFF)] + random.bytes(count)
    }
    /// A hello that makes no sense.
    func hello(_ message: UInt8) -> [UInt8] {
      var bytes = record(0x16, 240)
      bytes[5] = message
      return bytes
    }
    for isFromStart in [true, false] {
      var dialogue = Dialogue(serverPort: 8_883)
      if isFromStart {
        dialogue.open()
        dialogue.send(.client, hello(1))
        dialogue.send(.server, hello(2) + record(0x14, 1))
      }
      for _ in 0..<12 {
        dialogue.send(.client, record(0x17, random.int(20...3_000)))
        dialogue.send(.server, record(0x17, random.int(20...3_000)))
      }
      // A capture from the middle starts inside a record.
      if !isFromStart { dialogue.segments.removeFirst(random.int(0...4)) }
      let types = try Tap(dialogue).events.map { try InspectLine($0).type }
      // Inside of long records there may be too few that begin with a segment.
      let isKnown = types == ["TLS"] || !isFromStart && types.isEmpty
      #expect(isKnown, "seed \(seed) from start: \(isFromStart)")
    }
  }

  @Test("28: random bytes give no event", arguments: [UInt64](1...8))
  func randomBytes(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var recognised = 0
    for index in 0..<150 {
      let dialogue = Self.dialogue(
        random.bytes(random.int(1...400)), random.bytes(random.int(1...400)),
        port: index % 2 == 0 ? 1_883 : 7_777, isFromStart: true, pieces: 200)
      if !Tap(dialogue).events.isEmpty { recognised += 1 }
    }
    #expect(recognised == 0)
  }

  @Test(
    "28: what begins like a CONNECT or a hello and never goes on is given up, not kept",
    arguments: [[0x10], [0x16], [0x16, 3], [0x16, 3, 1, 2, 0]] as [[UInt8]])
  func halfAStart(_ start: [UInt8]) {
    for rule in [nil, DecodeRule.mqtt(version: nil)] {
      var dialogue = Dialogue(serverPort: 7_777)
      dialogue.open()
      dialogue.send(.client, start)
      for _ in 0..<3_000 { dialogue.send(.server, [UInt8](repeating: 0x41, count: 1_000)) }
      let tap = Tap(dialogue, decode: rule.map { [7_777: $0] } ?? [:])
      #expect(tap.openings.isEmpty)
      #expect(tap.mostReserved < 100 << 10 && tap.reserved == 0)
    }
  }

  // MARK: The user's word

  @Test("28: a port that is not to be decoded is left alone, whatever it carries")
  func decodeNone() {
    let session = Session.all(.v3_1_1)
    var lost = session.dialogue()
    lost.segments.removeAll { $0.payload == session.turns[0].bytes }
    for dialogue in [session.dialogue(), session.dialogue(pieces: 1), lost] {
      #expect(Tap(dialogue, decode: [1_883: .none]).events.isEmpty)
      #expect(!Tap(dialogue, decode: [1_884: .none]).events.isEmpty)
    }
  }

  private static let rules: [(DecodeRule, String, String)] = [
    (.mqtt(version: nil), "mqtt", "MQTT"), (.mqtt(version: .v3_1), "mqtt-3.1", "MQTT"),
    (.mqtt(version: .v3_1_1), "mqtt-3.1.1", "MQTT"), (.mqtt(version: .v5_0), "mqtt-5.0", "MQTT"),
    (.webSocket, "websocket", "WebSocket"),
  ]

  @Test("28: what is nothing of what the user says is noted, and gives no event", arguments: rules)
  func decodesNothingOfTheKind(_ rule: DecodeRule, _ name: String, _ kind: String) throws {
    for other in Self.others where !other.name.hasPrefix("HTTP") {
      for (isFromStart, pieces) in [(true, 1_460), (true, 5), (false, 1_460)] {
        let dialogue = Self.dialogue(
          Array(other.client.utf8), Array(other.server.utf8), port: 22, isFromStart: isFromStart,
          pieces: pieces)
        let readout = try Readout(dialogue.segments, decode: [22: rule])
        let comment: Comment = "\(other.name) from start: \(isFromStart), \(pieces)"
        #expect(readout.events.isEmpty, comment)
        #expect(
          readout.notes == [
            "--decode 22=\(name): nothing in 1 connection of that port looks like \(kind) "
              + "(first in frame 1); leave the option out",
            "no MQTT or WebSocket was found in \(dialogue.segments.count) frames",
          ], comment)
      }
    }
  }

  @Test(
    "28: on the user's word a session of nothing but faults is MQTT",
    arguments: MQTTVersion.allCases)
  func decodesFaults(_ version: MQTTVersion) throws {
    var dialogue = Dialogue(serverPort: 22)
    dialogue.open()
    // QoS 3, a NUL in the topic, and an identifier of 0: each is a packet for all that.
    let publishes: [[UInt8]] = [
      [0x36, 7, 0, 1, 0x74, 0, 5, 0, 0x31], [0x30, 6, 0, 2, 0x74, 0, 0, 0x31],
      [0x32, 7, 0, 1, 0x74, 0, 0, 0, 0x31],
    ]
    for publish in publishes { dialogue.send(.client, publish) }
    let readout = try Readout(dialogue.segments, decode: [22: .mqtt(version: version)])
    #expect(readout.types == ["OPEN", "PUBLISH", "PUBLISH", "PUBLISH", "CLOSE"])
    #expect(readout.notes.isEmpty)
  }

  @Test("28: a rule for the client's port holds, too")
  func decodeClientPort() {
    let session = Session.all(.v5_0)
    let tap = Tap(session.dialogue(port: 9), decode: [40_000: .mqtt(version: nil)])
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(Tap(session.dialogue(port: 9), decode: [40_000: .none]).events.isEmpty)
  }
}

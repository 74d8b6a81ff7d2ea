import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfall 47: TLS on any port, with or without its handshake in the file, is named and never decoded.
@Suite struct TLSPitfallTests {
  private static func prefixed(_ bytes: [UInt8], _ width: Int) -> [UInt8] {
    (0..<width).reversed().map { UInt8(bytes.count >> ($0 * 8) & 0xFF) } + bytes
  }

  private static func record(_ type: UInt8, _ fragment: [UInt8], minor: UInt8 = 3) -> [UInt8] {
    [type, 3, minor] + prefixed(fragment, 2)
  }

  private static func field(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
    [0, type] + prefixed(content, 2)
  }

  static func clientHello(
    name: String? = "broker.example", versions: [UInt8]? = [0x2A, 0x2A, 3, 4, 3, 3]
  ) -> [UInt8] {
    var fields: [UInt8] = []
    if let name { fields += field(0, prefixed([0] + prefixed(Array(name.utf8), 2), 2)) }
    fields += field(23, [])
    if let versions { fields += field(43, prefixed(versions, 1)) }
    var body: [UInt8] = [3, 3] + [UInt8](repeating: 7, count: 32)
    body += prefixed([1, 2, 3], 1)
    body += prefixed([0x13, 1, 0x13, 2], 2)
    body += prefixed([0], 1)
    body += prefixed(fields, 2)
    return [1] + prefixed(body, 3)
  }

  static func serverHello(version: UInt8? = 4) -> [UInt8] {
    var body: [UInt8] = [3, 3] + [UInt8](repeating: 9, count: 32)
    body += [0, 0x13, 1, 0]
    if let version { body += prefixed(field(43, [3, version]), 2) }
    return [2] + prefixed(body, 3)
  }

  private static func dialogue(
    _ client: [UInt8], _ server: [UInt8], port: UInt16 = 8_883, pieces: Int = 1_460
  ) -> Dialogue {
    var random = SplitMix64(seed: 47)
    var dialogue = Dialogue(serverPort: port)
    dialogue.open()
    dialogue.send(.client, client, pieces: pieces)
    dialogue.send(.server, server, pieces: pieces)
    for _ in 0..<6 {
      dialogue.send(.client, record(23, random.bytes(90)))
      dialogue.send(.server, record(23, random.bytes(2_000)))
    }
    dialogue.close()
    return dialogue
  }

  private static func note(
    _ text: String, port: Int = 8_883, isAnswered: Bool, frame: Int = 1
  ) -> String {
    "1 connection of port \(port) spoke \(text) and "
      + (isAnswered
        ? "can't be read without keys (first in frame \(frame)); give the key log that the client or "
          + "the server wrote (SSLKEYLOGFILE) by --keylog FILE"
        : "can't be read: the handshake is not whole in the capture (first in frame \(frame)); start the "
          + "capture before the connection, and take it with -s 0")
  }

  private static let hellos: [([UInt8], [UInt8], String)] = [
    (clientHello(), serverHello(), "TLS 1.3 with broker.example"),
    (clientHello(), serverHello(version: nil), "TLS 1.2 with broker.example"),
    (clientHello(name: nil), serverHello(), "TLS 1.3"),
    (clientHello(versions: nil), [], "up to TLS 1.2 with broker.example"),
    (clientHello(), [], "up to TLS 1.3 with broker.example"),
    // What is no host name is not shown.
    (clientHello(name: "a\u{1B}[2J"), serverHello(), "TLS 1.3"),
    (clientHello(name: ""), serverHello(), "TLS 1.3"),
  ]

  @Test("47: version and server of a handshake are named", arguments: hellos)
  func names(_ client: [UInt8], _ server: [UInt8], _ text: String) throws {
    let answer = server.isEmpty ? Self.record(21, [2, 40]) : Self.record(22, server)
    for port: UInt16 in [8_883, 443, 1_883] {
      for rule in [nil, DecodeRule.mqtt(version: .v3_1_1), .webSocket] {
        let dialogue = Self.dialogue(Self.record(22, client, minor: 1), answer, port: port)
        let readout = try Readout(dialogue.segments, decode: rule.map { [port: $0] } ?? [:])
        #expect(readout.types == (server.isEmpty ? ["TLS", "ALERT"] : ["TLS"]))
        #expect(
          readout.notes == [
            Self.note(text, port: Int(port), isAnswered: !server.isEmpty),
            "no MQTT or WebSocket was found in \(dialogue.segments.count) frames",
          ], "\(port) \(String(describing: rule))")
      }
    }
  }

  @Test("47: hellos in pieces, and cut over records", arguments: [1, 3, 40])
  func namesInPieces(_ size: Int) throws {
    let hello = Self.clientHello()
    let records =
      Self.record(22, Array(hello.prefix(50))) + Self.record(22, Array(hello.dropFirst(50)))
    for bytes in [Self.record(22, hello), records] {
      let dialogue = Self.dialogue(bytes, Self.record(22, Self.serverHello()), pieces: size)
      let notes = try Readout(dialogue.segments).notes
      #expect(notes.first == Self.note("TLS 1.3 with broker.example", isAnswered: true))
    }
  }

  @Test("47: without a handshake records tell", arguments: 3...8)
  func namesRecords(_ first: Int) throws {
    var dialogue = Self.dialogue(
      Self.record(22, Self.clientHello()), Self.record(22, Self.serverHello()))
    dialogue.segments.removeFirst(first + 4)
    let readout = try Readout(dialogue.segments)
    #expect(readout.types == ["TLS"])
    #expect(
      // An acknowledgement without bytes may come first.
      readout.notes.first
        == Self.note("TLS", isAnswered: false, frame: [4, 7].contains(first) ? 2 : 1))
  }

  @Test("47: a hello that is cut at any byte is read in bounds")
  func cut() throws {
    let bodies = [Self.clientHello(), Self.serverHello()].map { Array($0.dropFirst(4)) }
    for (index, body) in bodies.enumerated() {
      for count in 0..<body.count {
        let hello = TLSHello(body[..<count], isFromClient: index == 0)
        // Behind the fixed fields there may be no extensions.
        let fixed = index == 0 ? 2 + 32 + 4 + 6 + 2 : 2 + 32 + 1 + 3
        #expect((hello != nil) == (count == fixed), "\(index) cut to \(count)")
      }
      #expect(TLSHello(body[...], isFromClient: index == 0)?.version == 0x0304)
    }
    var random = SplitMix64(seed: 8_446)
    for _ in 0..<20_000 {
      var body = bodies[random.int(0...1)]
      for _ in 0..<random.int(1...4) { body[random.int(0...body.count - 1)] = random.bytes(1)[0] }
      _ = TLSHello(body[...], isFromClient: random.bool())
    }
  }

  @Test("47: what only begins like a record is none")
  func nearMisses() throws {
    let texts: [[UInt8]] = [
      // Another version, another message, a record that is too long, one that is too short.
      [22, 4, 1, 0, 60, 1], [22, 3, 1, 0, 60, 3], [22, 3, 1, 0xFF, 0xFF, 1], [22, 3, 1, 0, 5, 1],
      [25, 3, 3, 0, 60, 1],
    ]
    for bytes in texts {
      let filled = bytes + [UInt8](repeating: 0x55, count: 80)
      let notes = try Readout(Self.dialogue(filled, filled).segments).notes
      #expect(notes.count == 1 && notes[0].contains("--decode PORT=mqtt"))
    }
  }

  @Test("23, 47: of records that a snapshot length cuts in their headers nothing is kept")
  func cutHeaders() {
    var dialogue = Dialogue(serverPort: 8_883)
    dialogue.open()
    dialogue.send(.client, Self.record(22, Self.clientHello()))
    for _ in 0..<1_000 {
      for peer in Peer.allCases {
        dialogue.send(peer, Self.record(23, [UInt8](repeating: 7, count: 40)), acknowledged: false)
      }
    }
    for captured in 1...4 {
      let segments = dialogue.segments.map { segment in
        var segment = segment
        segment.wireLength = segment.payload.count
        segment.payload = Array(segment.payload.prefix(captured))
        return segment
      }
      let tap = Tap(segments)
      #expect(tap.mostReserved < 64 << 10 && tap.reserved == 0, "\(captured) bytes")
      #expect(tap.events.isEmpty)
    }
  }

  // MARK: A name that nobody knows

  /// A session whose CONNECT has another protocol name of as many characters.
  private static func renamed(_ version: MQTTVersion, turns: Int) -> Session {
    var session = Session.all(version)
    session.turns.removeLast(session.turns.count - turns)
    session.turns[0].bytes.replaceSubrange(4..<8, with: Array("MQTX".utf8))
    return session
  }

  @Test(
    "27: a CONNECT of an unknown protocol is told with its fault where the rest is MQTT",
    arguments: [(1, 1_883, true), (1, 7_777, false), (2, 7_777, true), (3, 7_777, true)]
      as [(Int, UInt16, Bool)])
  func unknownName(_ turns: Int, _ port: UInt16, _ isTold: Bool) throws {
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      let session = Self.renamed(version, turns: turns)
      let tap = Tap(session.dialogue(port: port))
      #expect(tap.packets(.client) == (isTold ? session.packets(.client) : []))
      #expect(tap.packets(.server) == (isTold ? session.packets(.server) : []))
      #expect(tap.faults == (isTold ? [.unknownProtocolName] : []))
      #expect(tap.events.allSatisfy { $0.context.wire == .mqttInferred(version) })
    }
  }

  @Test("27: a server that others speak MQTT with is enough")
  func unknownNameAtAKnownServer() {
    let known = Session.all(.v3_1_1).dialogue(port: 7_777).segments
    var other = Self.renamed(.v3_1_1, turns: 1).dialogue(port: 7_777).segments
    for index in other.indices { other[index].clientPort = 40_001 }
    #expect(Tap(known + other).faults == [.unknownProtocolName])
    #expect(Tap(other).events.isEmpty)
  }

  @Test("27: what only begins like such a CONNECT is none")
  func noSuchConnect() {
    let session = Self.renamed(.v3_1_1, turns: 3)
    for (index, byte): (Int, UInt8) in [(5, 0), (8, 9), (9, 0x01), (1, 13), (13, 9)] {
      var changed = session
      changed.turns[0].bytes[index] = byte
      #expect(Tap(changed.dialogue(port: 7_777)).events.isEmpty, "byte \(index)")
    }
  }
}

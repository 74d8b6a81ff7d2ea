import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfalls 17, 21 and 26: captures that miss the start or a side, and the version that nobody named.
@Suite struct VersionPitfallTests {
  /// A session without its handshake and its first turns.
  private static func late(
    _ version: MQTTVersion, from turn: Int, port: UInt16 = 1_883
  ) -> (tap: Tap, session: Session) {
    var session = Session.all(version)
    let whole = session.dialogue(port: port)
    let first = session.turns[turn]
    let index = whole.segments.firstIndex {
      first.bytes.starts(with: $0.payload) && !$0.payload.isEmpty
    }
    var dialogue = whole
    dialogue.segments.removeFirst(index ?? 0)
    session.turns.removeFirst(turn)
    return (Tap(dialogue), session)
  }

  @Test(
    "17: a capture that starts at any turn of a session", arguments: [MQTTVersion.v3_1_1, .v5_0],
    1..<14)
  func lateStart(_ version: MQTTVersion, _ turn: Int) {
    for port: UInt16 in [1_883, 17_501] {
      let (tap, session) = Self.late(version, from: turn, port: port)
      let comment: Comment = "port \(port)"
      #expect(tap.packets(.client) == session.packets(.client), comment)
      #expect(tap.packets(.server) == session.packets(.server), comment)
      #expect(tap.openings.map(\.isFromStart) == [false], comment)
      #expect(tap.openings.first?.evidence != nil, comment)
      #expect(tap.openings.first?.client == "10.0.0.1:40000", comment)
    }
  }

  /// A connection of any port whose CONNECT alone is missing: little is left, and enough where others speak MQTT with
  /// its server.
  @Test("17: a lost CONNECT where the server is known", arguments: [true, false])
  func lostConnect(_ isServerKnown: Bool) {
    let other = Session.all(.v5_0)
    var known = other.dialogue(port: 17_501)
    if !isServerKnown { known.segments = known.segments.map(Self.onAnotherPort) }
    var dialogue = Dialogue(client: 7_000, server: 9_000, serverPort: 17_501)
    dialogue.clientPort = 40_100
    dialogue.open()
    dialogue.send(.client, [UInt8](repeating: 0x55, count: 22))
    dialogue.segments.removeAll { $0.payload.count == 22 }
    dialogue.send(.client, [0xE0, 0x00])
    dialogue.close(.client)
    let tap = Tap(known.segments + dialogue.segments)
    #expect(
      tap.packets(.client, connection: 1) == other.packets(.client)
        && tap.openings.count == (isServerKnown ? 2 : 1))
    #expect(
      tap.packets(.client, connection: 2) == (isServerKnown ? [PacketBytes([0xE0, 0x00])] : []))
    #expect(tap.gaps.map(\.bytes) == (isServerKnown ? [22] : []))
  }

  /// Behind the address of a server another protocol may be spoken, too: what is all there and begins with no CONNECT.
  @Test("17: another protocol at a server of MQTT")
  func anotherProtocol() {
    let other = Session.all(.v5_0)
    var dialogue = Dialogue(client: 7_000, server: 9_000, serverPort: 17_501)
    dialogue.clientPort = 40_100
    dialogue.open()
    dialogue.send(.client, [0xE0, 0x00])
    dialogue.close(.client)
    let tap = Tap(other.dialogue(port: 17_501).segments + dialogue.segments)
    #expect(tap.openings.count == 1 && tap.packets(.client) == other.packets(.client))
  }

  private static func onAnotherPort(_ segment: Segment) -> Segment {
    var segment = segment
    segment.serverPort = 17_502
    return segment
  }

  @Test("17: a capture that starts inside a packet")
  func insidePacket() throws {
    let session = Session.all(.v3_1_1)
    var dialogue = session.dialogue(pieces: 100)
    let large = try #require(dialogue.segments.firstIndex { $0.payload.starts(with: [0x34]) })
    dialogue.segments.removeFirst(large + 10)
    let tap = Tap(dialogue)
    #expect(tap.packets(.client) == Array(session.packets(.client).dropFirst(4)))
    #expect(tap.packets(.server) == Array(session.packets(.server).dropFirst(4)))
    // The rest of the packet is told.
    #expect(tap.malformations.map(\.code) == ["not-mqtt"])
  }

  @Test("17: a capture that starts inside, or with, a packet of hundreds of segments")
  func insideALargePacket() {
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      let all = Session.all(version)
      var session = Session()
      let payload = [UInt8](repeating: 0x55, count: 400_000)
      session.say(
        .client, .publish(.init(topic: "a/b", payload: payload, qos: 1, packetID: 5)), version)
      session.say(.server, .acknowledgement(.puback, packetID: 5, .init()), version)
      session.turns += all.turns.dropFirst(2)
      for skipped in [0, 1, 50] {
        var dialogue = session.dialogue()
        dialogue.segments.removeFirst(3 + skipped)
        let tap = Tap(dialogue)
        let comment: Comment = "\(version) from segment \(skipped)"
        #expect(tap.packets(.client) == Array(session.packets(.client).dropFirst()), comment)
        #expect(tap.packets(.server) == session.packets(.server), comment)
        // What was looked at and given up is told.
        let told = tap.gaps.reduce(0) { $0 + $1.bytes }
        #expect(told > 200_000 && tap.gaps.allSatisfy { $0.reason == .limit }, comment)
      }
    }
  }

  @Test(
    "26: the version of a late start is inferred where a packet tells it", arguments: [1, 2, 4])
  func infersVersion5(_ turn: Int) {
    let tap = Self.late(.v5_0, from: turn).tap
    #expect(tap.events.last?.context.wire == .mqttInferred(.v5_0))
    // The PUBLISH of turn 4 would be one of 3.1.1 as well, but for the name in its properties.
    #expect(tap.openings.first?.evidence?.contains("5.0") == true)
    #expect(tap.faults.isEmpty)
    #expect(tap.events.allSatisfy { $0.context.wire.name.description == "mqtt" })
  }

  @Test("26: the version of a late start is 3.1.1 where a packet tells that", arguments: [1, 2, 3])
  func infersVersion3(_ turn: Int) {
    let tap = Self.late(.v3_1_1, from: turn).tap
    #expect(tap.events.last?.context.wire == .mqttInferred(.v3_1_1))
    #expect(tap.openings.first?.evidence?.contains("3.1.1") ?? false)
    #expect(tap.faults.isEmpty)
  }

  @Test("26: one wrong packet does not turn an inferred version")
  func keepsVersion() {
    var session = Session.all(.v5_0)
    // A Topic Alias of 0: faulty by 5.0, and by 3.1.1 three bytes of payload.
    session.turns.insert((.client, [0x30, 7, 0, 1, 0x74, 3, 0x23, 0, 0]), at: 5)
    var dialogue = session.dialogue()
    dialogue.segments.removeFirst(5)
    let tap = Tap(dialogue)
    #expect(tap.faults == [.invalidPropertyValue])
    #expect(tap.events.allSatisfy { $0.context.wire == .mqttInferred(.v5_0) })
  }

  /// Messages of a server in the middle of a connection, as they lie behind the topic.
  private static func messages(_ payloads: [[UInt8]]) -> [Segment] {
    var dialogue = Dialogue()
    for payload in payloads {
      dialogue.send(.server, [0x30, UInt8(3 + payload.count), 0, 1, 0x74] + payload)
    }
    return dialogue.segments
  }

  /// Payloads of 3.1.1 that fit 5.0, too, and properties that prove little.
  private static let undetermined: [[[UInt8]]] = [
    // A zero, numbers of two and four bytes, one of them a character.
    [[0]], [[0, 1]], [[0, 0x37]], [[0, 0x37], [0, 0x38], [0, 0x39]], [[0, 0, 1, 0x41]],
    // Numbers of four bytes below 2^24, whose low three are characters.
    [[0, 0x41, 0x42, 0x43]], [[0, 0x41, 0x42, 0x43], [0, 0x41, 0x42, 0x44]],
    // Text behind NUL, but not enough of it, and not nothing but text.
    [[0, 0x6F, 0x6E]], [[0, 0x6F, 0x6E, 0x6E, 0x65, 7]], [[0, 0xC3, 0x28, 0x41, 0x42]],
    // A subscription identifier, or three bytes of anything.
    [[2, 0x0B, 7]], [[2, 1, 1, 0, 9]],
  ]

  @Test("26: what both versions allow is marked as of neither", arguments: undetermined)
  func staysUndetermined(_ payloads: [[UInt8]]) {
    let tap = Tap(Self.messages(payloads))
    #expect(tap.events.count == payloads.count + 2)
    #expect(tap.events.allSatisfy { $0.context.wire == .mqttUndetermined })
    #expect(tap.openings.first?.evidence?.hasPrefix("no packet so far tells") == true)
    // A message that 5.0 can't lay out tells 3.1.1, from there on.
    let other = Tap(Self.messages(payloads + [Array("21.5".utf8)]))
    #expect(other.events.last?.context.wire == .mqttInferred(.v3_1_1))
    #expect(!other.events.contains { $0.context.wire == .mqttInferred(.v5_0) })
  }

  @Test(
    "26: evidence for 5.0 that comes late holds from there on, and what was told stays marked",
    arguments: [
      Array("\0 21.5".utf8), Array("\0{}\n\n".utf8), Array("\0é à".utf8), [5, 3, 0, 2, 0x61, 0x62],
      [7, 0x26, 0, 1, 0x61, 0, 1, 0x62, 0x41],
    ])
  func turnsLate(_ payload: [UInt8]) {
    // Number after number, until the connection is taken for MQTT, and the evidence then.
    let before = [[0, 1], [0, 2], [0, 3]] as [[UInt8]]
    let tap = Tap(Self.messages(before + [payload] + before))
    let wires = tap.events.dropFirst().map(\.context.wire)
    #expect(wires.prefix(3).allSatisfy { $0 == .mqttUndetermined })
    #expect(wires.dropFirst(3).allSatisfy { $0 == .mqttInferred(.v5_0) } && wires.count == 8)
    #expect(tap.faults.isEmpty)
  }

  @Test("26: the user's word overrules the evidence", arguments: MQTTVersion.allCases)
  func overruled(_ version: MQTTVersion) {
    for source in [MQTTVersion.v3_1_1, .v5_0] {
      var dialogue = Session.all(source).dialogue()
      dialogue.segments.removeFirst(5)
      for rule in [DecodeRule.mqtt(version: version)] {
        let tap = Tap(dialogue, decode: [1_883: rule])
        #expect(tap.events.allSatisfy { $0.context.wire == .mqtt(version) })
        #expect(tap.openings.map(\.evidence) == [nil])
        let hasSame = MQTTLayouts(version) == MQTTLayouts(source)
        #expect(tap.faults.isEmpty == hasSame)
      }
    }
  }

  @Test(
    "26: levels 3, 4 and 5, and those of bridges",
    arguments: [
      (3, MQTTVersion.v3_1), (0x83, .v3_1), (4, .v3_1_1), (0x84, .v3_1_1), (5, .v5_0),
    ] as [(UInt8, MQTTVersion)])
  func levels(_ level: UInt8, _ version: MQTTVersion) {
    var session = Session.all(version)
    let index = version == .v3_1 ? 10 : 8
    session.turns[0].bytes[index] = level
    let tap = Tap(session.dialogue())
    #expect(tap.events.allSatisfy { $0.context.wire == .mqtt(version) })
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(tap.faults.isEmpty)
  }

  @Test(
    "26: a level that nobody knows is flagged, and the session is still read",
    arguments: [
      0, 1, 2, 6, 0x7F, 0xFF,
    ] as [UInt8])
  func unknownLevel(_ level: UInt8) {
    for version in [MQTTVersion.v3_1_1, .v5_0] where (level & 0x7F > 5) == (version == .v5_0) {
      var session = Session.all(version)
      session.turns[0].bytes[8] = level
      let tap = Tap(session.dialogue())
      #expect(tap.packets(.client) == session.packets(.client))
      #expect(tap.faults == [.unknownProtocolLevel])
      #expect(tap.events.allSatisfy { !$0.context.wire.isCertain })
    }
  }

  // MARK: One direction

  @Test(
    "21: one direction alone is decoded, and the other one is told as lost",
    arguments: Peer.allCases)
  func oneDirection(_ peer: Peer) {
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      for isFromStart in [true, false] {
        let session = Session.all(version)
        let whole = session.dialogue().segments
        let segments = whole.suffix(from: isFromStart ? 0 : 5).filter { $0.sender == peer }
        let tap = Tap(Array(segments))
        let skipped = isFromStart ? 0 : peer == .client ? 1 : 0
        let comment: Comment = "\(version), from start: \(isFromStart)"
        #expect(tap.packets(peer) == Array(session.packets(peer).dropFirst(skipped)), comment)
        #expect(tap.packets(peer.other).isEmpty, comment)
        #expect(tap.faults.isEmpty, comment)
        #expect(tap.openings.map(\.client) == ["10.0.0.1:40000"], comment)
        let other = tap.events.filter { event in
          if case .gap = event.body { event.context.sender == peer.other } else { false }
        }
        #expect(!other.isEmpty, comment)
      }
    }
  }

  @Test(
    "17, 21: real captures without a handshake or a side", .capturesOfOthers,
    arguments: [
      "made-here/g17e_one_direction_only.pcap", "made-here/g17f_no_handshake.pcap",
      "suricata-verify/mqtt-events-missing-connect.pcap",
    ])
  func real(_ name: String) throws {
    let (events, summary) = try EventList.events(of: SharedCaptures.path(name))
    #expect(summary.connections > 0)
    #expect(events.contains { if case .mqtt = $0.body { true } else { false } })
  }
}

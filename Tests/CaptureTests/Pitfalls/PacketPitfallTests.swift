import RepriseCore
import TestSupport
import Testing
import Wire

/// Pitfalls 24, 25, 27, and 29 to 31: packets in segments, wrong packets, and what packets leave out.
@Suite struct PacketPitfallTests {
  // MARK: Packets and segments

  @Test("24: all packets of a session in one segment a direction")
  func manyInOne() {
    let session = Session.all(.v5_0)
    var dialogue = Dialogue()
    dialogue.open()
    for peer in Peer.allCases {
      let bytes = Array(session.packets(peer).map(\.bytes).joined())
      dialogue.send(peer, bytes, pieces: bytes.count)
    }
    let tap = Tap(dialogue)
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(tap.packets(.server) == session.packets(.server))
    // Each names the frame that completed it.
    #expect(Set(tap.events.dropLast().map(\.context.frame)) == [4, 6])
  }

  @Test("24: a packet names the frame that completed it")
  func frames() {
    let session = Session.all(.v3_1_1)
    let dialogue = session.dialogue(pieces: 700)
    let tap = Tap(dialogue)
    for event in tap.events {
      guard case .mqtt(let packet) = event.body else { continue }
      let segment = dialogue.segments[event.context.frame - 1]
      #expect(segment.sender == event.context.sender)
      #expect(packet.bytes.suffix(segment.payload.count) == segment.payload[...])
      #expect(event.context.time.nanoseconds == Int64(event.context.frame - 1))
    }
  }

  @Test(
    "24: bursts and large packets in real captures", .capturesOfOthers,
    arguments: [
      ("made-here/g08_mqtt311_burst_and_large.pcap", 300_000, 300),
      ("suricata-verify/mqtt-limit-2.pcap", 100_000, 1),
    ])
  func burst(_ name: String, _ size: Int, _ count: Int) throws {
    let events = try EventList.events(of: SharedCaptures.path(name)).events
    let packets = events.compactMap { event -> (frame: Int, size: Int)? in
      guard case .mqtt(let packet) = event.body else { return nil }
      return (event.context.frame, packet.size)
    }
    #expect(packets.contains { $0.size >= size })
    #expect(packets.count >= count)
    #expect(!events.contains { if case .malformed = $0.body { true } else { false } })
  }

  @Test("25: a Remaining Length split at every byte, and longer than it need be")
  func splitLengths() {
    let payload = [UInt8](repeating: 0x61, count: 20_000)
    for (count, size) in [(100, 1), (100, 4), (300, 2), (20_000, 3)] {
      var session = Session()
      session.say(.client, .connect(.init(clientID: "c")), .v3_1_1)
      session.say(.server, .connack(.init()), .v3_1_1)
      let publish = MQTTPacket(
        .publish(.init(topic: "t", payload: Array(payload.prefix(count)))), version: .v3_1_1,
        lengthSize: size)
      let bytes = (try? publish.encoded()) ?? []
      for split in 1...6 {
        var dialogue = Dialogue()
        dialogue.open()
        for turn in session.turns { dialogue.send(turn.sender, turn.bytes) }
        dialogue.send(.client, Array(bytes.prefix(split)))
        dialogue.send(.client, Array(bytes.dropFirst(split)) + [0xC0, 0])
        let tap = Tap(dialogue)
        #expect(
          Array(tap.packets(.client).suffix(2)) == [PacketBytes(bytes), PacketBytes([0xC0, 0])])
        #expect(tap.faults.isEmpty && tap.malformations.isEmpty)
      }
    }
  }

  @Test("25: a Remaining Length of five bytes is malformed, and the next segment is read")
  func endlessLength() {
    var session = Session.all(.v3_1_1)
    session.turns.insert((.client, [0x30, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0, 0]), at: 4)
    for pieces in [1_460, 3, 2, 1] {
      let tap = Tap(session.dialogue(pieces: pieces))
      #expect(tap.malformations.first?.code == "malformed-remaining-length")
      #expect(
        tap.malformations.first?.offset == session.packets(.client)[..<2].reduce(0) { $0 + $1.size }
      )
      #expect(tap.packets(.server) == session.packets(.server))
      guard pieces == 1_460 else { continue }
      #expect(tap.packets(.client).count == session.packets(.client).count - 1)
    }
  }

  @Test("25: a packet over the limit is told as a gap, and the next one is there")
  func overTheLimit() {
    let size = 17 << 20
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Session.all(.v3_1_1).turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
    var publish: [UInt8] = [0x30]
    VariableByteInteger.append(size, to: &publish)
    publish += [0, 1, 0x74] + [UInt8](repeating: 0x61, count: size - 3)
    dialogue.send(.client, publish, pieces: 60_000)
    dialogue.send(.client, [0xC0, 0])
    let tap = Tap(dialogue)
    #expect(tap.packets(.client).map(\.size).suffix(2) == [publish.count, 2])
    #expect(tap.gaps == [Gap(bytes: publish.count - (16 << 20), reason: .limit)])
  }

  // MARK: Wrong packets

  /// Something wrong in the middle of a session, and the faults that it must have.
  @Test(
    "27: wrong packets are shown and flagged, and the next packets are still there",
    arguments: [
      ([0x00, 0x00], [.reservedType]), ([0x0F, 0x02, 1, 2], [.reservedType]),
      ([0xF0, 0x00], [.reservedType]),
      ([0x36, 5, 0, 1, 0x74, 0, 9], [.invalidQoS]), ([0x38, 3, 0, 1, 0x74], [.dupAtQoS0]),
      ([0x30, 2, 0, 9], [.fieldCut]), ([0x82, 2, 0, 1], [.emptyList]),
      ([0xC5, 0], [.reservedFlags]), ([0x40, 3, 0, 1, 0], [.trailingBytes]),
      ([0x32, 5, 0, 1, 0x2B, 0, 0], [.wildcardInTopic, .zeroPacketID]),
    ] as [([UInt8], [MQTTFault.Code])])
  func wrongPacket(_ bytes: [UInt8], _ faults: [MQTTFault.Code]) {
    for place in [1, 5, 12] {
      var session = Session.all(.v3_1_1)
      session.turns.insert((.client, bytes), at: place)
      let tap = Tap(session.dialogue())
      #expect(tap.packets(.client) == session.packets(.client))
      #expect(tap.packets(.server) == session.packets(.server))
      #expect(tap.faults == faults)
      #expect(tap.malformations.isEmpty && tap.gaps.isEmpty)
    }
  }

  @Test("27: a property length past the end leaves what stands before it")
  func propertyLength() throws {
    var session = Session.all(.v5_0)
    session.turns.insert((.client, [0x32, 7, 0, 1, 0x74, 0, 9, 0x70, 0x26]), at: 5)
    let tap = Tap(session.dialogue())
    #expect(tap.faults == [.fieldCut])
    #expect(tap.packets(.client) == session.packets(.client))
    let event = try #require(
      tap.events.first { $0.body == .mqtt(PacketBytes([0x32, 7, 0, 1, 0x74, 0, 9, 0x70, 0x26])) })
    guard case .publish(let publish)? = event.packet?.content else {
      Issue.record("no PUBLISH")
      return
    }
    #expect(publish.topic == "t" && publish.packetID == 9)
  }

  @Test("27: a second CONNECT is a packet like others, and does not change the version")
  func secondConnect() {
    var session = Session.all(.v3_1_1)
    session.turns.insert(Session.all(.v5_0).turns[0], at: 6)
    let tap = Tap(session.dialogue())
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(tap.events.allSatisfy { $0.context.wire == .mqtt(.v3_1_1) })
    #expect(tap.openings.count == 1)
  }

  @Test(
    "27: packets before the CONNECT are read, and the CONNECT tells the version",
    arguments: [
      MQTTVersion.v3_1, .v3_1_1, .v5_0,
    ])
  func beforeConnect(_ version: MQTTVersion) {
    var session = Session.all(version)
    session.turns.insert((.client, [0xC0, 0]), at: 0)
    session.turns.insert((.server, [0xD0, 0]), at: 1)
    let tap = Tap(session.dialogue())
    #expect(tap.packets(.client) == session.packets(.client))
    #expect(tap.packets(.server) == session.packets(.server))
    #expect(tap.faults.isEmpty)
    let wires = tap.events.map(\.context.wire)
    #expect(wires.first == .mqttUndetermined)
    #expect(wires.dropFirst(3).allSatisfy { $0 == .mqtt(version) })
  }

  @Test(
    "27: wrong traffic in real captures", .capturesOfOthers,
    arguments: SharedCaptures.names.filter {
      $0.contains("mqtt-events") || $0.contains("mqtt_synthetic") || $0.contains("excessiveprop")
    })
  func wrongForReal(_ name: String) throws {
    let events = try EventList.events(of: SharedCaptures.path(name)).events
    #expect(events.contains { if case .mqtt = $0.body { true } else { false } })
  }
}

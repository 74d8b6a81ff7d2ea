import RepriseCore
import Wire

/// An MQTT session, packet by packet, to be put into segments in any way.
struct Session {
  var turns: [(sender: Peer, bytes: [UInt8])] = []

  mutating func say(_ sender: Peer, _ content: MQTTPacket.Content, _ version: MQTTVersion) {
    let packet = MQTTPacket(content, version: version)
    // Every content below can be encoded; a test would fail on nothing at all.
    turns.append((sender, (try? packet.encoded()) ?? []))
  }

  /// A session with packets of every kind, one of them larger than a segment.
  static func all(_ version: MQTTVersion) -> Session {
    var session = Session()
    let has = version == .v5_0
    func properties(_ list: [MQTTProperty]) -> [MQTTProperty] { has ? list : [] }
    let large = (0..<4_000).map { UInt8(truncatingIfNeeded: $0 &* 7 | 1) }
    func say(_ sender: Peer, _ content: MQTTPacket.Content) {
      session.say(sender, content, version)
    }

    say(
      .client,
      .connect(.init(clientID: "c1", properties: properties([.init(.receiveMaximum, .integer(9))])))
    )
    say(.server, .connack(.init(properties: properties([.init(.serverKeepAlive, .integer(30))]))))
    say(
      .client,
      .subscribe(
        packetID: 1, [.init("a/#", options: 1), .init("b/+", options: 2)],
        properties([.init(.subscriptionIdentifier, .integer(3))])))
    say(.server, .suback(packetID: 1, codes: [1, 2], []))
    say(
      .client,
      .publish(
        .init(
          topic: "a/b", payload: Array("21.5".utf8), qos: 1, packetID: 2,
          properties: properties([.init(.contentType, .string("text"))]))))
    say(.server, .acknowledgement(.puback, packetID: 2, has ? .init(0x10) : .init()))
    say(.server, .publish(.init(topic: "a/b", payload: Array("21.5".utf8))))
    say(.client, .publish(.init(topic: "b/c", payload: large, qos: 2, packetID: 3)))
    say(.server, .acknowledgement(.pubrec, packetID: 3, .init()))
    say(.client, .acknowledgement(.pubrel, packetID: 3, .init()))
    say(.server, .acknowledgement(.pubcomp, packetID: 3, .init()))
    say(.client, .pingreq)
    say(.server, .pingresp)
    say(.server, .publish(.init(topic: "b/d", payload: large, qos: 1, packetID: 7)))
    say(.client, .acknowledgement(.puback, packetID: 7, .init()))
    say(.client, .unsubscribe(packetID: 4, ["a/#"], []))
    say(.server, .unsuback(packetID: 4, codes: has ? [0] : [], []))
    say(.client, .disconnect(.init()))
    return session
  }

  func packets(_ peer: Peer) -> [PacketBytes] {
    turns.filter { $0.sender == peer }.map { PacketBytes($0.bytes) }
  }

  /// The session with its handshake and its end, every packet in segments of up to a size.
  func dialogue(
    pieces: Int = 1_460, client: UInt32 = 1_000, server: UInt32 = 5_000, port: UInt16 = 1_883
  ) -> Dialogue {
    var dialogue = Dialogue(client: client, server: server, serverPort: port)
    dialogue.open()
    for turn in turns { dialogue.send(turn.sender, turn.bytes, pieces: pieces) }
    dialogue.close()
    return dialogue
  }
}

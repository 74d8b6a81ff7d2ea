import Testing
import Wire

/// A packet beside its bytes, written down from the standards' own tables and figures.
struct PacketVector: Sendable, CustomTestStringConvertible {
  let version: MQTTVersion
  let bytes: [UInt8]
  let packet: MQTTPacket

  init(
    _ version: MQTTVersion, _ text: String, _ content: MQTTPacket.Content, dup: Bool = false,
    lengthSize: Int = 1
  ) {
    self.version = version
    bytes = hex(text)
    packet = MQTTPacket(content, version: version, dup: dup, lengthSize: lengthSize)
  }

  var testDescription: String { "\(version) \(bytes.hexDescription)" }

  /// Every type in every version that has it.
  static let all = connects + publishes + acknowledgements + requests + answers + ends

  private static let connects: [PacketVector] = [
    // MQTT 3.1.1 figure 3.6: flags CE, keep alive 10; the payload in its fixed order.
    .init(
      .v3_1_1,
      "10 1E 0004 4D515454 04 CE 000A 0003 616263 0001 77 0002 6869 0001 75 0003 707764",
      .connect(
        .init(
          clientID: "abc", keepAlive: 10, will: .init(topic: "w", payload: hex("6869"), qos: 1),
          username: "u", password: hex("707764")))),
    // MQTT 5.0 figure 3.6: the same with a Session Expiry Interval of 10.
    .init(
      .v5_0,
      "10 25 0004 4D515454 05 CE 000A 05 11 0000000A 0003 616263 00 0001 77 0002 6869 0001 75"
        + "0003 707764",
      .connect(
        .init(
          clientID: "abc", keepAlive: 10, will: .init(topic: "w", payload: hex("6869"), qos: 1),
          username: "u", password: hex("707764"),
          properties: [.init(.sessionExpiryInterval, .integer(10))]))),
    // MQTT 3.1: the older name and level.
    .init(
      .v3_1, "10 0F 0006 4D5149736470 03 02 001E 0001 63",
      .connect(.init(clientID: "c", keepAlive: 30))),
    // What bridges of mosquitto send: bit 7 of the level.
    .init(
      .v3_1, "10 0F 0006 4D5149736470 83 02 001E 0001 63",
      .connect(.init(clientID: "c", keepAlive: 30, isBridge: true))),
    .init(
      .v3_1_1, "10 0D 0004 4D515454 84 00 003C 0001 62",
      .connect(.init(clientID: "b", cleanStart: false, isBridge: true))),
    // No identifier, a clean start, no limit of time.
    .init(
      .v3_1_1, "10 0C 0004 4D515454 04 02 0000 0000", .connect(.init(clientID: "", keepAlive: 0))),
    // 5.0 allows a password without a user name, and no identifier without a clean start.
    .init(
      .v5_0, "10 10 0004 4D515454 05 40 003C 00 0000 0001 70",
      .connect(.init(clientID: "", cleanStart: false, password: hex("70")))),
    // A will of QoS 2, retained and delayed.
    .init(
      .v5_0, "10 19 0004 4D515454 05 36 FFFF 00 0001 63 05 18 00000001 0001 74 0000",
      .connect(
        .init(
          clientID: "c", keepAlive: 65_535,
          will: .init(
            topic: "t", payload: [], qos: 2, retain: true,
            properties: [.init(.willDelayInterval, .integer(1))])))),
    .init(.v3_1_1, "20 02 00 00", .connack(.init())),
    .init(.v3_1_1, "20 02 01 00", .connack(.init(sessionPresent: true))),
    .init(.v3_1, "20 02 00 05", .connack(.init(code: 5))),
    .init(.v5_0, "20 03 00 00 00", .connack(.init())),
    .init(
      .v5_0, "20 09 00 86 06 1F 0003 626164",
      .connack(.init(code: 0x86, properties: [.init(.reasonString, .string("bad"))]))),
  ]

  private static let publishes: [PacketVector] = [
    // MQTT 3.1.1 section 3.3.2.3: topic a/b, packet identifier 10.
    .init(
      .v3_1_1, "32 07 0003 612F62 000A",
      .publish(.init(topic: "a/b", payload: [], qos: 1, packetID: 10))),
    .init(
      .v3_1_1, "30 07 0003 612F62 6869", .publish(.init(topic: "a/b", payload: hex("6869")))),
    .init(
      .v3_1, "3D 08 0003 612F62 FFFF 00",
      .publish(.init(topic: "a/b", payload: [0], qos: 2, retain: true, packetID: 65_535)),
      dup: true),
    // MQTT 5.0 section 3.3.2.3.9: the same without properties.
    .init(
      .v5_0, "32 08 0003 612F62 000A 00",
      .publish(.init(topic: "a/b", payload: [], qos: 1, packetID: 10))),
    // An alias instead of a topic.
    .init(
      .v5_0, "30 07 0000 03 23 0005 78",
      .publish(
        .init(topic: "", payload: hex("78"), properties: [.init(.topicAlias, .integer(5))]))),
    // Figure 1.2: A and U+2A6D4; two subscription identifiers.
    .init(
      .v5_0, "31 0F 0005 41F0AA9B94 05 0B 01 0B 8001 0000",
      .publish(
        .init(
          topic: "A\u{2A6D4}", payload: [0, 0], retain: true,
          properties: [
            .init(.subscriptionIdentifier, .integer(1)),
            .init(.subscriptionIdentifier, .integer(128)),
          ]))),
    // A Remaining Length of two bytes where one would do, which 3.1.1 allows.
    .init(
      .v3_1_1, "30 83 00 0001 74", .publish(.init(topic: "t", payload: [])), lengthSize: 2),
  ]

  private static let acknowledgements: [PacketVector] =
    [MQTTVersion.v3_1, .v3_1_1, .v5_0]
    .flatMap { version -> [PacketVector] in
      [("40", MQTTPacketType.puback), ("50", .pubrec), ("62", .pubrel), ("70", .pubcomp)].map {
        .init(version, "\($0) 02 1234", .acknowledgement($1, packetID: 0x1234, .init()))
      }
    } + [
      // 5.0: an explicit code, and that with an empty list of properties.
      .init(.v5_0, "40 03 0001 10", .acknowledgement(.puback, packetID: 1, .init(0x10))),
      .init(.v5_0, "50 03 0001 00", .acknowledgement(.pubrec, packetID: 1, .init(0))),
      .init(
        .v5_0, "62 04 0001 92 00",
        .acknowledgement(.pubrel, packetID: 1, .init(0x92, properties: []))),
      .init(
        .v5_0, "70 0B 0001 00 07 26 0001 61 0001 62",
        .acknowledgement(
          .pubcomp, packetID: 1, .init(0, properties: [.init(.userProperty, .pair("a", "b"))]))),
      // 3.1 may set DUP on a PUBREL.
      .init(.v3_1, "6A 02 0001", .acknowledgement(.pubrel, packetID: 1, .init()), dup: true),
    ]

  private static let requests: [PacketVector] = [
    // MQTT 3.1.1 figures 3.21 and 3.23: a/b at QoS 1, c/d at QoS 2.
    .init(
      .v3_1_1, "82 0E 000A 0003 612F62 01 0003 632F64 02",
      .subscribe(packetID: 10, [.init("a/b", options: 1), .init("c/d", options: 2)], [])),
    .init(
      .v3_1, "8A 08 000A 0003 612F62 01",
      .subscribe(packetID: 10, [.init("a/b", options: 1)], []), dup: true),
    .init(
      .v5_0, "82 11 000A 02 0B 07 0003 612F62 2C 0003 632F64 02",
      .subscribe(
        packetID: 10, [.init("a/b", options: 0x2C), .init("c/d", options: 2)],
        [.init(.subscriptionIdentifier, .integer(7))])),
    // Figures 3.28 and 3.30.
    .init(
      .v3_1_1, "A2 0C 000A 0003 612F62 0003 632F64",
      .unsubscribe(packetID: 10, ["a/b", "c/d"], [])),
    .init(.v3_1, "AA 07 000A 0003 612F62", .unsubscribe(packetID: 10, ["a/b"], []), dup: true),
    .init(.v5_0, "A2 06 000A 00 0001 23", .unsubscribe(packetID: 10, ["#"], [])),
  ]

  private static let answers: [PacketVector] = [
    // MQTT 3.1.1 figure 3.27: QoS 0, QoS 2, failure.
    .init(.v3_1_1, "90 05 000A 00 02 80", .suback(packetID: 10, codes: [0, 2, 0x80], [])),
    .init(.v3_1, "90 03 000A 01", .suback(packetID: 10, codes: [1], [])),
    .init(.v5_0, "90 05 000A 00 02 87", .suback(packetID: 10, codes: [2, 0x87], [])),
    .init(.v3_1, "B0 02 000A", .unsuback(packetID: 10, codes: [], [])),
    .init(.v3_1_1, "B0 02 000A", .unsuback(packetID: 10, codes: [], [])),
    .init(.v5_0, "B0 05 000A 00 00 11", .unsuback(packetID: 10, codes: [0, 0x11], [])),
  ]

  private static let ends: [PacketVector] =
    MQTTVersion.allCases.flatMap { version in
      [
        PacketVector(version, "C0 00", .pingreq), .init(version, "D0 00", .pingresp),
        .init(version, "E0 00", .disconnect(.init())),
      ]
    } + [
      .init(.v3_1_1, "E0 80 80 00", .disconnect(.init()), lengthSize: 3),
      .init(.v5_0, "E0 01 04", .disconnect(.init(4))),
      .init(
        .v5_0, "E0 06 00 04 1C 0001 73",
        .disconnect(.init(0, properties: [.init(.serverReference, .string("s"))]))),
      .init(.v5_0, "F0 00", .auth(.init())),
      .init(
        .v5_0, "F0 0B 18 09 15 0001 6D 16 0002 0102",
        .auth(
          .init(
            0x18,
            properties: [
              .init(.authenticationMethod, .string("m")),
              .init(.authenticationData, .binary([1, 2])),
            ]))),
    ]
}

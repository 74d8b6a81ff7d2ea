import Wire

extension Sample {
  /// Packets of every type in every version that has it.
  static var packets: [MQTTPacket] {
    MQTTVersion.allCases.flatMap(packets) + mqtt5Packets
  }

  private static func packets(_ version: MQTTVersion) -> [MQTTPacket] {
    let contents: [MQTTPacket.Content] = [
      .connect(.init(clientID: "sensor 7")),
      .connect(
        .init(
          clientID: "", cleanStart: true, keepAlive: 0,
          will: .init(topic: "will/töpic", payload: [0xFF, 0], qos: 2, retain: true),
          username: "ü", password: Array("geheim".utf8), isBridge: true)),
      .connack(.init(sessionPresent: version != .v3_1)), .connack(.init(code: 5)),
      .publish(.init(topic: "a/b", payload: Array("21.5".utf8))),
      .publish(.init(topic: "a", payload: [], qos: 1, retain: true, packetID: 5)),
      .publish(.init(topic: "/", payload: [0x80, 0x00], qos: 2, packetID: 65_535)),
      .publish(.init(topic: "q\"uo\\te\u{1}", payload: Array("\u{0}\n\"\u{7F}".utf8))),
      .acknowledgement(.puback, packetID: 1, .init()),
      .acknowledgement(.pubrec, packetID: 2, .init()),
      .acknowledgement(.pubrel, packetID: 3, .init()),
      .acknowledgement(.pubcomp, packetID: 4, .init()),
      .subscribe(packetID: 6, [.init("a/+", options: 1), .init("#", options: 2)], []),
      .suback(packetID: 6, codes: [1, 2, 0], []),
      .unsubscribe(packetID: 8, ["a/+", "#"], []),
      .unsuback(packetID: 8, codes: version == .v5_0 ? [0, 17] : [], []),
      .pingreq, .pingresp, .disconnect(.init()),
    ]
    return contents.map { MQTTPacket($0, version: version) } + [
      MQTTPacket(
        .publish(.init(topic: "t", payload: [1], qos: 1, packetID: 9)), version: version, dup: true),
      // Not in the shortest form, so that the fields alone are not enough.
      MQTTPacket(.pingreq, version: version, lengthSize: 3),
      MQTTPacket(
        .acknowledgement(.pubrel, packetID: 3, .init()), version: version, dup: version == .v3_1),
    ]
  }

  private static var mqtt5Packets: [MQTTPacket] {
    let pairs: [MQTTProperty] = [
      .init(.userProperty, .pair("b", "1")), .init(.userProperty, .pair("a", "2")),
    ]
    let reason: [MQTTProperty] = [.init(.reasonString, .string("because"))] + pairs
    let message: [MQTTProperty] = [
      .init(.payloadFormatIndicator, .integer(1)), .init(.messageExpiryInterval, .integer(60)),
      .init(.contentType, .string("text/plain")), .init(.responseTopic, .string("r/t")),
      .init(.correlationData, .binary([0, 0xFF])), .init(.subscriptionIdentifier, .integer(3)),
      .init(.subscriptionIdentifier, .integer(1)), .init(.topicAlias, .integer(4)),
    ]
    let contents: [MQTTPacket.Content] = [
      .connect(
        .init(
          clientID: "c",
          will: .init(
            topic: "w", payload: [], properties: [.init(.willDelayInterval, .integer(9))] + pairs),
          properties: [
            .init(.sessionExpiryInterval, .integer(4_294_967_295)),
            .init(.authenticationMethod, .string("SCRAM")),
            .init(.authenticationData, .binary([1, 2])),
          ])),
      // Out of the order of identifiers, in a packet and in a will.
      .connack(.init(properties: pairs + [.init(.serverKeepAlive, .integer(30))])),
      .connect(
        .init(
          clientID: "c",
          will: .init(
            topic: "w", payload: [], properties: pairs + [.init(.willDelayInterval, .integer(9))]))),
      .publish(.init(topic: "t", payload: [], properties: message)),
      .publish(.init(topic: "", payload: [], properties: [.init(.topicAlias, .integer(4))])),
      .acknowledgement(.puback, packetID: 1, .init(0)),
      .acknowledgement(.puback, packetID: 1, .init(0x10)),
      .acknowledgement(.pubrec, packetID: 1, .init(0, properties: [])),
      .acknowledgement(.pubrel, packetID: 1, .init(0x92, properties: reason)),
      .subscribe(
        packetID: 1, [.init("$share/g/a", options: 0b0001_1001), .init("b", options: 0b0010_0110)],
        [.init(.subscriptionIdentifier, .integer(268_435_455))]),
      .suback(packetID: 1, codes: [0x80, 0], reason), .unsuback(packetID: 1, codes: [0x11], reason),
      .unsubscribe(packetID: 1, ["a"], pairs), .disconnect(.init(0)), .disconnect(.init(4)),
      .disconnect(.init(0x8E, properties: [])), .disconnect(.init(0x8E, properties: reason)),
      .auth(.init(0x18, properties: [.init(.authenticationMethod, .string("m"))])), .auth(.init()),
    ]
    return contents.map { MQTTPacket($0, version: .v5_0) }
  }

  /// Packets as bytes that no field of a recording can tell.
  static let oddBytes: [(bytes: [UInt8], version: MQTTVersion)] = [
    // PUBACK with flags, which 3.1 does not forbid.
    ([0x45, 2, 0, 1], .v3_1),
    // Reserved types.
    ([0x00, 1, 7], .v3_1_1), ([0xF0, 0], .v3_1_1),
    // A topic that is no UTF-8, QoS 3, trailing bytes, a cut field.
    ([0x30, 4, 0, 1, 0xFF, 0x31], .v3_1_1), ([0x36, 5, 0, 1, 0x61, 0, 1], .v3_1_1),
    ([0xC0, 1, 0], .v3_1_1), ([0x30, 2, 0, 9], .v3_1_1),
    // Reserved option bits, acknowledge flags of 3.1, a subscription identifier of two bytes for 1.
    ([0x82, 6, 0, 1, 0, 1, 0x61, 0xFD], .v3_1_1), ([0x20, 2, 0xFE, 0], .v3_1),
    ([0x30, 7, 0, 1, 0x61, 3, 0x0B, 0x81, 0x00], .v5_0),
    // A second CONNECT of another version than the connection speaks.
    ([0x10, 13, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x63], .v5_0),
  ]
}

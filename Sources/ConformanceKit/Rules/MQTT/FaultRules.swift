internal import Wire

extension FaultRule {
  /// The rules of MQTT about the format of packets.
  static let mqtt: [FaultRule] = texts + flags + connects + lists + topics

  /// The rules that a version has, in the order of the table.
  static func rules(of version: MQTTVersion) -> [FaultRule] {
    mqtt.filter { $0.clauses[version] != nil }
  }

  private static let text: Subject = .types([.publish, .subscribe, .unsubscribe])

  private static let texts: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-1.5.3-1"), expected: "well-formed UTF-8",
      patterns: [.init(code: .invalidUTF8)],
      subject: text, connect: .always, reaction: .receiverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-1.5.3-2"), expected: "no U+0000",
      patterns: [.init(code: .nullCharacter)],
      subject: text, connect: .always, reaction: .receiverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.8.3-1"), expected: "filters in UTF-8",
      patterns: [.init(code: .invalidUTF8, fields: [.filter])], subject: .types([.subscribe])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.10.3-1"), expected: "filters in UTF-8, one behind the other",
      patterns: [
        .init(code: .invalidUTF8, fields: [.filter]), .init(code: .fieldCut, fields: [.filter]),
      ], subject: .types([.unsubscribe])),
  ]

  private static let flags: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-2.2.2-1"), expected: "the flags of table 2.2",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])], subject: .reservedFlags,
      connect: .always),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.6.1-1"), expected: "the flags 0010",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])], subject: .types([.pubrel]),
      reaction: .serverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.8.1-1"), expected: "the flags 0010",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])],
      subject: .types([.subscribe]), reaction: .serverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.10.1-1"), expected: "the flags 0010",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])],
      subject: .types([.unsubscribe]), reaction: .serverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.1-2"), expected: "DUP 0 at QoS 0",
      patterns: [.init(code: .dupAtQoS0, fields: [.fixedHeader])], subject: .publish(qos: 0...0)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.3.1-1"), expected: "DUP 0 at QoS 0",
      patterns: [.init(code: .dupAtQoS0, fields: [.fixedHeader])], subject: .publish(qos: 0...0)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.1-4"), expected: "QoS 0, 1 or 2",
      patterns: [.init(code: .invalidQoS, fields: [.fixedHeader])], subject: .publish(qos: 0...3),
      reaction: .receiverCloses),
  ]

  private static let lists: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-2.3.1-1"), expected: "a packet identifier from 1 to 65535",
      patterns: [
        .init(code: .zeroPacketID, fields: [.packetID]),
        .init(code: .fieldCut, fields: [.packetID]),
      ], subject: .publish(qos: 1...2, and: [.subscribe, .unsubscribe])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.8.3-3"), expected: "at least one filter with its QoS",
      patterns: [
        .init(code: .emptyList, fields: [.filter]),
        .init(code: .fieldCut, fields: [.filter, .subscriptionOptions, .packetID]),
      ], subject: .types([.subscribe]), needsNoFilter: true),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.9.3-2"), expected: "0x00, 0x01, 0x02 or 0x80",
      patterns: [.init(code: .unknownReasonCode, fields: [.reasonCode])],
      subject: .types([.suback])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.10.3-2"), expected: "at least one filter",
      patterns: [.init(code: .emptyList, fields: [.filter])], subject: .types([.unsubscribe])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.1-2"), expected: "# alone in the last level",
      patterns: [.init(code: .misplacedMultiLevelWildcard, fields: [.filter])],
      subject: .types([.subscribe, .unsubscribe])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.1-3"), expected: "+ filling a whole level",
      patterns: [.init(code: .misplacedSingleLevelWildcard, fields: [.filter])],
      subject: .types([.subscribe, .unsubscribe])),
  ]

  private static let topics: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.2-1"), expected: "a topic name in UTF-8 as the first field",
      patterns: [
        .init(code: .invalidUTF8, fields: [.topic]), .init(code: .fieldCut, fields: [.topic]),
      ], subject: .types([.publish])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.2-2"), expected: "a topic name without + and #",
      patterns: [.init(code: .wildcardInTopic, fields: [.topic])], subject: .types([.publish])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.1-1"), expected: "a topic name without + and #",
      patterns: [.init(code: .wildcardInTopic, fields: [.topic, .willTopic])],
      subject: .types([.publish]), connect: .will),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.3-1"), expected: "at least one character",
      patterns: [.init(code: .emptyTopic, fields: [.topic, .willTopic, .filter])], subject: text,
      connect: .will),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.3-2"), expected: "no U+0000",
      patterns: [.init(code: .nullCharacter, fields: [.topic, .willTopic, .filter])],
      subject: text, connect: .will),
  ]
}

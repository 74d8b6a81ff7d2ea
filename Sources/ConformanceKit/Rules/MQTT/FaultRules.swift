internal import RepriseCore
internal import Wire

extension FaultRule {
  /// The rules of MQTT about the format of packets.
  static let mqtt: [FaultRule] =
    texts + flags + connects + lists + topics + codes + properties

  /// The rules that a version has, in the order of the table.
  static func rules(of version: MQTTVersion) -> [FaultRule] {
    mqtt.compactMap { $0.in(version) }
  }

  private static let text: Subject = .types([.publish, .subscribe, .unsubscribe])
  /// Strings stand in properties as well.
  private static let textIn5: Subject = .types([
    .connack, .publish, .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback, .unsubscribe,
    .unsuback, .disconnect, .auth,
  ])

  private static let texts: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-1.5.3-1", v5_0: "MQTT-1.5.4-1"), expected: "well-formed UTF-8",
      patterns: [.init(code: .invalidUTF8)],
      subject: text, connect: .always, reaction: .receiverCloses,
      in5: .init(subject: textIn5, reaction: FaultRule.Reaction.none, doubts: unread)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-1.5.3-2", v5_0: "MQTT-1.5.4-2"), expected: "no U+0000",
      patterns: [.init(code: .nullCharacter)],
      subject: text, connect: .always, reaction: .receiverCloses,
      in5: .init(subject: textIn5, reaction: FaultRule.Reaction.none, doubts: unread)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.8.3-1", v5_0: "MQTT-3.8.3-1"), expected: "filters in UTF-8",
      patterns: [.init(code: .invalidUTF8, fields: [.filter])], subject: .types([.subscribe]),
      in5: .init(doubts: cutProperties)),
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.10.3-1"), expected: "filters in UTF-8",
      patterns: [.init(code: .invalidUTF8, fields: [.filter])], subject: .types([.unsubscribe]),
      doubts: cutProperties),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.10.3-1"), expected: "filters in UTF-8, one behind the other",
      patterns: [
        .init(code: .invalidUTF8, fields: [.filter]), .init(code: .fieldCut, fields: [.filter]),
      ], subject: .types([.unsubscribe])),
  ]

  private static let flags: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-2.2.2-1", v5_0: "MQTT-2.1.3-1"),
      expected: "the flags of table 2.2",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])], subject: .reservedFlags,
      connect: .always),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.6.1-1", v5_0: "MQTT-3.6.1-1"), expected: "the flags 0010",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])], subject: .types([.pubrel]),
      reaction: .serverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.8.1-1", v5_0: "MQTT-3.8.1-1"), expected: "the flags 0010",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])],
      subject: .types([.subscribe]), reaction: .serverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.10.1-1", v5_0: "MQTT-3.10.1-1"), expected: "the flags 0010",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])],
      subject: .types([.unsubscribe]), reaction: .serverCloses),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.1-2", v5_0: "MQTT-3.3.1-2"), expected: "DUP 0 at QoS 0",
      patterns: [.init(code: .dupAtQoS0, fields: [.fixedHeader])], subject: .publish(qos: 0...0)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.3.1-1", v5_0: "MQTT-4.3.1-1"), expected: "DUP 0 at QoS 0",
      patterns: [.init(code: .dupAtQoS0, fields: [.fixedHeader])], subject: .publish(qos: 0...0)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.1-4", v5_0: "MQTT-3.3.1-4"), expected: "QoS 0, 1 or 2",
      patterns: [.init(code: .invalidQoS, fields: [.fixedHeader])], subject: .publish(qos: 0...3),
      reaction: .receiverCloses, in5: .init(reaction: FaultRule.Reaction.none)),
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.15.1-1"), expected: "the flags 0000",
      patterns: [.init(code: .reservedFlags, fields: [.fixedHeader])], subject: .types([.auth]),
      reaction: .receiverCloses),
    FaultRule(
      clauses: .init(v5_0: "MQTT-1.5.5-1"), expected: "the fewest bytes that the integer takes",
      patterns: [.init(code: .lengthNotShortest)],
      subject: .types([
        .connack, .publish, .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback, .unsubscribe,
        .unsuback, .pingreq, .pingresp, .disconnect, .auth,
      ]), connect: .always),
  ]

  private static let lists: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-2.3.1-1"), expected: "a packet identifier from 1 to 65535",
      patterns: [
        .init(code: .zeroPacketID),
        .init(code: .fieldCut, fields: [.packetID]),
      ], subject: .publish(qos: 1...2, and: [.subscribe, .unsubscribe])),
    FaultRule(
      clauses: .init(v5_0: "MQTT-2.2.1-3"), expected: "a packet identifier from 1 to 65535",
      patterns: [
        .init(code: .zeroPacketID),
        .init(code: .fieldCut, fields: [.packetID]),
      ], subject: .publish(qos: 1...2, and: [.subscribe, .unsubscribe]), sender: .client),
    FaultRule(
      clauses: .init(v5_0: "MQTT-2.2.1-4"), expected: "a packet identifier from 1 to 65535",
      patterns: [
        .init(code: .zeroPacketID),
        .init(code: .fieldCut, fields: [.packetID]),
      ], subject: .publish(qos: 1...2), sender: .server),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.8.3-3", v5_0: "MQTT-3.8.3-2"),
      expected: "at least one filter with its QoS",
      patterns: [
        .init(code: .emptyList),
        .init(code: .fieldCut, fields: [.filter, .subscriptionOptions, .packetID]),
      ], subject: .types([.subscribe]), needsNoFilter: true, in5: .init(doubts: cutProperties)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.9.3-2", v5_0: "MQTT-3.9.3-2"),
      expected: "0x00, 0x01, 0x02 or 0x80",
      patterns: [.init(code: .unknownReasonCode)],
      subject: .types([.suback]),
      in5: .init(expected: "codes of section 3.9.3", doubts: cutProperties)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.10.3-2", v5_0: "MQTT-3.10.3-2"),
      expected: "at least one filter",
      patterns: [.init(code: .emptyList)], subject: .types([.unsubscribe]),
      in5: .init(doubts: cutProperties)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.1-2", v5_0: "MQTT-4.7.1-1"),
      expected: "# alone in the last level",
      patterns: [.init(code: .misplacedMultiLevelWildcard)],
      subject: .types([.subscribe, .unsubscribe]), in5: .init(doubts: cutProperties)),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.1-3", v5_0: "MQTT-4.7.1-2"),
      expected: "+ filling a whole level",
      patterns: [.init(code: .misplacedSingleLevelWildcard)],
      subject: .types([.subscribe, .unsubscribe]), in5: .init(doubts: cutProperties)),
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.8.3-4"), expected: "No Local 0 on a shared subscription",
      patterns: [.init(code: .noLocalOnShared)],
      subject: .types([.subscribe]), doubts: cutProperties),
    FaultRule(
      clauses: .init(v5_0: "U5-3.8.3.1-1"), expected: "a maximum QoS of 0, 1 or 2",
      patterns: [.init(code: .invalidQoS, fields: [.subscriptionOptions])],
      subject: .types([.subscribe]), doubts: cutProperties),
    FaultRule(
      clauses: .init(v5_0: "U5-3.8.3.1-2"), expected: "Retain Handling 0, 1 or 2",
      patterns: [.init(code: .invalidRetainHandling)],
      subject: .types([.subscribe]), doubts: cutProperties),
    FaultRule(
      clauses: .init(v5_0: "U5-3.8.3.1-3"), expected: "bits 6 and 7 of the options 0",
      patterns: [.init(code: .reservedOptionBits)],
      subject: .types([.subscribe]), doubts: cutProperties),
    FaultRule(
      clauses: .init(v5_0: "MQTT-4.8.2-1"), expected: "a share name of at least one character",
      patterns: [.init(code: .emptyShareName)], subject: .types([.subscribe]),
      doubts: cutProperties),
    FaultRule(
      clauses: .init(v5_0: "MQTT-4.8.2-2"),
      expected: "a share name without / + #, and a filter behind it",
      patterns: [.init(code: .badShareName)], subject: .types([.subscribe]),
      doubts: cutProperties),
  ]

  private static let topics: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.2-1", v5_0: "MQTT-3.3.2-1"),
      expected: "a topic name in UTF-8 as the first field",
      patterns: [
        .init(code: .invalidUTF8, fields: [.topic]), .init(code: .fieldCut, fields: [.topic]),
      ], subject: .types([.publish])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.3.2-2", v5_0: "MQTT-3.3.2-2"),
      expected: "a topic name without + and #",
      patterns: [.init(code: .wildcardInTopic, fields: [.topic])], subject: .types([.publish])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.1-1", v5_0: "MQTT-4.7.0-1"),
      expected: "a topic name without + and #",
      patterns: [.init(code: .wildcardInTopic)], subject: .types([.publish]), connect: .will),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.3-1", v5_0: "MQTT-4.7.3-1"),
      expected: "at least one character",
      patterns: [.init(code: .emptyTopic, fields: [.topic, .willTopic, .filter])], subject: text,
      connect: .will, in5: .init(doubts: unread)),
    FaultRule(
      clauses: .init(v5_0: "U5-3.3.2.1-1"), expected: "a topic, or a Topic Alias",
      patterns: [.init(code: .emptyTopic, fields: [.topic])], subject: .types([.publish]),
      doubts: unread),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-4.7.3-2", v5_0: "MQTT-4.7.3-2"), expected: "no U+0000",
      patterns: [.init(code: .nullCharacter, fields: [.topic, .willTopic, .filter])],
      subject: text, connect: .will,
      in5: .init(
        patterns: [
          .init(
            code: .nullCharacter, fields: [.properties, .willProperties],
            properties: [.responseTopic])
        ])),
  ]

  private static let codes: [FaultRule] = [
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.2.2-8"), expected: "a code of section 3.2.2.2",
      patterns: [.init(code: .unknownReasonCode)],
      subject: .types([.connack])),
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.2.2-1"), expected: "bits 1 to 7 of the acknowledge flags 0",
      patterns: [.init(code: .reservedConnackFlags)],
      subject: .types([.connack])),
    code("MQTT-3.4.2-1", .puback, "3.4.2.1"), code("MQTT-3.5.2-1", .pubrec, "3.5.2.1"),
    code("MQTT-3.6.2-1", .pubrel, "3.6.2.1"), code("MQTT-3.7.2-1", .pubcomp, "3.7.2.1"),
    code("MQTT-3.14.2-1", .disconnect, "3.14.2.1"), code("MQTT-3.15.2-1", .auth, "3.15.2.1"),
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.11.3-2"), expected: "codes of section 3.11.3",
      patterns: [
        .init(code: .unknownReasonCode),
        .init(code: .emptyList),
      ], subject: .types([.unsuback]), doubts: cutProperties),
  ]

  private static func code(_ id: String, _ type: MQTTPacketType, _ section: String) -> FaultRule {
    FaultRule(
      clauses: .init(v5_0: id), expected: "a code of section \(section)",
      patterns: [.init(code: .unknownReasonCode)], subject: .types([type]))
  }
}

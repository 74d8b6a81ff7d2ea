internal import Wire

extension FaultRule {
  /// The rules of MQTT about the format of CONNECT and CONNACK.
  static let connects: [FaultRule] = heads + wills + logins + payloads

  private static let heads: [FaultRule] = [
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.1.2-1"), expected: "the protocol name MQTT",
      patterns: [
        .init(code: .unknownProtocolName, fields: [.protocolName]),
        .init(code: .unknownProtocolLevel, fields: [.protocolLevel]),
      ], connect: .always),
    FaultRule(
      clauses: .init(v5_0: "U5-3.1.2.3-1"), expected: "the reserved connect flag 0",
      patterns: [.init(code: .reservedConnectFlag, fields: [.connectFlags])], connect: .always),
  ]

  private static let wills: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-9", v5_0: "MQTT-3.1.2-9"),
      expected: "a will topic and a will message",
      patterns: [.init(code: .fieldCut, fields: [.willTopic, .willPayload])], connect: .will,
      in5: .init(
        expected: "will properties, a will topic and a will message",
        patterns: [
          .init(code: .fieldCut, fields: [.willProperties]),
          .init(code: .noPropertyLength, fields: [.willProperties]),
        ])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-11"),
      expected: "Will QoS 0, Will Retain 0 and no will fields",
      patterns: [
        .init(code: .willQoSWithoutWill, fields: [.connectFlags]),
        .init(code: .willRetainWithoutWill, fields: [.connectFlags]),
      ], connect: .noWill, extra: .will),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-13", v5_0: "MQTT-3.1.2-11"), expected: "Will QoS 0",
      patterns: [.init(code: .willQoSWithoutWill, fields: [.connectFlags])], connect: .noWill),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-14", v5_0: "MQTT-3.1.2-12"),
      expected: "Will QoS 0, 1 or 2",
      patterns: [.init(code: .invalidQoS, fields: [.connectFlags])], connect: .will),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-15", v5_0: "MQTT-3.1.2-13"), expected: "Will Retain 0",
      patterns: [.init(code: .willRetainWithoutWill, fields: [.connectFlags])], connect: .noWill),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.3-10", v5_0: "MQTT-3.1.3-11"),
      expected: "a will topic in UTF-8",
      patterns: [.init(code: .invalidUTF8, fields: [.willTopic])], connect: .will),
  ]

  private static let logins: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-18", v5_0: "MQTT-3.1.2-16"), expected: "no user name",
      patterns: [],
      connect: .noUsername,
      extra: .username),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-19", v5_0: "MQTT-3.1.2-17"), expected: "a user name",
      patterns: [.init(code: .fieldCut, fields: [.username])], connect: .username),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-20", v5_0: "MQTT-3.1.2-18"), expected: "no password",
      patterns: [],
      connect: .noPassword,
      extra: .password),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-21", v5_0: "MQTT-3.1.2-19"), expected: "a password",
      patterns: [.init(code: .fieldCut, fields: [.password])], connect: .password),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.2-22"), expected: "Password Flag 0 without a user name",
      patterns: [.init(code: .passwordWithoutUserName, fields: [.connectFlags])],
      connect: .noUsername),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.3-11", v5_0: "MQTT-3.1.3-12"),
      expected: "a user name in UTF-8",
      patterns: [.init(code: .invalidUTF8, fields: [.username])], connect: .username),
  ]

  private static let payloads: [FaultRule] = [
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.3-1", v5_0: "MQTT-3.1.3-1"),
      expected: "the fields that the flags announce, in their order, up to the end of the packet",
      patterns: [
        .init(
          code: .fieldCut, fields: [.clientID, .willTopic, .willPayload, .username, .password]),
        .init(code: .trailingBytes),
      ], connect: .severalFields,
      in5: .init(
        patterns: [
          .init(code: .fieldCut, fields: [.willProperties]),
          .init(code: .noPropertyLength, fields: [.willProperties]),
        ])),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.3-3", v5_0: "MQTT-3.1.3-3"), expected: "a client identifier",
      patterns: [.init(code: .fieldCut, fields: [.clientID])], connect: .always),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.3-4", v5_0: "MQTT-3.1.3-4"),
      expected: "a client identifier in UTF-8",
      patterns: [.init(code: .invalidUTF8, fields: [.clientID])], connect: .always),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.1.3-7"),
      expected: "Clean Session 1 with an empty client identifier",
      patterns: [.init(code: .emptyClientID, fields: [.clientID])], connect: .noClientID),
    FaultRule(
      clauses: .init(v3_1_1: "MQTT-3.2.2-4", v5_0: "MQTT-3.2.2-6"),
      expected: "Session Present 0 with a refusal",
      patterns: [.init(code: .sessionPresentOnRefusal)],
      subject: .refusals),
  ]
}

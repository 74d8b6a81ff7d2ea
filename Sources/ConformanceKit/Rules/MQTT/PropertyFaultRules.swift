internal import Wire

extension FaultRule {
  /// Faults behind which no property, and no field behind the properties, can be told.
  static let cutProperties: [Pattern] = [
    .init(code: .fieldCut, fields: [.properties, .willProperties, .packetID]),
    .init(code: .noPropertyLength, fields: [.properties, .willProperties]),
  ]
  /// Those, and such behind which further properties can't be told.
  static let unread: [Pattern] =
    cutProperties + [
      .init(code: .propertyCut, fields: [.properties, .willProperties]),
      .init(code: .unknownProperty, fields: [.properties, .willProperties]),
    ]

  /// The rules of MQTT 5.0 about properties: which there are, where, how often, and with which values.
  static let properties: [FaultRule] =
    forms + propertyTexts + ofConnect + ofWill + ofConnack + ofOthers

  private static let forms: [FaultRule] = [
    FaultRule(
      clauses: .init(v5_0: "MQTT-2.2.2-1"), expected: "a Property Length, be it 0",
      patterns: [.init(code: .noPropertyLength, fields: [.properties, .willProperties])],
      subject: .types([.connack, .publish, .subscribe, .suback, .unsubscribe, .unsuback]),
      connect: .always, doubts: [.init(code: .fieldCut)]),
    FaultRule(
      clauses: .init(v5_0: "U5-2.2.2.2-1"), expected: "properties that the packet may carry",
      patterns: [.init(code: .propertyNotAllowed)], subject: carriers, connect: .always,
      doubts: unread),
    FaultRule(
      clauses: .init(v5_0: "U5-2.2.2.2-2"), expected: "properties that there are, each as a whole",
      patterns: [
        .init(code: .unknownProperty, fields: [.properties, .willProperties]),
        .init(code: .propertyCut, fields: [.properties, .willProperties]),
      ], subject: carriers, connect: .always, doubts: cutProperties),
  ]

  private static let carriers: Subject = .types([
    .connack, .publish, .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback, .unsubscribe,
    .unsuback, .disconnect, .auth,
  ])

  private static let propertyTexts: [FaultRule] = [
    FaultRule(
      clauses: .init(v5_0: "MQTT-1.5.7-1"), expected: "name and value of a User Property as UTF-8",
      patterns: [
        .init(
          code: .invalidUTF8, fields: [.properties, .willProperties], properties: [.userProperty]),
        .init(
          code: .nullCharacter, fields: [.properties, .willProperties],
          properties: [.userProperty]),
      ],
      subject: .property(
        .userProperty,
        of: [
          .connack, .publish, .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback,
          .unsubscribe, .unsuback, .disconnect, .auth,
        ]), connect: .property(.userProperty)),
    text("MQTT-3.3.2-13", .responseTopic, .invalidUTF8, "a Response Topic in UTF-8"),
    text("MQTT-3.3.2-14", .responseTopic, .wildcardInTopic, "a Response Topic without + and #"),
    text("MQTT-3.3.2-19", .contentType, .invalidUTF8, "a Content Type in UTF-8"),
  ]

  /// A rule about the text of a property of PUBLISH.
  private static func text(
    _ id: String, _ property: MQTTPropertyID, _ code: MQTTFault.Code, _ expected: String
  ) -> FaultRule {
    FaultRule(
      clauses: .init(v5_0: id), expected: expected,
      patterns: [.init(code: code, fields: [.properties], properties: [property])],
      subject: .property(property, of: [.publish]))
  }

  // MARK: At most once, and with a value that there is

  private static let ofConnect: [FaultRule] = [
    inConnect("U5-3.1.2.11.2-1", .sessionExpiryInterval),
    inConnect("U5-3.1.2.11.3-1", .receiveMaximum, "1 or more"),
    inConnect("U5-3.1.2.11.4-1", .maximumPacketSize, "1 or more"),
    inConnect("U5-3.1.2.11.5-1", .topicAliasMaximum),
    inConnect("U5-3.1.2.11.6-1", .requestResponseInformation, "0 or 1"),
    inConnect("U5-3.1.2.11.7-1", .requestProblemInformation, "0 or 1"),
    inConnect("U5-3.1.2.11.9-1", .authenticationMethod),
  ]

  private static let ofWill: [FaultRule] = [
    inWill("U5-3.1.3.2.2-1", .willDelayInterval),
    inWill("U5-3.1.3.2.4-1", .messageExpiryInterval), inWill("U5-3.1.3.2.5-1", .contentType),
    inWill("U5-3.1.3.2.6-1", .responseTopic), inWill("U5-3.1.3.2.7-1", .correlationData),
  ]

  private static let ofConnack: [FaultRule] = [
    inPacket("U5-3.2.2.3.2-1", .sessionExpiryInterval, [.connack]),
    inPacket("U5-3.2.2.3.3-1", .receiveMaximum, [.connack], "1 or more"),
    inPacket("U5-3.2.2.3.4-1", .maximumQoS, [.connack], "0 or 1"),
    inPacket("U5-3.2.2.3.5-1", .retainAvailable, [.connack], "0 or 1"),
    inPacket("U5-3.2.2.3.6-1", .maximumPacketSize, [.connack], "1 or more"),
    inPacket("U5-3.2.2.3.7-1", .assignedClientIdentifier, [.connack]),
    inPacket("U5-3.2.2.3.8-1", .topicAliasMaximum, [.connack]),
    inPacket("U5-3.2.2.3.9-1", .reasonString, [.connack]),
    inPacket("U5-3.2.2.3.11-1", .wildcardSubscriptionAvailable, [.connack], "0 or 1"),
    inPacket("U5-3.2.2.3.12-1", .subscriptionIdentifierAvailable, [.connack], "0 or 1"),
    inPacket("U5-3.2.2.3.13-1", .sharedSubscriptionAvailable, [.connack], "0 or 1"),
    inPacket("U5-3.2.2.3.14-1", .serverKeepAlive, [.connack]),
    inPacket("U5-3.2.2.3.15-1", .responseInformation, [.connack]),
    inPacket("U5-3.2.2.3.16-1", .serverReference, [.connack]),
    inPacket("U5-3.2.2.3.17-1", .authenticationMethod, [.connack]),
    inPacket("U5-3.2.2.3.18-1", .authenticationData, [.connack]),
  ]

  private static let ofOthers: [FaultRule] = [
    FaultRule(
      clauses: .init(v5_0: "MQTT-3.3.2-8"), expected: "a Topic Alias above 0",
      patterns: [
        .init(code: .invalidPropertyValue, fields: [.properties], properties: [.topicAlias])
      ], subject: .property(.topicAlias, of: [.publish])),
    once("U5-3.3.2.3.4-1", .topicAlias, [.publish]),
    once("U5-3.3.2.3.5-1", .responseTopic, [.publish]),
    once("U5-3.3.2.3.6-1", .correlationData, [.publish]),
    once("U5-3.3.2.3.9-1", .contentType, [.publish]),
    FaultRule(
      clauses: .init(v5_0: "U5-3.3.2.3.8-1"), expected: "a Subscription Identifier above 0",
      patterns: [
        .init(
          code: .invalidPropertyValue, fields: [.properties],
          properties: [.subscriptionIdentifier])
      ], subject: .property(.subscriptionIdentifier, of: [.publish])),
    inPacket("U5-3.8.2.1.2-1", .subscriptionIdentifier, [.subscribe], "above 0"),
    inPacket("U5-3.4.2.2.2-1", .reasonString, [.puback]),
    inPacket("U5-3.5.2.2.2-1", .reasonString, [.pubrec]),
    inPacket("U5-3.6.2.2.2-1", .reasonString, [.pubrel]),
    inPacket("U5-3.7.2.2.2-1", .reasonString, [.pubcomp]),
    inPacket("U5-3.9.2.1.2-1", .reasonString, [.suback]),
    inPacket("U5-3.11.2.1.2-1", .reasonString, [.unsuback]),
    inPacket("U5-3.14.2.2.2-1", .sessionExpiryInterval, [.disconnect]),
    inPacket("U5-3.14.2.2.3-1", .reasonString, [.disconnect]),
    inPacket("U5-3.14.2.2.5-1", .serverReference, [.disconnect]),
    inPacket("U5-3.15.2.2.3-1", .authenticationData, [.auth]),
    inPacket("U5-3.15.2.2.4-1", .reasonString, [.auth]),
  ]

  private static func inConnect(
    _ id: String, _ property: MQTTPropertyID, _ values: String? = nil
  ) -> FaultRule {
    FaultRule(
      clauses: .init(v5_0: id), expected: wanted(property, values),
      patterns: patterns(property, in: .properties, hasValues: values != nil),
      connect: .property(property))
  }

  private static func inWill(_ id: String, _ property: MQTTPropertyID) -> FaultRule {
    FaultRule(
      clauses: .init(v5_0: id), expected: wanted(property, nil),
      patterns: patterns(property, in: .willProperties, hasValues: false),
      connect: .willProperty(property))
  }

  private static func inPacket(
    _ id: String, _ property: MQTTPropertyID, _ types: [MQTTPacketType], _ values: String? = nil
  ) -> FaultRule {
    FaultRule(
      clauses: .init(v5_0: id), expected: wanted(property, values),
      patterns: patterns(property, in: .properties, hasValues: values != nil),
      subject: .property(property, of: types))
  }

  /// A rule about how often a property stands, whose values another clause has.
  private static func once(
    _ id: String, _ property: MQTTPropertyID, _ types: [MQTTPacketType]
  ) -> FaultRule { inPacket(id, property, types) }

  private static func patterns(
    _ property: MQTTPropertyID, in field: MQTTField, hasValues: Bool
  ) -> [Pattern] {
    let repeated = Pattern(code: .repeatedProperty, fields: [field], properties: [property])
    guard hasValues else { return [repeated] }
    return [
      repeated, Pattern(code: .invalidPropertyValue, fields: [field], properties: [property]),
    ]
  }

  private static func wanted(_ property: MQTTPropertyID, _ values: String?) -> String {
    "\(property.name) once at most" + (values.map { ", with the value \($0)" } ?? "")
  }
}

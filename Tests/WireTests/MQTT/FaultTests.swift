import Testing
import Wire

/// A packet that breaks one rule, and where the fault is to be noted.
struct FaultCase: Sendable, CustomTestStringConvertible {
  let code: MQTTFault.Code
  let version: MQTTVersion
  let bytes: [UInt8]
  let field: MQTTField
  let offset: Int
  let property: MQTTPropertyID?

  init(
    _ code: MQTTFault.Code, _ version: MQTTVersion, _ text: String, _ field: MQTTField,
    _ offset: Int, _ property: MQTTPropertyID? = nil
  ) {
    self.code = code
    self.version = version
    bytes = hex(text)
    self.field = field
    self.offset = offset
    self.property = property
  }

  var testDescription: String { "\(code.rawValue) \(version) \(bytes.hexDescription)" }

  private static let mqtt = "0004 4D515454"

  static let all: [FaultCase] = headers + texts + connects + lists + properties

  private static let headers: [FaultCase] = [
    .init(.fieldCut, .v3_1_1, "30 02 0005", .topic, 2),
    .init(.fieldCut, .v3_1_1, "32 04 0001 74 00", .packetID, 5),
    .init(.fieldCut, .v3_1_1, "20 00", .acknowledgeFlags, 2),
    .init(.fieldCut, .v3_1_1, "20 01 00", .reasonCode, 3),
    .init(.fieldCut, .v3_1_1, "40 00", .packetID, 2),
    .init(.fieldCut, .v3_1_1, "82 05 0001 0001 61", .subscriptionOptions, 7),
    .init(.noPropertyLength, .v5_0, "82 02 0001", .properties, 4),
    .init(.fieldCut, .v3_1_1, "10 06 \(mqtt)", .protocolLevel, 8),
    .init(.fieldCut, .v3_1_1, "10 07 \(mqtt) 04", .connectFlags, 9),
    .init(.fieldCut, .v3_1_1, "10 09 \(mqtt) 04 02 00", .keepAlive, 10),
    .init(.fieldCut, .v3_1_1, "10 0A \(mqtt) 04 02 003C", .clientID, 12),
    .init(.fieldCut, .v3_1_1, "10 0D \(mqtt) 04 06 003C 0001 63", .willTopic, 15),
    .init(.fieldCut, .v3_1_1, "10 10 \(mqtt) 04 06 003C 0001 63 0001 74", .willPayload, 18),
    .init(.fieldCut, .v3_1_1, "10 0D \(mqtt) 04 82 003C 0001 63", .username, 15),
    .init(.fieldCut, .v5_0, "10 0E \(mqtt) 05 42 003C 00 0001 63", .password, 16),
    .init(.trailingBytes, .v3_1_1, "C0 01 00", .payload, 2),
    .init(.trailingBytes, .v3_1_1, "40 03 0001 00", .payload, 4),
    .init(.trailingBytes, .v3_1_1, "E0 01 00", .payload, 2),
    .init(.trailingBytes, .v5_0, "40 05 0001 00 00 00", .payload, 6),
    .init(.trailingBytes, .v3_1_1, "10 0E \(mqtt) 04 02 003C 0001 63 00", .payload, 15),
    .init(.trailingBytes, .v3_1_1, "B0 03 0001 00", .payload, 4),
    .init(.reservedType, .v5_0, "00 00", .fixedHeader, 0),
    .init(.reservedType, .v3_1_1, "F0 00", .fixedHeader, 0),
    .init(.reservedFlags, .v3_1_1, "C1 00", .fixedHeader, 0),
    .init(.reservedFlags, .v5_0, "60 02 0001", .fixedHeader, 0),
    .init(.lengthNotShortest, .v5_0, "C0 80 00", .remainingLength, 1),
    .init(.invalidQoS, .v3_1_1, "36 05 0001 74 0001", .fixedHeader, 0),
    .init(.dupAtQoS0, .v3_1_1, "38 03 0001 74", .fixedHeader, 0),
    .init(.zeroPacketID, .v3_1_1, "40 02 0000", .packetID, 2),
    .init(.zeroPacketID, .v5_0, "32 06 0001 74 0000 00", .packetID, 5),
  ]

  private static let texts: [FaultCase] = [
    .init(.invalidUTF8, .v3_1_1, "30 05 0003 74 FF 74", .topic, 5),
    .init(.nullCharacter, .v3_1_1, "30 05 0003 74 74 00", .topic, 6),
    .init(.invalidUTF8, .v3_1_1, "10 10 \(mqtt) 04 82 003C 0001 63 0001 C0", .username, 17),
    .init(.wildcardInTopic, .v3_1_1, "30 05 0003 612F23", .topic, 6),
    .init(
      .wildcardInTopic, .v3_1_1, "10 12 \(mqtt) 04 06 003C 0001 63 0001 2B 0000", .willTopic, 17),
    .init(.emptyTopic, .v3_1_1, "30 02 0000", .topic, 2),
    .init(.emptyTopic, .v5_0, "30 03 0000 00", .topic, 2),
    .init(.emptyTopic, .v3_1_1, "10 11 \(mqtt) 04 06 003C 0001 63 0000 0000", .willTopic, 15),
    .init(.emptyTopic, .v3_1_1, "82 05 0001 0000 00", .filter, 4),
  ]

  private static let connects: [FaultCase] = [
    .init(
      .unknownProtocolName, .v3_1_1, "10 0D 0004 4D515458 04 02 003C 0001 63", .protocolName, 4),
    .init(.unknownProtocolLevel, .v3_1_1, "10 0D \(mqtt) 06 02 003C 0001 63", .protocolLevel, 8),
    .init(.unknownProtocolLevel, .v3_1_1, "10 0D \(mqtt) 03 02 003C 0001 63", .protocolLevel, 8),
    .init(
      .unknownProtocolLevel, .v3_1_1, "10 0F 0006 4D5149736470 04 02 003C 0001 63", .protocolLevel,
      10),
    .init(.reservedConnectFlag, .v3_1_1, "10 0D \(mqtt) 04 03 003C 0001 63", .connectFlags, 9),
    .init(.invalidQoS, .v3_1_1, "10 12 \(mqtt) 04 1E 003C 0001 63 0001 74 0000", .connectFlags, 9),
    .init(.willQoSWithoutWill, .v3_1_1, "10 0D \(mqtt) 04 0A 003C 0001 63", .connectFlags, 9),
    .init(.willRetainWithoutWill, .v3_1_1, "10 0D \(mqtt) 04 22 003C 0001 63", .connectFlags, 9),
    .init(
      .passwordWithoutUserName, .v3_1_1, "10 10 \(mqtt) 04 42 003C 0001 63 0001 70", .connectFlags,
      9),
    .init(.emptyClientID, .v3_1_1, "10 0C \(mqtt) 04 00 003C 0000", .clientID, 12),
    .init(.emptyClientID, .v3_1, "10 0E 0006 4D5149736470 03 02 003C 0000", .clientID, 14),
    .init(
      .longClientID, .v3_1,
      "10 26 0006 4D5149736470 03 02 003C 0018" + String(repeating: "61", count: 24), .clientID, 16),
    .init(.reservedConnackFlags, .v3_1_1, "20 02 02 00", .acknowledgeFlags, 2),
    .init(.sessionPresentOnRefusal, .v3_1_1, "20 02 01 05", .acknowledgeFlags, 2),
    .init(.unknownReasonCode, .v3_1_1, "20 02 00 06", .reasonCode, 3),
  ]

  private static let lists: [FaultCase] = [
    .init(.misplacedMultiLevelWildcard, .v3_1_1, "82 08 0001 0003 612362 00", .filter, 7),
    .init(.misplacedSingleLevelWildcard, .v3_1_1, "A2 07 0001 0003 612B62", .filter, 7),
    .init(.emptyList, .v3_1_1, "82 02 0001", .filter, 4),
    .init(.emptyList, .v5_0, "A2 03 0001 00", .filter, 5),
    .init(.emptyList, .v3_1_1, "90 02 0001", .reasonCode, 4),
    .init(.reservedOptionBits, .v3_1_1, "82 06 0001 0001 61 04", .subscriptionOptions, 7),
    .init(.reservedOptionBits, .v5_0, "82 07 0001 00 0001 61 40", .subscriptionOptions, 8),
    .init(.invalidQoS, .v3_1_1, "82 06 0001 0001 61 03", .subscriptionOptions, 7),
    .init(.invalidRetainHandling, .v5_0, "82 07 0001 00 0001 61 30", .subscriptionOptions, 8),
    .init(
      .noLocalOnShared, .v5_0, "82 10 0001 00 000A 2473686172652F672F74 04", .subscriptionOptions,
      17),
    .init(.emptyShareName, .v5_0, "82 0D 0001 00 0007 2473686172652F 00", .filter, 14),
    .init(.badShareName, .v5_0, "82 0E 0001 00 0008 2473686172652F67 00", .filter, 15),
    .init(.badShareName, .v5_0, "82 0F 0001 00 0009 2473686172652F672F 00", .filter, 15),
    .init(.badShareName, .v5_0, "82 11 0001 00 000B 2473686172652F672B2F74 00", .filter, 15),
    .init(
      .misplacedMultiLevelWildcard, .v5_0, "82 11 0001 00 000B 2473686172652F672F6123 00", .filter,
      17),
    .init(.unknownReasonCode, .v3_1_1, "90 04 0001 00 03", .reasonCode, 5),
    .init(.unknownReasonCode, .v3_1, "90 03 0001 80", .reasonCode, 4),
    .init(.unknownReasonCode, .v5_0, "40 03 0001 92", .reasonCode, 4),
  ]

  private static let properties: [FaultCase] = [
    .init(.unknownProperty, .v5_0, "40 05 0001 00 01 7F", .properties, 6),
    .init(.unknownProperty, .v5_0, "40 06 0001 00 02 FF 00", .properties, 6),
    .init(.propertyNotAllowed, .v5_0, "40 07 0001 00 03 23 0001", .properties, 6, .topicAlias),
    .init(
      .repeatedProperty, .v5_0, "40 0C 0001 00 08 1F 0001 61 1F 0001 61", .properties, 10,
      .reasonString),
    .init(.invalidPropertyValue, .v5_0, "30 07 0001 74 03 23 0000", .properties, 6, .topicAlias),
    .init(.propertyCut, .v5_0, "40 06 0001 00 02 1F 00", .properties, 6, .reasonString),
    .init(.propertyCut, .v5_0, "40 06 0001 00 02 9F 00", .properties, 6, .reasonString),
    .init(
      .lengthNotShortest, .v5_0, "40 0A 0001 00 06 9F 00 0002 6162", .properties, 6, .reasonString),
    .init(.noPropertyLength, .v5_0, "20 02 00 00", .properties, 4),
    .init(
      .noPropertyLength, .v5_0, "10 0E \(mqtt) 05 06 003C 00 0001 63", .willProperties, 16),
  ]
}

@Suite struct FaultTests {
  @Test(arguments: FaultCase.all) func notesWhatAndWhere(_ broken: FaultCase) throws {
    let decoded = try #require(Decoded(broken.bytes, broken.version))
    let fault = MQTTFault(broken.code, in: broken.field, at: broken.offset, of: broken.property)
    #expect(decoded.faults == [fault])
  }

  @Test func everyRuleIsProvoked() {
    #expect(Set(FaultCase.all.map(\.code)) == Set(MQTTFault.Code.allCases))
  }

  @Test func everyFieldIsProvoked() {
    #expect(Set(FaultCase.all.map(\.field)) == Set(MQTTField.allCases))
  }

  /// Two wildcards of a filter may be misplaced, each in its own way.
  @Test func notesBothWildcards() throws {
    let decoded = try #require(Decoded(hex("82 0A 0001 0005 612B2F6223 00"), .v3_1_1))
    #expect(
      decoded.faults == [
        MQTTFault(.misplacedSingleLevelWildcard, in: .filter, at: 7),
        MQTTFault(.misplacedMultiLevelWildcard, in: .filter, at: 10),
      ])
  }

  /// What is no shared subscription, or is compared with one only.
  @Test(arguments: [
    ("82 0B 0001 00 0005 2473686172 00", MQTTVersion.v5_0),
    ("82 0C 0001 00 0006 247368617265 00", .v5_0),
    ("A2 0C 0001 00 0007 2473686172652F", .v5_0), ("82 0C 0001 0007 2473686172652F 00", .v3_1_1),
    ("82 10 0001 00 000A 2473686172652F672F23 00", .v5_0),
  ]) func blamesNoOtherFilter(_ text: String, _ version: MQTTVersion) throws {
    #expect(try #require(Decoded(hex(text), version)).faults == [])
  }

  /// A Topic Alias may stand behind what can't be read (5.0 section 3.3.2.1).
  @Test(arguments: [
    ("30 08 0000 05 04 00 23 0001", [MQTTFault(.unknownProperty, in: .properties, at: 5)]),
    ("30 05 0000 02 08 00", [MQTTFault(.propertyCut, in: .properties, at: 5, of: .responseTopic)]),
    ("30 06 0000 03 23 0001", []),
    ("30 05 0000 02 01 01", [MQTTFault(.emptyTopic, in: .topic, at: 2)]),
  ]) func leavesAnEmptyTopicAlone(_ text: String, _ faults: [MQTTFault]) throws {
    #expect(try #require(Decoded(hex(text), .v5_0)).faults == faults)
  }

  @Test func everyRuleHasItsOwnNameAndSentence() {
    let codes = MQTTFault.Code.allCases
    #expect(Set(codes.map(\.message)).count == codes.count)
    #expect(codes.allSatisfy { $0.rawValue.allSatisfy { $0.isLowercase || "-08".contains($0) } })
    let fault = MQTTFault(.zeroPacketID, in: .packetID, at: 2)
    #expect(fault.description == "the packet identifier is 0 (packetID, byte 2)")
  }
}

import Testing
import Wire

@testable import Driver

/// What the CONNACK of a broker says that it can do, and can't.
@Suite("What a broker says that it can do")
struct BrokerAbilitiesTests {
  /// A property, and what it takes away and gives.
  struct Limit: Sendable, CustomTestStringConvertible {
    let property: MQTTPropertyID
    let value: Int
    let takes: Set<String>
    let gives: Set<String>
    var testDescription: String { "\(property.name) \(value)" }
  }

  /// Those of a broker that names no limit but aliases, which need one to be there.
  private static let unlimited: Set<String> = [
    "retain", "qos1", "qos2", "wildcards", "shared", "identifiers", "aliases", "sessions", "alone",
    "authentication",
  ]

  private static let limits: [Limit] = [
    Limit(property: .maximumQoS, value: 1, takes: ["qos2"], gives: ["no-qos2"]),
    Limit(property: .maximumQoS, value: 0, takes: ["qos1", "qos2"], gives: ["no-qos2"]),
    Limit(property: .retainAvailable, value: 0, takes: ["retain"], gives: ["no-retain"]),
    Limit(property: .retainAvailable, value: 1, takes: [], gives: []),
    Limit(
      property: .wildcardSubscriptionAvailable, value: 0, takes: ["wildcards"],
      gives: ["no-wildcards"]),
    Limit(
      property: .sharedSubscriptionAvailable, value: 0, takes: ["shared"], gives: ["no-shared"]),
    Limit(
      property: .subscriptionIdentifierAvailable, value: 0, takes: ["identifiers"],
      gives: ["no-identifiers"]),
    Limit(property: .maximumPacketSize, value: 299_999, takes: [], gives: ["packet-limit"]),
    Limit(property: .maximumPacketSize, value: 300_000, takes: [], gives: []),
    Limit(property: .sessionExpiryInterval, value: 0, takes: ["sessions"], gives: []),
  ]

  /// The abilities that cases can need of a broker that answers so, and why the others are missing.
  private static func abilities(
    _ properties: [MQTTProperty]
  ) throws -> (there: Set<String>, reasons: [String: String]) {
    var abilities = BrokerAbilities()
    let answer = try answer(.init(properties: properties), .v5_0)
    try abilities.take(.v5_0, answer, in: "abilities.v5")
    var there: Set<String> = []
    var reasons: [String: String] = [:]
    for ability in CaseKind.broker.abilities.map(\.rawValue) {
      let text = """
        {"name":"x","title":"t","clauses":["MQTT-3.2.0-1"],"needs":["\(ability)"],"versions":["5.0"],
         "steps":[{"do":"connect","client":"a"}]}
        """
      let driven = try #require(try CaseLibrary.read(Array(text.utf8), .broker, "f.json").first)
      let plan = try #require(CasePlan.plans(of: driven, in: [.v5_0]).first)
      if let why = abilities.obstacle(to: plan) {
        reasons[ability] = why
      } else {
        there.insert(ability)
      }
    }
    return (there, reasons)
  }

  /// A CONNACK, as it is heard.
  private static func answer(_ connack: MQTTPacket.Connack, _ version: MQTTVersion) throws
    -> FirstAnswer
  {
    let bytes = try MQTTPacket(.connack(connack), version: version).encoded()
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else {
      throw MQTTEncodingError.packetTooLarge(bytes: bytes.count)
    }
    return .connack(
      HeardPacket(MQTTPacketView(bytes.span.bytes, header: header, version: version)))
  }

  @Test(
    "A broker that is busy is driven later, and not taken for one that lacks a version",
    arguments: [
      (3, MQTTVersion.v3_1_1), (0x88, .v5_0), (0x89, .v5_0), (0x97, .v5_0), (0x9F, .v5_0),
    ] as [(UInt8, MQTTVersion)])
  func busy(_ code: UInt8, _ version: MQTTVersion) throws {
    var abilities = BrokerAbilities()
    let answer = try Self.answer(.init(code: code), version)
    let error = try #require(throws: DriverError.self) {
      try abilities.take(version, answer, in: "abilities")
    }
    #expect(error.code == .refused)
    #expect(
      error.message
        == "the broker takes nobody now (CONNACK code \(code) to MQTT \(version.number)); try again when it "
        + "does, or leave that version out by --spec")
    #expect(abilities.missingVersions == [:])
  }

  @Test(
    "A broker that refuses a version is not driven in it",
    arguments: [(1, .v3_1_1), (0x84, .v5_0), (0x9C, .v5_0)] as [(UInt8, MQTTVersion)])
  func lacksVersion(_ code: UInt8, _ version: MQTTVersion) throws {
    var abilities = BrokerAbilities()
    try abilities.take(version, Self.answer(.init(code: code), version), in: "abilities")
    #expect(
      abilities.missingVersions == [
        version: "the broker refuses MQTT \(version.number) by CONNACK code \(code), see abilities"
      ])
  }

  @Test("A broker without limits is asked for nothing that is beyond one")
  func unlimited() throws {
    let (there, reasons) = try Self.abilities([.init(.topicAliasMaximum, .integer(10))])
    #expect(there == Self.unlimited)
    #expect(
      reasons == [
        "no-qos2": "its CONNACK allows QoS 2, see abilities.v5",
        "no-retain": "its CONNACK allows retained messages, see abilities.v5",
        "no-wildcards": "its CONNACK allows wildcards, see abilities.v5",
        "no-shared": "its CONNACK allows shared subscriptions, see abilities.v5",
        "no-identifiers": "its CONNACK allows identifiers of subscriptions, see abilities.v5",
        "packet-limit": "its CONNACK allows packets of 300 kB, see abilities.v5",
      ])
  }

  @Test("A limit takes an ability away, and has what is beyond it asked for", arguments: limits)
  func limited(_ limit: Limit) throws {
    let (there, reasons) = try Self.abilities([
      .init(.topicAliasMaximum, .integer(10)), .init(limit.property, .integer(limit.value)),
    ])
    #expect(there == Self.unlimited.subtracting(limit.takes).union(limit.gives))
    for ability in limit.takes {
      #expect(
        reasons[ability]
          == "its CONNACK says \(limit.property.name) \(limit.value), see abilities.v5")
    }
  }
}

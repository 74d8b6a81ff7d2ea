import RepriseCore
package import Wire

/// What came first for a CONNECT.
enum FirstAnswer {
  case connack(HeardPacket)
  /// An AUTH that asks for data which is not there, behind so many that were answered.
  case authentication(answered: Int)
  case nothing
}

/// What a broker said that it can't do, when it was asked first, and what it can do besides, where a case asks for what
/// it can't.
package struct BrokerAbilities: Sendable {
  /// Why it is not driven in a version; nothing for those that it speaks.
  package private(set) var missingVersions: [MQTTVersion: String] = [:]
  private var missing: [CaseAbility: String] = [:]
  /// As many bytes are in a packet that a case sends to go beyond the largest.
  private static let largePacket = 300_000

  /// Takes note that no broker can be started for a case.
  mutating func noteIsShared() {
    missing[.alone] = "it takes a broker that nobody else uses, which --launch starts"
  }

  /// Takes note that no method of authentication is known.
  mutating func noteHasNoMethod() {
    missing[.authentication] = "it takes a method that the broker knows, see --auth-method"
  }

  /// Says why a plan can't be run; nil where it can.
  package func obstacle(to plan: CasePlan) -> String? {
    plan.version.flatMap { missingVersions[$0] }
      ?? plan.driven.needs.lazy.compactMap { missing[$0] }.first
  }

  /// Takes the answer to the first CONNECT of a version.
  /// - Parameters:
  ///   - version: The version.
  ///   - answer: What came.
  ///   - file: The recording that holds it.
  /// - Throws: ``DriverError`` where the broker lets nobody in by what was given.
  mutating func take(
    _ version: MQTTVersion, _ answer: FirstAnswer, in file: String
  ) throws(DriverError) {
    let name = version.number
    switch answer {
    case .nothing:
      missingVersions[version] = "the broker answers no CONNECT of MQTT \(name), see \(file)"
    case .authentication(let answered):
      throw DriverError(
        .refused,
        "the broker asks for more by AUTH number \(answered + 1), for which there is no --auth-data; "
          + "add the file that answers it behind the \(answered + 1) that are given")
    case .connack(let connack): try takeConnack(connack, version, in: file)
    }
  }

  private mutating func takeConnack(
    _ answer: HeardPacket, _ version: MQTTVersion, in file: String
  ) throws(DriverError) {
    let name = version.number
    guard answer.code == 0 else {
      // Not authorised, a bad user name or password, or a bad method of authentication, by either version (3.1.1 section
      // 3.2.2.3, 5.0 section 3.2.2.2).
      if [4, 5, 0x86, 0x87, 0x8C].contains(answer.code) {
        throw DriverError(
          .refused,
          "the broker lets nobody in (CONNACK code \(answer.code) to MQTT \(name)); add --username and "
            + "--password-file, or --auth-method"
        )
      }
      // Server unavailable, server busy, quota exceeded or too many connections, which all pass: nothing of what the broker
      // can do shows then, and no version of it is missing.
      if [3, 0x88, 0x89, 0x97, 0x9F].contains(answer.code) {
        throw DriverError(
          .refused,
          "the broker takes nobody now (CONNACK code \(answer.code) to MQTT \(name)); try again "
            + "when it does, or leave that version out by --spec")
      }
      missingVersions[version] =
        "the broker refuses MQTT \(name) by CONNACK code \(answer.code), see \(file)"
      return
    }
    guard version == .v5_0, case .connack(let connack) = answer.content else { return }
    note(connack.properties, in: file)
  }

  private mutating func note(_ properties: [MQTTProperty], in file: String) {
    func miss(_ ability: CaseAbility, _ id: MQTTPropertyID, _ value: Int) {
      missing[ability] = "its CONNACK says \(id.name) \(value), see \(file)"
    }
    func grant(_ ability: CaseAbility, _ what: String) {
      missing[ability] = "its CONNACK allows \(what), see \(file)"
    }
    let flags: [(can: CaseAbility, cannot: CaseAbility, MQTTPropertyID, String)] = [
      (.retain, .noRetain, .retainAvailable, "retained messages"),
      (.wildcards, .noWildcards, .wildcardSubscriptionAvailable, "wildcards"),
      (.shared, .noShared, .sharedSubscriptionAvailable, "shared subscriptions"),
      (
        .identifiers, .noIdentifiers, .subscriptionIdentifierAvailable,
        "identifiers of subscriptions"
      ),
    ]
    for (can, cannot, id, what) in flags {
      if properties.integer(id) == 0 { miss(can, id, 0) } else { grant(cannot, what) }
    }
    if let most = properties.integer(.maximumQoS) {
      miss(.qos2, .maximumQoS, most)
      if most == 0 { miss(.qos1, .maximumQoS, most) }
    } else {
      grant(.noQoS2, "QoS 2")
    }
    if properties.integer(.maximumPacketSize) ?? .max >= Self.largePacket {
      grant(.packetLimit, "packets of 300 kB")
    }
    if properties.integer(.topicAliasMaximum) ?? 0 == 0 {
      missing[.aliases] = "its CONNACK allows no topic alias, see \(file)"
    }
    if properties.integer(.sessionExpiryInterval) == 0 {
      miss(.sessions, .sessionExpiryInterval, 0)
    }
  }

  /// The case that asks for them.
  static func asking() throws(DriverError) -> DrivenCase {
    try DrivenCase(
      [
        "name": "abilities", "title": "What the broker says of itself.",
        "clauses": ["MQTT-3.2.0-1"], "seconds": 10,
        "steps": [
          [
            "do": "connect", "client": "a", "properties": ["sessionExpiryInterval": 60],
          ], ["do": "fence", "client": "a"], ["do": "disconnect", "client": "a"],
        ],
      ], .broker, in: "abilities")
  }
}

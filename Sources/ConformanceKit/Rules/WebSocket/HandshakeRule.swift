internal import RepriseCore

/// The clauses of RFC 6455 about the opening handshake and what it agrees on.
enum HandshakeRule: Int, CaseIterable {
  // The request: sections 3, 4.1 and 11.3.
  case serverIsNamed
  case targetHasNoFragment
  case requestIsHTTP
  case requestIsGET
  case targetNamesResource
  case requestHasHost
  case requestHasUpgrade
  case requestHasConnection
  case requestHasKey
  case keyIsFresh
  case requestHasVersion
  case offersAreTokens
  case clientAwaitsAnswer
  case keyStandsOnce
  case versionStandsOnce
  // The response: sections 4.2.2, 9 and 11.3.
  case subprotocolIsOffered
  case noEmptySubprotocol
  case extensionsAreOffered
  case acceptanceIs101
  case responseHasUpgrade
  case responseHasConnection
  case acceptAnswersKey
  case serverAddsNoExtension
  case extensionsStandOnce
  case acceptStandsOnce
  case subprotocolStandsOnce
  // The extensions of either: sections 4.3, 9 and 9.1.
  case quotedValuesAreTokens
  case parametersAreDefined
  case extensionsAreRegistered
  // What only a provocation shows, which a capture may hold.
  case clientFailsWithoutUpgrade
  case clientFailsWithoutConnection
  case clientFailsOnAccept
  case clientFailsOnExtension
  case clientFailsOnSubprotocol
  case clientFailsOnOther
  case badRequestIsRefused
  case otherVersionIsRefused
  case versionsAreNamed
  case badExtensionsFail

  /// The identifier in the catalogue.
  var clause: String {
    switch self {
    case .serverIsNamed: "RFC6455-4.1-5"
    case .targetHasNoFragment: "RFC6455-3-1"
    case .requestIsHTTP: "RFC6455-4.1-6"
    case .requestIsGET: "RFC6455-4.1-7"
    case .targetNamesResource: "RFC6455-4.1-8"
    case .requestHasHost: "RFC6455-4.1-9"
    case .requestHasUpgrade: "RFC6455-4.1-10"
    case .requestHasConnection: "RFC6455-4.1-11"
    case .requestHasKey: "RFC6455-4.1-12"
    case .keyIsFresh: "RFC6455-4.1-13"
    case .requestHasVersion: "RFC6455-4.1-15"
    case .offersAreTokens: "RFC6455-4.1-16"
    case .clientAwaitsAnswer: "RFC6455-4.1-17"
    case .keyStandsOnce: "RFC6455-11.3.1-1"
    case .versionStandsOnce: "RFC6455-11.3.5-1"
    case .subprotocolIsOffered: "RFC6455-4.2.2-5"
    case .noEmptySubprotocol: "RFC6455-4.2.2-6"
    case .extensionsAreOffered: "RFC6455-4.2.2-7"
    case .acceptanceIs101: "RFC6455-4.2.2-8"
    case .responseHasUpgrade: "RFC6455-4.2.2-9"
    case .responseHasConnection: "RFC6455-4.2.2-10"
    case .acceptAnswersKey: "RFC6455-4.2.2-11"
    case .serverAddsNoExtension: "RFC6455-9-1"
    case .extensionsStandOnce: "RFC6455-11.3.2-1"
    case .acceptStandsOnce: "RFC6455-11.3.3-1"
    case .subprotocolStandsOnce: "RFC6455-11.3.4-1"
    case .quotedValuesAreTokens: "RFC6455-4.3-1"
    case .parametersAreDefined: "RFC6455-9-2"
    case .extensionsAreRegistered: "RFC6455-9.1-2"
    case .clientFailsWithoutUpgrade: "RFC6455-4.1-18"
    case .clientFailsWithoutConnection: "RFC6455-4.1-19"
    case .clientFailsOnAccept: "RFC6455-4.1-20"
    case .clientFailsOnExtension: "RFC6455-4.1-21"
    case .clientFailsOnSubprotocol: "RFC6455-4.1-22"
    case .clientFailsOnOther: "RFC6455-4.1-23"
    case .badRequestIsRefused: "RFC6455-4.2.1-1"
    case .otherVersionIsRefused: "RFC6455-4.2.2-3"
    case .versionsAreNamed: "RFC6455-4.4-1"
    case .badExtensionsFail: "RFC6455-9.1-1"
    }
  }

  /// The rule's place in the counters: behind the rules of MQTT.
  var index: RuleIndex { RuleIndex(value: WebSocketJudge.base + rawValue) }
}

extension Tally {
  mutating func satisfy(_ rule: HandshakeRule, _ hearing: Hearing) { satisfy(rule.index, hearing) }

  mutating func leave(
    _ rule: HandshakeRule, _ reason: UndecidedReason, _ hearing: Hearing, at moment: Moment? = nil
  ) {
    leave(rule.index, reason, hearing, at: moment)
  }

  mutating func violate(
    _ rule: HandshakeRule, _ event: borrowing EventView, _ hearing: Hearing,
    _ text: @autoclosure () -> FindingText
  ) {
    violate(rule.index, event, hearing, text())
  }
}

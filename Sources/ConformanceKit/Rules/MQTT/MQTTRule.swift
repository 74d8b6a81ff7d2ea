internal import RepriseCore

/// The rules of MQTT that take the state of a connection; each is a fold over its events.
enum MQTTRule: Int, CaseIterable {
  case answersKeepIdentifiers
  case firstIsConnect
  case keepAlive
  case refusedIdentifierCloses
  case connectIsAnswered
  case firstIsConnack
  case cleanSessionIsNew
  case refusalCloses
  case topicMatchesFilter
  case publishIsAnswered
  case subscribeIsAnswered
  case subackKeepsIdentifier
  case subackHasCodePerFilter
  case subackKeepsOrder
  case unsubscribeCompletesDelivery
  case unsubscribeIsAnswered
  case emptyUnsubscribeIsAnswered
  case unsubscribeIsAnsweredOnce
  case pingIsAnswered
  case clientClosesAfterDisconnect
  case nothingAfterDisconnect
  case clientAnswersPublish
  case pubacksInOrder
  case pubrecsInOrder
  case pubrelsInOrder
  case packetsInBinaryFrames
  case receiverCopesWithFrames
  case clientOffersMQTT
  case serverAnswersMQTT
  // What only a provocation shows, which a capture may hold.
  case wrongFlagsClose
  case secondConnectCloses
  case refusedLevelCloses
  case reservedConnectFlagCloses
  case keepAliveIsEnforced
  case plainIdentifierIsAllowed
  case emptyIdentifierIsRefused
  case connectIsValidated
  case refusedIsNotServed
  case connackCodeIsDefined
  case badOptionsClose
  case disconnectFlagsClose
  case violationCloses

  /// The clauses that it judges.
  var clauses: ClauseIDs {
    switch self {
    case .answersKeepIdentifiers: ClauseIDs(v3_1_1: "MQTT-2.3.1-7")
    case .firstIsConnect: ClauseIDs(v3_1_1: "MQTT-3.1.0-1")
    case .keepAlive: ClauseIDs(v3_1_1: "MQTT-3.1.2-23")
    case .refusedIdentifierCloses: ClauseIDs(v3_1_1: "MQTT-3.1.3-9")
    case .connectIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.1.4-4")
    case .firstIsConnack: ClauseIDs(v3_1_1: "MQTT-3.2.0-1")
    case .cleanSessionIsNew: ClauseIDs(v3_1_1: "MQTT-3.2.2-1")
    case .refusalCloses: ClauseIDs(v3_1_1: "MQTT-3.2.2-5")
    case .topicMatchesFilter: ClauseIDs(v3_1_1: "MQTT-3.3.2-3")
    case .publishIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.3.4-1")
    case .subscribeIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.8.4-1")
    case .subackKeepsIdentifier: ClauseIDs(v3_1_1: "MQTT-3.8.4-2")
    case .subackHasCodePerFilter: ClauseIDs(v3_1_1: "MQTT-3.8.4-5")
    case .subackKeepsOrder: ClauseIDs(v3_1_1: "MQTT-3.9.3-1")
    case .unsubscribeCompletesDelivery: ClauseIDs(v3_1_1: "MQTT-3.10.4-3")
    case .unsubscribeIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.10.4-4")
    case .emptyUnsubscribeIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.10.4-5")
    case .unsubscribeIsAnsweredOnce: ClauseIDs(v3_1_1: "MQTT-3.10.4-6")
    case .pingIsAnswered: ClauseIDs(v3_1_1: "MQTT-3.12.4-1")
    case .clientClosesAfterDisconnect: ClauseIDs(v3_1_1: "MQTT-3.14.4-1")
    case .nothingAfterDisconnect: ClauseIDs(v3_1_1: "MQTT-3.14.4-2")
    case .clientAnswersPublish: ClauseIDs(v3_1_1: "MQTT-4.5.0-2")
    case .pubacksInOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-2")
    case .pubrecsInOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-3")
    case .pubrelsInOrder: ClauseIDs(v3_1_1: "MQTT-4.6.0-4")
    case .packetsInBinaryFrames: ClauseIDs(v3_1_1: "MQTT-6.0.0-1")
    case .receiverCopesWithFrames: ClauseIDs(v3_1_1: "MQTT-6.0.0-2")
    case .clientOffersMQTT: ClauseIDs(v3_1_1: "MQTT-6.0.0-3")
    case .serverAnswersMQTT: ClauseIDs(v3_1_1: "MQTT-6.0.0-4")
    case .wrongFlagsClose: ClauseIDs(v3_1_1: "MQTT-2.2.2-2")
    case .secondConnectCloses: ClauseIDs(v3_1_1: "MQTT-3.1.0-2")
    case .refusedLevelCloses: ClauseIDs(v3_1_1: "MQTT-3.1.2-2")
    case .reservedConnectFlagCloses: ClauseIDs(v3_1_1: "MQTT-3.1.2-3")
    case .keepAliveIsEnforced: ClauseIDs(v3_1_1: "MQTT-3.1.2-24")
    case .plainIdentifierIsAllowed: ClauseIDs(v3_1_1: "MQTT-3.1.3-5")
    case .emptyIdentifierIsRefused: ClauseIDs(v3_1_1: "MQTT-3.1.3-8")
    case .connectIsValidated: ClauseIDs(v3_1_1: "MQTT-3.1.4-1")
    case .refusedIsNotServed: ClauseIDs(v3_1_1: "MQTT-3.1.4-5")
    case .connackCodeIsDefined: ClauseIDs(v3_1_1: "MQTT-3.2.2-6")
    case .badOptionsClose: ClauseIDs(v3_1_1: "MQTT-3.8.3-4")
    case .disconnectFlagsClose: ClauseIDs(v3_1_1: "MQTT-3.14.1-1")
    case .violationCloses: ClauseIDs(v3_1_1: "MQTT-4.8.0-1")
    }
  }

  /// The rule's place in the counters: folds come first, rules of faults behind them.
  var index: RuleIndex { RuleIndex(value: rawValue) }
}

extension Tally {
  @inline(__always)
  mutating func satisfy(_ rule: MQTTRule, _ hearing: Hearing) { satisfy(rule.index, hearing) }

  @inline(__always)
  mutating func leave(
    _ rule: MQTTRule, _ reason: UndecidedReason, _ hearing: Hearing, at moment: Moment? = nil
  ) {
    leave(rule.index, reason, hearing, at: moment)
  }

  mutating func violate(
    _ rule: MQTTRule, _ event: borrowing EventView, _ hearing: Hearing,
    isOfAnyVersion: Bool = false,
    _ text: @autoclosure () -> FindingText
  ) {
    violate(rule.index, event, hearing, isOfAnyVersion: isOfAnyVersion, text())
  }
}

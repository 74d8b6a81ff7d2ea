/// The clauses of MQTT 3.1.1 that take the state of a connection; each is a fold over its events.
enum MQTT311Rule: Int, CaseIterable {
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

  var clause: String {
    switch self {
    case .answersKeepIdentifiers: "MQTT-2.3.1-7"
    case .firstIsConnect: "MQTT-3.1.0-1"
    case .keepAlive: "MQTT-3.1.2-23"
    case .refusedIdentifierCloses: "MQTT-3.1.3-9"
    case .connectIsAnswered: "MQTT-3.1.4-4"
    case .firstIsConnack: "MQTT-3.2.0-1"
    case .cleanSessionIsNew: "MQTT-3.2.2-1"
    case .refusalCloses: "MQTT-3.2.2-5"
    case .topicMatchesFilter: "MQTT-3.3.2-3"
    case .publishIsAnswered: "MQTT-3.3.4-1"
    case .subscribeIsAnswered: "MQTT-3.8.4-1"
    case .subackKeepsIdentifier: "MQTT-3.8.4-2"
    case .subackHasCodePerFilter: "MQTT-3.8.4-5"
    case .subackKeepsOrder: "MQTT-3.9.3-1"
    case .unsubscribeCompletesDelivery: "MQTT-3.10.4-3"
    case .unsubscribeIsAnswered: "MQTT-3.10.4-4"
    case .emptyUnsubscribeIsAnswered: "MQTT-3.10.4-5"
    case .unsubscribeIsAnsweredOnce: "MQTT-3.10.4-6"
    case .pingIsAnswered: "MQTT-3.12.4-1"
    case .clientClosesAfterDisconnect: "MQTT-3.14.4-1"
    case .nothingAfterDisconnect: "MQTT-3.14.4-2"
    case .clientAnswersPublish: "MQTT-4.5.0-2"
    case .pubacksInOrder: "MQTT-4.6.0-2"
    case .pubrecsInOrder: "MQTT-4.6.0-3"
    case .pubrelsInOrder: "MQTT-4.6.0-4"
    case .packetsInBinaryFrames: "MQTT-6.0.0-1"
    case .receiverCopesWithFrames: "MQTT-6.0.0-2"
    case .clientOffersMQTT: "MQTT-6.0.0-3"
    case .serverAnswersMQTT: "MQTT-6.0.0-4"
    case .wrongFlagsClose: "MQTT-2.2.2-2"
    case .secondConnectCloses: "MQTT-3.1.0-2"
    case .refusedLevelCloses: "MQTT-3.1.2-2"
    case .reservedConnectFlagCloses: "MQTT-3.1.2-3"
    case .keepAliveIsEnforced: "MQTT-3.1.2-24"
    case .plainIdentifierIsAllowed: "MQTT-3.1.3-5"
    case .emptyIdentifierIsRefused: "MQTT-3.1.3-8"
    case .connectIsValidated: "MQTT-3.1.4-1"
    case .refusedIsNotServed: "MQTT-3.1.4-5"
    case .connackCodeIsDefined: "MQTT-3.2.2-6"
    case .badOptionsClose: "MQTT-3.8.3-4"
    case .disconnectFlagsClose: "MQTT-3.14.1-1"
    case .violationCloses: "MQTT-4.8.0-1"
    }
  }

  /// The rule's place in the counters: folds come first, rules of faults behind them.
  var index: RuleIndex { RuleIndex(value: rawValue) }
}

extension Tally {
  @inline(__always)
  mutating func satisfy(_ rule: MQTT311Rule) { satisfy(rule.index) }

  @inline(__always)
  mutating func leave(_ rule: MQTT311Rule, _ reason: UndecidedReason, at moment: Moment? = nil) {
    leave(rule.index, reason, at: moment)
  }
}

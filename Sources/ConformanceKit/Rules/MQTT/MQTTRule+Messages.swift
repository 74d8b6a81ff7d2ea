internal import RepriseCore
internal import Wire

extension MQTTRule {
  /// Whether it takes two messages for one where topic and payload are the same.
  fileprivate var comparesMessages: Bool {
    switch self {
    case .clientTakesFreeIdentifier, .serverTakesFreeIdentifier, .clientRepeatsKeepIdentifier,
      .repeatsHaveDup, .serverDupIsItsOwn, .repeatsComeWithSession, .refusedIsNotRepeated,
      .qos1TakesFreeIdentifier, .qos1BeginsWithoutDup, .qos1StaysOpen, .qos2TakesFreeIdentifier,
      .qos2BeginsWithoutDup, .qos2StaysOpen, .pubrelStaysOpen, .nothingAgainBehindPubrel,
      .repeatsKeepOrder, .presentSessionIsTold, .absentSessionIsTold:
      true
    case .grantedQoSIsKept, .sharedQoSIsKept, .overlapsGetHighestQoS, .overlapsAreNumbered,
      .mergedCopyHasAllNumbers, .copiesHaveOwnNumbers, .noLocalIsKept, .unsubscribedGetsNothing,
      .liveIsNotRetained, .retainIsAsPublished, .retainedIsMarked, .newSubscriptionGetsRetained,
      .handlingSendsOnce, .handlingSendsNothing:
      true
    case .formatIsForwarded, .responseTopicIsForwarded, .correlationIsForwarded,
      .userPropertiesAreForwarded, .userPropertiesKeepOrder, .contentTypeIsForwarded,
      .expiryIsCountedDown, .orderIsKept, .everySubscriberGetsIt, .repeatIsDeliveredOnce:
      true
    case .willIsPublished, .willIsStored, .willIsRemoved, .disconnectDropsWill, .noFlagNoWill,
      .returnDropsWill, .plainWillStaysPlain, .retainedWillIsRetained:
      true
    case .retainedIsStored, .qos0ReplacesRetained, .emptyClearsRetained, .emptyIsNotStored,
      .plainIsNotStored, .retainedOutlivesSession:
      true
    default: false
    }
  }
}

extension EventView {
  /// Whether a secret is hidden in what a rule compares: messages that differ in it look the same.
  func isHidden(from rule: RuleIndex, _ version: MQTTVersion) -> Bool {
    guard case .mqtt(let packet) = body, packet.type == .publish,
      MQTTRule(rawValue: rule.value - MQTTJudge.base(of: version))?.comparesMessages == true
    else { return false }
    return packet.topic.holdsHidden || packet.payload.holdsHidden
  }
}

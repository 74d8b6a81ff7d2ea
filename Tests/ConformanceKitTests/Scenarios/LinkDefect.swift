import RepriseCore

@testable import ConformanceKit
@testable import DeviceSDK

/// What can be wrong with a link.
enum LinkDefect: String, CaseIterable, Sendable {
  // Events of states
  case statesAreToldTwice, previousStateIsLost, affectedIsLost, unrestoredIsNotTold
  case isAlwaysResumed, isNeverResumed, isNeverSuspended, reasonsAreUnknown, rejoiningIsJoining
  case streamsAreDisconnected
  // Opening and closing
  case emptyTokensStayEmpty, openingIsDoneTooEarly, formerLoginsWait, refusalsAreTriedAgain
  case unavailableIsFinal, rejectionsAreTaken, serverReasonsAreLost, greetsAlwaysAsNew
  case neverGivesUp, goodbyeIsNotSaid, comesBackByItself, intervalIsNotSaid, leavesNoWill
  // Losses
  case heartbeatsAreMissing, pongsAreNotHeard, answersItsOwnHeartbeats, heartbeatsAreMadeUpFor
  case lossesAreNotNoticed, networkIsIgnored, waitsNotBeforeNewTries, alwaysWaitsTwoSeconds
  case kicksAreLosses, kicksAreNotHeard, serviceFailureIsIgnored
  // Calls
  case sendsBeforeALogin, modulesHaveOneCode, lostCallsWait, serverCodesAreLost
  case publishIsDoneBeforeThePuback, refusedFiltersCount, usersAreNotWaitedFor
  case snapshotsAreDropped, unsubscribingIsForgotten, unsubscribingIsNotSaid, limitsAreNone
  case ownPresenceIsTold
  // The session
  case subscriptionsDoNotComeBack, statesDoNotComeBack, failuresAreForgotten
  case isConnectedBeforeAllIsBack, unrestoredStaysThere
  // Topics of stream channels
  case topicsDoNotComeBack, sourcesDoNotComeBack, topicsNeedNoJoin, orderedTopicsAreUnordered
  case leavingTopicsIsNotSaid, ownTopicsAreTold, topicEventsAreDropped, topicMessagesAreDropped
  case topicsHaveNoLimit, joinFeaturesAreLost, onePublisherIsEnough
  // Tokens
  case tokenEndIsNotTold, tokenEndIsToldTwice, endedTokensAreShown, renewedTokensAreForgotten

  /// What is wrong already with how the link is configured.
  func spoil(_ settings: LinkSettings) -> LinkSettings {
    var settings = settings
    switch self {
    case .neverGivesUp: settings.configuration.reconnectTimeout = .zero
    case .failuresAreForgotten: settings.configuration.restoresAfterFailure = true
    case .leavesNoWill: settings.configuration.leavesWill = false
    default: break
    }
    return settings
  }
}

extension WrongLink {
  // MARK: What comes out

  func spoil(_ output: Output, of input: Input) -> [Output] {
    switch output {
    case .perform(let action): spoil(action, of: input)
    case .tell(.changeState(let event)): spoil(event)
    case .tell(.warnOfToken):
      switch defect {
      case .tokenEndIsNotTold: []
      case .tokenEndIsToldTwice: [output, output]
      default: [output]
      }
    case .tell: [output]
    case .complete(let id, .failure(let error)): spoil(id, error, of: input)
    case .complete: [output]
    }
  }

  private func spoil(_ event: LinkStateEvent) -> [Output] {
    func changed(
      current: LinkState? = nil, previous: LinkState? = nil, reason: LinkReason? = nil,
      affected: [String]? = nil, unrestored: [UnrestoredChannel]? = nil, isResumed: Bool? = nil
    ) -> [Output] {
      [
        .tell(
          .changeState(
            LinkStateEvent(
              current: current ?? event.current, previous: previous ?? event.previous,
              service: event.service, operation: event.operation, reason: reason ?? event.reason,
              detail: event.detail, affected: affected ?? event.affected,
              unrestored: unrestored ?? event.unrestored, isResumed: isResumed ?? event.isResumed,
              time: event.time)))
      ]
    }
    switch (defect, event.current) {
    case (.statesAreToldTwice, _): return changed() + changed()
    case (.previousStateIsLost, _): return changed(previous: .idle)
    case (.affectedIsLost, _): return changed(affected: [])
    case (.unrestoredIsNotTold, _): return changed(unrestored: [])
    case (.isAlwaysResumed, .connected): return changed(isResumed: true)
    case (.isNeverResumed, _): return changed(isResumed: false)
    case (.isNeverSuspended, .suspended): return changed(current: .disconnected)
    case (.reasonsAreUnknown, _): return changed(reason: .unknown)
    case (.rejoiningIsJoining, _) where event.reason == .rejoin: return changed(reason: .join)
    case (.streamsAreDisconnected, .connecting) where event.service == .stream:
      return changed(current: event.previous == .connected ? .disconnected : .connecting)
    default: return changed()
    }
  }

  private func spoil(_ action: ClientAction, of input: Input) -> [Output] {
    if case .subscribe(let wanted) = action.kind {
      return [.perform(ClientAction(action.id, .subscribe(spoil(wanted))))]
    }
    guard case .publish(var message) = action.kind else { return [.perform(action)] }
    switch defect {
    case .heartbeatsAreMissing where message.topic.hasSuffix("/up/ping"): return []
    case .goodbyeIsNotSaid
    where message.topic.hasSuffix("/up/logout") || message.topic.hasSuffix("/up/leave"):
      return []
    case .unsubscribingIsNotSaid where message.topic.hasSuffix("/up/unsubscribe"): return []
    case .emptyTokensStayEmpty:
      message.replaceMember("token") { ($0.text ?? "").count > 1 ? "" : $0 }
    case .greetsAlwaysAsNew: message.replaceMember("again") { _ in .bool(false) }
    case .intervalIsNotSaid: message.replaceMember("heartbeatInterval") { _ in 0 }
    case .leavingTopicsIsNotSaid where message.topic.hasSuffix("/up/leaveTopic"): return []
    case .topicsDoNotComeBack where message.topic.hasSuffix("/up/join"):
      message.replaceMember("topics") { _ in [] }
    case .orderedTopicsAreUnordered where message.isOfTopic: message.qos = .atMostOnce
    case .joinFeaturesAreLost: message.replaceMember("features") { _ in 1 }
    case .subscriptionsDoNotComeBack: message.replaceMember("restore") { _ in [] }
    case .statesDoNotComeBack
    where message.topic.hasSuffix("/up/login") || message.topic.hasSuffix("/up/join"):
      message.replaceMember("states") { _ in [:] }
    case .renewedTokensAreForgotten where message.topic.hasSuffix("/up/login"):
      message.replaceMember("token") { _ in "t" }
    default: break
    }
    return [.perform(ClientAction(action.id, .publish(message)))]
  }

  private func spoil(_ wanted: [Subscription]) -> [Subscription] {
    let ofTopics = wanted.filter { LinkChannelTopics.parseTopic($0.filter) != nil }
    let isOpening = ofTopics.count < wanted.count
    switch defect {
    case .sourcesDoNotComeBack where isOpening: return wanted.filter { !ofTopics.contains($0) }
    case .onePublisherIsEnough where !isOpening: return Array(wanted.prefix(1))
    default: return wanted
    }
  }

  private func spoil(_ id: CallID, _ error: LinkError, of input: Input) -> [Output] {
    var error = error
    switch (defect, input) {
    case (.formerLoginsWait, _)
    where error.code == .loginCanceled || error.code == .channelJoinCanceled:
      return []
    case (.modulesHaveOneCode, _)
    where error.code == .channelNotConnected || error.code == .presenceNotConnected:
      error.code = .notConnected
    case (.lostCallsWait, .received(.closed)): return []
    case (.topicsNeedNoJoin, _) where error.code == .channelTopicNotJoined,
      (.topicsHaveNoLimit, _) where error.code == .channelExceedTopicLimitation:
      return [.complete(id, .success(()))]
    case (.sendsBeforeALogin, .called) where error.code == .notLogin:
      let message = Message(topic: "link/early", payload: [])
      let action = ClientAction(ClientAction.ID(rawValue: .max), .publish(message))
      return [.perform(action), .complete(id, .failure(error))]
    default: break
    }
    return [.complete(id, .failure(error))]
  }
}

extension Message {
  /// Whether it was published in a topic of a stream channel.
  var isOfTopic: Bool { LinkChannelTopics.parseTopic(topic) != nil }
}

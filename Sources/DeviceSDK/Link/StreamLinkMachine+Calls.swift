import RepriseCore

/// The calls of a stream channel, and how they end.
extension StreamLinkMachine: LinkStateMachine {
  static let table = LinkTable.stream
  static let service = LinkService.stream

  var ownChannel: String? { channel }
  var affectedChannels: [String] { [channel] }

  var isNotWanted: LinkError { LinkError(.channelNotJoined, "\(channel) is not joined") }

  func isDown(_ code: LinkErrorCode) -> LinkError {
    LinkError(code, "the link of \(channel) is not connected")
  }

  mutating func renew(_ token: String, _ id: CallID) throws(LinkError) {
    try checkConnected(.channelNotConnected)
    try show(token, as: .renewing(token), id)
  }

  mutating func changeStates(_ changes: [String: String?], _ id: CallID) throws(LinkError) {
    try checkConnected(.presenceNotConnected)
    let changed = try states.changed(by: changes, in: channel)
    wait(id, .changingStates(states.begin(changed, of: channel)))
    session.request(.state, [JSONMember("states", .strings(changed))], for: id)
  }

  // MARK: Ending

  /// Forgets a call, with all that was kept for it.
  mutating func close(_ id: CallID, isAnswered: Bool) {
    guard let call = calls.removeValue(forKey: id) else { return }
    deadlines.set(nil, for: id)
    session.forget(id)
    if case .changingStates(let change) = call {
      states.end(change, of: channel, isAcknowledged: isAnswered)
    }
  }

  /// Gives up a call that is waited for no longer; what it has begun with a topic is taken back.
  mutating func cancel(_ id: CallID) {
    let call = calls[id]
    close(id, isAnswered: false)
    takeBack(call)
  }

  private mutating func takeBack(_ call: OpenCall?) {
    switch call {
    case .joiningTopic(let topic, _): dropTopic(topic)
    case .subscribingTopic(let sources): release(sources)
    case .join, .leave, .renewing, .changingStates, .leavingTopic, .publishing, .unsubscribingTopic,
      nil:
      break
    }
  }

  /// A call's time is over.
  mutating func expire(_ id: CallID) {
    let call = calls[id]
    switch call {
    case .renewing: fail(id, LinkError(.renewTokenTimeout, "the token was not taken in time"))
    case .changingStates:
      fail(id, LinkError(.presenceOperationTimeout, "the states were not taken in time"))
    case .joiningTopic(let topic, _):
      fail(id, LinkError(.channelJoinTopicFailed, "\(topic) was not joined in time"))
    case .leavingTopic:
      fail(id, LinkError(.channelLeaveFailed, "the server did not answer in time"))
    case .publishing:
      fail(
        id, LinkError(.channelPublishMessageTimeout, "the message was not acknowledged in time"))
    case .subscribingTopic:
      fail(id, LinkError(.channelSubscribeTimeout, "the topic was not granted in time"))
    case .unsubscribingTopic:
      fail(id, LinkError(.channelUnsubscribeFailed, "the broker did not answer in time"))
    case .join, .leave, nil: break
    }
    takeBack(call)
  }

  // MARK: Answers

  mutating func noteSuccess(_ reply: LinkReply, of call: OpenCall, _ id: CallID) {
    switch call {
    case .joiningTopic(let topic, let options):
      topics.joined[topic] = options
      complete(id)
    case .changingStates, .leavingTopic: complete(id)
    case .join, .leave, .renewing, .publishing, .subscribingTopic, .unsubscribingTopic: break
    }
  }

  mutating func noteError(_ reply: LinkReply, of call: OpenCall, _ id: CallID) {
    fail(id, LinkError(reply.code, reply.message))
  }

  /// The broker did what a call on a topic needed.
  mutating func noteDone(_ id: CallID, _ granted: [QoS?]) {
    switch calls[id] {
    case .publishing, .unsubscribingTopic: complete(id)
    case .subscribingTopic(let sources): noteGranted(sources, granted, id)
    case .join, .leave, .renewing, .changingStates, .joiningTopic, .leavingTopic, nil: break
    }
  }

  /// The client did not take what a call needed.
  mutating func noteRefusal(_ id: CallID, _ error: DataClientError) {
    guard let call = calls[id], let offline = call.offlineCode else { return }
    let isOffline = error.code == .notConnected || error.code == .transport
    fail(id, LinkError(isOffline ? offline : call.failureCode ?? offline, error.message))
    if case .subscribingTopic(let sources) = call { release(sources) }
  }
}

extension StreamLinkMachine.OpenCall: OpenLinkCall {
  var kind: OpenLinkCallKind {
    switch self {
    case .join: .opening
    case .leave: .closing
    case .renewing(let token): .renewing(token)
    case .changingStates, .joiningTopic, .leavingTopic, .publishing, .subscribingTopic,
      .unsubscribingTopic:
      .other
    }
  }

  var offlineCode: LinkErrorCode? {
    switch self {
    case .join, .leave: nil
    case .renewing, .joiningTopic, .leavingTopic, .publishing, .subscribingTopic,
      .unsubscribingTopic:
      .channelNotConnected
    case .changingStates: .presenceNotConnected
    }
  }

  /// What a call on a topic fails with when the client can't do it; nil for other calls.
  var failureCode: LinkErrorCode? {
    switch self {
    case .join, .leave, .renewing, .changingStates: nil
    case .joiningTopic: .channelJoinTopicFailed
    case .leavingTopic: .channelLeaveFailed
    case .publishing: .channelPublishMessageFailed
    case .subscribingTopic: .channelSubscribeFailed
    case .unsubscribingTopic: .channelUnsubscribeFailed
    }
  }
}

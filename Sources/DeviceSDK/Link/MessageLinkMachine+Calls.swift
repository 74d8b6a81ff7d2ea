import RepriseCore

/// The calls of the message service: how each of them ends.
extension MessageLinkMachine: LinkStateMachine {
  static let table = LinkTable.message
  static let service = LinkService.message

  var ownChannel: String? { nil }
  var affectedChannels: [String] { subscribedChannels }

  var isNotWanted: LinkError { LinkError(.notLogin, "the user is not logged in") }

  func isDown(_ code: LinkErrorCode) -> LinkError {
    LinkError(code, "the message service is not connected")
  }

  // MARK: Ending

  /// Forgets a call, with all that was kept for it.
  mutating func close(_ id: CallID, isAnswered: Bool) {
    guard let call = calls.removeValue(forKey: id) else { return }
    deadlines.set(nil, for: id)
    session.forget(id)
    switch call {
    case .changingStates(let changing):
      states.end(changing.change, of: changing.channel, isAcknowledged: isAnswered)
    case .subscribing(let subscribing):
      guard subscribing.isTakenIn, !isAnswered else { return }
      channels[subscribing.channel] = subscribing.former
    case .login, .logout, .renewing, .unsubscribing, .publishing: break
    }
  }

  /// Gives up a call that is waited for no longer; a subscription is taken back.
  mutating func cancel(_ id: CallID) {
    let call = calls[id]
    close(id, isAnswered: false)
    if case .subscribing(let subscribing) = call { takeBack(subscribing) }
  }

  /// A call's time is over.
  mutating func expire(_ id: CallID) {
    switch calls[id] {
    case .renewing: fail(id, LinkError(.renewTokenTimeout, "the token was not taken in time"))
    case .subscribing(let subscribing): expire(subscribing, id)
    case .unsubscribing:
      fail(id, LinkError(.channelUnsubscribeFailed, "the server did not answer in time"))
    case .publishing:
      fail(
        id, LinkError(.channelPublishMessageTimeout, "the message was not acknowledged in time"))
    case .changingStates:
      fail(id, LinkError(.presenceOperationTimeout, "the states were not taken in time"))
    case .login, .logout, nil: break
    }
  }

  // MARK: Answers

  mutating func noteSuccess(_ reply: LinkReply, of call: OpenCall, _ id: CallID) {
    switch call {
    case .subscribing(let subscribing): noteTakenIn(subscribing, id)
    case .changingStates, .unsubscribing: complete(id)
    case .login, .logout, .renewing, .publishing: break
    }
  }

  mutating func noteError(_ reply: LinkReply, of call: OpenCall, _ id: CallID) {
    fail(id, LinkError(reply.code, reply.message))
    if case .subscribing(let subscribing) = call { takeBack(subscribing, wasRefused: true) }
  }

  mutating func noteDone(_ id: CallID, _ granted: [QoS?]) {
    switch calls[id] {
    case .publishing: complete(id)
    case .subscribing(let subscribing): noteGranted(subscribing, granted, id)
    case .login, .logout, .renewing, .unsubscribing, .changingStates, nil: break
    }
  }

  /// The client did not take what a call needed.
  mutating func noteRefusal(_ id: CallID, _ error: DataClientError) {
    guard let call = calls[id], let offline = call.offlineCode else { return }
    switch error.code {
    case .notConnected, .transport: fail(id, LinkError(offline, error.message))
    default: fail(id, LinkError(call.failureCode, error.message))
    }
    if case .subscribing(let subscribing) = call { takeBack(subscribing, wasRefused: true) }
  }

  // MARK: Tokens and streams

  mutating func renew(_ token: String, _ id: CallID) throws(LinkError) {
    try limits.countCall(time)
    try checkConnected(.notConnected)
    try show(token, as: .renewing(token), id)
  }

  mutating func admitStream(_ channel: String, _ id: CallID) throws(LinkError) {
    try limits.countCall(time)
    try LinkName.checkChannel(channel)
    try checkConnected(.channelNotConnected)
    guard streams.count < LinkLimits.streams || streams.contains(channel) else {
      throw LinkError(
        .channelInstanceExceedLimitation, "\(LinkLimits.streams) stream channels are the most")
    }
    streams.insert(channel)
    complete(id)
  }
}

extension MessageLinkMachine.OpenCall: OpenLinkCall {
  var kind: OpenLinkCallKind {
    switch self {
    case .login: .opening
    case .logout: .closing
    case .renewing(let token): .renewing(token)
    case .subscribing, .unsubscribing, .publishing, .changingStates: .other
    }
  }

  var offlineCode: LinkErrorCode? {
    switch self {
    case .login, .logout: nil
    case .renewing: .notConnected
    case .subscribing, .unsubscribing, .publishing: .channelNotConnected
    case .changingStates: .presenceNotConnected
    }
  }

  /// What the call fails with when the client can't do it.
  var failureCode: LinkErrorCode {
    switch self {
    case .login, .logout, .renewing: .initServiceFailed
    case .subscribing: .channelSubscribeFailed
    case .unsubscribing: .channelUnsubscribeFailed
    case .publishing: .channelPublishMessageFailed
    case .changingStates: .presenceOperationFailed
    }
  }
}

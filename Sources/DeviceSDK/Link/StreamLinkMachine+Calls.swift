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

  /// A call's time is over.
  mutating func expire(_ id: CallID) {
    switch calls[id] {
    case .renewing: fail(id, LinkError(.renewTokenTimeout, "the token was not taken in time"))
    case .changingStates:
      fail(id, LinkError(.presenceOperationTimeout, "the states were not taken in time"))
    case .join, .leave, nil: break
    }
  }

  // MARK: Answers

  mutating func noteSuccess(_ reply: LinkReply, of call: OpenCall, _ id: CallID) {
    if case .changingStates = call { complete(id) }
  }

  mutating func noteError(_ reply: LinkReply, of call: OpenCall, _ id: CallID) {
    fail(id, LinkError(reply.code, reply.message))
  }

  /// No call of a stream channel waits for the broker.
  mutating func noteDone(_ id: CallID, _ granted: [QoS?]) {}

  /// The client did not take what a call needed.
  mutating func noteRefusal(_ id: CallID, _ error: DataClientError) {
    guard let code = calls[id]?.offlineCode else { return }
    fail(id, LinkError(code, error.message))
  }
}

extension StreamLinkMachine.OpenCall: OpenLinkCall {
  var kind: OpenLinkCallKind {
    switch self {
    case .join: .opening
    case .leave: .closing
    case .renewing(let token): .renewing(token)
    case .changingStates: .other
    }
  }

  var offlineCode: LinkErrorCode? {
    switch self {
    case .join, .leave: nil
    case .renewing: .channelNotConnected
    case .changingStates: .presenceNotConnected
    }
  }
}

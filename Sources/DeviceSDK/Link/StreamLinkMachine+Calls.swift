import DataClient

/// The calls of a stream channel, and how they end.
extension StreamLinkMachine: LinkCallKeeper {
  var isNotWanted: LinkError { LinkError(.channelNotJoined, "\(channel) is not joined") }

  func isDown(_ code: LinkErrorCode) -> LinkError {
    LinkError(code, "the link of \(channel) is not connected")
  }

  mutating func renew(_ token: String, _ id: CallID) throws(LinkError) {
    try checkConnected(.channelNotConnected)
    guard !token.isEmpty else { throw LinkError(.invalidToken, "the token is empty") }
    wait(id, .renewing(token))
    session.request(.renew, [JSONMember("token", .string(token))], for: id)
  }

  mutating func changeStates(_ changes: [String: String?], _ id: CallID) throws(LinkError) {
    try checkConnected(.presenceNotConnected)
    let changed = try states.changed(by: changes, in: channel)
    wait(id, .changingStates(states.begin(changed, of: channel)))
    session.request(.state, [JSONMember("states", .strings(changed))], for: id)
  }

  // MARK: Ending

  /// Forgets a call, with all that was kept for it.
  mutating func close(_ id: CallID, isAcknowledged: Bool) {
    guard let call = calls.removeValue(forKey: id) else { return }
    deadlines.set(nil, for: id)
    session.forget(id)
    if case .changingStates(let change) = call {
      states.end(change, of: channel, isAcknowledged: isAcknowledged)
    }
  }

  mutating func failJoins(_ error: LinkError) {
    for (id, call) in openCalls where call.isJoin { fail(id, error) }
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

  mutating func noteReply(_ reply: LinkReply, _ id: CallID) {
    guard let call = calls[id] else { return }
    guard reply.isSuccess else { return fail(id, LinkError(reply.code, reply.message)) }
    switch call {
    case .renewing(let token):
      self.token = token
      tokenTimes = TokenTimes(expiresIn: reply.expiresIn, now: time)
      complete(id)
    case .changingStates: complete(id)
    case .join, .leave: break
    }
  }

  /// The client did not take what a call needed.
  mutating func noteRefusal(_ id: CallID, _ error: DataClientError) {
    guard let code = calls[id]?.offlineCode else { return }
    fail(id, LinkError(code, error.message))
  }
}

extension StreamLinkMachine.OpenCall: OpenLinkCall {
  var isJoin: Bool {
    if case .join = self { true } else { false }
  }

  var isLeave: Bool {
    if case .leave = self { true } else { false }
  }

  var offlineCode: LinkErrorCode? {
    switch self {
    case .join, .leave: nil
    case .renewing: .channelNotConnected
    case .changingStates: .presenceNotConnected
    }
  }
}

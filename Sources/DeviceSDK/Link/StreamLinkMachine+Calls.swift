import DataClient

/// What all calls have in common: who may call, and how calls end.
extension StreamLinkMachine {
  /// The open calls, the earliest first.
  var openCalls: [(CallID, OpenCall)] {
    calls.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func checkConnected(_ offline: LinkErrorCode) throws(LinkError) {
    switch state {
    case .connected: break
    case .idle, .failed: throw LinkError(.channelNotJoined, "\(channel) is not joined")
    case .connecting, .disconnected, .suspended: throw isDown(offline)
    }
  }

  private func isDown(_ code: LinkErrorCode) -> LinkError {
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
    states.noteSent(changed, of: channel)
    wait(id, .changingStates(changed))
    session.request(.state, [JSONMember("states", .strings(changed))], for: id)
  }

  private mutating func wait(_ id: CallID, _ call: OpenCall) {
    calls[id] = call
    deadlines.set(time.advanced(by: configuration.callTimeout), for: id)
  }

  // MARK: Ending

  mutating func complete(_ id: CallID) {
    close(id)
    outputs.append(.complete(id, .success(())))
  }

  mutating func fail(_ id: CallID, _ error: LinkError) {
    close(id)
    outputs.append(.complete(id, .failure(error)))
  }

  /// Forgets a call, with all that was kept for it.
  mutating func close(_ id: CallID, acknowledged: [String: String]? = nil) {
    guard let call = calls.removeValue(forKey: id) else { return }
    deadlines.set(nil, for: id)
    session.forget(id)
    if case .changingStates = call { states.noteEnd(of: channel, acknowledged: acknowledged) }
  }

  mutating func failJoins(_ error: LinkError) {
    for (id, call) in openCalls where call.isJoin { fail(id, error) }
  }

  /// Fails all that waits for an answer on the connection.
  mutating func failCalls() {
    for (id, call) in openCalls {
      if let code = call.offlineCode { fail(id, isDown(code)) }
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

  mutating func noteReply(_ reply: LinkReply, _ id: CallID) {
    guard let call = calls[id] else { return }
    guard reply.isSuccess else { return fail(id, LinkError(reply.code, reply.message)) }
    switch call {
    case .renewing(let token):
      self.token = token
      tokenTimes = TokenTimes(expiresIn: reply.expiresIn, now: time)
      complete(id)
    case .changingStates(let states):
      close(id, acknowledged: states)
      outputs.append(.complete(id, .success(())))
    case .join, .leave: break
    }
  }

  /// The client did not take what a call needed.
  mutating func noteRefusal(_ id: CallID, _ error: DataClientError) {
    guard let code = calls[id]?.offlineCode else { return }
    fail(id, LinkError(code, error.message))
  }
}

extension StreamLinkMachine.OpenCall {
  var isJoin: Bool {
    if case .join = self { true } else { false }
  }

  var isLeave: Bool {
    if case .leave = self { true } else { false }
  }

  /// What the call fails with when the link goes down; nil for those that outlast it.
  var offlineCode: LinkErrorCode? {
    switch self {
    case .join, .leave: nil
    case .renewing: .channelNotConnected
    case .changingStates: .presenceNotConnected
    }
  }
}

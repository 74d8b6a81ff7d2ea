import RepriseCore

/// The machine of a link, of either kind: what its session tells it, how it goes from state to state, and what calls
/// have in common.
protocol LinkStateMachine: CallKeeper
where OpenCall: OpenLinkCall, Value == Void, Effect == LinkEffect, Failure == LinkError {
  /// All transitions of the link's state.
  static var table: LinkTable { get }
  /// Whose link it is.
  static var service: LinkService { get }

  var configuration: LinkConfiguration { get }
  var session: LinkSession { get set }
  var state: LinkState { get set }
  var token: String { get set }
  var tokenTimes: TokenTimes? { get set }
  var deadlines: DeadlineQueue { get set }

  /// The stream channel that the link is of.
  var ownChannel: String? { get }
  /// The channels that a change of the state concerns.
  var affectedChannels: [String] { get }

  /// What a call fails with when nobody has asked for the link.
  var isNotWanted: LinkError { get }

  /// What a call fails with while the link is down.
  func isDown(_ code: LinkErrorCode) -> LinkError

  /// Forgets who the user is and what the session had, as the user leaves.
  mutating func forgetSession()

  /// Does what a call asks for, or begins with it.
  mutating func begin(_ call: Call, _ id: CallID) throws(LinkError)

  /// A call's time is over.
  mutating func expire(_ id: CallID)

  /// Opens the link, waits or gives up, as far as that is due.
  mutating func expireState()

  mutating func greet(_ granted: [QoS?])
  mutating func noteOpened(_ reply: LinkReply)
  mutating func noteRejected(_ rejection: LinkRejection)
  mutating func noteFailedAttempt(_ text: String)
  mutating func noteLoss(_ trigger: LinkTrigger, _ text: String)
  mutating func noteSuccess(_ reply: LinkReply, of call: OpenCall, _ id: CallID)
  mutating func noteError(_ reply: LinkReply, of call: OpenCall, _ id: CallID)
  mutating func noteDone(_ id: CallID, _ granted: [QoS?])
  mutating func noteRefusal(_ id: CallID, _ error: DataClientError)
  mutating func noteSnapshot(_ payload: [UInt8])
  mutating func noteTopicEvent(_ payload: [UInt8])
  mutating func noteMessage(_ message: Message)
  mutating func noteEnd()
}

/// A call of a link that is not completed yet.
protocol OpenLinkCall {
  /// What the call is to the link.
  var kind: OpenLinkCallKind { get }

  /// What the call fails with when the link goes down; nil for those that outlast it.
  var offlineCode: LinkErrorCode? { get }
}

/// What an open call is to its link.
enum OpenLinkCallKind: Equatable {
  /// Completed when the link is connected.
  case opening
  /// Completed when the connection is closed.
  case closing
  /// Shows a new token.
  case renewing(String)
  /// Something on an open link.
  case other
}

// MARK: In and out

extension LinkStateMachine {
  static var done: Value { () }

  /// Takes in one thing that happened.
  mutating func take(
    _ input: MachineInput<Call>, now: Timestamp
  ) -> [MachineOutput<Value, Effect, Failure>] {
    time = now
    switch input {
    case .received(let event):
      note(session.receive(event, now: now))
      if case .deadline = event { expire() }
    case .refused(let action, let error): note(session.refuse(action, error, now: now))
    case .called(let id, let call):
      do throws(LinkError) { try begin(call, id) } catch { fail(id, error) }
    case .cancelled(let id): cancel(id)
    }
    flush()
    let result = outputs
    outputs = []
    return result
  }

  /// Puts what the session wants done behind what was said before.
  mutating func flush() {
    guard !session.actions.isEmpty else { return }
    for action in session.actions { outputs.append(.perform(action)) }
    session.actions.removeAll(keepingCapacity: true)
  }

  private mutating func note(_ happening: LinkSession.Happening?) {
    guard let happening else { return }
    flush()
    switch happening {
    case .ready(let granted): greet(granted)
    case .opened(let reply): noteOpened(reply)
    case .rejected(let rejection), .kicked(let rejection): noteRejected(rejection)
    case .failed(let text): noteFailedAttempt(text)
    case .silenced: noteLoss(.heartbeatMissed, "")
    case .lost(let text): noteLoss(.connectionLost, text)
    case .closed: complete(all: .closing)
    case .replied(let id, let reply): noteReply(reply, id)
    case .done(let id, let granted): noteDone(id, granted)
    case .refused(let id, let error): noteRefusal(id, error)
    case .snapshot(let payload): noteSnapshot(payload)
    case .topics(let payload): noteTopicEvent(payload)
    case .arrived(let message): noteMessage(message)
    case .ended: noteEnd()
    }
  }

  private mutating func noteReply(_ reply: LinkReply, _ id: CallID) {
    guard let call = calls[id] else { return }
    guard reply.isSuccess else { return noteError(reply, of: call, id) }
    guard case .renewing(let token) = call.kind else { return noteSuccess(reply, of: call, id) }
    self.token = token
    tokenTimes = TokenTimes(expiresIn: reply.expiresIn, now: time)
    complete(id)
  }

  /// Does what is due, the earliest first.
  private mutating func expire() {
    expireState()
    let now = time
    while let id = deadlines.popExpired(at: now) { expire(id) }
    if tokenTimes?.takeWarning(now) == true, let expires = tokenTimes?.expires {
      let event = LinkTokenEvent(service: Self.service, channel: ownChannel, expires: expires)
      tell(.warnOfToken(event))
    }
  }
}

// MARK: States

extension LinkStateMachine {
  /// The row of the table that a trigger takes now, if there is one.
  func row(_ trigger: LinkTrigger) -> LinkTransition? { Self.table.row(state, trigger) }

  /// Goes where the table says; nowhere when it says nothing.
  mutating func transition(
    _ trigger: LinkTrigger, reason: LinkReason? = nil, detail: String = "",
    affected: [String]? = nil, unrestored: [UnrestoredChannel] = [], isResumed: Bool = false
  ) {
    guard let row = row(trigger) else { return }
    let said = reason.flatMap { row.reasons.contains($0) ? $0 : nil }
    state = row.to
    tell(
      .changeState(
        LinkStateEvent(
          current: row.to, previous: row.from, service: Self.service, operation: row.operation,
          reason: said ?? row.reasons.first ?? .unknown, detail: detail,
          affected: affected ?? affectedChannels, unrestored: unrestored,
          isResumed: isResumed, time: time)))
  }
}

// MARK: Calls

extension LinkStateMachine {
  /// Closes the link for good, with a word to the server; completed when the connection is closed.
  mutating func leave(
    _ trigger: LinkTrigger, saying farewell: LinkVerb, as call: OpenCall, _ id: CallID,
    _ canceled: LinkError
  ) throws(LinkError) {
    guard state != .idle else {
      guard calls.values.contains(where: { $0.kind == .closing }) else { throw isNotWanted }
      calls[id] = call
      return
    }
    failOpening(canceled)
    failCalls()
    transition(trigger)
    session.close(farewell: farewell, now: time)
    forgetSession()
    if session.isThere { calls[id] = call } else { complete(id) }
  }

  /// Lets a call through if the link is connected.
  /// - Parameter offline: The code of the call's module for a link that is down.
  /// - Throws: ``LinkError``.
  func checkConnected(_ offline: LinkErrorCode) throws(LinkError) {
    switch state {
    case .connected: break
    case .idle, .failed: throw isNotWanted
    case .connecting, .disconnected, .suspended: throw isDown(offline)
    }
  }

  /// Keeps a call until it is answered, for the configured time if none is given.
  mutating func wait(_ id: CallID, _ call: OpenCall, for duration: Duration? = nil) {
    calls[id] = call
    deadlines.set(time.advanced(by: duration ?? configuration.callTimeout), for: id)
  }

  mutating func complete(all kind: OpenLinkCallKind) {
    for (id, call) in openCalls where call.kind == kind { complete(id) }
  }

  /// Fails all that waits for the link to be connected.
  mutating func failOpening(_ error: LinkError) {
    for (id, call) in openCalls where call.kind == .opening { fail(id, error) }
  }

  /// Fails all that waits for an answer on the connection.
  mutating func failCalls() {
    for (id, call) in openCalls {
      if let code = call.offlineCode { fail(id, isDown(code)) }
    }
  }

  /// Shows a new token to the server.
  mutating func show(_ token: String, as call: OpenCall, _ id: CallID) throws(LinkError) {
    guard !token.isEmpty else { throw LinkError(.invalidToken, "the token is empty") }
    wait(id, call)
    session.request(.renew, [JSONMember("token", .string(token))], for: id)
  }
}

import RepriseCore

/// How the link goes from state to state, each step a row of the table.
extension MessageLinkMachine {
  /// How long after a loss the tries become rare, and a return is no resumption any more.
  static let resumeWindow: Duration = .seconds(120)
  /// The time between two tries of a suspended link.
  static let suspendedInterval: Duration = .seconds(30)

  var suspensionTime: Timestamp? { outage?.since.advanced(by: Self.resumeWindow) }

  // MARK: Calls

  mutating func login(_ token: String, _ id: CallID) throws(LinkError) {
    try limits.countCall(time)
    if case .ended = session.phase {
      throw LinkError(.initServiceFailed, "there are no more events")
    }
    guard state != .connected else {
      guard !configuration.rejectsRepeatedLogin else {
        throw LinkError(.duplicateOperation, "the user is logged in")
      }
      return complete(id)
    }
    complete(all: .closing)
    failOpening(LinkError(.loginCanceled, "another login came in between"))
    if state == .failed { startAnew() }
    self.token = token.isEmpty ? configuration.appID : token
    tokenTimes = nil
    calls[id] = .login
    setLimit(.loginTimedOut)
    transition(wasLoggedIn ? .relogin : .login)
    open()
  }

  private mutating func startAnew() {
    wasConnected = false
    guard !configuration.restoresAfterFailure else { return }
    channels = [:]
    states = TemporaryStates()
  }

  mutating func logout(_ id: CallID) throws(LinkError) {
    let canceled = LinkError(.loginCanceled, "the user logged out")
    try leave(.logout, saying: .logout, as: .logout, id, canceled)
  }

  mutating func forgetSession() {
    clearTimes()
    (channels, states, streams) = ([:], TemporaryStates(), [])
    (token, wasConnected, wasLoggedIn) = ("", false, false)
  }

  mutating func noteNetwork(_ change: LinkNetworkChange, _ id: CallID) {
    switch (change, state) {
    case (.lost, .connected), (.switched, .connected):
      session.close(now: time)
      noteLoss(.networkLost, "")
      if change == .switched { retry() }
    case (.regained, .disconnected), (.regained, .suspended), (.switched, .disconnected),
      (.switched, .suspended):
      retry()
    case (.switched, .connecting): open()
    case (.lost, _), (.regained, _), (.switched, _): break
    }
    complete(id)
  }

  // MARK: Opening

  private mutating func open() {
    retryTime = nil
    (refusedChannels, droppedChannels) = ([], [])
    restoring = channels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    askedFeatures = channels
    session.open(restoring.flatMap { filters(of: $0, $1) }, now: time)
  }

  private mutating func retry() {
    if let expires = tokenTimes?.expires, expires <= time {
      clearTimes()
      transition(.tokenFoundExpired)
      return failOpening(LinkError(.tokenExpired, "the token has expired"))
    }
    transition(.retryDue)
    open()
  }

  mutating func noteOpened(_ reply: LinkReply) {
    let isResumed = wasConnected && isWithinWindow
    let trigger: LinkTrigger = wasConnected ? .acceptedAgain : .accepted
    let affected = subscribedChannels
    let unrestored = dropChannels(refusedChannels + reply.unrestored)
    clearTimes()
    (wasConnected, wasLoggedIn) = (true, true)
    tokenTimes = TokenTimes(expiresIn: reply.expiresIn, now: time)
    transition(trigger, affected: affected, unrestored: unrestored, isResumed: isResumed)
    leaveDropped()
    complete(all: .opening)
  }

  private var isWithinWindow: Bool {
    guard let outage, !outage.wasSuspended else { return false }
    return time <= outage.since.advanced(by: Self.resumeWindow)
  }

  // MARK: Failing

  mutating func noteRejected(_ rejection: LinkRejection) {
    let trigger: LinkTrigger = state == .connected ? .kicked : .rejected
    guard row(trigger) != nil else { return }
    clearTimes()
    transition(trigger, reason: rejection.reason, detail: rejection.message)
    let error = LinkError(rejection.code, rejection.message)
    failOpening(error)
    failCalls()
  }

  mutating func noteFailedAttempt(_ text: String) {
    guard state == .connecting else { return }
    if outage == nil { outage = Outage(since: time) } else { outage?.attempts += 1 }
    guard let outage else { return }
    guard !outage.wasSuspended, time < outage.since.advanced(by: Self.resumeWindow) else {
      return suspend(.attemptFailedLate, text)
    }
    transition(.attemptFailed, detail: text)
    backOff(outage.attempts)
  }

  mutating func noteLoss(_ trigger: LinkTrigger, _ text: String) {
    guard row(trigger) != nil else { return }
    outage = Outage(since: time)
    setLimit(.reconnectTimedOut)
    transition(trigger, detail: text)
    backOff(0)
    failCalls()
  }

  private mutating func backOff(_ attempts: Int) {
    let delay = configuration.reconnect.delay(attempt: attempts, random: &random)
    retryTime = time.advanced(by: delay)
  }

  private mutating func suspend(_ trigger: LinkTrigger, _ text: String) {
    outage?.wasSuspended = true
    transition(trigger, detail: text)
    retryTime = time.advanced(by: Self.suspendedInterval)
  }

  private mutating func setLimit(_ trigger: LinkTrigger) {
    let timeout = configuration.reconnectTimeout
    limit = timeout > .zero ? Limit(time: time.advanced(by: timeout), trigger: trigger) : nil
  }

  private mutating func clearTimes() {
    (outage, retryTime, limit, tokenTimes) = (nil, nil, nil, nil)
  }

  /// The world has no more events.
  mutating func noteEnd() {
    noteLoss(.connectionLost, "there are no more events")
    noteFailedAttempt("there are no more events")
    clearTimes()
    failOpening(LinkError(.loginAborted, "there are no more events"))
    complete(all: .closing)
  }

  // MARK: Time

  mutating func expireState() {
    if let limit, limit.time <= time, state != .connected { giveUp(limit.trigger) }
    if state == .disconnected, let suspension = suspensionTime, suspension <= time,
      suspension <= retryTime ?? suspension
    {
      suspend(.twoMinutesPassed, "")
    }
    if let retryTime, retryTime <= time { retry() }
  }

  private mutating func giveUp(_ trigger: LinkTrigger) {
    session.close(now: time)
    clearTimes()
    transition(trigger)
    failOpening(LinkError(.loginTimeout, "the login was not accepted in time"))
  }
}

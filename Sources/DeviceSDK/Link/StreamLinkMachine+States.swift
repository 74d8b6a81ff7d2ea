import RepriseCore

/// How the link goes from state to state, each step a row of the table.
extension StreamLinkMachine {
  // MARK: Calls

  mutating func join(
    _ token: String, _ features: LinkJoinFeatures, _ id: CallID
  ) throws(LinkError) {
    if case .ended = session.phase {
      throw LinkError(.channelJoinFailed, "there are no more events")
    }
    guard state != .connected else { return complete(id) }
    complete(all: .closing)
    failOpening(LinkError(.channelJoinCanceled, "another join came in between"))
    if state == .failed, !configuration.restoresAfterFailure {
      (states, topics) = (TemporaryStates(), StreamTopics())
    }
    if state == .failed { wasConnected = false }
    self.token = token.isEmpty ? configuration.appID : token
    self.features = features
    tokenTimes = nil
    calls[id] = .join
    transition(wasJoined ? .rejoin : .join)
    attempts = 0
    giveUpTime = time.advanced(by: Self.patience)
    open()
  }

  mutating func leave(_ id: CallID) throws(LinkError) {
    let canceled = LinkError(.channelJoinCanceled, "the channel was left")
    try leave(.leave, saying: .leave, as: .leave, id, canceled)
  }

  mutating func forgetSession() {
    clearTimes()
    (states, topics) = (TemporaryStates(), StreamTopics())
    (token, wasConnected, wasJoined) = ("", false, false)
  }

  mutating func noteNetwork(_ change: LinkNetworkChange, _ id: CallID) {
    switch (change, state) {
    case (.lost, .connected), (.switched, .connected):
      session.close(now: time)
      noteLoss(.networkLost, "")
    case (.regained, .connecting), (.switched, .connecting):
      if change == .switched || retryTime != nil { open() }
    case (.lost, _), (.regained, _), (.switched, _): break
    }
    complete(id)
  }

  // MARK: Opening

  private mutating func open() {
    retryTime = nil
    if let expires = tokenTimes?.expires, expires <= time {
      return fail(.tokenFoundExpired, LinkError(.tokenExpired, "the token has expired"))
    }
    (refusedSources, greetedTopics) = ([], [])
    restoring = topics.sources.sorted()
    session.open(presenceFilters + filters(of: restoring), now: time)
  }

  private var presenceFilters: [Subscription] {
    features.contains(.presence) ? [Subscription(channelTopics.presence)] : []
  }

  var channelTopics: LinkChannelTopics {
    LinkChannelTopics(.stream, channel, appID: configuration.appID)
  }

  /// Says who the user is, and what the session had.
  mutating func greet(_ granted: [QoS?]) {
    let own = presenceFilters.count
    guard granted.count == own + restoring.count, !granted.prefix(own).contains(nil) else {
      session.close(now: time)
      return noteRejected(
        LinkRejection(
          .subscribePermissionDenied, "the broker does not grant \(channelTopics.presence)"))
    }
    refusedSources = Set(zip(restoring, granted.dropFirst(own)).filter { $0.1 == nil }.map(\.0))
    greetedTopics = Set(topics.joined.keys)
    session.greet(
      .join,
      [
        JSONMember("token", .string(token)),
        JSONMember("presenceTimeout", .seconds(configuration.presenceTimeout)),
        JSONMember("again", .bool(wasConnected)),
        JSONMember("features", .number(String(features.rawValue))),
        JSONMember("states", .strings(states[channel])),
      ] + restoredTopics)
  }

  mutating func noteOpened(_ reply: LinkReply) {
    let window = lossTime?.advanced(by: MessageLinkMachine.resumeWindow)
    let isResumed = wasConnected && window.map { time <= $0 } ?? false
    let trigger: LinkTrigger = wasConnected ? .acceptedAgain : .accepted
    clearTimes()
    tokenTimes = TokenTimes(expiresIn: reply.expiresIn, now: time)
    (wasConnected, wasJoined) = (true, true)
    let unrestored = dropUnrestored(reply.unrestored)
    transition(trigger, unrestored: unrestored, isResumed: isResumed)
    leaveDropped(but: reply.unrestored)
    complete(all: .opening)
  }

  // MARK: Failing

  mutating func noteRejected(_ rejection: LinkRejection) {
    let error = LinkError(rejection.code, rejection.message)
    fail(
      state == .connected ? .kicked : .rejected, error, reason: rejection.reason)
  }

  /// Ends the link for good.
  mutating func fail(_ trigger: LinkTrigger, _ error: LinkError, reason: LinkReason? = nil) {
    guard row(trigger) != nil else { return }
    session.close(now: time)
    clearTimes()
    transition(trigger, reason: reason, detail: error.message)
    failOpening(error)
    failCalls()
  }

  mutating func noteFailedAttempt(_: String) {
    guard state == .connecting else { return }
    let delay = configuration.reconnect.delay(attempt: attempts, random: &random)
    attempts += 1
    retryTime = time.advanced(by: min(delay, Self.longestPause))
  }

  mutating func noteLoss(_ trigger: LinkTrigger, _ text: String) {
    guard row(trigger) != nil else { return }
    transition(trigger, detail: text)
    failCalls()
    lossTime = time
    attempts = 0
    giveUpTime = time.advanced(by: Self.patience)
    open()
  }

  private mutating func clearTimes() {
    (retryTime, giveUpTime, lossTime, tokenTimes) = (nil, nil, nil, nil)
  }

  /// The world has no more events.
  mutating func noteEnd() {
    (retryTime, giveUpTime, tokenTimes) = (nil, nil, nil)
    failOpening(LinkError(.channelJoinFailed, "there are no more events"))
    failCalls()
    complete(all: .closing)
  }

  // MARK: Time

  mutating func expireState() {
    if let giveUpTime, giveUpTime <= time {
      fail(
        .reconnectTimedOut,
        LinkError(.channelJoinFailed, "the link did not open within \(Self.patience)"))
    }
    if let retryTime, retryTime <= time { open() }
  }

  // MARK: What comes

  mutating func noteSnapshot(_ payload: [UInt8]) {
    guard let event = LinkPresenceEvent(snapshot: payload, .stream, time: time),
      event.channel == channel
    else { return }
    tell(.tellPresence(event))
  }

  mutating func noteMessage(_ message: Message) {
    guard message.topic == channelTopics.presence else { return noteTopicMessage(message) }
    let event = LinkPresenceEvent(parsing: message.payload, channel, .stream, time: time)
    if let other = event.without(configuration.userID) {
      tell(.tellPresence(other))
    }
  }
}

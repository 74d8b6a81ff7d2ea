import DataClient

/// Opening, losing, restoring and closing the connection.
extension ChannelStateMachine {
  mutating func take(_ identity: ChannelIdentity) {
    self.identity = identity
    topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
    random = SeededGenerator(named: identity.clientID, seed: configuration.jitterSeed)
  }

  // MARK: Calls

  mutating func start(_ id: CallID) {
    switch link {
    case .connected: complete(id)
    case .identifying, .connecting, .restoring, .backingOff, .closing(_, .some):
      waitForConnection(id)
    case .idle:
      waitForConnection(id)
      failedAttempts = 0
      kicks.reset()
      lastLoss = nil
      connect(by: identity == nil ? .startedUnknown : .started)
    case .closing:
      let error = ChannelError(.client, "the channel is being stopped; start it when it is")
      // Who starts without waiting for the outcome hears of it in no other way.
      log(.warning, .connection, "not started: \(error.message)")
      fail(id, error)
    case .ended: fail(id, Self.endOfWorld)
    }
  }

  private mutating func waitForConnection(_ id: CallID) {
    calls[id] = .starting
    if let timeout = configuration.startTimeout {
      deadlines.set(time.advanced(by: timeout), for: id)
    }
  }

  /// What a start fails with whose time is over.
  var lateStart: ChannelError {
    let reason = lastLoss.map { ": \($0.message)" } ?? ""
    return ChannelError(
      .network, "the channel was not connected in time\(reason)", underlying: lastLoss)
  }

  mutating func stop(_ id: CallID) {
    let stopped = ChannelError(.network, "the channel was stopped")
    switch link {
    case .idle, .ended: complete(id)
    case .identifying, .backingOff:
      settle(.idle, by: .stopped, stopped, isFinal: true, shown: nil)
      complete(id)
    case .connecting, .restoring, .connected:
      calls[id] = .stopping
      disconnect(by: .stopped, retryAfter: nil)
      failOpenCalls(stopped)
      failStarts(stopped)
      report(.disconnected, nil, isFinal: true)
    case .closing(let until, .some):
      calls[id] = .stopping
      enter(.closing(until: until, retryAfter: nil), by: .stopped)
      failStarts(stopped)
      report(.disconnected, nil, isFinal: true)
    case .closing: calls[id] = .stopping
    }
  }

  mutating func setReachable(_ isReachable: Bool, _ id: CallID) {
    self.isReachable = isReachable
    complete(id)
    guard isReachable, case .backingOff = link else { return }
    failedAttempts = 0
    connect(by: .retryDue)
  }

  mutating func identify(as identity: ChannelIdentity, _ id: CallID) {
    switch link {
    case .idle, .backingOff, .ended: change(to: identity)
    case .identifying:
      change(to: identity)
      connect(by: .identified)
    case .connecting, .restoring, .connected, .closing:
      guard identity == self.identity else {
        return fail(id, ChannelError(.client, "the channel is connected as another identity"))
      }
    }
    complete(id)
  }

  /// Becomes another: what was subscribed to below the old prefix is restored below the new one.
  private mutating func change(to identity: ChannelIdentity) {
    let old = self.identity == nil ? nil : topics
    take(identity)
    guard let old, let topics, old != topics else { return }
    grants = grants.map { grant in
      guard let rest = TopicRules.rest(of: grant.filter, below: old.down) else { return grant }
      return Grant(topics.down + rest, for: grant.owner)
    }
    forgetBinding()
  }

  // MARK: Opening

  private mutating func connect(by trigger: ChannelTrigger) {
    guard let identity else {
      enter(.identifying, by: trigger)
      return report(.connecting, nil)
    }
    let options = ConnectOptions(
      clientID: identity.mqttClientID, cleanStart: configuration.cleanStart,
      keepAlive: configuration.keepAlive, username: identity.clientID,
      password: identity.password, will: configuration.will)
    let action = perform(.connect(options), for: .connect)
    enter(
      .connecting(action, until: time.advanced(by: configuration.connectTimeout)), by: trigger)
    report(.connecting, nil)
  }

  mutating func noteConnected(_ connected: ClientEvent.Connected) {
    guard case .connecting(let action, _) = link else { return }
    actions[action] = nil
    kicks.noteAccepted(time)
    // A new session has no reply topics, which the next request asks for.
    if !connected.isSessionPresent { grants = grants.filter { !isReleasable($0.owner) } }
    guard needsRestoring(connected) else { return open(by: .accepted) }
    let restoring = perform(
      .subscribe(grants.map { Subscription($0.filter, qos: configuration.subscribeQoS) }),
      for: .restore)
    enter(
      .restoring(restoring, grants, until: time.advanced(by: configuration.connectTimeout)),
      by: .acceptedAgain)
  }

  /// Takes over subscriptions that the first connection has already, as it was open before.
  mutating func adopt(_ filters: [String]) {
    adopted = filters.map { Grant($0, for: .application) }
  }

  /// Takes over subscriptions that were lost with a connection before the first one.
  mutating func resume(_ filters: [String]) {
    grants = filters.map { Grant($0, for: .application) }
  }

  private mutating func needsRestoring(_ connected: ClientEvent.Connected) -> Bool {
    if !adopted.isEmpty {
      grants = adopted
      adopted = []
      return false
    }
    guard !grants.isEmpty else { return false }
    switch configuration.resubscription {
    case .always: return true
    case .unlessSessionPresent: return !connected.isSessionPresent
    }
  }

  /// The new connection has what the old one had.
  mutating func noteRestored(_ restored: [Grant], _ granted: [QoS?]) {
    for (grant, qos) in zip(restored, granted) where qos == nil {
      grants.removeAll { $0.filter == grant.filter }
      log(.error, .subscription, "the cloud does not grant \(grant.filter) any more")
    }
    open(by: .restored)
  }

  private mutating func open(by trigger: ChannelTrigger) {
    enter(.connected, by: trigger)
    lastLoss = nil
    for grant in grants { release(grant) }
    if configuration.subscribesAll, needsSubscribeAll, let topics {
      sendSubscription(topics.down + "/#", for: .subscribeAll)
    }
    log(.info, .connection, "connected")
    report(.connected, nil)
    for (id, call) in openCalls {
      if case .starting = call { complete(id) }
    }
  }

  // MARK: Losing

  mutating func noteClosed(_ reason: ClientEvent.Closed) {
    let error = Self.error(for: reason)
    switch link {
    case .idle, .identifying, .backingOff, .ended: break
    case .connecting: tryAgain(error, by: Self.isFinal(reason) ? .refused : .closed)
    case .restoring, .connected:
      statistics.lostConnections += 1
      let isKickedOut = kicks.noteClosed(reason, time)
      tryAgain(isKickedOut ? Self.oscillation(error) : error, by: isKickedOut ? .kicked : .closed)
    case .closing(_, let retry?): tryAgain(retry, by: .closed)
    case .closing: finishStop(by: .closed)
    }
  }

  /// Goes to sleep before the next try, or for good.
  private mutating func tryAgain(_ error: ChannelError, by trigger: ChannelTrigger) {
    guard trigger != .refused, trigger != .kicked else {
      return settle(.idle, by: trigger, error, isFinal: true, shown: error)
    }
    let delay = configuration.reconnect.delay(attempt: failedAttempts, random: &random)
    failedAttempts = min(failedAttempts + 1, 1_000)
    settle(
      .backingOff(until: time.advanced(by: delay)), by: trigger, error, isFinal: false,
      shown: error)
  }

  /// Leaves a connection behind: nothing that was open on it is waited for.
  private mutating func settle(
    _ link: Link, by trigger: ChannelTrigger, _ error: ChannelError, isFinal: Bool,
    shown: ChannelError?
  ) {
    enter(link, by: trigger)
    forgetActions()
    lastLoss = shown
    if isFinal { forgetSubscriptions() }
    failOpenCalls(error)
    if isFinal { failStarts(error) }
    if trigger == .stopped {
      log(.info, .connection, "stopped")
    } else {
      log(isFinal ? .error : .warning, .connection, "not connected: \(error)")
    }
    report(.disconnected, shown, isFinal: isFinal)
  }

  /// Nothing that was sent on the connection is answered any more.
  private mutating func forgetActions() {
    actions = [:]
    order = SubscriptionOrder<Grant.Owner>()
  }

  private mutating func forgetSubscriptions() {
    grants = []
    needsSubscribeAll = true
  }

  // MARK: Closing

  mutating func disconnect(by trigger: ChannelTrigger, retryAfter error: ChannelError?) {
    let until = time.advanced(by: configuration.closeTimeout)
    enter(.closing(until: until, retryAfter: error), by: trigger)
    forgetActions()
    perform(.disconnect, for: .disconnect)
  }

  private mutating func finishStop(by trigger: ChannelTrigger) {
    enter(.idle, by: trigger)
    forgetActions()
    forgetSubscriptions()
    log(.info, .connection, "stopped")
    for (id, call) in openCalls {
      if case .stopping = call { complete(id) }
    }
  }

  mutating func noteEnd() {
    if case .ended = link { return }
    settle(.ended, by: .worldEnded, Self.endOfWorld, isFinal: true, shown: Self.endOfWorld)
    for (id, _) in openCalls { complete(id) }
  }

  // MARK: Time

  mutating func expireLink() {
    switch link {
    case .backingOff(let until):
      if isReachable, until <= time { connect(by: .retryDue) }
    case .connecting(_, let until):
      guard until <= time else { return }
      disconnect(
        by: .timedOut, retryAfter: ChannelError(.network, "the cloud did not accept in time"))
    case .restoring(_, _, let until):
      guard until <= time else { return }
      let error = ChannelError(.network, "subscriptions were not restored in time")
      disconnect(by: .timedOut, retryAfter: error)
    case .closing(let until, let retry):
      guard until <= time else { return }
      if let retry { tryAgain(retry, by: .timedOut) } else { finishStop(by: .timedOut) }
    case .idle, .identifying, .connected, .ended: break
    }
  }

  /// CONNECT or DISCONNECT was not handed over.
  mutating func noteLinkRefusal(_ error: DataClientError) {
    switch link {
    case .connecting:
      let error = Self.error(for: error)
      tryAgain(error, by: error.kind == .client ? .refused : .failed)
    case .restoring: disconnect(by: .failed, retryAfter: Self.error(for: error))
    case .closing(_, let retry?): tryAgain(retry, by: .failed)
    case .closing: finishStop(by: .failed)
    case .idle, .identifying, .connected, .backingOff, .ended: break
    }
  }

  // MARK: Telling

  mutating func report(_ state: ChannelState, _ error: ChannelError?, isFinal: Bool = false) {
    guard state != self.state else { return }
    self.state = state
    tell(
      .changeState(
        ChannelStateChange(state: state, error: error, isFinal: isFinal, time: time)))
  }
}

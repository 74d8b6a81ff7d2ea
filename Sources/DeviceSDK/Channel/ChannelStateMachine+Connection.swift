import RepriseCore

/// The connection: what its keeper wants done, and what that means for calls and subscriptions.
extension ChannelStateMachine {
  mutating func take(_ identity: ChannelIdentity) {
    self.identity = identity
    topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
    keeper.random = SeededGenerator(named: identity.clientID, seed: configuration.jitterSeed)
  }

  // MARK: Calls

  mutating func start(_ id: CallID) {
    if case .idle = keeper.link { lastLoss = nil }
    guard let steps = keeper.start(time, isIdentified: identity != nil) else {
      return refuseStart(id)
    }
    guard !isConnected else { return complete(id) }
    calls[id] = .starting
    if let timeout = configuration.startTimeout {
      deadlines.set(time.advanced(by: timeout), for: id)
    }
    follow(steps)
    if case .identifying = keeper.link { report(.connecting, nil) }
  }

  private mutating func refuseStart(_ id: CallID) {
    guard keeper.link != .ended else { return fail(id, Self.endOfWorld) }
    let error = ChannelError(.client, "the channel is being stopped; start it when it is")
    // An application that starts without waiting for the outcome hears of it in no other way.
    log(.warning, .connection, "not started: \(error.message)")
    fail(id, error)
  }

  mutating func stop(_ id: CallID) {
    guard keeper.link != .idle, keeper.link != .ended else { return complete(id) }
    calls[id] = .stopping
    follow(keeper.stop(time).disconnectingFirst)
  }

  mutating func identify(as identity: ChannelIdentity, _ id: CallID) {
    switch keeper.link {
    case .idle, .identifying, .backingOff, .ended:
      change(to: identity)
      follow(keeper.noteIdentified(time))
    case .connecting, .restoring, .open, .closing:
      guard identity == self.identity else {
        return fail(id, ChannelError(.client, "the channel is connected as another identity"))
      }
    }
    complete(id)
  }

  mutating func failToIdentify(_ error: ChannelError, _ id: CallID) {
    complete(id)
    guard case .identifying = keeper.link else { return }
    log(.error, .connection, "there is no identity: \(error.message)")
    failStarts(error)
    follow(keeper.stop(time))
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

  // MARK: What the keeper wants

  mutating func connect() {
    // Nothing is tried before it is known who connects.
    guard let identity else { return }
    let options = ConnectOptions(
      clientID: identity.mqttClientID, cleanStart: configuration.cleanStart,
      keepAlive: configuration.keepAlive, username: identity.clientID,
      password: identity.password, will: configuration.will)
    perform(.connect(options), for: .connect)
    report(.connecting, nil)
  }

  // MARK: Coming up

  mutating func noteConnected(_ connected: ClientEvent.Connected) {
    isSessionPresent = connected.isSessionPresent
    follow(keeper.noteConnected(time))
  }

  mutating func restore() {
    forgetActions()
    // A new session has no reply topics, which the next request asks for.
    if !isSessionPresent { grants = grants.filter { !isReleasable($0.owner) } }
    guard needsRestoring() else { return follow(keeper.noteRestored()) }
    perform(
      .subscribe(grants.map { Subscription($0.filter, qos: configuration.subscribeQoS) }),
      for: .restore(grants))
  }

  /// Takes over subscriptions that the first connection has already, as it was open before.
  package mutating func adopt(_ filters: [String]) {
    adopted = filters.map { Grant($0, for: .application) }
  }

  /// Takes over subscriptions that were lost with a connection before the first one.
  package mutating func resume(_ filters: [String]) {
    grants = filters.map { Grant($0, for: .application) }
  }

  private mutating func needsRestoring() -> Bool {
    if !adopted.isEmpty {
      grants = adopted
      adopted = []
      return false
    }
    guard !grants.isEmpty else { return false }
    switch configuration.resubscription {
    case .always: return true
    case .unlessSessionPresent: return !isSessionPresent
    }
  }

  /// The new connection has what the old one had.
  mutating func noteRestored(_ restored: [Grant], _ granted: [QoS?]) {
    for (grant, qos) in zip(restored, granted) where qos == nil {
      grants.removeAll { $0.filter == grant.filter }
      log(.error, .subscription, "the cloud does not grant \(grant.filter) any more")
    }
    follow(keeper.noteRestored())
  }

  mutating func noteOpened() {
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

  // MARK: Going down

  /// Leaves a connection behind: nothing that was open on it is waited for.
  mutating func goDown(_ reason: ConnectionKeeper.Reason, isFinal: Bool) {
    let error = Self.error(for: reason)
    let shown = reason == .stopped ? nil : error
    statistics.lostConnections = keeper.lostConnections
    lastLoss = shown
    // What is left of a connection that is being closed is DISCONNECT, which may be refused.
    if case .closing = keeper.link {} else { forgetActions() }
    if isFinal { forgetSubscriptions() }
    failOpenCalls(error)
    if isFinal { failStarts(error) }
    if let shown { log(isFinal ? .error : .warning, .connection, "not connected: \(shown)") }
    report(.disconnected, shown, isFinal: isFinal)
  }

  private mutating func forgetSubscriptions() {
    grants = []
    needsSubscribeAll = true
  }

  mutating func finishStop() {
    forgetActions()
    if keeper.link != .ended { log(.info, .connection, "stopped") }
    for (id, call) in openCalls {
      if case .stopping = call { complete(id) }
    }
  }

  private mutating func report(
    _ state: ChannelState, _ error: ChannelError?, isFinal: Bool = false
  ) {
    guard state != self.state else { return }
    self.state = state
    tell(
      .changeState(
        ChannelStateChange(state: state, error: error, isFinal: isFinal, time: time)))
  }
}

extension ChannelConfiguration {
  /// How patient the keeper of the connection is.
  var keeperRules: ConnectionKeeper.Rules {
    ConnectionKeeper.Rules(
      connectTimeout: connectTimeout, closeTimeout: closeTimeout, backOff: reconnect,
      kickLimit: kickLimit, kickWindow: kickWindow)
  }
}

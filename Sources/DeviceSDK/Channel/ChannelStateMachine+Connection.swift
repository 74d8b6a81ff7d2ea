import DataClient

/// Opening, losing, restoring and closing the connection.
extension ChannelStateMachine {
  mutating func take(_ identity: ChannelIdentity) {
    self.identity = identity
    topics = ChannelTopics(
      productKey: identity.productKey, deviceName: identity.deviceName)
    // FNV-1a: devices that were given no seed do not come back all at the same time.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in identity.clientID.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    random = SeededGenerator(seed: configuration.jitterSeed ^ hash)
  }

  // MARK: Calls

  mutating func start(_ id: CallID) {
    switch link {
    case .connected: complete(id)
    case .identifying, .connecting, .restoring, .backingOff, .closing(_, .some):
      calls[id] = .starting
    case .idle:
      calls[id] = .starting
      failedAttempts = 0
      kicks = []
      connect()
    case .closing:
      fail(id, ChannelError(.client, "the channel is being stopped; start it when it is"))
    case .ended: fail(id, Self.endOfWorld)
    }
  }

  mutating func stop(_ id: CallID) {
    let stopped = ChannelError(.network, "the channel was stopped")
    switch link {
    case .idle, .ended: complete(id)
    case .identifying, .backingOff:
      settle(.idle, stopped, isFinal: true, shown: nil)
      complete(id)
    case .connecting, .restoring, .connected:
      calls[id] = .stopping
      disconnect(retryAfter: nil)
      failOpenCalls(stopped)
      failStarts(stopped)
      report(.disconnected, nil, isFinal: true)
    case .closing(let until, .some):
      calls[id] = .stopping
      link = .closing(until: until, retryAfter: nil)
      failStarts(stopped)
      report(.disconnected, nil, isFinal: true)
    case .closing: calls[id] = .stopping
    }
  }

  mutating func identify(as identity: ChannelIdentity, _ id: CallID) {
    switch link {
    case .idle, .backingOff, .ended: take(identity)
    case .identifying:
      take(identity)
      connect()
    case .connecting, .restoring, .connected, .closing:
      guard identity == self.identity else {
        return fail(id, ChannelError(.client, "the channel is connected as another identity"))
      }
    }
    complete(id)
  }

  // MARK: Opening

  private mutating func connect() {
    guard let identity else {
      link = .identifying
      return report(.connecting, nil)
    }
    let options = ConnectOptions(
      clientID: identity.mqttClientID, cleanStart: configuration.cleanStart,
      keepAlive: configuration.keepAlive, username: identity.clientID,
      password: identity.password, will: configuration.will)
    let action = perform(.connect(options), for: .connect)
    link = .connecting(action, until: time.advanced(by: configuration.connectTimeout))
    report(.connecting, nil)
  }

  mutating func noteConnected(_ connected: ClientEvent.Connected) {
    guard case .connecting(let action, _) = link else { return }
    actions[action] = nil
    guard needsRestoring(connected) else { return open() }
    let restoring = perform(
      .subscribe(grants.map { Subscription($0.filter, qos: configuration.subscribeQoS) }),
      for: .restore)
    link = .restoring(
      restoring, grants, until: time.advanced(by: configuration.connectTimeout))
  }

  /// Takes over subscriptions that the first connection has already, as it was open before.
  mutating func adopt(_ filters: [String]) {
    adopted = filters.map { Grant($0, isForApplication: true) }
  }

  /// Takes over subscriptions that were lost with a connection before the first one.
  mutating func resume(_ filters: [String]) {
    grants = filters.map { Grant($0, isForApplication: true) }
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
    open()
  }

  private mutating func open() {
    link = .connected
    if configuration.subscribesAll, needsSubscribeAll, let topics {
      perform(
        .subscribe([Subscription(topics.down + "/#", qos: configuration.subscribeQoS)]),
        for: .subscribeAll)
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
    case .connecting: tryAgain(error, isRefusal: Self.isFinal(reason))
    case .restoring, .connected:
      statistics.lostConnections += 1
      kicks = kicks.suffix(max(0, configuration.kickLimit - 1)) + [time]
      tryAgain(isOscillating ? Self.oscillation(error) : error, isRefusal: isOscillating)
    case .closing(_, let retry?): tryAgain(retry, isRefusal: false)
    case .closing: finishStop()
    }
  }

  private var isOscillating: Bool {
    guard kicks.count >= configuration.kickLimit, let first = kicks.first else { return false }
    return time < first.advanced(by: configuration.kickWindow)
  }

  /// Goes to sleep before the next try, or for good.
  private mutating func tryAgain(_ error: ChannelError, isRefusal: Bool) {
    guard !isRefusal else { return settle(.idle, error, isFinal: true, shown: error) }
    let delay = configuration.reconnect.delay(attempt: failedAttempts, random: &random)
    failedAttempts = min(failedAttempts + 1, 1_000)
    settle(
      .backingOff(until: time.advanced(by: delay)), error, isFinal: false, shown: error)
  }

  /// Leaves a connection behind: nothing that was open on it is waited for.
  private mutating func settle(
    _ link: Link, _ error: ChannelError, isFinal: Bool, shown: ChannelError?
  ) {
    self.link = link
    actions = [:]
    if isFinal { forgetSubscriptions() }
    failOpenCalls(error)
    if isFinal { failStarts(error) }
    log(isFinal ? .error : .warning, .connection, "not connected: \(error)")
    report(.disconnected, shown, isFinal: isFinal)
  }

  private mutating func forgetSubscriptions() {
    grants = []
    needsSubscribeAll = true
  }

  // MARK: Closing

  mutating func disconnect(retryAfter error: ChannelError?) {
    link = .closing(
      until: time.advanced(by: configuration.closeTimeout), retryAfter: error)
    actions = [:]
    perform(.disconnect, for: .disconnect)
  }

  private mutating func finishStop() {
    link = .idle
    actions = [:]
    forgetSubscriptions()
    log(.info, .connection, "stopped")
    for (id, call) in openCalls {
      if case .stopping = call { complete(id) }
    }
  }

  mutating func noteEnd() {
    if case .ended = link { return }
    settle(.ended, Self.endOfWorld, isFinal: true, shown: Self.endOfWorld)
    for (id, _) in openCalls { complete(id) }
  }

  // MARK: Time

  mutating func expireLink() {
    switch link {
    case .backingOff(let until):
      if until <= time { connect() }
    case .connecting(_, let until):
      guard until <= time else { return }
      disconnect(retryAfter: ChannelError(.network, "the cloud did not accept in time"))
    case .restoring(_, _, let until):
      guard until <= time else { return }
      disconnect(retryAfter: ChannelError(.network, "subscriptions were not restored in time"))
    case .closing(let until, let retry):
      guard until <= time else { return }
      if let retry { tryAgain(retry, isRefusal: false) } else { finishStop() }
    case .idle, .identifying, .connected, .ended: break
    }
  }

  /// CONNECT or DISCONNECT was not handed over.
  mutating func noteLinkRefusal(_ error: DataClientError) {
    switch link {
    case .connecting:
      let error = Self.error(for: error)
      tryAgain(error, isRefusal: error.kind == .client)
    case .restoring: disconnect(retryAfter: Self.error(for: error))
    case .closing(_, let retry?): tryAgain(retry, isRefusal: false)
    case .closing: finishStop()
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

import RepriseCore

/// The connection: what its keeper wants done, and what that means for calls and lines.
extension GatewayStateMachine {
  mutating func start(_ id: CallID) {
    if case .idle = keeper.link { lastLoss = nil }
    guard let steps = keeper.start(time) else {
      let isOver = keeper.link == .ended
      return fail(
        id,
        isOver
          ? Self.error(for: .ended)
          : GatewayError(.client, "the gateway is being stopped; start it when it is"))
    }
    guard state != .connected else { return complete(id) }
    calls[id] = .starting
    if let timeout = configuration.startTimeout { setTimer(.call(id), in: timeout) }
    follow(steps)
  }

  mutating func stop(_ id: CallID) {
    calls[id] = .stopping
    follow(keeper.stop(time))
  }

  mutating func connect() {
    perform(
      .connect(
        ConnectOptions(
          clientID: identity.mqttClientID, cleanStart: !configuration.receivesOfflineMessages,
          keepAlive: configuration.keepAlive, username: identity.clientID,
          password: identity.password)),
      for: .connect)
    report(.connecting, nil)
  }

  // MARK: Coming up

  /// The new connection gets what the old one had, but for what belongs to lines.
  mutating func restore() {
    if let adopted = adopted.take() { return takeOver(adopted) }
    let own = topics.own
    let filters = own + grants.filters.filter { !own.contains($0) }.sorted()
    perform(.subscribe(filters.map { subscription($0) }), for: .restore(filters))
  }

  /// Takes over what the first connection has already, as it was open before.
  /// - Parameters:
  ///   - filters: What was subscribed to besides what every gateway is, each with the sub-device whose line has it.
  ///   - online: The sub-devices that are online, and the ways to them.
  package mutating func adopt(
    _ filters: [(filter: String, subdevice: Subdevice?)], online: [(ConnectionID, SubdeviceInfo)]
  ) {
    adopted = Adopted(filters: filters, online: online)
  }

  /// Takes over subscriptions that were made before this gateway was there.
  /// - Parameter filters: The filters, each with the sub-device whose line has it, or asks for it when it comes online.
  package mutating func resume(_ filters: [(filter: String, subdevice: Subdevice?)]) {
    for (filter, subdevice) in filters {
      if let subdevice, lines[subdevice] == nil {
        wishes.insert(filter, of: .line(subdevice))
      } else {
        insertOwned(filter, by: GatewayOwner(subdevice))
      }
    }
  }

  private mutating func takeOver(_ adopted: Adopted) {
    follow(keeper.noteRestored())
    for (connection, info) in adopted.online {
      let subdevice = info.subdevice
      accesses[connection] = SubdeviceAccess(subdevice: subdevice)
      lines[subdevice] = Line(
        connection: connection, info: info, state: .online, wantsOnline: true)
      guard configuration.subscribesToCommands else { continue }
      for filter in GatewayTopics.commands(of: subdevice) {
        grants.insert(filter, of: .line(subdevice))
      }
    }
    resume(adopted.filters)
    for (_, info) in adopted.online { tellChange(of: info.subdevice, nil) }
  }

  /// Notes a filter as an owner's, who has wished for it unless it is there for replies or commands.
  private mutating func insertOwned(_ filter: String, by owner: GatewayOwner) {
    grants.insert(filter, of: owner)
    if case .line(let subdevice) = owner, GatewayTopics.commands(of: subdevice).contains(filter) {
      return
    }
    if !filter.hasSuffix("_reply") { wishes.insert(filter, of: owner) }
  }

  mutating func noteRestored(_ filters: [String], _ granted: [QoS?]) {
    for (filter, qos) in zip(filters, granted) where qos == nil {
      grants.remove(filter)
      forgetWish(filter, of: .gateway)
      log(.warning, .subscription, "the cloud does not grant \(filter)")
    }
    follow(keeper.noteRestored())
  }

  mutating func noteOpened() {
    syncTopology()
    restoring = Set(lines.filter { $0.value.wantsOnline && !$0.value.isDisabled }.keys)
    loginsToCome = restoring.sorted()
    guard !restoring.isEmpty else { return reportConnected() }
    setTimer(.restoring, in: configuration.restoreTimeout)
    logInAgain()
  }

  /// The lines are as they were before, or as far as they could be brought in time.
  mutating func reportConnected() {
    guard case .open = keeper.link else { return }
    restoring = []
    deadlines.set(nil, for: .restoring)
    log(.info, .connection, "connected")
    lastLoss = nil
    report(.connected, nil)
    for (id, call) in openCalls {
      if case .starting = call { complete(id) }
    }
  }

  // MARK: Going down

  /// Leaves a connection behind: nothing that was open on it is waited for, and no sub-device is
  /// online.
  mutating func goDown(_ reason: ConnectionKeeper.Reason, isFinal: Bool) {
    let error = Self.error(for: reason)
    log(isFinal ? .error : .warning, .connection, "not connected: \(error)")
    forgetActions()
    restoring = []
    loginsToCome = []
    deadlines.set(nil, for: .restoring)
    // Before calls fail: who is told that one has failed finds the lines as they are.
    if reason == .stopped { forgetWishes() }
    for subdevice in lines.keys.sorted() { apply(.gatewayLost, to: subdevice, error: error) }
    failAll(error, isFinal: isFinal)
    // The cloud has ended all sessions with the connection.
    departed = []
    // A filter without a user is not subscribed to on the next connection.
    for filter in Array(grants.filters) where grants.isOrphan(filter) { grants.remove(filter) }
    if isFinal {
      grants.removeAll()
      for filter in wishes.disownAll(by: .gateway) { wishes.remove(filter) }
    }
    let shown = reason == .stopped ? nil : error
    lastLoss = shown
    report(.disconnected, shown, isFinal: isFinal)
  }

  /// A gateway that was stopped starts with nothing online.
  private mutating func forgetWishes() {
    for subdevice in lines.keys { lines[subdevice]?.wantsOnline = false }
  }

  private mutating func failAll(_ error: GatewayError, isFinal: Bool) {
    replies.forgetSubscribing()
    for id in operations.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      finish(id, .failure(error))
    }
    for id in requests.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      finish(id, .failure(error))
    }
    for (id, call) in openCalls {
      switch call {
      case .starting: if isFinal { fail(id, error) }
      case .publishing, .subscribing, .unsubscribing, .sweeping: fail(id, error)
      case .stopping, .settingUp, .requesting, .parts: break
      }
    }
  }

  mutating func finishStop() {
    forgetActions()
    for (id, call) in openCalls {
      if case .stopping = call { complete(id) }
    }
  }

  private mutating func report(
    _ state: ChannelState, _ error: GatewayError?, isFinal: Bool = false
  ) {
    guard state != self.state else { return }
    self.state = state
    tell(
      .changeState(
        GatewayStateChange(state: state, error: error, isFinal: isFinal, time: time)))
  }
}

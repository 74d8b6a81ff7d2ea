import RepriseCore

/// The connection: what its keeper wants done, and what that means for requests; and its heartbeats.
extension RequestStateMachine {
  // MARK: Calls

  mutating func open(_ id: CallID) {
    guard let steps = keeper.start(time) else {
      let error =
        keeper.link == .ended
        ? Self.endOfWorld
        : RequestError(.client, "the connection is being closed; open it when it is")
      return fail(id, error)
    }
    guard keeper.link != .open else { return complete(id) }
    opens.append(id)
    follow(steps)
    reportUnreachable()
  }

  mutating func close(_ id: CallID) {
    guard keeper.link != .idle, keeper.link != .ended else {
      // That it gave up is over: the network's return starts nothing any more.
      if state == .gaveUp { report(.idle) }
      return complete(id)
    }
    closes.append(id)
    let steps = keeper.stop(time)
    follow(transport == .frames ? steps.disconnectingFirst : steps)
  }

  mutating func setReachable(_ isReachable: Bool) {
    guard isReachable != self.isReachable else { return }
    self.isReachable = isReachable
    if isReachable { foundNoNetwork = false }
    // What answers requests itself has no connection that a network would have to carry.
    if transport == .frames { follow(keeper.setReachable(isReachable, time)) }
    reportUnreachable()
    switch keeper.link {
    // A connection that was given up is wanted still; only the application's close ends that.
    case .idle where isReachable && state == .gaveUp: follow(keeper.start(time) ?? [])
    case .open:
      nextHeartbeat = nil
      if isReachable { beat() }
    case .idle, .identifying, .connecting, .restoring, .backingOff, .closing, .ended: break
    }
  }

  private mutating func reportUnreachable() {
    guard !isReachable, case .backingOff = keeper.link else { return }
    report(.unreachable, noConnection)
  }

  // MARK: What the keeper wants

  mutating func connect() {
    guard transport == .frames else { return follow(keeper.noteConnected(time)) }
    if !configuration.countsOnAfterReconnecting {
      // A connection has numbers of its own: a late answer belongs to the one before.
      lastID = 0
      memory = RecentFates()
    }
    perform(.connect(ConnectOptions()), for: nil)
    report(.connecting)
  }

  mutating func restore() { follow(keeper.noteRestored()) }

  mutating func noteOpened() {
    keeper.noteSignOfLife()
    report(.open)
    beat()
    for id in opens { complete(id) }
    sendQueued()
  }

  mutating func disconnect() {
    nextHeartbeat = nil
    guard transport == .frames else { return follow(keeper.noteClosed(.byUser, time)) }
    perform(.disconnect, for: nil)
  }

  mutating func goDown(_ reason: ConnectionKeeper.Reason, isFinal: Bool) {
    nextHeartbeat = nil
    statistics.lostConnections = Int(clamping: keeper.lostConnections)
    switch reason {
    case .stopped:
      failAll(RequestError(.serverConnection, "the application closed the connection"))
      let isClosing = if case .closing = keeper.link { transport == .frames } else { false }
      report(isClosing ? .closing : .idle)
    case .ended:
      failAll(Self.endOfWorld)
      report(.idle, Self.endOfWorld)
    case .closed, .refused, .failed, .timedOut, .oscillation:
      foundNoNetwork = reason.isLackOfNetwork
      let error = hasNetwork ? RequestError(reason) : noConnection
      if isFinal { failAll(error) } else { failUnlessResent(error) }
      report(isFinal ? .gaveUp : hasNetwork ? .waiting : .unreachable, error)
    }
  }

  mutating func finishStop() {
    failAll(RequestError(.serverConnection, "the connection is closed"))
    report(.idle)
    for id in closes { complete(id) }
  }

  /// Connecting, sending or disconnecting was not handed over.
  mutating func noteRefusal(of action: ClientAction.ID, _ error: DataClientError) {
    if let call = actions.close(action) { return giveUp(call, RequestError(error)) }
    follow(keeper.noteRefusal(error, time))
  }

  // MARK: Heartbeats

  mutating func beat() {
    guard transport == .frames, isReachable, let interval = configuration.heartbeatInterval else {
      return
    }
    let id = nextID()
    memory.note(id, .heartbeat)
    let beat = configuration.format.heartbeat(product: configuration.product, id: id)
    perform(.sendText(beat), for: nil)
    nextHeartbeat = time.advanced(by: interval)
  }

  mutating func nextID() -> Int {
    lastID &+= 1
    return lastID
  }

  // MARK: Errors

  static let endOfWorld = RequestError(.serverConnection, "there are no more events")

  /// Whether there is a network, as far as the application says and the last try showed.
  private var hasNetwork: Bool { isReachable && !foundNoNetwork }

  /// What requests fail with that find no connection.
  var noConnection: RequestError {
    hasNetwork
      ? RequestError(.serverConnection, "there is no connection to the server")
      : RequestError(.unreachable, "the network is not there")
  }
}

extension RequestConfiguration {
  /// How patient the keeper of the connection is.
  var keeperRules: ConnectionKeeper.Rules {
    ConnectionKeeper.Rules(
      connectTimeout: connectTimeout, closeTimeout: closeTimeout, backOff: reconnect,
      retryLimit: reconnectLimit, givesUpWhenRefused: false, kickLimit: nil, kickWindow: .zero)
  }
}

extension ConnectionKeeper.Reason {
  /// Whether there was no connection because there is no network.
  fileprivate var isLackOfNetwork: Bool {
    if case .closed(.unreached(_, .noNetwork)) = self { true } else { false }
  }
}

extension RequestError {
  /// The client did not take an action.
  init(_ error: DataClientError) {
    let isWrong = error.code == .invalidAction || error.code == .unsupported
    self.init(isWrong ? .client : .serverConnection, error.message)
  }

  /// There is no connection.
  init(_ reason: ConnectionKeeper.Reason) {
    switch reason {
    case .refused(let error): self.init(error)
    case .closed(let closed), .oscillation(let closed):
      self.init(.serverConnection, Self.text(of: closed))
    case .failed(let failure): self.init(.serverConnection, "\(failure)")
    case .timedOut(let text): self.init(.serverConnection, text)
    case .stopped: self.init(.serverConnection, "the application closed the connection")
    case .ended: self = RequestStateMachine.endOfWorld
    }
  }

  private static func text(of reason: ClientEvent.Closed) -> String {
    switch reason {
    case .byUser, .refused: "\(reason)"
    case .byServer(_, let reason), .lost(let reason), .unreached(let reason, _):
      "the connection was lost: \(reason)"
    }
  }
}

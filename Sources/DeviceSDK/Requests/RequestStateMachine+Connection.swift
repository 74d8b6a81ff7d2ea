import DataClient

/// Opening, losing and closing the connection, and its heartbeats.
extension RequestStateMachine {
  // MARK: Calls

  mutating func open(_ id: CallID) {
    switch link {
    case .open: return complete(id)
    case .connecting, .waiting, .unreachable, .closing(_, .some): opens.append(id)
    case .idle, .gaveUp:
      opens.append(id)
      startTrying()
    case .closing:
      outputs.append(
        .complete(
          id, .failure(RequestError(.client, "the connection is being closed; open it when it is")))
      )
    case .ended: outputs.append(.complete(id, .failure(Self.endOfWorld)))
    }
  }

  mutating func close(_ id: CallID) {
    let closed = RequestError(.serverConnection, "the application closed the connection")
    switch link {
    case .idle, .gaveUp, .ended: return complete(id)
    case .open where transport == .requests, .waiting, .unreachable:
      settle(.idle, .idle, closed, shown: nil)
      complete(id)
    case .connecting, .open:
      closes.append(id)
      disconnect(retryAfter: nil)
      failAll(closed)
      report(.closing)
    case .closing(let until, _):
      closes.append(id)
      link = .closing(until: until, retryAfter: nil)
      failAll(closed)
      report(.closing)
    }
  }

  mutating func setReachable(_ isReachable: Bool) {
    guard isReachable != self.isReachable else { return }
    self.isReachable = isReachable
    switch link {
    case .unreachable where isReachable: connect()
    // Who was given up is wanted still; only the application's close ends that.
    case .gaveUp where isReachable: startTrying()
    case .waiting:
      link = .unreachable
      report(.unreachable, noConnection)
    case .open:
      nextHeartbeat = nil
      if isReachable { beat() }
    case .idle, .connecting, .unreachable, .closing, .gaveUp, .ended: break
    }
  }

  // MARK: Opening

  /// Begins to open the connection, with all tries before it.
  private mutating func startTrying() {
    failedTries = 0
    switch transport {
    case .requests: noteConnected()
    case .frames where isReachable: connect()
    case .frames:
      link = .unreachable
      report(.unreachable, noConnection)
    }
  }

  private mutating func connect() {
    // A connection has identifiers of its own: a late answer belongs to the one before.
    lastID = 0
    memory = AnswerMemory()
    perform(.connect(ConnectOptions()))
    link = .connecting(until: time.advanced(by: configuration.connectTimeout))
    report(.connecting)
  }

  mutating func noteConnected() {
    switch link {
    case .connecting: break
    case .idle, .gaveUp: guard transport == .requests else { return }
    case .open, .waiting, .unreachable, .closing, .ended: return
    }
    link = .open
    failedTries = 0
    report(.open)
    beat()
    for id in opens { complete(id) }
    opens = []
    sendQueued()
  }

  // MARK: Losing

  mutating func noteClosed(_ reason: ClientEvent.Closed) {
    let error = RequestError(.serverConnection, Self.text(of: reason))
    switch link {
    case .connecting: tryAgain(error)
    case .open:
      statistics.lostConnections += 1
      tryAgain(isReachable ? error : noConnection)
    case .closing(_, let retry?): tryAgain(retry)
    case .closing: finishClosing()
    case .idle, .waiting, .unreachable, .gaveUp, .ended: break
    }
  }

  /// Waits for the next try, or gives up.
  private mutating func tryAgain(_ error: RequestError) {
    nextHeartbeat = nil
    guard failedTries < configuration.reconnectLimit else {
      return settle(.gaveUp, .gaveUp, error, shown: error)
    }
    guard isReachable else {
      failUnlessResent(noConnection)
      link = .unreachable
      return report(.unreachable, noConnection)
    }
    let delay = configuration.reconnect.delay(attempt: failedTries, random: &random)
    failedTries += 1
    failUnlessResent(error)
    link = .waiting(until: time.advanced(by: delay))
    report(.waiting, error)
  }

  private mutating func disconnect(retryAfter error: RequestError?) {
    nextHeartbeat = nil
    perform(.disconnect)
    link = .closing(
      until: time.advanced(by: configuration.closeTimeout), retryAfter: error)
  }

  private mutating func finishClosing() {
    settle(
      .idle, .idle, RequestError(.serverConnection, "the connection is closed"), shown: nil)
    for id in closes { complete(id) }
    closes = []
  }

  /// Comes to rest: nothing more happens by itself.
  private mutating func settle(
    _ link: Link, _ state: RequestConnectionState, _ error: RequestError, shown: RequestError?
  ) {
    self.link = link
    nextHeartbeat = nil
    failAll(error)
    report(state, shown)
  }

  mutating func noteEnd() {
    if case .ended = link { return }
    settle(.ended, .idle, Self.endOfWorld, shown: Self.endOfWorld)
    for id in closes { complete(id) }
    closes = []
  }

  /// Connecting, sending or disconnecting was not handed over.
  mutating func noteRefusal(of action: ClientAction.ID, _ error: DataClientError) {
    let error = RequestError(
      error.code == .invalidAction || error.code == .unsupported ? .client : .serverConnection,
      error.message)
    if let call = actions.removeValue(forKey: action) { return fail(call, error) }
    switch link {
    case .connecting: tryAgain(error)
    case .closing(_, let retry?): tryAgain(retry)
    case .closing: finishClosing()
    case .idle, .open, .waiting, .unreachable, .gaveUp, .ended: break
    }
  }

  // MARK: Time

  mutating func expireLink() {
    switch link {
    case .connecting(let until):
      guard until <= time else { return }
      disconnect(retryAfter: RequestError(.serverConnection, "the server did not accept in time"))
    case .waiting(let until): if until <= time { connect() }
    case .closing(let until, let retry):
      guard until <= time else { return }
      if let retry { tryAgain(retry) } else { finishClosing() }
    case .open: if let nextHeartbeat, nextHeartbeat <= time { beat() }
    case .idle, .unreachable, .gaveUp, .ended: break
    }
  }

  private mutating func beat() {
    guard transport == .frames, isReachable, let interval = configuration.heartbeatInterval else {
      return
    }
    let id = nextID()
    memory.note(id, .heartbeat)
    perform(.sendText(RequestEnvelope.heartbeat(product: configuration.product, id: id)))
    nextHeartbeat = time.advanced(by: interval)
  }

  mutating func nextID() -> Int {
    lastID &+= 1
    return lastID
  }

  // MARK: Errors

  static let endOfWorld = RequestError(.serverConnection, "there are no more events")

  /// What requests fail with that find no connection.
  var noConnection: RequestError {
    isReachable
      ? RequestError(.serverConnection, "there is no connection to the server")
      : RequestError(.unreachable, "the network is not there")
  }

  private static func text(of reason: ClientEvent.Closed) -> String {
    switch reason {
    case .byUser, .refused: "\(reason)"
    case .byServer(_, let reason), .lost(let reason), .unreached(let reason):
      "the connection was lost: \(reason)"
    }
  }
}

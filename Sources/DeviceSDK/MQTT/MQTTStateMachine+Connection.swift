import RepriseCore

/// The connection: what its keeper wants done, and what that means for what waits.
extension MQTTStateMachine {
  mutating func start(_ id: CallID) {
    guard let steps = keeper.start(time) else {
      return fail(
        id, MQTTError(.notConnected, "the session is closed, or being closed; begin another one"))
    }
    if case .open = keeper.link { return complete(id) }
    starts.append(id)
    setDeadline(configuration.startTimeout, for: id)
    follow(steps)
  }

  mutating func stop(_ id: CallID) {
    stops.append(id)
    follow(keeper.stop(time))
  }

  mutating func connect() {
    perform(.connect(configuration.connectOptions), for: .connection)
    report(.connecting)
  }

  mutating func disconnect() { perform(.disconnect, for: .connection) }

  mutating func noteConnected(_ connected: ClientEvent.Connected) {
    actions.purposes = actions.purposes.filter { $0.value != .connection }
    isSessionPresent = connected.isSessionPresent
    server = connected.properties
    follow(keeper.noteConnected(time))
  }

  mutating func noteClosed(_ reason: ClientEvent.Closed) {
    actions.purposes = actions.purposes.filter { $0.value != .connection }
    follow(keeper.noteClosed(reason, time))
  }

  /// The new connection gets what the old one had, unless the server has kept it.
  mutating func restore() {
    if !isSessionPresent { loseSession() }
    let wanted = filters.filter { !$0.value.holders.isEmpty && $0.value.granted == nil }
      .sorted { $0.value.order < $1.value.order }.map(\.key)
    for start in stride(from: 0, to: wanted.count, by: Self.filtersPerPacket) {
      let some = wanted[start..<min(start + Self.filtersPerPacket, wanted.count)]
      restoring.insert(ask(for: Array(some)))
    }
    if restoring.isEmpty { follow(keeper.noteRestored()) }
  }

  /// Some servers take no more in one SUBSCRIBE.
  private static var filtersPerPacket: Int { 8 }

  /// The server knows nothing of what was before this connection.
  private mutating func loseSession() {
    for filter in filters.keys { filters[filter]?.forgetGrant() }
    filters = filters.filter { !$0.value.holders.isEmpty }
    loseMessages()
  }

  /// An answer came that a new connection may have waited for.
  mutating func noteRestored(_ action: ClientAction.ID) {
    guard restoring.remove(action) != nil, restoring.isEmpty else { return }
    follow(keeper.noteRestored())
  }

  mutating func noteOpened() {
    lastReason = nil
    report(.connected(isSessionPresent: isSessionPresent))
    for id in starts { complete(id) }
    for filter in filters.keys.sorted() { settle(filter) }
    sendQueue()
  }

  mutating func goDown(_ reason: ConnectionKeeper.Reason, isFinal: Bool) {
    let error = MQTTError(reason)
    lastReason = error
    loseConnection()
    let isFinal = isFinal || configuration.reconnect == nil
    // A reader of messages is to find out that there are no more before a call fails.
    report(.disconnected, reason == .stopped ? nil : error, isFinal: isFinal)
    if isFinal { giveUp(error) }
    // The next try is of no use to anybody; what the keeper says of its end is known.
    if case .backingOff = keeper.link, isFinal { _ = keeper.stop(time) }
  }

  /// Nothing that was sent is answered any more, unless the session goes on.
  private mutating func loseConnection() {
    restoring = []
    actions.purposes = actions.purposes.filter {
      if case .message = $0.value { !configuration.cleanStart } else { $0.value == .connection }
    }
    for filter in filters.keys {
      filters[filter]?.noteLoss()
      if configuration.cleanStart { filters[filter]?.forgetGrant() }
    }
    if configuration.cleanStart { loseMessages() } else { loseUnkept() }
  }

  private mutating func giveUp(_ error: MQTTError) {
    for id in starts { fail(id, error) }
    for id in messages.keys.sorted() { fail(id, error) }
    for id in holds.keys.sorted() { fail(id, error) }
    queue = []
    filters = [:]
    actions.purposes = actions.purposes.filter { $0.value == .connection }
  }

  mutating func finishStop() {
    for id in stops { complete(id) }
  }

  private mutating func report(
    _ next: MQTTStateChange.State, _ error: MQTTError? = nil, isFinal: Bool = false
  ) {
    guard next != state || isFinal else { return }
    state = next
    tell(.changeState(MQTTStateChange(next, error: error, isFinal: isFinal, time: time)))
  }
}

import Wire

/// The user's side of the machine: actions, and which of them the session has next.
extension ReplayMachine {
  /// Takes an action if it is the one that the session has next.
  mutating func perform(_ action: ClientAction) throws(DataClientError) {
    if let failure { throw failure }
    try check(action)
    guard let index = nextAction else {
      if mayLeave(before: events.count, action.kind) { return link = .leaving }
      throw fail(extra(action))
    }
    if mayLeave(before: index, action.kind) { return link = .leaving }
    if let hole = hole(before: index) { throw fail(hole) }
    let event = events[index]
    if event.isOpenedAnyhow, case .connect = action.kind {
      return accept(action, at: index)
    }
    guard let recorded = RecordedAction(event, aliases: clientAliases) else {
      throw fail(other(event, action, [], later: nil))
    }
    var comparison = ReplayComparison(options)
    comparison.compare(recorded.kind, action.kind)
    guard comparison.differences.isEmpty else {
      throw fail(other(event, action, comparison.differences, later: find(action, from: index + 1)))
    }
    bindings.bind(comparison.bindings, at: index)
    accept(action, at: index)
  }

  /// The connection has to be as the port asks, whatever the session says.
  private func check(_ action: ClientAction) throws(DataClientError) {
    guard capabilities.isSuperset(of: action.kind.needs) else {
      throw DataClientError(
        .unsupported,
        capabilities.contains(.frames)
          ? "a session of WebSocket has no topics; replay text and binary messages"
          : "a session of MQTT has topics only; replay publish and subscribe")
    }
    switch (action.kind, link) {
    case (.connect, .closed), (.disconnect, .open), (.disconnect, .connecting): return
    case (.subscribe, .open), (.unsubscribe, .open), (.publish, .open), (.send, .open),
      (.sendText, .open), (.sendBinary, .open):
      return
    case (.connect, _):
      throw DataClientError(
        .invalidAction, "there is a connection already; wait for its closed event first")
    case (.disconnect, _), (.subscribe, _), (.unsubscribe, _), (.publish, _), (.send, _),
      (.sendText, _), (.sendBinary, _):
      throw DataClientError(
        .notConnected, "\(action.kind.name) needs a connection; wait for the connected event first")
    }
  }

  private mutating func accept(_ action: ClientAction, at index: Int) {
    let event = events[index]
    switch action.kind {
    case .connect:
      link = .connecting
      clientAliases.removeAll()
    case .disconnect: link = .leaving
    case .publish:
      event.withView { view in
        guard case .mqtt(let packet) = view.body else { return }
        _ = clientAliases.topic(of: packet)
      }
    case .subscribe, .unsubscribe, .send, .sendText, .sendBinary: break
    }
    performed.append(action.id)
    // An action happens at its recorded time, unless there is something to hand out before it.
    let isNext = !events[min(position, index)..<index].contains { $0.role(implied).hasTime }
    if isNext, !isPaced { now = max(now, event.context.time) }
    acted = index + 1
    performedCount += 1
    note(performed: event.context)
  }

  /// What is missing of the client before an action: perhaps the very one that is performed.
  private func hole(before index: Int) -> DataClientError? {
    for event in events[min(max(acted, position), index)..<index] {
      guard case .hole = event.role(implied), event.context.sender == .client,
        !over.contains(event.context.connection)
      else { continue }
      return incomplete(event, "bytes")
    }
    return nil
  }

  /// What is expected at a place.
  func expectation(at index: Int) -> ReplayExpectation {
    ReplayExpectation(events[index], ordinal: performedCount, aliases: clientAliases)
  }

  /// Whether an action is the opening of a connection whose CONNECT was not captured.
  func isOpening(_ index: Int) -> Bool {
    if case .opened = events[index].body { true } else { false }
  }

  /// Performs the action that is due just as it was recorded.
  /// - Returns: The action; nil when there is none, or it can't be decoded.
  mutating func performAsRecorded() -> (ClientAction, EventContext)? {
    guard let index = nextAction else { return nil }
    let event = events[index]
    let id = ClientAction.ID(rawValue: UInt32(truncatingIfNeeded: performedCount))
    let action: ClientAction
    if case .opened = event.body {
      action = ClientAction(id, .connect(ConnectOptions()))
    } else {
      guard let recorded = RecordedAction(event, aliases: clientAliases) else { return nil }
      action = ClientAction(id, recorded.kind)
    }
    do throws(DataClientError) { try perform(action) } catch { return nil }
    return (action, event.context)
  }

  /// Where the next action stands that was not performed; nil at the end.
  var nextAction: Int? {
    var index = max(acted, position)
    while index < events.count {
      if case .action = events[index].role(implied) { return index }
      index += 1
    }
    return nil
  }

  /// Whether the recorded client left the open connection without a DISCONNECT, so that the user may.
  private func mayLeave(before index: Int, _ kind: ClientAction.Kind) -> Bool {
    // A CONNECT that was performed may not have been passed yet.
    let connecting = link == .connecting && acted > 0 ? events[acted - 1].context.connection : nil
    guard case .disconnect = kind, let connection = openConnection ?? connecting else {
      return false
    }
    for event in events[min(position, index)..<index] {
      guard case .closed(let closing) = event.body, event.context.connection == connection
      else { continue }
      return closing.how == .endOfCapture || event.context.sender == .client
    }
    // A session without a closing breaks off like a capture.
    return index == events.count
  }

  /// Where the session has an action, looked for among the next ones.
  private func find(_ action: ClientAction, from index: Int) -> ReplayPlace? {
    var looked = 0
    for event in events[min(index, events.count)...] {
      guard case .action = event.role(implied) else { continue }
      looked += 1
      guard looked < 200 else { return nil }
      guard let recorded = RecordedAction(event, aliases: clientAliases) else { continue }
      var comparison = ReplayComparison(options)
      comparison.compare(recorded.kind, action.kind)
      if comparison.differences.isEmpty { return ReplayPlace(event.context) }
    }
    return nil
  }
}

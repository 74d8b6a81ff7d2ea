/// The user's side of the machine: actions, and which of them the session has next.
extension ReplayMachine {
  /// Takes an action if it is one that the session may have next.
  mutating func perform(_ action: ClientAction) throws(DataClientError) {
    if let failure { throw failure }
    try check(action)
    guard let first = try nextAction() else {
      if mayLeave(before: nil, action.kind) { return link = .leaving }
      throw fail(extra(action))
    }
    if mayLeave(before: first.number, action.kind) { return link = .leaving }
    if let hole = hole(before: first.number) { throw fail(hole) }
    if first.event.isOpenedAnyhow, case .connect = action.kind { return accept(action, first) }
    guard let (next, comparison) = try choose(action, first) else {
      throw fail(try otherAction(action, first))
    }
    bindings.bind(comparison.bindings, at: next.number, handingOut: position)
    accept(action, next)
  }

  /// The connection has to be as the port asks, whatever the session says.
  private func check(_ action: ClientAction) throws(DataClientError) {
    let capabilities = stream.totals.capabilities
    guard stream.totals.content != .requests else { return try Self.check(request: action.kind) }
    guard capabilities.contains(.properties) || !action.kind.needs.contains(.properties) else {
      throw DataClientError(
        .unsupported,
        "MQTT 3.1.1 has no properties; replay a session of MQTT 5.0, or send the message without them"
      )
    }
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

  private mutating func accept(_ action: ClientAction, _ next: ReplayOutlook.Action) {
    let event = next.event
    switch action.kind {
    case .connect: link = .connecting
    case .disconnect: link = .leaving
    case .publish, .subscribe, .unsubscribe, .send, .sendText, .sendBinary: break
    }
    var place = performed.endIndex
    while place > 0, performed[place - 1].number > next.number { place -= 1 }
    performed.insert((next.number, action.id), at: place)
    stream.takeAction(at: next.ordinal)
    acted = stream.outlook.acted
    // An action happens at its recorded time, unless there is something to hand out, or to perform, before it.
    let isNext = (next.lastTimed ?? -1) < position && acted > next.number
    if isNext, !isPaced {
      now = max(now, event.context.time)
      heard = max(heard, event.context.time)
    }
    actedConnection = event.context.connection
    performedCount += 1
    noteRequest(event)
    note(performed: event.context)
    reach(event.context, number: next.number)
  }

  /// What is missing of the client before an action: perhaps the very one that is performed.
  private func hole(before number: Int) -> DataClientError? {
    for hole in stream.outlook.holes where hole.number >= max(acted, position) {
      guard hole.number < number else { return nil }
      if !over.contains(hole.event.context.connection) { return incomplete(hole.event, "bytes") }
    }
    return nil
  }

  /// What is expected next; nil when there is no more action, or it can't be read.
  mutating func expectation() -> ReplayExpectation? {
    guard let next = try? nextAction() else { return nil }
    return ReplayExpectation(
      next.event, ordinal: next.ordinal, recorded: stream.recorded(at: next.ordinal))
  }

  /// Performs the action that is due just as it was recorded.
  /// - Returns: The action; nil when there is none, or it can't be decoded.
  mutating func performAsRecorded() -> RecordedStep? {
    guard let next = try? nextAction() else { return nil }
    let event = next.event
    let id = ClientAction.ID(rawValue: UInt32(truncatingIfNeeded: performedCount))
    let kind: ClientAction.Kind
    var isImplied = false
    if case .opened = event.body {
      kind = .connect(ConnectOptions())
      isImplied = true
    } else {
      guard let recorded = stream.recorded(at: next.ordinal) else { return nil }
      kind = recorded.kind
    }
    let action = ClientAction(id, kind)
    do throws(DataClientError) { try perform(action) } catch { return nil }
    return RecordedStep(action: action, place: ReplayPlace(event.context), isImplied: isImplied)
  }

  /// An action that was performed as it was recorded.
  struct RecordedStep {
    let action: ClientAction
    let place: ReplayPlace
    /// Whether it is the opening of a connection whose CONNECT was not captured.
    let isImplied: Bool
  }

  /// Whether the session has an action that was not performed.
  var hasNextAction: Bool { performedCount < stream.totals.actions }

  /// The next action that was not performed; nil at the end.
  mutating func nextAction() throws(DataClientError) -> ReplayOutlook.Action? {
    do {
      return try stream.nextAction()
    } catch { throw fail(error) }
  }

  /// Whether the recorded client left the open connection without a DISCONNECT, so that the user may.
  /// - Parameters:
  ///   - number: Where the next action stands; nil when there is none.
  ///   - kind: What the user wants.
  /// - Returns: Whether a DISCONNECT is no action of the session, and all the same in order.
  private func mayLeave(before number: Int?, _ kind: ClientAction.Kind) -> Bool {
    // A CONNECT that was performed may not have been passed yet.
    let connecting = link == .connecting ? actedConnection : nil
    guard case .disconnect = kind, let connection = openConnection ?? connecting else {
      return false
    }
    for end in stream.outlook.ends where end.number >= position && end.connection == connection {
      return end.number < number ?? .max ? end.mayBeOfUser : false
    }
    // A session without a closing breaks off like a capture.
    return number == nil
  }
}

package import RepriseCore

/// A world in process and in virtual time, in which the cloud does what the steps say and nothing else.
package final class ScriptedWorld: ScenarioWorld {
  private let scripted: ScriptedClient

  /// Creates a world in which nothing has happened.
  /// - Parameter system: The system that lives in it, to have the capabilities of its transport and no
  ///   others; nil has all.
  package init(for system: Scenario.System? = nil) {
    let hasFramesOnly = system == .requests
    scripted = ScriptedClient(hasFramesOnly ? [.frames, .push, .binary] : ScriptedClient.all)
  }

  /// The client that the subject lives on.
  package var client: any DataClient { scripted }

  /// Lets the cloud answer what is open, or do something of its own.
  /// - Parameter step: What the cloud does.
  /// - Throws: `DataClientError` when nothing is open that could be answered like that.
  package func perform(_ step: CloudStep) async throws { try scripted.perform(step) }

  /// Does nothing: there is nothing to give back.
  package func end() async throws {}
}

/// The client of a `ScriptedWorld`: keeps what is open, and hands out what it was told to.
private final class ScriptedClient: DataClient {
  private struct State: EventSource {
    /// 2027-01-15T08:00:00Z, as good as any.
    var now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
    var open: [ClientAction] = []
    var events = Fifo<ClientEvent>()

    /// What there is for a reader; nil when it has to wait.
    mutating func take(before deadline: Timestamp?) -> ClientEvent? {
      if let event = events.popFirst() { return event }
      guard let deadline else { return nil }
      now = max(now, deadline)
      return .deadline
    }
  }

  private let desk = EventDesk(State())

  static let all: Capabilities = [
    .messages, .retain, .will, .exactlyOnce, .push, .binary, .requests, .frames,
  ]

  let capabilities: Capabilities

  init(_ capabilities: Capabilities) { self.capabilities = capabilities }

  var now: Timestamp { desk.read { $0.now } }

  func perform(_ action: ClientAction) async throws {
    switch action.kind {
    // Messages without topics have no receipt, and nobody waits for one.
    case .sendText, .sendBinary: return
    // Of QoS 0 nobody sends a receipt: it is published when it is written.
    case .publish(let message) where message.qos == .atMostOnce:
      desk.change { $0.events.append(.published(action.id)) }
    case .connect, .subscribe, .unsubscribe, .publish, .send, .disconnect:
      desk.change { $0.open.append(action) }
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await desk.next(before: deadline)
  }

  func wake() { desk.wake() }

  // MARK: The cloud

  func perform(_ step: CloudStep) throws {
    let event = try event(of: step)
    desk.change { $0.events.append(event) }
  }

  private func event(of step: CloudStep) throws -> ClientEvent {
    switch step {
    case .accept:
      _ = try takeOpen("CONNECT") { if case .connect = $0 { true } else { false } }
      return .connected(.init())
    case .refuse(let code): return close(.refused(code: code))
    case .lose: return close(.lost("the scenario says so"))
    case .hangUp: return close(.byServer(code: nil, "the scenario says so"))
    case .close: return close(.byUser)
    case .send(let message): return .message(message)
    case .grant(let granted):
      let action = try takeOpen("SUBSCRIBE") { if case .subscribe = $0 { true } else { false } }
      guard case .subscribe(let wanted) = action.kind else { return .subscribed(action.id, []) }
      return .subscribed(action.id, granted ?? wanted.map { $0.qos })
    case .acknowledge: return try acknowledge()
    case .frame(.text(let text)): return .text(text)
    case .frame(.binary(let bytes)): return .binary(bytes)
    case .frame(.close(let code)):
      return close(.byServer(code: nil, "the server closed the connection with code \(code)"))
    case .frame(.refuse(let refusal)):
      _ = try takeOpen("handshake") { if case .connect = $0 { true } else { false } }
      return close(.lost("the server refused to switch to WebSocket: \(refusal)"))
    case .act:
      throw DataClientError(
        .unsupported, "the cloud of this world has no mind of its own; give the scenario a cloud")
    }
  }

  private func close(_ reason: ClientEvent.Closed) -> ClientEvent {
    desk.change { $0.open = [] }
    return .closed(reason)
  }

  private func acknowledge() throws -> ClientEvent {
    let action = try takeOpen("PUBLISH or UNSUBSCRIBE") {
      switch $0 {
      case .publish, .unsubscribe: true
      case .connect, .subscribe, .send, .sendText, .sendBinary, .disconnect: false
      }
    }
    if case .publish = action.kind { return .published(action.id) }
    return .unsubscribed(action.id)
  }

  private func takeOpen(
    _ what: String, where isMeant: (ClientAction.Kind) -> Bool
  ) throws -> ClientAction {
    try desk.change { state throws(DataClientError) in
      guard let index = state.open.firstIndex(where: { isMeant($0.kind) }) else {
        throw DataClientError(.noAnswer, "the subject has no \(what) open")
      }
      return state.open.remove(at: index)
    }
  }
}

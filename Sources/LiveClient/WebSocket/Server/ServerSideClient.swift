public import RepriseCore
import Synchronization

/// The server's side of a connection as a world, for whoever answers a client as a cloud does.
///
/// The connection is open from the start, so there is no `connected` for it: `text` and `binary` are what the
/// client sent, `closed` is the end of the connection, and behind it the world ends. It alone may read
/// ``WebSocketServerConnection/events``.
///
/// A message that is sent waits while ``WebSocketServerLimits/unsent`` bytes are not written; what comes
/// waits in the connection, whose socket is left alone beyond ``WebSocketServerLimits/received``.
public final class ServerSideClient: DataClient {
  private struct State {
    var now: Timestamp
    /// The event that is next, once it was taken from the connection.
    var held: (event: ClientEvent, moment: Timestamp)?
    var isRead = false
    var hasEnded = false
    var closure: WebSocketClosure?
  }

  /// What ended the wait for an event.
  private enum Arrival: Sendable { case event, end, wake, nothing }

  private let connection: WebSocketServerConnection
  private let state: Mutex<State>
  /// Has an element from a call of ``wake()`` until it is told.
  private let wakes = ThreadMailbox<Void>(limit: 1)

  /// Takes over a connection.
  /// - Parameter connection: The connection.
  public init(_ connection: WebSocketServerConnection) {
    self.connection = connection
    state = Mutex(State(now: connection.clock.now))
  }

  /// Text and binary messages in both directions.
  public var capabilities: Capabilities { [.frames, .push, .binary] }

  /// The time of the server; it stands still while events wait.
  public var now: Timestamp {
    state.withLock { state in
      // What comes while somebody waits is for them to take.
      if !state.isRead { look(&state) }
      if state.held == nil { state.now = max(state.now, connection.clock.now) }
      return state.now
    }
  }

  /// How the connection ended; nil until it did.
  public var closure: WebSocketClosure? { state.withLock(\.closure) }

  /// Hands an action to the server.
  /// - Parameter action: A message to send, or `disconnect`, which closes the connection with 1000.
  /// - Throws: `DataClientError` when nothing was handed over, or `CancellationError`.
  public func perform(_ action: ClientAction) async throws {
    switch action.kind {
    case .sendText(let text): try await connection.send(text)
    case .sendBinary(let bytes): try await connection.send(bytes)
    case .disconnect: guard connection.finish(1000) else { throw ServerOutbox.closed }
    case .connect, .subscribe, .unsubscribe, .publish, .send:
      throw DataClientError(.unsupported, "a server sends text or binary messages")
    }
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting; nil waits however long it takes.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and `DataClientError` when another task is waiting.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try Task.checkCancellation()
    let isAlone = state.withLock { state in
      defer { state.isRead = true }
      return !state.isRead
    }
    guard isAlone else {
      throw DataClientError(.invalidAction, "another task waits for the next event already")
    }
    defer { state.withLock { $0.isRead = false } }
    while true {
      if let event = state.withLock({ take(&$0, before: deadline) }) { return event }
      let arrivals = await arrivals(before: deadline)
      // What came meanwhile is kept for the next task.
      try Task.checkCancellation()
      if arrivals.contains(.wake) { return .woken }
      if arrivals.contains(.end) { state.withLock { $0.hasEnded = true } }
    }
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `ClientEvent.woken`.
  public func wake() { if wakes.takeRoom() { wakes.append(()) } }

  // MARK: - What there is

  /// What there is to return at once, if anything.
  private func take(_ state: inout State, before deadline: Timestamp?) -> ClientEvent? {
    look(&state)
    if state.held == nil { state.now = max(state.now, connection.clock.now) }
    if wakes.poll() != nil { return .woken }
    guard let (event, moment) = state.held else {
      if state.hasEnded { return .ended }
      return deadline.map { $0 <= state.now } ?? false ? .deadline : nil
    }
    if let deadline, deadline > state.now, deadline < moment {
      state.now = deadline
      return .deadline
    }
    state.now = max(state.now, moment)
    state.held = nil
    if case .closed = event { state.hasEnded = true }
    return event
  }

  /// Takes the next event from the connection, if one waits there.
  private func look(_ state: inout State) {
    while state.held == nil, let told = connection.inbox.poll() { Self.hold(told, in: &state) }
  }

  /// Keeps an event for whoever reads; a PONG is none for them.
  private static func hold(_ told: WebSocketServerEvent.Told, in state: inout State) {
    let event: ClientEvent
    switch told.event {
    case .text(let text): event = .text(text)
    case .binary(let bytes): event = .binary(bytes)
    case .pong: return
    case .closed(let closure):
      event = .closed(closure.toServer)
      state.closure = closure
    }
    state.held = (event, told.moment)
  }

  // MARK: - Waiting

  /// Waits until something has come, ``wake()`` was called, or the deadline has passed.
  ///
  /// Each wait is a task of its own, and the first that ends cancels the others. What they have got by then
  /// is not lost.
  private func arrivals(before deadline: Timestamp?) async -> Set<Arrival> {
    await withTaskGroup(of: Arrival.self) { group in
      group.addTask { await self.receive() }
      group.addTask { await self.wakes.next() == nil ? .nothing : .wake }
      if let deadline {
        let left = deadline.nanoseconds(since: connection.clock.now)
        group.addTask {
          // Cut short only by what makes it pointless.
          try? await Task.sleep(for: .nanoseconds(max(0, left)))
          return .nothing
        }
      }
      var arrivals: Set<Arrival> = []
      for await arrival in group {
        arrivals.insert(arrival)
        group.cancelAll()
      }
      return arrivals
    }
  }

  private func receive() async -> Arrival {
    if let told = await connection.inbox.next() {
      state.withLock { Self.hold(told, in: &$0) }
      return .event
    }
    // Without an end the task was cancelled, and the wait is over for another reason.
    return Task.isCancelled ? .nothing : .end
  }
}

extension WebSocketClosure {
  /// The end as the server sees it, which is the one that disconnects.
  fileprivate var toServer: ClientEvent.Closed {
    switch self {
    case .byServer, .dropped: .byUser
    case .byClient(let code, let reason):
      .lost(
        "the client closed the connection" + (code.map { " with the code \($0)" } ?? "")
          + (reason.isEmpty ? "" : ": \(reason)"))
    case .failed(let code, let message):
      .lost("the connection was closed with the code \(code): \(message)")
    case .lost(let reason): .lost(reason)
    }
  }
}

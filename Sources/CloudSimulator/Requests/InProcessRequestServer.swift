public import RepriseCore
import Synchronization

/// A server of requests and the client that talks to it, in process and in virtual time.
///
/// Time passes only while the client waits for an event: to what the server says next, or to the client's
/// deadline, whichever is first.
public final class InProcessRequestServer: DataClient {
  fileprivate struct Reader {
    let ticket: UInt64
    let continuation: CheckedContinuation<ClientEvent, any Error>
  }

  fileprivate struct State {
    var machine: RequestServerMachine
    /// 2027-01-15T08:00:00Z, as good as any.
    var now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
    var isOpen = false
    var events: [ClientEvent] = []
    var isWoken = false
    var isEnded = false
    var reader: Reader?
    var lastTicket: UInt64 = 0
  }

  private let state: Mutex<State>

  /// Creates a server that nobody has connected to.
  /// - Parameter script: How it behaves.
  public init(_ script: RequestScript = RequestScript()) {
    state = Mutex(State(machine: RequestServerMachine(script)))
  }

  /// Text and binary messages in both directions.
  public var capabilities: Capabilities { [.frames, .push, .binary] }

  /// The time in this world.
  public var now: Timestamp { state.withLock { $0.now } }

  /// Hands an action to the server.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    try state.withLock { state throws(DataClientError) in try state.perform(action.kind) }
    deliver()
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and `DataClientError` when another task waits already.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    // Time passes at no cost, so that a client with a heartbeat would let nobody else run.
    await Task.yield()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isCancelled = Task.isCancelled
        let result = state.withLock { state -> Result<ClientEvent, any Error>? in
          if isCancelled { return .failure(CancellationError()) }
          if let event = state.take(before: deadline) { return .success(event) }
          guard state.reader == nil else {
            return .failure(
              DataClientError(.invalidAction, "only one task can wait for events"))
          }
          state.reader = Reader(ticket: ticket, continuation: continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let reader = state.withLock { $0.reader?.ticket == ticket ? $0.reader.take() : nil }
      reader?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Makes the pending, or the next, ``next(before:)`` return `woken`.
  public func wake() {
    state.withLock { $0.isWoken = true }
    deliver()
  }

  // MARK: What tests do

  /// Breaks the connection.
  public func drop() {
    state.withLock { $0.lose("the server has dropped the connection") }
    deliver()
  }

  /// Ends this world: the connection is lost, and then there are no more events.
  public func end() {
    state.withLock { state in
      state.lose("the server has ended")
      state.isEnded = true
    }
    deliver()
  }

  /// Gives a waiting reader what there is now; one with a deadline never waits.
  private func deliver() {
    let (reader, event) = state.withLock { state -> (Reader?, ClientEvent?) in
      guard state.reader != nil, let event = state.take(before: nil) else { return (nil, nil) }
      return (state.reader.take(), event)
    }
    if let event { reader?.continuation.resume(returning: event) }
  }
}

extension InProcessRequestServer.State {
  fileprivate mutating func perform(_ kind: ClientAction.Kind) throws(DataClientError) {
    guard !isEnded else { throw DataClientError(.notConnected, "the server is gone") }
    switch kind {
    case .connect:
      guard !isOpen else {
        throw DataClientError(.invalidAction, "there is a connection already")
      }
      isOpen = true
      events.append(.connected(.init()))
      take(machine.handle(.opened, now: now))
    case .sendText(let text):
      try checkOpen()
      take(machine.handle(.text(text), now: now))
    case .sendBinary: try checkOpen()
    case .disconnect:
      try checkOpen()
      isOpen = false
      _ = machine.handle(.closed, now: now)
      events.append(.closed(.byUser))
    case .subscribe, .unsubscribe, .publish, .send:
      throw DataClientError(.unsupported, "a server of messages without topics has none")
    }
  }

  private func checkOpen() throws(DataClientError) {
    guard isOpen else { throw DataClientError(.notConnected, "there is no connection") }
  }

  private mutating func take(_ outputs: [RequestServerMachine.Output]) {
    for output in outputs {
      switch output {
      case .text(let text): events.append(.text(text))
      case .binary(let bytes): events.append(.binary(bytes))
      case .close: lose("the server closed the connection with code 1000")
      case .drop: lose("the server has dropped the connection")
      }
    }
  }

  fileprivate mutating func lose(_ reason: String) {
    guard isOpen else { return }
    isOpen = false
    _ = machine.handle(.closed, now: now)
    events.append(.closed(.lost(reason)))
  }

  /// What there is for a reader; nil when it has to wait.
  fileprivate mutating func take(before deadline: Timestamp?) -> ClientEvent? {
    if isWoken {
      isWoken = false
      return .woken
    }
    while true {
      if !events.isEmpty { return events.removeFirst() }
      if isEnded { return .ended }
      guard let next = machine.deadline, next <= deadline ?? next else { break }
      now = max(now, next)
      take(machine.handle(.timePassed, now: now))
    }
    guard let deadline else { return nil }
    now = max(now, deadline)
    return .deadline
  }
}

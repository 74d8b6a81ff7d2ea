public import RepriseCore

/// A server of requests and the client that talks to it, in process and in virtual time.
///
/// Time passes only while the client waits for an event: to what the server says next, or to the client's
/// deadline, whichever is first.
public final class InProcessRequestServer: DataClient {
  fileprivate struct State: EventSource {
    var machine: RequestServerMachine
    /// 2027-01-15T08:00:00Z, as good as any.
    var now = Timestamp(nanoseconds: 1_800_000_000_000_000_000)
    var isOpen = false
    var events = Fifo<ClientEvent>()
    var isEnded = false
    var misfits: [String] = []
  }

  /// The most misfits that are kept.
  fileprivate static let mostMisfits = 100

  private let desk: EventDesk<State>

  /// Creates a server that nobody has connected to.
  /// - Parameter script: How it behaves.
  public init(_ script: RequestScript = RequestScript()) {
    desk = EventDesk(State(machine: RequestServerMachine(script)))
  }

  /// Text and binary messages in both directions.
  public var capabilities: Capabilities { [.frames, .push, .binary] }

  /// The time in this world.
  public var now: Timestamp { desk.read { $0.now } }

  /// Hands an action to the server.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    try action.kind.check(by: capabilities)
    try desk.change { state throws(DataClientError) in try state.perform(action.kind) }
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and `DataClientError` when another task waits already.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    // Time passes at no cost, so that a client with a heartbeat would let nobody else run.
    await Task.yield()
    return try await desk.next(before: deadline)
  }

  /// Makes the pending, or the next, ``next(before:)`` return `woken`.
  public func wake() { desk.wake() }

  /// Why messages of the client were no requests and got no answer, the earliest first: `it has no uniqueId`.
  ///
  /// Where an answer should have come and none did, it tells whether client and script have other names for the parts of
  /// a request. The first hundred are kept.
  public var misfits: [String] { desk.read { $0.misfits } }

  // MARK: What tests do

  /// Breaks the connection.
  public func drop() { desk.change { $0.lose("the server has dropped the connection") } }

  /// Ends this world: the connection is lost, and then there are no more events.
  public func end() {
    desk.change { state in
      state.lose("the server has ended")
      state.isEnded = true
    }
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
      note(machine.misfit(of: text))
      take(machine.handle(.text(text), now: now))
    case .sendBinary:
      try checkOpen()
      note("it is binary")
    case .disconnect:
      try checkOpen()
      isOpen = false
      _ = machine.handle(.closed, now: now)
      events.append(.closed(.byUser))
    case .subscribe, .unsubscribe, .publish, .send:
      throw DataClientError(.unsupported, "a server of messages without topics has none")
    }
  }

  private mutating func note(_ misfit: String?) {
    guard let misfit, misfits.count < InProcessRequestServer.mostMisfits else { return }
    misfits.append(misfit)
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
    while true {
      if let event = events.popFirst() { return event }
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

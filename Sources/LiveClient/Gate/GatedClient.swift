public import DataClient
import Synchronization

/// A client behind a ``BrokerGate`` that has sent what it was asked for when ``perform(_:)`` returns.
///
/// A live client hands an action to its thread, and what happens next may overtake it. Here the gate
/// tells when the action has come by on the wire, so that a capture has the same order as whoever
/// performs; no answer is waited for. What does not come by in the gate's time, ``settle()`` tells: a
/// message that must wait until others are acknowledged, for one, as libmosquitto sends 20 at a time.
///
/// When the client disconnects, the acknowledgements of its messages are let through: it sends
/// DISCONNECT behind them.
public final class GatedClient<Client: DataClient>: DataClient {
  private struct State {
    var connection: UInt64 = 0
    /// How many filters and messages were performed on the connection.
    var requests = 0
    var failure: DataClientError?
  }

  private let client: Client
  private let gate: BrokerGate
  private let state = Mutex(State())

  /// Creates the client.
  /// - Parameters:
  ///   - client: A client that connects to the gate.
  ///   - gate: The gate, which has no other client.
  public init(_ client: Client, gate: BrokerGate) {
    self.client = client
    self.gate = gate
  }

  /// What the client can do.
  public var capabilities: Capabilities { client.capabilities }

  /// The client's time.
  public var now: Timestamp { client.now }

  /// Performs an action, and waits until the gate has seen it.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws.
  public func perform(_ action: ClientAction) async throws {
    switch action.kind {
    case .connect:
      let earlier = gate.lastConnection
      try await client.perform(action)
      await witness {
        let connection = try await gate.awaitConnect(after: earlier)
        state.withLock { ($0.connection, $0.requests) = (connection, 0) }
      }
    case .subscribe(let wanted): try await send(action, requests: wanted.count)
    case .unsubscribe(let filters): try await send(action, requests: filters.count)
    case .publish: try await send(action, requests: 1)
    // MQTT has none of these; the client says so.
    case .send, .sendText, .sendBinary: try await client.perform(action)
    case .disconnect:
      try await client.perform(action)
      await witness { try await gate.awaitGoodbye(on: state.withLock { $0.connection }) }
    }
  }

  private func send(_ action: ClientAction, requests: Int) async throws {
    try await client.perform(action)
    let (connection, count) = state.withLock { state in
      state.requests += requests
      return (state.connection, state.requests)
    }
    await witness { try await gate.awaitRequests(count, on: connection) }
  }

  /// Waits for the gate; the action is handed over, whatever the gate says.
  private func witness(_ wait: () async throws -> Void) async {
    do {
      try await wait()
    } catch {
      // A task that is cancelled waits for nothing any more.
      guard let error = error as? DataClientError else { return }
      state.withLock { $0.failure = $0.failure ?? error }
    }
  }

  /// Tells whether all that was performed has come by the gate.
  /// - Throws: `DataClientError` for the first action that did not; it is told once.
  public func settle() throws(DataClientError) {
    let failure = state.withLock { $0.failure.take() }
    if let failure { throw failure }
  }

  /// Returns the client's next event.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the client throws.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  /// Wakes whoever waits for the client's next event.
  public func wake() { client.wake() }
}

public import DataClient
import Synchronization

/// A client before a ``FrameGate`` that has sent what it was asked for when ``perform(_:)`` returns.
///
/// A live client hands an action to its thread, and what happens next may overtake it. Here the gate
/// tells when the action has come by on the wire, so that a capture has the same order as whoever
/// performs. What does not come by in the gate's time, ``settle()`` tells.
public final class FrameGatedClient<Client: DataClient>: DataClient {
  private struct State {
    var connection: UInt64 = 0
    /// How many messages were performed on the connection.
    var messages = 0
    var failure: DataClientError?
  }

  private let client: Client
  private let gate: FrameGate
  private let state = Mutex(State())

  /// Creates the client.
  /// - Parameters:
  ///   - client: A client that connects to the gate.
  ///   - gate: The gate, which has no other client.
  public init(_ client: Client, gate: FrameGate) {
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
    let earlier = gate.lastConnection
    try await client.perform(action)
    switch action.kind {
    case .connect:
      await witness {
        let connection = try await gate.awaitHandshake(after: earlier)
        state.withLock { ($0.connection, $0.messages) = (connection, 0) }
      }
    case .sendText, .sendBinary:
      let (connection, count) = state.withLock { state in
        state.messages += 1
        return (state.connection, state.messages)
      }
      await witness { try await gate.awaitMessages(count, on: connection) }
    case .disconnect:
      await witness { try await gate.awaitGoodbye(on: state.withLock { $0.connection }) }
    // A WebSocket has none of these; the client says so.
    case .subscribe, .unsubscribe, .publish, .send: break
    }
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

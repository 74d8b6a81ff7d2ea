package import RepriseCore
import Synchronization

/// A gate that tells what of a client's actions has come by on the wire.
protocol WitnessingGate: Sendable {
  /// The number of the connection that came last.
  var lastConnection: UInt64 { get }

  /// Waits for the first packet of a connection later than one: its CONNECT, its handshake.
  /// - Returns: The connection's number.
  func awaitOpening(after number: UInt64) async throws -> UInt64

  /// Waits until a connection has brought so many filters and messages, or is over.
  func awaitRequests(_ count: Int, on number: UInt64) async throws

  /// Waits until a connection has brought its DISCONNECT or its Close frame, or is over.
  func awaitGoodbye(on number: UInt64) async throws
}

/// A client before a gate that has sent what it was asked for when ``perform(_:)`` returns.
///
/// A live client hands an action to its thread, and what happens next may overtake it. Here the gate
/// tells when the action has come by on the wire, so that a capture has the same order as whoever
/// performs; no answer is waited for. What does not come by in the gate's time, ``settle()`` tells: a
/// message that must wait until others are acknowledged, for one, as libmosquitto sends 20 at a time.
///
/// When the client disconnects, a ``BrokerGate`` lets the acknowledgements of its messages through: it sends
/// DISCONNECT behind them.
package final class GatedClient<Client: DataClient>: DataClient {
  private struct State {
    var connection: UInt64 = 0
    /// How many filters and messages were performed on the connection.
    var requests = 0
    var failure: DataClientError?
  }

  private let client: Client
  private let gate: any WitnessingGate
  private let state = Mutex(State())

  /// Creates a client of MQTT.
  /// - Parameters:
  ///   - client: A client that connects to the gate.
  ///   - gate: The gate, which has no other client.
  package convenience init(_ client: Client, gate: BrokerGate) { self.init(client, before: gate) }

  /// Creates a client of WebSocket.
  /// - Parameters:
  ///   - client: A client that connects to the gate.
  ///   - gate: The gate, which has no other client.
  package convenience init(_ client: Client, gate: FrameGate) { self.init(client, before: gate) }

  private init(_ client: Client, before gate: any WitnessingGate) {
    self.client = client
    self.gate = gate
  }

  /// What the client can do.
  package var capabilities: Capabilities { client.capabilities }

  /// The client's time.
  package var now: Timestamp { client.now }

  /// Performs an action, and waits until the gate has seen it.
  /// - Parameter action: What to do.
  /// - Throws: What the client throws.
  package func perform(_ action: ClientAction) async throws {
    switch action.kind {
    case .connect:
      let earlier = gate.lastConnection
      try await client.perform(action)
      await witness {
        let connection = try await gate.awaitOpening(after: earlier)
        state.withLock { ($0.connection, $0.requests) = (connection, 0) }
      }
    case .subscribe(let wanted): try await send(action, requests: wanted.count)
    case .unsubscribe(let filters): try await send(action, requests: filters.count)
    case .publish, .sendText, .sendBinary: try await send(action, requests: 1)
    // Neither MQTT nor a WebSocket has it; the client says so.
    case .send: try await client.perform(action)
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
  package func settle() throws(DataClientError) {
    let failure = state.withLock { $0.failure.take() }
    if let failure { throw failure }
  }

  /// Returns the client's next event.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the client throws.
  package func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  /// Wakes whoever waits for the client's next event.
  package func wake() { client.wake() }
}

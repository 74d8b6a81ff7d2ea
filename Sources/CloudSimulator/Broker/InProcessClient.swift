public import RepriseCore

/// A client of ``InProcessBroker``.
///
/// A user that leaves more events unread than the broker allows loses its connection: what was kept is
/// handed out, then `closed`.
public final class InProcessClient: DataClient {
  /// All that MQTT can do.
  public static let allCapabilities: Capabilities = [
    .messages, .retain, .will, .exactlyOnce, .push, .binary,
  ]

  /// What the transport and the peer can do.
  public let capabilities: Capabilities
  private let broker: InProcessBroker
  private let seat: BrokerWorld.Seat

  init(broker: InProcessBroker, seat: BrokerWorld.Seat, capabilities: Capabilities) {
    self.broker = broker
    self.seat = seat
    self.capabilities = capabilities
  }

  deinit { leave() }

  /// The time in the broker's world, the same for all its clients.
  public var now: Timestamp { broker.now }

  /// Hands an action to the broker.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    try action.kind.check(by: capabilities)
    try broker.perform(seat, action)
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and `DataClientError` when another task waits already.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await broker.next(seat, deadline)
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `woken`.
  public func wake() { broker.wake(seat) }

  /// Goes for good: the connection is lost, nobody waits for this client, and it has no more events.
  public func leave() { broker.leave(seat) }
}

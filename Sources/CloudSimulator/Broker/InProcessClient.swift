public import DataClient

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
    try check(action.kind)
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
  public func wake() { broker.resume { $0.wake(seat) } }

  /// Goes for good: the connection is lost, nobody waits for this client, and it has no more events.
  public func leave() { broker.resume { $0.removePlace(seat) } }

  // MARK: What can be expressed

  private func check(_ kind: ClientAction.Kind) throws(DataClientError) {
    switch kind {
    case .connect(let options): if let will = options.will { try checkWill(will) }
    case .publish(let message): try check(message)
    case .subscribe(let subscriptions):
      for subscription in subscriptions { try check(subscription.qos) }
      try check(subscriptions)
    case .unsubscribe(let filters): try check(filters.map { Subscription($0) })
    case .send, .sendText, .sendBinary:
      throw DataClientError(.unsupported, "a broker takes messages with topics only")
    case .disconnect: break
    }
  }

  private func checkWill(_ will: Message) throws(DataClientError) {
    guard capabilities.contains(.will) else {
      throw DataClientError(.unsupported, "the broker keeps no will")
    }
    try check(will)
  }

  private func check(_ message: Message) throws(DataClientError) {
    let topic = message.topic
    guard Subscription(topic).isWellFormed, !topic.contains("+"), !topic.contains("#") else {
      throw DataClientError(.invalidAction, "\"\(topic)\" is no topic to send to")
    }
    guard message.payload.count <= 268_435_455 else {
      throw DataClientError(.invalidAction, "\(message.payload.count) bytes are too many")
    }
    guard !message.isRetained || capabilities.contains(.retain) else {
      throw DataClientError(.unsupported, "the broker retains no messages")
    }
    guard !message.hasProperties else {
      throw DataClientError(.unsupported, "the broker in process carries no properties")
    }
    try check(message.qos)
  }

  private func check(_ qos: QoS) throws(DataClientError) {
    guard qos < .exactlyOnce || capabilities.contains(.exactlyOnce) else {
      throw DataClientError(.unsupported, "the broker does not know QoS 2")
    }
  }

  private func check(_ subscriptions: [Subscription]) throws(DataClientError) {
    guard !subscriptions.isEmpty else {
      throw DataClientError(.invalidAction, "no topic filter was given")
    }
    for subscription in subscriptions where !subscription.isWellFormed {
      throw DataClientError(.invalidAction, "\"\(subscription.filter)\" is no topic filter")
    }
  }
}

public import RepriseCore

/// A broker in memory, with as many clients as one likes and a clock that nobody winds.
///
/// ```swift
/// let broker = InProcessBroker()
/// let device = broker.client(named: "device")
/// let cloud = broker.client(named: "cloud")
/// ```
///
/// It keeps MQTT 3.1.1 as far as a client can see it: clean and kept sessions, wildcards, QoS,
/// retained messages, wills, and one connection for each client identifier. A session without a
/// connection keeps 10,000 messages of QoS 1 and 2; those beyond are lost. Nothing is lost on the way,
/// so there are no pings and no keep-alive.
///
/// ## Order and time
///
/// Everything goes in turns, so that the same program gives the same events in the same order at the
/// same times, however its tasks are scheduled:
///
/// 1. Nothing goes on before every client waits in `next(before:)`. That holds from the creation of
///    a client on, so whoever starts late misses nothing; but a client that nobody reads holds
///    everybody up until it calls ``InProcessClient/leave()``, is released, or its reader is cancelled.
///    A client that is only looked at now and then is made with `isAwaited: false`.
/// 2. Then what clients performed reaches the broker: all of the client made first, in its order, then
///    all of the next. `published` comes before what the message causes, retained messages after
///    `subscribed`. A message goes to its subscribers in the order in which they were made.
/// 3. Then the oldest event of all is handed to its client, and the others wait for its next turn.
///    A call of `wake()` alone is told at once.
/// 4. When there is no event, the clock jumps to the earliest deadline; of two equal ones, that of the
///    client made first is told first. No time passes in any other way.
///
/// A task that calls `perform(_:)` or `wake()` while all clients wait, as an application does that
/// uses an SDK, comes in when it calls; ``withTimeHeld(_:)`` keeps the clock from running ahead of it.
public final class InProcessBroker: Sendable {
  private let world: TurnTaking<BrokerWorld>

  /// Creates a broker.
  /// - Parameters:
  ///   - start: The time at which its clock stands; as it is, 2026-01-01T00:00:00Z.
  ///   - eventLimit: How many events a client may leave unread before it loses its connection.
  public init(
    start: Timestamp = Timestamp(nanoseconds: 1_767_225_600_000_000_000),
    eventLimit: Int = 10_000
  ) {
    world = TurnTaking(BrokerWorld(start: start, eventLimit: eventLimit))
  }

  /// The time in this world.
  public var now: Timestamp { world.with { $0.now } }

  /// Makes a client.
  /// - Parameters:
  ///   - name: What ``drop(_:)`` calls it; it is not its client identifier.
  ///   - capabilities: What it can do; fewer for a broker that knows no wills, say, and
  ///     `Capabilities.refusals` besides for one that hears of refused messages, as under MQTT 5.0.
  ///   - isAwaited: Whether the world stands still while nobody reads the client's events.
  /// - Returns: The client.
  public func client(
    named name: String, capabilities: Capabilities = InProcessClient.allCapabilities,
    isAwaited: Bool = true
  ) -> InProcessClient {
    let hearsRefusals = capabilities.contains(.refusals)
    let seat = world.with {
      $0.addPlace(named: name, hearsRefusals: hearsRefusals, isAwaited: isAwaited)
    }
    return InProcessClient(broker: self, seat: seat, capabilities: capabilities)
  }

  /// Cuts the connections of the clients of a name; their wills are sent.
  /// - Parameter name: The name that they were made with.
  public func drop(_ name: String) { world.resume { $0.drop(named: name) } }

  /// Closes the connections of the clients of a name in good order; their wills are sent.
  /// - Parameter name: The name that they were made with.
  public func hangUp(_ name: String) { world.resume { $0.hangUp(named: name) } }

  /// Cuts the connection of the client that sent to a topic last; its will is sent.
  /// - Parameter topic: The topic.
  public func dropPublisher(of topic: String) { world.resume { $0.dropPublisher(of: topic) } }

  /// Refuses the next connections.
  /// - Parameters:
  ///   - clientID: The client identifier; nil is every client's.
  ///   - code: The code of the CONNACK, such as 3 for a server that is not available.
  ///   - count: How many are refused.
  public func refuseConnections(of clientID: String? = nil, code: UInt8, count: Int = 1) {
    let refusal = BrokerMachine.ConnectRefusal(clientID: clientID, code: code, count: count)
    world.with { $0.refuse(refusal) }
  }

  /// Refuses subscriptions from now on.
  /// - Parameter filter: A filter with or without wildcards, which matches the filters refused.
  public func refuseSubscriptions(to filter: String) {
    world.with { $0.refuse(filter: filter) }
  }

  /// Refuses messages from now on: nobody gets them.
  ///
  /// A client with `Capabilities.refusals` hears of it above QoS 0, as under MQTT 5.0; any other is told
  /// that they are published, as 3.1.1 has no other answer (section 3.3.5).
  /// - Parameters:
  ///   - filter: A filter that matches the topics of the messages.
  ///   - code: The reason code, 0x80 or more; as it is, "not authorized".
  public func refuseMessages(to filter: String, code: UInt8 = 0x87) {
    world.with { $0.refuseMessages(to: filter, code: code) }
  }

  /// Runs something while the clock stands; events go on.
  ///
  /// The task of an application that uses an SDK is no client, and the clock does not wait for what it
  /// does between two calls: held, it finds the time unchanged. What the body waits for must not need
  /// time, or it waits for ever.
  /// - Parameter body: What is run.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws.
  public func withTimeHeld<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    world.with { $0.hold() }
    defer { world.resume { $0.release() } }
    return try await body()
  }

  /// Ends this world: connections are lost, and then clients have no more events.
  public func end() { world.resume { $0.end() } }

  // MARK: For clients

  func perform(_ seat: BrokerWorld.Seat, _ action: ClientAction) throws(DataClientError) {
    try world.resume { world throws(DataClientError) in try world.perform(seat, action) }
  }

  func next(_ seat: BrokerWorld.Seat, _ deadline: Timestamp?) async throws -> ClientEvent {
    try await world.turn(of: seat, before: deadline, now: { self.now })
  }

  func wake(_ seat: BrokerWorld.Seat) { world.resume { $0.wake(seat) } }

  func leave(_ seat: BrokerWorld.Seat) { world.resume { $0.removePlace(seat) } }
}

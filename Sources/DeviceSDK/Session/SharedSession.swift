public import RepriseCore

/// One connection for several machines: it gives out clients that each believe it their own.
///
/// A channel and a gateway ride on the same MQTT session, as the app is the gateway's device. Each
/// takes a client of the session; only one CONNECT is sent.
///
/// ```swift
/// let session = SharedSession(on: client)
/// try await withChannel(on: session, configuration: channelConfiguration) { channel in
///   try await withGateway(on: session, configuration: gatewayConfiguration) { gateway in
///     try await channel.start()
///     try await gateway.start()
///     // …
///   }
/// }
/// ```
///
/// ## Owner and riders
///
/// - The **owner** opens and closes the connection. When it disconnects, the connection is lost for
///   the riders.
/// - A **rider** sends no CONNECT and no DISCONNECT. It is told `connected` when the connection is
///   open, at once or when the owner has opened it, and `closed` whenever that fails or is over.
/// - A message goes to each member whose filters match its topic; one that nobody asked for goes to
///   all, as some clouds send without a subscription.
/// - A filter that several members hold is asked for with the highest QoS, and taken back when the
///   last of them does not want it any more.
///
/// ## Order and time
///
/// Whichever member waits reads for all. Events are handed out one at a time, the oldest first, when
/// every member waits that has begun to read: so the same events lead to the same actions in the same
/// order, and no time passes that a member does not know of. A channel and a gateway read from their
/// creation on. A member that reads nothing holds up nobody; one that has begun is waited for until it
/// leaves: by ``SharedClient/leave()``, by being released, or by the cancellation of its reader. A
/// member that begins late, or comes back, finds the events of meanwhile, of more than 10,000 without the oldest
/// messages.
public final class SharedSession: Sendable {
  /// What a member may do to the connection.
  public enum Role: Sendable, Hashable {
    /// It opens and closes the connection; there is one owner at a time.
    case owner
    /// It uses the connection that the owner opens.
    case rider
  }

  private let client: any DataClient
  private let world = TurnTaking(SessionWorld())

  /// Creates a session that nobody has joined.
  /// - Parameter client: The client that is shared; nobody else may read it.
  public init(on client: any DataClient) { self.client = client }

  /// Makes a client of the session.
  /// - Parameter role: What it may do to the connection.
  /// - Returns: The client; a new one each time.
  public func client(_ role: Role) -> SharedClient { client(role, isAwaited: false) }

  /// Makes a client that the others wait for from now on, as somebody is about to read it.
  func awaitedClient(_ role: Role) -> SharedClient { client(role, isAwaited: true) }

  private func client(_ role: Role, isAwaited: Bool) -> SharedClient {
    let seat = world.with { $0.join(isOwner: role == .owner, isAwaited: isAwaited) }
    // From now on nothing happens that the new member does not see.
    wakeReader()
    return SharedClient(session: self, seat: seat, role: role)
  }

  // MARK: For members

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }
  var heard: Timestamp { client.lastHeard }

  func perform(_ action: ClientAction, of seat: SessionWorld.Seat) async throws {
    let forwarded = try world.with { world throws(DataClientError) in
      try world.perform(action, of: seat)
    }
    // What members were told at once is handed out in its turn.
    wakeReader()
    guard let forwarded else { return }
    do {
      try await client.perform(forwarded)
    } catch {
      world.with { $0.takeBack(forwarded.id) }
      throw error
    }
  }

  func next(of seat: SessionWorld.Seat, before deadline: Timestamp?) async throws -> ClientEvent {
    while true {
      let turn = try await world.turn(
        of: seat, before: deadline, now: { self.client.now },
        waiting: { self.wakeReader(unless: seat) })
      switch turn {
      case .take(let event): return event
      case .read(let until):
        do {
          let event = try await client.next(before: until)
          world.with { $0.read(event) }
        } catch {
          world.resume { $0.failReading(seat, error, now: self.client.now) }
          throw error
        }
      }
    }
  }

  func wake(_ seat: SessionWorld.Seat) {
    // First the reader, so that no time passes while the woken member acts.
    wakeReader()
    world.resume { $0.wake(seat) }
    // Between the two it may have become the reader itself.
    if world.with({ $0.isWokenReader(seat) }) { client.wake() }
  }

  func leave(_ seat: SessionWorld.Seat) {
    world.resume { $0.leave(seat, now: self.client.now) }
    wakeReader()
  }

  /// Has the member that reads look at what has changed.
  private func wakeReader(unless seat: SessionWorld.Seat? = nil) {
    let mustWake = world.with { $0.isReading(butFor: seat) }
    if mustWake { client.wake() }
  }
}

/// A member's view of a ``SharedSession``: a client like any other.
public final class SharedClient: DataClient {
  /// What it may do to the connection.
  public let role: SharedSession.Role
  private let session: SharedSession
  private let seat: SessionWorld.Seat

  init(session: SharedSession, seat: SessionWorld.Seat, role: SharedSession.Role) {
    self.session = session
    self.seat = seat
    self.role = role
  }

  deinit { leave() }

  /// What the session's client can do.
  public var capabilities: Capabilities { session.capabilities }

  /// The time in the session's world.
  public var now: Timestamp { session.now }

  /// Hands an action to the session.
  /// - Parameter action: What to do.
  /// - Throws: `DataClientError` when nothing was handed over.
  public func perform(_ action: ClientAction) async throws {
    try await session.perform(action, of: seat)
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What the session's client throws, and `CancellationError`.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await session.next(of: seat, before: deadline)
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return `woken`.
  public func wake() { session.wake(seat) }

  /// Goes for good: nothing is sent, nobody waits for this client, and it has no more events.
  public func leave() { session.leave(seat) }
}

extension SharedClient: HeardTime {
  package var heard: Timestamp { session.heard }
}

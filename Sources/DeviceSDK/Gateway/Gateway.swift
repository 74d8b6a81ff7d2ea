public import RepriseCore

/// Runs a gateway for as long as a body runs.
///
/// The gateway is disconnected at first; ``Gateway/start()`` connects it. When the body ends, its
/// connection is closed in good order, calls that still wait fail, and all sequences end. Ways to
/// sub-devices stay as they are.
/// - Parameters:
///   - client: The world: a broker, a folder of files, a recording; for a gateway that uses the
///     connection of a channel, a rider of a ``SharedSession``.
///   - configuration: How the gateway behaves.
///   - body: What the application does with the gateway, which is of no use afterwards.
/// - Returns: What the body returns.
/// - Throws: ``GatewayError`` when the configuration is wrong; what the body throws; and `DataClientError` when the
///   client's world is broken, as a replay is that diverged. The body's own error is kept then: only a
///   `DataClientError`, or one of the SDK's that says the same, gives way to that of the world.
public func withGateway<Result: Sendable>(
  on client: any DataClient, configuration: GatewayConfiguration,
  _ body: (Gateway) async throws -> Result
) async throws -> Result {
  let log = SystemLog(configuration.log, .gateway, in: client)
  let hub = GatewayHub(log: log)
  let driver = Driver(
    try GatewayStateMachine(configuration), client: client, log: log, tell: hub.take)
  hub.opener.report { [weak driver] id, result in
    driver?.submit(.noteOpened(id, result)) { _ in }
  }
  let gateway = Gateway(driver: driver, hub: hub)
  return try await driver.run(
    goodbye: .stop, loop: { try await driver.loop(.stop) }, helper: hub.run,
    finish: hub.finish, body: { try await body(gateway) })
}

/// Runs a gateway that uses the connection of a session's owner for as long as a body runs.
/// - Parameters:
///   - session: The session; its owner opens and closes the connection.
///   - configuration: How the gateway behaves.
///   - body: What the application does with the gateway.
/// - Returns: What the body returns.
/// - Throws: ``GatewayError`` when the configuration is wrong; what the body throws; and `DataClientError` when the
///   session's world is broken, as a replay is that diverged. The body's own error is kept then: only a
///   `DataClientError`, or one of the SDK's that says the same, gives way to that of the world.
public func withGateway<Result: Sendable>(
  on session: SharedSession, configuration: GatewayConfiguration,
  _ body: (Gateway) async throws -> Result
) async throws -> Result {
  let client = session.awaitedClient(.rider)
  defer { client.leave() }
  return try await withGateway(on: client, configuration: configuration, body)
}

/// The gateway that an app is for devices which can't reach the cloud themselves.
///
/// Each sub-device has a line. A line comes online in three steps: ``line(for:)``,
/// ``GatewayLine/addTopology()`` and ``GatewayLine/goOnline()``; ``connect(_:)`` does all three. Topics
/// are full. All calls fail at once while the gateway is not connected.
public struct Gateway: Sendable {
  let driver: Driver<GatewayStateMachine>
  let hub: GatewayHub

  // MARK: Connection

  /// The connection's state.
  public var state: ChannelState { driver.read { $0.state } }

  /// The gateway itself, as a device.
  public var device: Subdevice { driver.read { $0.topics.gateway } }

  /// What was counted.
  public var statistics: GatewayStatistics { driver.read { $0.statistics } }

  /// How many messages and commands were dropped because sequences were read too slowly, or the main
  /// actor was too busy for its listeners.
  public var droppedMessages: UInt64 {
    hub.messages.dropped + hub.commands.dropped + hub.calls.dropped
  }

  /// The time in the client's world, to compare with the times of messages.
  public var now: Timestamp { driver.heard }

  /// Connects, and returns when the gateway is connected; a second connection is never made.
  ///
  /// A connection that is lost is opened again until ``stop()``, or an error that is final. Sub-devices
  /// that were online are logged in again, and their topics subscribed to, before the gateway says that
  /// it is connected.
  /// - Throws: ``GatewayError`` when the gateway gave up, or was not connected within
  ///   ``GatewayConfiguration/startTimeout`` and goes on trying; and `CancellationError`, which leaves the
  ///   gateway connecting.
  public func start() async throws { _ = try await call(.start) }

  /// Closes the connection, and returns when it is closed; all sub-devices are offline then.
  ///
  /// A cancelled task closes it as well, but does not wait for it.
  /// - Throws: `CancellationError`, which does not take the closing back.
  public func stop() async throws { _ = try await call(.stop, isCleanup: true) }

  /// Says whether the network is there, as the system tells the application: a connection that is waited with is tried
  /// at once when it is, and not at all while it is not.
  /// - Parameter isReachable: Whether the network is there.
  /// - Throws: `CancellationError`.
  public func setReachable(_ isReachable: Bool) async throws {
    _ = try await call(.setReachable(isReachable))
  }

  /// The changes of the connection's state from now on; the newest 64 are kept.
  public var stateChanges: BroadcastSequence<GatewayStateChange> { hub.states.listen(limit: 64) }

  // MARK: Lines

  /// The lines of all sub-devices.
  public var lines: [GatewayLine] {
    driver.read { $0.subdevices }.map { GatewayLine(gateway: self, subdevice: $0) }
  }

  /// Returns the line of a sub-device; nil when none was set up.
  /// - Parameter subdevice: The sub-device.
  /// - Returns: The line.
  public func line(of subdevice: Subdevice) -> GatewayLine? {
    guard driver.read({ $0.lineState(of: subdevice) }) != nil else { return nil }
    return GatewayLine(gateway: self, subdevice: subdevice)
  }

  /// Sets a line up for the sub-device behind a connection, which is opened if it is not ready.
  ///
  /// A sub-device has one line: set up again, it goes on with the new connection.
  /// - Parameter connection: The application's way to the sub-device.
  /// - Returns: The line.
  /// - Throws: ``GatewayError``: `subdevice` when the connection does not open in time or does not say
  ///   who is there; and `CancellationError`.
  public func line(for connection: any SubdeviceConnection) async throws -> GatewayLine {
    switch try await call(.setUp(hub.opener.add(connection))) {
    case .line(let subdevice): return GatewayLine(gateway: self, subdevice: subdevice)
    case .done, .reply, .replies, .subdevices, .topics, .registered: throw Self.unexpected
    }
  }

  /// Brings the sub-device behind a connection online: a line, its topology, and its login.
  ///
  /// What the cloud wants at once may come before the line is returned. An application that must not miss it does
  /// the three steps itself, and asks for ``GatewayLine/commands`` behind the first.
  /// - Parameter connection: The application's way to the sub-device.
  /// - Returns: The line; it stays as far as it came when a later step fails.
  /// - Throws: ``GatewayError`` of the step that failed, and `CancellationError`.
  public func connect(_ connection: any SubdeviceConnection) async throws -> GatewayLine {
    let line = try await line(for: connection)
    try await line.addTopology()
    try await line.goOnline()
    return line
  }

  /// The changes of all lines from now on; the newest 1,024 are kept.
  public var lineChanges: BroadcastSequence<LineChange> { hub.lineChanges.listen(limit: 1_024) }

  /// Adds the topology of several sub-devices, as many in one request as the limits allow; each request
  /// is taken as a whole or not at all.
  /// - Parameter lines: The lines.
  /// - Returns: The cloud's replies, one to each request.
  /// - Throws: The ``GatewayError`` of the first request that failed, and `CancellationError`.
  @discardableResult
  public func addTopology(_ lines: [GatewayLine]) async throws -> [GatewayReply] {
    try await operate(.addTopology, lines)
  }

  /// Deletes the topology of several sub-devices.
  /// - Parameter lines: The lines.
  /// - Returns: The cloud's replies, one to each request.
  /// - Throws: The ``GatewayError`` of the first request that failed, and `CancellationError`.
  @discardableResult
  public func deleteTopology(_ lines: [GatewayLine]) async throws -> [GatewayReply] {
    try await operate(.deleteTopology, lines)
  }

  /// Brings several sub-devices online; each request is taken as a whole or not at all.
  /// - Parameter lines: The lines; those that are online already are left out.
  /// - Returns: The cloud's replies, one to each request.
  /// - Throws: The ``GatewayError`` of the first request that failed, and `CancellationError`.
  @discardableResult
  public func goOnline(_ lines: [GatewayLine]) async throws -> [GatewayReply] {
    try await operate(.logIn, lines)
  }

  /// Takes several sub-devices offline.
  /// - Parameter lines: The lines.
  /// - Returns: The cloud's replies, one to each request.
  /// - Throws: The ``GatewayError`` of the first request that failed, and `CancellationError`.
  @discardableResult
  public func goOffline(_ lines: [GatewayLine]) async throws -> [GatewayReply] {
    try await operate(.logOut, lines)
  }

  private func operate(
    _ kind: LineCall, _ lines: [GatewayLine]
  ) async throws -> [GatewayReply] {
    try await replies(to: .operate(kind, lines.map(\.subdevice), isBatch: true))
  }

  // MARK: Calls

  static let unexpected = GatewayError(.client, "the call has no such result")

  func reply(to call: GatewayStateMachine.Call) async throws -> GatewayReply {
    switch try await self.call(call) {
    case .reply(let reply): return reply
    case .done, .replies, .line, .subdevices, .topics, .registered: throw Self.unexpected
    }
  }

  func replies(to call: GatewayStateMachine.Call) async throws -> [GatewayReply] {
    switch try await self.call(call) {
    case .replies(let replies): return replies
    case .done: return []
    case .reply, .line, .subdevices, .topics, .registered: throw Self.unexpected
    }
  }

  func call(
    _ call: GatewayStateMachine.Call, isCleanup: Bool = false
  ) async throws -> GatewayStateMachine.Value {
    do {
      return try await driver.call(call, isCleanup: isCleanup)
    } catch let error as DataClientError {
      throw GatewayStateMachine.error(for: error)
    }
  }
}

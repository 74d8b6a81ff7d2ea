public import RepriseCore

/// The server that links of a `DeviceSDK` greet, on a real broker or in process.
///
/// ```swift
/// let broker = InProcessBroker()
/// let server = LinkServer()
/// let client = broker.client(named: "server")
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await server.run(on: client) }
///   try await live(broker)  // links, in other clients
///   group.cancelAll()
/// }
/// ```
///
/// What it says is up to a `LinkServiceMachine`. It goes on where it was when it runs again.
public final class LinkServer: Sendable {
  private let runner: ServiceRunner<LinkServiceMachine>

  /// Creates a server.
  /// - Parameters:
  ///   - rules: How it behaves.
  ///   - options: How it connects.
  ///   - backOff: How long it waits before it connects again; as it stands 1, 2, 4, … 60 seconds.
  ///   - retryLimit: How many attempts in a row may be in vain before it gives up; nil is any number.
  public init(
    _ rules: LinkServiceRules = LinkServiceRules(),
    options: ConnectOptions = ConnectOptions(clientID: "link-server"),
    backOff: BackOff = BackOff(jitterPercent: 0), retryLimit: Int? = nil
  ) {
    runner = ServiceRunner(
      LinkServiceMachine(rules), options: options, backOff: backOff, retryLimit: retryLimit)
  }

  /// How it behaves from now on.
  public var rules: LinkServiceRules {
    get { runner.withService { $0.rules } }
    set { runner.withService { $0.rules = newValue } }
  }

  /// How many links of the message service are connected, as far as the broker has told.
  public var connectionCount: Int { runner.withService { $0.connectionCount } }

  /// How many links of the message service were connected at once at most.
  public var peakConnectionCount: Int { runner.withService { $0.peakConnectionCount } }

  /// Throws a user out now, or as soon as there is a connection.
  /// - Parameters:
  ///   - user: The user's identifier.
  ///   - app: The app's identifier.
  ///   - reason: The vendor's number of the reason.
  public func kick(_ user: String, of app: String, reason: Int = 28) {
    runner.command(.commandedKick(app: app, user: user, reason: reason))
  }

  /// Connects, subscribes to what links send, and answers until the client's world ends.
  ///
  /// A lost connection is opened again. When the task is cancelled, the connection is closed.
  /// - Parameter client: The world to live in.
  /// - Throws: ``SimulatorError`` when it can't be a server there, `DataClientError` when the client is
  ///   broken, and `CancellationError`.
  public func run(on client: some DataClient) async throws {
    try await runner.run(on: client)
  }
}

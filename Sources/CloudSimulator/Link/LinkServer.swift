public import DataClient
import Synchronization

/// The server that links of a `DeviceSDK` greet, on a real broker or in process.
///
/// ```swift
/// let broker = InProcessBroker()
/// let server = LinkServer()
/// let client = broker.client(named: "server")
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await server.run(on: client) }
///   // … let links live in other clients …
///   group.cancelAll()
/// }
/// ```
///
/// What it says is up to a ``LinkServiceMachine``. It goes on where it was when it runs again.
public final class LinkServer: Sendable {
  private struct State {
    var connection: LinkServerConnection
    var client: (any DataClient)?
  }

  private let state: Mutex<State>

  /// Creates a server.
  /// - Parameters:
  ///   - rules: How it behaves.
  ///   - options: How it connects.
  ///   - backOff: How long it waits before it connects again.
  public init(
    _ rules: LinkServiceRules = LinkServiceRules(),
    options: ConnectOptions = ConnectOptions(clientID: "link-server"),
    backOff: CloudBackOff = CloudBackOff()
  ) {
    let service = LinkServiceMachine(rules)
    state = Mutex(
      State(connection: LinkServerConnection(service, options: options, backOff: backOff)))
  }

  /// How it behaves from now on.
  public var rules: LinkServiceRules {
    get { state.withLock { $0.connection.service.rules } }
    set { state.withLock { $0.connection.service.rules = newValue } }
  }

  /// How many links of the message service are connected, as far as the broker has told.
  public var connectionCount: Int { state.withLock { $0.connection.service.connectionCount } }

  /// How many links of the message service were connected at once at most.
  public var peakConnectionCount: Int {
    state.withLock { $0.connection.service.peakConnectionCount }
  }

  /// Throws a user out now, or as soon as there is a connection.
  /// - Parameters:
  ///   - user: The user's identifier.
  ///   - app: The app's identifier.
  ///   - reason: The vendor's number of the reason.
  public func kick(_ user: String, of app: String, reason: Int = 28) {
    let client = state.withLock { state in
      state.connection.command(.commandedKick(app: app, user: user, reason: reason))
      return state.client
    }
    client?.wake()
  }

  /// Connects, subscribes to what links send, and answers until the client's world ends.
  ///
  /// A lost connection is opened again. When the task is cancelled, the connection is closed.
  /// - Parameter client: The world to live in.
  /// - Throws: ``CloudError`` when it can't be a server there, `DataClientError` when the client is
  ///   broken, and `CancellationError`.
  public func run(on client: some DataClient) async throws {
    let isRunning = state.withLock { state in
      defer { state.client = state.client ?? client }
      return state.client != nil
    }
    guard !isRunning else {
      throw CloudError(.running, "the server runs already; make another one")
    }
    defer { state.withLock { $0.client = nil } }
    do {
      var outputs = handle(.started, client)
      while try await perform(outputs, on: client) {
        let deadline = state.withLock { $0.connection.deadline }
        outputs = handle(.received(try await client.next(before: deadline)), client)
      }
    } catch {
      // There may be no connection to close any more.
      try? await client.perform(ClientAction(ClientAction.ID(rawValue: .max), .disconnect))
      throw error
    }
  }

  private func handle(
    _ input: LinkServerConnection.Input, _ client: some DataClient
  ) -> [LinkServerConnection.Output] {
    state.withLock { $0.connection.handle(input, now: client.now) }
  }

  /// Does what the connection wants done.
  /// - Returns: Whether to go on.
  private func perform(
    _ outputs: [LinkServerConnection.Output], on client: some DataClient
  ) async throws -> Bool {
    var outputs = outputs[...]
    while let output = outputs.popFirst() {
      switch output {
      case .perform(let action):
        do {
          try await client.perform(action)
        } catch let error as DataClientError
          where error.code == .notConnected || error.code == .transport
        {
          outputs += handle(.refused(action, error), client)
        }
      case .fail(let error): throw error
      case .finish: return false
      }
    }
    return true
  }
}

public import RepriseCore
import Synchronization

/// Runs a connection for requests for as long as a body runs.
///
/// The connection is idle at first; ``RequestConnection/open()`` opens it. When the body ends it is closed
/// in good order, requests that still wait fail, and all sequences end.
/// - Parameters:
///   - client: The world: a WebSocket, a server of HTTP, a folder of files, a recording.
///   - configuration: How requests are sent.
///   - loginPlugins: The plugins that see every stage of every login; a provider has plugins of its own for the rest.
///   - login: Returns the request that logs in, when the server wants that first; requests that were refused
///     for it are sent again afterwards, once.
///   - body: What the application does with the connection, which is of no use afterwards.
/// - Returns: What the body returns.
/// - Throws: ``RequestError`` when the configuration is wrong or the client carries no requests; what the body
///   throws; and `DataClientError` when the client's world is broken, as a replay is that diverged. The body's own
///   error is kept then: only a `DataClientError`, or one of the SDK's that says the same, gives way to that of the
///   world.
public func withRequests<Result: Sendable>(
  on client: any DataClient, configuration: RequestConfiguration = RequestConfiguration(),
  loginPlugins: [any RequestPlugin] = [],
  login: (@Sendable () async throws -> any RequestTarget)? = nil,
  _ body: (RequestConnection) async throws -> Result
) async throws -> Result {
  let connection = try RequestConnection(client, configuration, loginPlugins, login)
  return try await connection.run { try await body(connection) }
}

/// A connection that requests go over.
public struct RequestConnection: Sendable {
  let driver: Driver<RequestStateMachine>
  let hub: RequestHub
  let configuration: RequestConfiguration
  private let loginPlugins: [any RequestPlugin]
  private let login: (@Sendable () async throws -> any RequestTarget)?

  init(
    _ client: any DataClient, _ configuration: RequestConfiguration,
    _ loginPlugins: [any RequestPlugin],
    _ login: (@Sendable () async throws -> any RequestTarget)?
  ) throws(RequestError) {
    var configuration = configuration
    // The machine has no chance of its own, and the apps of a fleet must not come back all at the same time.
    configuration.jitterSeed = configuration.jitterSeed ?? .random(in: .min ... .max)
    let log = SystemLog(configuration.log, .requests, in: client)
    let hub = RequestHub(log)
    let machine = try RequestStateMachine(
      configuration, capabilities: client.capabilities, canLogIn: login != nil)
    driver = Driver(machine, client: client, log: log, tell: hub.take)
    self.hub = hub
    self.configuration = configuration
    self.loginPlugins = loginPlugins
    self.login = login
  }

  func run<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
    try await driver.run(
      goodbye: .close, loop: { [driver] in try await driver.loop(.close) }, helper: runLogins,
      finish: hub.finish, body: body)
  }

  // MARK: Connection

  /// The connection's state.
  public var state: RequestConnectionState { driver.read { $0.state } }

  /// What was counted.
  public var statistics: RequestStatistics { driver.read { $0.statistics } }

  /// The changes of the connection's state from now on; the newest 64 are kept.
  public var stateChanges: BroadcastSequence<RequestStateChange> { hub.states.listen(limit: 64) }

  /// How many messages of the server were dropped, as readers were slow.
  public var droppedMessages: UInt64 { hub.messages.dropped }

  /// What the server says from now on without having been asked.
  /// - Parameter limit: How many messages are kept for a slow reader; the oldest are dropped beyond it, and
  ///   counted in ``droppedMessages``.
  /// - Returns: The messages.
  public func serverMessages(limit: Int = 1_024) -> BroadcastSequence<ServerMessage> {
    hub.messages.listen(limit: limit)
  }

  /// Opens the connection, and returns when it is open; one that is lost is opened again.
  /// - Throws: ``RequestError`` when it was tried too often, and `CancellationError`.
  public func open() async throws { _ = try await driver.call(.open) }

  /// Closes the connection, and returns when it is closed; nothing opens it again but ``open()``.
  ///
  /// A cancelled task closes it as well, but does not wait for it.
  /// - Throws: `CancellationError`, which does not take the closing back.
  public func close() async throws { _ = try await driver.call(.close, isCleanup: true) }

  /// Says whether the network is there, as the system tells the application.
  ///
  /// Without a network there are no heartbeats and no tries; when it is back, a connection that is wanted
  /// is tried at once.
  /// - Parameter isReachable: Whether the network is there.
  /// - Throws: `CancellationError`.
  public func setReachable(_ isReachable: Bool) async throws {
    _ = try await driver.call(.setReachable(isReachable))
  }

  // MARK: Requests

  /// Sends a request and returns its answer.
  /// - Parameters:
  ///   - target: What to ask for.
  ///   - timeout: How long to wait; nil takes the target's time, or the configuration's.
  ///   - resendCount: How often it is sent again when its connection is lost; nil takes the target's count,
  ///     or the configuration's.
  /// - Returns: The answer.
  /// - Throws: ``RequestError``, of kind `cancelled` when the task was; and `DataClientError` when the
  ///   client's world is broken.
  public func answer(
    to target: any RequestTarget, timeout: Duration? = nil, resendCount: Int? = nil
  ) async throws -> RequestAnswer {
    try await answer(to: outgoing(target, timeout, resendCount, ticket: hub.makeTicket()))
  }

  func answer(to request: OutgoingRequest) async throws -> RequestAnswer {
    do {
      return try Self.answer(in: try await driver.call(.request(request)))
    } catch is CancellationError where Task.isCancelled {
      throw RequestError(.cancelled, "the request was taken back")
    } catch is CancellationError {
      throw Self.isOver
    } catch let error as DataClientError where error == Driver<RequestStateMachine>.scopeHasEnded {
      throw Self.isOver
    }
  }

  /// What requests fail with whose connection's scope has ended.
  static let isOver = RequestError(.serverConnection, "the connection is over")

  static func answer(in value: RequestStateMachine.Value) throws(RequestError) -> RequestAnswer {
    switch value {
    case .answer(let answer): return answer
    case .done: throw RequestError(.client, "the call has no answer")
    }
  }

  func outgoing(
    _ target: any RequestTarget, _ timeout: Duration?, _ resendCount: Int?, ticket: UInt64,
    isLogin: Bool = false
  ) -> OutgoingRequest {
    OutgoingRequest(
      target, configuration, timeout: timeout, resendCount: resendCount, ticket: ticket,
      isLogin: isLogin)
  }

  // MARK: Logging in

  /// Logs in whenever the server wants that, until the end.
  private func runLogins() async {
    guard let login else { return }
    for await _ in hub.logins {
      var failure: RequestError?
      do {
        let target = try await login()
        let request = outgoing(target, nil, nil, ticket: hub.makeTicket(), isLogin: true)
        _ = try await loginPlugins.follow(target) { try await answer(to: request) }
      } catch let error as RequestError {
        failure = error
      } catch {
        failure = RequestError(.server, "\(error)", serverCode: RequestError.loginFirst)
      }
      _ = try? await driver.call(.finishLogin(failure))
    }
  }
}

/// Tells the application what the machine tells.
final class RequestHub: Sendable {
  let messages = Broadcast<ServerMessage>()
  let states = Broadcast<RequestStateChange>()
  let logins: AsyncStream<Void>
  private let loginQueue: AsyncStream<Void>.Continuation
  private let tickets = Atomic<UInt64>(0)

  private let log: SystemLog

  init(_ log: SystemLog) {
    self.log = log
    (logins, loginQueue) = AsyncStream.makeStream()
  }

  func makeTicket() -> UInt64 { tickets.wrappingAdd(1, ordering: .relaxed).newValue }

  func take(_ effect: RequestStateMachine.Effect) {
    switch effect {
    case .changeState(let change):
      states.send(change)
      note(change)
    case .push(let message): messages.send(message)
    case .needsLogin:
      loginQueue.yield()
      log(.info, .account, "the server wants a login")
    }
  }

  private func note(_ change: RequestStateChange) {
    let level: DeviceLog.Level =
      switch change.state {
      case .gaveUp: .error
      case .waiting, .unreachable: .warning
      case .idle, .connecting, .open, .closing: .info
      }
    let reason = change.error.map { ": \($0.message)" } ?? ""
    log(level, .connection, at: change.time, "\(change.state)\(reason)")
  }

  /// Ends all sequences; nothing more will be told.
  func finish() {
    messages.finish()
    states.finish()
    loginQueue.finish()
  }
}

public import DataClient
import Synchronization

/// The other side of an SDK: answers devices as the cloud does, on a real broker or in process.
///
/// ```swift
/// let broker = InProcessBroker()
/// let cloud = CloudSimulator(broker: broker)
/// let cloudClient = broker.client(named: "cloud")
/// let deviceClient = broker.client(named: "device")
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await cloud.run(on: cloudClient) }
///   // … let an SDK live in deviceClient …
///   group.cancelAll()
/// }
/// ```
///
/// How it answers is up to a ``CloudScript``. It goes on where it was when it runs again, on a new
/// client.
public final class CloudSimulator: Sendable {
  private struct State {
    var link: CloudLink
    var client: (any DataClient)?
  }

  private let state: Mutex<State>
  private let script: CloudScript
  private let broker: InProcessBroker?

  /// Creates a simulator.
  /// - Parameters:
  ///   - script: How it behaves.
  ///   - broker: The broker, if it is in process; it is told to drop connections and to refuse
  ///     subscriptions when the script says so.
  ///   - options: How it connects.
  ///   - backOff: How long it waits before it connects again.
  public init(
    _ script: CloudScript = CloudScript(), broker: InProcessBroker? = nil,
    options: ConnectOptions = ConnectOptions(clientID: "cloud-simulator"),
    backOff: CloudBackOff = CloudBackOff()
  ) {
    let link = CloudLink(CloudMachine(script), options: options, backOff: backOff)
    state = Mutex(State(link: link))
    self.script = script
    self.broker = broker
  }

  /// The devices whose app is bound to an account.
  public var boundDevices: Set<CloudDevice> { state.withLock { $0.link.boundDevices } }

  /// Sends a message to a device now, or as soon as there is a connection.
  /// - Parameters:
  ///   - push: What it says.
  ///   - device: Whom it is for.
  public func push(_ push: CloudPush, to device: CloudDevice) {
    command(.commanded(push, to: device))
  }

  func command(_ command: CloudMachine.Input) {
    let client = state.withLock { state in
      state.link.command(command)
      return state.client
    }
    client?.wake()
  }

  /// What is known of gateways; nil when the script has none.
  var gateways: GatewayCloud? { state.withLock { $0.link.gateways } }

  /// Connects, subscribes to what devices send, and answers until the client's world ends.
  ///
  /// A lost connection is opened again. When the task is cancelled, the connection is closed.
  /// - Parameter client: The world to live in.
  /// - Throws: ``CloudError`` when it can't be a cloud there, `DataClientError` when the client is
  ///   broken, and `CancellationError`.
  public func run(on client: some DataClient) async throws {
    try enter(client)
    defer { state.withLock { $0.client = nil } }
    do {
      var outputs = handle(.started, client)
      while try await perform(outputs, on: client) {
        let deadline = state.withLock { $0.link.deadline }
        outputs = handle(.received(try await client.next(before: deadline)), client)
      }
    } catch {
      // There may be no connection to close any more.
      try? await client.perform(ClientAction(ClientAction.ID(rawValue: .max), .disconnect))
      throw error
    }
  }

  private func enter(_ client: some DataClient) throws(CloudError) {
    if let key = script.firstInProcessKey, broker == nil {
      throw CloudError(.needsBroker, "\(key) asks for what a real broker can't be told to do")
    }
    let isRunning = state.withLock { state in
      defer { state.client = state.client ?? client }
      return state.client != nil
    }
    guard !isRunning else {
      throw CloudError(.running, "the simulator runs already; make another one")
    }
    for filter in script.refusedSubscriptions {
      broker?.refuseSubscriptions(to: CloudTopic.downFilter(filter))
    }
  }

  private func handle(_ input: CloudLink.Input, _ client: some DataClient) -> [CloudLink.Output] {
    state.withLock { $0.link.handle(input, now: client.now) }
  }

  /// Does what the link wants done.
  /// - Returns: Whether to go on.
  private func perform(
    _ outputs: [CloudLink.Output], on client: some DataClient
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
      case .dropPublisher(let topic): broker?.dropPublisher(of: topic)
      case .fail(let error): throw error
      case .finish: return false
      }
    }
    return true
  }
}

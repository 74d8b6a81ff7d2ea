public import RepriseCore

/// The other side of an SDK: answers devices as the cloud does, on a real broker or in process.
///
/// ```swift
/// let broker = InProcessBroker()
/// let cloud = SimulatedCloud(broker: broker)
/// let cloudClient = broker.client(named: "cloud")
/// let deviceClient = broker.client(named: "device")
/// try await withThrowingTaskGroup(of: Void.self) { group in
///   group.addTask { try await cloud.run(on: cloudClient) }
///   try await live(deviceClient)  // an SDK
///   group.cancelAll()
/// }
/// ```
///
/// How it answers is up to a ``CloudScript``. It goes on where it was when it runs again, on a new
/// client.
public final class SimulatedCloud: Sendable {
  private let runner: ServiceRunner<CloudMachine>
  private let script: CloudScript
  private let broker: InProcessBroker?

  /// Creates a simulator.
  /// - Parameters:
  ///   - script: How it behaves.
  ///   - broker: The broker, if it is in process; it is told to drop connections and to refuse
  ///     subscriptions when the script says so.
  ///   - options: How it connects.
  ///   - backOff: How long it waits before it connects again; as it stands 1, 2, 4, … 60 seconds.
  ///   - retryLimit: How many attempts in a row may be in vain before it gives up; nil is any number.
  public init(
    _ script: CloudScript = CloudScript(), broker: InProcessBroker? = nil,
    options: ConnectOptions = ConnectOptions(clientID: "cloud-simulator"),
    backOff: BackOff = BackOff(jitterPercent: 0), retryLimit: Int? = nil
  ) {
    runner = ServiceRunner(
      CloudMachine(script), options: options, backOff: backOff, retryLimit: retryLimit)
    self.script = script
    self.broker = broker
  }

  /// The devices whose app is bound to an account.
  public var boundDevices: Set<CloudDevice> { runner.withService { $0.boundDevices } }

  /// Sends a message to a device now, or as soon as there is a connection.
  /// - Parameters:
  ///   - push: What it says.
  ///   - device: The device that it is for.
  public func push(_ push: CloudPush, to device: CloudDevice) {
    command(.commanded(push, to: device))
  }

  func command(_ command: CloudMachine.Input) { runner.command(command) }

  /// What is known of gateways; nil when the script has none.
  var gateways: GatewayCloud? { runner.withService { $0.gateways } }

  /// Connects, subscribes to what devices send, and answers until the client's world ends.
  ///
  /// A lost connection is opened again. When the task is cancelled, the connection is closed.
  /// - Parameters:
  ///   - client: The world to live in.
  ///   - noteLack: Is told of filters that the broker refuses and that nobody asked for in so many words, as after
  ///     ``CloudScript/serveEverything()``; then those who send there are not answered.
  /// - Throws: ``SimulatorError`` when it can't be a cloud there, `DataClientError` when the client is
  ///   broken, and `CancellationError`.
  public func run(
    on client: some DataClient, noteLack: @Sendable ([String]) -> Void = { _ in }
  ) async throws {
    if let key = script.firstInProcessKey, broker == nil {
      throw SimulatorError(.needsBroker, "\(key) asks for what a real broker can't be told to do")
    }
    for filter in script.refusedSubscriptions {
      broker?.refuseSubscriptions(to: CloudTopic.downFilter(filter))
    }
    try await runner.run(on: client, broker: broker, noteLack: noteLack)
  }
}

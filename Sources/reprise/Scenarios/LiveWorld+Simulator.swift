import CloudSimulator
import Gates
import LiveClient
import RepriseCore

extension LiveWorld {
  /// The simulator that plays the cloud of a scenario, and the device that it plays for.
  struct Cloud {
    /// How the cloud behaves.
    var script: CloudScript
    /// The only device that it hears, so that several scenarios can go on at a broker.
    var device: CloudDevice

    /// The cloud's client identifier, one for each device.
    var clientID: String { "cloud-of-\(device.productKey)-\(device.deviceName)" }

    /// What of all that devices send it gets.
    var filters: [String] {
      let path = "\(device.productKey)/\(device.deviceName)"
      let own = "/sys/\(path)/app/up/#"
      guard let gateway = script.gateway else { return [own] }
      let subdevices = gateway.devices.map(\.device).map { "\($0.productKey)/\($0.deviceName)" }
      return [own, "/ext/session/\(path)/#"] + ([path] + subdevices).map { "/sys/\($0)/thing/#" }
    }
  }

  /// Runs something in a world whose cloud is played by a simulator at the same broker.
  ///
  /// The cloud has subscribed to what its device sends when the body begins, and goes when it ends.
  /// - Parameters:
  ///   - cloud: The simulator that plays the cloud.
  ///   - broker: Where the broker is, `mqtt://user:password@host:port`.
  ///   - address: Where the subject's gate listens.
  ///   - patience: How long to wait, in the client's time, for an event; nil waits for ever.
  ///   - wrapping: Puts what the scenario wants around the subject's client.
  ///   - wrappingCloud: Puts what the scenario wants around the cloud's client: the time that the
  ///     subject has, as delays of the script are in that.
  ///   - body: What is run. It ends the world.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, `SimulatorError` when the simulator can't be the cloud, and
  ///   `DataClientError`, as ``init(broker:address:isPassing:patience:wrapping:)``.
  static func simulated<Result: Sendable>(
    _ cloud: Cloud, broker: String, address: String = "127.0.0.1",
    patience: Duration? = .seconds(60),
    wrapping: (GatedClient<MosquittoClient>) throws -> any DataClient = { $0 },
    wrappingCloud: (any DataClient) throws -> any DataClient = { $0 },
    body: @escaping @Sendable (LiveWorld) async throws -> Result
  ) async throws -> Result {
    let world = try LiveWorld(
      broker: broker, address: address, isPassing: true, patience: patience, wrapping: wrapping)
    let simulator = SimulatedCloud(
      cloud.script, options: ConnectOptions(clientID: cloud.clientID))
    let gate = try BrokerGate(broker: broker)
    let client = try wrappingCloud(
      NarrowClient(try MosquittoClient(url: gate.url), filters: cloud.filters))
    return try await withThrowingTaskGroup(of: Result?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await simulator.run(on: client)
        return nil
      }
      group.addTask {
        // A gate of its own tells when the cloud is there.
        try await gate.accept()
        try await gate.grant()
        try await gate.pass()
        return try await body(world)
      }
      while let result = try await group.next() {
        if let result { return result }
      }
      throw CancellationError()
    }
  }
}

/// A client that asks for the messages of one device when it is asked to ask for those of all.
private struct NarrowClient: DataClient {
  private let client: MosquittoClient
  private let filters: [String]

  init(_ client: MosquittoClient, filters: [String]) {
    self.client = client
    self.filters = filters
  }

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { client.now }

  func perform(_ action: ClientAction) async throws {
    guard case .subscribe(let wanted) = action.kind else { return try await client.perform(action) }
    let qos = wanted.map(\.qos).max() ?? .atMostOnce
    let narrow = filters.map { Subscription($0, qos: qos) }
    try await client.perform(ClientAction(action.id, .subscribe(narrow)))
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await client.next(before: deadline)
  }

  func wake() { client.wake() }
}

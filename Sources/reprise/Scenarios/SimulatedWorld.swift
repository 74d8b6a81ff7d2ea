import CloudSimulator
import ConformanceKit
import RepriseCore

/// A world in process and in virtual time, whose cloud is played by a simulator.
struct SimulatedWorld: ScenarioWorld {
  private static let device = "device"

  /// The client that the subject lives on.
  let client: any DataClient
  private let broker: InProcessBroker

  private init(broker: InProcessBroker) {
    self.broker = broker
    client = broker.client(named: Self.device)
  }

  /// Runs a scenario in such a world.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - cloud: How the cloud behaves, as a script of the simulator says it.
  /// - Returns: What came of it.
  /// - Throws: `SimulatorError` for a script that makes no sense, `ConformanceError` for such a scenario,
  ///   and `CancellationError`.
  static func run(_ scenario: Scenario, cloud: CloudScript) async throws -> ScenarioOutcome {
    let broker = InProcessBroker()
    let simulator = SimulatedCloud(cloud, broker: broker)
    // The order in which clients are made is that in which the broker serves them.
    let cloudClient = broker.client(named: "cloud")
    let world = SimulatedWorld(broker: broker)
    return try await withThrowingTaskGroup(of: ScenarioOutcome?.self) { group in
      defer { group.cancelAll() }
      group.addTask {
        try await simulator.run(on: cloudClient)
        return nil
      }
      group.addTask { try await scenario.run(in: world) }
      while let outcome = try await group.next() {
        if let outcome { return outcome }
      }
      throw CancellationError()
    }
  }

  /// Breaks the connection; everything else the simulator does by itself.
  /// - Parameter step: What the cloud does.
  /// - Throws: `DataClientError` for what a simulator is not told.
  func perform(_ step: CloudStep) async throws {
    switch step {
    case .act, .close: return
    case .lose: broker.drop(Self.device)
    case .hangUp: broker.hangUp(Self.device)
    case .accept, .refuse, .grant, .acknowledge, .send, .frame:
      throw DataClientError(
        .unsupported, "the cloud of this scenario acts by itself; write \"cloud\": \"acts\"")
    }
  }

  /// Ends the world.
  func end() async throws { broker.end() }
}

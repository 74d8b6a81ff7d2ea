import CloudSimulator
import ConformanceKit
import RepriseCore

/// Scenarios of requests, which need no broker.
extension LivePlay {
  /// Runs a scenario of requests, and records it if that is wanted.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - index: Its number, from 0.
  /// - Returns: What came of it.
  /// - Throws: ``OutputError`` when a recording can't be written, `SimulatorError` and `ConformanceError` for
  ///   a scenario that makes no sense, and `CancellationError`.
  func playRequests(_ scenario: Scenario, _ index: Int) async throws -> Played {
    let recorder = try recorder(of: scenario)
    let speed = speed(of: scenario)
    let world = try LiveRequestWorld(
      address: gates[index], isSimulated: scenario.cloud != nil,
      patience: Self.patience(at: speed)
    ) { client in
      guard let recorder else { return try ScaledTimeClient(client, speed: speed) }
      return try ScaledTimeClient(RecordingClient(client, to: recorder), speed: speed)
    }
    let outcome: ScenarioOutcome
    if let cloud = scenario.cloud {
      outcome = try await world.simulate(
        RequestScript(cloud), wrapping: { try ScaledTimeClient($0, speed: speed) },
        body: { try await scenario.run(in: world) })
    } else {
      outcome = try await scenario.run(in: world)
    }
    try recorder?.close()
    let gate = ScenarioSession.Gate(address: gates[index], port: world.port)
    return Played(outcome: outcome, gate: gate, index: index)
  }
}

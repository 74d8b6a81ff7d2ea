import CloudSimulator
import ConformanceKit
import Gates
import LiveClient
import RepriseCore

/// Runs scenarios on a real broker, many at a time, and records them if that is wanted.
struct LivePlay: Sendable {
  /// Where the broker is, `mqtt://user:password@host:port`; requests need none.
  let broker: String?
  /// Where the gates before the broker listen; all packets of the SDK pass them.
  let gates: GateAddresses
  /// How many times as fast the SDK's time passes, unless a scenario wants it faster.
  let speed: Int
  /// Where recordings go; nil records nothing.
  let folder: String?
  /// Whether recordings that exist are replaced.
  let replaces: Bool

  /// How many scenarios are run at a time: each has threads and connections of its own.
  private static let width = 16
  /// How fast the SDK's time can pass at most.
  private static let fastest = 1_000
  /// How long an answer may take, in true time.
  private static let patience = 60

  /// One scenario that was run.
  struct Played: Sendable {
    /// What came of it.
    let outcome: ScenarioOutcome
    /// The gate that the client's packets passed, and no others.
    let gate: ScenarioSession.Gate
    /// The number of the scenario, from 0.
    let index: Int
  }

  /// Runs scenarios.
  /// - Parameter scenarios: The scenarios.
  /// - Returns: What came of each, in their order.
  /// - Throws: ``UsageError`` when a scenario needs a broker and there is none, `DataClientError` when the
  ///   broker does not answer, ``OutputError`` when a recording can't be written, ``Interrupted``,
  ///   `SimulatorError` and `ConformanceError` for a scenario that makes no sense, and `CancellationError`.
  func run(_ scenarios: [Scenario]) async throws -> [Played] {
    if scenarios.contains(where: { $0.system != .requests }) {
      try await check(knownBroker())
    }
    if let folder {
      for system in Set(scenarios.map(\.system)) {
        try ScenarioSession.makeFolder(of: system, in: folder)
      }
    }
    var played: [Played] = []
    try await withThrowingTaskGroup(of: Played.self) { group in
      for (index, scenario) in scenarios.enumerated() {
        if index >= Self.width, let one = try await group.next() { played.append(one) }
        try Interruption.check()
        group.addTask { try await play(scenario, index) }
      }
      for try await one in group { played.append(one) }
    }
    played.sort { $0.index < $1.index }
    if let folder { try describe(scenarios, played, in: folder) }
    return played
  }

  /// Writes what is to be known of the recordings of each system.
  private func describe(
    _ scenarios: [Scenario], _ played: [Played], in folder: String
  ) throws {
    for (system, rows) in Dictionary(grouping: zip(scenarios, played), by: \.0.system) {
      var session = ScenarioSession(speed: speed)
      for (scenario, played) in rows {
        session.gates[scenario.name] = played.gate
        let own = speed(of: scenario)
        if own != speed { session.speeds[scenario.name] = own }
      }
      let path = "\(ScenarioSession.folder(of: system, in: folder))/\(ScenarioSession.name)"
      let file = try OutputFile(path, inputs: [], replaces: replaces)
      try file.write(session.json)
      try file.close()
    }
  }

  /// The broker, which everything but requests needs.
  private func knownBroker() throws(UsageError) -> String {
    guard let broker else {
      throw UsageError("--client live needs a broker", "add --broker mqtt://127.0.0.1:1883")
    }
    return broker
  }

  /// Connects once, so that a broker that is not there is one error and not a finding a scenario.
  private func check(_ broker: String) async throws {
    let client: MosquittoClient
    do {
      _ = try BrokerGate(broker: broker, address: gates[0])
      client = try MosquittoClient(url: broker)
    } catch { throw DataClientError(error.code, "--broker \(broker): \(error.message)") }
    let limit = client.now.advanced(by: .seconds(Self.patience))
    try await client.perform(ClientAction(.init(rawValue: 1), .connect(ConnectOptions())))
    switch try await client.next(before: limit) {
    case .connected: try await client.perform(ClientAction(.init(rawValue: 2), .disconnect))
    case .closed(.byServer(_, let reason)), .closed(.lost(let reason)),
      .closed(.unreached(let reason, _)):
      throw DataClientError(
        .transport, "--broker \(broker): \(reason); start a broker, or name another")
    case .closed(.refused(let code)):
      throw DataClientError(
        .rejected,
        "--broker \(broker): it refuses the connection (code \(code)); check user and password")
    case .closed(.byUser), .subscribed, .unsubscribed, .published, .message, .text, .binary,
      .response, .failed, .deadline, .woken, .ended:
      throw DataClientError(
        .timedOut, "--broker \(broker): it does not answer within \(Self.patience) s")
    }
  }

  // MARK: One scenario

  private func play(_ scenario: Scenario, _ index: Int) async throws -> Played {
    if scenario.system == .requests { return try await playRequests(scenario, index) }
    let recorder = try recorder(of: scenario)
    let speed = speed(of: scenario)
    let wrapping = { (client: GatedClient<MosquittoClient>) throws -> any DataClient in
      guard let recorder else { return try ScaledTimeClient(client, speed: speed) }
      return try ScaledTimeClient(
        RecordingClient(client, to: recorder), speed: speed)
    }
    let result: Played
    let broker = try knownBroker()
    if let cloud = scenario.cloud {
      result = try await simulate(scenario, CloudScript(cloud), index, on: broker, wrapping)
    } else {
      let world = try LiveWorld(
        broker: broker, address: gates[index], patience: Self.patience(at: speed),
        wrapping: wrapping)
      let outcome = try await scenario.run(in: world)
      result = played(outcome, index, world)
    }
    try recorder?.close()
    return result
  }

  private func simulate(
    _ scenario: Scenario, _ script: CloudScript, _ index: Int, on broker: String,
    _ wrapping: (GatedClient<MosquittoClient>) throws -> any DataClient
  ) async throws -> Played {
    let speed = speed(of: scenario)
    let device = CloudDevice(productKey: "a1pk", deviceName: scenario.name)
    return try await LiveWorld.simulated(
      LiveWorld.Cloud(script: script, device: device), broker: broker, address: gates[index],
      patience: Self.patience(at: speed), wrapping: wrapping,
      wrappingCloud: { try ScaledTimeClient($0, speed: speed) }
    ) { world in
      let outcome = try await scenario.run(in: world)
      return played(outcome, index, world)
    }
  }

  private func played(_ outcome: ScenarioOutcome, _ index: Int, _ world: LiveWorld) -> Played {
    let gate = ScenarioSession.Gate(address: gates[index], port: world.port)
    return Played(outcome: outcome, gate: gate, index: index)
  }

  /// Makes the file that a scenario is recorded in; nil when nothing is recorded.
  func recorder(of scenario: Scenario) throws(OutputError) -> OutputFile? {
    guard let folder else { return nil }
    let own = ScenarioSession.folder(of: scenario.system, in: folder)
    return try OutputFile(
      "\(own)/\(scenario.name).jsonl", inputs: [], isPrivate: true, replaces: replaces)
  }

  /// How many times as fast the SDK's time passes in a scenario.
  func speed(of scenario: Scenario) -> Int {
    max(speed, min(scenario.speed ?? speed, Self.fastest))
  }

  /// How long an answer may take in the time of the SDK.
  static func patience(at speed: Int) -> Duration { .seconds(patience * speed) }
}

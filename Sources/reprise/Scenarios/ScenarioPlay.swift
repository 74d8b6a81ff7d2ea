import Capture
import CloudSimulator
import ConformanceKit
import Glibc
import RepriseCore

/// Runs scenarios in one of the worlds that the command can make.
struct ScenarioPlay: Sendable {
  /// The worlds.
  enum World: String, Sendable, CaseIterable {
    /// In process, as the steps say.
    case script
    /// From what the client recorded.
    case file
    /// From what was captured on the wire.
    case capture
    /// On a real broker.
    case live
  }

  /// What came of the wish to run a scenario.
  enum Result: Sendable {
    /// It was run, in a world that was made of something, from which something may be missing.
    case played(Scenario, ScenarioOutcome, input: String, notes: [String] = [])
    /// There is no such world, for a reason.
    case impossible(Scenario, input: String, reason: String)
  }

  /// Where recordings and captures are, unless something else is said.
  static let usualFolder = "Recordings/sdk"

  /// Where recordings and captures are.
  let folder: String
  /// How scenarios are run on a broker, or on a WebSocket.
  let live: LivePlay
  /// How many scenarios are run at a time, from 1; as many on a broker as that may bear.
  let jobs: Int

  /// The file that the world of a scenario is made of; nil where it is made of none.
  func path(of scenario: Scenario, in world: World) -> String? {
    let ending: String
    switch world {
    case .file: ending = "jsonl"
    case .capture: ending = "pcap"
    case .script, .live: return nil
    }
    return "\(ScenarioSession.folder(of: scenario.system, in: folder))/\(scenario.name).\(ending)"
  }

  /// Runs scenarios, several at a time.
  /// - Parameters:
  ///   - scenarios: The scenarios.
  ///   - world: What they are run in.
  /// - Returns: What came of each, in their order.
  /// - Throws: ``UsageError`` without a broker or a folder that the world needs, ``Interrupted``, what
  ///   a broker throws, `ConformanceError` for a scenario that makes no sense, and `CancellationError`.
  func run(_ scenarios: [Scenario], in world: World) async throws -> [Result] {
    if world == .live { return try await runLive(scenarios) }
    if world != .script, access(folder, F_OK) != 0 {
      throw UsageError(
        "there is no folder \(folder) with recordings of the scenarios",
        "change to the project's directory, or name one: --recordings FOLDER")
    }
    return try await withThrowingTaskGroup(of: (Int, Result).self) { group in
      var results: [Int: Result] = [:]
      for (index, scenario) in scenarios.enumerated() {
        if index >= jobs, let (place, result) = try await group.next() { results[place] = result }
        try Interruption.check()
        group.addTask { (index, try await play(scenario, in: world)) }
      }
      for try await (place, result) in group { results[place] = result }
      return scenarios.indices.compactMap { results[$0] }
    }
  }

  private func play(_ scenario: Scenario, in world: World) async throws -> Result {
    guard let path = path(of: scenario, in: world) else { return try await runScripted(scenario) }
    return try await replay(scenario, path)
  }

  private func runLive(_ scenarios: [Scenario]) async throws -> [Result] {
    let played = try await live.run(scenarios)
    return zip(scenarios, played).map { .played($0, $1.outcome, input: "live") }
  }

  private func runScripted(_ scenario: Scenario) async throws -> Result {
    let outcome =
      if let cloud = scenario.cloud, scenario.system == .requests {
        try await scenario.run(in: SimulatedRequestWorld(RequestScript(cloud)))
      } else if let cloud = scenario.cloud {
        try await SimulatedWorld.run(scenario, cloud: CloudScript(cloud))
      } else {
        try await scenario.run(in: ScriptedWorld(for: scenario.system))
      }
    return .played(scenario, outcome, input: "script")
  }

  private func replay(_ scenario: Scenario, _ path: String) async throws -> Result {
    let folder = ScenarioSession.folder(of: scenario.system, in: folder)
    var notes: [String] = []
    let world: ReplayWorld
    do {
      let session = try ScenarioSession(folder: folder)
      world = try ReplayWorld(
        ReplayClient(contentsOf: path, options: ReplayWorld.options) { notes.append($0) },
        speed: session.speed(of: scenario.name))
    } catch {
      return .impossible(scenario, input: path, reason: "\(error)")
    }
    return .played(scenario, try await scenario.run(in: world), input: path, notes: notes)
  }
}

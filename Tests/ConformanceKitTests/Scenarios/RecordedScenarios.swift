import Capture
import DataClient
import Foundation
import Testing

@testable import ConformanceKit

/// The recordings of the scenarios in this package.
enum RecordedScenarios {
  typealias Make = @Sendable (Scenario) throws -> any ScenarioWorld

  private static let folder: URL = {
    var package = URL(filePath: #filePath)
    for _ in 0..<4 { package.deleteLastPathComponent() }
    return package.appending(path: "Recordings/sdk")
  }()

  /// The worlds that need no broker, for scenarios whose cloud is in their steps.
  static let worlds: [(name: String, make: Make)] = [
    ("script", { _ in ScriptedWorld() }), ("file", { try world(of: $0, "jsonl") }),
    ("capture", { try world(of: $0, "pcap") }),
  ]

  /// A scenario's recording, or its capture, as a world.
  static func world(of scenario: Scenario, _ ending: String) throws -> ReplayWorld {
    let name = "\(scenario.system.rawValue)/\(scenario.name).\(ending)"
    let path = folder.appending(path: name).path
    return try ReplayWorld(
      ReplayClient(contentsOf: path, options: ReplayWorld.options), speed: scenario.speed ?? 20)
  }

  /// What a scenario's recording says.
  static func text(of scenario: Scenario) throws -> String {
    let name = "\(scenario.system.rawValue)/\(scenario.name).jsonl"
    return try String(contentsOf: folder.appending(path: name), encoding: .utf8)
  }

  /// The names of a system's files with an ending.
  static func names(of system: Scenario.System, _ ending: String) throws -> [String] {
    let own = folder.appending(path: system.rawValue)
    return try FileManager.default.contentsOfDirectory(atPath: own.path)
      .filter { $0.hasSuffix(".\(ending)") }.map { String($0.dropLast(ending.count + 1)) }.sorted()
  }

  /// Expects that the scenario which is there for a defect notices it in process, on the recording and
  /// on the capture alike, and that nothing is wrong there without it.
  static func expectCaught<Defect: Sendable>(
    _ defect: Defect, by name: String?, sourceLocation: SourceLocation = #_sourceLocation,
    _ run: (Scenario, any ScenarioWorld) async throws -> ScenarioOutcome
  ) async throws {
    let name = try #require(
      name, "say which scenario is there for \(defect)", sourceLocation: sourceLocation)
    let scenario = try #require(
      ScenarioTests.all.first { $0.name == name }, sourceLocation: sourceLocation)
    for (world, make) in worlds {
      let right = try await scenario.run(in: make(scenario))
      #expect(right.hasPassed, "\(world): \(right.findings)", sourceLocation: sourceLocation)
      let wrong = try await run(scenario, make(scenario))
      #expect(
        !wrong.hasPassed, "\(world) does not notice that \(defect)", sourceLocation: sourceLocation)
    }
  }
}

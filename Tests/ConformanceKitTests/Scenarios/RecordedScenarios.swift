import Capture
import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import ConformanceKit

/// What a defect is held against in a scenario.
struct Blame: Sendable {
  /// The number of the only clause that is broken.
  let clause: Int
  /// The step at which that is noticed, from 1; one more than there are is the end.
  let step: Int

  /// A clause that is broken at a step.
  static func clause(_ clause: Int, step: Int) -> Blame { Blame(clause: clause, step: step) }
}

/// The recordings of the scenarios in this package.
enum RecordedScenarios {
  typealias Make = @Sendable (Scenario) throws -> any ScenarioWorld

  private static let folder = PackageFolder.recordings.appending(path: "sdk")

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

  /// Expects that the scenarios which are there for a defect notice it, and that nothing is wrong without it.
  ///
  /// In process, on the recording and on the capture alike each holds it against one clause and no other, at one step.
  static func expectBlamed<Defect: Sendable>(
    _ defect: Defect, by catching: [String: Blame]?,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ run: (Scenario, any ScenarioWorld) async throws -> ScenarioOutcome
  ) async throws {
    let catching = try #require(
      catching, "say which scenarios are there for \(defect)", sourceLocation: sourceLocation)
    let suite = try ScenarioSuite.bundled()
    for (name, blame) in catching {
      let scenario = try #require(
        suite.scenarios.first { $0.name == name }, sourceLocation: sourceLocation)
      for (world, make) in worlds {
        let place = "\(defect) in \(name), \(world)"
        var judge = try ScenarioJudge(suite)
        let right = try await scenario.run(in: make(scenario))
        #expect(right.findings == [], "\(place)", sourceLocation: sourceLocation)
        judge.add(try await run(scenario, make(scenario)), of: scenario, in: world)
        let report = judge.report(toolVersion: "1")
        let findings = report.unbound + report.results.flatMap(\.findings)
        let seen = "\(place): \(findings)"
        let blamed = report.results.filter { $0.violated > 0 }.map(\.clause.id)
        #expect(
          blamed == ["SDK-\(scenario.system.rawValue)-\(blame.clause)"], "\(seen)",
          sourceLocation: sourceLocation)
        #expect(
          findings.map { $0.scenario?.step } == [blame.step], "\(seen)",
          sourceLocation: sourceLocation)
        let isPlaced = findings.allSatisfy {
          $0.frame > 0 && $0.connection > 0
            && $0.time > Timestamp(nanoseconds: 1_700_000_000_000_000_000)
        }
        #expect(report.unbound == [] && isPlaced, "\(seen)", sourceLocation: sourceLocation)
      }
    }
  }
}

import DeviceSDK
import RepriseCore
import Testing

@testable import ConformanceKit

/// What the scenarios of links are made of.
@Suite struct LinkScenarioTests {
  /// All lines that must come of them, without times.
  private static let lines = Set(
    ScenarioTests.all.filter { $0.system == .link }.flatMap { $0.steps.flatMap(\.expected) }
      .map { line in line.first == "+" ? String(line.drop { $0 != " " }.dropFirst()) : line })

  /// Each row of the tables of transitions happens in a scenario, for each of its reasons.
  @Test(arguments: [("state", LinkTable.message), ("stream", LinkTable.stream)])
  func goThroughEveryTransition(word: String, table: LinkTable) {
    for row in table.rows {
      for reason in row.reasons {
        let start = "\(word) \(row.from) > \(row.to) (\(row.operation), \(reason))"
        #expect(Self.lines.contains { $0.hasPrefix(start) }, "no scenario has \(start)")
      }
    }
  }

  @Test(
    arguments: [
      ["streamChannel": 1], ["heartbeatInterval": "often"], ["unknown": true],
      ["rejectsRepeatedLogin": "yes"],
    ] as [JSONValue])
  func refuseSettingsThatAreNone(configuration: JSONValue) throws {
    let scenario = try scenario(configuration, [])
    #expect(throws: ConformanceError.self) { try LinkSettings(scenario) }
  }

  @Test(
    arguments: [
      ["call": "join"], ["call": "fly"], ["call": "network", "change": "better"],
      ["call": "subscribe", "channel": "a", "features": ["colour"]], ["listen": "a"],
      ["cloud": "sends"],
    ] as [JSONValue])
  func refuseStepsThatAreNone(step: JSONValue) async throws {
    let scenario = try scenario([:], [step])
    await #expect(throws: ConformanceError.self) { try await scenario.run(in: ScriptedWorld()) }
  }

  private func scenario(_ configuration: JSONValue, _ steps: [JSONValue]) throws -> Scenario {
    try Scenario(
      [
        "name": "odd", "title": "", "clauses": [], "configuration": configuration,
        "steps": .array(steps),
      ], of: .link)
  }
}

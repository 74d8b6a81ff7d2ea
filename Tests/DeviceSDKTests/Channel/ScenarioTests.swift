import DataClient
import Testing

@testable import DeviceSDK

@Suite struct ScenarioTests {
  @Test(arguments: Scenario.names)
  func happensLineByLine(name: String) async throws {
    let problems = try await ScenarioRunner(Scenario(named: name)).run()
    #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
  }

  @Test func noticesALineThatIsMissing() async throws {
    var scenario = try Scenario(named: "publish")
    scenario = scenario.expectingNothing()
    #expect(try await ScenarioRunner(scenario).run().count > 2)
  }

  @Test func bindsEveryScenarioToClauses() throws {
    #expect(Scenario.names.count >= 20)
    let ids = try Set(catalogue().compactMap { $0["id"]?.text })
    for name in Scenario.names {
      let clauses = try Scenario(named: name).clauses
      #expect(!clauses.isEmpty)
      #expect(ids.isSuperset(of: clauses), "\(name) names a clause that does not exist")
    }
  }

  @Test func bindsEveryClauseToAScenarioThatSaysSo() throws {
    let used = try Set(Scenario.names.flatMap { try Scenario(named: $0).clauses })
    let clauses = try catalogue()
    for (index, clause) in clauses.enumerated() {
      let id = clause["id"]?.text ?? "-"
      let check = clause["check"]?.text ?? ""
      #expect(id == "SDK-channel-\(index + 1)")
      #expect(["MUST", "SHOULD", "MAY"].contains(clause["level"]?.text))
      #expect(clause["section"]?.text != nil && clause["summary"]?.text != nil)
      #expect(check.hasPrefix("scenario") == used.contains(id), "\(id) says \(check)")
    }
    #expect(clauses.count >= 50)
  }

  private func catalogue() throws -> [JSONValue] {
    guard case .array(let clauses) = try Scenario.json("channel.json") else { return [] }
    return clauses
  }
}

extension Scenario {
  fileprivate func expectingNothing() -> Scenario {
    Scenario(
      name: name, clauses: clauses, configuration: configuration,
      steps: steps.map { Step(fields: $0.fields, expected: []) })
  }

  fileprivate init(name: String, clauses: [String], configuration: JSONValue, steps: [Step]) {
    self.name = name
    self.clauses = clauses
    self.configuration = configuration
    self.steps = steps
  }
}

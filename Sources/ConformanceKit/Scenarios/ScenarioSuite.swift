import CConformance
import RepriseCore

/// The scenarios of the SDK's systems, and the catalogue of the clauses that they are bound to.
package struct ScenarioSuite: Sendable {
  /// The clauses of all systems.
  package let catalogue: Catalogue
  /// The scenarios of all systems, by their names within each.
  package let scenarios: [Scenario]

  /// Reads the suite that is part of this library.
  /// - Returns: The suite.
  /// - Throws: ``ConformanceError`` when it was damaged when the library was built.
  package static func bundled() throws(ConformanceError) -> ScenarioSuite {
    var scenarios: [Scenario] = []
    for system in Scenario.System.allCases {
      let name = "the scenarios of the \(system.rawValue)"
      for value in try JSONValue.array(system.scenarioData, name) {
        scenarios.append(try Scenario(value, of: system))
      }
    }
    return ScenarioSuite(catalogue: try catalogue(scenarios), scenarios: scenarios)
  }

  /// Reads the clauses of all systems.
  /// - Parameter scenarios: The scenarios, which the clauses then name; nil for clauses that name none, as it takes
  ///   longer to read the scenarios than everything else.
  /// - Returns: The clauses.
  /// - Throws: ``ConformanceError`` when they were damaged when the library was built.
  fileprivate static func catalogue(
    _ scenarios: [Scenario]?
  ) throws(ConformanceError) -> Catalogue {
    var clauses: [Clause] = []
    for system in Scenario.System.allCases {
      let name = "the catalogue of the \(system.rawValue)"
      for value in try JSONValue.array(system.catalogueData, name) {
        clauses.append(try Clause(sdk: value, scenarios: scenarios))
      }
    }
    return Catalogue(clauses)
  }

  /// Returns a table of scenarios: name, title and clauses.
  /// - Parameter scenarios: The scenarios.
  /// - Returns: One line a scenario.
  package func listing(_ scenarios: [Scenario]) -> String {
    let width = scenarios.map(\.name.count).max() ?? 0
    return scenarios.map { scenario in
      let clauses = scenario.clauses.joined(separator: ", ")
      return "\(scenario.name.padded(to: width))  \(scenario.title)  \(clauses)\n"
    }.joined()
  }

  /// Returns the scenarios that a user asked for, in the suite's order.
  /// - Parameters:
  ///   - names: Their names, or those of systems; none is all of them.
  ///   - selectors: Identifiers and sections of clauses, one of which they are bound to; none is all.
  /// - Returns: The scenarios.
  /// - Throws: ``ConformanceError`` for a name or a clause that does not exist, with the nearest, and when no
  ///   scenario is left to run.
  package func select(
    _ names: [String] = [], clauses selectors: [String] = []
  ) throws(ConformanceError) -> [Scenario] {
    let known = scenarios.map(\.name) + Scenario.System.allCases.map(\.rawValue)
    for name in names where !known.contains(name) {
      let hint = NearestName.find(name, in: known).map { "; did you mean \($0)?" } ?? ""
      throw ConformanceError(.unknownScenario, "no scenario is called \(name)\(hint)")
    }
    let wanted = Set(try catalogue.select(selectors).map(\.id))
    let selected = scenarios.filter { scenario in
      let isNamed =
        names.isEmpty || names.contains(scenario.name) || names.contains(scenario.system.rawValue)
      return isNamed && (selectors.isEmpty || !wanted.isDisjoint(with: scenario.clauses))
    }
    guard !selected.isEmpty else {
      let clauses = selectors.joined(separator: ", ")
      let message =
        names.isEmpty
        ? "no scenario is bound to \(clauses), which tests of the SDK judge"
        : "none of the scenarios that were named is bound to \(clauses)"
      throw ConformanceError(.unknownScenario, message)
    }
    return selected
  }
}

extension Catalogue {
  /// Reads the clauses of the standards and of the SDK.
  /// - Returns: All of them, the standards' first; those of the SDK name their scenarios.
  /// - Throws: ``ConformanceError`` when they were damaged when the library was built.
  package static func everything() throws(ConformanceError) -> Catalogue {
    Catalogue(try bundled().clauses + ScenarioSuite.bundled().catalogue.clauses)
  }

  /// Reads the clauses of the standards and of the SDK for a list, which says no more than that scenarios show one.
  /// - Returns: All of them, the standards' first.
  /// - Throws: ``ConformanceError`` when they were damaged when the library was built.
  package static func listed() throws(ConformanceError) -> Catalogue {
    Catalogue(try bundled().clauses + ScenarioSuite.catalogue(nil).clauses)
  }
}

extension Scenario.System {
  fileprivate var catalogueData: conformance_data {
    switch self {
    case .channel: conformance_sdk_channel()
    case .requests: conformance_sdk_requests()
    case .gateway: conformance_sdk_gateway()
    case .link: conformance_sdk_link()
    }
  }

  fileprivate var scenarioData: conformance_data {
    switch self {
    case .channel: conformance_sdk_channel_scenarios()
    case .requests: conformance_sdk_requests_scenarios()
    case .gateway: conformance_sdk_gateway_scenarios()
    case .link: conformance_sdk_link_scenarios()
    }
  }
}

extension Scenario {
  /// Runs the scenario with the SDK's own machine.
  /// - Parameter world: The world, which is ended then.
  /// - Returns: The lines, and what is not as it should be.
  /// - Throws: ``ConformanceError`` when the scenario makes no sense, and `CancellationError`.
  package func run(in world: any ScenarioWorld) async throws -> ScenarioOutcome {
    switch system {
    case .channel:
      try await ScenarioRunner(self) { try ChannelSubject($0, pen: $1) }.run(in: world)
    case .requests:
      try await ScenarioRunner(self) { try RequestSubject($0, pen: $1) }.run(in: world)
    case .gateway:
      try await ScenarioRunner(self) { try GatewaySubject($0, pen: $1) }.run(in: world)
    case .link: try await runLink(in: world)
    }
  }
}

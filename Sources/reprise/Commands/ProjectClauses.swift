import ConformanceKit
import Glibc

/// By which clauses the recordings of a project are judged, and by which the SDK that plays them.
struct ProjectClauses {
  /// The standards and the clauses for recordings; none of either is all; nil where no recording is judged.
  private(set) var standards: (specs: [String], clauses: [String])?
  /// The SDK's clauses; none is all; nil where no scenario is run.
  private(set) var sdk: [String]?

  /// What `--spec` calls the SDK's clauses.
  static let sdkName = "sdk"

  /// Reads `--spec` and `--clause`.
  /// - Parameters:
  ///   - arguments: The options.
  ///   - hasScenarios: Whether the project has recordings of the scenarios.
  /// - Throws: ``UsageError``, and `ConformanceError` for what no catalogue has.
  init(_ arguments: Arguments, hasScenarios: Bool) throws {
    let specs = arguments.list(.spec)
    let others = specs.filter { $0 != Self.sdkName }
    let isNamed = others.count < specs.count
    let ofConnections = [ConformRun.client, ConformRun.subject].first { arguments.has($0) }
    if isNamed, let ofConnections {
      throw UsageError(
        "--\(ofConnections.name) is about connections, and the clauses of the SDK are about scenarios",
        "leave out one of them")
    }
    standards = specs.isEmpty || !others.isEmpty ? (others, []) : nil
    sdk = isNamed || specs.isEmpty && hasScenarios && ofConnections == nil ? [] : nil
    let selectors = arguments.list(ConformRun.clause)
    if !selectors.isEmpty { try select(selectors, among: others) }
  }

  /// Leaves each selector to where there is such a clause, and what none is left to out.
  private mutating func select(_ selectors: [String], among specs: [String]) throws {
    let (clauses, scenarios) = (try Catalogue.bundled(), try ScenarioSuite.bundled().catalogue)
    let chosen = specs.isEmpty ? nil : Set(specs)
    var (ofStandards, ofSDK): ([String], [String]) = ([], [])
    for selector in selectors {
      if sdk != nil, (try? scenarios.select([selector])) != nil { ofSDK.append(selector) }
      if standards != nil, (try? clauses.select(specs: chosen, [selector])) != nil {
        ofStandards.append(selector)
      } else if ofSDK.last != selector {
        // Says what is near.
        _ =
          try standards == nil
          ? scenarios.select([selector]) : clauses.select(specs: chosen, [selector])
      }
    }
    standards = ofStandards.isEmpty ? nil : (specs, ofStandards)
    sdk = ofSDK.isEmpty ? nil : ofSDK
  }
}

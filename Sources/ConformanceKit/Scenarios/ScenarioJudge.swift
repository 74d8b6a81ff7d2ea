internal import RepriseCore

/// Gathers what came of scenarios, and says which clauses are kept.
///
/// A step that goes otherwise than it should is held against the clauses that it shows. What follows it mostly
/// follows from it, and so the other clauses of the scenario are kept if all steps that show them came before it,
/// and undecided if not. A clause has passed when no run broke it and one kept it.
package struct ScenarioJudge: Sendable {
  private struct Counts {
    var satisfied = 0
    var findings: [Finding] = []
    var places: [UndecidedPlace] = []
  }

  private let clauses: [Clause]
  private let isComplete: Bool
  private let isStrict: Bool
  private var inputs: [String] = []
  private var counts: [String: Counts] = [:]
  private var unbound: [Finding] = []

  /// Creates a judge that has seen nothing.
  /// - Parameters:
  ///   - suite: The suite.
  ///   - selectors: Identifiers and sections of the clauses to report; none is all.
  ///   - isStrict: Whether a violated SHOULD or MAY fails the run.
  /// - Throws: ``ConformanceError`` for clauses that do not exist.
  package init(
    _ suite: ScenarioSuite, clauses selectors: [String] = [], isStrict: Bool = false
  ) throws(ConformanceError) {
    clauses = try suite.catalogue.select(selectors)
    isComplete = selectors.isEmpty
    self.isStrict = isStrict
  }

  /// Takes what came of a scenario.
  /// - Parameters:
  ///   - outcome: What came of it.
  ///   - scenario: The scenario.
  ///   - input: What its world was made of: a file, or the name of a world.
  ///   - isWhole: Whether nothing is missing from the world; otherwise what is wrong may be for want of that.
  package mutating func add(
    _ outcome: ScenarioOutcome, of scenario: Scenario, in input: String, isWhole: Bool = true
  ) {
    if !inputs.contains(input) { inputs.append(input) }
    guard let first = outcome.findings.first else {
      for clause in scenario.clauses { counts[clause, default: Counts()].satisfied += 1 }
      return
    }
    let place = ScenarioPlace(name: scenario.name, step: first.step, action: first.action)
    let finding = Finding(
      file: input, scenario: place, frame: first.place.frame, connection: first.place.connection,
      time: first.place.time, message: first.message, packet: [], expected: first.expected,
      actual: first.actual)
    let isOfWorld = first.isOfWorld || !isWhole
    for clause in scenario.clauses {
      if first.clauses.contains(clause), !isOfWorld {
        counts[clause, default: Counts()].findings.append(finding)
      } else if scenario.lastStep(showing: clause) < first.step {
        counts[clause, default: Counts()].satisfied += 1
      } else {
        counts[clause, default: Counts()].places.append(
          UndecidedPlace(finding, isOfWorld: isOfWorld))
      }
    }
    if first.clauses.isEmpty, !isOfWorld { unbound.append(finding) }
  }

  /// Returns the verdicts on all that was added.
  /// - Parameter toolVersion: The version of the tool that judges.
  /// - Returns: The report.
  package func report(toolVersion: String) -> ConformanceReport {
    let results = clauses.map { clause in
      let counts = counts[clause.id] ?? Counts()
      return ClauseResult(
        clause, satisfied: counts.satisfied, findings: counts.findings, places: counts.places,
        isStrict: isStrict)
    }
    return ConformanceReport(
      toolVersion: toolVersion, inputs: inputs, results: results, isComplete: isComplete,
      unbound: unbound)
  }
}

extension UndecidedPlace {
  /// The place at which a scenario was left before it came to what a clause is shown by.
  fileprivate init(_ finding: Finding, isOfWorld: Bool) {
    let cause = isOfWorld ? "could not be run to its end" : "went otherwise before"
    self.init(
      file: finding.file, scenario: finding.scenario, frame: finding.frame,
      connection: finding.connection, time: finding.time,
      reason: "not reached: the scenario \(cause)")
  }
}

internal import DataClient

/// Gathers what came of scenarios, and says which clauses are kept.
///
/// A clause has passed when every run of every scenario that is bound to it went as it should.
public struct ScenarioJudge: Sendable {
  private let clauses: [Clause]
  private let isComplete: Bool
  private let isStrict: Bool
  private var inputs: [String] = []
  private var satisfied: [String: Int] = [:]
  private var findings: [String: [Finding]] = [:]

  /// Creates a judge that has seen nothing.
  /// - Parameters:
  ///   - suite: The suite.
  ///   - selectors: Identifiers and sections of the clauses to report; none is all.
  ///   - isStrict: Whether a violated SHOULD or MAY fails the run.
  /// - Throws: ``ConformanceError`` for clauses that do not exist.
  public init(
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
  public mutating func add(
    _ outcome: ScenarioOutcome, of scenario: Scenario, in input: String
  ) {
    if !inputs.contains(input) { inputs.append(input) }
    for clause in scenario.clauses {
      guard let first = outcome.findings.first else {
        satisfied[clause, default: 0] += 1
        continue
      }
      // What follows the first finding of a run mostly follows from it.
      let place = ScenarioPlace(name: scenario.name, step: first.step, action: first.action)
      findings[clause, default: []].append(
        Finding(
          file: input, scenario: place, frame: 0, connection: 0, time: Timestamp(nanoseconds: 0),
          message: first.message, packet: [], expected: first.expected, actual: first.actual))
    }
  }

  /// Returns the verdicts on all that was added.
  /// - Parameter toolVersion: The version of the tool that judges.
  /// - Returns: The report.
  public func report(toolVersion: String) -> ConformanceReport {
    let results = clauses.map { clause in
      ClauseResult(
        clause, satisfied: satisfied[clause.id] ?? 0, findings: findings[clause.id] ?? [],
        isStrict: isStrict)
    }
    return ConformanceReport(
      toolVersion: toolVersion, inputs: inputs, results: results, isComplete: isComplete)
  }
}

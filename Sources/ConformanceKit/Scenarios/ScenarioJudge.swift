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
  private var counts: [String: Counts] = [:]
  private var unbound: [Finding] = []
  private var records: [ScenarioRecord] = []

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
  ///   - world: The name of its world.
  ///   - input: What that was made of: a file; nil where it is the world's name that says it all.
  ///   - isWhole: Whether nothing is missing from the world; otherwise what is wrong may be for want of that.
  package mutating func add(
    _ outcome: ScenarioOutcome, of scenario: Scenario, in world: String,
    from input: String? = nil, isWhole: Bool = true
  ) {
    let input = input ?? world
    guard let first = outcome.findings.first else {
      for clause in scenario.clauses { counts[clause, default: Counts()].satisfied += 1 }
      records.append(
        ScenarioRecord(scenario, in: world, of: input, .passed, kept: Set(scenario.clauses)))
      return
    }
    let finding = Finding(outcome.findings, first, of: scenario, in: world, from: input)
    let isOfWorld = first.isOfWorld || !isWhole
    var kept: Set<String> = []
    for clause in scenario.clauses {
      if first.clauses.contains(clause), !isOfWorld {
        counts[clause, default: Counts()].findings.append(finding)
      } else if scenario.lastStep(showing: clause) < first.step {
        counts[clause, default: Counts()].satisfied += 1
        kept.insert(clause)
      } else {
        counts[clause, default: Counts()].places.append(
          UndecidedPlace(finding, isOfWorld: isOfWorld))
      }
    }
    if first.clauses.isEmpty, !isOfWorld { unbound.append(finding) }
    records.append(
      ScenarioRecord(
        scenario, in: world, of: input, isOfWorld ? .inconclusive : .failed,
        reason: isOfWorld ? first.message : nil, kept: kept))
  }

  /// Takes note that a scenario could not be run.
  /// - Parameters:
  ///   - scenario: The scenario.
  ///   - world: The name of the world that there is not.
  ///   - input: What that would have been made of.
  ///   - reason: Why there is no such world, and what to do.
  package mutating func add(
    unrun scenario: Scenario, in world: String, from input: String, reason: String
  ) {
    records.append(ScenarioRecord(scenario, in: world, of: input, .notRun, reason: reason))
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
      toolVersion: toolVersion, records, results: results, isComplete: isComplete,
      unbound: unbound)
  }
}

extension ConformanceReport {
  /// Creates a report on scenarios.
  init(
    toolVersion: String, _ records: [ScenarioRecord], results: [ClauseResult], isComplete: Bool,
    unbound: [Finding]
  ) {
    let played = records.filter { $0.outcome != .notRun }
    var known: Set<String> = []
    self.init(
      toolVersion: toolVersion, inputs: played.map(\.file).filter { known.insert($0).inserted },
      results: results, isComplete: isComplete, unbound: unbound,
      subjects: Set(played.map(\.subject)), scenarios: records)
  }
}

extension Finding {
  /// What is wrong with a scenario: its first finding, with the steps of the others.
  ///
  /// What else goes otherwise is told by its steps alone, but tells the finding from others: what is accepted of a
  /// scenario is all that is wrong with it.
  fileprivate init(
    _ all: [ScenarioFinding], _ first: ScenarioFinding, of scenario: Scenario, in world: String,
    from input: String
  ) {
    let place = ScenarioPlace(
      name: scenario.name, step: first.step, action: first.action, world: world)
    self.init(
      file: input, scenario: place, frame: first.place.frame, connection: first.place.connection,
      time: first.place.time, message: first.message, packet: [], expected: first.expected,
      actual: first.actual)
    laterSteps = all.dropFirst().map(\.step)
    remedies = first.remedies
    if remedies.isEmpty, input != world, frame > 0 {
      let view = "reprise view \(ShellWord.quoted(input))"
      remedies = ["\(view) --at \(frame)", "\(view) --sdk \(scenario.system.rawValue)"]
    }
    identity = .texts(all.flatMap(\.texts))
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

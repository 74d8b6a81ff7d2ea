internal import RepriseCore

extension ConformanceReport {
  /// Reads a report on scenarios back.
  init(readingScenarios document: ReportDocument) throws(ReportError) {
    let (json, file) = (document.json, document.file)
    let remedy = document.kind.remedy
    guard let version = json["tool"]?["version"]?.text,
      let scenarios = json["scenarios"]?.elements
    else {
      throw ReportError(
        file, "it does not say which scenarios were run, as this version does", remedy)
    }
    let suite: ScenarioSuite
    do throws(ConformanceError) { suite = try ScenarioSuite.bundled() } catch {
      throw ReportError(file, error.message, remedy)
    }
    let known = Dictionary(suite.scenarios.map { ($0.name, $0) }) { first, _ in first }
    var records: [ScenarioRecord] = []
    for entry in scenarios { records.append(try ScenarioRecord(entry, known, of: file)) }
    let clauses = Dictionary(suite.catalogue.clauses.map { ($0.key, $0) }) { first, _ in first }
    let entries = document.entries(ofSDK: true)
    let isStrict = entries.contains {
      $0.row.verdict == .failed && $0.json["level"]?.text != "MUST"
    }
    var results: [ClauseResult] = []
    for (entry, row) in entries {
      guard let clause = clauses[row.key] else {
        throw ReportError(file, "there is no clause \(row.key) in this version", remedy)
      }
      results.append(try ClauseResult(clause, entry, isStrict: isStrict, of: file))
    }
    var unbound: [Finding] = []
    for entry in json["unbound"]?.elements ?? [] {
      unbound.append(try Finding(entry, of: file))
    }
    self.init(
      toolVersion: version, records, results: results,
      isComplete: results.count == suite.catalogue.clauses.count, unbound: unbound)
  }

  /// What the scenarios without a verdict lack, with their files.
  var scenarioProblems: [String] { scenarios?.compactMap(\.problem) ?? [] }
}

extension ScenarioRecord {
  /// Reads what became of a scenario.
  /// - Parameters:
  ///   - value: The object that says it.
  ///   - known: The scenarios of this version, by their names.
  ///   - file: The name of the report's file.
  /// - Throws: ``ReportError`` for what is none, or one of another version.
  fileprivate init(
    _ value: JSONValue, _ known: [String: Scenario], of file: String
  ) throws(ReportError) {
    guard let name = value["scenario"]?.text, let world = value["world"]?.text,
      let input = value["file"]?.text,
      let outcome = value["outcome"]?.text.flatMap(Outcome.init)
    else { throw ReportError(file, "a scenario in it lacks something", Self.remedy) }
    guard let scenario = known[name] else {
      throw ReportError(file, "there is no scenario \(name) in this version", Self.remedy)
    }
    self.init(scenario, in: world, of: input, outcome, reason: value["reason"]?.text)
  }

  private static let remedy = ReportDocument.Kind.scenarios(nil).remedy
}

extension ClauseResult {
  /// Reads the result of a clause that scenarios show.
  fileprivate init(
    _ clause: Clause, _ value: JSONValue, isStrict: Bool, of file: String
  ) throws(ReportError) {
    let tally = value["tally"]
    var findings: [Finding] = []
    for entry in value["findings"]?.elements ?? [] {
      findings.append(try Finding(entry, of: file))
    }
    var places: [UndecidedPlace] = []
    for entry in value["undecided"]?.elements ?? [] {
      places.append(try UndecidedPlace(entry, of: file))
    }
    guard let kept = tally?["kept"]?.integer, kept >= 0,
      tally?["violated"]?.integer == findings.count, tally?["undecided"]?.integer == places.count,
      findings.allSatisfy({ $0.scenario != nil }), places.allSatisfy({ $0.scenario != nil })
    else {
      throw ReportError(
        file, "the tally of \(clause.id) is not that of what it lists",
        ReportDocument.Kind.scenarios(nil).remedy)
    }
    self.init(clause, satisfied: kept, findings: findings, places: places, isStrict: isStrict)
  }

  /// The result on all scenarios of several parts.
  init(joining parts: [ClauseResult], _ order: ScenarioOrder, isStrict: Bool) {
    self.init(
      parts[0].clause, satisfied: parts.reduce(0) { $0 + $1.satisfied },
      findings: order.sorted(parts.flatMap(\.findings), by: \.scenario),
      places: order.sorted(parts.flatMap(\.places), by: \.scenario), isStrict: isStrict)
  }
}

extension ScenarioPlace {
  /// Reads the step that an object names; nil where it names none.
  init?(in value: JSONValue, of file: String) throws(ReportError) {
    guard value["scenario"] != nil else { return nil }
    guard let key = ScenarioRecord.Key(value), let step = value["step"]?.integer,
      let action = value["action"]?.text
    else {
      throw ReportError(
        file, "a step of a scenario in it lacks something",
        ReportDocument.Kind.scenarios(nil).remedy)
    }
    self.init(name: key.scenario, step: step, action: action, world: key.world)
  }

  fileprivate var key: ScenarioRecord.Key { ScenarioRecord.Key(world: world, scenario: name) }
}

extension Finding {
  /// Reads what findings of scenarios alone have.
  mutating func readScenario(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let print = value["fingerprint"]?.text.flatMap(Fingerprint.init) else {
      throw ReportError(
        file, "a finding has no fingerprint", ReportDocument.Kind.scenarios(nil).remedy)
    }
    identity = .read(print)
    laterSteps = value["laterSteps"]?.elements?.compactMap(\.integer) ?? []
    remedies = value["next"]?.texts ?? []
  }
}

/// The order in which a run goes through scenarios: world by world, and in each as the suite has them.
struct ScenarioOrder {
  private let ranks: [ScenarioRecord.Key: Int]
  /// What became of each scenario, in that order.
  let records: [ScenarioRecord]

  /// Finds the order.
  /// - Parameters:
  ///   - records: What became of scenarios in several parts of a run, part by part.
  ///   - suite: The scenarios.
  init(_ records: [ScenarioRecord], _ suite: ScenarioSuite) {
    var worlds: [String: Int] = [:]
    for record in records where worlds[record.world] == nil { worlds[record.world] = worlds.count }
    let places = Dictionary(suite.scenarios.enumerated().map { ($1.name, $0) }) { first, _ in first
    }
    func rank(_ record: ScenarioRecord) -> (Int, Int) {
      (worlds[record.world] ?? 0, places[record.scenario] ?? 0)
    }
    self.records = records.sorted { rank($0) < rank($1) }
    ranks = Dictionary(self.records.enumerated().map { ($1.key, $0) }) { first, _ in first }
  }

  /// Sorts what is of a step of a scenario each.
  func sorted<Element>(
    _ elements: [Element], by place: (Element) -> ScenarioPlace?
  ) -> [Element] {
    func rank(_ element: Element) -> Int { place(element).flatMap { ranks[$0.key] } ?? 0 }
    return elements.enumerated().sorted {
      (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
    }.map(\.element)
  }
}

extension ConformanceReport {
  /// Joins reports on different scenarios, or on the same in different worlds, to the one that a run over all gives.
  static func merged(
    scenarios parts: [(name: String, report: ConformanceReport)], isStrict: Bool
  ) throws(ReportError) -> ConformanceReport {
    var known: [ScenarioRecord.Key: String] = [:]
    for (name, report) in parts {
      for record in report.scenarios ?? [] {
        if let other = known.updateValue(name, forKey: record.key) {
          throw ReportError(
            name, "the \(record.subject) was run in \(other) as well",
            "run each scenario in one part only")
        }
      }
    }
    try checkCases(parts)
    let suite: ScenarioSuite
    do throws(ConformanceError) { suite = try ScenarioSuite.bundled() } catch {
      throw ReportError(parts[0].name, error.message)
    }
    let order = ScenarioOrder(parts.flatMap { $0.report.scenarios ?? [] }, suite)
    let results = parts[0].report.results.indices.map { index in
      ClauseResult(joining: parts.map { $0.report.results[index] }, order, isStrict: isStrict)
    }
    return ConformanceReport(
      toolVersion: parts[0].report.toolVersion, order.records, results: results,
      isComplete: parts.allSatisfy(\.report.isComplete),
      unbound: order.sorted(parts.flatMap(\.report.unbound), by: \.scenario))
  }

  /// Checks that the parts of a run have all of its scenarios: each may have been cut out of others.
  private static func checkCases(
    _ parts: [(name: String, report: ConformanceReport)]
  ) throws(ReportError) {
    let shards = parts.filter { $0.report.shard != nil }
    guard let first = shards.first, let cases = first.report.shard?.cases else { return }
    let count = shards.reduce(0) { $0 + ($1.report.scenarios?.count ?? 0) }
    guard count == cases else {
      throw ReportError(
        first.name, "it is a part of \(cases) scenarios, and all parts have \(count)",
        "judge the parts of one run, with the same scenarios, --client and --clause")
    }
  }
}

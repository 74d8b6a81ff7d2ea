internal import RepriseCore

/// The verdicts of a run.
public struct ConformanceReport: Sendable, Hashable {
  /// The version of the tool that judged.
  public let toolVersion: String
  /// The files that were judged.
  public internal(set) var inputs: [String]
  /// The parts of the one capture that they are; none where each is a session by itself.
  public internal(set) var parts: [JoinedPart] = []
  /// The clauses, in the catalogue's order.
  public internal(set) var results: [ClauseResult]
  /// The files among ``inputs`` that could not be read.
  public internal(set) var unread: [UnreadInput] = []
  /// What is wrong with steps of scenarios that show no clause: those that lead to others, and the end.
  public internal(set) var unbound: [Finding]
  /// What became of each scenario in each world, in the order of the run; nil where files were judged.
  package internal(set) var scenarios: [ScenarioRecord]?
  /// What became of each case by which the subject was driven, in the order of the run; nil where none were.
  package internal(set) var cases: [CaseRecord]?
  /// The end whose conduct alone it is about; nil where it is about both.
  let subject: Peer?
  /// Whether its files are taken for all that happens at their servers, see ``ConformanceOptions/hasOwnMessages``.
  var isAlone = false
  /// The part of a run that it is on; nil where it is on all.
  public internal(set) var shard: ReportShard?
  /// Whether all clauses of the standards are in it, not a selection.
  private(set) var isComplete: Bool
  /// The subjects that findings may be about, where that was asked for: clients, scenarios and cases that were there,
  /// and the two ends.
  var subjects: Set<String>
  /// What the inputs speak; nil where scenarios were run.
  let seen: SeenProtocols?
  /// How many violations have no finding, where files were judged: of the connections in focus, or of all where none is.
  package internal(set) var untold = 0
  /// What a baseline was good for; nil where there was none.
  public internal(set) var baseline: BaselineOutcome?

  init(
    toolVersion: String, inputs: [String], results: [ClauseResult], isComplete: Bool,
    unbound: [Finding] = [], subjects: Set<String> = [], seen: SeenProtocols? = nil,
    scenarios: [ScenarioRecord]? = nil, subject: Peer? = nil
  ) {
    self.scenarios = scenarios
    self.subject = subject
    self.seen = seen
    self.subjects = subjects.union(Finding.roles)
    self.unbound = unbound
    self.toolVersion = toolVersion
    self.inputs = inputs
    self.results = Self.joined(results)
    self.isComplete = isComplete
  }

  /// Names the first clause of each cause to the others that have a finding of it.
  private static func joined(_ results: [ClauseResult]) -> [ClauseResult] {
    var first: [Int: String] = [:]
    return results.map { result in
      var result = result
      for (index, finding) in result.findings.enumerated() {
        guard let cause = finding.cause else { continue }
        let id = result.clause.id
        guard let other = first[cause] else {
          first[cause] = id
          continue
        }
        if other != id { result.findings[index].sameCauseAs = other }
      }
      return result
    }
  }

  /// Returns the report on files with what came of scenarios, as the one report on a project.
  /// - Parameter other: The report on the scenarios.
  /// - Returns: The report.
  package func adding(scenarios other: ConformanceReport) -> ConformanceReport {
    var report = self
    report.results += other.results
    report.unbound += other.unbound
    report.scenarios = other.scenarios
    report.subjects.formUnion(other.subjects)
    report.isComplete = isComplete && other.isComplete
    return report
  }

  /// What it says of files, where it is on those of a project and on scenarios as well; nil where it is on one of both.
  var projectParts: (files: ConformanceReport, scenarios: ConformanceReport)? {
    guard let scenarios, seen != nil else { return nil }
    var files = self
    files.results = results.filter { $0.clause.spec != ClauseKey.step.spec }
    files.unbound = []
    files.scenarios = nil
    let others = ConformanceReport(
      toolVersion: toolVersion, scenarios,
      results: results.filter { $0.clause.spec == ClauseKey.step.spec }, isComplete: isComplete,
      unbound: unbound
    ).asPart(shard)
    return (files, others)
  }

  /// Whether any clause had anything to judge, be it undecided.
  public var hasJudged: Bool { results.contains { $0.isExercised } }

  /// Whether any clause failed, a case whose bytes were cut, a step that shows none, or an entry of a baseline, each of which fails the run.
  public var hasFailed: Bool {
    baseline?.mended.isEmpty == false || unbound.contains { $0.acceptance == nil }
      || results.contains { $0.verdict == .failed }
      || cases?.contains { $0.outcome == .changed } == true
  }

  /// Returns how many clauses have a verdict.
  public func count(_ verdict: Verdict) -> Int { results.count { $0.verdict == verdict } }

  /// Returns the report as JSON, on one line and in a stable order of keys.
  public func json() -> [UInt8] {
    var json = JSONText()
    json.raw(#"{"tool":{"name":"reprise","version":"#)
    json.string(toolVersion)
    json.raw(#"},"inputs":"#)
    json.strings(inputs)
    if !unread.isEmpty { json.append(unread) }
    if let subject { json.field("subject", subject.rawValue) }
    if isAlone { json.raw(#","complete":true"#) }
    if !parts.isEmpty { json.append(parts) }
    json.raw(#","clauses":["#)
    for (index, result) in results.enumerated() {
      if index > 0 { json.raw(",") }
      json.append(result)
    }
    json.raw("]")
    if !unbound.isEmpty {
      json.raw(#","unbound":["#)
      for (index, finding) in unbound.enumerated() {
        if index > 0 { json.raw(",") }
        json.append(finding, of: .step)
      }
      json.raw("]")
    }
    if let scenarios { json.append(scenarios) }
    if let cases { json.append(cases) }
    if let seen { json.append(seen) }
    json.raw(#","totals":{"#)
    let verdicts = Verdict.allCases.filter { $0 != .accepted || baseline != nil }
    for (index, verdict) in verdicts.enumerated() {
      json.raw("\(index > 0 ? "," : "")\"\(verdict.rawValue)\":\(count(verdict))")
    }
    json.raw("}")
    if let shard { json.append(shard) }
    if let baseline { json.append(baseline) }
    json.raw("}\n")
    return json.bytes
  }
}

/// JSON in the making.
private struct JSONText {
  private(set) var bytes: [UInt8] = []

  mutating func raw(_ text: String) { bytes += text.utf8 }

  mutating func string(_ text: String) { bytes.append(quoted: text) }

  mutating func strings(_ texts: [String]) {
    raw("[")
    for (index, text) in texts.enumerated() {
      if index > 0 { raw(",") }
      string(text)
    }
    raw("]")
  }

  mutating func field(_ name: String, _ value: String, isFirst: Bool = false) {
    raw("\(isFirst ? "" : ",")\"\(name)\":")
    string(value)
  }

  mutating func append(_ result: ClauseResult) {
    let clause = result.clause
    raw("{")
    field("id", clause.id, isFirst: true)
    field("spec", clause.spec)
    field("section", clause.section)
    field("level", clause.level.rawValue)
    field("actor", clause.actor.rawValue)
    field("verdict", result.verdict.rawValue)
    if let reason = result.reason { field("reason", reason) }
    if let aliases = clause.aliases {
      raw(#","aliases":"#)
      strings(aliases)
    }
    raw(#","tally":{"violated":\#(result.violated),"kept":\#(result.satisfied)"#)
    raw(#","undecided":\#(result.undecided)},"findings":["#)
    for (index, finding) in result.findings.enumerated() {
      if index > 0 { raw(",") }
      append(finding, of: clause.key)
    }
    raw("]")
    if !result.places.isEmpty {
      raw(#","undecided":["#)
      for (index, place) in result.places.enumerated() {
        if index > 0 { raw(",") }
        append(place)
      }
      raw("]")
    }
    append(result.reasons)
    raw("}")
  }

  /// How often a clause was undecided, by reason.
  private mutating func append(_ reasons: [UndecidedCount]) {
    guard !reasons.isEmpty else { return }
    raw(#","reasons":["#)
    for (index, entry) in reasons.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("reason", entry.reason.text, isFirst: true)
      raw(",\"count\":\(entry.count)}")
    }
    raw("]")
  }

  mutating func append(_ parts: [JoinedPart]) {
    raw(#","joined":["#)
    for (index, part) in parts.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("file", part.file, isFirst: true)
      raw(",\"firstFrame\":\(part.firstFrame)}")
    }
    raw("]")
  }

  mutating func append(_ unread: [UnreadInput]) {
    raw(#","unread":["#)
    for (index, input) in unread.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("file", input.file, isFirst: true)
      field("reason", input.reason)
      raw("}")
    }
    raw("]")
  }

  mutating func append(_ seen: SeenProtocols) {
    raw(#","protocols":["#)
    for (index, entry) in seen.counts.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("protocol", entry.wire.reportedName, isFirst: true)
      raw(",\"connections\":\(entry.connections)")
      field("firstFile", entry.file)
      raw("}")
    }
    raw("]")
  }

  mutating func append(_ place: UndecidedPlace) {
    raw("{")
    field("file", place.file, isFirst: true)
    if let scenario = place.scenario { append(scenario) }
    raw(",\"frame\":\(place.frame),\"connection\":\(place.connection)")
    field("time", place.time.description)
    field("reason", place.reason)
    raw("}")
  }

  /// The scenario and the step, within a place.
  private mutating func append(_ place: ScenarioPlace) {
    field("scenario", place.name)
    raw(",\"step\":\(place.step)")
    field("action", place.action)
    field("world", place.world)
  }

  mutating func append(_ scenarios: [ScenarioRecord]) {
    raw(#","scenarios":["#)
    for (index, record) in scenarios.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("scenario", record.scenario, isFirst: true)
      field("system", record.system.rawValue)
      field("world", record.world)
      field("file", record.file)
      field("outcome", record.outcome.rawValue)
      if let reason = record.reason { field("reason", reason) }
      raw("}")
    }
    raw("]")
  }

  mutating func append(_ cases: [CaseRecord]) {
    raw(#","cases":["#)
    for (index, record) in cases.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("case", record.name, isFirst: true)
      raw(",\"number\":\(record.number)")
      field("run", record.run)
      if !record.values.isEmpty { field("values", record.values) }
      field("spec", record.spec)
      field("file", record.file)
      field("outcome", record.outcome.rawValue)
      if let reason = record.reason { field("reason", reason) }
      raw(#","clauses":"#)
      strings(record.clauses)
      raw(#","failed":"#)
      strings(record.failed)
      raw("}")
    }
    raw("]")
  }

  mutating func append(_ shard: ReportShard) {
    raw(#","shard":{"part":\#(shard.number),"of":\#(shard.count)"#)
    if let cases = shard.cases { raw(",\"cases\":\(cases)") }
    if let places = shard.places {
      raw(",\"places\":[\(places.map { "\($0)" }.joined(separator: ","))]")
    }
    raw("}")
  }

  private mutating func append(_ evidence: [Finding.Evidence]) {
    guard !evidence.isEmpty else { return }
    raw(#","evidence":["#)
    for (index, packet) in evidence.enumerated() {
      raw("\(index > 0 ? "," : ""){\"frame\":\(packet.frame),\"connection\":\(packet.connection)")
      field("role", packet.role)
      raw("}")
    }
    raw("]")
  }

  mutating func append(_ finding: Finding, of clause: ClauseKey) {
    raw("{")
    field("file", finding.file, isFirst: true)
    if let scenario = finding.scenario { append(scenario) }
    if let driven = finding.driven { field("case", driven) }
    raw(",\"frame\":\(finding.frame),\"connection\":\(finding.connection)")
    field("time", finding.time.description)
    field("message", finding.message)
    raw(#","packet":"#)
    if finding.packet.isEmpty { raw("null") } else { bytes += finding.packet }
    field("expected", finding.expected)
    field("actual", finding.actual)
    append(finding.evidence)
    if !finding.laterSteps.isEmpty {
      raw(#","laterSteps":[\#(finding.laterSteps.map { "\($0)" }.joined(separator: ","))]"#)
    }
    if !finding.remedies.isEmpty {
      raw(#","next":"#)
      strings(finding.remedies)
    }
    if let other = finding.sameCauseAs { field("sameCauseAs", other) }
    if let client = finding.client { field("client", client) }
    field("fingerprint", finding.fingerprint(of: clause).description)
    if let acceptance = finding.acceptance { append(acceptance) }
    raw("}")
  }

  private mutating func append(_ acceptance: Finding.Acceptance) {
    raw(#","accepted":{"#)
    field("reason", acceptance.reason, isFirst: true)
    if let owner = acceptance.owner { field("owner", owner) }
    if let expires = acceptance.expires { field("expires", expires) }
    raw("}")
  }

  mutating func append(_ baseline: BaselineOutcome) {
    raw(#","baseline":{"#)
    field("file", baseline.file, isFirst: true)
    raw(#","remarks":["#)
    for (index, remark) in baseline.remarks.enumerated() {
      raw(index > 0 ? ",{" : "{")
      field("kind", remark.kind.rawValue, isFirst: true)
      raw(",\"line\":\(remark.entry.line)")
      field("clause", remark.entry.clause)
      field("subject", remark.entry.subject)
      field("fingerprint", remark.entry.fingerprint.description)
      raw("}")
    }
    raw("]}")
  }
}

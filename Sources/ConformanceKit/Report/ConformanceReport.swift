internal import RepriseCore

/// The verdicts of a run.
public struct ConformanceReport: Sendable, Hashable {
  /// The version of the tool that judged.
  public let toolVersion: String
  /// The files that were judged.
  public let inputs: [String]
  /// The clauses, in the catalogue's order.
  public let results: [ClauseResult]
  /// What is wrong with steps of scenarios that show no clause: those that lead to others, and the end.
  public let unbound: [Finding]
  /// Whether all clauses of the standards are in it, not a selection.
  let isComplete: Bool

  init(
    toolVersion: String, inputs: [String], results: [ClauseResult], isComplete: Bool,
    unbound: [Finding] = []
  ) {
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

  /// Whether any clause had anything to judge, be it undecided.
  public var hasJudged: Bool { results.contains { $0.isExercised } }

  /// Whether any clause failed, or a step that shows none, which fails the run.
  public var hasFailed: Bool {
    !unbound.isEmpty || results.contains { $0.verdict == .failed }
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
        json.append(finding)
      }
      json.raw("]")
    }
    json.raw(#","totals":{"#)
    for (index, verdict) in Verdict.allCases.enumerated() {
      json.raw("\(index > 0 ? "," : "")\"\(verdict.rawValue)\":\(count(verdict))")
    }
    json.raw("}}\n")
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
      append(finding)
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
    raw("}")
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

  mutating func append(_ finding: Finding) {
    raw("{")
    field("file", finding.file, isFirst: true)
    if let scenario = finding.scenario { append(scenario) }
    raw(",\"frame\":\(finding.frame),\"connection\":\(finding.connection)")
    field("time", finding.time.description)
    field("message", finding.message)
    raw(#","packet":"#)
    if finding.packet.isEmpty { raw("null") } else { bytes += finding.packet }
    field("expected", finding.expected)
    field("actual", finding.actual)
    append(finding.evidence)
    if let other = finding.sameCauseAs { field("sameCauseAs", other) }
    raw("}")
  }
}

internal import RepriseCore

extension ConformanceReport {
  /// Reads a report back, with all that it takes to join it with others.
  /// - Parameter document: The report.
  /// - Throws: ``ReportError`` for one that was made by another version, or with a baseline.
  public init(reading document: ReportDocument) throws(ReportError) {
    guard document.json["baseline"] == nil else {
      throw ReportError(
        document.file, "it was judged with a baseline", "write it without --baseline")
    }
    switch document.kind {
    case .files: try self.init(readingFiles: document)
    case .cases:
      try self.init(readingFiles: document)
      self = adding(try CaseRecord.records(of: document))
    case .scenarios: try self.init(readingScenarios: document)
    case .project:
      try self.init(readingFiles: document)
      self = adding(scenarios: try ConformanceReport(readingScenarios: document))
    }
    shard = try ReportShard(reading: document)
  }

  private init(readingFiles document: ReportDocument) throws(ReportError) {
    let json = document.json
    let file = document.file
    guard let version = json["tool"]?["version"]?.text, let inputs = json["inputs"]?.texts,
      let protocols = json["protocols"]?.elements
    else {
      throw ReportError(file, "it is no report on captures and recordings of this version")
    }
    var seen = SeenProtocols()
    for entry in protocols { seen.counts.append(try SeenProtocols.Entry(entry, of: file)) }
    let catalogue: Catalogue
    do throws(ConformanceError) { catalogue = try Catalogue.bundled() } catch {
      throw ReportError(file, error.message)
    }
    let known = Dictionary(catalogue.clauses.map { ($0.key, $0) }) { first, _ in first }
    let entries = document.entries(ofSDK: false)
    let isStrict = entries.contains {
      $0.row.verdict == .failed && $0.json["level"]?.text != "MUST"
    }
    var results: [ClauseResult] = []
    for (entry, row) in entries {
      guard let clause = known[row.key] else {
        throw ReportError(file, "there is no clause \(row.key.spec)/\(row.key.id) in this version")
      }
      let counts = clause.status.hasRule ? try RuleCounts(entry, of: file) : nil
      results.append(ClauseResult(clause, counts, seen, isStrict: isStrict))
    }
    FindingCauses.number(&results, by: entries.map(\.json))
    let specs = Set(results.map(\.clause.spec))
    let subject = json["subject"]?.text.flatMap(Peer.init)
    let isComplete =
      results.count
      == catalogue.clauses.count { clause in
        specs.contains(clause.spec) && subject.map { clause.actor.binds($0) } ?? true
      }
    self.init(
      toolVersion: version, inputs: inputs, results: results, isComplete: isComplete, seen: seen,
      subject: subject)
    isAlone = json["complete"]?.bool == true
    for entry in json["joined"]?.elements ?? [] { parts.append(try JoinedPart(entry, of: file)) }
    for entry in json["unread"]?.elements ?? [] {
      unread.append(try UnreadInput(entry, of: file))
    }
  }
}

extension UnreadInput {
  fileprivate init(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let input = value["file"]?.text, let reason = value["reason"]?.text else {
      throw ReportError(file, "a file in it that could not be read has no name, or no reason")
    }
    self.init(file: input, reason: reason)
  }
}

extension SeenProtocols.Entry {
  fileprivate init(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let name = value["protocol"]?.text,
      let known = WireProtocol.reported.first(where: { $0.name == name }),
      let connections = value["connections"]?.integer, let first = value["firstFile"]?.text
    else { throw ReportError(file, "a protocol in it is not known") }
    self.init(wire: known.wire, connections: connections, file: first)
  }
}

extension RuleCounts {
  fileprivate init(_ value: JSONValue, of file: String) throws(ReportError) {
    let tally = value["tally"]
    guard let violated = tally?["violated"]?.integer, let kept = tally?["kept"]?.integer,
      violated >= 0, kept >= 0
    else { throw ReportError(file, "a clause has no tally") }
    self.violated = violated
    satisfied = kept
    reasons = []
    for entry in value["reasons"]?.elements ?? [] {
      guard let text = entry["reason"]?.text, let count = entry["count"]?.integer, count > 0,
        let reason = UndecidedReason.allCases.first(where: { $0.text == text })
      else { throw ReportError(file, "a reason in it is not known") }
      reasons.append(UndecidedCount(reason: reason, count: count))
    }
    findings = []
    for entry in value["findings"]?.elements ?? [] {
      findings.append(try Finding(entry, of: file))
    }
    places = []
    for entry in value["undecided"]?.elements ?? [] {
      places.append(try UndecidedPlace(entry, of: file))
    }
    unlisted = max(0, violated - findings.count)
  }
}

extension ReportShard {
  /// Reads which part a report is on; nil where it is none.
  fileprivate init?(reading document: ReportDocument) throws(ReportError) {
    guard let value = document.json["shard"] else { return nil }
    guard let number = value["part"]?.integer, let count = value["of"]?.integer,
      value["cases"] == nil || value["cases"]?.integer != nil,
      let shard = ReportShard(
        number, of: count, cases: value["cases"]?.integer,
        places: value["places"]?.elements?.compactMap(\.integer))
    else {
      throw ReportError(
        document.file, "its \"shard\" names no part of how many", document.kind.remedy)
    }
    self = shard
  }
}

extension Finding {
  init(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let input = value["file"]?.text, let frame = value["frame"]?.integer,
      let connection = value["connection"]?.integer,
      let time = value["time"]?.text.flatMap({ Timestamp($0) }),
      let message = value["message"]?.text, let expected = value["expected"]?.text,
      let actual = value["actual"]?.text, let packet = value["packet"]
    else { throw ReportError(file, "a finding lacks something") }
    self.init(
      file: input, frame: frame, connection: connection, time: time, message: message,
      packet: packet == .null ? [] : packet.utf8, expected: expected, actual: actual)
    client = value["client"]?.text
    driven = value["case"]?.text
    scenario = try ScenarioPlace(in: value, of: file)
    if scenario != nil { try readScenario(value, of: file) }
    for entry in value["evidence"]?.elements ?? [] {
      guard let frame = entry["frame"]?.integer, let connection = entry["connection"]?.integer,
        let role = entry["role"]?.text
      else { throw ReportError(file, "an evidence lacks something") }
      evidence.append(Evidence(frame: frame, connection: connection, role: role))
    }
  }
}

extension UndecidedPlace {
  init(_ value: JSONValue, of file: String) throws(ReportError) {
    guard let input = value["file"]?.text, let frame = value["frame"]?.integer,
      let connection = value["connection"]?.integer,
      let time = value["time"]?.text.flatMap({ Timestamp($0) }), let reason = value["reason"]?.text
    else { throw ReportError(file, "an undecided place lacks something") }
    self.init(
      file: input, scenario: try ScenarioPlace(in: value, of: file), frame: frame,
      connection: connection, time: time, reason: reason)
  }
}

/// Finds out again which findings have one cause, of which JSON tells the first clause only.
enum FindingCauses {
  fileprivate static func number(_ results: inout [ClauseResult], by entries: [JSONValue]) {
    var next = 0
    /// The findings that are the first of their cause, by clause.
    var firsts: [String: [Finding]] = [:]
    for (index, entry) in zip(results.indices, entries) {
      let names = (entry["findings"]?.elements ?? []).map { $0["sameCauseAs"]?.text }
      for (place, name) in zip(results[index].findings.indices, names) {
        let finding = results[index].findings[place]
        let candidates = firsts[name ?? "", default: []].filter { $0.isOfEvent(finding) }
        let first = candidates.first { $0.message == finding.message } ?? candidates.first
        results[index].findings[place].cause = first?.cause ?? next
        guard first == nil else { continue }
        next += 1
        firsts[results[index].clause.id, default: []].append(results[index].findings[place])
      }
    }
  }
}

extension Finding {
  fileprivate func isOfEvent(_ other: Finding) -> Bool {
    file == other.file && frame == other.frame && connection == other.connection
  }
}

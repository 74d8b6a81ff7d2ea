internal import RepriseCore

extension ConformanceReport {
  /// Joins reports on different files, scenarios or cases to the one that a run over all of them gives.
  ///
  /// Scenarios and cases stand in the order of a run, and worlds as they come.
  /// Files stand as they were named for the parts of one run; otherwise in the order of their names if they do so in each
  /// report, as those of a run over a folder do, or else as they come, report by report. A run tells the first findings of a clause only, and so does this.
  /// - Parameter parts: The reports, with the names of their files.
  /// - Returns: The report.
  /// - Throws: ``ReportError`` for reports that don't belong together.
  public static func merged(
    _ parts: [(name: String, report: ConformanceReport)]
  ) throws(ReportError) -> ConformanceReport {
    guard let first = parts.first else { throw ReportError("merge", "there is no report") }
    try checkTogether(parts, with: first)
    try ReportShard.check(parts)
    if first.report.projectParts != nil {
      let all = parts.compactMap { part in part.report.projectParts.map { (part.name, $0) } }
      return try merged(all.map { ($0.0, $0.1.files) })
        .adding(scenarios: merged(all.map { ($0.0, $0.1.scenarios) }))
    }
    if first.report.scenarios != nil {
      return try merged(scenarios: parts, isStrict: isStrict(parts))
    }
    if first.report.cases != nil { return try merged(cases: parts) }
    var known: [String: String] = [:]
    for (name, report) in parts {
      for input in Set(report.inputs) {
        if let other = known.updateValue(name, forKey: input) {
          throw ReportError(
            name, "\(input) was judged in \(other) as well", "judge each file in one part only")
        }
      }
    }
    if let inputs = inputsAsNamed(parts) { return try merged(parts, inputs) }
    let isSorted = parts.allSatisfy { $0.report.inputs == $0.report.inputs.sorted() }
    let all = parts.flatMap(\.report.inputs)
    return try merged(parts, isSorted ? all.sorted() : all)
  }

  /// Checks that reports are of one sort and version, and on the same clauses.
  private static func checkTogether(
    _ parts: [(name: String, report: ConformanceReport)],
    with first: (name: String, report: ConformanceReport)
  ) throws(ReportError) {
    for (name, report) in parts {
      guard report.sort == first.report.sort else {
        throw ReportError(
          name, "it is \(report.sort), and \(first.name) \(first.report.sort)",
          "join reports of one sort")
      }
      guard report.toolVersion == first.report.toolVersion else {
        throw ReportError(
          name,
          "it was judged by version \(report.toolVersion), and \(first.name) by "
            + first.report.toolVersion, "judge anew with one version")
      }
      guard report.results.map(\.clause.key) == first.report.results.map(\.clause.key) else {
        throw ReportError(
          name, "it is on other clauses than \(first.name)",
          "judge all parts with the same --spec and --clause")
      }
    }
  }

  /// What it is on, in words.
  private var sort: String {
    if projectParts != nil { return ReportDocument.Kind.project([]).words }
    if scenarios != nil { return ReportDocument.Kind.scenarios(nil).words }
    if cases != nil { return ReportDocument.Kind.cases(subject ?? .server, []).words }
    let files = ReportDocument.Kind.files.words
    return (subject.map { "\(files), about the \($0.rawValue) alone" } ?? files)
      + (isAlone ? ", by --assume complete" : "")
  }

  static func merged(
    _ parts: [(name: String, report: ConformanceReport)], _ inputs: [String]
  ) throws(ReportError) -> ConformanceReport {
    let ranks = Dictionary(inputs.enumerated().map { ($1, $0) }) { first, _ in first }
    let seen = SeenProtocols(joining: parts.compactMap(\.report.seen), ranks)
    let isStrict = try isStrict(parts)
    let unread = parts.flatMap(\.report.unread).sorted {
      ranks[$0.file] ?? 0 < ranks[$1.file] ?? 0
    }
    // Causes are numbered in each part from 0.
    var offset = 0
    let reports = parts.map { part in
      let most = part.report.results.flatMap(\.findings).compactMap(\.cause).max() ?? -1
      defer { offset += most + 1 }
      return part.report.results.map { $0.numberingCauses(from: offset) }
    }
    let results = (reports.first ?? []).indices.map { index in
      ClauseResult(joining: reports.map { $0[index] }, ranks, seen, isStrict: isStrict)
    }
    var report = ConformanceReport(
      toolVersion: parts.first?.report.toolVersion ?? "", inputs: inputs, results: results,
      isComplete: parts.allSatisfy(\.report.isComplete), seen: seen,
      subject: parts.first?.report.subject)
    report.isAlone = parts.first?.report.isAlone ?? false
    report.parts = parts.flatMap(\.report.parts)
    return report.lacking(unread)
  }

  /// Whether a violated SHOULD fails: all parts must have asked for the same.
  private static func isStrict(
    _ parts: [(name: String, report: ConformanceReport)]
  ) throws(ReportError) -> Bool {
    let strict = parts.first {
      $0.report.results.contains { $0.verdict == .failed && $0.clause.level != .must }
    }
    let lax = parts.first { $0.report.count(.notFollowed) > 0 }
    if let strict, let lax {
      throw ReportError(
        lax.name, "it was judged without --strict, and \(strict.name) with it",
        "judge all parts alike")
    }
    return strict != nil
  }
}

extension SeenProtocols {
  /// What several inputs speak, in the order of first sight.
  fileprivate init(joining parts: [SeenProtocols], _ ranks: [String: Int]) {
    var joined: [Entry] = []
    for entry in parts.flatMap(\.counts) {
      guard let index = joined.firstIndex(where: { $0.wire == entry.wire }) else {
        joined.append(entry)
        continue
      }
      joined[index].connections += entry.connections
      if ranks[entry.file] ?? 0 < ranks[joined[index].file] ?? 0 {
        joined[index].file = entry.file
      }
    }
    counts = joined.sorted {
      (ranks[$0.file] ?? 0, $0.wire.reportedPlace) < (ranks[$1.file] ?? 0, $1.wire.reportedPlace)
    }
  }
}

extension ClauseResult {
  fileprivate func numberingCauses(from offset: Int) -> ClauseResult {
    var copy = self
    for index in copy.findings.indices {
      copy.findings[index].cause = copy.findings[index].cause.map { $0 + offset }
      copy.findings[index].sameCauseAs = nil
    }
    return copy
  }

  /// The result on all files of several parts.
  fileprivate init(
    joining parts: [ClauseResult], _ ranks: [String: Int], _ seen: SeenProtocols, isStrict: Bool
  ) {
    func ordered<Element>(_ lists: [[Element]], _ file: (Element) -> String) -> [Element] {
      let all = lists.flatMap { $0 }.enumerated().sorted {
        (ranks[file($0.element)] ?? 0, $0.offset) < (ranks[file($1.element)] ?? 0, $1.offset)
      }
      return all.prefix(ConformanceOptions().maximumFindings).map(\.element)
    }
    let clause = parts[0].clause
    var sums: [UndecidedReason: Int] = [:]
    for entry in parts.flatMap(\.reasons) { sums[entry.reason, default: 0] += entry.count }
    let findings = ordered(parts.map(\.findings)) { $0.file }
    let violated = parts.reduce(0) { $0 + $1.violated }
    let counts = RuleCounts(
      satisfied: parts.reduce(0) { $0 + $1.satisfied }, violated: violated,
      reasons: [UndecidedCount](counting: { sums[$0] ?? 0 }), findings: findings,
      places: ordered(parts.map(\.places)) { $0.file }, unlisted: violated - findings.count)
    self.init(clause, clause.status.hasRule ? counts : nil, seen, isStrict: isStrict)
  }
}

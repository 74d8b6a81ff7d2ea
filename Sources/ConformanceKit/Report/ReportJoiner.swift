/// Joins the reports on pieces of a set of files, one after the other, to the report on all of them.
///
/// Where several threads judge files, a judge sees its piece only; however many they are, the report is the same.
public struct ReportJoiner: Sendable {
  private let options: ConformanceOptions
  private let toolVersion: String
  private var inputs: [String] = []
  private var parts: [JoinedPart] = []
  private var unread: [UnreadInput] = []
  private var seen = SeenProtocols()
  private var subjects: Set<String> = []
  private var clauses: [Clause] = []
  private var sums: [Sum] = []
  /// How many causes there are, which each report numbers from 0.
  private var causes = 0
  private var kinds: FindingKinds?

  /// What there is of a clause.
  private struct Sum {
    var hasRule: Bool
    var satisfied = 0
    var violated = 0
    var reasons: [UndecidedReason: Int] = [:]
    var findings: [Finding] = []
    var places: [UndecidedPlace] = []
    /// How many violations are of a kind that no finding is listed of.
    var unlisted = 0

    /// The reasons, the most frequent first; of most clauses there are none.
    var counts: [UndecidedCount] {
      reasons.isEmpty ? [] : [UndecidedCount](counting: { reasons[$0] ?? 0 })
    }
  }

  /// Prepares to join reports.
  /// - Parameters:
  ///   - options: How all files are judged.
  ///   - toolVersion: The version that the report names.
  public init(_ options: ConformanceOptions, toolVersion: String) {
    self.options = options
    self.toolVersion = toolVersion
  }

  /// Takes the report on the next files.
  /// - Parameter report: The report, of the same clauses as all of them.
  public mutating func add(_ report: ConformanceReport) {
    if clauses.isEmpty { begin(report) }
    inputs += report.inputs
    parts += report.parts
    unread += report.unread
    subjects.formUnion(report.subjects)
    if let other = report.seen { seen.add(other) }
    var most = -1
    for (index, result) in report.results.enumerated() where sums.indices.contains(index) {
      most = max(most, result.findings.compactMap(\.cause).max() ?? -1)
      add(result, at: index)
    }
    causes += most + 1
  }

  private mutating func begin(_ report: ConformanceReport) {
    clauses = report.results.map(\.clause)
    sums = clauses.map { Sum(hasRule: $0.status.hasRule) }
    if options.listsEachKind { kinds = FindingKinds(clauses.map(\.key)) }
  }

  private mutating func add(_ result: ClauseResult, at index: Int) {
    sums[index].satisfied += result.satisfied
    sums[index].violated += result.violated
    for entry in result.reasons { sums[index].reasons[entry.reason, default: 0] += entry.count }
    sums[index].unlisted += result.unlisted
    sums[index].places += result.places.prefix(options.maximumFindings - sums[index].places.count)
    for finding in result.findings {
      let isBeyond = sums[index].findings.count >= options.maximumFindings
      guard kinds?.take(finding, of: RuleIndex(value: index), isBeyond: isBeyond) ?? !isBeyond
      else { continue }
      var finding = finding
      finding.cause = finding.cause.map { $0 + causes }
      finding.sameCauseAs = nil
      sums[index].findings.append(finding)
    }
  }

  /// Returns the report on all files that were taken.
  public consuming func report() -> ConformanceReport {
    let results = zip(clauses, sums).enumerated().map { index, entry in
      let (clause, sum) = entry
      // Where one of each kind is listed, the others are known.
      let unlisted = kinds.map { sum.unlisted + $0.unlisted[index] }
      let counts = RuleCounts(
        satisfied: sum.satisfied, violated: sum.violated,
        reasons: sum.counts, findings: sum.findings,
        places: sum.places, unlisted: unlisted ?? max(0, sum.violated - sum.findings.count))
      return ClauseResult(clause, sum.hasRule ? counts : nil, seen, isStrict: options.isStrict)
    }
    var report = ConformanceReport(
      toolVersion: toolVersion, inputs: inputs, results: results,
      isComplete: options.clauses.isEmpty, subjects: subjects, seen: seen,
      subject: options.subject)
    report.isAlone = options.hasOwnMessages
    report.parts = parts
    return report.lacking(unread)
  }
}

extension SeenProtocols {
  /// Adds what the next files have.
  fileprivate mutating func add(_ other: SeenProtocols) {
    for entry in other.counts {
      if let index = counts.firstIndex(where: { $0.wire == entry.wire }) {
        counts[index].connections += entry.connections
      } else {
        counts.append(entry)
      }
    }
  }
}

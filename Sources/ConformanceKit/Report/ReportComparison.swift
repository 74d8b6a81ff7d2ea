internal import RepriseCore

/// What differs between two reports.
public struct ReportComparison: Sendable, Hashable {
  /// A clause whose verdict is another one.
  struct Change: Hashable {
    var key: ClauseKey
    var before: Verdict
    var after: Verdict
    /// Whether nothing that was found before was judged again.
    var isUntried = false

    /// Whether it fails now, or is not followed, and did not before.
    var isWorse: Bool { ReportComparison.rank(after) > ReportComparison.rank(before) }
    /// Whether it failed before, or was not followed, and passes now.
    var isBetter: Bool { ReportComparison.rank(before) > 0 && after == .passed && !isUntried }
  }

  /// A finding that one of them has.
  struct Difference: Hashable {
    var key: ClauseKey
    var finding: ReportDocument.Row.Finding
  }

  let changes: [Change]
  let new: [Difference]
  let gone: [Difference]
  /// Findings of scenarios, cases and files that the later report has no verdict of.
  let untried: [Difference]
  /// What findings without a verdict are of.
  private let unit: String

  /// Whether a clause is worse than before, or something new was found.
  public var isWorse: Bool { !new.isEmpty || changes.contains { $0.isWorse } }

  /// Compares two reports.
  /// - Parameters:
  ///   - before: The earlier one.
  ///   - after: The later one.
  public init(_ before: ReportDocument, _ after: ReportDocument) {
    let old = Dictionary(before.rows.map { ($0.key, $0) }) { first, _ in first }
    let now = Dictionary(after.rows.map { ($0.key, $0) }) { first, _ in first }
    let all = after.rows.compactMap { row in
      let past = old[row.key]?.verdict ?? .notExercised
      return past == row.verdict ? nil : Change(key: row.key, before: past, after: row.verdict)
    }
    new = Self.differences(of: after, from: old, before.steps)
    let missing = Self.differences(of: before, from: now, after.steps)
    // A capture of another day has another name; where some have the same, one that is not there was left out.
    let areNamesKept = !before.inputs.isDisjoint(with: after.inputs)
    gone = missing.filter { Self.isJudged($0, in: after, areNamesKept) }
    untried = missing.filter { !Self.isJudged($0, in: after, areNamesKept) }
    let left = Set(untried.map(\.key)).subtracting(gone.map(\.key))
    changes = all.map { change in
      var change = change
      change.isUntried = left.contains(change.key)
      return change
    }
    unit =
      switch after.kind {
      case .files: "files"
      case .cases: "cases"
      case .scenarios: "scenarios"
      case .project: "files or scenarios"
      }
  }

  /// Whether a report would have the finding if it was still there: its scenario, its case or its file has a verdict.
  private static func isJudged(
    _ difference: Difference, in report: ReportDocument, _ areNamesKept: Bool
  ) -> Bool {
    let file = difference.finding.file
    return switch report.kind {
    case .scenarios(let judged?): difference.finding.scenario.map(judged.contains) ?? true
    case .project(let judged) where difference.finding.scenario != nil:
      difference.finding.scenario.map(judged.contains) ?? true
    case .cases(_, let judged): difference.finding.driven.map(judged.contains) ?? true
    case .files, .project:
      !report.unread.contains(file) && (report.inputs.contains(file) || !areNamesKept)
    case .scenarios(nil): true
    }
  }

  /// The findings of a report that another one has none of the kind of, each kind once.
  private static func differences(
    of document: ReportDocument, from others: [ClauseKey: ReportDocument.Row],
    _ steps: [ReportDocument.Row.Finding]
  ) -> [Difference] {
    let ofClauses = document.rows.flatMap { row -> [Difference] in
      // Where not all are listed, one that is not may be there.
      guard others[row.key]?.isComplete != false else { return [] }
      return missing(row.findings, in: others[row.key]?.findings ?? [], row.key)
    }
    return ofClauses + missing(document.steps, in: steps, .step)
  }

  private static func missing(
    _ findings: [ReportDocument.Row.Finding], in others: [ReportDocument.Row.Finding],
    _ key: ClauseKey
  ) -> [Difference] {
    var known = Set(others.map(\.fingerprint))
    return findings.filter { known.insert($0.fingerprint).inserted }
      .map { Difference(key: key, finding: $0) }
  }

  private static func rank(_ verdict: Verdict) -> Int {
    switch verdict {
    case .failed: 2
    case .notFollowed: 1
    case .passed, .accepted, .inconclusive, .notApplicable, .notExercised: 0
    }
  }

  /// What differs, for people: what is worse first.
  public var text: String {
    var text = Self.section("Worse", changes.filter(\.isWorse).map(Self.line))
    text += Self.section("New findings", Self.lines(new))
    text += Self.section("Better", changes.filter(\.isBetter).map(Self.line))
    text += Self.section("Findings that are gone", Self.lines(gone))
    text += Self.section(
      "Findings whose \(unit) have no verdict any more", Self.lines(untried))
    text += Self.section("Otherwise", otherLines)
    return text.isEmpty ? "no difference\n" : text
  }

  private static func section(_ title: String, _ lines: [String]) -> String {
    lines.isEmpty ? "" : title + "\n" + lines.map { "  \($0)\n" }.joined()
  }

  /// The most findings of a section that are printed.
  private static let mostFindings = 20

  private static func lines(_ differences: [Difference]) -> [String] {
    let others = differences.count - mostFindings
    return differences.prefix(mostFindings).flatMap(lines)
      + (others > 0 ? ["and \(others) more, which --format json lists"] : [])
  }

  /// What is neither worse nor better, as where other files were judged: the clauses of each change together.
  private var otherLines: [String] {
    var groups: [(title: String, ids: [String])] = []
    for change in changes where !change.isWorse && !change.isBetter {
      let title = "\(change.key.spec), \(change.before.rawValue) → \(change.after.rawValue): "
      if let index = groups.firstIndex(where: { $0.title == title }) {
        groups[index].ids.append(change.key.id)
      } else {
        groups.append((title, [change.key.id]))
      }
    }
    return groups.flatMap { group in
      // Behind the first line as far in as all lines of a section are.
      (group.title + group.ids.joined(separator: ", ")).wrapped(indent: 2)
        .split(separator: "\n").map { String($0.dropFirst(2)) }
    }
  }

  private static func line(_ change: Change) -> String {
    "\(change.key.spec)/\(change.key.id): \(change.before.rawValue) → \(change.after.rawValue)"
  }

  private static func lines(_ difference: Difference) -> [String] {
    [
      "\(difference.key.spec)/\(difference.key.id): "
        + ConformanceReport.printable(difference.finding.message),
      "  " + ConformanceReport.printable(difference.finding.place),
    ]
  }

  /// What differs, as JSON on one line.
  public var json: [UInt8] {
    let value: JSONValue = [
      "worse": .bool(isWorse),
      "changes": .array(
        changes.map {
          [
            "id": .string($0.key.id), "spec": .string($0.key.spec),
            "before": .string($0.before.rawValue), "after": .string($0.after.rawValue),
            "change": $0.isWorse ? "worse" : $0.isBetter ? "better" : "other",
          ]
        }),
      "new": .array(new.map(Self.value)), "gone": .array(gone.map(Self.value)),
      "untried": .array(untried.map(Self.value)),
    ]
    return value.utf8 + [UInt8(ascii: "\n")]
  }

  private static func value(_ difference: Difference) -> JSONValue {
    [
      "id": .string(difference.key.id), "spec": .string(difference.key.spec),
      "fingerprint": .string(difference.finding.fingerprint),
      "place": .string(difference.finding.place),
      "message": .string(difference.finding.message),
    ]
  }
}

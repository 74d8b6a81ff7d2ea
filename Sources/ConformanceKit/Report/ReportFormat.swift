/// How a report is written.
public enum ReportFormat: String, Sendable, Hashable, CaseIterable {
  /// For people at a terminal.
  case text
  /// For programs; the only one that is read again.
  case json
  /// The test results that CI servers read: Jenkins, GitLab and others.
  case junit
  /// The results of analyses that code hosts read: SARIF 2.1.0 of OASIS.
  case sarif
  /// A page of its own.
  case html
  /// A comment on a pull request.
  case markdown
  /// Annotations of GitHub Actions.
  case github
  /// The Test Anything Protocol, version 14.
  case tap
}

extension ConformanceReport {
  /// Writes the report.
  /// - Parameters:
  ///   - format: How.
  ///   - exitStatus: What the process ends with, which SARIF tells.
  ///   - color: Whether text has colours.
  /// - Returns: The document in UTF-8, with a line feed at its end.
  public func document(as format: ReportFormat, exitStatus: Int, color: Bool = false) -> [UInt8] {
    switch format {
    case .text: Array(text(color: color).utf8)
    case .json: json()
    case .junit: Array(junit().utf8)
    case .sarif: sarif(exitStatus: exitStatus)
    case .html: Array(html().utf8)
    case .markdown: Array(markdown().utf8)
    case .github: Array(githubAnnotations().utf8)
    case .tap: Array(tap().utf8)
    }
  }

  /// The standards in it, in their order.
  var specs: [String] {
    results.reduce(into: []) { if $0.last != $1.clause.spec { $0.append($1.clause.spec) } }
  }

  /// How many clauses have which verdict, in words: `1 failed, 3 passed`; those that no clause has are left out.
  var sums: String {
    let order: [Verdict] = [
      .failed, .accepted, .notFollowed, .passed, .inconclusive, .notExercised, .notApplicable,
    ]
    let counts = order.filter { count($0) > 0 }.map { "\(count($0)) \($0.rawValue)" }
    let mended = baseline?.mended.count ?? 0
    let baseline = mended > 0 ? ["\(mended) mended in the baseline"] : []
    let wrong = unbound.count { $0.acceptance == nil }
    let steps = wrong > 0 ? ["\(wrong) wrong where a scenario shows no clause"] : []
    let missing = unread.isEmpty ? [] : ["\(unread.count) not read"]
    let all = counts.isEmpty && steps.isEmpty ? ["no clauses"] : counts + steps + baseline
    return (all + missing).joined(separator: ", ")
  }
}

extension ClauseResult {
  /// Why there is nothing to say for or against it, for reports that know passed, failed and skipped only.
  var absenceText: String {
    let word = verdict.rawValue
    guard let reason else {
      return verdict == .notExercised ? "\(word): nothing came that it is about" : word
    }
    return "\(word): \(reason)"
  }

  /// The clause with its standard, as no other clause is called.
  var key: String { clause.key.description }
}

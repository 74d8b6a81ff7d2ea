extension ConformanceReport {
  /// Returns the report as a comment on a pull request: a table, and the findings folded under it.
  ///
  /// What captures hold stands in preformatted text only, where nothing is a link, a mention or an image.
  func markdown() -> String {
    let isGood = !hasFailed
    var text =
      "### Reprise: \(isGood ? "nothing violated" : "\(sums)")\n\n"
    let columns = markdownColumns
    text += "| |" + columns.map { " \($0.rawValue) |" }.joined() + "\n"
    text += "|---|" + columns.map { _ in "---:|" }.joined() + "\n"
    for spec in specs {
      let rows = results.filter { $0.clause.spec == spec }
      text += "| \(spec) |"
      for verdict in columns { text += " \(rows.count { $0.verdict == verdict }) |" }
      text += "\n"
    }
    for (verdict, title) in [
      (Verdict.failed, "Failed"), (.notFollowed, "Not followed"), (.accepted, "Accepted"),
    ] {
      let rows = results.filter { $0.verdict == verdict }
      if !rows.isEmpty { text += "\n#### \(title)\n" }
      for result in rows { text += Self.details(result) }
    }
    if !unbound.isEmpty {
      text += "\n#### Wrong where a scenario shows no clause\n\n"
      text += Self.preformatted(unbound.map(Self.block).joined(separator: "\n"))
    }
    if let baseline, !baseline.remarks.isEmpty {
      let lines = baseline.remarks.map { "\(Self.printable($0.title)): \($0.text)\n" }
      text += "\n#### Baseline\n\n"
      text += Self.preformatted("\(Self.printable(baseline.file))\n" + lines.joined())
    }
    return text + undecided
  }

  private var markdownColumns: [Verdict] {
    let all: [Verdict] = [
      .passed, .failed, .accepted, .notFollowed, .inconclusive, .notExercised, .notApplicable,
    ]
    return all.filter { $0 != .accepted || baseline != nil }
  }

  /// The most findings of a clause that are shown.
  private static let mostInMarkdown = 3

  private static func details(_ result: ClauseResult) -> String {
    let clause = result.clause
    let others = result.violated - min(mostInMarkdown, result.findings.count)
    let blocks = result.findings.prefix(mostInMarkdown).map(block).joined(separator: "\n")
    return "\n<details><summary><b>\(clause.id.markup)</b> (\(clause.spec.markup) section "
      + "\(clause.section.markup), \(clause.level.rawValue)), \(result.violated)× violated, "
      + "\(result.satisfied)× kept: \(clause.summary.markup)</summary>\n\n"
      + preformatted(blocks + (others > 0 ? "\nand \(others) more\n" : ""))
      + "\n</details>\n"
  }

  private static func block(_ finding: Finding) -> String {
    "\(printable(finding.file)) \(place(of: finding))\n"
      + lines(of: finding).map { "  \($0)\n" }.joined()
  }

  /// Lines as they are.
  private static func preformatted(_ text: String) -> String {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: true)
    return "<pre>\n" + lines.map { String($0).markup + "\n" }.joined() + "</pre>\n"
  }

  /// The clauses that were not decided, with their reasons.
  private var undecided: String {
    let rows = results.filter { $0.verdict == .inconclusive }
    guard !rows.isEmpty else { return "" }
    let lines = rows.map { "\($0.key)  \(Self.printable($0.reason ?? ""))\n" }
    return "\n<details><summary>\(rows.count) inconclusive</summary>\n\n"
      + Self.preformatted(lines.joined()) + "\n</details>\n"
  }
}

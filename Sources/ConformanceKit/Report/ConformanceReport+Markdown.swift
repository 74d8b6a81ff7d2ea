extension ConformanceReport {
  /// Returns the report as a comment on a pull request: a table, and the findings folded under it.
  ///
  /// What captures hold stands in preformatted text only, where nothing is a link, a mention or an image. GitHub and
  /// GitLab refuse a comment that is too long, so where all of it is, less is shown of each clause, and of fewer clauses.
  func markdown() -> String {
    var last = ""
    for findings in [3, 1] {
      last = markdown(Parts(self, findings: findings), room: .max)
      if last.utf8.count <= Self.mostMarkdown { return last }
    }
    return markdown(Parts(self, findings: 1), room: Self.mostMarkdown)
  }

  /// The bytes of a comment that code hosts take: GitHub's limit is 65,536 characters.
  private static let mostMarkdown = 65_536

  /// The most files that are named which could not be read.
  private static let mostUnread = 20

  /// What stands under the table, by heading.
  private struct Parts {
    /// What is told whatever its length: it is about the run.
    var heads: [String] = []
    /// The clauses of each verdict, each with its findings.
    var clauses: [(title: String, details: [String])] = []
    var undecided: String

    init(_ report: ConformanceReport, findings: Int) {
      if !report.unread.isEmpty {
        let others = report.unread.count - ConformanceReport.mostUnread
        let lines =
          report.unread.prefix(ConformanceReport.mostUnread).map { "\($0.text)\n" }.joined()
          + (others > 0 ? "and \(others) more\n" : "")
        heads.append("\n#### Not read, and not judged\n\n" + ConformanceReport.preformatted(lines))
      }
      for (verdict, title) in [
        (Verdict.failed, "Failed"), (.notFollowed, "Not followed"), (.accepted, "Accepted"),
      ] {
        let rows = report.results.filter { $0.verdict == verdict }
        clauses.append((title, rows.map { ConformanceReport.details($0, most: findings) }))
      }
      if !report.unbound.isEmpty {
        let blocks = report.unbound.map {
          ConformanceReport.preformatted(ConformanceReport.block($0))
        }
        clauses.append(("Wrong where a scenario shows no clause", blocks))
      }
      if let baseline = report.baseline, !baseline.remarks.isEmpty {
        let lines = baseline.remarks.map {
          "\(ConformanceReport.printable($0.title)): \($0.text)\n"
        }
        let file = ConformanceReport.printable(baseline.file)
        let text = ConformanceReport.preformatted("\(file)\n" + lines.joined())
        clauses.append(("Baseline", [text]))
      }
      undecided = report.undecided
    }
  }

  /// Writes the report in the bytes that there are.
  private func markdown(_ parts: Parts, room: Int) -> String {
    let accepted = count(.accepted)
    let nothing =
      accepted == 0
      ? "nothing violated"
      : "nothing violated but what is accepted of \(accepted) clause\(accepted == 1 ? "" : "s")"
    let lacksFiles = unread.isEmpty ? nothing : "\(nothing), in what could be read"
    var text = "### Reprise: \(hasFailed ? sums : lacksFiles)\n\n" + markdownTable
    let most = room - Self.lastWords
    for head in parts.heads where text.utf8.count + head.utf8.count <= most { text += head }
    var left = 0
    for (title, details) in parts.clauses where !details.isEmpty {
      var isBegun = false
      for detail in details {
        let heading = isBegun ? "" : "\n#### \(title)\n"
        guard text.utf8.count + heading.utf8.count + detail.utf8.count <= most else {
          left += 1
          continue
        }
        isBegun = true
        text += heading + detail
      }
    }
    if text.utf8.count + parts.undecided.utf8.count <= most { text += parts.undecided }
    guard room < .max else { return text }
    return text + "\nThis is not all, as a comment has its limit"
      + (left > 0 ? ": \(left) more under these headings" : "")
      + ". The report as HTML or JSON has everything.\n"
  }

  /// The room for what is said of the rest.
  private static let lastWords = 200

  /// How many clauses have which verdict, a row a standard.
  private var markdownTable: String {
    let columns = markdownColumns
    var text = "| |" + columns.map { " \($0.rawValue) |" }.joined() + "\n"
    text += "|---|" + columns.map { _ in "---:|" }.joined() + "\n"
    for spec in specs {
      let rows = results.filter { $0.clause.spec == spec }
      text += "| \(spec) |"
      for verdict in columns { text += " \(rows.count { $0.verdict == verdict }) |" }
      text += "\n"
    }
    return text
  }

  private var markdownColumns: [Verdict] {
    let all: [Verdict] = [
      .passed, .failed, .accepted, .notFollowed, .inconclusive, .notExercised, .notApplicable,
    ]
    return all.filter { $0 != .accepted || baseline != nil }
  }

  /// A clause with its first findings, folded.
  private static func details(_ result: ClauseResult, most: Int) -> String {
    let clause = result.clause
    let others = result.violated - min(most, result.findings.count)
    let blocks = result.findings.prefix(most).map(block).joined(separator: "\n")
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

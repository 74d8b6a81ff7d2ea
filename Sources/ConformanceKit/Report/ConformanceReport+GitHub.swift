extension ConformanceReport {
  /// Returns the report as workflow commands, of which GitHub Actions makes annotations: an error a violation, a
  /// warning where a SHOULD is not followed, a notice where a finding is accepted, and a line of sums.
  func githubAnnotations() -> String {
    var text = ""
    for input in unread {
      text += "::error title=not read,file=\(Self.property(Self.printable(input.file)))::"
      text += Self.message(input.text) + "\n"
    }
    for result in results {
      switch result.verdict {
      case .failed: text += Self.annotations("error", result)
      case .notFollowed: text += Self.annotations("warning", result)
      case .accepted: text += Self.annotations("notice", result)
      case .passed, .inconclusive, .notApplicable, .notExercised: break
      }
    }
    for finding in unbound {
      text += Self.annotation(
        finding.acceptance == nil ? "error" : "notice", "a step that shows no clause", finding, [])
    }
    if let baseline {
      for remark in baseline.remarks where remark.kind != .unexercised {
        let command = remark.kind == .mended ? "error" : "warning"
        text += "::\(command) title=baseline,file=\(Self.property(Self.printable(baseline.file)))"
        text += ",line=\(remark.entry.line)::"
        text += Self.message("\(Self.printable(remark.title)): \(remark.text)") + "\n"
      }
    }
    return text + "reprise: \(sums)\n"
  }

  /// The most findings of a clause that are annotated: a page shows ten of each kind.
  private static let mostAnnotations = 3

  private static func annotations(_ command: String, _ result: ClauseResult) -> String {
    let shown = result.findings.prefix(mostAnnotations)
    let others = result.violated - shown.count
    return shown.enumerated().map { index, finding in
      let isLast = index == shown.count - 1
      return annotation(
        finding.acceptance == nil ? command : "notice",
        "\(result.clause.id) (\(result.clause.spec))", finding,
        [result.clause.summary] + (isLast && others > 0 ? ["and \(others) more"] : []))
    }.joined()
  }

  private static func annotation(
    _ command: String, _ title: String, _ finding: Finding, _ more: [String]
  ) -> String {
    let properties = "title=\(property(title)),file=\(property(printable(finding.file)))"
    let lines = [place(of: finding)] + lines(of: finding) + more
    return "::\(command) \(properties)::\(message(lines.joined(separator: "\n")))\n"
  }

  /// What follows a command, on one line.
  private static func message(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  /// The value of a property of a command.
  private static func property(_ text: String) -> String {
    message(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}

internal import RepriseCore

extension ConformanceReport {
  /// Returns the report as the Test Anything Protocol, version 14: a test point a clause.
  ///
  /// What is neither passed nor failed is skipped; a SHOULD that is not followed is to be done.
  func tap() -> String {
    var points = unread.map { input in
      TAPPoint(
        isOK: false, name: "read \(input.file)",
        yaml: "  ---\n  message: \(Self.quoted(input.reason))\n  ...\n")
    }
    points += results.map(Self.point)
    for finding in unbound {
      points.append(
        TAPPoint(
          isOK: false, name: finding.scenario?.description ?? "end",
          directive: finding.acceptance.map { "TODO accepted: " + $0.text },
          yaml: Self.yaml("a step that shows no clause", [finding], of: 1)))
    }
    for remark in baseline?.remarks ?? [] {
      points.append(
        TAPPoint(
          isOK: remark.kind != .mended, name: "baseline \(remark.title)",
          directive: remark.kind == .mended ? nil : "SKIP " + remark.text,
          yaml: remark.kind == .mended
            ? "  ---\n  message: \(Self.quoted(remark.text))\n  ...\n" : ""))
    }
    var text = "TAP version 14\n1..\(points.count)\n"
    for (index, point) in points.enumerated() { text += point.line(number: index + 1) }
    return text + "# \(sums)\n"
  }

  private static func point(_ result: ClauseResult) -> TAPPoint {
    let name = "\(result.key) section \(result.clause.section)"
    let summary = result.clause.summary
    switch result.verdict {
    case .passed: return TAPPoint(isOK: true, name: name)
    case .failed:
      return TAPPoint(
        isOK: false, name: name, yaml: yaml(summary, result.findings, of: result.violated))
    case .notFollowed, .accepted:
      return TAPPoint(
        isOK: false, name: name, directive: "TODO " + result.absenceText,
        yaml: yaml(summary, result.findings, of: result.violated))
    case .inconclusive, .notApplicable, .notExercised:
      return TAPPoint(isOK: true, name: name, directive: "SKIP " + result.absenceText)
    }
  }

  /// The findings as a block of YAML, with the number of all that there are, every text in it as JSON has it.
  private static func yaml(_ message: String, _ findings: [Finding], of count: Int) -> String {
    var text = "  ---\n  message: \(quoted(message))\n  violated: \(count)\n  findings:\n"
    for finding in findings {
      text += "    - file: \(quoted(finding.file))\n"
      if let scenario = finding.scenario { text += "      step: \(quoted("\(scenario)"))\n" }
      text += "      frame: \(finding.frame)\n      connection: \(finding.connection)\n"
      text += "      time: \(quoted(finding.time.description))\n"
      text += "      message: \(quoted(finding.message))\n"
      text += "      expected: \(quoted(finding.expected))\n"
      text += "      actual: \(quoted(finding.actual))\n"
      if !finding.evidence.isEmpty { text += "      rests_on:\n" }
      for packet in finding.evidence {
        text += "        - frame: \(packet.frame)\n          connection: \(packet.connection)\n"
        text += "          role: \(quoted(packet.role))\n"
      }
      if let acceptance = finding.acceptance {
        text += "      accepted: \(quoted(acceptance.text))\n"
      }
    }
    return text + "  ...\n"
  }

  private static func quoted(_ text: String) -> String {
    JSONValue.string(printable(text)).description
  }
}

/// A test point.
private struct TAPPoint {
  var isOK: Bool
  var name: String
  var directive: String?
  var yaml = ""

  func line(number: Int) -> String {
    let words = Self.escaped(name) + (directive.map { " # " + Self.escaped($0) } ?? "")
    return (isOK ? "ok" : "not ok") + " \(number) - \(words)\n" + yaml
  }

  /// The text of a description: # would begin a directive.
  private static func escaped(_ text: String) -> String {
    ConformanceReport.printable(text).replacing("\\", with: "\\\\").replacing("#", with: "\\#")
  }
}

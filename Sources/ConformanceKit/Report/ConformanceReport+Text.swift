extension ConformanceReport {
  /// Returns the report for a terminal.
  /// - Parameter color: Whether to colour verdicts by ANSI escapes.
  /// - Returns: A table of totals a standard, the failures with their first findings, and what is
  ///   inconclusive with its reason.
  public func text(color: Bool) -> String {
    let paint = Paint(isOn: color)
    var text = ""
    let specs = results.reduce(into: [String]()) {
      if $0.last != $1.clause.spec { $0.append($1.clause.spec) }
    }
    for spec in specs { text += table(of: spec, paint) }
    let failed = results.filter { $0.verdict == .failed }
    if !failed.isEmpty { text += "\n" + paint.heading("Failed") }
    for result in failed { text += Self.failure(result, paint) }
    let inconclusive = results.filter { $0.verdict == .inconclusive }
    if !inconclusive.isEmpty { text += "\n" + paint.heading("Inconclusive") }
    let width = inconclusive.map(\.clause.id.count).max() ?? 0
    for result in inconclusive {
      text += "  " + result.clause.id.padded(to: width) + "  "
      text += (result.reason ?? "").wrapped(indent: width + 4).drop { $0 == " " } + "\n"
    }
    return text
  }

  private func table(of spec: String, _ paint: Paint) -> String {
    let rows = results.filter { $0.clause.spec == spec }
    let checked = rows.count { $0.clause.status == .checked }
    let selected = isComplete ? "" : " selected"
    var text = paint.heading("\(spec): \(checked) of \(rows.count)\(selected) clauses checked")
    let reasons: [Verdict: String] = [
      .failed: "violated", .passed: "kept wherever they apply", .inconclusive: "not decided",
      .notExercised: "nothing happened that they speak of",
      .notApplicable: "not for this input, or not checked",
    ]
    for verdict in [Verdict.failed, .passed, .inconclusive, .notExercised, .notApplicable] {
      let count = rows.count { $0.verdict == verdict }
      let number = String(repeating: " ", count: max(0, 5 - "\(count)".count)) + "\(count)"
      let label = paint.verdict(verdict, count > 0, verdict.rawValue.padded(to: 15))
      text += "\(number)  \(label) \(reasons[verdict] ?? "")\n"
    }
    return text
  }

  private static func failure(_ result: ClauseResult, _ paint: Paint) -> String {
    let clause = result.clause
    var text = "  \(paint.verdict(.failed, true, clause.id))  section \(clause.section)"
    text += ", \(clause.level.rawValue), \(result.violated)× violated"
    text += ", \(result.satisfied)× kept\n" + clause.summary.wrapped(indent: 4) + "\n"
    for finding in result.findings.prefix(3) {
      text += "    \(printable(finding.file)) frame \(finding.frame)"
      text += ", connection \(finding.connection), \(finding.time)\n"
      text += "      " + printable(finding.message) + "\n"
      text += "      expected: " + printable(finding.expected) + "\n"
      text += "      actual:   " + printable(finding.actual) + "\n"
    }
    if result.violated > 3 { text += "    and \(result.violated - 3) more\n" }
    return text
  }

  /// Text from the wire must not steer the terminal.
  private static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map {
          switch $0.properties.generalCategory {
          case .control, .format, .lineSeparator, .paragraphSeparator: "\u{FFFD}"
          default: $0
          }
        }))
  }
}

/// ANSI colours, or none.
private struct Paint {
  var isOn: Bool

  func heading(_ text: String) -> String {
    (isOn ? "\u{1B}[1m\(text)\u{1B}[0m" : text) + "\n"
  }

  func verdict(_ verdict: Verdict, _ isPresent: Bool, _ text: String) -> String {
    guard isOn, isPresent else { return text }
    switch verdict {
    case .failed: return "\u{1B}[31m\(text)\u{1B}[0m"
    case .passed: return "\u{1B}[32m\(text)\u{1B}[0m"
    case .inconclusive: return "\u{1B}[33m\(text)\u{1B}[0m"
    case .notApplicable, .notExercised: return text
    }
  }
}

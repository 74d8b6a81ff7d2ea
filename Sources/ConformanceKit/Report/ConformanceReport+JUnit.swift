extension ConformanceReport {
  /// Returns the report as the XML that JUnit's users have made common: a suite a standard, a case a clause.
  ///
  /// What is neither passed nor failed is skipped, with its reason. A clause takes no time of its own.
  func junit() -> String {
    var suites = specs.map { spec in
      JUnitSuite(name: spec, cases: results.filter { $0.clause.spec == spec }.map(Self.testCase))
    }
    if !unread.isEmpty {
      let cases = unread.map {
        JUnitCase(name: $0.file, className: "inputs", outcome: .unread($0.reason))
      }
      suites.insert(JUnitSuite(name: "inputs", cases: cases), at: 0)
    }
    if !unbound.isEmpty {
      suites.append(JUnitSuite(name: "steps", cases: unbound.enumerated().map(Self.stepCase)))
    }
    if let baseline, !baseline.remarks.isEmpty {
      let cases = baseline.remarks.map { Self.baselineCase($0, baseline) }
      suites.append(JUnitSuite(name: "baseline", cases: cases))
    }
    let tests = suites.reduce(0) { $0 + $1.cases.count }
    let failures = suites.reduce(0) { $0 + $1.failures }
    let errors = suites.reduce(0) { $0 + $1.errors }
    var text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    text += "<testsuites name=\"reprise\" tests=\"\(tests)\" failures=\"\(failures)\""
    text += " errors=\"\(errors)\" time=\"0\">\n"
    for suite in suites { text += suite.xml(version: toolVersion, inputs: inputs) }
    return text + "</testsuites>\n"
  }

  private static func testCase(_ result: ClauseResult) -> JUnitCase {
    let clause = result.clause
    let lines = findingText(of: result)
    let outcome: JUnitCase.Outcome =
      switch result.verdict {
      case .passed: .passed
      case .failed:
        .failed(
          type: clause.level.rawValue, message: result.findings.first?.message ?? clause.summary,
          clause.summary.markup + "\n" + lines)
      case .notFollowed, .accepted: .skipped(result.absenceText, lines)
      case .inconclusive, .notApplicable, .notExercised: .skipped(result.absenceText, "")
      }
    return JUnitCase(name: clause.id, className: className(of: clause), outcome: outcome)
  }

  /// The standard and the section, with a dot between them alone: readers take what stands in front of the last one for a
  /// package.
  private static func className(of clause: Clause) -> String {
    [clause.spec, clause.section].map { $0.replacing(".", with: "_") }.joined(separator: ".")
  }

  private static func stepCase(_ index: Int, _ finding: Finding) -> JUnitCase {
    JUnitCase(
      name: "\(index + 1): \(finding.scenario?.description ?? "end")", className: "sdk.steps",
      outcome: finding.acceptance.map {
        .skipped("accepted: \($0.text)", findingText(of: finding))
      } ?? .failed(type: "step", message: finding.message, findingText(of: finding)))
  }

  private static func baselineCase(
    _ remark: BaselineOutcome.Remark, _ baseline: BaselineOutcome
  ) -> JUnitCase {
    JUnitCase(
      name: remark.title, className: "baseline",
      outcome: remark.kind == .mended
        ? .failed(
          type: "baseline", message: remark.text,
          "\(baseline.file.markup) \(remark.title.markup)\n")
        : .skipped(remark.text, ""))
  }

  /// All findings of a clause that are listed, in XML's signs.
  private static func findingText(of result: ClauseResult) -> String {
    let others = result.violated - result.findings.count
    return result.findings.map(findingText).joined()
      + (others > 0 ? "and \(others) more\n" : "")
  }

  private static func findingText(of finding: Finding) -> String {
    let cause = finding.sameCauseAs.map { ["the same cause as that of \($0)"] } ?? []
    return "\(finding.file.markup) \(place(of: finding).markup)\n"
      + (lines(of: finding) + cause).map { "  \($0.markup)\n" }.joined()
  }
}

/// A suite of tests.
private struct JUnitSuite {
  let name: String
  let cases: [JUnitCase]

  var failures: Int { cases.count { $0.isFailure } }
  var errors: Int { cases.count { $0.isError } }

  func xml(version: String, inputs: [String]) -> String {
    let skipped = cases.count { $0.isSkipped }
    var text = "  <testsuite name=\"\(name.markup)\" tests=\"\(cases.count)\""
    text += " failures=\"\(failures)\" errors=\"\(errors)\" skipped=\"\(skipped)\" time=\"0\">\n"
    text += "    <properties>\n"
    text += "      <property name=\"reprise\" value=\"\(version.markup)\"/>\n"
    for input in inputs { text += "      <property name=\"input\" value=\"\(input.markup)\"/>\n" }
    text += "    </properties>\n"
    for test in cases { text += test.xml }
    return text + "  </testsuite>\n"
  }
}

/// One test.
private struct JUnitCase {
  enum Outcome {
    case passed
    /// What comes last is XML already.
    case failed(type: String, message: String, String)
    case skipped(_ message: String, String)
    /// There is no verdict, for a reason that is nobody's conduct.
    case unread(_ reason: String)
  }

  let name: String
  let className: String
  let outcome: Outcome

  var isFailure: Bool {
    if case .failed = outcome { true } else { false }
  }

  var isError: Bool {
    if case .unread = outcome { true } else { false }
  }

  var isSkipped: Bool {
    if case .skipped = outcome { true } else { false }
  }

  var xml: String {
    let head =
      "    <testcase name=\"\(name.markup)\" classname=\"\(className.markup)\" time=\"0\""
    switch outcome {
    case .passed: return head + "/>\n"
    case .failed(let type, let message, let content):
      return head + ">\n      <failure type=\"\(type.markup)\" message=\"\(message.markup)\">"
        + content + "</failure>\n    </testcase>\n"
    case .unread(let reason):
      return head + ">\n      <error type=\"unread\" message=\"\(reason.markup)\"/>\n"
        + "    </testcase>\n"
    case .skipped(let message, let content):
      let skipped = "      <skipped message=\"\(message.markup)\""
      return head + ">\n" + skipped + (content.isEmpty ? "/>\n" : ">\(content)</skipped>\n")
        + "    </testcase>\n"
    }
  }
}

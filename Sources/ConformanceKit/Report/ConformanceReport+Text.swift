internal import RepriseCore

extension ConformanceReport {
  /// Returns the report for a terminal.
  /// - Parameter color: Whether to colour verdicts by ANSI escapes.
  /// - Returns: A table of totals a standard, the failures and what is not followed with their first
  ///   findings, and what is undecided with reasons and places.
  public func text(color: Bool) -> String {
    let paint = Paint(isOn: color)
    var text = ""
    if !unread.isEmpty {
      text += paint.heading("Not read, and not judged")
      for input in unread { text += input.text.wrapped(indent: 2) + "\n" }
    }
    if !parts.isEmpty {
      let all = parts.map { Self.printable($0.text) }.joined(separator: ", ")
      text += "Frames are counted through all parts: \(all)".wrapped(indent: 0) + "\n"
    }
    for spec in specs { text += (text.isEmpty ? "" : "\n") + table(of: spec, paint) }
    if let sums = scenarioSums ?? caseSums { text += "\n  \(sums)\n" }
    text += casesWithoutVerdict
    let printed = printedCauses
    for (verdict, title) in [
      (Verdict.failed, "Failed"), (.notFollowed, "Not followed"), (.accepted, "Accepted"),
    ] {
      let rows = results.filter { $0.verdict == verdict }
      if !rows.isEmpty { text += "\n" + paint.heading(title) }
      for result in rows { text += Self.failure(result, printed, paint) }
    }
    if !unbound.isEmpty { text += "\n" + paint.heading("Wrong where a scenario shows no clause") }
    for finding in unbound { text += Self.text(of: finding) }
    if let baseline, !baseline.remarks.isEmpty {
      text += "\n" + paint.heading("Baseline \(Self.printable(baseline.file))")
      for remark in baseline.remarks {
        text += "  \(Self.printable(remark.title))\n    \(remark.text)\n"
      }
    }
    text += Self.undecided(results.filter { $0.verdict == .inconclusive }, "Inconclusive", paint)
    return text
      + Self.undecided(
        results.filter { $0.verdict == .passed && $0.undecided > 0 },
        "Passed, and not decided everywhere", paint)
  }

  /// How many scenarios came to what end, in words: `42 scenarios in file, 42 in capture: 84 passed`; nil where files
  /// were judged.
  var scenarioSums: String? {
    guard let scenarios else { return nil }
    var worlds: [String] = []
    for record in scenarios where !worlds.contains(record.world) { worlds.append(record.world) }
    guard !worlds.isEmpty else { return "no scenarios" }
    let counts = worlds.enumerated().map { index, world in
      let count = scenarios.count { $0.world == world }
      let noun = index > 0 ? "" : count == 1 ? " scenario" : " scenarios"
      return "\(count)\(noun) in \(world)"
    }
    let ends = ScenarioRecord.Outcome.allCases.compactMap { outcome in
      let count = scenarios.count { $0.outcome == outcome }
      return count > 0 ? "\(count) \(outcome.rawValue)" : nil
    }
    return counts.joined(separator: ", ") + ": " + ends.joined(separator: ", ")
  }

  /// The cases that nothing was judged of, or that did not come to their end, with the reasons.
  private var casesWithoutVerdict: String {
    let rows = (cases ?? []).filter { $0.reason != nil }
    let width = rows.map(\.file.count).max() ?? 0
    return rows.map { record in
      "    " + Self.printable(record.file).padded(to: width) + "  "
        + "\(record.outcome.rawValue): \(record.reason ?? "")".wrapped(indent: width + 6)
        .drop { $0 == " " } + "\n"
    }.joined()
  }

  /// The clauses that were not decided, or not everywhere, with their reasons and first places.
  private static func undecided(
    _ results: [ClauseResult], _ title: String, _ paint: Paint
  ) -> String {
    guard !results.isEmpty else { return "" }
    var text = "\n" + paint.heading(title)
    let width = results.map(\.clause.id.count).max() ?? 0
    for result in results {
      text += "  " + result.clause.id.padded(to: width) + "  "
      text += (result.reason ?? "").wrapped(indent: width + 4).drop { $0 == " " } + "\n"
      let margin = String(repeating: " ", count: width + 4)
      for place in result.places.prefix(mostPlaces) {
        let spot = Self.place(place.scenario, place.frame, place.connection, place.time)
        text += "\(margin)\(printable(place.file)) \(spot)\n"
      }
      let others = result.undecided - min(mostPlaces, result.places.count)
      if others > 0, !result.places.isEmpty { text += "\(margin)and \(others) more\n" }
    }
    return text
  }

  /// The most places of a clause that are printed.
  private static let mostPlaces = 3

  /// The verdicts of a standard, a row a section, and their sums.
  private func table(of spec: String, _ paint: Paint) -> String {
    let rows = results.filter { $0.clause.spec == spec }
    let checked = rows.count { $0.clause.status.isChecked }
    let selected = isComplete ? "" : " selected"
    // What scenarios provoke has something to judge whenever it is run.
    let heading =
      spec == "sdk"
      ? "\(spec): \(checked) of \(rows.count)\(selected) clauses checked"
      : "\(spec): \(rows.count { $0.isExercised }) of \(checked)\(selected) clauses had anything to judge"
        + (isAlone && spec.hasPrefix("mqtt") ? ", and nobody else publishes" : "")
    var text = paint.heading(heading)
    // A table of nothing but clauses that nothing speaks of says less than one line does.
    let reasons = Set(rows.filter { $0.clause.status.isChecked }.map(\.absence))
    if reasons.count == 1, case let reason?? = reasons.first { return text + "  \(reason)\n" }
    let columns = columns
    text += "\n  " + "section".padded(to: Self.titleWidth)
    for verdict in columns { text += "  " + verdict.rawValue }
    text += "\n"
    let groups = Dictionary(grouping: rows) { SectionTitle.group(of: $0.clause.section) }
    let sections = groups.sorted {
      SectionTitle.numbers(of: $0.key).lexicographicallyPrecedes(SectionTitle.numbers(of: $1.key))
    }
    for (section, group) in sections {
      let title = section.padded(to: 6) + SectionTitle.of(section, in: spec)
      text += Self.row(title, group, columns, zero: "·", paint)
    }
    return text + Self.row("all", rows, columns, zero: "0", paint)
  }

  private static let titleWidth = 30
  /// The verdicts that have a column: those of what was accepted and of what was not followed only where there is any.
  private var columns: [Verdict] {
    let all: [Verdict] = [
      .passed, .failed, .accepted, .notFollowed, .inconclusive, .notExercised, .notApplicable,
    ]
    return all.filter { ![.accepted, .notFollowed].contains($0) || count($0) > 0 }
  }

  private static func row(
    _ title: String, _ results: [ClauseResult], _ columns: [Verdict], zero: String, _ paint: Paint
  ) -> String {
    var text = "  " + title.padded(to: titleWidth)
    for verdict in columns {
      let count = results.count { $0.verdict == verdict }
      let number = count == 0 ? zero : "\(count)"
      let space = String(repeating: " ", count: max(0, verdict.rawValue.count - number.count))
      text += "  " + space + paint.verdict(verdict, count > 0, number)
    }
    return text + "\n"
  }

  /// The most findings of a clause that are printed.
  private static let mostFindings = 3

  /// The causes of the findings that are printed in full, by the clause that they are printed of.
  private var printedCauses: [String: Set<Int>] {
    var causes: [String: Set<Int>] = [:]
    for result in results {
      let printed = result.findings.prefix(Self.mostFindings).filter { $0.sameCauseAs == nil }
      // Two versions have one identifier, and a finding names no version.
      causes[result.clause.id, default: []].formUnion(printed.compactMap(\.cause))
    }
    return causes
  }

  private static func failure(
    _ result: ClauseResult, _ causes: [String: Set<Int>], _ paint: Paint
  ) -> String {
    let clause = result.clause
    var text = "  \(paint.verdict(result.verdict, true, clause.id))  section \(clause.section)"
    text += ", \(clause.level.rawValue), \(result.violated)× violated"
    text += ", \(result.satisfied)× kept"
    if result.undecided > 0 { text += ", \(result.undecided)× undecided" }
    text += "\n" + clause.summary.wrapped(indent: 4) + "\n"
    for finding in result.findings.prefix(mostFindings) {
      let place = "    \(printable(finding.file)) \(place(of: finding))\n"
      if let other = finding.sameCauseAs, let cause = finding.cause,
        causes[other]?.contains(cause) == true
      {
        text += place + "      the same cause as that of \(other)\n"
        continue
      }
      text += Self.text(of: finding)
    }
    let others = result.violated - mostFindings
    if others > 0 { text += "    and \(others) more\n" }
    for place in result.places.prefix(mostPlaces) {
      let spot = Self.place(place.scenario, place.frame, place.connection, place.time)
      text += "    \(printable(place.file)) \(spot)\n"
      text += "      undecided: \(printable(place.reason))\n"
    }
    let undecided = result.undecided - min(mostPlaces, result.places.count)
    if undecided > 0 { text += "    and \(undecided) more undecided\n" }
    return text
  }

  /// A finding in full.
  private static func text(of finding: Finding) -> String {
    "    \(printable(finding.file)) \(place(of: finding))\n"
      + lines(of: finding).map { "      \($0)\n" }.joined()
  }

  /// What was wrong, what was expected and seen, and what it rests on, a line each, without a sign that steers anything.
  static func lines(of finding: Finding) -> [String] {
    let evidence = finding.evidence.prefix(mostEvidence).enumerated().map { index, packet in
      (index == 0 ? "rests on: " : "          ")
        + "frame \(packet.frame), connection \(packet.connection): " + printable(packet.role)
    }
    let others = finding.evidence.count - mostEvidence
    return [
      printable(finding.message), "expected: " + printable(finding.expected),
      "actual:   " + printable(finding.actual),
    ] + evidence + (others > 0 ? ["          and \(others) more"] : [])
      + (finding.laterText.map { ["then:     " + $0] } ?? [])
      + finding.remedies.enumerated().map { index, remedy in
        (index == 0 ? "next:     " : "or:       ") + printable(remedy)
      }
      + (finding.acceptance.map { ["accepted: " + printable($0.text)] } ?? [])
  }

  /// A finding as the report has it, with its clause, for whoever sees it come.
  /// - Parameters:
  ///   - finding: The finding.
  ///   - clause: What it violates.
  ///   - color: Whether to colour the clause by ANSI escapes.
  /// - Returns: Some lines.
  package static func text(of finding: Finding, _ clause: Clause, color: Bool) -> String {
    let verdict: Verdict = clause.level == .must ? .failed : .notFollowed
    let name = Paint(isOn: color).verdict(verdict, true, clause.id)
    return "  \(name)  section \(clause.section), \(clause.level.rawValue)\n"
      + clause.summary.wrapped(indent: 4) + "\n" + text(of: finding)
  }

  /// The most packets that are printed of those that a finding rests on.
  private static let mostEvidence = 8

  /// Where a finding was made, without its file.
  static func place(of finding: Finding) -> String {
    place(finding.scenario, finding.frame, finding.connection, finding.time)
  }

  static func place(
    _ scenario: ScenarioPlace?, _ frame: Int, _ connection: Int, _ time: Timestamp
  ) -> String {
    let step = scenario.map { "\(printable("\($0)")), " } ?? ""
    return "\(step)frame \(frame), connection \(connection), \(time)"
  }

  /// Text from the wire must not steer the terminal.
  static func printable(_ text: String) -> String {
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

extension Finding {
  /// Which steps of its scenario behind it went otherwise as well; nil where none did.
  var laterText: String? {
    guard let first = laterSteps.first else { return nil }
    guard laterSteps.count > 1 else { return "step \(first) went otherwise, too" }
    let shown = laterSteps.prefix(8).map { "\($0)" }.joined(separator: ", ")
    let others = laterSteps.count - 8
    return "steps \(shown)\(others > 0 ? " and \(others) more" : "") went otherwise, too"
  }
}

extension ClauseResult {
  /// Why the clause does not apply, if it does not.
  fileprivate var absence: String? { verdict == .notApplicable ? reason : nil }
}

extension Paint {
  fileprivate func heading(_ text: String) -> String { self(.heading, text) + "\n" }

  fileprivate func verdict(_ verdict: Verdict, _ isPresent: Bool, _ text: String) -> String {
    guard isPresent else { return text }
    switch verdict {
    case .failed: return self(.fault, text)
    case .passed: return self(.good, text)
    case .inconclusive, .notFollowed, .accepted: return self(.doubt, text)
    case .notApplicable, .notExercised: return text
    }
  }
}

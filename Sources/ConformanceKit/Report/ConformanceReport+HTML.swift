extension ConformanceReport {
  /// Returns the report as one page that needs nothing else: no network, and no script, also to choose verdicts.
  func html() -> String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8"/>
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
    <meta name="viewport" content="width=device-width, initial-scale=1"/>
    <meta name="color-scheme" content="light dark"/>
    <title>Conformance: \(sums)</title>
    <style>
    \(HTMLStyle.sheet)
    </style>
    </head>
    <body>
    <header>
    <h1>Conformance: \(headline)</h1>
    <p>\(sums); judged by reprise \(toolVersion.markup).</p>\(scenarioLine)
    \(inputList)
    </header>
    <main>
    \(unreadList)\(filters)
    \(specs.map(table).joined())\(steps)\(baselineRemarks)
    </main>
    </body>
    </html>

    """
  }

  private var headline: String {
    if hasFailed { return "failed" }
    return unread.isEmpty ? "nothing violated" : "not all could be read"
  }

  private var unreadList: String {
    guard !unread.isEmpty else { return "" }
    let items = unread.map { "<li><code>\($0.file.markup)</code>: \($0.reason.markup)</li>" }
    return "<section><h2>Not read, and not judged</h2><ul>\(items.joined())</ul></section>\n"
  }

  private var scenarioLine: String { scenarioSums.map { "\n<p>\($0.markup)</p>" } ?? "" }

  private var inputList: String {
    guard !inputs.isEmpty else { return "" }
    let missing = Set(unread.map(\.file))
    let items = inputs.filter { !missing.contains($0) }
      .map { "<li><code>\($0.markup)</code></li>" }.joined()
    return
      "<details><summary>\(inputs.count - unread.count) judged</summary><ul>\(items)</ul></details>"
  }

  /// The verdicts to choose from: those that some clause has, where what failed is shown first.
  private var filters: String {
    let shown = count(.failed) > 0 ? Verdict.failed.rawValue : "all"
    func choice(_ name: String, _ count: Int) -> String {
      let mark = name == shown ? " checked=\"checked\"" : ""
      return "<label><input type=\"radio\" name=\"verdict\" id=\"only-\(name)\"\(mark)/> \(name) "
        + "(\(count))</label>"
    }
    let present = Verdict.allCases.filter { count($0) > 0 }
    let choices = present.map { choice($0.rawValue, count($0)) }
    return "<fieldset class=\"filter\"><legend>Clauses that are shown</legend>"
      + choice("all", results.count) + "\(choices.joined())</fieldset>"
  }

  private func table(_ spec: String) -> String {
    let rows = results.filter { $0.clause.spec == spec }.map(Self.row).joined()
    return """
      <section>
      <h2>\(spec.markup)</h2>
      <table>
      <thead><tr><th scope="col">Clause</th><th scope="col">Section</th><th scope="col">Level</th>\
      <th scope="col">Verdict</th><th scope="col">What it says, and what was found</th></tr></thead>
      <tbody>
      \(rows)</tbody>
      </table>
      </section>

      """
  }

  private static func row(_ result: ClauseResult) -> String {
    let clause = result.clause
    let name = result.verdict.rawValue
    var cell = "<p>\(clause.summary.markup)</p>"
    if let reason = result.reason { cell += "<p class=\"reason\">\(reason.markup)</p>" }
    if result.isExercised {
      cell +=
        "<p class=\"tally\">\(result.violated)× violated, \(result.satisfied)× kept, "
        + "\(result.undecided)× undecided</p>"
    }
    cell += details(of: result)
    return "<tr class=\"\(name)\"><th scope=\"row\">\(clause.id.markup)</th>"
      + "<td>\(clause.section.markup)</td><td>\(clause.level.rawValue)</td>"
      + "<td><span class=\"verdict\">\(name)</span></td><td>\(cell)</td></tr>\n"
  }

  /// The findings, which are open, and where the input did not decide, which is not.
  private static func details(of result: ClauseResult) -> String {
    var text = ""
    if !result.findings.isEmpty {
      let others = result.violated - result.findings.count
      text += "<details open=\"open\"><summary>\(result.violated) found</summary><ol>"
      text += result.findings.map(item).joined()
      text += "</ol>" + (others > 0 ? "<p>and \(others) more</p>" : "") + "</details>"
    }
    if !result.places.isEmpty {
      text += "<details><summary>\(result.undecided) undecided</summary><ul>"
      for place in result.places {
        let spot = Self.place(place.scenario, place.frame, place.connection, place.time)
        text += "<li><code>\(place.file.markup)</code> \(spot.markup): \(place.reason.markup)</li>"
      }
      text += "</ul></details>"
    }
    return text
  }

  private static func item(_ finding: Finding) -> String {
    var text = "<li><p><code>\(finding.file.markup)</code> \(place(of: finding).markup)</p>"
    text += "<p>\(finding.message.markup)</p><dl>"
    text += "<dt>expected</dt><dd>\(finding.expected.markup)</dd>"
    text += "<dt>actual</dt><dd><code>\(finding.actual.markup)</code></dd>"
    if !finding.evidence.isEmpty {
      text += "<dt>rests on</dt>"
      for packet in finding.evidence {
        text +=
          "<dd>frame \(packet.frame), connection \(packet.connection): "
          + "\(packet.role.markup)</dd>"
      }
    }
    if let other = finding.sameCauseAs {
      text += "<dt>same cause</dt><dd>as that of \(other.markup)</dd>"
    }
    if let later = finding.laterText { text += "<dt>then</dt><dd>\(later.markup)</dd>" }
    if !finding.remedies.isEmpty {
      text += "<dt>next</dt>"
      for remedy in finding.remedies { text += "<dd>\(remedy.markup)</dd>" }
    }
    if let acceptance = finding.acceptance {
      text += "<dt>accepted</dt><dd>\(acceptance.text.markup)</dd>"
    }
    text += "</dl>"
    if !finding.packet.isEmpty {
      let packet = String(decoding: finding.packet, as: UTF8.self)
      text += "<details><summary>packet</summary><pre>\(packet.markup)</pre></details>"
    }
    return text + "</li>"
  }

  /// What is to be told of the baseline.
  private var baselineRemarks: String {
    guard let baseline, !baseline.remarks.isEmpty else { return "" }
    let items = baseline.remarks.map {
      "<li class=\"\($0.kind.rawValue)\">\($0.title.markup): \($0.text.markup)</li>"
    }
    return "<section><h2>Baseline <code>\(baseline.file.markup)</code></h2>"
      + "<ul>\(items.joined())</ul></section>\n"
  }

  /// What is wrong with steps that show no clause.
  private var steps: String {
    guard !unbound.isEmpty else { return "" }
    return "<section><h2>Wrong where a scenario shows no clause</h2><ol>"
      + unbound.map(Self.item).joined() + "</ol></section>\n"
  }
}

/// How the page looks.
private enum HTMLStyle {
  static var sheet: String { base + choices }

  private static let base = """
    :root { --fg: #1b1f24; --bg: #fff; --line: #d0d7de; --soft: #57606a; --bad: #b3261e;
      --good: #116329; --open: #7a4d00; }
    @media (prefers-color-scheme: dark) { :root { --fg: #e6edf3; --bg: #0d1117; --line: #30363d;
      --soft: #9198a1; --bad: #ff8a80; --good: #7ee787; --open: #f0c36d; } }
    body { font: 1rem/1.45 system-ui, sans-serif; color: var(--fg); background: var(--bg);
      margin: 0 auto; max-width: 80rem; padding: 1rem; }
    table { border-collapse: collapse; width: 100%; }
    th, td { border-bottom: 1px solid var(--line); padding: .4rem .6rem; text-align: left;
      vertical-align: top; }
    tbody th { white-space: nowrap; font-weight: 600; }
    p { margin: .2rem 0; } dl { margin: .3rem 0; } dt { color: var(--soft); }
    dd { margin-left: 1.2rem; } code, pre, dd { overflow-wrap: anywhere; }
    pre { white-space: pre-wrap; } fieldset label { margin-right: 1rem; white-space: nowrap; }
    @media (max-width: 45rem) { table, tbody, tr, tbody th, td { display: block; border: 0;
      padding: .1rem 0; } thead { display: none; } fieldset label { display: block; }
      tr { border-bottom: 1px solid var(--line); padding: .6rem 0; } }
    .reason, .tally { color: var(--soft); } .verdict { font-weight: 600; white-space: nowrap; }
    .failed .verdict { color: var(--bad); } .passed .verdict { color: var(--good); }
    .inconclusive .verdict, .not-followed .verdict, .accepted .verdict { color: var(--open); }
    @media print { .filter { display: none; } body { max-width: none; } tr { break-inside: avoid; } }

    """

  /// A row is hidden while another verdict than its own is chosen.
  private static var choices: String {
    Verdict.allCases.map {
      "body:has(#only-\($0.rawValue):checked) tbody tr:not(.\($0.rawValue)) { display: none; }"
    }.joined(separator: "\n")
  }
}

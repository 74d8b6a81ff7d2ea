import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Baselines")
struct BaselineTests {
  private static let clause = "mqtt-3.1.1/MQTT-4.7.1-2"

  /// Judges a client that subscribes to filters, of which those with # in a level are bad.
  private func report(
    _ filters: [String], client: String = "sensor", cut: Bool = false, limit: Int = 100,
    listsEachKind: Bool = true
  ) throws -> ConformanceReport {
    var options = ConformanceOptions(clauses: [Self.clause], maximumFindings: limit)
    options.listsEachKind = listsEachKind
    return try judge(options: options) {
      $0.open()
      $0.client(.connect(.init(clientID: client, cleanStart: true, keepAlive: 0)))
      $0.server(.connack(.init(sessionPresent: false)))
      for (index, filter) in filters.enumerated() { $0.subscribe(UInt16(index + 1), filter) }
      // Of the filter of one more only the first byte was captured.
      if cut { $0.client(hex: "82 08 00 09 00 03 61", missing: 3) }
      $0.finish()
    }
  }

  private func baseline(
    _ report: ConformanceReport, keeping old: Baseline? = nil
  ) throws -> Baseline {
    let mended = old.map { report.unmatched(of: $0, on: "").filter(report.decides) } ?? []
    let bytes = Baseline(of: report, file: "b.json", keeping: old, without: Set(mended)).json
    return try Baseline(reading: bytes, file: "b.json")
  }

  /// The report on a session with one client, with what a baseline accepts.
  private func accept(_ baseline: Baseline, in report: ConformanceReport) -> ConformanceReport {
    let mended = report.unmatched(of: baseline, on: "").filter(report.decides)
    return report.accepting(baseline, on: "", mended: Set(mended))
  }

  /// The baseline with members changed or added in its lines.
  private func edited(_ baseline: Baseline, _ old: String, _ new: String) throws -> Baseline {
    let text = String(decoding: baseline.json, as: UTF8.self)
    try #require(text.contains(old))
    return try Baseline(reading: Array(text.replacing(old, with: new).utf8), file: "b.json")
  }

  private func told(_ report: ConformanceReport) -> String {
    let verdicts = report.results.map(\.verdict.rawValue).joined(separator: " ")
    let remarks = report.baseline?.remarks.map { "\($0.kind.rawValue):\($0.entry.line)" } ?? []
    return ([report.hasFailed ? "fails:" : "fine:", verdicts] + remarks).joined(separator: " ")
  }

  @Test("Known findings pass, a new one fails, a mended one fails until its line is removed")
  func story() throws {
    let known = try baseline(report(["a#", "b#", "good/#"]))
    #expect(known.entries.map(\.line) == [2, 3])
    #expect(told(try report(["b#", "a#", "a#"]).accepting(known, on: "")) == "fine: accepted")
    let new = try report(["a#", "b#", "c#"]).accepting(known, on: "")
    #expect(told(new) == "fails: failed")
    #expect(new.results[0].findings.map { $0.acceptance == nil } == [true, false, false])
    #expect(new.results[0].findings[0].actual.contains("c#"))
    let mended = accept(known, in: try report(["a#", "good"]))
    #expect(told(mended) == "fails: accepted mended:3")
    #expect(mended.sums == "1 accepted, 1 mended in the baseline")
    let none = accept(known, in: try report(["good"]))
    #expect(told(none) == "fails: passed mended:2 mended:3")
    let rest = try baseline(report(["a#"]), keeping: known)
    #expect(told(try report(["a#"]).accepting(rest, on: "")) == "fine: accepted")
  }

  @Test("What was not judged, and a client that was not there, are told and fail nothing")
  func unexercised() throws {
    let known = try baseline(report(["a#"]))
    #expect(
      told(accept(known, in: try report([]))) == "fine: not-exercised not-exercised:2")
    let elsewhere = try edited(known, "\"files\":[", "\"files\":[\"another.pcap\",")
    #expect(
      told(accept(elsewhere, in: try report(["good"], client: "other")))
        == "fine: passed not-exercised:2")
    #expect(
      told(accept(elsewhere, in: try report(["a#"], client: "other")))
        == "fails: failed not-exercised:2")
    // Where the files are the same, it is gone.
    let gone = accept(known, in: try report(["good"], client: "other"))
    #expect(told(gone) == "fails: passed mended:2")
    // What was not captured may have been it.
    #expect(
      told(accept(known, in: try report(["good"], cut: true))) == "fine: passed not-exercised:2")
  }

  @Test("An entry counts to the end of its last day")
  func expiry() throws {
    let known = try baseline(report(["a#"]))
    let dated = try edited(known, #""reason":"""#, #""reason":"later","expires":"2027-01-31""#)
    let report = try report(["a#"])
    #expect(told(report.accepting(dated, on: "2027-01-31")) == "fine: accepted")
    #expect(told(report.accepting(dated, on: "2027-02-01")) == "fails: failed expired:2")
    #expect(
      report.accepting(dated, on: "2027-01-31").results[0].reason == "later (until 2027-01-31)")
  }

  @Test(
    "Written anew it keeps reasons of what stays, drops what is mended, and keeps what was not judged"
  )
  func rewriting() throws {
    let known = try edited(
      baseline(report(["a#", "b#"])), #""reason":"""#, #""reason":"known","owner":"us""#)
    let again = try baseline(report(["b#", "c#"]), keeping: known)
    #expect(again.entries.map(\.reason) == ["known", ""])
    #expect(again.entries.map(\.owner) == ["us", nil])
    let idle = try baseline(report([]), keeping: known)
    #expect(idle.entries.map(\.reason) == ["known", "known"])
    #expect(try baseline(report(["good"]), keeping: known).entries == [])
  }

  @Test("More findings than are listed are compared all the same")
  func beyondTheLimit() throws {
    let many = Array(repeating: "a#", count: 5)
    let known = try baseline(report(many, limit: 2))
    #expect(known.entries.count == 1)
    #expect(told(try report(many, limit: 2).accepting(known, on: "")) == "fine: accepted")
    let new = try report(many + ["b#"], limit: 2)
    #expect(new.results[0].findings.count == 3)
    #expect(told(new.accepting(known, on: "")) == "fails: failed")
    // What is not listed is not known.
    let blind = try report(many, limit: 2, listsEachKind: false)
    #expect(told(blind.accepting(known, on: "")) == "fails: failed")
  }

  @Test("The last line may be removed, and the comma before it stay; a comma elsewhere may not")
  func lastLine() throws {
    func read(_ list: String) throws -> [String] {
      let text = "{\"reprise-baseline\":1,\"accepted\":[\n\(list)\n]}\n"
      return try Baseline(reading: Array(text.utf8), file: "b").entries.map(\.message)
    }
    func entry(_ message: String) -> String {
      "{\"clause\":\"c\",\"subject\":\"s\",\"fingerprint\":\"0eff01bca473e9ac\",\"message\":\"\(message)\",\"reason\":\"\"}"
    }
    #expect(try read("\(entry("a,]")),\n\(entry("b"))") == ["a,]", "b"])
    #expect(try read("\(entry("a,]")),\r\n") == ["a,]"])
    #expect(throws: BaselineError.self) { try read("\(entry("a")),,") }
    #expect(throws: BaselineError.self) { try read(",\(entry("a"))") }
  }

  @Test(
    "What is no baseline is told with its line",
    arguments: [
      ("", "line 1: the text ends where a value should stand"),
      ("{\n\n]", "line 3: a key in quotes should stand here"),
      ("[]", "line 1: this is no baseline: it has no \"reprise-baseline\""),
      (#"{"reprise-baseline":2}"#, "line 1: version 2 of baselines is not known"),
      (#"{"reprise-baseline":1}"#, "line 1: \"accepted\" is no list"),
      ("{\"reprise-baseline\":1,\"accepted\":[\n{\"clause\":1}]}", "line 2: \"clause\" is no text"),
      (
        "{\"reprise-baseline\":1,\"accepted\":[\n\n{\"subject\":\"\"}]}",
        "line 3: an entry has no \"clause\""
      ),
      (
        entry(#""fingerprint":"12","reason":"""#),
        "line 2: \"fingerprint\" is not sixteen hexadecimal digits"
      ),
      (entry(#""fingerprint":"0123456789abcdef""#), "line 2: an entry has no \"reason\""),
      (
        entry(#""fingerprint":"0123456789abcdef","reason":"","expirse":"2027-02-28""#),
        "line 2: an entry has \"expirse\", which is none of clause, subject, fingerprint, message, reason, "
          + "owner, expires, files"
      ),
      (
        entry(#""fingerprint":"0123456789abcdef","reason":"","expires":"2027-02-30""#),
        "line 2: \"expires\" is \"2027-02-30\", and no date such as 2027-01-31"
      ),
    ])
  func damage(_ text: String, _ message: String) throws {
    let error = #expect(throws: BaselineError.self) {
      try Baseline(reading: Array(text.utf8), file: "b.json")
    }
    #expect(
      error?.description
        == "b.json: \(message); name a file that --write-baseline made, or mend this one")
  }

  @Test("An entry of a clause that there is not is told with its line")
  func strangeClauses() throws {
    func check(_ clause: String) throws {
      let entry =
        "{\"clause\":\"\(clause)\",\"subject\":\"s\",\"fingerprint\":\"0123456789abcdef\",\"reason\":\"\"}"
      let text = "{\"reprise-baseline\":1,\"accepted\":[\n\n\(entry)]}"
      try Baseline(reading: Array(text.utf8), file: "b.json").check(against: .bundled())
    }
    for clause in ["mqtt-5.0/MQTT-3.3.2-3", "sdk/step", "sdk/SDK-channel-40"] { try check(clause) }
    let strange = [
      ("mqtt-5.0/MQTT-9.9.9-9", "clause mqtt-5.0/MQTT-9.9.9-9"),
      ("mqtt-3.1.1/U5-3.3.4-1", "clause mqtt-3.1.1/U5-3.3.4-1"),
      ("mqtt-4.0/MQTT-3.3.2-3", "standard mqtt-4.0"), ("sdks/step", "standard sdks"),
    ]
    for (clause, missing) in strange {
      let error = #expect(throws: BaselineError.self) { try check(clause) }
      #expect(
        error?.description
          == "b.json: line 3: there is no \(missing); remove the entry, or correct it by "
          + "reprise conform list")
    }
  }

  private static func entry(_ members: String) -> String {
    "{\"reprise-baseline\":1,\"accepted\":[\n{\"clause\":\"c\",\"subject\":\"s\",\(members)}]}"
  }

  @Test("Every format tells what is accepted and what is mended")
  func formats() throws {
    let known = try edited(
      baseline(report(["a#", "b#"])), #""reason":"""#, #""reason":"<known>","owner":"us""#)
    let report = accept(known, in: try report(["a#", "good"]))
    func text(_ format: ReportFormat) -> String {
      String(decoding: report.document(as: format, exitStatus: 1), as: UTF8.self)
    }
    let title = "line 3: mqtt-3.1.1/MQTT-4.7.1-2, client sensor"
    let mended = "mended: nothing matches it any more, so remove this line"
    #expect(text(.text).contains("      accepted: <known> (owner us)\n"))
    #expect(text(.text).contains("\nBaseline b.json\n  \(title)\n    \(mended)\n"))
    let junit = try #require(XMLTree.parse(report.document(as: .junit, exitStatus: 1)))
    #expect(
      junit.all("skipped").map { $0.attributes["message"] } == ["accepted: <known> (owner us)"])
    #expect(junit.all("failure").map { $0.attributes["message"] } == [mended])
    #expect(junit.all("testsuite").map { $0.attributes["name"] } == ["mqtt-3.1.1", "baseline"])
    #expect(text(.tap).contains(" section 4.7.1.2 # TODO accepted: <known> (owner us)\n"))
    #expect(text(.tap).contains("not ok 2 - baseline \(title)\n  ---\n  message: \"\(mended)\"\n"))
    let lines = text(.github).split(separator: "\n")
    #expect(lines.count == 3 && lines[0].hasPrefix("::notice title=MQTT-4.7.1-2 "))
    #expect(lines[1] == "::error title=baseline,file=b.json,line=3::\(title): \(mended)")
    #expect(text(.markdown).contains("\nb.json\n\(title): \(mended)\n</pre>"))
    #expect(text(.markdown).contains("accepted: &lt;known&gt; (owner us)"))
    let html = try #require(XMLTree.parse(report.document(as: .html, exitStatus: 1)))
    #expect(html.all("tr").compactMap { $0.attributes["class"] } == ["accepted"])
    #expect(html.all("li").contains { $0.allText == "\(title): \(mended)" })
    let run = try JSONValue.read(report.document(as: .sarif, exitStatus: 1))["runs"]?[0]
    let results = try #require(run?["results"]?.elements)
    #expect(results.map { $0["suppressions"]?.elements?.count } == [1, 0])
    #expect(
      results.first?["suppressions"]?[0]
        == ["kind": "external", "justification": "<known> (owner us)"])
    let place = results.last?["locations"]?[0]?["physicalLocation"]
    #expect(place?["region"]?["startLine"] == 3 && place?["artifactLocation"]?["uri"] == "b.json")
    let json = try JSONValue.read(report.json())
    #expect(json["totals"]?["accepted"] == 1)
    #expect(
      json["clauses"]?[0]?["findings"]?[0]?["accepted"] == ["reason": "<known>", "owner": "us"])
    #expect(json["baseline"]?["remarks"]?[0]?["kind"] == "mended")
    #expect(json["baseline"]?["remarks"]?[0]?["line"] == 3)
  }
}

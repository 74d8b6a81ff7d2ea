import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Reports that are joined")
struct MergingTests {
  /// Judges files, each with its sessions.
  private func report(
    _ files: [(String, [Event])], options: ConformanceOptions = ConformanceOptions()
  ) throws -> ConformanceReport {
    var judge = try ConformanceJudge(catalogue: Catalogue.bundled(), options: options)
    for (name, events) in files {
      judge.begin(file: name)
      for event in events { event.withView { judge.consume($0) } }
    }
    return judge.report(toolVersion: "1")
  }

  /// Files of all kinds: with findings of one cause, more than are listed, of other protocols, and undecided.
  private var files: [(String, [Event])] {
    let many = script {
      $0.start()
      for _ in 0..<70 { $0.client(hex: "80 06 0001 0001 61 00") }
      $0.finish()
    }
    let undecided = script {
      $0.start()
      $0.gap(.client)
      $0.subscribe(1, "a#")
      $0.endCapture()
    }
    var old = Script(version: .v5_0)
    old.start()
    old.publish(.client, "a+")
    old.finish()
    var socket = Script()
    socket.upgrade()
    socket.close(.client)
    return [
      ("a", many), ("b", undecided), ("c", socket.events), ("d", many), ("e", old.events),
      (
        "f",
        script {
          $0.start(); $0.publish(.server, "#"); $0.endCapture()
        }
      ),
    ]
  }

  private func script(_ write: (inout Script) -> Void) -> [Event] {
    var script = Script()
    write(&script)
    return script.events
  }

  @Test("A report that is read again is the same", arguments: [false, true])
  func reading(_ isStrict: Bool) throws {
    let whole = try report(files, options: ConformanceOptions(isStrict: isStrict))
    #expect(whole.results.contains { $0.violated > $0.findings.count })
    #expect(whole.results.flatMap(\.findings).contains { $0.sameCauseAs != nil })
    #expect(whole.count(.inconclusive) > 0 && whole.count(isStrict ? .failed : .notFollowed) > 0)
    #expect(try ConformanceReport.reread(whole, "r").json() == whole.json())
    #expect(try ConformanceReport.reread(whole, "r").text(color: false) == whole.text(color: false))
  }

  @Test(
    "What could not be read stays in a report that is read again, and in what parts are joined to")
  func unread() throws {
    let missing = UnreadInput(file: "b", reason: "no such file")
    let first = try report([files[0], ("b", [])]).lacking([missing])
    #expect(try ConformanceReport.reread(first, "r").json() == first.json())
    let last = try report([files[2], ("x", [])]).lacking([UnreadInput(file: "x", reason: "cut")])
    let merged = try ConformanceReport.merged([
      ("2", try ConformanceReport.reread(last, "2")),
      ("1", try ConformanceReport.reread(first, "1")),
    ])
    #expect(merged.inputs == ["a", "b", "c", "x"])
    #expect(merged.unread.map(\.file) == ["b", "x"])
    #expect(merged.problems == ["b: no such file", "x: cut"])
    let whole = try report([files[0], ("b", []), files[2], ("x", [])])
    #expect(merged.json() != whole.json())
    #expect(merged.json() == whole.lacking(merged.unread).json())
  }

  @Test("What was found in a file that could not be read this time is not gone")
  func unreadIsNotGone() throws {
    let before = try ReportDocument(reading: report([files[0], files[3]]).json(), file: "before")
    let after = try report([("a", []), ("d", [])])
    let gone = ReportComparison(before, try ReportDocument(reading: after.json(), file: "after"))
    #expect(Set(gone.gone.map(\.finding.file)) == ["a"] && gone.untried.isEmpty)
    let blind = after.lacking([UnreadInput(file: "a", reason: "cut")])
    let untried = ReportComparison(before, try ReportDocument(reading: blind.json(), file: "after"))
    #expect(Set(untried.untried.map(\.finding.file)) == ["a"] && untried.gone.isEmpty)
    #expect(untried.text.contains("Findings whose files have no verdict any more\n  mqtt-3.1.1/"))
  }

  @Test(
    "Parts give byte by byte what one run over all files gives",
    arguments: [
      [[0, 1], [2, 3], [4, 5]], [[0, 3], [1, 2, 4, 5]], [[5], [1, 3], [0, 2, 4]],
      [[0, 1, 2, 3, 4, 5]],
    ])
  func parts(_ parts: [[Int]]) throws {
    let all = files
    let whole = try report(all)
    let reports = try parts.enumerated().map { index, places in
      (
        name: "\(index)",
        report: try ConformanceReport.reread(report(places.map { all[$0] }), "\(index)")
      )
    }
    let merged = try ConformanceReport.merged(reports)
    #expect(merged.json() == whole.json())
    #expect(merged.text(color: false) == whole.text(color: false))
  }

  /// Judged with findings of each kind, or only so many; with all clauses, or some.
  private static let ways: [ConformanceOptions] = {
    var each = ConformanceOptions(maximumFindings: 3)
    each.listsEachKind = true
    return [
      ConformanceOptions(), ConformanceOptions(maximumFindings: 3), each,
      ConformanceOptions(clauses: ["4.7"], isStrict: true),
    ]
  }()

  @Test("Pieces that are judged apart give what one judge of all files gives", arguments: ways)
  func pieces(_ options: ConformanceOptions) throws {
    let names = ["a", "b", "c"].map { "\($0)#" }
    let kinds = names.map { name in
      script {
        $0.start()
        for id: UInt16 in 1...5 { $0.subscribe(id, name, "\(name)\(id % 2)") }
        $0.finish()
      }
    }
    let all = files + kinds.enumerated().map { ("kind \($0)", $1) } + [files[0]]
    let whole = try report(all, options: options)
    for pieces in [[0..<1, 1..<3, 3..<10], [0..<7, 7..<8, 8..<9, 9..<10], [0..<10]] {
      var joiner = ReportJoiner(options, toolVersion: "1")
      for piece in pieces { joiner.add(try report(Array(all[piece]), options: options)) }
      let joined = joiner.report()
      #expect(joined.json() == whole.json())
      #expect(joined.results.map(\.unlisted) == whole.results.map(\.unlisted))
      #expect(joined.subjects == whole.subjects)
    }
    #expect(
      whole.results.contains { $0.findings.count > 3 }
        != (options.maximumFindings == 3 && !options.listsEachKind))
  }

  @Test("Files that are not in the order of their names stay in that of the parts")
  func order() throws {
    let all = files
    let one = try ConformanceReport.reread(report([all[3], all[0]]), "1")
    let two = try ConformanceReport.reread(report([all[1]]), "2")
    let merged = try ConformanceReport.merged([("1", one), ("2", two)])
    #expect(merged.inputs == ["d", "a", "b"])
    #expect(merged.json() == (try report([all[3], all[0], all[1]]).json()))
  }

  @Test("What does not belong together is refused")
  func refusals() throws {
    let all = files
    func refusal(_ one: ConformanceReport, _ two: ConformanceReport) -> String? {
      do throws(ReportError) {
        _ = try ConformanceReport.merged([("1", one), ("2", two)])
        return nil
      } catch { return error.description }
    }
    let first = try report([all[0]])
    #expect(refusal(first, try report([all[1]])) == nil)
    #expect(
      refusal(first, try report([all[0]]))
        == "2: a was judged in 1 as well; judge each file in one part only")
    let other = try report([all[1]], options: ConformanceOptions(specs: ["mqtt-5.0"]))
    #expect(
      refusal(first, other)
        == "2: it is on other clauses than 1; judge all parts with the same --spec and --clause")
    let lax = try report([all[2]])
    let strict = try report([("x", all[2].1)], options: ConformanceOptions(isStrict: true))
    #expect(
      refusal(strict, lax)
        == "2: it was judged without --strict, and 1 with it; judge all parts alike")
    var alone = ConformanceOptions()
    alone.hasOwnMessages = true
    let complete = try report([all[1]], options: alone)
    #expect(
      refusal(first, try ConformanceReport.reread(complete, "2"))
        == "2: it is on captures and recordings, by --assume complete, and 1 on captures and recordings; "
        + "join reports of one sort")
    let rest = try report([all[3]], options: alone)
    let both = try ConformanceReport.merged([
      ("1", try ConformanceReport.reread(complete, "1")),
      ("2", try ConformanceReport.reread(rest, "2")),
    ])
    #expect(both.json() == (try report([all[1], all[3]], options: alone).json()))
    let headings = both.text(color: false).split(separator: "\n").filter {
      $0.contains("had anything")
    }
    // A frame of WebSocket is nobody's message.
    #expect(
      headings.map { $0.hasSuffix("to judge, and nobody else publishes") }
        == headings.map { $0.hasPrefix("mqtt") })
    #expect(headings.count == 3)
    for (text, message) in [
      (
        "{",
        "r: a key in quotes should stand here, at byte 1; write it by reprise conform trace --format json"
      ),
      ("{}", "r: this is no report of reprise; write it by reprise conform trace --format json"),
    ] {
      let error = #expect(throws: ReportError.self) {
        try ReportDocument(reading: Array(text.utf8), file: "r")
      }
      #expect(error?.description == message)
    }
    let accepted = first.accepting(Baseline(of: first, file: "b", keeping: nil), on: "")
    let error = #expect(throws: ReportError.self) { try ConformanceReport.reread(accepted, "r") }
    #expect(error?.description == "r: it was judged with a baseline; write it without --baseline")
  }

  @Test("All reasons have texts of their own, by which they are read")
  func reasons() {
    #expect(Set(UndecidedReason.allCases.map(\.text)).count == UndecidedReason.allCases.count)
  }

  @Test("A comparison tells what is worse, better, new and gone")
  func comparison() throws {
    func document(_ filters: [String]) throws -> ReportDocument {
      let options = ConformanceOptions(clauses: ["mqtt-3.1.1/4.7.1", "mqtt-3.1.1/MQTT-3.9.3-1"])
      let events = script {
        $0.start()
        for (index, filter) in filters.enumerated() { $0.subscribe(UInt16(index + 1), filter) }
        $0.finish()
      }
      return try ReportDocument(
        reading: report([("f", events)], options: options).json(), file: "f")
    }
    let good = try document(["a/#", "b"])
    let bad = try document(["b", "a#", "a#"])
    let same = ReportComparison(bad, try document(["a#", "b", "b"]))
    #expect(same.text == "no difference\n" && !same.isWorse)
    let worse = ReportComparison(good, bad)
    #expect(worse.isWorse)
    #expect(
      worse.text == """
        Worse
          mqtt-3.1.1/MQTT-4.7.1-2: passed → failed
        New findings
          mqtt-3.1.1/MQTT-4.7.1-2: the client sent a bad SUBSCRIBE: # does not stand alone in the last level
            f frame 5

        """)
    let better = ReportComparison(bad, good)
    #expect(!better.isWorse)
    #expect(
      better.text.hasPrefix(
        "Better\n  mqtt-3.1.1/MQTT-4.7.1-2: failed → passed\nFindings that are gone\n"))
    let json = try JSONValue.read(worse.json)
    #expect(json["worse"] == true && json["new"]?.elements?.count == 1 && json["gone"] == [])
    #expect(json["changes"]?[0]?["change"] == "worse")
    let other = ReportComparison(bad, try document(["a#", "c#"]))
    #expect(other.isWorse && other.changes == [] && other.new.count == 1 && other.gone.isEmpty)
  }

  @Test(
    "A comparison of reports on other files stays short: clauses together, and the first findings")
  func comparisonOfOthers() throws {
    func document(_ clauses: [(id: String, verdict: String, findings: Int)]) throws
      -> ReportDocument
    {
      let rows = clauses.map { clause in
        let findings = (0..<clause.findings).map {
          #"{"file":"f","frame":\#($0),"message":"m","fingerprint":"\#(clause.id)\#($0)"}"#
        }
        return #"{"id":"\#(clause.id)","spec":"rfc6455","verdict":"\#(clause.verdict)","#
          + #""violated":\#(clause.findings),"findings":[\#(findings.joined(separator: ","))]}"#
      }
      let text =
        #"{"tool":{"name":"reprise"},"clauses":[\#(rows.joined(separator: ","))]}"#
      return try ReportDocument(reading: Array(text.utf8), file: "r")
    }
    let ids = (10..<50).map { "RFC6455-5.\($0)-1" }
    let before = try document([("x", "failed", 1)] + ids.map { ($0, "not-exercised", 0) })
    let after = try document([("x", "failed", 22)] + ids.map { ($0, "passed", 0) })
    let lines = ReportComparison(before, after).text.split(separator: "\n")
    #expect(lines.first == "New findings" && lines[1] == "  rfc6455/x: m")
    #expect(lines.count { $0 == "  rfc6455/x: m" } == 20)
    #expect(lines[41] == "  and 1 more, which --format json lists" && lines[42] == "Otherwise")
    let first = "  rfc6455, not-exercised → passed: RFC6455-5.10-1, RFC6455-5.11-1, "
    #expect(lines[43].hasPrefix(first), "\(lines[43])")
    #expect(lines.dropFirst(43).allSatisfy { $0.count <= 100 && $0.hasPrefix("  ") })
    let named = lines.dropFirst(43).joined(separator: " ").matches(of: /RFC6455-5\.\d+-1/)
    #expect(named.map { String($0.output) } == ids)
    let back = ReportComparison(after, before)
    #expect(
      !back.isWorse && back.gone.count == 21 && back.text.contains("passed → not-exercised: "))
  }

  @Test("A badge calls nothing passed that is not")
  func badge() throws {
    func badge(_ totals: [(String, String)], _ more: String = "") throws -> String {
      let clauses = totals.map {
        #"{"id":"\#($0.0)","spec":"rfc6455","verdict":"\#($0.1)","findings":[]}"#
      }
      let text =
        #"{"tool":{"name":"reprise"},"clauses":[\#(clauses.joined(separator: ","))]\#(more)}"#
      let picture = try ReportDocument(reading: Array(text.utf8), file: "r").badge
      let root = try #require(XMLTree.parse(Array(picture.utf8)))
      return (root.all("text").last?.text ?? "") + " "
        + (root.all("rect").last?.attributes["fill"] ?? "")
    }
    #expect(try badge([("a", "passed"), ("b", "inconclusive")]) == "1 passed #116329")
    #expect(try badge([("a", "passed"), ("b", "failed")]) == "1 failed, 1 passed #b3261e")
    #expect(try badge([("a", "inconclusive")]) == "nothing judged #57606a")
    #expect(try badge([("a", "inconclusive"), ("b", "accepted")]) == "1 accepted #57606a")
    #expect(try badge([("a", "passed"), ("b", "accepted")]) == "1 passed, 1 accepted #116329")
    #expect(
      try badge([("a", "passed")], #","baseline":{"remarks":[{"kind":"mended"}]}"#)
        == "failed, 1 passed #b3261e")
  }
}

import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// Reports on the parts of a run of cases, joined.
@Suite("Reports on cases that are joined")
struct CaseMergingTests {
  /// What is said in a case; nil where the subject can't do what it takes.
  private struct Said: Sendable {
    let name: String
    let clauses: [String]
    let script: (@Sendable (inout Script) -> Void)?
  }

  /// Cases with a finding of two clauses, more findings than are listed, something undecided, nothing to judge, and two
  /// that can't be done, of which one is the only one for its clause.
  private static let cases: [Said] = [
    Said(name: "many", clauses: ["MQTT-3.8.4-4"]) {
      $0.start()
      for id: UInt16 in 1...120 {
        $0.subscribe(id, "a")
        $0.server(.suback(packetID: id, codes: [0, 0], []))
      }
      $0.finish()
    },
    Said(name: "kept", clauses: ["MQTT-3.12.4-1"]) {
      $0.start()
      $0.client(.pingreq)
      $0.server(.pingresp)
      $0.finish()
    },
    Said(name: "no-wildcards", clauses: ["MQTT-4.7.1-2"], script: nil),
    Said(name: "cut-short", clauses: ["MQTT-3.8.4-1"]) {
      $0.start()
      $0.subscribe(1, "a")
      $0.endCapture()
    },
    Said(name: "alias", clauses: ["MQTT-3.12.4-1"], script: nil),
    Said(name: "silent", clauses: ["MQTT-3.12.4-1"]) {
      $0.start()
      $0.finish()
    },
    Said(name: "wrong", clauses: ["MQTT-3.3.2-2"]) {
      $0.start()
      $0.publish(.server, "#")
      $0.endCapture()
    },
  ]

  /// Judges cases, each by its place in a run of all.
  private func report(
    _ numbers: [Int], of subject: Peer = .server, shard: ReportShard? = nil
  ) throws -> ConformanceReport {
    var options = ConformanceOptions(specs: ["mqtt-3.1.1"])
    options.subject = subject
    var joiner = ReportJoiner(options, toolVersion: "1")
    joiner.add(
      try ConformanceJudge(catalogue: .bundled(), options: options).report(toolVersion: "1"))
    var records: [CaseRecord] = []
    for number in numbers {
      let said = Self.cases[number - 1]
      var record = CaseRecord(
        number, name: said.name, run: "\(said.name).v311", values: "qos \(number)",
        spec: "mqtt-3.1.1", file: "\(said.name).v311.pcapng", clauses: said.clauses)
      if let write = said.script {
        var script = Script()
        write(&script)
        var judge = try ConformanceJudge(catalogue: .bundled(), options: options)
        judge.begin(file: record.file)
        for event in script.events { event.withView { judge.consume($0) } }
        let report = judge.report(toolVersion: "1")
        record.take(report, spec: record.spec)
        joiner.add(report.naming(record))
      } else {
        record.outcome = .notApplicable
        record.reason = "the broker has no \(said.name)"
      }
      records.append(record)
    }
    return joiner.report().adding(records).asPart(shard)
  }

  private func merged(_ parts: [ConformanceReport]) throws -> ConformanceReport {
    try ConformanceReport.merged(
      parts.enumerated().map {
        ("\($0 + 1).json", try ConformanceReport.reread($1, "\($0 + 1).json"))
      })
  }

  @Test("The run has all that can come of a case")
  func whole() throws {
    let whole = try report(Array(1...7))
    #expect(
      whole.cases?.map(\.outcome) == [
        .judged, .judged, .notApplicable, .inconclusive, .notApplicable, .inconclusive, .judged,
      ])
    #expect(
      whole.results.filter { $0.violated > 0 }.map {
        "\($0.clause.id) \($0.violated) \($0.findings.count)"
      }
        == ["MQTT-3.3.2-2 1 1", "MQTT-3.8.4-5 120 100", "MQTT-4.7.1-1 1 1"])
    func result(_ id: String) -> ClauseResult? { whole.results.first { $0.clause.id == id } }
    #expect(result("MQTT-4.7.1-2")?.verdict == nil, "a clause of clients is not in it")
    #expect(result("MQTT-3.12.4-1")?.verdict == .passed)
    #expect(result("MQTT-3.8.4-1")?.verdict == .passed && result("MQTT-3.8.4-1")?.undecided == 1)
    #expect(result("MQTT-3.3.2-2")?.findings.map(\.driven) == ["wrong.v311"])
    #expect(try ConformanceReport.reread(whole, "r").json() == whole.json())
  }

  @Test(
    "Parts give byte by byte what one run of all cases gives",
    arguments: [
      [[1, 2, 3, 4, 5, 6, 7]], [[1, 3, 5], [2, 4, 6, 7]],
      [[7], [], [6, 5, 4].sorted(), [1, 2, 3]],
    ])
  func parts(_ parts: [[Int]]) throws {
    let whole = try report(Array(1...7))
    let reports = try parts.enumerated().map { index, numbers in
      try report(numbers, shard: ReportShard(index + 1, of: parts.count, cases: 7))
    }
    for order in [reports, reports.reversed()] {
      let merged = try merged(order)
      #expect(merged.json() == whole.json())
      #expect(merged.text(color: false) == whole.text(color: false))
    }
  }

  @Test("A part of nothing has no clauses, and is joined all the same")
  func nothing() throws {
    let empty = try report([], shard: ReportShard(1, of: 2, cases: 7))
    let all = try report(Array(1...7), shard: ReportShard(2, of: 2, cases: 7))
    #expect(try merged([empty, all]).json() == report(Array(1...7)).json())
  }

  @Test("Parts that do not belong together are refused, with the reason")
  func refusals() throws {
    func message(_ parts: [ConformanceReport]) throws -> String? {
      #expect(throws: ReportError.self) { try self.merged(parts) }
      do { _ = try merged(parts) } catch let error as ReportError { return error.description }
      return nil
    }
    func part(_ number: Int, _ cases: [Int], of all: Int = 7) throws -> ConformanceReport {
      try report(cases, shard: ReportShard(number, of: 2, cases: all))
    }
    #expect(
      try message([part(1, [1, 2, 3]), part(2, [3, 4, 5, 6, 7])])
        == "2.json: case 3 of the run is no-wildcards.v311, and in 1.json it is no-wildcards.v311; "
        + "name the reports on the parts of one run, each once")
    #expect(
      try message([part(1, [1, 2, 3]), part(2, [4, 5, 6])])
        == "1.json: it is a part of 7 cases, and all parts have 6; run the parts to their end, with the "
        + "same cases, --profile, --spec and --clause")
    // Wherever the parts stand among the reports.
    #expect(
      try message([report([7]), part(1, [1, 2, 3]), part(2, [4, 5])])
        == "2.json: it is a part of 7 cases, and all parts have 6; run the parts to their end, with the "
        + "same cases, --profile, --spec and --clause")
    #expect(
      try message([part(1, [1, 2, 3]), part(2, [4, 5, 6, 7], of: 8)])
        == "2.json: it is part 2 of 2 with 8 cases in all, and 1.json is part 1 of 2 with 7 cases in all; "
        + "judge the parts of one run with the same N in --shard I/N, and all else alike")
    #expect(
      try message([report([1]), report([2], of: .client)])
        == "2.json: it is on a client that was driven by cases, and 1.json on a server that was driven by "
        + "cases; join reports of one sort")
    #expect(
      try message([part(1, [1, 2, 3])])
        == "1.json: it is part 1 of 2, of which 2 is missing; name its report as well")
  }

  @Test("A finding is gone only where its case was judged again")
  func comparison() throws {
    let before = try report([4, 7])
    func after(_ change: (inout CaseRecord) -> Void) throws -> ReportComparison {
      var report = try report([4])
      var record = try #require(before.cases?.last)
      change(&record)
      report = report.adding((report.cases ?? []) + [record])
      return ReportComparison(
        try ReportDocument(reading: before.json(), file: "before"),
        try ReportDocument(reading: report.json(), file: "after"))
    }
    let mended = try after { $0.failed = [] }
    #expect(mended.gone.map(\.key.id) == ["MQTT-3.3.2-2", "MQTT-4.7.1-1"])
    #expect(mended.untried.isEmpty)
    let untried = try after { record in
      record.outcome = .inconclusive
      record.failed = []
    }
    #expect(untried.gone.isEmpty)
    #expect(untried.untried.map(\.key.id) == ["MQTT-3.3.2-2", "MQTT-4.7.1-1"])
    #expect(untried.text.contains("Findings whose cases have no verdict any more"))
  }
}

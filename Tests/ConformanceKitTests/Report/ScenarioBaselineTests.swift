import RepriseCore
import Testing

@testable import ConformanceKit

@Suite("Baselines of scenarios")
struct ScenarioBaselineTests {
  private let made: MadeUpRuns

  init() throws { made = try MadeUpRuns() }

  private typealias Run = MadeUpRuns.Run

  private func baseline(
    _ report: ConformanceReport, keeping old: Baseline? = nil
  ) throws -> Baseline {
    let mended = old.map { report.unmatched(of: $0, on: "").filter(report.keeps) } ?? []
    let bytes = Baseline(of: report, file: "b.json", keeping: old, without: Set(mended)).json
    return try Baseline(reading: bytes, file: "b.json")
  }

  private func accept(_ baseline: Baseline, in report: ConformanceReport) -> ConformanceReport {
    let mended = report.unmatched(of: baseline, on: "").filter(report.keeps)
    return report.accepting(baseline, on: "", mended: Set(mended))
  }

  /// Whether the run fails, what is failed and what is accepted, and what is told of the baseline.
  private func told(_ report: ConformanceReport) -> String {
    let verdicts = report.results.filter { $0.verdict == .failed || $0.verdict == .accepted }
      .map { "\($0.clause.id) \($0.verdict.rawValue)" }
    let steps = report.unbound.map { "step \($0.acceptance == nil ? "failed" : "accepted")" }
    let remarks = report.baseline?.remarks.map { "\($0.kind.rawValue):\($0.entry.line)" } ?? []
    return ([report.hasFailed ? "fails" : "fine"] + verdicts + steps + remarks)
      .joined(separator: ", ")
  }

  /// What is known: of one scenario a clause, of another a step that shows none.
  private var known: [Run] {
    [
      Run(scenario: "publish", wrong: [MadeUpRuns.wrong(["SDK-channel-40"])]),
      Run(scenario: "start", wrong: [MadeUpRuns.wrong([], step: 1)]),
    ]
  }

  @Test("Known findings pass, whenever and wherever they are found; mended ones fail")
  func story() throws {
    let report = try made.report(known)
    #expect(told(report) == "fails, SDK-channel-40 failed, step failed")
    let known = try baseline(report)
    #expect(
      known.entries.map { [$0.clause, $0.subject, $0.message] } == [
        [
          "sdk/SDK-channel-40", "scenario publish in file",
          "step 4, call publish: something else came",
        ],
        ["sdk/step", "scenario start in file", "step 1, call publish: something else came"],
      ])
    #expect(told(accept(known, in: report)) == "fine, SDK-channel-40 accepted, step accepted")
    let elsewhere = try made.report([
      Run(scenario: "publish", wrong: [MadeUpRuns.wrong(["SDK-channel-40"], frame: 99)]),
      Run(scenario: "start", wrong: [MadeUpRuns.wrong([], step: 1, frame: 98)]),
    ])
    #expect(told(accept(known, in: elsewhere)) == "fine, SDK-channel-40 accepted, step accepted")
    let mended = try made.report([Run(scenario: "publish"), Run(scenario: "start")])
    #expect(told(accept(known, in: mended)) == "fails, mended:2, mended:3")
    #expect(try baseline(mended, keeping: known).entries == [])
  }

  @Test("What was not run, or not to a verdict, is told and fails nothing")
  func unexercised() throws {
    let known = try baseline(made.report(known))
    func told(_ runs: [Run], clauses: [String] = []) throws -> String {
      self.told(accept(known, in: try made.report(runs, clauses: clauses)))
    }
    let rest = "fine, not-exercised:2, not-exercised:3"
    #expect(try told([Run(scenario: "topics")]) == rest)
    // That others keep the clause says nothing, nor does the scenario in another world.
    #expect(
      try told([Run(scenario: "topics"), Run(scenario: "publish", world: "capture")]) == rest)
    let cut = MadeUpRuns.wrong([], step: 2, isOfWorld: true)
    #expect(
      try told([Run(scenario: "publish", wrong: [cut]), Run(scenario: "start", wrong: [cut])])
        == rest)
    #expect(
      try told([Run(scenario: "publish", wrong: [cut]), Run(scenario: "publish", world: "capture")])
        == rest)
    #expect(
      try told([
        Run(scenario: "publish", obstacle: "no"),
        Run(scenario: "start", wrong: [cut], isWhole: false),
      ]) == rest)
    #expect(
      try told([Run(scenario: "publish")], clauses: ["SDK-channel-22"]) == rest)
    #expect(try baseline(made.report([Run(scenario: "topics")]), keeping: known).entries.count == 2)
  }

  @Test(
    "A clause that was shown before another step went wrong is mended; one broken otherwise is not")
  func mendedBefore() throws {
    // Steps 4 and 5 of the scenario show clauses 22 and 40.
    let known = try baseline(
      made.report(
        [Run(scenario: "topics", wrong: [MadeUpRuns.wrong(["SDK-channel-22"])])],
        isStrict: true))
    func told(_ wrong: ScenarioFinding) throws -> String {
      let run = Run(scenario: "topics", wrong: [wrong])
      return self.told(accept(known, in: try made.report([run], isStrict: true)))
    }
    #expect(
      try told(MadeUpRuns.wrong(["SDK-channel-40"], step: 5))
        == "fails, SDK-channel-40 failed, mended:2")
    #expect(
      try told(MadeUpRuns.wrong(["SDK-channel-22"], step: 3))
        == "fails, SDK-channel-22 failed, not-exercised:2")
    #expect(try told(MadeUpRuns.wrong([], step: 2)) == "fails, step failed, not-exercised:2")
  }

  /// Findings near the accepted one, each of which is another.
  private static let others: [(String, [ScenarioFinding], String)] = {
    let id = ["SDK-channel-40"]
    var diverged = MadeUpRuns.wrong(id)
    diverged.identity = ["other-action", "topic level 7"]
    return [
      ("another step", [MadeUpRuns.wrong(id, step: 5)], "file"),
      ("another action", [MadeUpRuns.wrong(id, action: "call invoke")], "file"),
      ("another message", [MadeUpRuns.wrong(id, message: "nothing came")], "file"),
      ("another line", [MadeUpRuns.wrong(id, actual: "b")], "file"),
      ("another number", [MadeUpRuns.wrong(id, expected: "a | b 2")], "file"),
      ("a divergence", [diverged], "file"),
      ("another world", [MadeUpRuns.wrong(id)], "capture"),
      ("a step behind it", [MadeUpRuns.wrong(id), MadeUpRuns.wrong([], step: 6)], "file"),
      ("no clause", [MadeUpRuns.wrong([])], "file"),
    ]
  }()

  @Test("No entry hides another failure", arguments: others.indices)
  func precision(_ index: Int) throws {
    let (name, wrong, world) = Self.others[index]
    let known = try baseline(made.report([known[0]]))
    let report = try made.report([Run(scenario: "publish", world: world, wrong: wrong)])
    let result = accept(known, in: report)
    #expect(result.hasFailed, "\(name)")
    #expect(result.baseline?.unexercised.map(\.line) == [2], "\(name)")
    #expect(result.count(.accepted) == 0, "\(name)")
  }

  @Test("What follows a step is part of what is accepted")
  func laterSteps() throws {
    func report(_ steps: [(Int, String)]) throws -> ConformanceReport {
      let later = steps.map { MadeUpRuns.wrong([], step: $0.0, actual: $0.1) }
      return try made.report([
        Run(scenario: "publish", wrong: [MadeUpRuns.wrong(["SDK-channel-40"])] + later)
      ])
    }
    let known = try baseline(report([(5, "x"), (6, "y")]))
    #expect(!accept(known, in: try report([(5, "x"), (6, "y")])).hasFailed)
    for other in [[(5, "x")], [(5, "x"), (6, "z")], [(5, "x"), (7, "y")], []] {
      #expect(accept(known, in: try report(other)).hasFailed)
    }
    let text = try report([(5, "x"), (6, "y")]).text(color: false)
    #expect(text.contains("      actual:   a\n      then:     steps 5, 6 went otherwise, too\n"))
    #expect(try report([(5, "x")]).text(color: false).contains("  step 5 went otherwise, too\n"))
  }

  @Test("Every format tells which step is accepted")
  func formats() throws {
    let step = try made.report([known[1]])
    let written = String(
      decoding: Baseline(of: step, file: "b.json", keeping: nil).json, as: UTF8.self)
    let edited = written.replacing(#""reason":"""#, with: #""reason":"<old>""#)
    let report = step.accepting(try Baseline(reading: Array(edited.utf8), file: "b.json"), on: "")
    func text(_ format: ReportFormat) -> String {
      String(decoding: report.document(as: format, exitStatus: 0), as: UTF8.self)
    }
    #expect(text(.text).contains("      accepted: <old>\n"))
    let junit = try #require(XMLTree.parse(report.document(as: .junit, exitStatus: 0)))
    #expect(
      junit.all("testsuite").map { $0.attributes["failures"] } == ["0", "0"]
        && junit.all("skipped").contains { $0.attributes["message"] == "accepted: <old>" })
    #expect(
      text(.tap).contains(
        "not ok 283 - scenario start, step 1, call publish # TODO accepted: <old>\n"))
    #expect(text(.github).hasPrefix("::notice title=a step that shows no clause,"))
    #expect(text(.markdown).hasPrefix("### Reprise: nothing violated\n"))
    #expect(text(.html).contains("<dt>accepted</dt><dd>&lt;old&gt;</dd>"))
    let result = try JSONValue.read(report.document(as: .sarif, exitStatus: 0))["runs"]?[0]?[
      "results"]?[0]
    #expect(result?["ruleId"] == "sdk/step")
    #expect(result?["suppressions"] == [["kind": "external", "justification": "<old>"]])
    #expect(
      result?["partialFingerprints"]?["repriseFinding/v1"]
        == .string(step.unbound[0].fingerprint(of: .step).description))
    let json = try JSONValue.read(report.json())
    #expect(json["unbound"]?[0]?["accepted"] == ["reason": "<old>"])
  }
}

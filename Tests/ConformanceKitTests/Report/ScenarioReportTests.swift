import RepriseCore
import Testing

@testable import ConformanceKit

/// Runs of scenarios that are made up: what became of each is said, and not found out.
struct MadeUpRuns {
  let suite: ScenarioSuite

  init() throws { suite = try ScenarioSuite.bundled() }

  /// A run of a scenario in a world.
  struct Run {
    var scenario: String
    var world = "file"
    var wrong: [ScenarioFinding] = []
    var isWhole = true
    /// Why it could not be run, if it could not.
    var obstacle: String?
  }

  func report(
    _ runs: [Run], clauses: [String] = [], isStrict: Bool = false, shard: ReportShard? = nil
  ) throws -> ConformanceReport {
    var judge = try ScenarioJudge(suite, clauses: clauses, isStrict: isStrict)
    for run in runs {
      let scenario = try #require(suite.scenarios.first { $0.name == run.scenario })
      let file = "\(run.world)/\(run.scenario)"
      if let obstacle = run.obstacle {
        judge.add(unrun: scenario, in: run.world, from: file, reason: obstacle)
        continue
      }
      judge.add(
        ScenarioOutcome(scenario: run.scenario, transcript: [], findings: run.wrong),
        of: scenario, in: run.world, from: file, isWhole: run.isWhole)
    }
    return judge.report(toolVersion: "1").asPart(shard)
  }

  /// A step that goes otherwise than it should.
  static func wrong(
    _ clauses: [String], step: Int = 4, action: String = "call publish",
    message: String = "something else came", expected: String = "a | b 1", actual: String = "a",
    isOfWorld: Bool = false, frame: Int = 7
  ) -> ScenarioFinding {
    let time = Timestamp(nanoseconds: 1_800_000_000_000_000_000 + Int64(frame))
    return ScenarioFinding(
      step: step, action: action, clauses: clauses,
      place: ReplayPlace(frame: frame, connection: 2, time: time), isOfWorld: isOfWorld,
      message: message, expected: expected, actual: actual)
  }
}

extension ConformanceReport {
  /// A report as it is read from the file that it was written to.
  static func reread(_ report: ConformanceReport, _ name: String) throws -> ConformanceReport {
    try ConformanceReport(reading: ReportDocument(reading: report.json(), file: name))
  }
}

@Suite("Reports on scenarios")
struct ScenarioReportTests {
  private let made: MadeUpRuns

  init() throws { made = try MadeUpRuns() }

  private typealias Run = MadeUpRuns.Run

  /// A run with everything that a report can tell, in the suite's order.
  private var runs: [Run] {
    let publish = MadeUpRuns.wrong(["SDK-channel-40"])
    var told = MadeUpRuns.wrong(["SDK-channel-22"])
    told.remedies = ["reprise inspect a", "record the session anew"]
    let later = MadeUpRuns.wrong([], step: 6)
    return ["file", "capture"].flatMap { world in
      [
        Run(scenario: "publish", world: world, wrong: world == "file" ? [publish] : []),
        Run(
          scenario: "refused-3", world: world,
          wrong: [MadeUpRuns.wrong(["SDK-channel-16"], step: 2)]),
        Run(scenario: "request", world: world),
        Run(scenario: "start", world: world, wrong: [MadeUpRuns.wrong([], step: 1, frame: 3)]),
        Run(scenario: "topics", world: world, wrong: world == "file" ? [told, later] : []),
        Run(
          scenario: "ask", world: world, wrong: [MadeUpRuns.wrong([], isOfWorld: true)],
          isWhole: world == "file"),
        Run(scenario: "line", world: world, obstacle: "no such file; check the path"),
        Run(scenario: "link-login", world: world),
      ]
    }
  }

  private func documents(_ report: ConformanceReport) -> [String] {
    ReportFormat.allCases.map {
      String(decoding: report.document(as: $0, exitStatus: 1), as: UTF8.self)
    }
  }

  @Test("A report that is read again is the same in every format", arguments: [false, true])
  func reading(_ isStrict: Bool) throws {
    let shard = try #require(ReportShard(2, of: 3, cases: 40))
    let whole = try made.report(runs, isStrict: isStrict, shard: shard)
    #expect(whole.count(isStrict ? .failed : .notFollowed) >= 1 && whole.unbound.count == 2)
    #expect(whole.results.flatMap(\.findings).contains { $0.laterSteps == [6] })
    let again = try ConformanceReport.reread(whole, "r")
    #expect(documents(again) == documents(whole))
    #expect(again.shard == shard && again.problems == whole.problems)
    #expect(
      whole.problems == [
        "file/ask: something else came", "file/line: no such file; check the path",
        "capture/ask: something else came", "capture/line: no such file; check the path",
      ])
  }

  @Test(
    "Parts give byte by byte what one run gives, in whatever order they come",
    arguments: [
      [["publish", "start", "link-login"], ["request", "refused-3", "line"], ["topics", "ask"]],
      [
        [], ["ask", "topics", "start", "line"], ["link-login", "refused-3", "request", "publish"],
      ],
    ])
  func parts(_ parts: [[String]]) throws {
    let whole = try made.report(runs)
    let reports = try parts.enumerated().map { index, names in
      let shard = try #require(ReportShard(index + 1, of: 3, cases: runs.count))
      let part = try made.report(runs.filter { names.contains($0.scenario) }, shard: shard)
      return (name: "\(index)", report: try ConformanceReport.reread(part, "\(index)"))
    }
    for order in [[0, 1, 2], [2, 0, 1], [2, 1, 0]] {
      let merged = try ConformanceReport.merged(order.map { reports[$0] })
      #expect(documents(merged) == documents(whole))
      #expect(merged.shard == nil && merged.problems == whole.problems)
    }
    // Worlds stand as they come.
    let worlds = try ["file", "capture"].map { world in
      let part = try made.report(runs.filter { $0.world == world })
      return (name: world, report: try ConformanceReport.reread(part, world))
    }
    #expect(try ConformanceReport.merged(worlds).json() == whole.json())
    #expect(try ConformanceReport.merged(worlds.reversed()).json() != whole.json())
  }

  @Test("What does not belong together is refused")
  func refusals() throws {
    func refusal(_ parts: [ConformanceReport]) -> String? {
      let named = parts.enumerated().map { (name: "\($0 + 1)", report: $1) }
      do throws(ReportError) {
        _ = try ConformanceReport.merged(named)
        return nil
      } catch { return error.description }
    }
    func part(
      _ names: [String], _ number: Int, of count: Int, cases: Int = 4
    ) throws -> ConformanceReport {
      try made.report(
        names.map { Run(scenario: $0) }, shard: ReportShard(number, of: count, cases: cases))
    }
    let one = try part(["publish", "topics"], 1, of: 3)
    let (two, three) = (try part(["start"], 2, of: 3), try part(["ask"], 3, of: 3))
    #expect(refusal([one, two, three]) == nil)
    #expect(
      refusal([one, three])
        == "1: it is part 1 of 3, of which 2 is missing; name its report as well")
    #expect(
      refusal([two])
        == "1: it is part 2 of 3, of which 1, 3 are missing; name their reports as well"
    )
    #expect(
      refusal([one, two, two])
        == "3: it is part 2 of 3, and so is 2; name the report on each part once")
    let alike = "judge the parts of one run with the same N in --shard I/N, and all else alike"
    #expect(
      refusal([one, try part(["start"], 2, of: 2)])
        == "2: it is part 2 of 2 with 4 scenarios in all, and 1 is part 1 of 3 with 4 scenarios in all; \(alike)"
    )
    #expect(
      refusal([one, try part(["start"], 2, of: 3, cases: 5), three])
        == "2: it is part 2 of 3 with 5 scenarios in all, and 1 is part 1 of 3 with 4 scenarios in all; \(alike)"
    )
    #expect(
      refusal([one, try part([], 2, of: 3), three])
        == "1: it is a part of 4 scenarios, and all parts have 3; judge the parts of one run, "
        + "with the same scenarios, --client and --clause")
    #expect(
      refusal([one, try part(["publish"], 2, of: 3), three])
        == "2: the scenario publish in file was run in 1 as well; run each scenario in one part only"
    )
    let other = try made.report([Run(scenario: "start")], clauses: ["SDK-channel-40"])
    #expect(
      refusal([try made.report([Run(scenario: "publish")]), other])
        == "2: it is on other clauses than 1; judge all parts with the same --spec and --clause")
    let files = try judge {
      $0.start()
      $0.finish()
    }
    #expect(
      refusal([files, one])
        == "2: it is on scenarios, and 1 on captures and recordings; join reports of one sort")
    // Parts of captures are known to be parts as well, and whole reports may stand beside them.
    let half = files.asPart(ReportShard(1, of: 2))
    #expect(
      refusal([half]) == "1: it is part 1 of 2, of which 2 is missing; name its report as well")
  }

  @Test(
    "What is no report on scenarios of this version is told",
    arguments: [
      (
        #""scenarios":["#, #""scenery":["#,
        "it does not say which scenarios were run, as this version does"
      ),
      (
        #"{"scenario":"publish","system""#, #"{"scenario":"pubish","system""#,
        "there is no scenario pubish in this version"
      ),
      (#""outcome":"failed""#, #""outcome":"odd""#, "a scenario in it lacks something"),
      (
        #""id":"SDK-channel-40""#, #""id":"SDK-channel-4000""#,
        "there is no clause sdk/SDK-channel-4000 in this version"
      ),
      (
        #""violated":1,"#, #""violated":2,"#,
        "the tally of SDK-channel-40 is not that of what it lists"
      ),
      (#","step":4,"#, #","stop":4,"#, "a step of a scenario in it lacks something"),
      (#""fingerprint":""#, #""fingerprint":"x"#, "a finding has no fingerprint"),
      (#""part":1,"#, #""part":4,"#, #"its "shard" names no part of how many"#),
      (#""cases":1"#, #""cases":"1""#, #"its "shard" names no part of how many"#),
    ])
  func damage(_ old: String, _ new: String, _ message: String) throws {
    let report = try made.report(
      [Run(scenario: "publish", wrong: [MadeUpRuns.wrong(["SDK-channel-40"])])],
      shard: ReportShard(1, of: 3, cases: 1))
    let text = String(decoding: report.json(), as: UTF8.self)
    let changed = text.replacing(old, with: new, maxReplacements: 1)
    try #require(changed != text)
    let error = #expect(throws: ReportError.self) {
      try ConformanceReport(reading: ReportDocument(reading: Array(changed.utf8), file: "r"))
    }
    #expect(
      error?.description == "r: \(message); write it by reprise conform sdk --format json")
  }

  @Test("A comparison knows steps that show no clause, and what was not run")
  func comparison() throws {
    func document(_ runs: [Run]) throws -> ReportDocument {
      try ReportDocument(reading: made.report(runs).json(), file: "f")
    }
    let good = try document([Run(scenario: "publish"), Run(scenario: "start")])
    let bad = try document([
      Run(scenario: "publish", wrong: [MadeUpRuns.wrong(["SDK-channel-40"])]),
      Run(scenario: "start", wrong: [MadeUpRuns.wrong([], step: 1)]),
    ])
    let worse = ReportComparison(good, bad)
    #expect(worse.isWorse)
    #expect(
      worse.text.contains(
        """
        New findings
          sdk/SDK-channel-40: something else came
            file/publish scenario publish, step 4, call publish, frame 7
          sdk/step: something else came
            file/start scenario start, step 1, call publish, frame 7

        """))
    let better = ReportComparison(bad, good)
    #expect(!better.isWorse && better.gone.count == 2 && better.untried == [])
    let partly = ReportComparison(bad, try document([Run(scenario: "publish")]))
    #expect(!partly.isWorse)
    #expect(partly.gone.map(\.key.id) == ["SDK-channel-40"])
    #expect(partly.untried.map(\.key) == [.step])
    #expect(partly.text.contains("Findings whose scenarios have no verdict any more\n  sdk/step: "))
    let cut = Run(scenario: "publish", wrong: [MadeUpRuns.wrong([], isOfWorld: true)])
    #expect(ReportComparison(bad, try document([cut])).gone == [])
    // The same step in another world is news.
    let elsewhere = try document([
      Run(scenario: "publish", world: "capture", wrong: [MadeUpRuns.wrong(["SDK-channel-40"])])
    ])
    #expect(ReportComparison(bad, elsewhere).new.map(\.key.id) == ["SDK-channel-40"])
    let files = try ReportDocument(
      reading: judge {
        $0.start()
        $0.finish()
      }.json(), file: "g")
    let error = #expect(throws: ReportError.self) { try files.check(isLike: good) }
    #expect(
      error?.description
        == "g: it is on captures and recordings, and f on scenarios; compare reports of one sort")
    #expect(throws: Never.self) { try bad.check(isLike: good) }
  }

  @Test("They fit the schema, and a badge is red for a step that shows no clause")
  func schemaAndBadge() throws {
    let report = try made.report(runs, shard: ReportShard(1, of: 2, cases: 32))
    let validator = try ReportSchemaTests().validator
    #expect(validator.complaints(about: try JSONValue.read(report.json())) == [])
    for (old, new) in [
      (#""outcome":"passed""#, #""outcome":"odd""#),
      (#""world":"file","file""#, #""world":"x","file""#),
      (#""part":1"#, #""part":0"#), (#""laterSteps":[6]"#, #""laterSteps":["6"]"#),
      (#""next":["reprise inspect a""#, #""next":[1"#),
    ] {
      let text = String(decoding: report.json(), as: UTF8.self)
      let changed = text.replacing(old, with: new, maxReplacements: 1)
      try #require(changed != text, "\(old)")
      #expect(validator.complaints(about: try JSONValue.read(Array(changed.utf8))).count == 1)
    }
    let wrong = Run(scenario: "start", wrong: [MadeUpRuns.wrong([], step: 1)])
    let step = try made.report([wrong, Run(scenario: "publish")])
    #expect(
      step.sums.hasPrefix("1 passed, ")
        && step.sums.hasSuffix(", 1 wrong where a scenario shows no clause"))
    let badge = try ReportDocument(reading: step.json(), file: "r").badge
    #expect(badge.contains(">failed, 1 passed<"))
    let known = step.accepting(Baseline(of: step, file: "b", keeping: nil), on: "")
    #expect(try ReportDocument(reading: known.json(), file: "r").badge.contains(">1 passed<"))
  }
}

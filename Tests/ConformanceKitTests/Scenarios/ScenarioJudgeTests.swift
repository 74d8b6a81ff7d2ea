import RepriseCore
import Testing

@testable import ConformanceKit

@Suite struct ScenarioJudgeTests {
  private let suite: ScenarioSuite

  init() throws { suite = try ScenarioSuite.bundled() }

  /// A finding at a step of a scenario, held against these clauses.
  private func finding(
    _ clauses: [String], step: Int = 4, isOfWorld: Bool = false
  ) -> ScenarioFinding {
    ScenarioFinding(
      step: step, action: "call publish", clauses: clauses,
      place: ReplayPlace(
        frame: 7, connection: 2, time: Timestamp(nanoseconds: 1_800_000_000_000_000_000)),
      isOfWorld: isOfWorld, message: "something else came", expected: "a | b", actual: "a")
  }

  /// Judges one scenario, in which this was wrong, or nothing.
  private func report(
    _ name: String, _ wrong: ScenarioFinding?, isStrict: Bool = false
  ) throws -> ConformanceReport {
    let scenario = try #require(suite.scenarios.first { $0.name == name })
    var judge = try ScenarioJudge(suite, isStrict: isStrict)
    judge.add(
      ScenarioOutcome(scenario: name, transcript: [], findings: [wrong].compactMap(\.self)),
      of: scenario, in: "file", from: "file.jsonl")
    return judge.report(toolVersion: "1")
  }

  /// The verdicts on the clauses that a report has anything to say of.
  private func verdicts(_ report: ConformanceReport) -> [String: Verdict] {
    let rows = report.results.filter(\.isExercised).map { ($0.clause.id, $0.verdict) }
    return Dictionary(uniqueKeysWithValues: rows)
  }

  @Test func whatIsKeptHasPassed() throws {
    let report = try report("topics", nil)
    #expect(
      verdicts(report)
        == ["SDK-channel-21": .passed, "SDK-channel-22": .passed, "SDK-channel-40": .passed])
    let others = report.results.filter { !$0.isExercised }
    #expect(others.first { $0.clause.id == "SDK-channel-9" }?.verdict == .notExercised)
    #expect(others.first { $0.clause.id == "SDK-channel-1" }?.verdict == .notApplicable)
    #expect(!report.hasFailed && report.unbound == [] && report.inputs == ["file.jsonl"])
  }

  /// The steps of the scenario: 4 shows clause 22, 5, 7 and 8 clause 40, 6 and 9 clause 21.
  @Test(
    "A wrong step is held against its clause; the others are kept if they were shown before it",
    arguments: [
      (4, [22], [:], [21, 40]), (5, [40], [22: .passed], [21]), (6, [21], [22: .passed], [40]),
      (9, [21], [22: .passed, 40: .passed], []), (2, [], [:], [21, 22, 40]),
      (10, [], [21: .passed, 22: .passed, 40: .passed], []),
    ] as [(Int, [Int], [Int: Verdict], [Int])])
  func blame(step: Int, blamed: [Int], kept: [Int: Verdict], undecided: [Int]) throws {
    let wrong = finding(blamed.map { "SDK-channel-\($0)" }, step: step)
    let report = try report("topics", wrong, isStrict: true)
    var expected: [String: Verdict] = [:]
    for number in blamed { expected["SDK-channel-\(number)"] = .failed }
    for (number, verdict) in kept { expected["SDK-channel-\(number)"] = verdict }
    for number in undecided { expected["SDK-channel-\(number)"] = .inconclusive }
    #expect(verdicts(report) == expected)
    #expect(report.unbound.count == (blamed.isEmpty ? 1 : 0) && report.hasFailed)
    let places = report.results.flatMap(\.places)
    #expect(places.count == undecided.count)
    #expect(places.allSatisfy { $0.frame == 7 && $0.connection == 2 && $0.scenario?.step == step })
    #expect(
      Set(places.map(\.reason)).isSubset(
        of: ["not reached: the scenario went otherwise before"]))
  }

  @Test("A world that has no more to tell accuses nobody")
  func worldAtFault() throws {
    let report = try report("topics", finding([], step: 6, isOfWorld: true))
    #expect(
      verdicts(report)
        == [
          "SDK-channel-21": .inconclusive, "SDK-channel-22": .passed,
          "SDK-channel-40": .inconclusive,
        ])
    #expect(!report.hasFailed && report.unbound == [])
    let reasons = Set(report.results.flatMap(\.places).map(\.reason))
    #expect(reasons == ["not reached: the scenario could not be run to its end"])
  }

  @Test func textAndJSONSayWhere() throws {
    let report = try report("publish", finding(["SDK-channel-40"]))
    #expect(verdicts(report) == ["SDK-channel-40": .failed] && report.hasFailed)
    #expect(
      report.text(color: false).contains(
        """
          SDK-channel-40  section 1.5, MUST, 1× violated, 0× kept
            Publishing at QoS 1 completes with the PUBACK.
            file.jsonl scenario publish, step 4, call publish, frame 7, connection 2, 2027-01-15T08:00:00.000000Z
              something else came
              expected: a | b
              actual:   a
              next:     reprise view file.jsonl --at 7
              or:       reprise view file.jsonl --sdk channel

        """))
    let json = String(decoding: report.json(), as: UTF8.self)
    let place =
      #""scenario":"publish","step":4,"action":"call publish","world":"file","frame":7,"#
      + #""connection":2,"time":"2027-01-15T08:00:00.000000Z","#
    #expect(
      json.contains(
        #""findings":[{"file":"file.jsonl",\#(place)"message":"something else came","packet":null,"#
          + #""expected":"a | b","actual":"a","next":["reprise view file.jsonl --at 7","#
          + #""reprise view file.jsonl --sdk channel"],"fingerprint":"cf153c42d417e5f8"}]"#))
    let unbound = try self.report("topics", finding([], step: 2))
    #expect(
      unbound.text(color: false).contains(
        """
        Wrong where a scenario shows no clause
            file.jsonl scenario topics, step 2, call publish, frame 7, connection 2, 2027-01-15T08:00:00.000000Z
              something else came
              expected: a | b
              actual:   a
              next:     reprise view file.jsonl --at 7
              or:       reprise view file.jsonl --sdk channel

        Inconclusive
          SDK-channel-21  not reached: the scenario went otherwise before
                          file.jsonl scenario topics, step 2, call publish, frame 7, connection 2, 2027-01-15T08:00:00.000000Z

        """))
    let undecided = String(decoding: unbound.json(), as: UTF8.self)
    #expect(undecided.contains(#""unbound":[{"file":"file.jsonl","scenario":"topics","step":2,"#))
    #expect(
      undecided.contains(
        #""undecided":[{"file":"file.jsonl","scenario":"topics","step":2,"action":"call publish","#
          + #""world":"file","frame":7,"connection":2,"time":"2027-01-15T08:00:00.000000Z","#
          + #""reason":"not reached: the scenario went otherwise before"}]"#))
  }

  @Test(
    "What to do next is what the world knows, or a look at its file, and nothing where there is none"
  )
  func next() throws {
    let scenario = try #require(suite.scenarios.first { $0.name == "publish" })
    func next(_ world: String, _ input: String?, _ remedies: [String] = []) throws -> [String] {
      var judge = try ScenarioJudge(suite)
      var wrong = finding(["SDK-channel-40"])
      wrong.remedies = remedies
      let outcome = ScenarioOutcome(scenario: "publish", transcript: [], findings: [wrong])
      judge.add(outcome, of: scenario, in: world, from: input)
      return judge.report(toolVersion: "1").results.flatMap(\.findings).flatMap(\.remedies)
    }
    #expect(
      try next("capture", "my files/a.pcap") == [
        "reprise view 'my files/a.pcap' --at 7", "reprise view 'my files/a.pcap' --sdk channel",
      ])
    #expect(try next("file", "a.jsonl", ["record it anew"]) == ["record it anew"])
    #expect(try next("script", nil) == [])
  }

  @Test func oneOfManyIsEnoughToFail() throws {
    let scenarios = suite.scenarios.filter { $0.clauses.contains("SDK-channel-40") }
    try #require(scenarios.count > 1)
    var judge = try ScenarioJudge(suite, clauses: ["SDK-channel-40"])
    for (index, scenario) in scenarios.enumerated() {
      let wrong = index == 0 ? [finding(["SDK-channel-40"])] : []
      judge.add(
        ScenarioOutcome(scenario: scenario.name, transcript: [], findings: wrong),
        of: scenario, in: "script")
    }
    let report = judge.report(toolVersion: "1")
    #expect(report.results.map(\.verdict) == [.failed])
    #expect(report.results.map(\.satisfied) == [scenarios.count - 1])
  }

  @Test func whatIsKeptInOneAndNotReachedInAnotherSaysSo() throws {
    let scenarios = suite.scenarios.filter { $0.clauses.contains("SDK-channel-40") }
    var judge = try ScenarioJudge(suite, clauses: ["SDK-channel-40"])
    for scenario in scenarios {
      let wrong = scenario.name == "topics" ? [finding(["SDK-channel-22"])] : []
      judge.add(
        ScenarioOutcome(scenario: scenario.name, transcript: [], findings: wrong),
        of: scenario, in: "script")
    }
    let report = judge.report(toolVersion: "1")
    #expect(report.results.map(\.verdict) == [.passed])
    #expect(
      report.results.map(\.reason) == [
        "1 of \(scenarios.count) undecided: not reached: the scenario went otherwise before"
      ])
  }

  @Test func whatShouldBeFailsStrictRunsOnly() throws {
    let lenient = try report("refused-3", finding(["SDK-channel-16"], step: 2))
    #expect(verdicts(lenient) == ["SDK-channel-16": .notFollowed] && !lenient.hasFailed)
    #expect(
      lenient.results.compactMap(\.reason).contains(
        "a SHOULD is not followed (scenario refused-3, step 2, call publish); "
          + "--strict makes it a failure"))
    let strict = try report(
      "refused-3", finding(["SDK-channel-16"], step: 2), isStrict: true)
    #expect(verdicts(strict) == ["SDK-channel-16": .failed] && strict.hasFailed)
  }

  @Test func sectionsStandInOrder() throws {
    let text = try report("publish", nil).text(color: false)
    let sections = text.split(separator: "\n").compactMap { line in
      line.hasPrefix("  ") ? line.split(separator: " ").first : nil
    }
    #expect(sections.starts(with: ["section", "1.2", "1.3", "1.4", "1.5", "1.6", "1.10"]))
    // The last line says how many scenarios were run.
    #expect(Set(sections).count == sections.count && sections.suffix(2) == ["all", "1"])
    #expect(text.hasSuffix("\n\n  1 scenario in file: 1 passed\n"))
  }

  @Test func findsScenariosByNameAndClause() throws {
    #expect(try suite.select(["stop", "start"]).map(\.name) == ["start", "stop"])
    #expect(
      try suite.select(["channel"]) == suite.scenarios.filter { $0.system == .channel })
    #expect(
      try suite.select(clauses: ["SDK-channel-40"]).map(\.name).sorted() == ["publish", "topics"])
    let error = #expect(throws: ConformanceError.self) { try suite.select(["strat"]) }
    #expect(error?.message == "no scenario is called strat; did you mean start?")
    #expect(throws: ConformanceError.self) { try suite.select(clauses: ["9.9"]) }
  }
}

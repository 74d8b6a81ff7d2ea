import DataClient
import DeviceSDK
import Testing

@testable import ConformanceKit

@Suite struct ScenarioJudgeTests {
  private let suite: ScenarioSuite

  init() throws { suite = try ScenarioSuite.bundled() }

  /// Judges one scenario, which went as it should or not.
  private func report(
    _ name: String, isRight: Bool, isStrict: Bool = false
  ) throws -> ConformanceReport {
    let scenario = try #require(suite.scenarios.first { $0.name == name })
    var judge = try ScenarioJudge(suite, isStrict: isStrict)
    let wrong = ScenarioFinding(
      step: 2, action: "cloud accepts", message: "something else came", expected: "a | b",
      actual: "a")
    judge.add(
      ScenarioOutcome(scenario: name, transcript: [], findings: isRight ? [] : [wrong]),
      of: scenario, in: "file.jsonl")
    return judge.report(toolVersion: "1")
  }

  private func verdict(_ id: String, _ report: ConformanceReport) -> Verdict? {
    report.results.first { $0.clause.id == id }?.verdict
  }

  @Test func whatIsKeptHasPassed() throws {
    let report = try report("publish", isRight: true)
    #expect(verdict("SDK-channel-40", report) == .passed)
    #expect(verdict("SDK-channel-9", report) == .notExercised)
    #expect(verdict("SDK-channel-1", report) == .notApplicable)
    #expect(!report.hasFailed && report.inputs == ["file.jsonl"])
  }

  @Test func whatIsViolatedHasFailed() throws {
    let report = try report("publish", isRight: false)
    #expect(verdict("SDK-channel-40", report) == .failed)
    #expect(report.hasFailed)
    let text = report.text(color: false)
    #expect(
      text.contains(
        """
          SDK-channel-40  section 1.5, MUST, 1× violated, 0× kept
            Publishing at QoS 1 completes with the PUBACK.
            file.jsonl scenario publish, step 2, cloud accepts
              something else came
              expected: a | b
              actual:   a

        """))
    let json = String(decoding: report.json(), as: UTF8.self)
    #expect(
      json.contains(
        #""findings":[{"file":"file.jsonl","scenario":"publish","step":2,"action":"cloud accepts","#
          + #""message":"something else came","packet":null,"expected":"a | b","actual":"a"}]"#))
  }

  @Test func oneOfManyIsEnoughToFail() throws {
    let scenarios = suite.scenarios.filter { $0.clauses.contains("SDK-channel-40") }
    try #require(scenarios.count > 1)
    var judge = try ScenarioJudge(suite, clauses: ["SDK-channel-40"])
    for (index, scenario) in scenarios.enumerated() {
      let finding = ScenarioFinding(
        step: 1, action: "", message: "", expected: "", actual: "")
      judge.add(
        ScenarioOutcome(
          scenario: scenario.name, transcript: [], findings: index == 0 ? [finding] : []),
        of: scenario, in: "script")
    }
    let report = judge.report(toolVersion: "1")
    #expect(report.results.map(\.verdict) == [.failed])
  }

  @Test func whatShouldBeFailsStrictRunsOnly() throws {
    let lenient = try report("refused-3", isRight: false)
    #expect(verdict("SDK-channel-16", lenient) == .notFollowed && !lenient.hasFailed)
    #expect(
      lenient.results.compactMap(\.reason).contains(
        "a SHOULD is not followed (scenario refused-3, step 2, cloud accepts); "
          + "--strict makes it a failure"))
    let strict = try report("refused-3", isRight: false, isStrict: true)
    #expect(verdict("SDK-channel-16", strict) == .failed && strict.hasFailed)
  }

  @Test func sectionsStandInOrder() throws {
    let text = try report("publish", isRight: true).text(color: false)
    let sections = text.split(separator: "\n").compactMap { line in
      line.hasPrefix("  ") ? line.split(separator: " ").first : nil
    }
    #expect(sections.starts(with: ["section", "1.2", "1.3", "1.4", "1.5", "1.6", "1.10"]))
    #expect(Set(sections).count == sections.count && sections.last == "all")
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

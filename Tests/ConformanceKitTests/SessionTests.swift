import ConformanceKit
import Testing

@Suite("Sessions and their verdicts")
struct SessionTests {
  @Test("Each session gets its verdict", arguments: SessionCase.all)
  func verdict(_ session: SessionCase) throws {
    // A violated SHOULD is one as well.
    let report = try judge(options: ConformanceOptions(isStrict: true), session.script)
    let result = try #require(report.results.first { $0.clause.id == session.clause })
    #expect(result.verdict == session.verdict)
    if let saying = session.saying {
      let said = [result.reason ?? ""] + result.findings.map(\.message)
      #expect(said.contains { $0.contains(saying) }, "said \(said)")
    }
    if session.verdict == .passed { #expect(result.findings.isEmpty) }
  }

  @Test("A session that keeps one clause violates no other by accident")
  func conformingSessions() throws {
    for session in SessionCase.all where session.verdict == .passed {
      let failed = try judge(session.script).results.filter { $0.verdict == .failed }
      let others = Set(failed.map(\.clause.id))
      // Most clients here get messages without a subscription, to keep the tables short.
      #expect(others.subtracting(["MQTT-3.3.2-3"]) == [], "\(session.testDescription)")
    }
  }
}

import ConformanceKit
import Testing

@Suite("Sessions and their verdicts")
struct SessionTests {
  @Test("Each session gets its verdict", arguments: SessionCase.all)
  func verdict(_ session: SessionCase) throws {
    let report = try judge(session.script)
    let result = try #require(report.results.first { $0.clause.id == session.clause })
    #expect(result.verdict == session.verdict)
    if let saying = session.saying {
      let said = [result.reason ?? ""] + result.findings.map(\.message)
      #expect(said.contains { $0.contains(saying) }, "said \(said)")
    }
    if session.verdict == .passed { #expect(result.findings.isEmpty) }
  }

  @Test("A session that conforms to one clause violates no other by accident")
  func conformingSessions() throws {
    // These break other clauses on purpose, to get where theirs is decided.
    let others: Set<String> = [
      "MQTT-3.3.2-3", "MQTT-4.6.0-2", "MQTT-3.8.3-3", "MQTT-3.6.1-1", "MQTT-3.14.4-2",
    ]
    for session in SessionCase.all where session.verdict == .passed {
      guard !others.contains(session.clause) else { continue }
      let failed = try judge(session.script).results.filter { $0.verdict == .failed }
      let allowed: Set<String> = ["MQTT-3.3.2-3"]
      #expect(
        failed.allSatisfy { allowed.contains($0.clause.id) },
        "\(session.testDescription): \(failed.map(\.clause.id))")
    }
  }
}

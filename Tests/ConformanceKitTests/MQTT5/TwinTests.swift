import Testing
import Wire

@testable import ConformanceKit

/// What 3.1.1 and 5.0 ask for alike gets the same verdict in both: the sessions of 3.1.1, told in 5.0.
@Suite struct TwinTests {
  /// The clause of 5.0 for each of 3.1.1 that one rule judges.
  private static let twins: [String: String] = {
    let rules = MQTTRule.allCases.map(\.clauses) + FaultRule.mqtt.map(\.clauses)
    return Dictionary(
      rules.compactMap { ids in ids.v3_1_1.flatMap { old in ids.v5_0.map { (old, $0) } } },
      uniquingKeysWith: { first, _ in first })
  }()

  private static let cases = SessionCase.all.filter { session in
    var script = Script(version: .v5_0)
    session.script(&script)
    return twins[session.clause] != nil && script.isAsTold
  }

  private static func judgeIn5(_ session: SessionCase) throws -> [ClauseResult] {
    var script = Script(version: .v5_0)
    session.script(&script)
    return try judge(script.events, options: ConformanceOptions(isStrict: true)).results
      .filter { $0.clause.spec == "mqtt-5.0" }
  }

  @Test func thereAreEnough() {
    #expect(Self.twins.count == 114)
    #expect(Self.cases.count > 100)
  }

  @Test(arguments: cases) func getOneVerdict(_ session: SessionCase) throws {
    let id = try #require(Self.twins[session.clause])
    let results = try Self.judgeIn5(session)
    let result = try #require(results.first { $0.clause.id == id })
    let expected = Self.others["\(session.clause): \(session.name)"] ?? session.verdict
    #expect(result.verdict == expected, "\(id)")
  }

  @Test func accuseNobodyByAccident() throws {
    for session in Self.cases where session.verdict == .passed {
      let failed = try Self.judgeIn5(session).filter { $0.verdict == .failed }.map(\.clause.id)
      // Some clients get what they have not subscribed to, in either version.
      let before = try judge(options: ConformanceOptions(isStrict: true), session.script).results
        .filter { $0.verdict == .failed && $0.clause.spec == "mqtt-3.1.1" }
        .compactMap { Self.twins[$0.clause.id] }
      #expect(Set(failed).subtracting(before) == [], "\(session.testDescription)")
    }
  }

  /// The verdicts that differ, because the clauses do.
  private static let others: [String: Verdict] = [
    // The byte in front of the codes may as well be one, and the Property Length be missing.
    "MQTT-3.8.4-5: one code for two filters": .inconclusive,
    "MQTT-3.8.4-4: one code for two filters": .inconclusive,
    // Which codes there are is a matter of another clause.
    "MQTT-3.8.4-5: code 0x03": .passed,
    // No silence counts before the server could set the Keep Alive.
    "MQTT-3.1.2-23: CONNACK comes late": .passed,
    "MQTT-3.1.2-23: no CONNACK in the capture": .notExercised,
    "MQTT-3.1.2-23: a client that did not wait for CONNACK": .notExercised,
  ]
}

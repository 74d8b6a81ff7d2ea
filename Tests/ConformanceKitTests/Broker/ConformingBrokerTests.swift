import Testing
import Wire

@testable import ConformanceKit

@Suite("Clients and a server that do what they must")
struct ConformingBrokerTests {
  /// Conversations of a version by the numbers that they are made of.
  static func sessions(of version: MQTTVersion, _ seeds: ClosedRange<UInt64>) -> [GoldenTallies
    .Session]
  {
    seeds.map { seed in
      .init(name: "\(version.spec): conversation \(seed)", version: version) { script in
        script = ConformingBroker(script, seed: seed).script
      }
    }
  }

  @Test(
    "Nobody is accused of anything, whatever their order", arguments: [MQTTVersion.v3_1_1, .v5_0])
  func accused(version: MQTTVersion) throws {
    var fresh = try SessionTally.freshJudge(of: version)
    for session in Self.sessions(of: version, 1...60) {
      SessionVariant(session.events).consume(by: &fresh, as: session.name)
    }
    let report = fresh.report(toolVersion: "1")
    let accused = report.results.flatMap { result in
      result.findings.prefix(2).map {
        "\(result.clause.id) in \($0.file), frame \($0.frame): \($0.message)"
      }
    }
    #expect(accused == [])
    // They show that much: messages to sessions that are there again, retained ones and wills are among it.
    #expect(report.results.filter { $0.satisfied > 0 }.count > 80)
  }

  @Test(
    "Nobody is accused of anything where less is captured", arguments: [MQTTVersion.v3_1_1, .v5_0])
  func losses(version: MQTTVersion) throws {
    let accused = try LossTests.accused(
      of: Self.sessions(of: version, 1...20), atLeast: 800, most: 12)
    #expect(accused == [])
  }
}

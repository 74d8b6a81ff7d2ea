import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// The exact outcome of each session, beside its verdict: what fails, what was kept how often, what is left open
/// and why.
@Suite("Sessions and all that comes of them")
struct SessionTallyTests {
  static let sessions = GoldenTallies(
    "Tallies.txt",
    SessionCase.all.map { .init(name: $0.testDescription, script: $0.script) }
      + TallyTests.all.map { .init(name: "whole: " + $0.testDescription, script: $0.script) })

  static let sessionsOf5 = GoldenTallies(
    "Tallies5.txt",
    Case5Tests.all.map { .init(name: $0.testDescription, version: .v5_0, script: $0.script) })

  static let sharedSessions = GoldenTallies(
    "SharedTallies.txt",
    SharedCase.all.flatMap { session in
      session.versions.map { version in
        .init(
          name: "\(version.spec): \(session.testDescription)", version: version,
          script: session.script)
      }
    })

  @Test("Each session has a name of its own, and each name is of a session")
  func names() throws {
    for golden in [Self.sessions, Self.sessionsOf5, Self.sharedSessions] {
      try golden.checkNames()
    }
  }

  @Test("Each session has its exact tally", .enabled(if: !GoldenFile.isWritten))
  func tallies() throws { try Self.sessions.checkTallies() }

  @Test("Each session of MQTT 5.0 has its exact tally", .enabled(if: !GoldenFile.isWritten))
  func talliesOf5() throws { try Self.sessionsOf5.checkTallies() }

  @Test(
    "Each session of several connections has its exact tally",
    .enabled(if: !GoldenFile.isWritten))
  func sharedTallies() throws { try Self.sharedSessions.checkTallies() }

  @Test("Whoever is blamed is the one that the clause speaks of")
  func blame() throws {
    var judge = try SessionTally.freshJudge()
    var frames: [String: Set<Int>] = [:]
    for session in Self.sessions.sessions {
      var script = Script()
      session.script(&script)
      judge.begin(file: session.name)
      for event in script.events { event.withView { judge.consume($0) } }
      judge.endFile()
      frames[session.name] = Set(script.events.map(\.context.frame))
    }
    for result in judge.report(toolVersion: "1").results {
      #expect(result.violated == result.findings.count)
      #expect(result.undecided == result.places.count)
      for finding in result.findings {
        #expect(frames[finding.file]?.contains(finding.frame) == true, "\(finding.file)")
        #expect(!finding.packet.isEmpty, "\(finding.file)")
        let actor = result.clause.actor
        #expect(
          actor == .both || finding.message.hasPrefix("the \(actor.rawValue)"),
          "\(finding.file): \(result.clause.id) \(finding.message)")
      }
    }
  }
}

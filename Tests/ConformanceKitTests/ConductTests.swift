import RepriseCore
import Testing

@testable import ConformanceKit

/// A report on one end of connections alone: what it is blamed for, and what it is praised for.
@Suite("The conduct of one end")
struct ConductTests {
  private struct Session {
    let name: String
    let events: [Event]
  }

  private static let sessions = [
    SessionTallyTests.sessions, SessionTallyTests.sessionsOf5, SessionTallyTests.sharedSessions,
  ].flatMap(\.sessions).map { session in
    var script = Script(version: session.version)
    session.script(&script)
    return Session(name: session.name, events: script.events)
  }

  /// Judges all sessions, each as a file of its own.
  private func judge(of subject: Peer?) throws -> ConformanceReport {
    var options = ConformanceOptions(isStrict: true, maximumFindings: 100_000)
    options.subject = subject
    var judge = try ConformanceJudge(catalogue: .bundled(), options: options)
    for session in Self.sessions {
      judge.begin(file: session.name)
      for event in session.events { event.withView { judge.consume($0) } }
    }
    return judge.report(toolVersion: "1")
  }

  /// The places of findings, of one end's or of all.
  private func places(_ findings: [Finding], of peer: Peer? = nil) -> [String] {
    findings.filter { finding in
      peer.map { finding.message.hasPrefix("the \($0.rawValue)") } ?? true
    }.map { "\($0.file) @\($0.frame) \($0.message)" }.sorted()
  }

  @Test("Each end is held to its own clauses, and of those that bind both to what it did itself")
  func blame() throws {
    let whole = Dictionary(
      uniqueKeysWithValues: try judge(of: nil).results.map { ($0.clause.key, $0) })
    var parts: [ClauseKey: [ClauseResult]] = [:]
    for peer in Peer.allCases {
      let results = try judge(of: peer).results
      #expect(results.allSatisfy { $0.clause.actor.binds(peer) })
      for result in results {
        let all = try #require(whole[result.clause.key])
        parts[result.clause.key, default: []].append(result)
        let isShared = result.clause.actor == .both
        #expect(
          places(result.findings) == places(all.findings, of: isShared ? peer : nil),
          "\(result.clause.id) \(peer)")
        guard !isShared else { continue }
        #expect(
          result.satisfied == all.satisfied && result.undecided == all.undecided,
          "\(result.clause.id)")
      }
    }
    #expect(Set(parts.keys) == Set(whole.keys))
    var praised: [String] = []
    for (key, both) in parts where both.count == 2 {
      let all = try #require(whole[key])
      #expect(both.reduce(0) { $0 + $1.violated } == all.violated, "\(key)")
      let kept = both.reduce(0) { $0 + $1.satisfied }
      guard kept != all.satisfied else { continue }
      #expect(kept == 2 * all.satisfied, "\(key)")
      praised.append("\(key)")
    }
    // That a connection ends behind both Close frames is one thing, which both ends are praised for.
    #expect(praised.sorted() == ["rfc6455/RFC6455-5.5.1-5"])
  }
}

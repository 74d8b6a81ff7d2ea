import Testing
import Wire

@testable import ConformanceKit

/// Each rule of several connections is shown by sessions of all three kinds: one that breaks it, one that keeps it, and
/// one that leaves it open.
@Suite("Rules of several connections and the sessions that show them")
struct OutcomeGuards {
  /// What a session comes to by a clause.
  private enum Outcome: String, CaseIterable {
    case violated, kept, undecided
  }

  /// What is not shown: it may only become less.
  private static let lacking: Set<String> = [
    "mqtt-3.1.1/MQTT-3.1.2-7 undecided",
    "mqtt-3.1.1/MQTT-3.1.2-16 undecided", "mqtt-3.1.1/MQTT-3.1.4-3 undecided",
    "mqtt-3.1.1/MQTT-4.6.0-1 undecided", "mqtt-3.1.1/MQTT-4.7.3-4 undecided",
    "mqtt-5.0/MQTT-3.1.2-4 undecided", "mqtt-5.0/MQTT-3.1.2-7 undecided",
    "mqtt-5.0/MQTT-3.1.2-14 undecided", "mqtt-5.0/MQTT-3.1.3-9 violated",
    "mqtt-5.0/MQTT-3.1.4-4 undecided", "mqtt-5.0/MQTT-3.1.4-6 undecided",
    "mqtt-5.0/MQTT-3.1.4-6 violated", "mqtt-5.0/MQTT-3.3.1-9 undecided",
    "mqtt-5.0/MQTT-3.3.1-13 violated",

    "mqtt-5.0/MQTT-4.3.3-6 undecided", "mqtt-5.0/MQTT-4.3.3-10 undecided",
    "mqtt-5.0/MQTT-4.6.0-1 undecided", "mqtt-5.0/MQTT-4.7.3-4 undecided",
    "mqtt-5.0/MQTT-4.8.2-5 violated",
  ]

  /// What sessions come to, by standard and clause, as their tallies have it.
  private static let shown: [ClauseKey: Set<Outcome>] = {
    var shown: [ClauseKey: Set<Outcome>] = [:]
    let tallies = [
      SessionTallyTests.sessions, SessionTallyTests.sessionsOf5, SessionTallyTests.sharedSessions,
    ]
    for (version, lines) in tallies.flatMap(\.expected) {
      var outcomes: [String: Set<Outcome>] = [:]
      for line in lines {
        let words = line.split(separator: " ").map(String.init)
        guard let sign = line.first, words.count > 1 else { continue }
        switch sign {
        case "!": outcomes[words[1], default: []].insert(.violated)
        case "?": outcomes[words[1], default: []].insert(.undecided)
        case "+": for word in words.dropFirst() { outcomes[word, default: []].insert(.kept) }
        default: continue
        }
      }
      for (clause, seen) in outcomes {
        // One that is kept here and broken there is not kept.
        let seen = seen.contains(.violated) ? seen.subtracting([.kept]) : seen
        shown[Self.key(of: clause, version), default: []].formUnion(seen)
      }
    }
    return shown
  }()

  /// The clause of a name in a tally, which leaves out what all of a standard begin with.
  private static func key(of name: String, _ version: MQTTVersion) -> ClauseKey {
    if name.hasPrefix("RFC6455-") { return ClauseKey(spec: "rfc6455", id: name) }
    return ClauseKey(spec: version.spec, id: name.hasPrefix("U5-") ? name : "MQTT-" + name)
  }

  @Test("Each rule of several connections is broken, kept and left open by a session")
  func outcomes() throws {
    var missing: Set<String> = []
    for clause in try Catalogue.bundled().clauses {
      guard clause.status.hasRule, clause.scope == .session || clause.scope == .broker else {
        continue
      }
      for outcome in Outcome.allCases where Self.shown[clause.key]?.contains(outcome) != true {
        switch outcome {
        case .violated where clause.neverFails != nil: continue
        case .undecided where clause.inconclusive?.hasPrefix("Never:") == true: continue
        default: missing.insert("\(clause.spec)/\(clause.id) \(outcome)")
        }
      }
    }
    #expect(missing.subtracting(Self.lacking).sorted() == [], "write a session")
    #expect(Self.lacking.subtracting(missing).sorted() == [], "it is shown: take it off the list")
  }
}

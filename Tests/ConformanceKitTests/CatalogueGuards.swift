import Testing
import Wire

@testable import ConformanceKit

@Suite("Catalogue, rules and sessions fit together")
struct CatalogueGuards {
  let catalogue: Catalogue
  let checked: Set<ClauseKey>

  init() throws {
    catalogue = try .bundled()
    checked = Set(catalogue.clauses.filter { $0.status.hasRule }.map(\.key))
  }

  /// The checked clauses that the sessions of 3.1.1 and RFC 6455 show.
  private var shownByCases: Set<String> {
    Set(checked.filter { $0.spec != "mqtt-5.0" }.map(\.id))
  }

  @Test(
    "There are the standards' own clauses, each once",
    arguments: [("mqtt-3.1.1", 141, 132), ("mqtt-5.0", 329, 326), ("rfc6455", 99, 77)])
  func total(spec: String, count: Int, checkedCount: Int) {
    let clauses = catalogue.clauses.filter { $0.spec == spec }
    #expect(clauses.count == count)
    #expect(Set(clauses.map(\.id)).count == count)
    #expect(clauses.count { checked.contains($0.key) } == checkedCount)
  }

  @Test("Every checked clause has one rule, and every rule a checked clause")
  func rules() {
    #expect(Set(ConformanceJudge.rules) == checked)
    #expect(ConformanceJudge.rules.count == checked.count)
  }

  /// The clauses that a capture can show to be kept, and that nobody can be accused of: what a server does instead an
  /// expiry, a restart or an administrator explains as well.
  static let neverFailed: Set<String> = [
    "MQTT-3.1.2-1", "MQTT-3.1.2-4", "MQTT-3.1.2-5", "MQTT-3.1.2-7", "MQTT-3.1.3-2",
    "MQTT-4.1.0-1", "MQTT-4.1.0-2", "MQTT-4.6.0-5", "MQTT-2.3.1-5", "MQTT-3.8.4-3",
    // Of what breaks these a receiver may think as it likes.
    "RFC6455-5.4-4", "RFC6455-5.4-5", "RFC6455-10.7-1",
    // A verified erratum turns it round.
    "RFC6455-11.3.2-1",
  ]
  static let neverFailedIn5: Set<String> = [
    "MQTT-3.1.2-5", "MQTT-3.1.2-7", "MQTT-3.1.2-23", "MQTT-3.1.3-2", "MQTT-3.3.1-9", "MQTT-4.1.0-1",
    "MQTT-4.6.0-6", "MQTT-2.2.1-2", "MQTT-4.8.2-4", "MQTT-3.8.4-3", "MQTT-3.8.4-4", "MQTT-4.3.2-5",
    "MQTT-4.3.3-9",
    "MQTT-4.3.3-12",
    // What a side did not do it may not have had to do, or have left for another reason.
    "MQTT-3.2.2-9", "MQTT-3.3.4-8", "MQTT-3.3.4-10", "MQTT-4.3.3-7", "U5-3.14.2.2.2-3",
    // Errors that a receiver need not notice.
    "MQTT-3.3.2-7", "MQTT-3.3.4-5", "U5-1.5.4-1", "U5-1.5.7-1", "U5-2.1.3-1", "U5-3.1.2.11.4-2",
    "U5-3.1.2.11.7-2",
    "U5-3.2.2.3.4-2", "U5-3.2.2.3.5-2", "U5-3.2.2.3.6-2", "U5-3.2.2.3.11-2", "U5-3.2.2.3.12-2",
    "U5-3.2.2.3.13-2", "U5-3.3.1.2-1", "U5-3.3.4-2", "U5-3.3.4-3", "U5-3.8.3-1", "U5-3.10.3-1",
    "U5-4.13.1-1",
  ]

  @Test("Every checked clause has a session that violates it and one that keeps it")
  func sessions() {
    let counts = TallyTests.all.flatMap { Array($0.counts) }
    let violated = counts.filter { $0.value.violated > 0 }.map(\.key)
    let kept = counts.filter { $0.value.violated == 0 && $0.value.kept > 0 }.map(\.key)
    let shared = SharedCase.all.filter { $0.versions.contains(.v3_1_1) }
    let sharedViolated = shared.flatMap(\.failed).compactMap { $0.clauses[.v3_1_1] }
    let sharedKept = shared.flatMap { Array($0.counts) }
      .filter { $0.value.violated == 0 && $0.value.kept > 0 }
      .compactMap { $0.key.clauses[.v3_1_1] }
    for (verdict, others) in [
      (Verdict.failed, violated + sharedViolated), (.passed, kept + sharedKept),
    ] {
      let shown = Set(SessionCase.all.filter { $0.verdict == verdict }.map(\.clause) + others)
      let missing = shownByCases.subtracting(shown)
      #expect(
        missing.subtracting(verdict == .failed ? Self.neverFailed : []).sorted() == [],
        "\(verdict)")
      #expect(shown.subtracting(shownByCases).sorted() == [], "\(verdict)")
    }
  }

  @Test("Every entry says what its status asks it to say")
  func entries() {
    for clause in catalogue.clauses {
      #expect(!clause.summary.isEmpty && !clause.section.isEmpty)
      for text in [clause.check, clause.inconclusive, clause.example] {
        if clause.status.hasRule { #expect(text?.isEmpty == false, "\(clause.id)") }
        // How the rest of 5.0 is to be judged is written down already.
        if clause.spec != "mqtt-5.0", !clause.status.hasRule {
          #expect(text == nil, "\(clause.id)")
        }
      }
      // Why a capture does not show it.
      if clause.spec == "rfc6455", !clause.status.hasRule {
        #expect(clause.note?.isEmpty == false, "\(clause.id)")
      }
      for alias in clause.aliases ?? [] {
        #expect(
          catalogue[clause.spec, alias]?.aliases?.contains(clause.id) == true,
          "\(clause.id), \(alias)")
      }
    }
  }

  @Test("What a rule judges only when it is provoked is called so, and nothing else is")
  func reactive() {
    for clause in catalogue.clauses where clause.status.hasRule {
      #expect((clause.status == .reactive) == (clause.observable == .active), "\(clause.id)")
    }
    let reactive = catalogue.clauses.filter { $0.status == .reactive }
    #expect(reactive.count { $0.spec == "mqtt-3.1.1" } == 32)
    #expect(reactive.count { $0.spec == "mqtt-5.0" } == 75)
    #expect(reactive.count { $0.spec == "rfc6455" } == 16)
  }

  @Test(
    "Clauses of one connection that traffic shows are all checked, but for those of 5.0"
  )
  func coverage() {
    let missing = catalogue.clauses.filter {
      $0.spec != "mqtt-5.0" && $0.observable == .trace && [.frame, .connection].contains($0.scope)
        && !$0.status.hasRule
    }
    #expect(missing.map(\.id) == [])
  }
}

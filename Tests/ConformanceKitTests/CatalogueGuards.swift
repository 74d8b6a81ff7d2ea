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
    arguments: [("mqtt-3.1.1", 141), ("mqtt-5.0", 329), ("rfc6455", 99)])
  func total(spec: String, count: Int) {
    let clauses = catalogue.clauses.filter { $0.spec == spec }
    #expect(clauses.count == count)
    #expect(Set(clauses.map(\.id)).count == count)
  }

  @Test("Every checked clause has one rule, and every rule a checked clause")
  func rules() {
    #expect(Set(ConformanceJudge.rules) == checked)
    #expect(ConformanceJudge.rules.count == checked.count)
  }

  /// The clauses by which nothing fails, of some standards: the catalogue says of each why.
  static func neverFailed(in specs: Set<String>) throws -> Set<String> {
    let clauses = try Catalogue.bundled().clauses
    return Set(clauses.filter { specs.contains($0.spec) && $0.neverFails != nil }.map(\.id))
  }

  @Test("Of a clause by which nothing fails no violation is promised")
  func neverFailing() throws {
    for clause in catalogue.clauses {
      guard clause.neverFails?.isEmpty == false, let example = clause.example else {
        #expect(clause.neverFails == nil, "\(clause.id)")
        #expect(clause.example?.hasPrefix("Would be ") != true, "\(clause.id)")
        continue
      }
      #expect(clause.status.hasRule, "\(clause.id)")
      // What it shows is none, or would be one.
      let isOne = ["it passes", "allows"].contains { example.contains($0) }
      #expect(isOne || example.hasPrefix("Would be a violation: "), "\(clause.id)")
      #expect(clause.check?.contains("fails") == false, "\(clause.id)")
      let text = try catalogue.explanation(of: "\(clause.spec)/\(clause.id)")
      let rows = text.split(separator: "\n").compactMap { $0.split(separator: "  ").first }
      #expect(rows.contains("never fails") && !rows.contains("violation"), "\(clause.id)")
    }
    // More of them would be fewer that a capture can show to be broken.
    for (spec, most) in [("mqtt-3.1.1", 10), ("rfc6455", 4), ("mqtt-5.0", 38)] {
      let neverFailed = try Self.neverFailed(in: [spec])
      #expect(neverFailed.count <= most, "\(spec)")
    }
  }

  @Test("Every checked clause has a session that violates it and one that keeps it")
  func sessions() throws {
    let counts = TallyTests.all.flatMap { Array($0.counts) }
    let violated = counts.filter { $0.value.violated > 0 }.map(\.key)
    let kept = counts.filter { $0.value.violated == 0 && $0.value.kept > 0 }.map(\.key)
    let shared = SharedCase.all.filter { $0.versions.contains(.v3_1_1) }
    let sharedViolated = shared.flatMap(\.failed).compactMap { $0.clauses[.v3_1_1] }
    let sharedKept = shared.flatMap { Array($0.counts) }
      .filter { $0.value.violated == 0 && $0.value.kept > 0 }
      .compactMap { $0.key.clauses[.v3_1_1] }
    let neverFailed = try Self.neverFailed(in: ["mqtt-3.1.1", "rfc6455"])
    for (verdict, others) in [
      (Verdict.failed, violated + sharedViolated), (.passed, kept + sharedKept),
    ] {
      let shown = Set(SessionCase.all.filter { $0.verdict == verdict }.map(\.clause) + others)
      let missing = shownByCases.subtracting(shown)
      #expect(
        missing.sorted() == (verdict == .failed ? neverFailed.sorted() : []), "\(verdict)")
      #expect(shown.subtracting(shownByCases).sorted() == [], "\(verdict)")
    }
  }

  @Test("Every entry says what its status asks it to say")
  func entries() {
    for clause in catalogue.clauses {
      #expect(!clause.summary.isEmpty && !clause.section.isEmpty)
      for text in [clause.check, clause.inconclusive, clause.example] {
        if clause.status.hasRule { #expect(text?.isEmpty == false, "\(clause.id)") }
        if clause.spec != "sdk", !clause.status.hasRule { #expect(text == nil, "\(clause.id)") }
      }
      // Why a capture does not show it.
      if clause.spec != "sdk", !clause.status.hasRule {
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
  }

  @Test("What waits for a driver alone is of WebSocket, and has no rule")
  func active() {
    let active = catalogue.clauses.filter { $0.status == .active }
    #expect(Set(active.map(\.spec)) == ["rfc6455"])
    for clause in active { #expect(clause.observable == .active, "\(clause.id)") }
    for clause in catalogue.clauses where clause.status == .unobservable {
      #expect(clause.observable == .none && clause.passive == "no", "\(clause.id)")
    }
  }

  @Test("Clauses that traffic shows are all checked")
  func coverage() {
    let missing = catalogue.clauses.filter { $0.observable == .trace && !$0.status.hasRule }
    #expect(missing.map(\.id) == [])
  }
}

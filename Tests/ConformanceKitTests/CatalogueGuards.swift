import Testing

@testable import ConformanceKit

@Suite("Catalogue, rules and sessions fit together")
struct CatalogueGuards {
  let catalogue: Catalogue
  let checked: Set<String>

  init() throws {
    catalogue = try .bundled()
    checked = Set(catalogue.clauses.filter { $0.status == .checked }.map(\.id))
  }

  @Test("There are the standard's own 141 clauses, each once")
  func total() {
    #expect(catalogue.clauses.count == 141)
    #expect(Set(catalogue.clauses.map(\.id)).count == 141)
    #expect(checked.count == 64)
  }

  @Test("Every checked clause has one rule, and every rule a checked clause")
  func rules() {
    #expect(Set(MQTT311Judge.clauses) == checked)
    #expect(MQTT311Judge.clauses.count == checked.count)
  }

  @Test("Every checked clause has a session that violates it and one that keeps it")
  func sessions() {
    for verdict in [Verdict.failed, .passed] {
      let shown = Set(SessionCase.all.filter { $0.verdict == verdict }.map(\.clause))
      #expect(checked.subtracting(shown).sorted() == [], "\(verdict)")
      #expect(shown.subtracting(checked).sorted() == [], "\(verdict)")
    }
  }

  @Test("Every entry says what its status asks it to say")
  func entries() {
    for clause in catalogue.clauses {
      #expect(!clause.summary.isEmpty && !clause.section.isEmpty)
      #expect((clause.status == .checked) == (clause.check != nil), "\(clause.id)")
      #expect((clause.status == .checked) == (clause.inconclusive != nil), "\(clause.id)")
      #expect((clause.status == .checked) == (clause.example != nil), "\(clause.id)")
      for alias in clause.aliases ?? [] {
        #expect(catalogue[alias]?.aliases?.contains(clause.id) == true, "\(clause.id), \(alias)")
      }
    }
  }

  @Test("Clauses of one connection that traffic shows are all checked, but for WebSocket")
  func coverage() {
    let missing = catalogue.clauses.filter {
      $0.observable == .trace && [.frame, .connection].contains($0.scope) && $0.status != .checked
    }
    #expect(missing.map(\.id) == ["MQTT-6.0.0-1", "MQTT-6.0.0-3", "MQTT-6.0.0-4"])
  }
}

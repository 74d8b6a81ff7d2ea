import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import ConformanceKit

/// The catalogue of MQTT 5.0, of which rules judge a part.
@Suite struct MQTT5CatalogueTests {
  private static let entries: [JSONValue] = {
    let bytes = try? Data(
      contentsOf: PackageFolder.url.appending(path: "Conformance/mqtt-5.0.json"))
    return bytes.flatMap { try? JSONValue.read(Array($0)) }?.elements ?? []
  }()

  private static func clauses() throws -> [Clause] {
    try entries.map { try Clause($0, of: "mqtt-5.0") }
  }

  @Test func hasEveryStatementOnce() throws {
    let ids = try Self.clauses().map(\.id)
    #expect(Set(ids).count == ids.count)
    #expect(ids.filter { $0.hasPrefix("MQTT-") }.count == 251)
    #expect(ids.filter { $0.hasPrefix("U5-") }.count == 78)
    #expect(ids.count == 329)
  }

  /// What is not judged says so by what it takes to see it.
  @Test func callsTheRestWhatItIs() throws {
    for clause in try Self.clauses() where !clause.status.hasRule {
      let status: Clause.Status =
        switch clause.observable {
        case .trace: .planned
        case .active: .active
        case .none: .unobservable
        }
      #expect(clause.status == status, "\(clause.id)")
    }
  }

  /// All that a single packet shows is judged.
  @Test func judgesEveryPacket() throws {
    let missing = try Self.clauses().filter { $0.scope == .frame && !$0.status.hasRule }
    #expect(missing.map(\.id) == ["MQTT-4.7.3-3"])
  }

  /// What one connection shows is worked out, to the bytes of an example.
  @Test func saysHowOneConnectionShowsIt() throws {
    var count = 0
    for clause in try Self.clauses() where clause.observable == .trace {
      guard clause.scope == .frame || clause.scope == .connection else { continue }
      count += 1
      for text in [clause.check, clause.inconclusive, clause.example] {
        #expect(text?.isEmpty == false, "\(clause.id)")
      }
    }
    #expect(count == 204)
  }

  @Test func aliasesPointBack() throws {
    let clauses = try Self.clauses()
    let aliases = Dictionary(uniqueKeysWithValues: clauses.map { ($0.id, Set($0.aliases ?? [])) })
    for (id, others) in aliases {
      for other in others { #expect(aliases[other]?.contains(id) == true, "\(id) and \(other)") }
    }
  }
}

import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

/// What the catalogue gives as an example of a violation is one, and of nothing else than is written here.
@Suite struct ExampleTests {
  private static func clauses() throws -> [Clause] {
    try Catalogue.bundled().clauses.filter {
      $0.spec == "mqtt-5.0" && $0.scope == .frame && $0.status.hasRule
    }
  }

  private static func failed(_ report: ConformanceReport) -> [ClauseResult] {
    report.results.filter { $0.clause.spec == "mqtt-5.0" && $0.violated > 0 }
  }

  @Test func breakTheirClause() throws {
    var without: [String] = []
    for clause in try Self.clauses() {
      guard let example = ExamplePacket(clause), clause.id != "U5-3.1.3.2.3-1" else {
        without.append(clause.id)
        continue
      }
      let failed = Self.failed(try judge { example.write(&$0) })
      let own = failed.first { $0.clause.id == clause.id }
      #expect(own?.violated == 1, "\(clause.id)")
      #expect(
        own?.findings.first?.message.contains(example.sender.rawValue) == true, "\(clause.id)")
      let others = Set(failed.map(\.clause.id)).subtracting([clause.id])
      let expected = (Self.others[clause.id] ?? []) + Self.around(example)
      #expect(others == Set(expected), "\(clause.id)")
    }
    // Their bytes stand in their entries in part only; other sessions have them.
    #expect(
      without == ["MQTT-1.5.5-1", "U5-2.2.2.2-2", "U5-3.1.2.11.10-1", "U5-3.1.3.2.3-1"])
  }

  /// The other clauses that the same bytes break.
  private static let others: [String: [String]] = [
    "MQTT-1.5.4-1": ["MQTT-3.3.2-1"],
    "MQTT-1.5.4-2": ["MQTT-4.7.3-2"],
    "MQTT-1.5.7-1": ["MQTT-1.5.4-1"],
    "MQTT-3.1.2-9": ["MQTT-2.2.2-1", "MQTT-3.1.3-1"],
    "MQTT-3.1.2-16": ["MQTT-3.1.3-1"],
    "MQTT-3.1.2-17": ["MQTT-3.1.3-1"],
    "MQTT-3.1.2-18": ["MQTT-3.1.3-1"],
    "MQTT-3.1.2-19": ["MQTT-3.1.3-1"],
    "MQTT-3.1.3-1": ["MQTT-3.1.2-9"],
    "MQTT-3.1.3-4": ["MQTT-1.5.4-1"],
    "MQTT-3.1.3-11": ["MQTT-1.5.4-1"],
    "MQTT-3.1.3-12": ["MQTT-1.5.4-1"],
    "U5-3.2.2.3.15-1": ["MQTT-3.1.2-28"],
    "MQTT-3.3.1-2": ["MQTT-4.3.1-1"],
    "MQTT-3.3.2-2": ["MQTT-4.7.0-1"],
    "U5-3.3.2.1-1": ["MQTT-4.7.3-1"],
    "MQTT-3.3.2-13": ["MQTT-1.5.4-1"],
    "MQTT-3.3.2-14": ["MQTT-4.7.0-1"],
    "U5-3.3.2.3.8-1": ["MQTT-3.3.4-6"],
    "MQTT-3.3.2-19": ["MQTT-1.5.4-1"],
    "MQTT-3.6.1-1": ["MQTT-2.1.3-1"],
    "MQTT-3.8.1-1": ["MQTT-2.1.3-1"],
    "MQTT-3.8.3-1": ["MQTT-1.5.4-1"],
    "MQTT-3.10.1-1": ["MQTT-2.1.3-1"],
    "MQTT-3.10.3-1": ["MQTT-1.5.4-1"],
    "MQTT-4.3.1-1": ["MQTT-3.3.1-2"],
    "MQTT-4.7.3-2": ["MQTT-1.5.4-2"],
    "U5-3.15.2.2.3-1": ["U5-3.15.2.2.2-1"],
    "U5-3.15.2.2.4-1": ["U5-3.15.2.2.2-1"],
    "MQTT-3.15.1-1": ["MQTT-2.1.3-1"],
  ]

  /// What the session around the packet breaks: an answer to nothing, an authentication that nobody asked for, and
  /// properties that it does not go with.
  private static func around(_ example: ExamplePacket) -> [String] {
    switch MQTTPacketType(firstByte: example.bytes.first ?? 0) {
    case .suback: ["MQTT-2.2.1-6", "MQTT-3.8.4-2"]
    case .unsuback: ["MQTT-2.2.1-6", "MQTT-3.10.4-4"]
    case .auth where example.sender == .client: ["MQTT-4.12.0-7", "U5-3.15-1"]
    case .auth: ["MQTT-4.12.0-6", "U5-3.15-1"]
    default: []
    }
  }
}

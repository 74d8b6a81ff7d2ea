import Testing
import Wire

@testable import ConformanceKit

@Suite("Sets of rules, and the clauses that rules have by version")
struct RuleSetTests {
  private func set(_ places: [Int]) -> RuleSet {
    var set = RuleSet()
    for place in places { set.insert(place) }
    return set
  }

  private func places(_ set: RuleSet) -> [Int] {
    var rest = set
    var places: [Int] = []
    while let place = rest.popFirst() { places.append(place) }
    #expect(rest.isEmpty)
    return places
  }

  /// The first and the last place of either word, and their neighbours.
  static let edges = [0, 1, 62, 63, 64, 65, 126, 127]

  @Test("One rule is in a set and no other is", arguments: edges)
  func single(place: Int) {
    let set = set([place])
    #expect(!set.isEmpty)
    #expect((0..<RuleSet.capacity).filter(set.contains) == [place])
    #expect(places(set) == [place])
  }

  @Test("Rules come out in order, each once")
  func order() {
    #expect(RuleSet().isEmpty)
    #expect(places(RuleSet()) == [])
    #expect(places(set([127, 64, 0, 64, 63])) == [0, 63, 64, 127])
    #expect(places(set(Array(0..<RuleSet.capacity))) == Array(0..<128))
  }

  @Test("Sets are joined and met across both words")
  func algebra() {
    var union = set([1, 70])
    union.formUnion(set([1, 127]))
    #expect(places(union) == [1, 70, 127])
    union.formIntersection(set([0, 70, 126, 127]))
    #expect(places(union) == [70, 127])
    union.formIntersection(set([71]))
    #expect(union.isEmpty)
  }

  @Test("A rule has a clause of its own in each version, and none in 3.1")
  func clauses() {
    let both = ClauseIDs(v3_1_1: "MQTT-1.0.0-1", v5_0: "MQTT-2.0.0-2")
    #expect(MQTTVersion.allCases.map { both[$0] } == [nil, "MQTT-1.0.0-1", "MQTT-2.0.0-2"])
    #expect(both.contains("MQTT-1.0.0-1") && both.contains("MQTT-2.0.0-2"))
    #expect(!both.contains("MQTT-1.0.0-2"))
    let later = ClauseIDs(v5_0: "MQTT-2.0.0-2")
    #expect(MQTTVersion.allCases.map { later[$0] } == [nil, nil, "MQTT-2.0.0-2"])
    #expect(!later.contains("MQTT-1.0.0-1"))
  }

  @Test("A version has the rules of faults that have a clause in it, in the table's order")
  func rules() {
    #expect(FaultRule.rules(of: .v3_1).isEmpty)
    let rules = FaultRule.rules(of: .v3_1_1).map { $0.clauses.v3_1_1 ?? "" }
    #expect(rules.count == 39)
    #expect(rules.first == "MQTT-1.5.3-1")
    #expect(rules.last == "MQTT-4.7.3-2")
    let later = FaultRule.rules(of: .v5_0).map { $0.clauses.v5_0 ?? "" }
    #expect(later.count == 110)
    #expect(Set(later).count == later.count)
    #expect(later.first == "MQTT-1.5.4-1")
    #expect(later.last == "U5-3.15.2.2.4-1")
  }
}

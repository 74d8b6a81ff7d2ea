import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Sessions of MQTT 5.0 and all that comes of them")
struct Case5Tests {
  static let all =
    Case5.limits + Case5.agreements + Case5.packets + Case5.rejecting + Case5.refusing
    + Case5.allowances + [Case5.everything]

  @Test("Each session gets its whole verdict", arguments: all)
  func verdict(_ session: Case5) throws { try session.check() }

  /// No checked clause is without a session that breaks it and one that keeps it.
  @Test func everyClauseIsShown() throws {
    let clauses = try Catalogue.bundled().clauses.filter {
      $0.spec == "mqtt-5.0" && $0.status.hasRule
    }
    var violated: Set<String> = []
    var kept: Set<String> = []
    func note(_ results: [ClauseResult]) {
      for result in results where result.clause.spec == "mqtt-5.0" {
        if result.violated > 0 { violated.insert(result.clause.id) }
        if result.violated == 0, result.satisfied > 0 { kept.insert(result.clause.id) }
      }
    }
    for session in Self.all { note(try session.judged()) }
    for session in SharedCase.all where session.versions.contains(.v5_0) {
      note(try session.judged(.v5_0))
    }
    for session in SessionCase.all {
      var script = Script(version: .v5_0)
      session.script(&script)
      if script.isAsTold { note(try judge(script.events).results) }
    }
    for clause in clauses {
      if let example = ExamplePacket(clause) { note(try judge { example.write(&$0) }.results) }
    }
    let checked = Set(clauses.map(\.id))
    let neverFailed = try CatalogueGuards.neverFailed(in: ["mqtt-5.0"])
    #expect(checked.subtracting(violated).sorted() == neverFailed.sorted())
    #expect(checked.subtracting(kept).sorted() == [])
  }
}

extension Case5 {
  /// Every packet with every property that it may carry: nobody is accused.
  static let everything = Case5("every property in its place", [:]) { script in
    func all(_ place: MQTTPropertyID.Places) -> [MQTTProperty] {
      MQTTPropertyID.allCases.filter { $0.places.contains(place) }.map { id in
        switch id.kind {
        case .string: MQTTProperty(id, .string(id == .authenticationMethod ? "PLAIN" : "s"))
        case .binary: MQTTProperty(id, .binary([0xFF]))
        case .stringPair: MQTTProperty(id, .pair("k", "v"))
        default: MQTTProperty(id, .integer(id == .maximumPacketSize ? 100_000 : 1))
        }
      }
    }
    func of(_ place: MQTTPropertyID.Places, but ids: MQTTPropertyID...) -> [MQTTProperty] {
      all(place).filter { !ids.contains($0.id) }
    }
    let will = MQTTPacket.Will(topic: "w", payload: [0x61], qos: 1, properties: all(.will))
    script.agree(all(.connect), all(.connack), will: will, keepAlive: 1)
    script.client(.auth(.init(0x19, properties: all(.auth))))
    script.server(.auth(.init(0x18, properties: all(.auth))))
    script.client(.subscribe(packetID: 1, [.init("a", options: 2)], all(.subscribe)))
    script.server(.suback(packetID: 1, codes: [2], all(.suback)))
    script.publish(
      .client, "a", of(.publish, but: .subscriptionIdentifier), qos: 1, id: 2, payload: [0x61])
    script.server(.acknowledgement(.puback, packetID: 2, .init(0, properties: all(.puback))))
    script.publish(.server, "a", all(.publish), qos: 1, id: 3, payload: [0x61])
    script.client(.acknowledgement(.puback, packetID: 3, .init(0, properties: all(.puback))))
    script.publish(
      .client, "a", of(.publish, but: .subscriptionIdentifier, .topicAlias), qos: 0,
      payload: [0x61])
    // The server takes QoS 1 at most.
    script.publish(.server, "a", all(.publish), qos: 2, id: 6, payload: [0x61])
    script.client(.acknowledgement(.pubrec, packetID: 6, .init(0, properties: all(.pubrec))))
    script.server(.acknowledgement(.pubrel, packetID: 6, .init(0, properties: all(.pubrel))))
    script.client(.acknowledgement(.pubcomp, packetID: 6, .init(0, properties: all(.pubcomp))))
    script.client(.unsubscribe(packetID: 4, ["a"], all(.unsubscribe)))
    script.server(.unsuback(packetID: 4, codes: [0], all(.unsuback)))
    script.client(
      .disconnect(
        .init(
          4, properties: of(.disconnect, but: .serverReference, .sessionExpiryInterval))))
    script.close(.client)
  }
}

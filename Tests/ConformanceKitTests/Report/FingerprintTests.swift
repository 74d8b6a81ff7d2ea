import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Fingerprints of findings")
struct FingerprintTests {
  /// The findings of a session in which a client sends a bad filter.
  private func fingerprints(
    client: String = "sensor", filter: String = "plant#/boiler", connection: Int = 1,
    delay: Double = 0, id: UInt16 = 1, clause: String = "mqtt-3.1.1/MQTT-4.7.1-2"
  ) throws -> [Fingerprint] {
    var script = Script(connection: connection)
    script.open()
    script.wait(delay)
    script.client(.connect(.init(clientID: client, cleanStart: true, keepAlive: 0)))
    script.server(.connack(.init(sessionPresent: false)))
    for _ in 0..<connection { script.publish(.client, "ok") }
    script.subscribe(id, filter)
    script.finish()
    let report = try judge(script.events, options: ConformanceOptions(clauses: [clause]))
    return report.results.flatMap { result in
      result.findings.map { $0.fingerprint(of: result.clause) }
    }
  }

  @Test("The same finding of another run has the same one")
  func survives() throws {
    let first = try fingerprints()
    #expect(first.count == 1)
    #expect(try fingerprints(connection: 7, delay: 3_600, id: 99) == first)
    let random = try fingerprints(client: "mosq-PzBHxCfnp9CdrNjNTx")
    #expect(try fingerprints(client: "mosq-0aBHxCfnp9CdrNjNTq") == random)
    #expect(random != first)
  }

  @Test("Another client, another text and another clause have others")
  func differs() throws {
    let all = try [
      fingerprints(), fingerprints(client: "sensor-2"), fingerprints(filter: "plant#/motor"),
      fingerprints(clause: "mqtt-3.1.1/MQTT-3.8.3-1"),
      fingerprints(filter: "a+/b", clause: "mqtt-3.1.1/MQTT-4.7.1-3"),
    ].flatMap { $0 }
    #expect(all.count == 4 && Set(all).count == 4)
  }

  @Test(
    "What looks drawn by lot is a star",
    arguments: [
      ("sensor-2", "sensor-2"), ("mqttjs_0f3a9c21", "mqttjs_*"), ("SN12345678", "SN12345678"),
      ("550e8400-e29b-41d4-a716-446655440000", "*"), ("gw-00a1b2c3d4e5", "gw-00a1b2c3d4e5"),
      ("run-1764090000", "run-*"), ("deadbeef", "deadbeef"), ("plant/boiler", "plant/boiler"),
      ("temperaturesensor", "temperaturesensor"), ("a7Kq0ZpWm3xT9cLv", "*"), ("é-12345", "é-12345"),
    ])
  func randomNames(_ name: String, _ masked: String) { #expect(RandomName.masked(name) == masked) }

  @Test(
    "Numbers outside of quotation marks don't count, but for a QoS and codes",
    arguments: [
      ("packet of frame 12 after 3.5 s", "packet of frame # after #.# s"),
      ("QoS 3, id 7, code 0x87", "QoS 3, id #, code 0x87"),
      (#"topic "a/12" of 3"#, #"topic "a/12" of #"#), ("none", "none"), ("v5 and 5x", "v5 and 5x"),
    ])
  func numbers(_ text: String, _ masked: String) { #expect(Fingerprint.masked(text) == masked) }

  @Test("It is read as it is written")
  func reading() throws {
    let print = try #require(try fingerprints().first)
    #expect(Fingerprint(print.description) == print)
    for text in ["", "0123456789abcde", "0123456789abcdeg", "0123456789ABCDEF"] {
      #expect(Fingerprint(text) == nil)
    }
  }
}

import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Records of cases")
struct CaseRecordTests {
  /// What is known of a case by a session of MQTT 3.1.1 with one message.
  private func record(as spec: String) throws -> CaseRecord {
    let report = try judge(options: ConformanceOptions(clauses: ["MQTT-3.3.1-4"])) {
      $0.start()
      $0.client(hex: "30 04 0001 61 01")
      $0.client(.disconnect(.init()))
      $0.close(.server)
    }
    var record = CaseRecord(
      name: "message", run: "message", values: "", spec: spec, file: "test.pcap",
      clauses: ["MQTT-3.3.1-4"])
    record.take(report, spec: spec)
    return record
  }

  @Test("A clause that both versions have counts in the version of the case")
  func ownVersion() throws {
    let own = try record(as: "mqtt-3.1.1")
    #expect(own.outcome == .judged)
    #expect(own.reason == nil)
    #expect(own.failed == [])
  }

  @Test("That a clause of another version was judged says nothing of the case")
  func otherVersion() throws {
    let other = try record(as: "mqtt-5.0")
    #expect(other.outcome == .inconclusive)
    #expect(other.reason == "no MQTT 5.0 in the input; there is mqtt-3.1.1 on 1 connection")
    #expect(other.failed == [])
  }
}

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
      1, name: "message", run: "message", values: "", spec: spec, file: "test.pcap",
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

  @Test("What accuses by times that are not sure is left out, and what accuses nobody is not")
  func heldUp() throws {
    func record(flags: String) throws -> (CaseRecord, isLeftOut: Bool) {
      let report = try judge(options: ConformanceOptions(clauses: ["MQTT-3.3.1-4"])) {
        $0.start()
        $0.client(hex: "\(flags) 04 0001 61 01")
        $0.client(.disconnect(.init()))
        $0.close(.server)
      }
      var record = CaseRecord(
        1, name: "message", run: "message", values: "", spec: "mqtt-3.1.1", file: "test.pcap",
        clauses: ["MQTT-3.3.1-4"])
      let isLeftOut = record.doubts(report, heldUp: .milliseconds(68_600))
      return (record, isLeftOut)
    }
    let accusing = try record(flags: "36")
    #expect(accusing.isLeftOut)
    #expect(accusing.0.outcome == .inconclusive)
    #expect(accusing.0.failed == [])
    #expect(
      accusing.0.reason
        == "the driver was held up for 68 s, so that no time of what came is sure; run it again where there "
        + "is less to do")
    let praising = try record(flags: "30")
    #expect(!praising.isLeftOut)
    #expect(praising.0.reason == nil)
  }

  @Test(
    "Of what came of cut bytes, another violation counts, and that a server ends what nothing is wrong with"
  )
  func cut() throws {
    func outcome(_ cut: CaseRecord, than whole: CaseRecord, of subject: Peer)
      -> CaseRecord.Outcome
    {
      var cut = cut
      cut.compare(with: whole, of: subject)
      return cut.outcome
    }
    let kept = try record(as: "mqtt-3.1.1")
    let untouched = try record(as: "mqtt-5.0")
    var (violating, ended, provoked) = (kept, untouched, kept)
    violating.failed = ["MQTT-3.3.1-4"]
    ended.ends = 1
    provoked.isProvoked = true
    for subject in Peer.allCases {
      #expect(outcome(kept, than: kept, of: subject) == .judged)
      #expect(outcome(violating, than: kept, of: subject) == .changed)
      #expect(outcome(kept, than: violating, of: subject) == .changed)
      #expect(outcome(violating, than: provoked, of: subject) == .changed)
      // Only that a clause was not touched, or was.
      #expect(outcome(untouched, than: kept, of: subject) == .inconclusive)
      #expect(outcome(kept, than: untouched, of: subject) == .judged)
      #expect(outcome(ended, than: provoked, of: subject) == .inconclusive)
    }
    #expect(outcome(ended, than: kept, of: .server) == .changed)
    #expect(outcome(ended, than: kept, of: .client) == .inconclusive)
    var before = kept
    before.ends = 1
    #expect(outcome(ended, than: before, of: .server) == .inconclusive)
    // Nothing was decoded of it.
    let silent = CaseRecord(
      1, name: "message", run: "message", values: "", spec: "mqtt-3.1.1", file: "test.pcap",
      clauses: ["MQTT-3.3.1-4"])
    #expect(outcome(silent, than: kept, of: .server) == .changed)
    #expect(outcome(silent, than: provoked, of: .server) == .inconclusive)
    #expect(outcome(silent, than: kept, of: .client) == .inconclusive)
  }

  @Test("That a clause of another version was judged says nothing of the case")
  func otherVersion() throws {
    let other = try record(as: "mqtt-5.0")
    #expect(other.outcome == .inconclusive)
    #expect(other.reason == "no MQTT 5.0 in the input; there is mqtt-3.1.1 on 1 connection")
    #expect(other.failed == [])
  }
}

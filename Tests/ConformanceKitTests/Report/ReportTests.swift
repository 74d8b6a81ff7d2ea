import RepriseCore
import Testing
import Wire

@testable import ConformanceKit

@Suite("Reports")
struct ReportTests {
  /// A run with one violation, one clause that is not decided, and one that was not exercised.
  private func report() throws -> ConformanceReport {
    let clauses = ["MQTT-3.1.3-6", "MQTT-3.3.1-4", "MQTT-3.14.4-1", "MQTT-3.10.3-2"]
    return try judge(options: ConformanceOptions(specs: ["mqtt-3.1.1"], clauses: clauses)) {
      $0.start()
      $0.client(hex: "36 06 0001 61 0001 01")
      $0.client(.disconnect(.init()))
      $0.close(.server)
    }
  }

  @Test("JSON as the contract has it")
  func json() throws {
    var report = try report()
    report = report.replacingPackets(by: #"{"type":"PUBLISH"}"#)
    let expected = #"""
      {"tool":{"name":"reprise","version":"1"},"inputs":["test.pcap"],"clauses":[
      {"id":"MQTT-3.1.3-6","spec":"mqtt-3.1.1","section":"3.1.3.1","level":"MUST","actor":"server",
      "verdict":"not-applicable","reason":"nothing on the wire can tell",
      "tally":{"violated":0,"kept":0,"undecided":0},"findings":[]},
      {"id":"MQTT-3.3.1-4","spec":"mqtt-3.1.1","section":"3.3.1.2","level":"MUST","actor":"both",
      "verdict":"failed","tally":{"violated":1,"kept":1,"undecided":0},"findings":[
      {"file":"test.pcap","frame":4,"connection":1,"time":"2026-09-21T14:13:20.004000Z",
      "message":"the client sent a bad PUBLISH: QoS 3 does not exist",
      "packet":{"type":"PUBLISH"},"expected":"QoS 0, 1 or 2",
      "actual":"QoS bits 11 (first byte 0x36)","client":"c","fingerprint":"b81cd3e8ffb0de99"}]},
      {"id":"MQTT-3.10.3-2","spec":"mqtt-3.1.1","section":"3.10.3","level":"MUST",
      "actor":"client","verdict":"not-exercised",
      "tally":{"violated":0,"kept":0,"undecided":0},"findings":[]},
      {"id":"MQTT-3.14.4-1","spec":"mqtt-3.1.1","section":"3.14.4","level":"MUST",
      "actor":"client","verdict":"inconclusive",
      "reason":"the server ended the connection first",
      "tally":{"violated":0,"kept":0,"undecided":1},"findings":[],"undecided":[
      {"file":"test.pcap","frame":6,"connection":1,"time":"2026-09-21T14:13:20.006000Z",
      "reason":"the server ended the connection first"}],
      "reasons":[{"reason":"the server ended the connection first","count":1}]}],
      "protocols":[{"protocol":"mqtt-3.1.1","connections":1,"firstFile":"test.pcap"}],
      "totals":{"passed":0,"failed":1,"not-followed":0,"inconclusive":1,"not-applicable":1,
      "not-exercised":1}}
      """#
    let line = expected.replacing("\n", with: "") + "\n"
    #expect(String(decoding: report.json(), as: UTF8.self) == line)
  }

  @Test("Text for a terminal")
  func text() throws {
    let report = try report()
    let expected = """
      mqtt-3.1.1: 2 of 3 selected clauses had anything to judge

        section                         passed  failed  inconclusive  not-exercised  not-applicable
        3.1   CONNECT                        ·       ·             ·              ·               1
        3.3   PUBLISH                        ·       1             ·              ·               ·
        3.10  UNSUBSCRIBE                    ·       ·             ·              1               ·
        3.14  DISCONNECT                     ·       ·             1              ·               ·
        all                                  0       1             1              1               1

      Failed
        MQTT-3.3.1-4  section 3.3.1.2, MUST, 1× violated, 1× kept
          QoS 3 never appears in PUBLISH, and a receiver of it closes.
          test.pcap frame 4, connection 1, 2026-09-21T14:13:20.004000Z
            the client sent a bad PUBLISH: QoS 3 does not exist
            expected: QoS 0, 1 or 2
            actual:   QoS bits 11 (first byte 0x36)

      Inconclusive
        MQTT-3.14.4-1  the server ended the connection first
                       test.pcap frame 6, connection 1, 2026-09-21T14:13:20.006000Z

      """
    #expect(report.text(color: false) == expected)
    #expect(report.text(color: true).contains("\u{1B}[31mMQTT-3.3.1-4\u{1B}[0m"))
  }

  @Test("Text from the wire does not steer the terminal, and stays valid in JSON")
  func escaping() throws {
    let report = try judge(options: ConformanceOptions(clauses: ["MQTT-3.3.2-3"])) {
      $0.start()
      $0.subscribe(1, "b")
      $0.publish(.server, "$SYS/a\u{1B}[31m\"\\\n")
      $0.finish()
    }
    #expect(!report.text(color: false).contains("\u{1B}"))
    let json = String(decoding: report.json(), as: UTF8.self)
    #expect(json.contains(#"topic \"$SYS/a\u001b[31m\"\\\n\""#))
  }

  @Test("A violated SHOULD fails strict runs only")
  func strict() throws {
    let clause = try decodeClause(
      #"""
      {"id": "MQTT-2.2.2-1", "section": "2.2.2", "level": "SHOULD", "actor": "both",
       "status": "checked", "summary": "s", "observable": "trace", "scope": "frame",
       "passive": "direct", "source": "s", "check": "c", "inconclusive": "i"}
      """#)
    var script = Script()
    script.start()
    script.client(hex: "C1 00")
    for isStrict in [false, true] {
      var judge = try ConformanceJudge(
        catalogue: Catalogue([clause]), options: ConformanceOptions(isStrict: isStrict))
      judge.begin(file: "f")
      for event in script.events { event.withView { judge.consume($0) } }
      let report = judge.report(toolVersion: "1")
      #expect(report.hasFailed == isStrict)
      #expect(report.count(isStrict ? .failed : .notFollowed) == 1)
      #expect(report.count(.passed) == 0 && report.count(.inconclusive) == 0)
      #expect(report.results.first?.findings.count == 1)
      let title = isStrict ? "\nFailed\n" : "\nNot followed\n"
      #expect(report.text(color: false).contains(title + "  MQTT-2.2.2-1  section 2.2.2, SHOULD"))
    }
  }
}

extension ConformanceReport {
  /// The same report with other packets in its findings.
  fileprivate func replacingPackets(by packet: String) -> ConformanceReport {
    ConformanceReport(
      toolVersion: toolVersion, inputs: inputs,
      results: results.map { $0.replacingPackets(by: packet) }, isComplete: isComplete,
      seen: seen)
  }
}

extension ClauseResult {
  fileprivate func replacingPackets(by packet: String) -> ClauseResult {
    var copy = self
    copy.findings = findings.map {
      var finding = $0
      finding.packet = Array(packet.utf8)
      return finding
    }
    return copy
  }
}

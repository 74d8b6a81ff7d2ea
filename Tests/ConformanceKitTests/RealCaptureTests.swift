import Capture
import ConformanceKit
import Foundation
import TestSupport
import Testing

/// What real clients and servers sent, whose every finding was looked at beside tshark and the RFC.
@Suite("Real captures of WebSocket")
struct RealCaptureTests {
  /// What is violated in a capture of others, and nothing else is.
  static let violations: [String: Set<String>] = [
    // `websockets` of Python and mosquitto with its own clients, which end without Close frames.
    "made-here/g05_mqtt311_ws.pcap": [],
    "made-here/g14a_ws_json_plain.pcap": [],
    "made-here/g14b_ws_json_deflate.pcap": [],
    "made-here/g18_mqtt311_ws_mosquitto_native.pcap": ["RFC6455-7.1.2-1"],
    // Written by hand: its key has 18 bytes, and all its frames the masking key 12345678.
    "suricata-verify/websocket-control-frag.pcap": [
      "RFC6455-4.1-12", "RFC6455-5.3-2", "RFC6455-10.3-1",
    ],
    // Its client sends an empty Ping without a mask, and ends without a Close frame. The server sends an
    // empty Pong behind that, which need be no answer.
    "suricata-verify/websocket-ping.pcap": [
      "RFC6455-5.1-1", "RFC6455-5.3-1", "RFC6455-7.1.2-1",
    ],
    "suricata-verify/websocket.pcap": [],
  ]

  /// Judges a file by RFC 6455, a violated SHOULD included.
  private func judge(_ url: URL) throws -> ConformanceReport {
    var judge = try ConformanceJudge(
      catalogue: .bundled(), options: ConformanceOptions(specs: ["rfc6455"], isStrict: true))
    judge.begin(file: url.lastPathComponent)
    _ = try SessionInput.read(url.path, into: &judge)
    judge.endFile()
    return judge.report(toolVersion: "1")
  }

  @Test(
    "A capture of others has the violations that were looked at", .capturesOfOthers,
    arguments: violations.keys.sorted())
  func captures(name: String) throws {
    let report = try judge(URL(filePath: SharedCaptures.path(name)))
    let failed = Set(report.results.filter { $0.verdict == .failed }.map(\.clause.id))
    #expect(failed == Self.violations[name])
    #expect(report.count(.passed) > 20)
  }

  @Test("MQTT over WebSocket, recorded with mosquitto, keeps all but one SHOULD")
  func recording() throws {
    let folder = PackageFolder.recordings.appending(path: "mqtt-over-websocket")
    let file = folder.appending(path: "capture.pcap")
    let failed = try judge(file).results.filter { $0.verdict == .failed }
    #expect(failed.map(\.clause.id) == ["RFC6455-7.1.2-1"])
    var mqtt = try ConformanceJudge(
      catalogue: .bundled(), options: ConformanceOptions(clauses: ["mqtt-3.1.1/6"]))
    mqtt.begin(file: "capture.pcap")
    _ = try SessionInput.read(file.path, into: &mqtt)
    let report = mqtt.report(toolVersion: "1")
    let passed = report.results.filter { $0.verdict == .passed }.map(\.clause.id)
    #expect(passed.contains("MQTT-6.0.0-1"))
    #expect(passed.contains("MQTT-6.0.0-3"))
    #expect(passed.contains("MQTT-6.0.0-4"))
    #expect(!report.hasFailed)
  }
}

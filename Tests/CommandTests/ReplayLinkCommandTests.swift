import Foundation
import TestSupport
import Testing

/// `replay sdk` on the recordings of links.
@Suite struct ReplayLinkCommandTests {
  private func replay(_ file: String, _ words: String...) throws -> RepriseProcess.Result {
    let path = PackageFolder.path("Recordings/sdk/link/\(file)")
    return try RepriseProcess.run(["replay", "sdk", path, "--speed", "max"] + words)
  }

  @Test func printsWhatALinkSaw() throws {
    let name = "link-subscribe"
    for ending in ["jsonl", "pcap"] {
      let result = try replay("\(name).\(ending)")
      #expect(result.status == 0, "\(result.output)\(result.errors)")
      let lines = result.output.split(separator: "\n").map { String($0) }
      #expect(lines.first?.hasSuffix(" (UTC), user ann of app link-subscribe") == true)
      #expect(lines.contains { $0.hasSuffix("→ subscribe 2  a  features 5") })
      #expect(lines.contains { $0.hasSuffix("← presence     a  snapshot  ann  bob k=v") })
      #expect(lines.contains { $0.contains("connecting → connected  login  loginSuccess") })
      #expect(lines.last == "# the session ends: idle")
    }
    let json = try replay("\(name).jsonl", "--format", "jsonl")
    #expect(json.output.contains(#""type":"message","channel":"a","publisher":"bob""#))
    #expect(json.output.contains(#""type":"state","state":"connected","previous":"connecting""#))
  }

  /// A stream channel beats every half second, so only a session that is not joined for long can be one whose
  /// time passed faster when it was recorded.
  @Test func printsWhatAStreamChannelSaw() throws {
    let result = try replay("stream-refused.pcap")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let lines = result.output.split(separator: "\n").map { String($0) }
    #expect(lines.first?.hasSuffix(" of app stream-refused, stream channel room") == true)
    #expect(
      lines.contains { $0.hasSuffix("← state        connecting → failed  join  joinFailed  room") })
    #expect(lines.contains { $0.hasSuffix("connecting → connected  join  joinSuccess  room") })
    #expect(lines.last == "# the session ends: idle")
  }

  /// Time passed faster when it was recorded, and so no heartbeat is due.
  @Test func aDivergenceFailsAndSaysWhatToType() throws {
    let result = try replay("link-heartbeat.jsonl")
    #expect(result.status == 1)
    #expect(result.output.contains("actual:   no heartbeat is due then; "))
    #expect(result.output.contains("next:     reprise inspect "))
    let json = try replay("link-heartbeat.jsonl", "--format", "jsonl")
    #expect(json.status == 1 && json.output.contains(#""type":"divergence""#))
  }
}

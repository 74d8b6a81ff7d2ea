import AppSessions
import Foundation
import RepriseCore
import TestSupport
import Testing

/// `replay sdk` on the recordings of gateways.
@Suite struct ReplayGatewayCommandTests {
  private let scratch = Scratch()

  private func replay(_ path: String, _ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(["replay", "sdk", path, "--speed", "max"] + words)
  }

  @Test(arguments: ["jsonl", "pcap"])
  func printsWhatAGatewaySaw(ending: String) throws {
    let result = try replay(SDKRecording.path("gateway/commands.\(ending)"))
    #expect(result.status == 0 && result.errors == "", "\(result.output)\(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasSuffix("2026-11-22 (UTC), gateway commands&a1pk") == true)
    let arrows = lines.compactMap { line -> String? in
      guard let arrow = line.firstIndex(where: { "→←·".contains($0) }) else { return nil }
      return String(line[arrow...])
    }
    #expect(
      arrows.prefix(12) == [
        "→ start 1", "← state        connecting", "← state        connected",
        "← start 1      ok", "→ line 2       commands/lamp",
        "→ addTopology 3 commands/lamp", "← line         commands/lamp  ready",
        "← line 2       ok", "← line         commands/lamp  topology", "← addTopology 3 ok",
        "→ logIn 4      commands/lamp", "← line         commands/lamp  online",
      ])
    for line in [
      #"← command      commands/lamp  property/set  {"Power":0}"#,
      #"→ answer 9     /sys/commands/lamp/thing/service/property/get  {"code":200,"data":{"Power":0}}"#,
      "· note         what came on /sys/commands/lamp/thing/service/blink is no command",
    ] { #expect(arrows.contains(line)) }
    #expect(lines.suffix(2).first == "# the session ends: disconnected, 0 sub-devices online")
  }

  @Test func printsJSON() throws {
    let result = try replay(
      SDKRecording.path("gateway/topology-change.jsonl"), "--format", "jsonl")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let values = result.output.split(separator: "\n").map { JSONValue(parsing: Array($0.utf8)) }
    let types = values.compactMap { $0?["type"]?.text }
    #expect(types.count == values.count && types.last == "end")
    let notices = values.filter { $0?["type"]?.text == "notice" }
    #expect(notices.map { $0?["status"]?.integer } == [0, 8, 2, 1, 77, 0])
    #expect(notices.last??["subdevices"] == ["topology-change/fan"])
    #expect(values.last??["state"]?.text == "disconnected")
  }

  /// A device's signature is nothing that a replay shows.
  @Test func showsNoSignatures() throws {
    for words in [["--show-secrets"], []] {
      let path = SDKRecording.path("gateway/login.pcap")
      let result = try RepriseProcess.run(
        ["replay", "sdk", path, "--format", "jsonl", "--speed", "max"] + words)
      #expect(result.status == 0 && result.output.contains("logIn"))
      #expect(!result.output.contains("sign"))
    }
  }

  @Test func aDivergenceFailsAndSaysWhatToType() throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("gateway/lost-while-online.jsonl"), lines: #""frame":32,"#,
      #"\"cleanSession\":\"true\""#, #"\"cleanSession\":\"false\""#)
    let file = try scratch.write(text, to: "lost.jsonl").path
    let result = try replay(file)
    #expect(result.status == 1 && result.errors == "")
    #expect(result.output.contains("  at:       frame 32, connection 2, "))
    #expect(result.output.contains("  differs:  payload.params.cleanSession: expected "))
    #expect(result.output.contains("  next:     reprise inspect "))
    let json = try replay(file, "--format", "jsonl")
    #expect(json.status == 1 && json.output.contains(#""type":"divergence""#))
  }

  // MARK: A gateway that rides on a channel's connection

  @Test(arguments: ["jsonl", "pcap"])
  func printsWhatBothOfASharedConnectionSaw(ending: String) throws {
    let result = try replay(SDKRecording.path("gateway/riding.\(ending)"))
    #expect(result.status == 0 && result.errors == "", "\(result.output)\(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasSuffix("(UTC), app riding&a1pk with gateway riding&a1pk") == true)
    for line in [
      "→ channel start 1", "← channel state connected", "→ gateway start 2",
      "← gateway state connected", #"→ channel invoke 3 /a  {"v":1}"#,
      "→ gateway line 4 riding/lamp", #"← channel message /x  {"to":"the channel"}"#,
      #"← channel invoke 3 ok  {"for":"the channel"}"#, "→ gateway stop 6",
    ] {
      #expect(lines.contains { $0.contains(line) }, "\(line)\n\(result.output)")
    }
    #expect(
      lines.suffix(2).first
        == "# the session ends: channel disconnected, account unbound; gateway disconnected, "
        + "0 sub-devices online")
    #expect(lines.last?.hasPrefix("# channel: messages 2, ") == true)
    #expect(lines.last?.contains("; gateway: messages 1, ") == true)
  }

  @Test func printsBothAsJSON() throws {
    let result = try replay(SDKRecording.path("gateway/riding-loss.jsonl"), "--format", "jsonl")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let values = result.output.split(separator: "\n").map { JSONValue(parsing: Array($0.utf8)) }
    let states = values.filter { $0?["type"]?.text == "state" }.map { value in
      "\(value?["system"]?.text ?? "-") \(value?["state"]?.text ?? "-")"
    }
    #expect(
      states == [
        "channel connecting", "channel connected", "gateway connecting", "gateway connected",
        "channel disconnected", "gateway disconnected", "channel connecting", "gateway connecting",
        "channel connected", "gateway connected", "channel disconnected", "gateway disconnected",
      ], "\(states)")
    #expect(values.last??["channel"]?["lostConnections"]?.integer == 1)
    // One broke, and the channel closed the other while the gateway was still there.
    #expect(values.last??["gateway"]?["lostConnections"]?.integer == 2)
    #expect(values.last??["gateway"]?["lines"] == ["riding-loss/lamp": "topology"])
  }

  @Test func aDivergenceOfASharedConnectionFails() throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("gateway/riding-loss.jsonl"), lines: #""frame":28,"#,
      #"\"cleanSession\":\"true\""#, #"\"cleanSession\":\"false\""#)
    let result = try replay(try scratch.write(text, to: "shared.jsonl").path)
    #expect(result.status == 1 && result.errors == "")
    #expect(result.output.contains("  at:       frame 28, connection 2, "))
    #expect(result.output.contains("  differs:  payload.params.cleanSession: expected "))
  }
}

import Foundation
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// `reprise replay serve` and `reprise replay drive` on WebSocket without MQTT: with each other, and with libwebsockets.
@Suite struct ReplaySocketTests {
  private let directory = Scratch()

  private static func recording(_ name: String) -> String {
    PackageFolder.path("Recordings/sdk/requests/\(name)")
  }

  /// Sessions of the SDK's requests over WebSocket, with what a server does wrong and by which the client is let down.
  static let sessions = [
    "answer-errors.pcap", "answers-crossing.pcap", "answers-crossing.jsonl", "ask.pcap",
    "ask-next-connection.pcap", "login-wanted.pcap", "push.pcap", "server-hangs-up.pcap",
    "server-odd-answers.pcap", "server-pushes.pcap", "socket-close.pcap",
    "socket-foreign-subprotocol.pcap", "socket-heartbeat.pcap", "socket-refused.pcap",
    "socket-wrong-accept.pcap",
  ]

  @Test(
    "Both ends of a session go through it together", arguments: sessions, ["ws", "wss"])
  func bothEnds(session: String, scheme: String) async throws {
    let file = Self.recording(session)
    let driven = directory.file("driven.txt")
    let run = try await RunningCommand.run(
      [
        "replay", "serve", file, "--speed", "max", "--", RunningCommand.path, "replay", "drive",
        file, "\(scheme)://localhost:{port}", "--speed", "max", "-o", driven,
      ] + (scheme == "wss" ? ["--ca-file", "{ca}"] : []), in: directory)
    #expect(run.status == 0, "\(run.output)\(run.errors)")
    // What the recorded server did wrong is done again, and nothing else is wrong.
    let mistakes = ["socket-foreign-subprotocol.pcap", "socket-wrong-accept.pcap"]
    #expect(run.output.contains("  ! ") == mistakes.contains(session))
    let served = run.output.withoutTimes
    #expect(served.count > 2 && run.output.contains("\n# the session ends: "))
    #expect(Set(served) == Set(try String(contentsOfFile: driven, encoding: .utf8).withoutTimes))
  }

  @Test("A client of libwebsockets gets the answer to its own request")
  func servesLibwebsockets() async throws {
    let server = try RunningCommand(
      [
        "replay", "serve", Self.recording("ask.pcap"), "--speed", "max", "--listen",
        "127.0.0.1:0",
      ], in: directory)
    let text = "listening on 127.0.0.1:"
    try await server.tells(text)
    let port = server.errors.split(separator: text).last?.prefix { $0.isNumber } ?? "0"
    let client = try WebSocketClient(url: "ws://127.0.0.1:\(port)/")
    guard case .connected = try await client.after(.connect(ConnectOptions())) else {
      Issue.record("not connected")
      return
    }
    let asked =
      #"{"uniqueId":4711,"content":"{\"question\":\"Are you OK?\",\"userId\":1}","method":"POST","#
      + #""product":"app_iOS","service":"test-services/nlu/analyze"}"#
    #expect(
      try await client.after(.sendText(asked))
        == .text(
          #"{"uniqueId":4711,"product":"app_iOS","service":"test-services/nlu/analyze","#
            + #""method":"POST","content":"{\"ret_code\":\"0000\",\"result\":[1]}"}"#))
    try await client.perform(ClientAction(ClientAction.ID(rawValue: 2), .disconnect))
    #expect(try await server.wait() == 0, "\(server.text)")
  }

  @Test("A server that answers something else diverges at the place, and one of MQTT is none")
  func serverDiverges() async throws {
    let file = Self.recording("ask.pcap")
    let other = directory.file("other.jsonl")
    _ = try await RunningCommand.run(["convert", file, "-o", other], in: directory)
    let whole = try String(contentsOfFile: other, encoding: .utf8)
    try directory.write(whole.replacing("0000", with: "0001"), to: "other.jsonl")
    let run = try await RunningCommand.run(
      [
        "replay", "serve", other, "--speed", "max", "--", RunningCommand.path, "replay", "drive",
        file, "{url}", "--speed", "max", "-o", directory.file("driven.txt"),
      ], in: directory)
    let driven = try String(contentsOfFile: directory.file("driven.txt"), encoding: .utf8)
    #expect(run.status != 2, "\(run.output)\(run.errors)")
    #expect(driven.contains("the replay diverged: the session has another action here\n"))
    #expect(driven.contains("  at:       frame 10, connection 1, "))
    #expect(driven.contains("  differs:  text.content.ret_code: expected "), "\(driven)")

    let mqtt = try await RunningCommand.run(
      ["replay", "drive", file, "mqtt://127.0.0.1:1"], in: directory)
    #expect(mqtt.status == 2 && mqtt.output == "")
    #expect(
      mqtt.errors.contains(
        "mqtt://127.0.0.1:1 is a URL of MQTT, and the session is WebSocket without it; type "
          + "ws://HOST:PORT/PATH or wss://HOST:PORT/PATH"), "\(mqtt.errors)")
    let named = try await RunningCommand.run(
      ["replay", "drive", file, "ws://127.0.0.1:1", "--username", "u"], in: directory)
    #expect(named.status == 2 && named.errors.contains("--header 'Authorization: ...'"))
  }
}

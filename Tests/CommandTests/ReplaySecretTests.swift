import Foundation
import RepriseCore
import TestSupport
import Testing

/// What `reprise replay sdk` tells of messages that have secrets in them.
@Suite struct ReplaySecretTests {
  private let scratch = Scratch()

  /// A session with another payload in its first push.
  private func session(pushing payload: String) throws -> String {
    let recording = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Recordings/account-bind/session.jsonl")
    let text = try String(contentsOf: recording.standardizedFileURL, encoding: .utf8)
    let push = try #require(
      text.split(separator: "\n").first { $0.contains(#"/app/down/thing/properties""#) })
    let event = try #require(JSONValue(parsing: Array(push.utf8)))
    let old = try #require(event["payload"]?["utf8"]?.text)
    let length = try #require(event["length"]?.integer)
    let changed = String(push)
      .replacing(Self.quoted(old), with: Self.quoted(payload))
      .replacing(
        "\"length\":\(length)",
        with: "\"length\":\(length - old.utf8.count + payload.utf8.count)")
    #expect(changed.contains("secret-1"))
    return text.replacing(push, with: changed)
  }

  private static func quoted(_ text: String) -> String {
    String(decoding: JSONValue.string(text).utf8, as: UTF8.self)
  }

  /// Also those in text that is no JSON as a whole, or in a string of JSON.
  @Test(arguments: [
    #"at once {"iotToken":"secret-1"}"#, #"{"content":"{\"iotToken\":\"secret-1\"}"}"#,
  ])
  func hidesSecretsInAnyMessage(_ payload: String) throws {
    let file = try scratch.write(session(pushing: payload), to: "odd.jsonl").path
    for format in ["text", "jsonl"] {
      let words = ["replay", "sdk", file, "--format", format, "--speed", "max"]
      let hidden = try RepriseProcess.run(words)
      #expect(hidden.status == 0 && hidden.output.contains("/thing/properties"))
      #expect(!hidden.output.contains("secret-1"))
      let shown = try RepriseProcess.run(words + ["--show-secrets"])
      #expect(shown.output.contains("secret-1"))
    }
  }
}

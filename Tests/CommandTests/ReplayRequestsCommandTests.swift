import AppSessions
import CloudSimulator
import Foundation
import RepriseCore
import TestSupport
import Testing

/// `replay sdk` on the recordings of requests.
@Suite struct ReplayRequestsCommandTests {
  private let scratch = Scratch()

  private func replay(_ path: String, _ words: String...) throws -> RepriseProcess.Result {
    try RepriseProcess.run(["replay", "sdk", path, "--speed", "max"] + words)
  }

  @Test(arguments: ["jsonl", "pcap"])
  func printsWhatAConnectionSaw(ending: String) throws {
    let result = try replay(SDKRecording.path("requests/ask.\(ending)"))
    #expect(result.status == 0 && result.errors == "", "\(result.output)\(result.errors)")
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first?.hasSuffix("ask.\(ending), 2026-11-22 (UTC), requests") == true)
    let arrows = lines.compactMap { line -> String? in
      guard let arrow = line.firstIndex(where: { "→←·".contains($0) }) else { return nil }
      return String(line[arrow...])
    }
    #expect(
      arrows == [
        "→ open 1", "← state        connecting", "← state        open", "← open 1       ok",
        #"→ request 2    test-services/nlu/analyze  {"question":"Are you OK?","userId":1}"#,
        #"← request 2    ok  {"ret_code":"0000","result":[1]}"#,
        "→ close 3", "← state        closing", "← state        idle", "← close 3      ok",
      ])
    #expect(
      lines.suffix(2) == [
        "# the session ends: idle",
        "# messages 0, late answers 0, repeated 0, lost connections 0",
      ])
  }

  @Test func printsJSON() throws {
    let result = try replay(SDKRecording.path("requests/push.jsonl"), "--format", "jsonl")
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    let values = result.output.split(separator: "\n").map { JSONValue(parsing: Array($0.utf8)) }
    let types = values.compactMap { $0?["type"]?.text }
    #expect(types.count == values.count && types.last == "end")
    #expect(types.contains("message") && types.contains("state") && types.contains("call"))
    let call = try #require(values.first { $0?["name"]?.text == "request" } ?? nil)
    #expect(call["service"]?.text != nil && call["parameters"] != nil)
    #expect(values.last??["state"]?.text == "idle")
    #expect(values.last??["openCalls"] == .array([]))
  }

  @Test func hidesSecretsUnlessAskedNotTo() throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("requests/ask.jsonl"), lines: #""from":"client""#,
      "question", "password")
    let file = try scratch.write(text, to: "ask.jsonl").path
    for format in ["text", "jsonl"] {
      let hidden = try replay(file, "--format", format)
      #expect(hidden.status == 0 && !hidden.output.contains("Are you OK"))
      let shown = try replay(file, "--format", format, "--show-secrets")
      #expect(shown.output.contains("Are you OK"))
    }
  }

  @Test func aDivergenceFailsAndSaysWhatToType() throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("requests/socket-heartbeat.jsonl"), lines: #""frame":10,"#,
      "app_iOS", "app_iot")
    let file = try scratch.write(text, to: "beat.jsonl").path
    let result = try replay(file)
    #expect(result.status == 1 && result.errors == "")
    #expect(result.output.contains("  at:       frame 10, connection 1, "))
    #expect(
      result.output.contains("  differs:  text.product: expected \"app_iot\", actual \"app_iOS\""))
    #expect(result.output.contains("  next:     reprise inspect "))
    let json = try replay(file, "--format", "jsonl")
    #expect(json.status == 1 && json.output.contains(#""type":"divergence""#))
  }

  @Test func otherMessagesAreNoRequests() throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("requests/ask.jsonl"), lines: #""from":"client""#, "service", "path")
    let file = try scratch.write(text, to: "other.jsonl").path
    let result = try replay(file)
    #expect(result.status == 2 && result.output == "")
    #expect(
      result.errors
        == "reprise: \(file): the session is one of WebSocket, but not of requests: these are objects of "
        + "JSON with a service and a uniqueId, and the first text is one with content, method, "
        + "product, path, uniqueId; type reprise inspect \(file) to see what it is, and tell keys of "
        + "the app's own with --envelope FILE\n")
  }

  // MARK: Keys of the app's own

  @Test(arguments: [#"{"login":"in","envelope":ENVELOPE}"#, "ENVELOPE"])
  func replaysKeysOfTheAppsOwn(file: String) async throws {
    let recording = String(decoding: try await RequestSession.record(["a"]), as: UTF8.self)
    let session = try scratch.write(recording, to: "own.jsonl").path
    let envelope = try scratch.write(
      file.replacing("ENVELOPE", with: RequestSession.envelopeJSON), to: "server.json"
    ).path
    let result = try replay(session, "--envelope", envelope)
    #expect(result.status == 0 && result.errors == "", "\(result.output)\(result.errors)")
    #expect(result.output.contains(#"→ request 2    a  {"question":"Are you OK?"}"#))
    #expect(result.output.contains(#"← request 2    ok  {"question":"Are you OK?"}"#))
    let steps = try RepriseProcess.run(
      ["view", "--sdk", "requests", session, "--at", "5", "--envelope", envelope])
    #expect(steps.status == 0 && steps.output.contains(" a "), "\(steps.output)\(steps.errors)")
    // What is not told is missed.
    let untold = try replay(session)
    #expect(untold.status == 2 && untold.output == "")
    #expect(
      untold.errors.contains(
        "with a service and a uniqueId, and the first text is one with body, verb, app, path, seq; "
      ))
    #expect(untold.errors.hasSuffix(" and tell keys of the app's own with --envelope FILE\n"))
  }

  /// What reads sessions pairs requests and answers by the key that it is told, and by no other.
  @Test func whatReadsSessionsIsToldTheKeys() async throws {
    let script = RequestScript(answers: [.init(delay: .seconds(5))])
    let recording = String(decoding: try await RequestSession.record(["a"], script), as: UTF8.self)
    let session = try scratch.write(recording, to: "own.jsonl").path
    let envelope = try scratch.write(RequestSession.envelopeJSON, to: "envelope.json").path
    func run(_ words: [String]) throws -> String {
      let result = try RepriseProcess.run(words)
      #expect(result.status == 0 && result.errors == "", "\(result.errors)")
      return result.output
    }
    for (words, sign) in [
      (["stats", session], "→ text with id, answer      1  5.0 s"),
      (["story", session, "--connection", "1"], "Slow: text with id, answer of frame 5"),
      (["view", session, "--at", "5"], "→ answered by frame 6 TEXT, after 5.0"),
    ] {
      let told = try run(words + ["--envelope", envelope])
      #expect(told.contains(sign), "\(told)")
      #expect(try !run(words).contains(sign))
    }
  }

  @Test func aKeyThatIsNotTheAppsIsADivergence() async throws {
    let recording = String(decoding: try await RequestSession.record(["a"]), as: UTF8.self)
    let session = try scratch.write(recording, to: "own.jsonl").path
    let other = RequestSession.envelopeJSON.replacing("verb", with: "how")
    let envelope = try scratch.write(other, to: "envelope.json").path
    let result = try replay(session, "--envelope", envelope)
    #expect(result.status == 1 && result.errors == "")
    #expect(result.output.contains("text.verb: expected \"POST\", actual "), "\(result.output)")
  }

  @Test(arguments: [
    (#"{"ids":"n"}"#, "ids is no key here; did you mean \"id\"?"),
    (#"{"id":"service"}"#, #"service is "service", as id is; each needs a key of its own"#),
    ("{", "the envelope is no JSON at line 1, column 2: "),
  ])
  func saysWhatIsWrongWithAnEnvelope(json: String, message: String) throws {
    let envelope = try scratch.write(json, to: "envelope.json").path
    let result = try replay(SDKRecording.path("requests/ask.jsonl"), "--envelope", envelope)
    #expect(result.status == 2 && result.output == "")
    #expect(result.errors.hasPrefix("reprise: \(envelope): \(message)"), "\(result.errors)")
    #expect(result.errors.hasSuffix("; type reprise help simulate-frames for an example\n"))
    let missing = try replay(SDKRecording.path("requests/ask.jsonl"), "--envelope", "/no")
    #expect(
      missing.errors == "reprise: --envelope /no: no such file or directory; check the path\n")
  }

  @Test func anEnvelopeIsForRequests() throws {
    let envelope = try scratch.write("{}", to: "envelope.json").path
    let result = try replay(SDKRecording.path("channel/bind.jsonl"), "--envelope", envelope)
    #expect(result.status == 0 && !result.output.isEmpty, "\(result.output)\(result.errors)")
    #expect(result.errors.contains("note: --envelope changes nothing: the session is that of app "))
  }
}

import DeviceSDK
import RepriseCore
import TestSupport
import Testing

/// The request model on a server, on a folder of answers, and on a recording of the first.
@Suite struct RequestReplayTests {
  /// A server that echoes the question of a request, and knows one service.
  private func server() -> ScriptedClient {
    ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"],
          let content = value["content"]?.text,
          let question = JSONValue(parsing: Array(content.utf8))?["question"]
        else {
          guard let id = JSONValue(parsing: Array(text.utf8))?["uniqueId"],
            text.contains("bare")
          else { return [] }
          let error: JSONValue = ["code": 3, "desc": "internal"]
          return [.text(Self.text(["uniqueId": id, "service": "bare", "error": error]))]
        }
        return [
          .text(
            Self.text([
              "uniqueId": id, "service": value["service"] ?? .null, "content": ["echo": question],
            ]))
        ]
      case .subscribe, .unsubscribe, .publish, .send, .sendBinary: return []
      }
    }
  }

  private static func text(_ value: JSONValue) -> String {
    String(decoding: value.utf8, as: UTF8.self)
  }

  /// What a user of the provider gets.
  private func run(
    on client: some DataClient, asking question: String = "b"
  ) async throws -> [String] {
    let provider = RequestProvider<SampleAPI>(client: client)
    var lines: [String] = []
    for target in [SampleAPI.analyze(question: "a"), .bare, .analyze(question: question)] {
      do {
        let answer = try await provider.answer(to: target)
        lines.append("\(answer.service) \(Self.text(answer.content))")
      } catch let error as RequestError {
        lines.append("\(error.kind) \(error.serverCode ?? 0)")
      }
    }
    try await provider.close()
    return lines
  }

  @Test func aRecordingGivesTheSameAnswers() async throws {
    let recorder = try RecordingClient(server(), to: MemorySink(), url: "ws://host/api")
    let live = try await run(on: recorder)
    try recorder.finish()
    #expect(live.count == 3 && live.first == #"test-services/nlu/analyze {"echo":"a"}"#)
    let text = String(decoding: recorder.sink.bytes, as: UTF8.self)
    let replay = try ReplayClient(EventList(recording: Array(text.utf8)).events)
    #expect(try await run(on: replay) == live)
    try replay.finish()

    // Another run of the application may have had other numbers.
    let other = text.replacing(#"\"uniqueId\":"#, with: #"\"uniqueId\":10"#)
    #expect(other != text)
    let again = try ReplayClient(EventList(recording: Array(other.utf8)).events)
    #expect(try await run(on: again) == live)
    try again.finish()
  }

  @Test func anotherRequestIsADivergence() async throws {
    let recorder = try RecordingClient(server(), to: MemorySink())
    _ = try await run(on: recorder)
    let text = String(decoding: recorder.sink.bytes, as: UTF8.self)
    let replay = try ReplayClient(EventList(recording: Array(text.utf8)).events)
    let error = await #expect(throws: DataClientError.self) {
      try await run(on: replay, asking: "c")
    }
    #expect(error?.code == .diverged)
    #expect(
      replay.divergence?.differences == [
        ReplayDifference(place: "text.content.question", expected: #""b""#, actual: #""c""#)
      ])
  }
}

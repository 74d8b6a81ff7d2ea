import RepriseCore
import Testing

/// Folders that answer messages without topics.
@Suite struct FrameAnswersTests {
  private static let file = #"""
    {"greeting": [{"payload": {"hello": 1}, "after": 0.5}],
     "messages": [
       {"match": {"service": "a", "n": 1.0},
        "answers": [{"payload": {"uniqueId": "{{payload.uniqueId}}", "echo": "{{payload.service}}!"}, "after": 1},
                    {"base64": "AP8="}]},
       {"text": "ping", "answers": [{"payload": "pong"}]},
       {"match": {"service": "quiet"}, "answers": []},
       {"match": {"service": "needs"}, "answers": [{"payload": "{{payload.missing}}"}]}]}
    """#

  private func client(_ file: String = Self.file) throws -> LocalFileClient {
    try LocalFileClient(files: ["frames.json": Array(file.utf8)])
  }

  /// What comes after an action.
  private func seen(_ kind: ClientAction.Kind) async throws -> [ClientEvent] {
    let client = try client()
    var user = Actor(client)
    try await user.do(.connect(ConnectOptions()))
    #expect(try await client.next(before: nil) == .connected(.init()))
    #expect(try await client.next(before: nil) == .text(#"{"hello":1}"#))
    try await user.do(kind)
    var events: [ClientEvent] = []
    let end = client.now.advanced(by: .seconds(10))
    while case let event = try await client.next(before: end), event != .deadline {
      events.append(event)
    }
    return events
  }

  @Test(
    arguments: [
      (
        .sendText(#"{"uniqueId":7,"service":"a","n":1,"more":[]}"#),
        [.binary([0, 255]), .text(#"{"uniqueId":7,"echo":"a!"}"#)]
      ),
      (.sendText("ping"), [.text("pong")]), (.sendBinary(Array("ping".utf8)), [.text("pong")]),
      (.sendText(#"{"service":"quiet"}"#), []),
    ] as [(ClientAction.Kind, [ClientEvent])])
  func answers(_ kind: ClientAction.Kind, _ expected: [ClientEvent]) async throws {
    #expect(try await seen(kind) == expected)
  }

  @Test(arguments: ["unknown", #"{"service":"a","n":2}"#, #"{"service":"needs"}"#, "[1]"])
  func saysThatThereIsNoAnswer(text: String) async throws {
    let error = await #expect(throws: DataClientError.self) {
      _ = try await seen(.sendText(text))
    }
    #expect(error?.code == .noAnswer)
  }

  @Test func canDoWhatThereAreFilesFor() async throws {
    #expect(try client().capabilities == [.frames, .requests, .push, .binary])
    let both = try LocalFileClient(files: [
      "frames.json": Array("{}".utf8), "topics.json": Array("{}".utf8),
    ])
    #expect(both.capabilities.isSuperset(of: [.frames, .messages]))
    let none = try LocalFileClient(files: [:])
    #expect(!none.capabilities.contains(.frames) && none.capabilities.contains(.messages))
    var user = Actor(none)
    try await user.do(.connect(ConnectOptions()))
    _ = try await none.next(before: nil)
    let error = await #expect(throws: DataClientError.self) { try await user.do(.sendText("x")) }
    #expect(error?.code == .unsupported)
  }

  @Test(
    arguments: [
      .publish(Message("t", "")), .subscribe([Subscription("t")]), .unsubscribe(["t"]),
    ] as [ClientAction.Kind])
  func hasNoTopicsWithoutAFileOfThem(_ kind: ClientAction.Kind) async throws {
    let client = try client()
    var user = Actor(client)
    try await user.do(.connect(ConnectOptions()))
    _ = try await client.next(before: nil)
    let error = await #expect(throws: DataClientError.self) { try await user.do(kind) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.contains("write topics.json") == true)
  }

  @Test func needsAConnection() async throws {
    var user = Actor(try client())
    let error = await #expect(throws: DataClientError.self) { try await user.do(.sendText("ping")) }
    #expect(error?.code == .notConnected)
  }

  @Test(arguments: [
    (#"{"messages":[{"text":"x"}]}"#, "messages[0].answers is missing"),
    (#"{"messages":[{"answers":[{"topic":"x"}]}]}"#, "messages[0].answers[0].topic is no key here"),
    (#"{"greetings":[]}"#, #"did you mean "greeting"?"#),
    (#"{"messages":[{"answers":[{"base64":"!"}]}]}"#, "answers[0].base64 is not canonical base 64"),
    (#"{"greeting":[{"payload":"{{topic}}"}]}"#, "{{topic}}, which is none of id, payload.…, now"),
  ])
  func namesThePlaceOfAMistake(file: String, message: String) {
    let error = #expect(throws: DataClientError.self) { try client(file) }
    #expect(error?.code == .unreadable)
    #expect(error?.message.hasPrefix("frames.json: ") == true)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }
}

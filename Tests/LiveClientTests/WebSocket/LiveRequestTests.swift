import Capture
import DeviceSDK
import Foundation
import LiveClient
import LiveHTTP
import RepriseCore
import Synchronization
import TestSupport
import Testing

/// What the servers of these tests know.
private enum SampleAPI: RequestTarget {
  case analyze(question: String)
  case news, hangUp, secret, login

  var service: String {
    switch self {
    case .analyze: "test-services/nlu/analyze"
    case .news: "news"
    case .hangUp: "hang-up"
    case .secret: "secret"
    case .login: "login"
    }
  }

  var parameters: JSONValue {
    switch self {
    case .analyze(let question): ["userId": 1, "question": .string(question)]
    case .news, .hangUp, .secret, .login: [:]
    }
  }
}

/// The provider on sockets.
@Suite struct LiveRequestTests {
  private static let answer = #"{"ret_code":"0000","result":[1]}"#

  /// As patient as a busy machine needs it.
  private static let patient: RequestConfiguration = {
    var configuration = RequestConfiguration()
    configuration.timeout = .seconds(600)
    configuration.connectTimeout = .seconds(600)
    return configuration
  }()

  /// Answers every request with what it was asked, tells news, and closes when it is asked to.
  @Sendable private static func attend(_ connection: WebSocketServerConnection) async throws {
    for await event in connection.events {
      guard case .text(let text) = event, let request = JSONValue(parsing: Array(text.utf8)),
        let id = request["uniqueId"], let service = request["service"]?.text,
        let content = request["content"]
      else { continue }
      if service == SampleAPI.hangUp.service {
        try connection.close(code: 1001)
        continue
      }
      if service == SampleAPI.news.service { try await connection.send(#"{"news":"rain"}"#) }
      let answer: JSONValue = ["uniqueId": id, "service": .string(service), "content": content]
      try await connection.send(String(decoding: answer.utf8, as: UTF8.self))
    }
  }

  private static func withServer(
    _ attend: @escaping @Sendable (WebSocketServerConnection) async throws -> Void,
    _ body: (String) async throws -> Void
  ) async throws {
    try await withWebSocketServer { server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await server.serve(attend) }
        try await body(server.url)
        group.cancelAll()
      }
    }
  }

  @Test func aProviderGoesOnOnItsNextConnection() async throws {
    var configuration = Self.patient
    configuration.reconnect = BackOff(first: .milliseconds(10), jitterPercent: 0)
    configuration.whileConnecting = .queue(limit: 9)
    configuration.closeTimeout = .seconds(600)
    try await Self.withServer(Self.attend) { url in
      let provider = RequestProvider<SampleAPI>(
        client: try WebSocketClient(url: url), configuration: configuration)
      let connection = try #require(provider.connection)
      let states = connection.stateChanges
      var messages = connection.serverMessages().makeAsyncIterator()
      let first = try await provider.answer(to: .analyze(question: "ä?"))
      #expect(first.content == ["question": "ä?", "userId": 1])
      #expect(try await provider.answer(to: .news).content == [:])
      #expect(await messages.next() == .json(["news": "rain"]))

      let error = try await #require(throws: RequestError.self) {
        try await provider.answer(to: .hangUp)
      }
      #expect(error.kind == .serverConnection)
      let second = try await provider.answer(to: .analyze(question: "b"))
      #expect(second.content == ["question": "b", "userId": 1])
      #expect(connection.statistics.lostConnections == 1)
      try await provider.close()
      #expect(
        await states.reduce(into: []) { $0.append($1.state) } == [
          .connecting, .open, .waiting, .connecting, .open, .closing, .idle,
        ])
    }
  }

  // MARK: One target, four worlds

  /// The world makes no difference to who asks.
  private func ask(_ client: some DataClient) async throws -> JSONValue {
    var configuration = Self.patient
    configuration.heartbeatInterval = nil
    let provider = RequestProvider<SampleAPI>(
      client: client, configuration: configuration, plugins: [BusinessErrors(unwrapsResult: true)])
    let answer: [Int] = try await provider.request(.analyze(question: "Are you OK?"))
    try await provider.close()
    return .array(answer.map { .number("\($0)") })
  }

  @Test func oneTargetRunsOverAWebSocket() async throws {
    let asked = JSONValue.string(#"{"question":"Are you OK?","userId":1}"#)
    try await Self.withServer({ connection in
      for await case .text(let text) in connection.events {
        guard let request = JSONValue(parsing: Array(text.utf8)), request["content"] == asked,
          let id = request["uniqueId"], let service = request["service"]
        else { continue }
        let answer: JSONValue = [
          "uniqueId": id, "service": service, "content": .string(Self.answer),
        ]
        try await connection.send(String(decoding: answer.utf8, as: UTF8.self))
      }
    }) { url in
      let answer = try await ask(WebSocketClient(url: url))
      #expect(answer == [1])
    }
  }

  @Test func oneTargetRunsOverHTTP() async throws {
    let server = try ScriptedServer(answering: { line, body in
      line.hasPrefix("POST /api/test-services/nlu/analyze ")
        && body == #"{"question":"Are you OK?","userId":1}"# ? Self.answer : "null"
    })
    let client = try HTTPClient(url: "http://127.0.0.1:\(server.port)/api", timeout: 600)
    #expect(try await ask(client) == [1])
  }

  @Test func oneTargetRunsOnLocalFiles() async throws {
    let file = """
      {"messages": [{"match": {"service": "test-services/nlu/analyze"}, "answers": [{"payload":
        {"uniqueId": "{{payload.uniqueId}}", "service": "{{payload.service}}",
         "content": \(Self.answer)}}]}]}
      """
    #expect(try await ask(LocalFileClient(files: ["frames.json": Array(file.utf8)])) == [1])
  }

  @Test(arguments: ["pcap", "jsonl"])
  func oneTargetRunsOnACapture(ending: String) async throws {
    let client = try ReplayClient(
      contentsOf: PackageFolder.path("Recordings/sdk/requests/ask.\(ending)"))
    #expect(try await ask(client) == [1])
    try client.finish()
  }

  // MARK: HTTP

  /// Code 4 stands in the body there, and not in an envelope.
  @Test func aServerOfHTTPMayWantALoginToo() async throws {
    let paths = Mutex<[String]>([])
    let server = try ScriptedServer(answering: { line, _ in
      let path = line.split(separator: " ").dropFirst().first.map(String.init) ?? ""
      let seen = paths.withLock { paths in
        paths.append(path)
        return paths
      }
      return seen.contains("/login")
        ? #"{"ret_code":"0000"}"# : #"{"error":{"code":4,"desc":"login first"}}"#
    })
    let provider = RequestProvider<SampleAPI>(
      client: try HTTPClient(url: "http://127.0.0.1:\(server.port)", timeout: 600),
      configuration: Self.patient, plugins: [BusinessErrors()],
      login: { SampleAPI.login })
    #expect(try await provider.answer(to: .secret).content == ["ret_code": "0000"])
    try await provider.close()
    #expect(paths.withLock { $0 } == ["/secret", "/login", "/secret"])
  }
}

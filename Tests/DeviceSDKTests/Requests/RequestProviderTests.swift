import DataClient
import Synchronization
import Testing

@testable import DeviceSDK

private enum SampleAPI: RequestTarget {
  case analyze(question: String)
  case bare

  var service: String {
    switch self {
    case .analyze: "test-services/nlu/analyze"
    case .bare: "bare"
    }
  }

  var parameters: JSONValue {
    switch self {
    case .analyze(let question): ["userId": 1, "robotId": "1", "question": .string(question)]
    case .bare: [:]
    }
  }

  var product: String? { if case .bare = self { "other" } else { nil } }
  var method: RequestMethod { if case .bare = self { .put } else { .post } }
  var timeout: Duration? { if case .bare = self { .seconds(9) } else { nil } }
  var resendCount: Int? { if case .bare = self { 1 } else { nil } }

  var sampleData: [UInt8]? {
    if case .analyze = self {
      Array(#"{"ret_code":"0000","result":{"mood":"well"}}"#.utf8)
    } else {
      nil
    }
  }
}

private struct Analysis: Decodable, Sendable, Equatable { let mood: String }

/// Writes down which stages it sees.
private final class Stages: RequestPlugin {
  private let lines = Mutex<[String]>([])
  var seen: [String] { lines.withLock { $0 } }

  private func add(_ line: String) { lines.withLock { $0.append(line) } }
  func add(completed result: Result<RequestAnswer, RequestError>) {
    add("completed \(Self.text(result))")
  }

  private static func text(_ result: Result<RequestAnswer, RequestError>) -> String {
    switch result {
    case .success: "ok"
    case .failure(let error): "\(error.kind.rawValue)"
    }
  }

  func willSend(_ target: any RequestTarget) { add("willSend \(target.service)") }
  func willReceive(_ result: Result<RequestAnswer, RequestError>, of: any RequestTarget) {
    add("willReceive \(Self.text(result))")
  }
  func process(
    _ result: Result<RequestAnswer, RequestError>, of: any RequestTarget
  ) -> Result<RequestAnswer, RequestError> {
    add("process")
    return result
  }
  func didReceive(_ result: Result<RequestAnswer, RequestError>, of: any RequestTarget) {
    add("didReceive \(Self.text(result))")
  }
}

@Suite struct RequestProviderTests {
  /// A server that answers every request with a content; heartbeats get nothing.
  private func server(_ content: JSONValue) -> ScriptedClient {
    ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"],
          value["content"] != nil
        else { return [] }
        let answer: JSONValue = [
          "uniqueId": id, "service": value["service"] ?? .null, "content": content,
        ]
        return [.text(String(decoding: answer.utf8, as: UTF8.self))]
      case .subscribe, .unsubscribe, .publish, .send, .sendBinary: return []
      }
    }
  }

  private let good: JSONValue = ["ret_code": "0000", "ret_msg": "done", "result": ["mood": "well"]]

  private func sent(_ client: ScriptedClient) -> [String] {
    client.performed.compactMap { if case .sendText(let text) = $0.kind { text } else { nil } }
  }

  @Test func opensWithTheFirstRequestAndDecodes() async throws {
    let client = server(good)
    let provider = RequestProvider<SampleAPI>(
      client: client, plugins: [BusinessErrors(unwrapsResult: true)])
    let answer: Analysis = try await provider.request(
      .analyze(question: "Are you OK?"), timeout: .seconds(15))
    #expect(answer == Analysis(mood: "well"))
    try await provider.close()
    #expect(
      sent(client).last
        == #"{"content":"{\"question\":\"Are you OK?\",\"robotId\":\"1\",\"userId\":1}","method":"POST","product":"app_iOS","service":"test-services/nlu/analyze","uniqueId":2}"#
    )
    #expect(client.performed.last.map { $0.kind == .disconnect } == true)
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .serverConnection)
  }

  @Test func staysClosedWhenItWasClosedBeforeItsFirstRequest() async throws {
    let client = server(good)
    let provider = RequestProvider<SampleAPI>(client: client)
    try await provider.close()
    try await provider.close()
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .serverConnection)
    let result = await withCheckedContinuation { continuation in
      provider.request(.bare) { continuation.resume(returning: $0) }
    }
    #expect(throws: RequestError(.serverConnection, "the connection was closed")) {
      try result.get()
    }
    #expect(client.performed.isEmpty)
  }

  @Test func saysThatAConnectionIsOverAndNotThatSomebodyTookTheRequestBack() async throws {
    let connection = try await withRequests(on: server(good)) { $0 }
    let error = try await #require(throws: RequestError.self) {
      try await connection.answer(to: SampleAPI.bare)
    }
    #expect(error.kind == .serverConnection)
    let provider = RequestProvider<SampleAPI>(connection)
    let result = await withCheckedContinuation { continuation in
      provider.request(.bare) { continuation.resume(returning: $0) }
    }
    let other = #expect(throws: RequestError.self) { try result.get() }
    #expect(other?.kind == .serverConnection)
  }

  @Test func triesAnewWithTheNextRequestWhenItGaveUp() async throws {
    let tries = Atomic(0)
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect:
        let isFirst = tries.wrappingAdd(1, ordering: .relaxed).newValue == 1
        return isFirst ? [.closed(.lost("test"))] : [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText: return [.text(#"{"uniqueId":1,"service":"bare","content":{}}"#)]
      default: return []
      }
    }
    var configuration = RequestConfiguration()
    configuration.reconnectLimit = 0
    configuration.heartbeatInterval = nil
    let provider = RequestProvider<SampleAPI>(client: client, configuration: configuration)
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .serverConnection && provider.connection?.state == .gaveUp)
    #expect(try await provider.answer(to: .bare).content == [:])
    try await provider.close()
  }

  @Test func keepsTheProductOfATargetInside() async throws {
    let client = server(good)
    let provider = RequestProvider<AnyRequestTarget>(client: client)
    _ = try await provider.answer(to: AnyRequestTarget(SampleAPI.bare))
    try await provider.close()
    #expect(sent(client).last?.contains(#""product":"other""#) == true)
  }

  @Test(arguments: [SampleAPI.bare, .analyze(question: "?")])
  fileprivate func keepsAllThatATargetInsideSays(_ inside: SampleAPI) {
    let target = AnyRequestTarget(inside)
    #expect(target.product == inside.product && target.service == inside.service)
    #expect(target.method == inside.method && target.parameters == inside.parameters)
    #expect(target.timeout == inside.timeout && target.resendCount == inside.resendCount)
    #expect(target.sampleData == inside.sampleData)
  }

  /// The call's own count wins over the target's, which is 1, and that over the configuration's.
  @Test(arguments: [(nil, 2), (0, 1), (2, 3)] as [(Int?, Int)])
  func sendsAgainAsOftenAsTargetAndCallSay(_ count: Int?, _ times: Int) async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      case .sendText: [.closed(.lost("test"))]
      default: []
      }
    }
    var configuration = RequestConfiguration()
    configuration.heartbeatInterval = nil
    configuration.reconnect = BackOff(first: .zero, longest: .zero)
    let provider = RequestProvider<SampleAPI>(client: client, configuration: configuration)
    let task = Task { try await provider.answer(to: .bare, resendCount: count) }
    await client.waitForActions(2)
    await client.advance(by: .zero)
    let error = try await #require(throws: RequestError.self) { try await task.value }
    #expect(error.kind == .serverConnection)
    #expect(sent(client).count == times)
  }

  @Test func showsEveryStageToEveryPluginInOrder() async throws {
    let stages = Stages()
    try await withRequests(on: server(good)) { connection in
      try await connection.open()
      let provider = RequestProvider<SampleAPI>(connection, plugins: [stages])
      _ = try await provider.answer(to: .bare)
      await withCheckedContinuation { continuation in
        provider.request(.bare) { result in
          stages.add(completed: result)
          continuation.resume()
        }
      }
    }
    let stagesOfOne = ["willSend bare", "willReceive ok", "process"]
    #expect(
      stages.seen.prefix(8)
        == (stagesOfOne + ["didReceive ok"] + stagesOfOne + ["completed ok"])[...])
  }

  @Test func showsPluginsARequestThatIsTakenBack() async throws {
    let stages = Stages()
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      default: []
      }
    }
    try await withRequests(on: client) { connection in
      try await connection.open()
      let provider = RequestProvider<SampleAPI>(connection, plugins: [stages])
      await withCheckedContinuation { continuation in
        let token = provider.request(.bare) { result in
          stages.add(completed: result)
          continuation.resume()
        }
        token.cancel()
        token.cancel()
      }
    }
    #expect(stages.seen.filter { $0.hasPrefix("completed") } == ["completed -15"])
  }

  @Test func makesErrorsOfWhatTheServiceRefuses() async throws {
    let bad: JSONValue = ["ret_code": "1001", "ret_msg": "no such robot"]
    let provider = RequestProvider<SampleAPI>(client: server(bad), plugins: [BusinessErrors()])
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .business && error.businessCode == "1001")
    #expect("\(error)" == "-2/1001: no such robot")
    try await provider.close()
  }

  @Test func saysWhereAnAnswerIsOfAnotherType() async throws {
    let provider = RequestProvider<SampleAPI>(client: server(good))
    let error = try await #require(throws: RequestError.self) {
      let _: Analysis = try await provider.request(.bare)
    }
    #expect(error.kind == .invalidResponse && error.message.contains("\"mood\""))
    try await provider.close()
  }

  @Test func answersFromSamples() async throws {
    let provider = RequestProvider<SampleAPI>(
      answeringFromSamples: [BusinessErrors(unwrapsResult: true)])
    let answer: Analysis = try await provider.request(.analyze(question: "?"))
    #expect(answer == Analysis(mood: "well"))
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .client)
  }

  @Test func logsInWhenTheServerWantsIt() async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer
        else { return [] }
        // The first request is refused; the login and what is sent again are answered.
        let isRefused = id == 2
        let rest = isRefused ? #""error":{"code":4,"desc":"login"}"# : #""content":{}"#
        return [.text(#"{"uniqueId":\#(id),"service":"s",\#(rest)}"#)]
      default: return []
      }
    }
    try await withRequests(on: client, login: { SampleAPI.analyze(question: "login") }) {
      connection in
      try await connection.open()
      _ = try await connection.answer(to: SampleAPI.bare)
    }
    let services = sent(client).compactMap { JSONValue(parsing: Array($0.utf8))?["service"]?.text }
    #expect(services == ["system/heart-beat", "bare", "test-services/nlu/analyze", "bare"])
  }

  /// A server that wants a login before all else, which it answers with a content.
  private func strictServer(_ content: String) -> ScriptedClient {
    let isLoggedIn = Atomic(false)
    return ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: return [.connected(.init())]
      case .disconnect: return [.closed(.byUser)]
      case .sendText(let text):
        guard let value = JSONValue(parsing: Array(text.utf8)), let id = value["uniqueId"]?.integer,
          let service = value["service"]?.text, value["content"] != nil
        else { return [] }
        if service != "bare" { isLoggedIn.store(true, ordering: .relaxed) }
        let isWelcome = isLoggedIn.load(ordering: .relaxed)
        let rest = isWelcome ? #""content":\#(content)"# : #""error":{"code":4}"#
        return [.text(#"{"uniqueId":\#(id),"service":"\#(service)",\#(rest)}"#)]
      default: return []
      }
    }
  }

  @Test func showsPluginsTheLoginsOfTheConnection() async throws {
    let stages = Stages()
    let provider = RequestProvider<SampleAPI>(
      client: strictServer(#"{"ret_code":"0000"}"#), plugins: [stages],
      login: { SampleAPI.analyze(question: "login") })
    _ = try await provider.answer(to: .bare)
    try await provider.close()
    let end = ["willReceive ok", "process", "didReceive ok"]
    #expect(
      stages.seen == ["willSend bare", "willSend test-services/nlu/analyze"] + end + end)
  }

  @Test func takesALoginThatTheServiceRefusesForNone() async throws {
    let provider = RequestProvider<SampleAPI>(
      client: strictServer(#"{"ret_code":"1001","ret_msg":"wrong"}"#), plugins: [BusinessErrors()],
      login: { SampleAPI.analyze(question: "login") })
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error == RequestError(.business, "wrong", businessCode: "1001"))
    #expect(provider.connection?.statistics == RequestStatistics())
    try await provider.close()
  }

  @Test func answersATaskThatIsCancelledOnce() async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      action.kind == .connect(ConnectOptions()) ? [.connected(.init())] : []
    }
    let provider = RequestProvider<SampleAPI>(client: client)
    let task = Task { try await provider.answer(to: .bare) }
    await client.waitForActions(3)
    task.cancel()
    let error = try await #require(throws: RequestError.self) { try await task.value }
    #expect(error.kind == .cancelled)
  }

  @Test(arguments: [
    ("你好", "%E4%BD%A0%E5%A5%BD"), (" a ", " a "), ("a b", "a%20b"), ("ab", "ab"), ("é", "é"),
    ("a?b c&d=%", "a?b%20c&d=%25"),
  ])
  func encodesAsTheFirstClientsDid(text: String, encoded: String) {
    let result = LegacyPercentEncoding.encode(["text": .string(text), "nested": [.string(text)]])
    #expect(result == ["text": .string(encoded), "nested": [.string(text)]])
  }
}

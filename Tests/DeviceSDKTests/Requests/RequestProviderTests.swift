import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct RequestProviderTests {
  @Test func opensWithTheFirstRequestAndDecodes() async throws {
    let client = ScriptedClient.answering(ScriptedClient.goodAnswer)
    let provider = RequestProvider<SampleAPI>(
      client: client, plugins: [BusinessErrors(unwrapsResult: true)])
    let answer: Analysis = try await provider.request(
      .analyze(question: "Are you OK?"), timeout: .seconds(15))
    #expect(answer == Analysis(mood: "well"))
    try await provider.close()
    #expect(
      client.sentTexts.last
        == #"{"content":"{\"question\":\"Are you OK?\",\"robotId\":\"1\",\"userId\":1}","method":"POST","product":"app_iOS","service":"test-services/nlu/analyze","uniqueId":2}"#
    )
    #expect(client.performed.last.map { $0.kind == .disconnect } == true)
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .serverConnection)
  }

  @Test func keepsTheProductOfATargetInside() async throws {
    let client = ScriptedClient.answering(ScriptedClient.goodAnswer)
    let provider = RequestProvider<AnyRequestTarget>(client: client)
    _ = try await provider.answer(to: AnyRequestTarget(SampleAPI.bare))
    try await provider.close()
    #expect(client.sentTexts.last?.contains(#""product":"other""#) == true)
  }

  @Test(arguments: [SampleAPI.bare, .analyze(question: "?")])
  func keepsAllThatATargetInsideSays(_ inside: SampleAPI) {
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
    #expect(client.sentTexts.count == times)
  }

  @Test func showsEveryStageToEveryPluginInOrder() async throws {
    let stages = Stages()
    try await withRequests(on: ScriptedClient.answering(ScriptedClient.goodAnswer)) { connection in
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
    let provider = RequestProvider<SampleAPI>(
      client: ScriptedClient.answering(bad), plugins: [BusinessErrors()])
    let error = try await #require(throws: RequestError.self) {
      try await provider.answer(to: .bare)
    }
    #expect(error.kind == .business && error.businessCode == "1001")
    #expect("\(error)" == "-2/1001: no such robot (request 2)")
    try await provider.close()
  }

  @Test func saysWhereAnAnswerIsOfAnotherType() async throws {
    let provider = RequestProvider<SampleAPI>(
      client: ScriptedClient.answering(ScriptedClient.goodAnswer))
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

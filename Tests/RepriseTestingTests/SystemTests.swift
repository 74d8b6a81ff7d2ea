import CloudSimulator
import DeviceSDK
import RepriseCore
import TestSupport
import Testing

@testable import RepriseTesting

/// Tests of apps on the four systems and on requests, as their users write them.
@Suite struct SystemTests {
  private static func channel() throws -> ChannelConfiguration {
    ChannelConfiguration(
      appKey: "1234", authCode: "test",
      identity: try ChannelIdentity(productKey: "a1pk", deviceName: "dev1"))
  }

  @Test(.replay("channel", on: { try ServedClient.cloud() }))
  func anAppBindsItsAccount() async throws {
    let client = try TestClient.current
    try await withChannel(on: client, configuration: try Self.channel()) { channel in
      try await channel.start()
      try await channel.bind(token: "iot-token")
      for version in 1...2 {
        #expect(try await channel.invoke("/light/get", ["v": .number("\(version)")]).code == 200)
      }
    }
    #expect(
      client.transcript.contains { $0.hasPrefix("→ PUBLISH /sys/a1pk/dev1/app/up/account/bind ") })
  }

  /// Does what the app does, but for one parameter.
  private static func diverge(
    _ first: JSONValue, _ second: JSONValue = 2, inStep: Bool = false
  ) async throws -> (ToldIssues, line: Int, step: Int) {
    let told = try await ToldIssues.running(.replay("channel")) {
      let client = try TestClient.current
      try await withChannel(on: client, configuration: try Self.channel()) { channel in
        try await channel.start()
        try await channel.bind(token: "iot-token")
        if inStep {
          try await client.step { _ = try await channel.invoke("/light/get", ["v": first]) }
        } else {
          _ = try await channel.invoke("/light/get", ["v": first])
        }
        _ = try await channel.invoke("/light/get", ["v": second])
      }
    }
    return (told, #line - 3, #line - 7)
  }

  @Test func aCallThatDivergesIsToldAtItsLine() async throws {
    let (told, line, _) = try await Self.diverge(1, 3)
    let test = try #require(Test.current)
    #if DEBUG
      #expect(told.issues.map(\.line) == [line])
    #else
      // Of code that is optimized the stack lacks some.
      let lines = [test.sourceLocation.line] + (line - 8...line)
      #expect(told.issues.count == 1 && told.issues.allSatisfy { lines.contains($0.line) })
    #endif
    let text = try #require(told.issues.first?.text)
    #expect(text.contains("differs:  payload.params.v: expected 2, actual 3"))
  }

  /// A call begins with a subscription, and the channel's own task sends what comes behind its answer.
  @Test(arguments: [false, true]) func aStepTellsTheLineOfWhatTheChannelSends(
    _ isInStep: Bool
  ) async throws {
    let test = try #require(Test.current)
    let (told, _, step) = try await Self.diverge(3, inStep: isInStep)
    #expect(told.issues.map(\.line) == [isInStep ? step : test.sourceLocation.line])
    let text = try #require(told.issues.first?.text)
    #expect(text.contains("differs:  payload.params.v: expected 1, actual 3"))
  }

  @Test(.replay("gateway", on: { try ServedClient.cloud() }))
  func aGatewayBringsALampOnline() async throws {
    let credentials = DeviceCredentials(
      productKey: "a1gw", deviceName: "phone", deviceSecret: "phone-secret")
    let configuration = GatewayConfiguration(
      .own(try credentials.identity(timestamp: 789, secureMode: .tcp)))
    try await withGateway(on: try TestClient.current, configuration: configuration) { gateway in
      try await gateway.start()
      let line = try await gateway.connect(NearLamp())
      #expect(line.state == .online)
      #expect(try await line.post(properties: ["Power": 1]).code == 200)
    }
  }

  @Test(.replay("link", on: { ServedClient.links() }))
  func aLinkHearsItself() async throws {
    let client = try TestClient.current
    // Its session has another name in every run.
    let configuration = LinkConfiguration(appID: "app", userID: "alice")
    try await withLink(on: client, configuration: configuration) { link in
      try await link.login()
      try await link.subscribe("lobby")
      var messages = link.messages(in: "lobby").makeAsyncIterator()
      try await link.publish("hello", in: "lobby")
      #expect(await messages.next()?.text == "hello")
    }
    #expect(client.transcript.contains { $0.contains("link/app/message/alice/<session>/up/login") })
  }

  enum Robots: RequestTarget {
    case analyze(String)
    var service: String { "nlu/analyze" }
    var parameters: JSONValue {
      switch self {
      case .analyze(let question): ["question": .string(question)]
      }
    }
  }

  private static func ask(_ client: any DataClient) async throws -> [JSONValue] {
    let provider = RequestProvider<Robots>(client: client)
    var answers: [JSONValue] = []
    for question in ["how?", "why?"] {
      answers.append(try await provider.answer(to: .analyze(question)).content)
    }
    try await provider.close()
    return answers
  }

  @Test(
    .replay(
      "robots-websocket", url: "ws://host/api",
      on: { InProcessRequestServer(RequestScript(answers: [.init(content: ["mood": "well"])])) }))
  func aProviderAsksOverWebSocket() async throws {
    #expect(try await Self.ask(try TestClient.current) == [["mood": "well"], ["mood": "well"]])
  }

  @Test(.replay("robots-http", url: "http://host/api", on: { ScriptedClient.echo() }))
  func aProviderAsksOverHTTP() async throws {
    let answers: [JSONValue] = [["question": "how?"], ["question": "why?"]]
    #expect(try await Self.ask(try TestClient.current) == answers)
  }

  @Test func anotherQuestionIsADivergence() async throws {
    let told = try await ToldIssues.running(.replay("robots-http")) {
      let client = try TestClient.current
      let provider = RequestProvider<Robots>(client: client)
      try await client.step { _ = try await provider.answer(to: .analyze("when?")) }
      try await provider.close()
    }
    let text = try #require(told.issues.first?.text)
    #expect(text.contains(#"differs:  parameters.question: expected "how?", actual "when?""#))
    #expect(told.issues.count == 1)
  }

  /// A meter that reports every hour of a day: recorded in virtual time, and replayed in it.
  @Test(.replay("day", on: { InProcessBroker().client(named: "meter") }))
  func aDayPassesInNoTime() async throws {
    let client = try TestClient.current
    let start = client.now
    try await client.perform(ClientAction(.init(rawValue: 0), .connect(.init(clientID: "meter"))))
    #expect(try await client.next(before: nil) == .connected(.init()))
    for hour in 1...24 {
      let deadline = start.advanced(by: .seconds(3_600 * hour))
      var event = try await client.next(before: deadline)
      while event != .deadline { event = try await client.next(before: deadline) }
      let message = Message(topic: "meter", payload: Array("\(hour)".utf8), qos: .atLeastOnce)
      try await client.perform(ClientAction(.init(rawValue: UInt32(hour)), .publish(message)))
    }
    #expect(try await client.next(before: nil) == .published(.init(rawValue: 24)))
    #expect(client.now.nanoseconds(since: start) == 24 * 3_600 * 1_000_000_000)
    try await client.perform(ClientAction(.init(rawValue: 25), .disconnect))
    #expect(try await client.next(before: nil) == .closed(.byUser))
  }

  @Test func aTestThatIsCancelledHasNoOtherIssue() async throws {
    let options = ReplayOptions(patience: .unlimited)
    let told = try await ToldIssues.running(.replay("day", options: options)) {
      let client = try TestClient.current
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { _ = try await client.next(before: nil) }
        // The reader waits for a CONNECT that nobody performs.
        _ = try await client.replay?.nextDueAction()
        group.cancelAll()
        try await group.waitForAll()
      }
    }
    #expect(told == ToldIssues(thrown: "CancellationError()"))
  }
}

/// A lamp in reach of a gateway.
struct NearLamp: SubdeviceConnection {
  var isReady: Bool { true }
  func open() async throws {}
  func close() async throws {}

  func info() throws -> SubdeviceInfo {
    try SubdeviceInfo(
      productKey: "home", deviceName: "lamp", clientID: "lamp-1", sign: "292f",
      signMethod: "hmacSha1", timestamp: "789")
  }
}

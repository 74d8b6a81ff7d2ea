import AppSessions
import CloudSimulator
import DeviceSDK
import RepriseCore
import SDKReplay
import Testing

/// Names of the application's own for the parts of requests, told to all that reads them.
@Suite struct RequestEnvelopeTests {
  private typealias Question = RequestSession.Question

  private static let busy = RequestScript(
    answers: [
      .init(service: "busy", error: ["no": 9, "why": "full"]),
      .init(service: "known", content: ["ok": true]),
    ],
    login: "login", envelope: RequestSession.envelope)

  /// What comes of requests, each in a word or two.
  private static func outcomes(
    of services: [String], on client: some DataClient,
    _ configuration: RequestConfiguration = RequestSession.configuration
  ) async throws -> [String] {
    try await withRequests(on: client, configuration: configuration) { connection in
      try await connection.open()
      var outcomes: [String] = []
      for service in services {
        do {
          let answer = try await connection.answer(to: Question(service, ["x": [1, "y"]]))
          outcomes.append("\(answer.content)")
        } catch {
          outcomes.append("\(error)")
        }
      }
      return outcomes
    }
  }

  @Test func aFormatTellsItsEnvelopeAndIsMadeOfOne() {
    let format = JSONRequestFormat(RequestSession.envelope)
    #expect(format.envelope == RequestSession.envelope)
    #expect(
      [
        format.idKey, format.serviceKey, format.methodKey, format.productKey, format.contentKey,
        format.errorKey, format.errorCodeKey, format.errorMessageKey, format.heartbeatService,
      ] == ["seq", "path", "verb", "app", "body", "fault", "no", "why", "ping"])
    #expect(!format.writesContentAsText)
    #expect(JSONRequestFormat().envelope == RequestEnvelope())
  }

  // MARK: A simulated server

  @Test func aServerThatIsToldItAnswers() async throws {
    let server = InProcessRequestServer(Self.busy)
    let outcomes = try await Self.outcomes(
      of: ["known", "login", "known", "busy", "a"], on: server)
    #expect(
      outcomes == [
        "-1/4: login first (request 1)", #"{"x":[1,"y"]}"#, #"{"ok":true}"#,
        "-1/9: full (request 4)", #"{"x":[1,"y"]}"#,
      ])
    #expect(server.misfits.isEmpty)
  }

  /// Either end may have the other names: no answer comes, and the server tells why.
  @Test func aServerThatIsNotToldItSaysWhatItMisses() async throws {
    let server = InProcessRequestServer()
    let outcomes = try await Self.outcomes(of: ["a", "b"], on: server)
    #expect(
      outcomes == [
        "-11: no answer came in time (request 1)", "-11: no answer came in time (request 2)",
      ])
    #expect(server.misfits == ["it has no uniqueId", "it has no uniqueId"])
    let told = InProcessRequestServer(RequestScript(envelope: RequestSession.envelope))
    var quiet = RequestConfiguration()
    quiet.heartbeatInterval = nil
    let others = try await Self.outcomes(of: ["a"], on: told, quiet)
    #expect(others == ["-11: no answer came in time (request 1)"])
    #expect(told.misfits == ["it has no seq"])
  }

  /// One name that differs is enough, and which one is told.
  @Test func aServerWithOneOtherNameSaysWhich() async throws {
    var envelope = RequestSession.envelope
    envelope.service = "route"
    let server = InProcessRequestServer(RequestScript(envelope: envelope))
    let outcomes = try await Self.outcomes(of: ["a"], on: server)
    #expect(outcomes == ["-11: no answer came in time (request 1)"])
    #expect(server.misfits == ["it has no route"])
  }

  @Test func misfitsAreOfRequestsAlone() async throws {
    let server = InProcessRequestServer()
    try await server.perform(ClientAction(.init(rawValue: 1), .connect(ConnectOptions())))
    for kind in [
      .sendText(#"{"uniqueId":1,"service":"a"}"#), .sendBinary([1]), .sendText("hello"),
      .sendText(#"{"uniqueId":1,"service":"system/heart-beat"}"#),
    ] as [ClientAction.Kind] {
      try await server.perform(ClientAction(.init(rawValue: 2), kind))
    }
    #expect(server.misfits == ["it is binary", "it is no JSON"])
    for _ in 0..<200 {
      try await server.perform(ClientAction(.init(rawValue: 3), .sendText("{}")))
    }
    #expect(server.misfits.count == 100 && server.misfits.last == "it has no uniqueId")
  }

  // MARK: Samples

  @Test func samplesAreReadInTheFormatOfTheApplication() async throws {
    let refusal = Question("a", sampleData: Array(#"{"fault":{"no":9,"why":"full"}}"#.utf8))
    let own = RequestProvider<Question>(
      answeringFromSamples: [], format: RequestSession.configuration.format)
    let error = await #expect(throws: RequestError.self) { try await own.answer(to: refusal) }
    #expect(error?.serverCode == 9 && error?.message == "full")
    let completed = await withCheckedContinuation { continuation in
      own.request(refusal) { continuation.resume(returning: $0) }
    }
    #expect(throws: RequestError.self) { try completed.get() }
    // Without the format it is content like any other.
    let standard = RequestProvider<Question>(answeringFromSamples: [])
    let content = try await standard.answer(to: refusal).content
    #expect(content == ["fault": ["no": 9, "why": "full"]])
  }

  // MARK: A replay

  @Test func aClientReplaysIt() async throws {
    let text = String(decoding: try await RequestSession.record(["a", "b"]), as: UTF8.self)
    // Another run of the application may have had other numbers.
    let other = text.replacing(#"\"seq\":"#, with: #"\"seq\":10"#)
    try #require(other != text)
    func replay(_ roles: ReplayRoles) throws -> ReplayClient {
      try ReplayClient(
        AppSession.events(Array(other.utf8)), options: ReplayOptions(roles: roles))
    }
    let client = try replay(.requests(RequestSession.envelope))
    let outcomes = try await withRequests(on: client, configuration: RequestSession.configuration) {
      connection in
      try await connection.open()
      var outcomes: [JSONValue] = []
      for service in ["a", "b"] {
        outcomes.append(
          try await connection.answer(to: Question(service, ["question": "Are you OK?"])).content)
      }
      return outcomes
    }
    try client.finish()
    #expect(outcomes == [["question": "Are you OK?"], ["question": "Are you OK?"]])
    // Without the roles the numbers are compared.
    let strict = try replay(.standard)
    await #expect(throws: (any Error).self) {
      try await withRequests(on: strict, configuration: RequestSession.configuration) {
        try await $0.open()
        _ = try await $0.answer(to: Question("a", ["question": "Are you OK?"]))
      }
    }
    #expect(strict.divergence?.differences.map(\.place) == ["text.seq"])
  }

  @Test func theSDKIsReplayedWithIt() async throws {
    var configuration = RequestSession.configuration
    configuration.heartbeatInterval = .seconds(1)
    let script = RequestScript(answers: [.init(service: "slow", delay: .milliseconds(4_500))])
    let recording = try await RequestSession.record(
      ["slow", "a"], script, configuration: configuration)
    let events = try AppSession.events(recording)
    let played = try await PlayedRecording(events, as: RequestPlan.self) {
      dialogue throws(DataClientError) in
      try RequestPlan(dialogue, in: RequestSession.envelope)
    }
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words == ["open", "request slow", "request a", "close"])
    #expect(played.calls.dropFirst().first?.details == ["question": "Are you OK?"])
    #expect(played.plan.configuration.heartbeatInterval == .seconds(1))
    #expect(played.values.count == 4 && played.failed.isEmpty)
  }

  /// Heartbeats that are the application's may have no content, under its own key.
  @Test func heartbeatsOfTheApplicationHaveItsKeys() async throws {
    var configuration = RequestSession.configuration
    configuration.heartbeatInterval = .seconds(1)
    let script = RequestScript(answers: [.init(service: "slow", delay: .milliseconds(2_500))])
    let recording = try await RequestSession.record(["slow"], script, configuration: configuration)
    var lines = String(decoding: recording, as: UTF8.self).split(separator: "\n")
    let first = try #require(lines.firstIndex { $0.contains(#"\"ping\""#) })
    lines.remove(at: first)
    let events = try AppSession.events(Array((lines.joined(separator: "\n") + "\n").utf8))
    let played = try await PlayedRecording(events, as: RequestPlan.self) {
      dialogue throws(DataClientError) in
      try RequestPlan(dialogue, in: RequestSession.envelope)
    }
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words.contains("request ping"))
  }

  @Test func theSDKIsNotReplayedWithoutIt() async throws {
    let events = try AppSession.events(try await RequestSession.record(["a"]))
    let error = #expect(throws: DataClientError.self) { try SystemReplay<RequestPlan>(events) }
    #expect(error?.code == .unsupported)
    #expect(
      error?.message
        == "the session is one of WebSocket, but not of requests: these are objects of JSON with a "
        + "service and a uniqueId, and the first text is one with body, verb, app, path, seq")
  }

  /// A name of a part that is not looked at first shows in what is sent.
  @Test func theSDKIsReplayedToTheFirstOtherName() async throws {
    var envelope = RequestSession.envelope
    envelope.method = "how"
    let events = try AppSession.events(try await RequestSession.record(["a"]))
    let played = try await PlayedRecording(events, as: RequestPlan.self) {
      dialogue throws(DataClientError) in try RequestPlan(dialogue, in: envelope)
    }
    let places = try #require(played.outcome.divergence).differences.map(\.place)
    #expect(Set(places) == ["text.verb", "text.how"])
  }
}

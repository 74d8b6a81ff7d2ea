import AppSessions
import DeviceSDK
import RepriseCore
import SDKReplay
import Testing

/// Connections for requests that are replayed from what their clients recorded.
@Suite struct RequestPlanTests {
  /// The recordings and captures of all scenarios.
  static let names = SDKRecording.names(of: "requests")

  @Test func thereAreRecordings() { #expect(Self.names.count > 100) }

  @Test(arguments: names)
  func goesThroughItsSessionAgain(name: String) async throws {
    let events = try SDKRecording.events(name)
    #expect(try RecordedSystem(events) == .requests)
    let played = try await PlayedRecording(events, as: RequestPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.outcome.unsent == nil)
    // All that was sent was called, but for heartbeats, which the connection sends itself.
    var services: [String] = []
    for step in try events.dialogue() {
      guard case .action(let action) = step.content, case .sendText(let text) = action.kind,
        let service = JSONValue(parsing: Array(text.utf8))?["service"]?.text
      else { continue }
      services.append(service)
    }
    let called = played.calls.filter { $0.name == "request" }.compactMap(\.subject)
    let isHeartbeatCalled = called.contains("system/heart-beat")
    #expect(
      called == services.filter { isHeartbeatCalled || $0 != "system/heart-beat" })
  }

  /// The SDK's own times are those of the scenario then, and all that a server does takes longer.
  @Test(arguments: names.filter { $0.hasSuffix(".jsonl") })
  func goesThroughItAgainInItsOwnTime(name: String) async throws {
    let text = SDKRecording.slowing(try SDKRecording.text(name), 20)
    let played = try await PlayedRecording(text: text, as: RequestPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
  }

  // MARK: What is told

  @Test func tellsWhatTheApplicationWasTold() async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("requests/ask-products.jsonl"), as: RequestPlan.self)
    #expect(played.words == ["open", "request ask", "request ask", "close"])
    #expect(played.calls[1].details == [:])
    #expect(played.values.count == 4 && played.failed.isEmpty)
    #expect(played.outcome.ending == .idle)
    let states = played.told.compactMap { effect -> RequestConnectionState? in
      if case .changeState(let change) = effect { change.state } else { nil }
    }
    #expect(states == [.connecting, .open, .closing, .idle])
  }

  @Test func heartbeatsAreTheConnectionsOwn() async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("requests/socket-heartbeat.jsonl"), as: RequestPlan.self)
    #expect(played.words == ["open", "request ask", "request ask", "close"])
    #expect(played.plan.notes.isEmpty)
    let interval = try #require(played.plan.configuration.heartbeatInterval)
    // 15 s, of a client whose time passed 20 times as fast.
    #expect(interval > .milliseconds(650) && interval < .milliseconds(850))
  }

  /// Each heartbeat is a little late, and the next one counts from there: in a long session that is more than what
  /// lies between an answer and the next heartbeat.
  @Test func lateHeartbeatsAreNoReasonToLeave() async throws {
    let lines = try SDKRecording.text("requests/ask-products.jsonl")
      .split(separator: "\n").map(String.init)
    let opening = lines.prefix { !$0.contains(#""type":"TEXT""#) }
    let texts = lines.filter { $0.contains(#""type":"TEXT""#) }
    let (beat, ask) = (try #require(texts.first), texts[1])
    let answer = try #require(texts.last)
    func at(_ milliseconds: Int, _ line: String) throws -> String {
      let begin = try #require(Timestamp("2026-11-22T03:21:19Z"))
      let time = begin.advanced(by: .milliseconds(milliseconds))
      return line.replacing(/"time":"[^"]*"/, with: #""time":"\#(time)""#)
    }
    var session = Array(opening)
    // The first is in time, all others are 20 ms late.
    var times = [0, 15_000]
    for _ in 0..<60 { times.append((times.last ?? 0) + 15_020) }
    for (index, time) in times.enumerated() {
      if index == times.count - 1 {
        session += [try at(time - 10, ask), try at(time - 5, answer)]
      }
      session.append(try at(time, beat))
    }
    let played = try await PlayedRecording(
      text: session.joined(separator: "\n") + "\n", as: RequestPlan.self)
    #expect(played.plan.configuration.heartbeatInterval == .seconds(15))
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words == ["open", "request ask"])
    #expect(played.values.count == 2)
  }

  /// A client that beats when it likes is no reason to say that it is wrong.
  @Test func heartbeatsOfAnotherMannerAreTheApplications() async throws {
    let text = try SDKRecording.text("requests/socket-heartbeat.jsonl")
    var lines = text.split(separator: "\n").map(String.init)
    let first = try #require(lines.firstIndex { $0.contains("heart-beat") })
    lines.remove(at: first)
    let played = try await PlayedRecording(
      text: lines.joined(separator: "\n") + "\n", as: RequestPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words.contains("request system/heart-beat"))
    #expect(played.plan.configuration.heartbeatInterval == nil)
    #expect(played.plan.notes.count == 1)
  }

  /// A session that begins in the middle of a connection has no handshake.
  @Test func aSessionMayBeginInTheMiddle() async throws {
    let text = try SDKRecording.text("requests/ask-products.jsonl")
    let lines = text.split(separator: "\n").filter {
      !$0.contains(#""type":"UPGRADE"#) && !$0.contains(#""type":"OPEN"#)
    }
    let played = try await PlayedRecording(
      text: lines.joined(separator: "\n") + "\n", as: RequestPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    // When a heartbeat is due nobody knows who has not seen the first.
    #expect(
      played.words == [
        "open", "request system/heart-beat", "request ask", "request ask", "close",
      ])
  }

  // MARK: What differs

  /// What a connection would not send makes the replay leave the session just there.
  @Test(
    arguments: [
      // Another product of what the connection sends by itself.
      ("socket-heartbeat", #""frame":10,"#, "app_iOS", "app_iot", 10, "text.product"),
      // Parameters that are none, a member that no request has, and a method that there is not.
      (
        "ask", #""frame":5,"#,
        #"\"{\\\"question\\\":\\\"Are you OK?\\\",\\\"userId\\\":1}\""#, #"\"[1]\""#, 5,
        "text.content"
      ),
      ("ask", #""frame":5,"#, #"\"method\""#, #"\"v\":1,\"method\""#, 5, "text.v"),
      ("ask", #""frame":5,"#, #"\"POST\""#, #"\"post\""#, 5, "text.method"),
    ] as [(String, String, String, String, Int, String)])
  func whatItWouldNotSendMakesItDiverge(
    name: String, mark: String, old: String, new: String, frame: Int, place: String
  ) async throws {
    let text = try SDKRecording.text("requests/\(name).jsonl")
    let changed = SDKRecording.changing(text, lines: mark, old, new)
    try #require(changed != text)
    let played = try await PlayedRecording(text: changed, as: RequestPlan.self)
    let divergence = try #require(played.outcome.divergence)
    #expect(divergence.place?.frame == frame, "\(divergence)")
    #expect(divergence.kind == .otherAction)
    #expect(divergence.differences.map(\.place) == [place], "\(divergence)")
    // The same change in what the server says is none in what is sent.
    let answered = SDKRecording.changing(text, lines: #""from":"server""#, old, new)
    let other = try await PlayedRecording(text: answered, as: RequestPlan.self)
    #expect(other.outcome.divergence == nil, "\(other.divergence)")
  }

  /// Other parameters are another call, and no reason to leave the session.
  @Test func otherParametersAreAnotherCall() async throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("requests/ask-products.jsonl"), lines: #""from":"client""#,
      #"\"content\":\"{}\""#, #"\"content\":{\"k\":[1,2]}"#)
    let played = try await PlayedRecording(text: text, as: RequestPlan.self)
    // An object is not written as one, but as text.
    let divergence = try #require(played.outcome.divergence)
    #expect(divergence.differences.map(\.place) == ["text.content"])
    #expect(played.calls.last?.details == ["k": [1, 2]])
  }

  @Test(arguments: [
    ("hello", "the session is one of WebSocket, but not of requests"),
    (#"{\"service\":\"ask\"}"#, "the session is one of WebSocket, but not of requests"),
  ])
  func whatIsNoRequestIsSaidSo(payload: String, message: String) async throws {
    let text = try SDKRecording.text("requests/socket-open.jsonl")
    let lines = text.split(separator: "\n").filter { !$0.contains(#""type":"TEXT""#) }
    let line =
      #"{"frame":5,"time":"2026-11-22T03:21:25.3Z","connection":1,"from":"client","#
      + #""protocol":"websocket","type":"TEXT","length":\#(payload.replacing("\\", with: "").count),"#
      + #""fin":true,"masked":true,"maskingKey":"668c25b9","payload":{"utf8":"\#(payload)"}}"#
    let upgraded = try #require(lines.firstIndex { $0.contains(#""type":"UPGRADED""#) })
    var session = lines.map(String.init)
    session.insert(line, at: upgraded + 1)
    let events = try AppSession.events(Array((session.joined(separator: "\n") + "\n").utf8))
    let error = #expect(throws: DataClientError.self) { try SystemReplay<RequestPlan>(events) }
    #expect(error?.code == .unsupported)
    #expect(error?.message.hasPrefix(message) == true, "\(String(describing: error))")
  }
}

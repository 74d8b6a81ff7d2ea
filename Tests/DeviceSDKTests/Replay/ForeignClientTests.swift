import AppSessions
import CloudSimulator
import RepriseCore
import SDKReplay
import Testing

@testable import DeviceSDK

/// Sessions of other clients of the same cloud, whose packets are not quite the channel's.
@Suite struct ForeignClientTests {
  private static let up = AppSession.up
  private static let down = AppSession.down

  /// A client that is connected and subscribed to everything.
  private static func session(
    _ script: CloudScript = CloudScript(), _ body: (RawApp) async throws -> Void
  ) async throws -> [UInt8] {
    try await AppSession.recordClient(script) { app in
      try await app.connect()
      try await app.read(until: 1)
      try await app.subscribe("\(down)/#")
      try await app.read(until: 2)
      try await body(app)
    }
  }

  @Test(arguments: [
    #"{"id":"1","version":"1.0","request":{"clientId":"dev1&a1pk"},"params":{"a":1}}"#,
    #"{"id":"900","system":{"version":"1.0","time":"1510292697470"},"request":{},"params":{"a":1}}"#,
    #"{"id":77,"version":"1.0","params":{"a":1}}"#,
    #"{"params":{"a":1},"id":"1792482000123","method":"thing.light.get","version":"1.1"}"#,
    #"{"id":"4294967296","request":{"clientId":"dev1&a1pk","apiVer":"1.0.4"},"params":{"a":1}}"#,
    #"{"id":"1"}"#,
  ])
  func everyFormOfTheEnvelopeIsARequest(payload: String) async throws {
    let data = ["a": 1] as JSONValue
    let script = CloudScript(replies: [.init(topic: "/light/get", data: data)])
    let recording = try await Self.session(script) { app in
      try await app.publish("\(Self.up)/light/get", payload)
      try await app.read(until: 4)
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    let params = payload.contains("params") ? #"{"a":1}"# : "{}"
    #expect(run.lines.suffix(2) == ["invoke /light/get \(params)", #"invoke ok {"a":1}"#])
  }

  @Test func whatIsNoEnvelopeIsPublishedAsItIs() async throws {
    let payloads = ["", "21.5", "\u{0}", #"{"v":1}"#, #"{"id":"1","params":{},"method":"m"}"#]
    let recording = try await Self.session(CloudScript(replies: [.init(faults: [.noReply])])) {
      for payload in payloads { try await $0.publish("\(Self.up)/raw", payload) }
      try await $0.publish("/ota/device/inform/a1pk/dev1", "{}")
      try await $0.read(until: 4)
    }
    let run = try await ReplayRun(recording, options: ReplayOptions(match: .strict))
    #expect(run.outcome.divergence == nil)
    let calls = run.lines.filter { $0.hasPrefix("publish") && !$0.hasSuffix("ok") }
    #expect(calls.count == payloads.count + 1)
    #expect(run.lines.filter { $0 == "publish ok" }.count == payloads.count + 1)
  }

  /// What the cloud would refuse another client may have been granted.
  @Test(arguments: [UInt16(5), 1_201]) func keepsAKeepAliveThatNoChannelMayHave(
    seconds: UInt16
  ) async throws {
    let recording = try await AppSession.recordClient { app in
      try await app.connect(keepAlive: seconds)
      try await app.read(until: 1)
      try await app.subscribe("\(Self.down)/#")
      try await app.read(until: 2)
    }
    let run = try await ReplayRun(recording, options: ReplayOptions(match: .strict))
    #expect(run.outcome.divergence == nil && run.outcome.ending.state == .connected)
  }

  @Test func keepsWhatTheClientConnectedWith() async throws {
    let will = Message(topic: "\(Self.up)/gone", payload: [1], qos: .atLeastOnce)
    let recording = try await AppSession.recordClient { app in
      try await app.connect(
        as: "dev1&a1pk|securemode=2|", cleanStart: false, keepAlive: 300, password: "p", will: will)
      try await app.read(until: 1)
      try await app.subscribe("\(Self.down)/thing/#", qos: .atMostOnce)
      try await app.read(until: 2)
    }
    let dialogue = try AppSession.events(recording).dialogue()
    let configuration = try ChannelPlan(dialogue).configuration
    #expect(configuration.identity?.mqttClientID == "dev1&a1pk|securemode=2|")
    #expect(!configuration.cleanStart)
    #expect(configuration.keepAlive == 300)
    #expect(configuration.will == will)
    #expect(configuration.subscribeQoS == .atMostOnce)
    #expect(!configuration.subscribesAll)
    let run = try await ReplayRun(recording, options: ReplayOptions(match: .strict))
    #expect(run.outcome.divergence == nil)
    #expect(run.lines.suffix(2) == ["subscribe /thing/#", "subscribe ok"])
  }

  @Test(arguments: [nil, "somebody", "***"]) func theTopicsTellTheIdentity(name: String?)
    async throws
  {
    let recording = try await AppSession.recordClient { app in
      try await app.connect(as: "c-17", username: name)
      try await app.read(until: 1)
      try await app.subscribe("\(Self.down)/#")
      try await app.read(until: 2)
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    #expect(run.outcome.ending.state == .connected)
  }

  @Test func aKeptSessionNeedsNoSubscription() async throws {
    let recording = try await AppSession.recordClient { app in
      try await app.connect(cleanStart: false)
      try await app.read(until: 1)
      try await app.subscribe("\(Self.down)/#")
      try await app.read(until: 2)
      app.lose()
      try await app.read(until: 3)
      try await app.connect(cleanStart: false)
      try await app.read(until: 4)
      try await app.publish(
        "\(Self.up)/a", #"{"id":"1","version":"1.0","params":{"b":2}}"#)
      try await app.read(until: 5)
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    #expect(run.lines.suffix(2) == [#"invoke /a {"b":2}"#, #"invoke ok {"b":2}"#])
  }

  /// How the connections of a session end.
  enum End: CaseIterable { case kicks, losses }

  @Test(arguments: End.allCases) func anImpatientClientIsFollowed(_ end: End) async throws {
    let recording = try await AppSession.recordClient { app in
      for round in 0..<5 {
        try await app.connect()
        try await app.read(until: Double(round * 4) + 1)
        try await app.subscribe("\(Self.down)/#")
        try await app.read(until: Double(round * 4) + 2)
        switch end {
        case .kicks: app.hangUp()
        case .losses: app.lose()
        }
        // The channel would wait for a second, and stop after the third kick.
        try await app.read(until: Double(round * 4) + 2.2)
      }
    }
    let events = try AppSession.events(recording)
    #expect(try ChannelPlan(events.dialogue()).notes.count == (end == .kicks ? 1 : 0))
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
    #expect(run.outcome.machine.statistics.lostConnections == 5)
    #expect(run.lines.filter { $0 == "start" }.count == 1)
    #expect(!run.lines.contains { $0.hasSuffix("final") })
  }

  // MARK: What the channel does not do

  @Test func publishingBeforeTheGrantIsADivergence() async throws {
    let recording = try await AppSession.recordClient { app in
      try await app.connect()
      try await app.read(until: 1)
      try await app.subscribe("\(Self.down)/a_reply")
      try await app.publish("\(Self.up)/a", #"{"id":"1","version":"1.0","params":{}}"#)
      try await app.read(until: 5)
    }
    let run = try await ReplayRun(recording)
    let divergence = try #require(run.outcome.divergence)
    #expect(divergence.kind == .otherAction)
    #expect(divergence.place?.frame == 6)
    #expect(divergence.actual?.hasPrefix("SUBSCRIBE \(Self.down)/a_reply") == true)
    #expect(divergence.remedy.hasPrefix("reprise inspect FILE --filter"))
  }

  @Test func aSubscriptionLostOnTheWayIsADivergence() async throws {
    let recording = try await AppSession.recordClient { app in
      try await app.connect()
      try await app.read(until: 1)
      try await app.subscribe("\(Self.down)/#")
      try await app.read(until: 2)
      try await app.subscribe("\(Self.down)/own")
      try await app.read(until: 3)
      app.lose()
      try await app.read(until: 4)
      try await app.connect()
      try await app.read(until: 5)
      try await app.subscribe("\(Self.down)/#")
      try await app.read(until: 6)
    }
    let run = try await ReplayRun(recording)
    let divergence = try #require(run.outcome.divergence)
    #expect(divergence.kind == .otherAction)
    #expect(divergence.differences.map(\.place) == ["filters[1]"])
    #expect(divergence.differences.first?.actual == "\(Self.down)/own")
  }

  @Test func severalFiltersAtOnceAreExplained() async throws {
    let recording = try await Self.session { app in
      try await app.subscribe("\(Self.down)/a", "\(Self.down)/b")
      try await app.read(until: 3)
    }
    let run = try await ReplayRun(recording)
    let divergence = try #require(run.outcome.divergence)
    #expect(divergence.kind == .missingAction)
    #expect(divergence.actual?.contains("no call for several filters") == true)
    #expect(run.lines.last == "start ok")
  }

  /// What the cloud is to retain is sent so again, by a channel that can do it.
  @Test func aRetainedMessageIsPlayed() async throws {
    let recording = try await Self.session { app in
      try await app.publish("\(Self.up)/kept", "x", isRetained: true)
      try await app.read(until: 3)
    }
    let run = try await ReplayRun(recording)
    #expect(run.outcome.divergence == nil)
  }

  @Test(arguments: [
    (["plant/#"], "it has plant/#"),
    ([], "it has no topics"),
    (["/sys/a/b/app/down/#", "/sys/a/c/app/down/#"], "the topics of several apps (b&a, c&a)"),
    (["/sys/+/+/app/up/#"], "it has /sys/+/+/app/up/#"),
  ])
  func whatIsNoAppIsSaidSo(filters: [String], text: String) async throws {
    let recording = try await AppSession.recordClient { app in
      try await app.connect(as: "c", username: nil)
      try await app.read(until: 1)
      for filter in filters { try await app.subscribe(filter) }
      try await app.read(until: 2)
    }
    let error = #expect(throws: DataClientError.self) {
      try SystemReplay<ChannelPlan>(try AppSession.events(recording))
    }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains(text) == true, "\(String(describing: error))")
  }
}

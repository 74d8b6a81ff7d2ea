import AppSessions
import DeviceSDK
import RepriseCore
import SDKReplay
import Testing

/// Channels, and gateways that ride on their connections, that are replayed from what one client recorded.
@Suite struct SharedPlanTests {
  @Test(
    arguments: ["riding", "riding-loss"].flatMap { ["gateway/\($0).jsonl", "gateway/\($0).pcap"] })
  func goesThroughAScenarioAgain(name: String) async throws {
    let events = try SDKRecording.events(name)
    #expect(try RecordedSystem(events) == .channelWithGateway)
    let played = try await PlayedRecording(events, as: SharedPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.outcome.unsent == nil && played.outcome.openCalls.isEmpty)
    #expect(played.failed.isEmpty)
    let device = name.contains("loss") ? "riding-loss" : "riding"
    #expect(played.plan.subject == "app \(device)&a1pk with gateway \(device)&a1pk")
    let lamp = "\(device)/lamp"
    #expect(
      played.words
        == (name.contains("loss")
          ? [
            "channel start", "gateway start", "gateway line \(lamp)", "gateway addTopology \(lamp)",
            "gateway logIn \(lamp)", "channel stop",
          ]
          : [
            "channel start", "gateway start", "channel invoke /a", "gateway line \(lamp)",
            "gateway addTopology \(lamp)", "gateway stop", "channel stop",
          ]))
  }

  /// The SDK's own times are those of the scenario then, and all that a server does takes longer.
  @Test(arguments: ["riding", "riding-loss"])
  func goesThroughItAgainInItsOwnTime(name: String) async throws {
    let text = SDKRecording.slowing(try SDKRecording.text("gateway/\(name).jsonl"), 20)
    let played = try await PlayedRecording(text: text, as: SharedPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
  }

  /// Two requests with one number are on their way at the same time, and each caller gets its own answer.
  @Test func eachGetsWhatIsItsOwn() async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("gateway/riding.jsonl"), as: SharedPlan.self)
    var delivered: [String] = []
    for effect in played.told {
      switch effect {
      case .channel(.deliver(let message)): delivered.append("channel \(message.topic)")
      case .gateway(.deliver(let message)): delivered.append("gateway \(message.message.topic)")
      default: continue
      }
    }
    #expect(delivered == ["channel /x"])
    let answers = played.values.compactMap { call, value -> String? in
      guard case .channel(.reply(let reply)) = value else { return nil }
      return "\(call.name) \(reply.data.map { String(decoding: $0.utf8, as: UTF8.self) } ?? "-")"
    }
    #expect(answers == [#"channel invoke {"for":"the channel"}"#])
    #expect(played.outcome.machine.channel.statistics.unknownReplies == 0)
    #expect(played.outcome.machine.gateway.statistics.unknownReplies == 0)
  }

  private static let day = [
    "channel start", "channel invoke /light/get", "gateway start", "gateway line home/lamp",
    "gateway addTopology home/lamp", "gateway logIn home/lamp",
    "gateway invoke /sys/home/lamp/thing/event/property/post",
    "gateway invoke /sys/home/lamp/thing/event/property/post", "gateway stop",
    "channel invoke /light/get", "channel stop",
  ]

  /// A gateway that is started when the connection is open, comes back with it, and is stopped before it ends.
  @Test func playsADayOfBoth() async throws {
    let recording = try await AppSession.recordSharedDay()
    let played = try await PlayedRecording(
      try AppSession.events(recording), as: SharedPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.outcome.unsent == nil && played.outcome.openCalls.isEmpty)
    #expect(played.failed.isEmpty && played.words == Self.day)
    var states: [String] = []
    for effect in played.told {
      switch effect {
      case .channel(.changeState(let change)): states.append("channel \(change.state)")
      case .gateway(.changeState(let change)): states.append("gateway \(change.state)")
      case .gateway(.changeLine(let change)): states.append("line \(change.state)")
      default: continue
      }
    }
    #expect(
      states == [
        "channel connecting", "channel connected", "gateway connecting", "gateway connected",
        "line ready", "line topology", "line online", "channel disconnected", "line topology",
        "gateway disconnected", "channel connecting", "gateway connecting", "channel connected",
        "line online", "gateway connected", "line topology", "gateway disconnected",
        "channel disconnected",
      ], "\(states)")
    #expect(played.outcome.machine.channel.statistics.lostConnections == 1)
    #expect(played.outcome.machine.gateway.statistics.lostConnections == 1)
    #expect(played.outcome.machine.gateway.statistics.automaticLogins == 1)
  }

  // MARK: What differs

  /// What one of them would not send makes the replay leave the session just there.
  @Test(
    arguments: [
      // What the gateway, and what the channel, does by itself after a loss.
      (
        28, #"\"cleanSession\":\"true\""#, #"\"cleanSession\":\"false\""#,
        "payload.params.cleanSession"
      ),
      (25, "topo/change", "topo/chance", "filters[2] level 7"),
      (24, "app/down/#", "app/down/+", "filters[0] level 7"),
      // The form of the gateway's requests.
      (11, "thing.topo.add", "thing.topo.put", "payload.method"),
    ] as [(Int, String, String, String)])
  func whatItWouldNotSendMakesItDiverge(
    frame: Int, old: String, new: String, place: String
  ) async throws {
    let text = try SDKRecording.text("gateway/riding-loss.jsonl")
    let changed = SDKRecording.changing(text, lines: "\"frame\":\(frame),", old, new)
    try #require(changed != text)
    let played = try await PlayedRecording(text: changed, as: SharedPlan.self)
    let divergence = try #require(played.outcome.divergence)
    #expect(divergence.kind == .otherAction)
    #expect(divergence.place?.frame == frame, "\(divergence)")
    #expect(divergence.differences.map(\.place) == [place], "\(divergence)")
  }

  /// A gateway that stops takes all of its filters back, and no other.
  @Test func aFilterThatIsNotTakenBackMakesItDiverge() async throws {
    let text = try SDKRecording.text("gateway/riding.jsonl")
    let filter = #",{"filter":"/sys/a1pk/riding/thing/topo/change"}]"#
    let changed = text.replacing(filter, with: "]")
    try #require(changed != text)
    let played = try await PlayedRecording(text: changed, as: SharedPlan.self)
    let divergence = try #require(played.outcome.divergence)
    #expect(divergence.place?.frame == 23, "\(divergence)")
    #expect(played.words.last == "gateway addTopology riding/lamp")
  }

  /// A gateway that does not come back after a loss logs nobody in.
  @Test func aGatewayThatDoesNotComeBackMakesItDiverge() async throws {
    let lines = try SDKRecording.text("gateway/riding-loss.jsonl").split(separator: "\n").filter {
      !$0.contains(#""frame":25,"#) && !$0.contains(#""frame":27,"#)
    }
    let played = try await PlayedRecording(
      text: lines.joined(separator: "\n") + "\n", as: SharedPlan.self)
    let divergence = try #require(played.outcome.divergence)
    // Where two lines are missing, the login stands in line 26.
    #expect(divergence.kind == .otherAction && divergence.place?.frame == 26, "\(divergence)")
    #expect(divergence.actual?.hasPrefix("SUBSCRIBE /ext/error/a1pk/riding-loss") == true)
  }

  // MARK: Whose session it is

  @Test(arguments: [("riding", 9), ("riding-loss", 15), ("riding-loss", 18)])
  func aSharedConnectionBeginsWithItsConnect(name: String, frame: Int) throws {
    let lines = try SDKRecording.text("gateway/\(name).jsonl").split(separator: "\n")
    let text = ([lines[0]] + lines[(frame - 1)...]).joined(separator: "\n") + "\n"
    let events = try AppSession.events(Array(text.utf8))
    #expect(try RecordedSystem(events) == .channelWithGateway)
    let error = #expect(throws: DataClientError.self) { try SystemReplay<SharedPlan>(events) }
    #expect(error?.code == .unsupported)
    #expect(
      error?.message
        == "the session begins in the middle of a connection that the gateway a1pk/\(name) shares with an app, and "
        + "nobody knows what of it was whose; take --from back to its CONNECT, or capture it from "
        + "there")
  }

  /// A gateway with a connection of its own is none that rides, and an app without one has none.
  @Test func aMemberAloneIsNotShared() async throws {
    #expect(try RecordedSystem(SDKRecording.events("gateway/line.jsonl")) == .gateway)
    let app = try await AppSession.record { app in
      try await app.connect()
      _ = try await app.channel.invoke("/light/get", ["v": 1])
    }
    #expect(try RecordedSystem(AppSession.events(app)) == .channel)
    #expect(throws: DataClientError.self) {
      try SystemReplay<SharedPlan>(AppSession.events(app))
    }
  }
}

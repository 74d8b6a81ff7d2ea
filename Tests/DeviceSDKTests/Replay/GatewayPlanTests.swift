import AppSessions
import DeviceSDK
import RepriseCore
import SDKReplay
import Testing

/// Gateways that are replayed from what their clients recorded.
@Suite struct GatewayPlanTests {
  /// The recordings and captures of all scenarios of a gateway that has its connection for itself.
  ///
  /// A gateway that is not let in has no topics, and so nobody sees that it is a gateway.
  static let names = SDKRecording.names(of: "gateway").filter {
    !$0.contains("/riding") && !$0.contains("/refused.")
  }

  @Test func thereAreRecordings() { #expect(Self.names.count > 110) }

  @Test(arguments: names)
  func goesThroughItsSessionAgain(name: String) async throws {
    let events = try SDKRecording.events(name)
    #expect(try RecordedSystem(events) == .gateway)
    let played = try await PlayedRecording(events, as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.outcome.unsent == nil)
    // What is sent as it stands says nothing of the gateway: only raw bytes are.
    let isRaw = name.contains("/upload.")
    #expect(played.words.contains { $0.hasPrefix("upload ") } == isRaw)
    #expect(played.words.first == "start")
  }

  /// The SDK's own times are those of the scenario then, and all that a server does takes longer.
  @Test(arguments: names.filter { $0.hasSuffix(".jsonl") })
  func goesThroughItAgainInItsOwnTime(name: String) async throws {
    let text = SDKRecording.slowing(try SDKRecording.text(name), 20)
    let played = try await PlayedRecording(text: text, as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
  }

  // MARK: What is told

  @Test(arguments: ["jsonl", "pcap"])
  func tellsWhatTheApplicationDidAndWasTold(ending: String) async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("gateway/commands.\(ending)"), as: GatewayPlan.self)
    let lamp = "/sys/commands/lamp/thing/service"
    #expect(
      played.words == [
        "start", "line commands/lamp", "addTopology commands/lamp", "logIn commands/lamp",
        "subscribe \(lamp)/property/set", "subscribe \(lamp)/property/get",
        "subscribe \(lamp)/blink", "answer \(lamp)/property/set", "answer \(lamp)/property/get",
        "answer \(lamp)/blink", "stop",
      ])
    #expect(played.failed.isEmpty && played.outcome.openCalls.isEmpty)
    var lines: [LineState] = []
    var commands: [GatewayCommand.Kind] = []
    for effect in played.told {
      if case .changeLine(let change) = effect { lines.append(change.state) }
      if case .command(let command) = effect { commands.append(command.kind) }
    }
    #expect(lines == [.ready, .topology, .online, .topology])
    #expect(commands == [.setProperties, .getProperties, .service("blink")])
    #expect(played.outcome.ending.state == .disconnected)
  }

  /// A line is there before its sub-device says anything, so that what it had ends with its session.
  @Test func aLineIsThereBeforeItIsUsed() async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("gateway/post-on-ready.jsonl"), as: GatewayPlan.self)
    let post = "invoke /sys/post-on-ready/lamp/thing/event/property/post"
    #expect(
      played.words == [
        "start", "line post-on-ready/lamp", post, "addTopology post-on-ready/lamp",
        "logIn post-on-ready/lamp", post, post, "stop",
      ])
  }

  /// What the gateway does by itself after a loss is nobody's call.
  @Test func loginsAfterALossAreTheGatewaysOwn() async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("gateway/lost-while-online.jsonl"), as: GatewayPlan.self)
    #expect(played.words.filter { $0.hasPrefix("logIn") }.count == 1)
    #expect(played.outcome.machine.statistics.automaticLogins == 1)
  }

  /// A sub-device that the rest of a connection does not show was not near.
  @Test func whoIsNotNearIsNotLoggedInAgain() async throws {
    let played = try await PlayedRecording(
      try SDKRecording.events("gateway/restore-not-ready.jsonl"), as: GatewayPlan.self)
    #expect(played.outcome.machine.statistics.automaticLogins == 1)
    #expect(played.outcome.machine.statistics.lostConnections == 2)
  }

  // MARK: How it has to behave

  @Test func asksAgainWhenTheRecordedClientDid() async throws {
    let faults = try GatewayPlan(try SDKRecording.events("gateway/faults.jsonl").dialogue())
    // A second, two and four, of a client whose time passed 20 times as fast.
    let first = faults.configuration.faultRetry.first
    #expect(first > .milliseconds(45) && first < .milliseconds(55))
    let throttled = try GatewayPlan(
      try SDKRecording.events("gateway/cloud-throttles.jsonl").dialogue())
    let pause = throttled.configuration.throttleRetry.first
    #expect(pause > .milliseconds(2_950) && pause < .milliseconds(3_050))
    #expect(throttled.configuration.faultRetry == BackOff(jitterPercent: 0))
  }

  @Test func behavesAsTheRecordedClientDid() async throws {
    func configuration(_ name: String) throws -> GatewayConfiguration {
      try GatewayPlan(try SDKRecording.events("gateway/\(name).jsonl").dialogue()).configuration
    }
    #expect(try configuration("lost-while-online").subscribesToCommands)
    #expect(try !configuration("cloud-restores").subscribesToCommands)
    #expect(try configuration("resync").syncsTopology)
    #expect(try !configuration("cloud-restores").syncsTopology)
    #expect(try configuration("flapping").limits.loginsPerMinute == .max)
    #expect(try configuration("login").limits.loginsPerMinute == 5)
  }

  // MARK: What differs

  /// What a gateway would not send makes the replay leave the session just there.
  @Test(
    arguments: [
      // The gateway's own login after a loss: another parameter, another topic.
      (
        "lost-while-online", #""frame":32,"#, #"\"cleanSession\":\"true\""#,
        #"\"cleanSession\":\"false\""#, 32, "payload.params.cleanSession"
      ),
      (
        "lost-while-online", #""frame":32,"#, "combine/login\"", "combine/logon\"", 32,
        "topic level 7"
      ),
      // What it is subscribed to when it is online again.
      (
        "lost-while-online", #""frame":35,"#, "thing/enable", "thing/unable", 35,
        "filters[3] level 6"
      ),
      // Its answer to a notice.
      ("topology-change", #""frame":13,"#, #"\"code\":200"#, #"\"code\":201"#, 13, "payload.code"),
      // The form of its requests.
      (
        "line", #""frame":9,"#, #"\"version\":\"1.0\""#, #"\"version\":\"2.0\""#, 9,
        "payload.version"
      ),
      ("line", #""frame":9,"#, "thing.topo.add", "thing.topo.put", 9, "payload.method"),
    ] as [(String, String, String, String, Int, String)])
  func whatItWouldNotSendMakesItDiverge(
    name: String, mark: String, old: String, new: String, frame: Int, place: String
  ) async throws {
    let text = try SDKRecording.text("gateway/\(name).jsonl")
    let changed = SDKRecording.changing(text, lines: mark, old, new)
    try #require(changed != text)
    let played = try await PlayedRecording(text: changed, as: GatewayPlan.self)
    let divergence = try #require(played.outcome.divergence)
    #expect(divergence.kind == .otherAction)
    #expect(divergence.place?.frame == frame, "\(divergence)")
    #expect(divergence.differences.map(\.place) == [place], "\(divergence)")
  }

  /// A login that the gateway sends by itself and that the session lacks, though it was answered.
  @Test(arguments: ["lost-while-online", "cloud-restores"])
  func aMissingLoginMakesItDiverge(name: String) async throws {
    var lines = try SDKRecording.text("gateway/\(name).jsonl").split(separator: "\n")
    let index = try #require(lines.lastIndex { $0.contains(#"/combine/login","payload""#) })
    lines.remove(at: index)
    let played = try await PlayedRecording(
      text: lines.joined(separator: "\n") + "\n", as: GatewayPlan.self)
    let divergence = try #require(played.outcome.divergence)
    #expect(divergence.kind == .otherAction)
    #expect(
      divergence.actual?.hasPrefix("PUBLISH /ext/session/a1pk/\(name)/combine/login,") == true)
    #expect(divergence.expected?.hasPrefix("SUBSCRIBE /sys/\(name)/lamp/") == true)
  }

  /// What the application says is the application's: other parameters are another call.
  @Test func otherParametersAreAnotherCall() async throws {
    let text = SDKRecording.changing(
      try SDKRecording.text("gateway/cloud-day.jsonl"), lines: #""from":"client""#,
      #"\"Power\":1"#, #"\"Power\":7"#)
    let played = try await PlayedRecording(text: text, as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.calls.contains { $0.name == "invoke" && $0.details == ["Power": 7] })
  }

  /// A client that asks again for what the gateway still waits for is none that sends wrong things.
  @Test func whoAsksTwiceIsNoReasonToLeave() async throws {
    var lines = try SDKRecording.text("gateway/line.jsonl").split(separator: "\n").map(String.init)
    let index = try #require(lines.firstIndex { $0.contains(#""frame":9,"#) })
    let again = lines[index].replacing(#""frame":9,"#, with: #""frame":10,"#)
      .replacing("49:59.336712936", with: "49:59.340712936")
      .replacing(#""packetID":3"#, with: #""packetID":4"#)
      .replacing(#"{\"id\":\"1\""#, with: #"{\"id\":\"2\""#)
    lines.insert(again, at: index + 2)
    let played = try await PlayedRecording(
      text: lines.joined(separator: "\n") + "\n", as: GatewayPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(
      played.words == [
        "start", "line line/lamp", "addTopology line/lamp", "addTopology line/lamp",
        "upload /sys/a1pk/line/thing/topo/add", "stop",
      ])
  }

  // MARK: What can't be played

  @Test(arguments: ["jsonl", "pcap"])
  func whoIsNotLetInIsPlayedAsAChannel(ending: String) async throws {
    let events = try SDKRecording.events("gateway/refused.\(ending)")
    #expect(try RecordedSystem(events) == .channel)
    let played = try await PlayedRecording(events, as: ChannelPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(Set(played.words) == ["start"])
  }

  @Test func whatIsNoGatewayIsNotMeant() async throws {
    let app = try await AppSession.record { try await $0.connect() }
    let events = try AppSession.events(app)
    #expect(try RecordedSystem(events) == .channel)
    #expect(throws: DataClientError.self) { try SystemReplay<GatewayPlan>(events) }
  }
}

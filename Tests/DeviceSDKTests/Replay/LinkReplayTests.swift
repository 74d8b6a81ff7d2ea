import AppSessions
import CloudSimulator
import DeviceSDK
import RepriseCore
import SDKReplay
import Synchronization
import TestSupport
import Testing

/// Links that are replayed from what their clients recorded.
@Suite struct LinkReplayTests {
  /// What a user told a link, and was told, in one life.
  private final class Life: LinkDelegate {
    private let effects = Mutex<[LinkEffect]>([])

    func didReceiveLinkStateEvent(_ event: LinkStateEvent) { add(.changeState(event)) }
    func didReceivePresenceEvent(_ event: LinkPresenceEvent) { add(.tellPresence(event)) }
    func didReceiveMessageEvent(_ message: LinkMessage) { add(.deliver(message)) }
    func didReceiveTopicEvent(_ event: LinkTopicEvent) { add(.tellTopics(event)) }
    func tokenPrivilegeWillExpire(_ event: LinkTokenEvent) { add(.warnOfToken(event)) }
    private func add(_ effect: LinkEffect) { effects.withLock { $0.append(effect) } }

    /// What was told of one service's link.
    func lines(of service: LinkService) -> [String] {
      effects.withLock { $0 }.compactMap { Self.line($0, service) }
    }

    static func line(_ effect: LinkEffect, _ service: LinkService) -> String? {
      switch effect {
      case .changeState(let event):
        event.service == service
          ? "\(event.previous) \(event.current) \(event.operation) \(event.reason) "
            + "\(event.affected) \(event.isResumed)"
          : nil
      case .tellPresence(let event):
        event.type.rawValue == service.rawValue
          ? "\(event.kind) \(event.channel) \(event.user?.userID ?? "-") \(event.snapshot.count)"
          : nil
      case .deliver(let message):
        (message.topic == nil) == (service == .message)
          ? "message \(message.topic ?? "-") \(message.text ?? "-")" : nil
      case .tellTopics(let event): service == .stream ? "\(event.kind) \(event.topics)" : nil
      case .warnOfToken(let event): event.service == service ? "token" : nil
      }
    }
  }

  /// A recorded life: the message service's session, the stream channel's, and what was told.
  private struct Recorded {
    let life: Life
    let message: [UInt8]
    let stream: [UInt8]
  }

  /// The application's part of a recorded life, which is in no hurry: time stands while it calls.
  private struct Bench {
    let broker: InProcessBroker
    let clock: InProcessClient

    init(_ broker: InProcessBroker) {
      self.broker = broker
      clock = broker.client(named: "clock")
    }

    /// Does something after so many seconds, in no time.
    func after(_ seconds: Double, _ body: () async throws -> Void) async throws {
      // Nothing goes on in this world while the clock is not read.
      _ = try await clock.next(
        before: broker.now.advanced(by: .milliseconds(Int64(seconds * 1_000))))
      try await broker.withTimeHeld {
        async let rest = clock.next(before: nil)
        try await body()
        clock.wake()
        _ = try await rest
      }
    }
  }

  /// Records what a user does beside a server, in process and in virtual time.
  private static func record(
    _ rules: LinkServiceRules = LinkServiceRules(), restoresAfterFailure: Bool = false,
    _ body: (Link, Bench) async throws -> Void
  ) async throws -> Recorded {
    let broker = InProcessBroker()
    let server = LinkServer(rules)
    let serverClient = broker.client(named: "server")
    let bench = Bench(broker)
    let redaction = RedactionRules(hidesSecrets: false)
    let message = try RecordingClient(
      broker.client(named: "link"), to: MemorySink(), redaction: redaction)
    let streams = Mutex<[(InProcessClient, RecordingClient<InProcessClient, MemorySink>)]>([])
    let life = Life()
    try await beside {
      try await server.run(on: serverClient)
    } _: {
      var configuration = LinkConfiguration(
        appID: "app", userID: "ann", sessionID: "7", heartbeatInterval: .seconds(30),
        presenceTimeout: .seconds(20))
      configuration.restoresAfterFailure = restoresAfterFailure
      try await withLink(
        on: message, configuration: configuration,
        streamClient: { name in
          let client = broker.client(named: name)
          let recorder = try RecordingClient(client, to: MemorySink(), redaction: redaction)
          streams.withLock { $0.append((client, recorder)) }
          return recorder
        }
      ) { link in
        link.addDelegate(life, uiSafety: false)
        // These are not read any more, and the others would wait for that.
        defer {
          bench.clock.leave()
          for (client, _) in streams.withLock({ $0 }) { client.leave() }
        }
        try await body(link, bench)
      }
    }
    try message.finish()
    let room = streams.withLock { $0.first?.1 }
    try room?.finish()
    return Recorded(life: life, message: message.sink.bytes, stream: room?.sink.bytes ?? [])
  }

  /// What is seen of a link that is replayed.
  private struct Replayed {
    var divergence: ReplayDivergence?
    var state: LinkState
    var isComplete: Bool
    var calls: [String] = []
    var told: [LinkEffect] = []
  }

  /// Replays a recording.
  private func replay<Plan: LinkPlan>(
    _ recording: [UInt8], as plan: Plan.Type, _ system: RecordedSystem
  ) async throws -> Replayed where Plan.Machine.Failure == LinkError {
    let seen = Mutex<[SystemReplay<Plan>.Observation]>([])
    let events = try AppSession.events(recording)
    #expect(try RecordedSystem(events) == system)
    let outcome = try await SystemReplay<Plan>(events).run { observation in
      seen.withLock { $0.append(observation) }
    }
    var replayed = Replayed(
      divergence: outcome.divergence, state: outcome.ending,
      isComplete: outcome.openCalls.isEmpty && outcome.unsent == nil)
    for observation in seen.withLock({ $0 }) {
      switch observation.content {
      case .called(let call):
        let details = call.details.map { $0.text ?? String(decoding: $0.utf8, as: UTF8.self) }
        replayed.calls.append(
          [call.name, call.subject, details].compactMap(\.self).joined(separator: " "))
      case .completed(let call, .failure(let error)):
        replayed.calls.append("\(call.name) \(error.code.rawValue)")
      case .completed: continue
      case .told(let effect): replayed.told.append(effect)
      }
    }
    return replayed
  }

  @Test func goesThroughItsSessionAgain() async throws {
    let recorded = try await Self.record { link, bench in
      try await bench.after(0) {
        try await link.login(token: "t")
        try await link.subscribe("lobby", [.presence])
        try await link.setStates(["mood": "good", "at": "home"], in: "lobby")
        try await link.publish("hello", in: "hall")
      }
      try await bench.after(100) { bench.broker.drop("link") }
      try await bench.after(40) {
        try await link.renewToken("u")
        try await link.removeStates(["at"], in: "lobby")
        try await link.noteNetwork(.lost)
      }
      try await bench.after(1) { try await link.noteNetwork(.regained) }
      try await bench.after(20) {
        try await link.setStates(["k": "v"], in: "attic")
        try await link.subscribe("attic", [.message])
        try await link.unsubscribe("lobby")
      }
      try await bench.after(200) { try await link.logout() }
    }
    let replayed = try await replay(
      recorded.message, as: MessageLinkPlan.self, .messageLink)
    #expect(
      replayed.divergence == nil, "\(replayed.divergence.map { "\($0)" } ?? "")")
    #expect(replayed.state == .idle && replayed.isComplete)
    #expect(
      replayed.calls == [
        "login", "subscribe lobby features 1", #"states lobby {"at":"home","mood":"good"}"#,
        "publish hall hello", "renew", #"states lobby {"at":null}"#, "network lost",
        "network regained", #"states attic {"k":"v"}"#, "subscribe attic features 4",
        "unsubscribe lobby", "logout",
      ])
    #expect(
      replayed.told.compactMap { Life.line($0, .message) } == recorded.life.lines(of: .message))
    #expect(replayed.told.count > 10)
  }

  @Test func aStreamChannelGoesThroughItsSessionAgain() async throws {
    let recorded = try await Self.record { link, bench in
      let room = try link.streamChannel("room")
      try await bench.after(0) {
        try await link.login(token: "t")
        try await room.join(token: "r")
        try await room.setStates(["k": "v"])
      }
      try await bench.after(10.2) { bench.broker.drop("room") }
      try await bench.after(10.1) {
        try await room.renewToken("s")
        try await room.leave()
      }
    }
    let replayed = try await replay(recorded.stream, as: StreamLinkPlan.self, .streamLink)
    #expect(
      replayed.divergence == nil, "\(replayed.divergence.map { "\($0)" } ?? "")")
    #expect(replayed.calls == ["join features 1", #"states {"k":"v"}"#, "renew", "leave"])
    #expect(
      replayed.told.compactMap { Life.line($0, .stream) } == recorded.life.lines(of: .stream))
  }

  @Test func topicsGoThroughTheirSessionAgain() async throws {
    let recorded = try await Self.record { link, bench in
      let room = try link.streamChannel("room")
      try await bench.after(0) {
        try await link.login(token: "t")
        try await room.join(token: "r", features: [.metadata, .lock])
        try await room.joinTopic("chat", LinkTopicOptions(qos: .ordered, meta: "m"))
        try await room.joinTopic("news")
        try await room.subscribeTopic("chat", users: ["ann", "bob"])
        try await room.publish("hi", in: "chat")
        try await room.publish("ho", in: "news")
      }
      try await bench.after(10.2) { bench.broker.drop("room") }
      try await bench.after(10.1) {
        try await room.unsubscribeTopic("chat", users: ["bob"])
        try await room.leaveTopic("news")
        try await room.publish(#"{"a":1}"#, in: "chat")
      }
      try await bench.after(10.1) { try await room.leave() }
    }
    let replayed = try await replay(recorded.stream, as: StreamLinkPlan.self, .streamLink)
    #expect(
      replayed.divergence == nil, "\(replayed.divergence.map { "\($0)" } ?? "")")
    #expect(
      replayed.calls == [
        "join features 6", "join chat ordered, m", "join news unordered",
        #"subscribe chat ["ann","bob"]"#, "publish chat hi", "publish news ho",
        #"unsubscribe chat ["bob"]"#, "leave news", #"publish chat {"a":1}"#, "leave",
      ])
    let told = recorded.life.lines(of: .stream)
    #expect(replayed.told.compactMap { Life.line($0, .stream) } == told)
    #expect(
      told.filter { $0.hasPrefix("message") } == ["message chat hi", #"message chat {"a":1}"#])
  }

  /// What a user does while there is no connection shows in how the next one begins.
  @Test func goesThroughWhatWasDoneWithoutAConnection() async throws {
    let recorded = try await Self.record { link, bench in
      try await bench.after(0) {
        try await link.login(token: "t")
        try await link.subscribe("lobby", [.message])
        try await link.subscribe("hall", [.message])
      }
      for leave in [
        { try await link.unsubscribe("lobby") },
        {
          try await link.logout()
          try await link.login(token: "t")
        }, {},
      ] as [() async throws -> Void] {
        try await bench.after(10) { bench.broker.drop("link") }
        try await bench.after(0.1) { try await leave() }
      }
      try await bench.after(20) { try await link.logout() }
    }
    let replayed = try await replay(recorded.message, as: MessageLinkPlan.self, .messageLink)
    #expect(
      replayed.divergence == nil, "\(replayed.divergence.map { "\($0)" } ?? "")")
    #expect(replayed.state == .idle && replayed.isComplete)
    #expect(
      replayed.calls == [
        "login", "subscribe lobby features 4", "subscribe hall features 4", "unsubscribe lobby",
        "logout", "login", "logout",
      ])
  }

  /// A link that fails while it has no connection comes for the first time, as one does whose user has logged out: but
  /// with what it had.
  @Test func goesThroughAFailureWithoutAConnection() async throws {
    var rules = LinkServiceRules()
    rules.tokens["t"] = LinkServiceRules.Token(lifetime: .seconds(12))
    let recorded = try await Self.record(rules, restoresAfterFailure: true) { link, bench in
      try await bench.after(0) {
        try await link.login(token: "t")
        try await link.subscribe("lobby", [.message])
      }
      try await bench.after(11.9) { bench.broker.drop("link") }
      try await bench.after(20) { try await link.login(token: "u") }
      try await bench.after(5) { try await link.logout() }
    }
    let replayed = try await replay(recorded.message, as: MessageLinkPlan.self, .messageLink)
    #expect(
      replayed.divergence == nil, "\(replayed.divergence.map { "\($0)" } ?? "")")
    #expect(replayed.calls == ["login", "subscribe lobby features 4", "login", "logout"])
    #expect(
      replayed.told.compactMap { Life.line($0, .message) } == recorded.life.lines(of: .message))
  }

  @Test func aStreamChannelGoesThroughWhatWasDoneWithoutAConnection() async throws {
    let recorded = try await Self.record { link, bench in
      let room = try link.streamChannel("room")
      try await bench.after(0) {
        try await link.login(token: "t")
        try await room.join(token: "r")
        try await room.joinTopic("chat")
        try await room.joinTopic("news")
        try await room.subscribeTopic("chat", users: ["bob", "dan"])
      }
      try await bench.after(10.2) { bench.broker.drop("room") }
      try await bench.after(0.1) {
        try await room.leaveTopic("news")
        try await room.unsubscribeTopic("chat", users: ["dan"])
      }
      try await bench.after(10.2) { bench.broker.drop("room") }
      try await bench.after(20.1) { try await room.leave() }
    }
    let replayed = try await replay(recorded.stream, as: StreamLinkPlan.self, .streamLink)
    #expect(
      replayed.divergence == nil, "\(replayed.divergence.map { "\($0)" } ?? "")")
    #expect(replayed.state == .idle && replayed.isComplete)
    #expect(
      replayed.calls == [
        "join features 1", "join chat unordered", "join news unordered",
        #"subscribe chat ["bob","dan"]"#, "leave news", #"unsubscribe chat ["dan"]"#, "leave",
      ])
  }

  /// Sessions of scenarios in which a user does something without a connection, or after a failure.
  @Test(arguments: ["jsonl", "pcap"])
  func goesThroughAFailure(_ ending: String) async throws {
    let played = try await PlayedRecording(
      SDKRecording.events("link/link-same-session.\(ending)"), as: MessageLinkPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words == ["login", "subscribe a", "login", "logout"])
  }

  @Test(arguments: [
    (
      "topic-while-down",
      "join, join chat, join news, subscribe chat, join slow, leave news, leave chat, "
        + "unsubscribe chat, leave"
    ), ("stream-service-failed", "join, service, join, leave"),
  ])
  func goesThroughScenariosOfStreams(_ name: String, _ calls: String) async throws {
    let played = try await PlayedRecording(
      SDKRecording.events("link/\(name).jsonl"), as: StreamLinkPlan.self)
    #expect(played.outcome.divergence == nil, "\(played.divergence)")
    #expect(played.words.joined(separator: ", ") == calls)
  }

  @Test func anotherServerMakesItDiverge() async throws {
    let recorded = try await Self.record { link, bench in
      try await bench.after(0) { try await link.login(token: "t") }
      try await bench.after(50) { try await link.logout() }
    }
    let text = String(decoding: recorded.message, as: UTF8.self)
    // The heartbeats come every 20 s now, as far as the greeting says.
    let changed = text.replacing(#"\"heartbeatInterval\":30"#, with: #"\"heartbeatInterval\":20"#)
    try #require(changed != text)
    let replayed = try await replay(
      Array(changed.utf8), as: MessageLinkPlan.self, .messageLink)
    #expect(replayed.divergence != nil)
  }

  @Test func whatIsNoLinkIsNotMeant() async throws {
    let app = try await AppSession.record { try await $0.connect() }
    let events = try AppSession.events(app)
    #expect(try RecordedSystem(events) == .channel)
    #expect(throws: DataClientError.self) { try SystemReplay<MessageLinkPlan>(events) }
    #expect(throws: DataClientError.self) { try SystemReplay<StreamLinkPlan>(events) }
  }
}

import Testing
import Wire

@testable import RepriseCore

@Suite struct ReplayDivergenceTests {
  /// A session whose client publishes once, at frame 4.
  private static func session(_ payload: String, topic: String = "a/b/c") -> [Event] {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, topic, payload, qos: 1, id: 5)
    session.acknowledge(2, .server, .puback, 5)
    session.publish(3, .client, "later", "z")
    return session.events
  }

  private static func connected(
    _ events: [Event], _ options: ReplayOptions = ReplayOptions()
  ) async throws -> (ReplayClient, Actor) {
    let client = try ReplayClient(events, options: options)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    return (client, user)
  }

  @Test(arguments: [
    (#"{"a":1}"#, #"{"a":2}"#, "payload.a", "1", "2"),
    (#"{"a":[1,{"b":true}]}"#, #"{"a":[1,{"b":false}]}"#, "payload.a[1].b", "true", "false"),
    (#"{"a":1,"b":2}"#, #"{"b":2}"#, "payload.a", "1", "nothing"),
    (#"{"b":2}"#, #"{"b":2,"c":"x"}"#, "payload.c", "nothing", #""x""#),
    ("text", "tent", "payload from byte 2", "78 74", "6e 74"),
    ("ab", "abc", "payload from byte 2", "nothing", "63"),
  ])
  func showsWhatDiffersInAPayload(
    _ recorded: String, _ sent: String, _ place: String, _ expected: String, _ actual: String
  ) async throws {
    var (client, user) = try await Self.connected(
      Self.session(recorded), ReplayOptions(source: "x.jsonl"))
    let error = await #expect(throws: DataClientError.self) {
      try await user.publish("a/b/c", sent, qos: .atLeastOnce)
    }
    #expect(error?.code == .diverged)
    let divergence = try #require(client.divergence)
    #expect(divergence.kind == .otherAction)
    #expect(divergence.place?.frame == 4)
    #expect(divergence.place?.connection == 1)
    let first = try #require(divergence.differences.first)
    #expect(first.description == "\(place): expected \(expected), actual \(actual)")
    #expect(divergence.remedy.hasPrefix("reprise inspect x.jsonl --filter 'connection == 1 and "))
    // The world stays broken.
    await #expect(throws: DataClientError.self) { try await user.next() }
    #expect(throws: DataClientError.self) { try client.finish() }
  }

  @Test func namesTheLevelOfATopic() async throws {
    var (client, user) = try await Self.connected(Self.session("x"))
    await #expect(throws: DataClientError.self) {
      try await user.publish("a/x/c", "x", qos: .atLeastOnce)
    }
    #expect(
      client.divergence?.differences.map(\.description)
        == ["topic level 2: expected b, actual x"])
  }

  @Test func tellsThatTheActionComesLater() async throws {
    var (client, user) = try await Self.connected(Self.session("x"))
    await #expect(throws: DataClientError.self) { try await user.publish("later", "z") }
    #expect(client.divergence?.laterPlace?.frame == 6)
  }

  @Test(arguments: [
    (ReplayMatch.json, #"{"v":1.0,"id":9,"x":null}"#, true),
    (.json, #"{"v":2,"id":9,"x":null}"#, false),
    (.topic, "anything", true),
    (.strict, #"{"id":"17","v":1,"x":null}"#, true),
    (.strict, #"{"id":"17","x":null,"v":1}"#, false),
  ])
  func matchesAsAsked(_ match: ReplayMatch, _ payload: String, _ matches: Bool) async throws {
    let events = Self.session(#"{"id":"17","v":1,"x":null}"#)
    var (client, user) = try await Self.connected(events, ReplayOptions(match: match))
    do {
      try await user.publish("a/b/c", payload, qos: .atLeastOnce)
      #expect(matches)
    } catch {
      #expect(!matches, "\(error)")
    }
    #expect((client.divergence == nil) == matches)
  }

  @Test(
    "QoS and RETAIN are compared, but where topics alone count",
    arguments: [
      (ReplayMatch.json, QoS.atMostOnce, false, ["qos: expected 1, actual 0"]),
      (
        .json, .exactlyOnce, true,
        ["qos: expected 1, actual 2", "retain: expected false, actual true"]
      ),
      (.strict, .atLeastOnce, true, ["retain: expected false, actual true"]),
      (.topic, .atMostOnce, true, []), (.json, .atLeastOnce, false, []),
    ])
  func comparesQoSAndRetain(
    _ match: ReplayMatch, _ qos: QoS, _ retain: Bool, _ differences: [String]
  ) async throws {
    var (client, user) = try await Self.connected(Self.session("x"), ReplayOptions(match: match))
    let message = Message(topic: "a/b/c", payload: Array("x".utf8), qos: qos, isRetained: retain)
    _ = try? await user.do(.publish(message))
    #expect((client.divergence?.differences ?? []).map(\.description) == differences)
  }

  /// Options of a subscription count for one who wants the same packets, and for nobody else.
  @Test(arguments: [
    (ReplayMatch.strict, SubscriptionOptions(noLocal: true, retainHandling: .ifNew), true),
    (.strict, SubscriptionOptions(noLocal: true), false), (.strict, SubscriptionOptions(), false),
    (.json, SubscriptionOptions(), true),
  ])
  func optionsMatchAsAsked(
    _ match: ReplayMatch, _ options: SubscriptionOptions, _ matches: Bool
  ) async throws {
    var transcript = MessageTranscript(server: "mqtt://a", version: .v5_0)
    let wanted = Subscription(
      "a", options: SubscriptionOptions(noLocal: true, retainHandling: .ifNew))
    let time = Timestamp(nanoseconds: 1)
    func action(_ id: UInt32, _ kind: ClientAction.Kind) -> ClientAction {
      ClientAction(.init(rawValue: id), kind)
    }
    var events = transcript.take(action(1, .connect(ConnectOptions(clientID: "c"))), at: time)
    events += transcript.take(.connected(.init()), at: time)
    events += transcript.take(action(2, .subscribe([wanted])), at: time)
    events += transcript.take(.subscribed(.init(rawValue: 2), [.atLeastOnce]), at: time)
    let client = try ReplayClient(events, options: ReplayOptions(match: match))
    try await client.perform(action(1, .connect(ConnectOptions(clientID: "c"))))
    _ = try await client.next(before: nil)
    do {
      try await client.perform(action(2, .subscribe([Subscription("a", options: options)])))
      _ = try await client.next(before: nil)
      #expect(matches)
    } catch {
      #expect(!matches, "\(error)")
    }
    #expect(
      client.divergence?.differences.map(\.place) == (matches ? nil : ["filters[0].options"]))
  }

  @Test func hiddenSecretsMatchAnything() async throws {
    var (_, user) = try await Self.connected(Self.session(#"{"iotToken":"***","n":1}"#))
    try await user.publish("a/b/c", #"{"n":1,"iotToken":"abc"}"#, qos: .atLeastOnce)
  }

  /// In a redacted capture as many stars stand for a secret as it had bytes.
  @Test(arguments: [
    (#"{"iotToken":"********","n":1}"#, #"{"n":1,"iotToken":"abc"}"#, true),
    (#"{"content":"{\"iotToken\":\"****\"}"}"#, #"{"content":"{\"iotToken\":\"abc\"}"}"#, true),
    ("token=******&n=1", "token=hush&n=1", true), ("******", "anything", true),
    (#"{"iotToken":"********","n":1}"#, #"{"n":2,"iotToken":"abc"}"#, false),
    (#"{"iotToken":"********x"}"#, #"{"iotToken":"abc"}"#, false),
    (#"{"iotToken":"**"}"#, #"{"iotToken":"abc"}"#, false),
    ("token=******&n=1", "token=hush&n=2", false), ("******&n=1", "n=1&n=1", false),
  ])
  func starsMatchAnythingThatTheyMayHide(
    _ recorded: String, _ sent: String, _ matches: Bool
  ) async throws {
    var (client, user) = try await Self.connected(Self.session(recorded))
    do {
      try await user.publish("a/b/c", sent, qos: .atLeastOnce)
    } catch {
      #expect(!matches, "\(error)")
    }
    #expect((client.divergence == nil) == matches)
  }

  @Test func secretsAreNotShown() async throws {
    var (client, user) = try await Self.connected(Self.session(#"{"iotToken":"secret-1"}"#))
    await #expect(throws: DataClientError.self) {
      try await user.publish("a/b/c", #"{"iotToken":"secret-2"}"#, qos: .atLeastOnce)
    }
    let text = try #require(client.divergence).description
    #expect(!text.contains("secret-"))
  }

  @Test(arguments: [
    (#"{"params":{"iotToken":"secret-1"}}"#, "{}"),
    ("{}", #"{"params":{"iotToken":"secret-1"}}"#),
    (#"{"list":[]}"#, #"{"list":[{"iotToken":"secret-1"}]}"#),
    (#"{"content":"{\"iotToken\":\"secret-1\"}"}"#, #"{"content":"x"}"#),
    (#"{"content":1}"#, #"{"content":"{\"iotToken\":\"secret-1\"}"}"#),
    (#"{"iotToken":null}"#, #"{"iotToken":"secret-1"}"#),
  ])
  func secretsInWhatDiffersAreNotShown(_ recorded: String, _ sent: String) async throws {
    var (client, user) = try await Self.connected(Self.session(recorded))
    await #expect(throws: DataClientError.self) {
      try await user.publish("a/b/c", sent, qos: .atLeastOnce)
    }
    let divergence = try #require(client.divergence)
    #expect(!divergence.differences.isEmpty)
    #expect(!divergence.description.contains("secret-"))
  }

  /// What has the name of a secret is not shown in parts either.
  @Test(arguments: [
    (#"{"iotToken":["a"]}"#, #"{"iotToken":["b"]}"#, "payload.iotToken[0]"),
    (#"{"password":{"v":"a"}}"#, #"{"password":{"v":"b"}}"#, "payload.password.v"),
    (#"{"api.key":"a"}"#, #"{"api.key":"b"}"#, "payload.api.key"),
  ])
  func partsOfSecretsAreNotShown(_ recorded: String, _ sent: String, _ place: String) async throws {
    var (client, user) = try await Self.connected(Self.session(recorded))
    await #expect(throws: DataClientError.self) {
      try await user.publish("a/b/c", sent, qos: .atLeastOnce)
    }
    #expect(
      client.divergence?.differences
        == [ReplayDifference(place: place, expected: "***", actual: "***")])
  }

  /// A long text is cut between its characters, wherever they stand.
  @Test(arguments: ["", "x"]) func longTextStaysText(_ shift: String) async throws {
    let text = #"{"iotToken":"secret-1","t":"\#(shift)\#(String(repeating: "ä", count: 600))"}"#
    var (client, user) = try await Self.connected(Self.session("{}"))
    await #expect(throws: DataClientError.self) { try await user.publish("a/b/c", text) }
    let actual = try #require(client.divergence?.actual)
    #expect(actual.contains("***") && actual.contains("ää"))
  }

  @Test func theLastOfEqualKeysCounts() async throws {
    var (client, user) = try await Self.connected(Self.session(#"{"id":1,"a":1,"a":2}"#))
    try await user.publish("a/b/c", #"{"a":7,"id":2,"a":2}"#, qos: .atLeastOnce)
    #expect(client.divergence == nil)
    (client, user) = try await Self.connected(Self.session(#"{"id":1,"a":1,"a":2}"#))
    await #expect(throws: DataClientError.self) {
      try await user.publish("a/b/c", #"{"id":2,"a":2,"a":1}"#, qos: .atLeastOnce)
    }
    #expect(
      client.divergence?.differences.map(\.description) == ["payload.a: expected 2, actual 1"])
  }

  @Test func extraActionsHaveNoPlaceInTheSession() async throws {
    var session = SessionBuilder()
    session.connect(0)
    var (client, user) = try await Self.connected(session.events)
    await #expect(throws: DataClientError.self) { try await user.publish("t") }
    #expect(client.divergence?.kind == .extraAction)
  }

  @Test func missingActionsAreToldToASingleTask() async throws {
    let (client, user) = try await Self.connected(
      Self.session("x"), ReplayOptions(actors: .readerOnly, timerTolerance: .seconds(1)))
    #expect(try await user.next(2) == .deadline)
    let error = await #expect(throws: DataClientError.self) { try await user.next(2.5) }
    #expect(error?.code == .diverged)
    #expect(client.divergence?.kind == .missingAction)
    #expect(client.divergence?.place?.frame == 4)
  }

  @Test func leftOversAreErrors() async throws {
    let (client, _) = try await Self.connected(Self.session("x"))
    #expect(client.leftOvers.map(\.place.frame) == [4, 5, 6])
    #expect(client.leftOvers.map(\.sender) == [.client, .server, .client])
    #expect(throws: DataClientError.self) { try client.finish() }
    #expect(client.divergence?.kind == .leftOver)
    #expect(client.divergence?.place?.frame == 4)
  }

  @Test(arguments: [(1_000, "1000 events"), (1_001, "more than 1000 events")])
  func manyLeftOversAreNotCounted(_ count: Int, _ words: String) async throws {
    var session = SessionBuilder()
    session.connect(0)
    for _ in 0..<count { session.publish(1, .server, "t") }
    let (client, _) = try await Self.connected(session.events)
    #expect(client.leftOvers.count == 1_000)
    #expect(throws: DataClientError.self) { try client.finish() }
    #expect(client.divergence?.actual == "\(words) are left over, the first is this")
  }

  @Test func oneChangedByteIsFoundAtItsPlace() async throws {
    let events = Self.session(#"{"id":1,"params":{"v":21}}"#)
    for index in 0..<6 {
      guard case .mqtt(var packet) = events[3].body else { continue }
      let offset = packet.bytes.count - 8 + index
      packet.bytes[offset] ^= 0x10
      var changed = events
      changed[3].body = .mqtt(packet)
      var (client, user) = try await Self.connected(changed)
      await #expect(throws: DataClientError.self) {
        try await user.publish("a/b/c", #"{"id":1,"params":{"v":21}}"#, qos: .atLeastOnce)
      }
      #expect(client.divergence?.place?.frame == 4)
      #expect(client.divergence?.differences.isEmpty == false)
    }
  }

  @Test(arguments: [
    (ReplaySelection.client("sensr"), "did you mean \"sensor\"?"),
    (.only, "several clients"),
    (.connection(9), "no connection 9"),
  ])
  func saysWhoIsThere(_ selection: ReplaySelection, _ text: String) {
    var session = SessionBuilder()
    session.connect(0, as: "sensor")
    session.connection = 2
    session.connect(1, as: "plant")
    let error = #expect(throws: DataClientError.self) {
      try ReplayClient(session.events, of: selection)
    }
    #expect(error?.message.contains(text) == true)
    #expect(error?.message.contains("connection 2 (\"plant\")") == true)
  }
}

@Suite struct ReplayRolesTests {
  @Test func theReplyReachesWhoeverAsked() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "up", #"{"id":"17","time":100,"m":"x"}"#)
    session.publish(1, .client, "up", #"{"id":"18","time":101,"m":"y"}"#)
    session.publish(2, .server, "down", #"{ "id" : "18", "data":[{"id":17}], "time":101}"#)
    session.publish(3, .server, "down", #"{"id":"999","code":200}"#)
    session.publish(4, .server, "down", "no json: 17")
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    for (id, method) in [(3, "x"), (4, "y")] {
      try await user.publish("up", #"{"m":"\#(method)","id":"\#(id)","time":\#(id * 7)}"#)
      _ = try await user.next()
    }
    #expect(
      try await user.next()
        == .message(Message("down", #"{ "id" : "4", "data":[{"id":3}], "time":28}"#)))
    #expect(try await user.next() == .message(Message("down", #"{"id":"999","code":200}"#)))
    #expect(try await user.next() == .message(Message("down", "no json: 17")))
  }

  /// Identifiers may come again, and actions may be performed before what answers earlier ones is read.
  @Test(arguments: [("7", "8"), ("7", "1"), ("1", "8")], [true, false])
  func anIdentifierThatComesAgainIsAnother(
    _ identifiers: (String, String), isAhead: Bool
  ) async throws {
    var session = SessionBuilder()
    session.connect(0)
    for (number, method) in ["x", "y"].enumerated() {
      let time = Double(number) * 2
      session.publish(time + 1, .client, "up", #"{"id":"1","m":"\#(method)"}"#)
      session.publish(time + 2, .server, "down", #"{"id":"1","to":"\#(method)"}"#)
    }
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    func answer(_ id: String, _ method: String) -> ClientEvent {
      .message(Message("down", #"{"id":"\#(id)","to":"\#(method)"}"#))
    }
    let (first, second) = identifiers
    try await user.publish("up", #"{"id":"\#(first)","m":"x"}"#)
    if isAhead { try await user.publish("up", #"{"id":"\#(second)","m":"y"}"#) }
    _ = try await user.next()
    #expect(try await user.next() == answer(first, "x"))
    if !isAhead { try await user.publish("up", #"{"id":"\#(second)","m":"y"}"#) }
    _ = try await user.next()
    #expect(try await user.next() == answer(second, "y"))
  }

  @Test func topicsHaveRolesToo() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.subscribe(1, ["rpc/17/answer"], id: 1)
    session.publish(2, .server, "rpc/17/answer", "{}")
    session.publish(3, .server, "other/17/answer", "{}")
    var roles = ReplayRoles.standard
    roles.topics = ["rpc/{id}/answer"]
    var user = Actor(try ReplayClient(session.events, options: ReplayOptions(roles: roles)))
    try await user.connect()
    _ = try await user.next()
    try await user.subscribe("rpc/3/answer")
    _ = try await user.next()
    #expect(try await user.next() == .message(Message("rpc/3/answer", "{}")))
    #expect(try await user.next() == .message(Message("other/17/answer", "{}")))
  }
}

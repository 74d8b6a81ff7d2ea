import RepriseCore
import Testing
import Wire

/// What a server does not want, in words and through every client that tells of it.
@Suite struct RefusalTests {
  private static let all = UInt8(1)...UInt8.max

  /// Every code that the standards give a server to refuse or to disconnect with.
  private static let codes: [UInt8] = all.filter { code in
    let types: [MQTTPacketType] = [
      .connack, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .disconnect,
    ]
    return MQTTReasonCode.isDefined(code, for: .connack, in: .v3_1_1)
      || code >= 0x80 && types.contains { MQTTReasonCode.isDefined(code, for: $0, in: .v5_0) }
  }

  @Test func knowsEveryCodeOfTheStandards() {
    #expect(Self.codes.count > 35)
    for code in Self.codes {
      let text = ServerReason(code).text()
      #expect(!text.contains("no standard"), "\(code): \(text)")
      let number = code < 0x80 ? "\(code)" : "0x\(String(code, radix: 16, uppercase: true))"
      #expect(text.contains("(code \(number)); "), "\(text)")
    }
    #expect(ServerReason(0xF0).text().contains("(code 0xF0)"))
  }

  @Test func saysWhatTheServerSaidAndWhatToDo() {
    let failure = ActionFailure.refused(code: 0x87, reason: "closed today")
    #expect(
      "\(failure)"
        == "the server refused it: not authorized (code 0x87, \"closed today\"); correct who you are, "
        + "or have the server's access list allow it")
    #expect(failure.code == 0x87)
    #expect(
      "\(ClientEvent.Closed.refused(code: 4))"
        == "the server refused the connection: bad user name or password (code 4); correct user name "
        + "and password")
    for cause in ActionFailure.Cause.allCases {
      let text = "\(ActionFailure.unanswered(cause, "why"))"
      #expect(text.contains(": why; "), "\(text)")
    }
  }

  @Test func knowsWhatMayPass() {
    let passing = Self.all.filter { ClientEvent.Closed.refused(code: $0).mayPass }
    let refused = Self.codes.filter { MQTTReasonCode.isDefined($0, for: .connack, in: .v5_0) }
    #expect([1, 2, 3, 4, 5].filter(passing.contains) == [3])
    #expect(refused.filter(passing.contains) == [0x80, 0x83, 0x88, 0x89, 0x97, 0x9F])
    #expect(ClientEvent.Closed.lost("").mayPass && !ClientEvent.Closed.byUser.mayPass)
  }

  // MARK: Replay

  /// A session of MQTT 5.0 with one action that the server answers by one packet.
  private static func session(
    _ action: MQTTPacket.Content, _ answer: MQTTPacket.Content, version: MQTTVersion = .v5_0
  ) -> [Event] {
    var session = SessionBuilder()
    session.version = version
    session.connect(0)
    session.add(1, .client, action)
    session.add(2, .server, answer)
    session.close(3)
    return session.events
  }

  private static func message(qos: UInt8) -> MQTTPacket.Content {
    .publish(.init(topic: "t", payload: [], qos: qos, packetID: 7))
  }

  private static let reason = MQTTPacket.Reason(
    0x87, properties: [MQTTProperty(.reasonString, .string("closed"))])

  @Test(
    arguments: [
      (1, .acknowledgement(.puback, packetID: 7, .init(0x97)), (0x97, nil)),
      (1, .acknowledgement(.puback, packetID: 7, reason), (0x87, "closed")),
      (2, .acknowledgement(.pubrec, packetID: 7, reason), (0x87, "closed")),
      (1, .acknowledgement(.puback, packetID: 7, .init(0x10)), nil),
      (1, .acknowledgement(.puback, packetID: 7, .init()), nil),
      (2, .acknowledgement(.pubcomp, packetID: 7, .init(0x92)), nil),
    ] as [(UInt8, MQTTPacket.Content, (UInt8, String?)?)])
  func replaysTheAnswerToAMessage(
    _ qos: UInt8, _ answer: MQTTPacket.Content, _ refusal: (UInt8, String?)?
  ) async throws {
    let client = try ReplayClient(Self.session(Self.message(qos: qos), answer))
    #expect(client.capabilities.contains(.refusals))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    let id = try await user.publish("t", qos: QoS(rawValue: qos) ?? .atMostOnce)
    let event = try await user.next()
    if let refusal {
      #expect(event == .failed(id, .refused(code: refusal.0, reason: refusal.1)))
    } else {
      #expect(event == .published(id))
    }
    #expect(client.now == SessionBuilder.time(2))
    guard case .closed = try await user.next() else {
      Issue.record("not closed")
      return
    }
    try client.finish()
  }

  @Test(
    arguments: [([0, 0x87], 0x87), ([0x80, 0x91], 0x80), ([0, 0x11], nil)] as [([UInt8], UInt8?)])
  func replaysTheAnswerToAnUnsubscribe(_ codes: [UInt8], _ code: UInt8?) async throws {
    let events = Self.session(
      .unsubscribe(packetID: 7, ["a", "b"], []), .unsuback(packetID: 7, codes: codes, []))
    var user = Actor(try ReplayClient(events))
    try await user.connect()
    _ = try await user.next()
    let id = try await user.do(.unsubscribe(["a", "b"]))
    let event = try await user.next()
    #expect(
      event == (code.map { .failed(id, .refused(code: $0, reason: nil)) } ?? .unsubscribed(id)))
  }

  @Test func aRefusalThatWasNotHandedOutIsLeftOver() async throws {
    let answer = MQTTPacket.Content.acknowledgement(.pubrec, packetID: 7, .init(0x87))
    let client = try ReplayClient(Self.session(Self.message(qos: 2), answer))
    #expect(client.leftOvers.map(\.sender) == [.client, .server, .client, .server, .server])
  }

  @Test func version311HasNoRefusals() async throws {
    let answer = MQTTPacket.Content.acknowledgement(.puback, packetID: 7, .init())
    let client = try ReplayClient(
      Self.session(Self.message(qos: 1), answer, version: .v3_1_1))
    #expect(!client.capabilities.contains(.refusals))
  }

  // MARK: Other clients

  private static let folder =
    ##"{"publish": [{"topic": "door/#", "refuse": 135}, {"topic": "#", "answers": []}]}"##

  private static func local() throws -> LocalFileClient {
    try LocalFileClient(files: [
      "topics.json": Array(folder.utf8), "place/response.json": Array("{}".utf8),
    ])
  }

  @Test(arguments: [
    ("door/safe", QoS.atLeastOnce, true), ("door/safe", .exactlyOnce, true),
    ("door/safe", .atMostOnce, false), ("window", .atLeastOnce, false),
  ])
  func aFolderCanRefuse(_ topic: String, _ qos: QoS, _ isRefused: Bool) async throws {
    let client = try Self.local()
    #expect(client.capabilities.contains(.refusals))
    #expect(try !LocalFileClient(files: [:]).capabilities.contains(.refusals))
    let recorder = try RecordingClient(client, to: MemorySink())
    let live = try await Self.publish(recorder, topic, qos)
    #expect(
      live == (isRefused ? .failed(.init(rawValue: 2), refusal) : .published(.init(rawValue: 2))))
    // The recording keeps the reason code.
    let replay = try ReplayClient(try recorder.sink.events())
    #expect(try await Self.publish(replay, topic, qos) == live)
  }

  private static let refusal = ActionFailure.refused(code: 0x87, reason: nil)
  private var refusal: ActionFailure { Self.refusal }

  private static func publish(
    _ client: any DataClient, _ topic: String, _ qos: QoS
  ) async throws -> ClientEvent {
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    try await user.publish(topic, qos: qos)
    return try await user.next()
  }

  @Test(arguments: [
    (#"{"topic":"a","refuse":5}"#, "publish[0].refuse is no whole number in 128...255"),
    (#"{"topic":"a","refuse":135,"answers":[]}"#, "publish[0].answers stands beside refuse"),
  ])
  func namesAMistake(_ entry: String, _ message: String) {
    let error = #expect(throws: DataClientError.self) {
      try LocalFileClient(files: ["topics.json": Array(#"{"publish":[\#(entry)]}"#.utf8)])
    }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test(arguments: [
    (QoS.atMostOnce, false), (.atLeastOnce, true), (.exactlyOnce, true),
  ])
  func aRefusalCanBeInjected(_ qos: QoS, _ isRefused: Bool) async throws {
    let faults = [Fault(.fail(Self.refusal), .at(1, .publish))]
    let client = try FaultInjector(Self.local(), faults)
    #expect(client.capabilities.contains(.refusals))
    var user = Actor(client)
    // Without a connection nothing is refused but by the client.
    let error = await #expect(throws: DataClientError.self) {
      try await user.publish("window", qos: qos)
    }
    #expect(error?.code == .notConnected)
    try await user.connect()
    _ = try await user.next()
    for attempt in 1...2 {
      let id = try await user.publish("window", qos: qos)
      let isNow = isRefused && attempt == 1
      #expect(try await user.next() == (isNow ? .failed(id, Self.refusal) : .published(id)))
    }
  }

  private struct Place: Request {
    typealias Response = [String: String]
    let path = "place"
  }

  @Test(arguments: [
    (ActionFailure.unanswered(.timedOut, "x"), DataClientError.Code.timedOut),
    (.unanswered(.unreachable, "x"), .transport), (.refused(code: 0x97, reason: nil), .rejected),
  ])
  func aRequestThatFailsIsTold(_ failure: ActionFailure, _ code: DataClientError.Code) async throws
  {
    let client = try FaultInjector(Self.local(), [Fault(.fail(failure), .at(1, .request))])
    let error = await #expect(throws: DataClientError.self) { try await client.send(Place()) }
    #expect(error?.code == code)
    #expect(error?.message == "place was not answered: \(failure)")
    #expect(try await client.send(Place()) == [:])
  }
}

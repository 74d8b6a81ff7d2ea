import RepriseCore
import Testing
import Wire

@Suite struct ReplayClientTests {
  @Test func handsOutWhatTheServerSaidInItsTime() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.subscribe(1, ["a/#"], id: 1, codes: [0x80])
    session.publish(2, .server, "a/b", "x", qos: 1, id: 9)
    session.acknowledge(2, .client, .puback, 9)
    session.publish(3, .client, "up", "y", qos: 1, id: 2)
    session.add(3.5, .client, .pingreq)
    session.add(3.6, .server, .pingresp)
    session.acknowledge(4, .server, .puback, 2)
    session.add(5, .client, .unsubscribe(packetID: 3, ["a/#"], []))
    session.add(6, .server, .unsuback(packetID: 3, codes: [], []))
    session.disconnect(7)
    let client = try ReplayClient(session.events)
    var user = Actor(client)

    try await user.connect()
    #expect(try await user.next() == .connected(.init()))
    let subscription = try await user.subscribe("a/#")
    #expect(try await user.next() == .subscribed(subscription, [nil]))
    #expect(try await user.next() == .message(Message("a/b", "x", qos: .atLeastOnce)))
    #expect(client.now == SessionBuilder.time(2))
    let publication = try await user.publish("up", "y", qos: .atLeastOnce)
    #expect(client.now == SessionBuilder.time(3))
    #expect(try await user.next() == .published(publication))
    let end = try await user.do(.unsubscribe(["a/#"]))
    #expect(try await user.next() == .unsubscribed(end))
    try await user.do(.disconnect)
    #expect(try await user.next() == .closed(.byUser))
    #expect(try await user.next() == .ended)
    #expect(try await user.next(100) == .ended)
    try client.finish()
  }

  @Test func letsNothingThroughBeforeItsCause() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "ask")
    session.publish(2, .server, "answer")
    let client = try ReplayClient(session.events, options: ReplayOptions(actors: .readerOnly))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    #expect(try await user.next(0.9) == .deadline)
    let id = try await user.publish("ask")
    #expect(try await user.next() == .published(id))
    #expect(try await user.next() == .message(Message("answer", "")))
  }

  @Test func anEventAtTheDeadlineIsFirst() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(5, .server, "t")
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    #expect(try await user.next(4.999) == .deadline)
    #expect(try await user.next(5) == .message(Message("t", "")))
  }

  @Test func hourOfHeartbeatsNeedsNoSleep() async throws {
    var session = SessionBuilder()
    session.connect(0)
    for beat in 1...720 {
      session.publish(Double(beat) * 5 + 0.011, .client, "beat")
      if beat.isMultiple(of: 7) { session.publish(Double(beat) * 5 + 1, .server, "push") }
    }
    session.close(3_602)
    let client = try ReplayClient(session.events, options: ReplayOptions(actors: .readerOnly))
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    var deadline = client.now.advanced(by: .seconds(5))
    var counts: [String: Int] = [:]
    loop: while true {
      switch try await client.next(before: deadline) {
      case .deadline:
        #expect(client.now >= deadline)
        deadline = deadline.advanced(by: .seconds(5))
        try await user.publish("beat")
        counts["beat", default: 0] += 1
      case .message: counts["push", default: 0] += 1
      case .published: counts["published", default: 0] += 1
      case .closed: break loop
      default: Issue.record("unexpected event")
      }
    }
    #expect(counts == ["beat": 720, "published": 720, "push": 102])
    try client.finish()
  }

  @Test func qualityTwoIsToldOnce() async throws {
    var session = SessionBuilder()
    session.connect(0)
    for dup in [false, true] {
      session.publish(1, .server, "t", "2", qos: 2, id: 7, dup: dup)
      session.acknowledge(1, .client, .pubrec, 7)
    }
    session.acknowledge(2, .server, .pubrel, 7)
    session.acknowledge(2, .client, .pubcomp, 7)
    session.publish(3, .server, "t", "next", qos: 2, id: 7)
    session.publish(4, .server, "t", "1", qos: 1, id: 8)
    session.publish(4, .server, "t", "1", qos: 1, id: 8, dup: true)
    session.publish(5, .client, "u", "mine", qos: 2, id: 7)
    session.acknowledge(5, .server, .pubrec, 7)
    session.acknowledge(5, .client, .pubrel, 7)
    session.acknowledge(5, .server, .pubcomp, 7)
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    #expect(try await user.next() == .message(Message("t", "2", qos: .exactlyOnce)))
    #expect(try await user.next() == .message(Message("t", "next", qos: .exactlyOnce)))
    #expect(try await user.next() == .message(Message("t", "1", qos: .atLeastOnce)))
    #expect(try await user.next() == .message(Message("t", "1", qos: .atLeastOnce)))
    let id = try await user.publish("u", "mine", qos: .exactlyOnce)
    #expect(try await user.next() == .published(id))
  }

  /// What was not released in a session that is gone is another message in the next one.
  @Test(arguments: [true, false]) func whatWasNotReleasedGoesWithItsSession(isPresent: Bool)
    async throws
  {
    var session = SessionBuilder()
    session.connect(0, cleanStart: false)
    session.publish(1, .server, "t", "first", qos: 2, id: 7)
    session.acknowledge(1, .client, .pubrec, 7)
    session.close(2)
    session.connection = 2
    session.connect(3, cleanStart: false, sessionPresent: isPresent)
    session.publish(4, .server, "t", "again", qos: 2, id: 7)
    session.publish(5, .server, "t", "last")
    var user = Actor(try ReplayClient(session.events))
    var told: [String] = []
    for _ in 0..<2 {
      try await user.connect(cleanStart: false)
      while true {
        let event = try await user.next()
        if case .message(let message) = event {
          told.append(String(decoding: message.payload, as: UTF8.self))
        }
        if case .closed = event { break }
        if told.last == "last" { break }
      }
    }
    #expect(told == (isPresent ? ["first", "last"] : ["first", "again", "last"]))
  }

  @Test func connectionsOfOneClientAreOneLife() async throws {
    var session = SessionBuilder()
    session.connect(0, cleanStart: false)
    session.publish(1, .client, "t", "1", qos: 1, id: 1)
    session.close(2)
    session.connection = 2
    session.connect(3, as: "somebody else")
    session.connection = 3
    session.connect(4, cleanStart: false, sessionPresent: true)
    session.publish(4.5, .client, "t", "1", qos: 1, id: 1, dup: true)
    session.acknowledge(5, .server, .puback, 1)
    // How this connection ended was not seen; the next one shows that it did.
    session.connection = 4
    session.connect(6, cleanStart: false, code: 5)
    session.close(7, .server, how: .fin)
    session.connection = 3
    session.close(8, .server)
    let client = try ReplayClient(session.events, of: .client("c"))
    var user = Actor(client)
    try await user.connect(cleanStart: false)
    #expect(try await user.next() == .connected(.init()))
    let id = try await user.publish("t", "1", qos: .atLeastOnce)
    #expect(try await user.next() == .closed(.lost("the connection was reset")))
    try await user.connect(cleanStart: false)
    #expect(try await user.next() == .connected(.init(isSessionPresent: true)))
    #expect(try await user.next() == .published(id))
    #expect(
      try await user.next()
        == .closed(.lost("another connection of the client took its place")))
    try await user.connect(cleanStart: false)
    #expect(try await user.next() == .closed(.refused(code: 5)))
    #expect(try await user.next() == .ended)
    try client.finish()
  }

  @Test func aliasesStandForTopics() async throws {
    var session = SessionBuilder()
    session.version = .v5_0
    let alias = [MQTTProperty(.topicAlias, .integer(3))]
    session.connect(0)
    session.publish(1, .server, "long/topic", "1", properties: alias)
    session.publish(2, .server, "", "2", properties: alias)
    session.publish(3, .client, "mine", "1", properties: alias)
    session.publish(4, .client, "", "2", properties: alias)
    session.add(5, .server, .disconnect(.init(0x8B)))
    session.close(6)
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect()
    _ = try await user.next()
    #expect(try await user.next() == .message(Message("long/topic", "1")))
    #expect(try await user.next() == .message(Message("long/topic", "2")))
    for payload in ["1", "2"] {
      let id = try await user.publish("mine", payload)
      #expect(try await user.next() == .published(id))
    }
    #expect(
      try await user.next()
        == .closed(
          .byServer(
            code: 0x8B,
            "the server disconnected: server shutting down (code 0x8B); try again later")))
    try client.finish()
  }

  @Test(arguments: [
    (
      Peer.server, ConnectionClosing.How.fin, nil as String?,
      ClientEvent.Closed.byServer(code: nil, "the peer closed the connection")
    ),
    (.server, .fin, "said so", .byServer(code: nil, "said so")),
    (.server, .reset, nil, .lost("the connection was reset")),
    (.server, .reset, "cut", .lost("cut")),
    (.client, .fin, nil, .lost("the peer closed the connection")),
    (.client, .reset, nil, .lost("the connection was reset")),
  ])
  func tellsAnEndInGoodOrderFromABrokenConnection(
    _ peer: Peer, _ how: ConnectionClosing.How, _ reason: String?, _ told: ClientEvent.Closed
  ) async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.close(1, peer, how: how, saying: reason)
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    #expect(try await user.next() == .connected(.init()))
    #expect(try await user.next() == .closed(told))
  }

  @Test func captureThatBeginsLateCanBeConnectedTo() async throws {
    var session = SessionBuilder()
    session.open(0, isFromStart: false)
    session.publish(1, .server, "t")
    session.close(2, how: .endOfCapture)
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    try await user.connect(as: "whatever")
    #expect(try await user.next() == .connected(.init(isSessionPresent: true)))
    #expect(try await user.next() == .message(Message("t", "")))
    #expect(try await user.next() == .ended)
    try await user.do(.disconnect)
    try client.finish()
  }

  @Test(arguments: [true, false]) func holesEndTheSession(_ isGap: Bool) async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .server, "t")
    session.add(
      2, .server,
      isGap
        ? .gap(Gap(bytes: 12, reason: .acknowledged))
        : .malformed(Malformation(code: "x", offset: 1, message: "no packet starts here")))
    session.publish(3, .server, "t")
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    _ = try await user.next()
    let error = await #expect(throws: DataClientError.self) { try await user.next() }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains("incomplete at frame 5, connection 1") == true)
  }
}

/// Clients that do not wait to be accepted, as MQTT lets them.
@Suite struct ReplayImpatienceTests {
  private static func session(code: UInt8) -> [Event] {
    var session = SessionBuilder()
    session.open(0)
    session.add(0, .client, .connect(.init(clientID: "c")))
    session.publish(0.1, .client, "t", "1")
    session.add(0.2, .server, .connack(.init(code: code)))
    session.publish(0.3, .client, "t", "2")
    session.disconnect(0.4)
    return session.events
  }

  @Test func theAnswerToConnectDependsOnNothingElse() async throws {
    let client = try ReplayClient(Self.session(code: 0))
    var user = Actor(client)
    try await user.connect()
    #expect(try await user.next() == .connected(.init()))
    for payload in ["1", "2"] {
      let id = try await user.publish("t", payload)
      #expect(try await user.next() == .published(id))
    }
    try await user.do(.disconnect)
    #expect(try await user.next() == .closed(.byUser))
    try client.finish()
  }

  @Test func whatNobodyTookIsNotAskedFor() async throws {
    let client = try ReplayClient(Self.session(code: 5))
    var user = Actor(client)
    try await user.connect()
    #expect(try await user.next() == .closed(.refused(code: 5)))
    #expect(try await user.next() == .ended)
    try client.finish()
  }

  @Test func oneDirectionIsNotEnough() {
    let events = Self.session(code: 0).filter { $0.context.sender == .client }
    let error = #expect(throws: DataClientError.self) { try ReplayClient(events) }
    #expect(error?.code == .unreadable)
    #expect(error?.message.contains("connection 1 has no CONNACK") == true)
  }
}

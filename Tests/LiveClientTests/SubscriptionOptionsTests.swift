import LiveClient
import RepriseCore
import Synchronization
import TestSupport
import Testing
import Wire

/// What MQTT 5.0 lets a client ask for in CONNECT and SUBSCRIBE, over TCP and over WebSocket, of a real broker.
@Suite struct SubscriptionOptionsTests {
  private static let ways = BrokerWay.all.filter { $0.version == .v5_0 }

  private func subscribe(
    _ client: TestUser<AnyClient>, _ filter: String, _ options: SubscriptionOptions
  ) async throws {
    let id = try await client.perform(
      .subscribe([Subscription(filter, qos: .atLeastOnce, options: options)]))
    try await client.event { $0 == .subscribed(id, [.atLeastOnce]) ? () : nil }
  }

  @Test(arguments: ways, [true, false])
  func ownMessagesDoNotComeBack(_ way: BrokerWay, _ noLocal: Bool) async throws {
    let broker = try await WebSocketBroker()
    let client = try await way.connected(broker)
    let other = try await way.connected(broker)
    try await subscribe(client, "n/#", SubscriptionOptions(noLocal: noLocal))
    try await client.publish("n/own", [1])
    try await other.publish("n/other", [2])
    #expect(try await client.message().topic == (noLocal ? "n/other" : "n/own"))
  }

  @Test(arguments: ways, [true, false])
  func retainIsAsPublished(_ way: BrokerWay, _ isAsPublished: Bool) async throws {
    let broker = try await WebSocketBroker()
    let client = try await way.connected(broker)
    try await subscribe(
      client, "r", SubscriptionOptions(retainAsPublished: isAsPublished))
    try await client.publish("r", [1], retained: true)
    #expect(try await client.message().isRetained == isAsPublished)
  }

  /// What comes of a retained message when a filter is asked for twice, as numbers of the messages before a last one.
  @Test(arguments: ways, [(0, 2), (1, 1), (2, 0)] as [(UInt8, Int)])
  func retainedMessagesComeAsAsked(_ way: BrokerWay, _ asked: (UInt8, Int)) async throws {
    let client = try await way.connected(WebSocketBroker())
    try await client.publish("k/kept", [1], retained: true)
    let handling = try #require(SubscriptionOptions.RetainHandling(rawValue: asked.0))
    for _ in 0..<2 {
      try await subscribe(client, "k/#", SubscriptionOptions(retainHandling: handling))
    }
    try await client.publish("k/last", [2])
    var topics: [String] = []
    while topics.last != "k/last" { topics.append(try await client.message().topic) }
    #expect(topics == Array(repeating: "k/kept", count: asked.1) + ["k/last"])
  }

  /// One SUBSCRIBE has filters of several options.
  @Test(arguments: ways) func eachFilterHasItsOwn(_ way: BrokerWay) async throws {
    let client = try await way.connected(WebSocketBroker())
    try await client.publish("e/kept", [1], retained: true)
    let id = try await client.perform(
      .subscribe([
        Subscription("e/own", options: SubscriptionOptions(noLocal: true)),
        Subscription("e/kept", options: SubscriptionOptions(retainHandling: .never)),
        Subscription("e/last", qos: .atMostOnce),
      ]))
    try await client.event {
      $0 == .subscribed(id, [.atLeastOnce, .atLeastOnce, .atMostOnce]) ? () : nil
    }
    try await client.publish("e/own", [1])
    try await client.publish("e/last", [2])
    #expect(try await client.message().topic == "e/last")
  }

  @Test(arguments: ways) func aSessionLastsAsLongAsAsked(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    for (cleanStart, seconds, isKept) in [
      (true, 100, true), (true, nil, false), (false, nil, true), (false, 0, false),
    ] as [(Bool, UInt32?, Bool)] {
      let name = "s-\(cleanStart)-\(seconds.map { "\($0)" } ?? "nil")"
      let client = try await way.connected(
        broker,
        ConnectOptions(
          clientID: name, cleanStart: cleanStart,
          properties: ConnectProperties(sessionExpiryInterval: seconds)))
      try await client.subscribe("s")
      try await client.disconnect()
      let isPresent = try await client.connect(ConnectOptions(clientID: name, cleanStart: false))
      #expect(isPresent == isKept, "\(name)")
    }
  }

  /// A client that is back before the delay is over leaves no will (MQTT 5.0 section 3.1.3.2.2).
  @Test(arguments: ways) func aWillWaits(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let witness = try await way.connected(broker)
    try await witness.subscribe("w/#")
    let options = ConnectOptions(
      clientID: "w", cleanStart: false, will: Message(topic: "w/will", payload: []),
      properties: ConnectProperties(sessionExpiryInterval: 600, willDelayInterval: 300))
    do { _ = try await way.connected(broker, options) }
    let again = try await way.connected(broker, options)
    try await again.publish("w/back", [])
    #expect(try await witness.message().topic == "w/back")
  }

  /// A client that has no identifier gets one, and is told so with what else the server says of itself.
  @Test(arguments: ways) func theServerSaysWhatItGives(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker(
      ["allow_anonymous true", "max_qos 1"],
      globals: ["max_keepalive 50", "max_packet_size 4000", "retain_available false"],
      webSocket: ["max_qos 1"])
    let client = try way.client(broker)
    _ = try await client.perform(.connect(ConnectOptions(keepAlive: 600)))
    let answer = try await client.event { event -> ClientEvent.Connected? in
      if case .connected(let answer) = event { answer } else { nil }
    }
    var server = answer.properties
    let given = try #require(server.assignedClientID)
    #expect(given.hasPrefix("auto-") && !answer.isSessionPresent)
    server.assignedClientID = nil
    var expected = ServerProperties()
    expected.keepAlive = 50
    expected.maximumPacketSize = 4_000
    expected.maximumQoS = .atLeastOnce
    expected.isRetainAvailable = false
    expected.receiveMaximum = server.receiveMaximum
    #expect(server == expected)
  }

  /// The server leaves out what is larger than was said, and sends as many at a time as were.
  @Test(arguments: ways) func theServerKeepsToLimits(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let client = try await way.connected(
      broker,
      ConnectOptions(properties: ConnectProperties(receiveMaximum: 1, maximumPacketSize: 60)))
    let id = try await client.perform(.subscribe([Subscription("l/#", qos: .exactlyOnce)]))
    try await client.event { $0 == .subscribed(id, [.exactlyOnce]) ? () : nil }
    let other = try await way.connected(broker)
    // mosquitto counts what it leaves out at QoS 2 as sent.
    for (size, qos) in [
      (80, .atMostOnce), (1, .exactlyOnce), (2, .exactlyOnce), (90, .atMostOnce), (3, .exactlyOnce),
    ]
      as [(Int, QoS)]
    {
      try await other.publish("l/a", [UInt8](repeating: 7, count: size), qos: qos)
    }
    var sizes: [Int] = []
    while sizes.count < 3 { sizes.append(try await client.message().payload.count) }
    #expect(sizes == [1, 2, 3])
  }

  /// What libmosquitto writes, byte by byte; it adds how many messages it takes at once.
  @Test func connectSaysItAll() async throws {
    let broker = try await Broker()
    let seen = Mutex<[UInt8]>([])
    let relay = try Relay(to: broker.port) { _, sender, bytes in
      if sender == .client { seen.withLock { $0 += bytes } }
    }
    let options = ConnectOptions(
      clientID: "c", will: Message(topic: "w", payload: [7], qos: .atLeastOnce),
      properties: ConnectProperties(
        sessionExpiryInterval: 9, maximumPacketSize: 700, willDelayInterval: 4,
        userProperties: [.init("b", "ü"), .init("a", ""), .init("b", "2")]))
    let client = TestClient(
      try MosquittoClient(url: relay.url, version: .v5_0), broker: broker)
    try await client.connect(options)
    try await client.disconnect()
    var expected = options.packet(in: .v5_0)
    // In the library's order.
    expected.properties.removeFirst(2)
    expected.properties.insert(
      contentsOf: [
        MQTTProperty(.receiveMaximum, .integer(65_535)),
        MQTTProperty(.maximumPacketSize, .integer(700)),
        MQTTProperty(.sessionExpiryInterval, .integer(9)),
      ], at: 0)
    let bytes = try MQTTPacket(.connect(expected), version: .v5_0).encoded()
    #expect(Array(seen.withLock { $0 }.prefix(bytes.count)) == bytes)
  }

  @Test(arguments: BrokerWay.all) func whatCannotBeAskedForIsRefused(_ way: BrokerWay) async throws
  {
    let client = try await way.connected(WebSocketBroker())
    let isNew = way.version == .v5_0
    let noLocal = SubscriptionOptions(noLocal: true)
    #expect(
      await client.refusal(.subscribe([Subscription("$share/g/a", options: noLocal)]))
        == (isNew ? .invalidAction : .unsupported))
    #expect(
      await client.refusal(.subscribe([Subscription("a", options: noLocal)]))
        == (isNew ? nil : .unsupported))
    try await client.disconnect()
    for (properties, code) in [
      (ConnectProperties(willDelayInterval: 1), .invalidAction),
      (ConnectProperties(userProperties: [.init("a\u{0}", "")]), .invalidAction),
      (ConnectProperties(receiveMaximum: 0), .invalidAction),
      (ConnectProperties(maximumPacketSize: 0), .invalidAction),
      (ConnectProperties(sessionExpiryInterval: 1), nil),
    ] as [(ConnectProperties, DataClientError.Code?)] {
      #expect(
        await client.refusal(.connect(ConnectOptions(properties: properties)))
          == (isNew ? code : .unsupported))
    }
  }
}

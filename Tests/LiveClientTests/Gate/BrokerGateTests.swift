import RepriseCore
import Testing

@testable import Gates
@testable import LiveClient

/// A gate between a real client and a real broker.
@Suite struct BrokerGateTests {
  typealias Version = MosquittoClient.Version

  /// A gate before a broker, with a client that has said CONNECT.
  private struct Bench {
    let broker: Broker
    let gate: BrokerGate
    let client: TestClient

    init(
      _ version: Version = .v3_1_1, limit: Duration = .seconds(30), connected: Bool = true
    ) async throws {
      broker = try await Broker()
      gate = try BrokerGate(broker: broker.url, limit: limit)
      client = try TestClient(gate.url, version: version)
      try await client.perform(.connect(ConnectOptions(clientID: "device")))
      guard connected else { return }
      try await gate.accept()
      #expect(try await client.event().beginsSession)
    }

    /// Another client, which goes straight to the broker.
    func neighbour() async throws -> TestClient { try await TestClient.connected(broker) }
  }

  // MARK: Holding

  @Test(arguments: Version.allCases) func holdsWhatABrokerAnswers(_ version: Version) async throws {
    let bench = try await Bench(version)
    let neighbour = try await bench.neighbour()
    let subscribing = try await bench.client.perform(.subscribe([Subscription("a/#")]))
    let publishing = try await bench.client.perform(
      .publish(Message(topic: "a/own", payload: [], qos: .atLeastOnce)))
    // The own message comes back, so the broker has long answered both.
    #expect(try await bench.client.message().topic == "a/own")
    try await neighbour.publish("a/other", [])
    #expect(
      try await bench.client.event()
        == .message(Message(topic: "a/other", payload: [], qos: .atLeastOnce)))
    try await bench.gate.acknowledge()
    #expect(try await bench.client.event() == .published(publishing))
    try await bench.gate.grant()
    #expect(try await bench.client.event() == .subscribed(subscribing, [.atLeastOnce]))
    let unsubscribing = try await bench.client.perform(.unsubscribe(["a/#"]))
    try await bench.gate.acknowledge()
    #expect(try await bench.client.event() == .unsubscribed(unsubscribing))
  }

  @Test func acknowledgesInOrder() async throws {
    let bench = try await Bench()
    var open: [ClientAction.ID] = []
    for qos in [QoS.atLeastOnce, .exactlyOnce, .atLeastOnce, .exactlyOnce] {
      open.append(
        try await bench.client.perform(
          .publish(Message(topic: "a", payload: [], qos: qos))))
    }
    for id in open {
      try await bench.gate.acknowledge()
      #expect(try await bench.client.event() == .published(id))
    }
  }

  @Test(arguments: Version.allCases) func grantsOtherThanTheBroker(_ version: Version) async throws
  {
    let bench = try await Bench(version)
    let id = try await bench.client.perform(
      .subscribe([Subscription("a"), Subscription("b"), Subscription("c")]))
    await #expect(throws: DataClientError.self) { try await bench.gate.grant([nil]) }
    try await bench.gate.grant([nil, .atMostOnce, .atLeastOnce])
    #expect(try await bench.client.event() == .subscribed(id, [nil, .atMostOnce, .atLeastOnce]))
  }

  @Test func refusesByEachCode() async throws {
    let bench = try await Bench(connected: false)
    for code in UInt8(1)...5 {
      try await bench.gate.refuse(code: code)
      // It returns when the connection is closed: the listener is left.
      #expect(Socket.open(at: bench.gate.port) == 1)
      #expect(try await bench.client.event() == .closed(.refused(code: code)))
      try await bench.client.perform(.connect(ConnectOptions(clientID: "device")))
    }
    try await bench.gate.accept()
    #expect(try await bench.client.event().beginsSession)
  }

  @Test func refusesInVersion5() async throws {
    let bench = try await Bench(.v5_0, connected: false)
    try await bench.gate.refuse(code: 136)
    #expect(try await bench.client.event() == .closed(.refused(code: 136)))
  }

  @Test func passesEverythingWhenItIsTold() async throws {
    let bench = try await Bench(connected: false)
    try await bench.gate.pass()
    #expect(try await bench.client.event().beginsSession)
    try await bench.client.subscribe("a/#")
    try await bench.client.publish("a/b", [1], qos: .exactlyOnce)
    try await bench.gate.hold()
    let id = try await bench.client.perform(.unsubscribe(["a/#"]))
    #expect(try await bench.client.message().topic == "a/b")
    try await bench.gate.acknowledge()
    #expect(try await bench.client.event() == .unsubscribed(id))
    let open = try BrokerGate(broker: bench.broker.url, isPassing: true)
    let client = try TestClient(open.url)
    try await client.connect()
    try await client.disconnect()
  }

  @Test func carriesLargeMessages() async throws {
    let bench = try await Bench()
    try await bench.gate.pass()
    let payload = (0..<4_194_304).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try await bench.client.subscribe("large")
    for qos in QoS.allCases {
      try await bench.client.publish("large", payload, qos: qos)
      #expect(try await bench.client.message().payload == payload)
    }
  }

  // MARK: Losing

  /// When a connection is lost.
  enum Moment: CaseIterable { case connecting, connected, subscribing, publishing, receiving }

  @Test(arguments: Moment.allCases) func losesAtEachMoment(_ moment: Moment) async throws {
    let bench = try await Bench(connected: moment != .connecting)
    switch moment {
    case .connecting, .connected: break
    case .subscribing: try await bench.client.perform(.subscribe([Subscription("a")]))
    case .publishing:
      let message = Message(topic: "a", payload: [], qos: .exactlyOnce)
      try await bench.client.perform(.publish(message))
    case .receiving:
      try await bench.client.perform(.subscribe([Subscription("a")]))
      try await bench.client.perform(
        .publish(Message(topic: "a", payload: .init(repeating: 7, count: 1 << 22))))
    }
    try await bench.gate.lose()
    #expect(Socket.open(at: bench.gate.port) == 1)
    while true {
      let event = try await bench.client.event()
      if case .closed(let why) = event {
        guard case .lost = why else {
          Issue.record("\(why)")
          return
        }
        break
      }
    }
    try await bench.client.perform(.connect(ConnectOptions(clientID: "device")))
    try await bench.gate.accept()
    #expect(try await bench.client.event().beginsSession)
  }

  @Test func losesTheNextAttemptWhenThereIsNone() async throws {
    let bench = try await Bench()
    try await bench.gate.lose()
    guard case .closed(.lost) = try await bench.client.event() else {
      Issue.record("not lost")
      return
    }
    async let loss: Void = bench.gate.lose()
    guard case .lost = try await bench.client.failure() else {
      Issue.record("not lost")
      return
    }
    try await loss
  }

  @Test(arguments: [true, false]) func loseIsNoGoodbye(_ isLost: Bool) async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    let neighbour = try await TestClient.connected(broker)
    try await neighbour.subscribe("will", "end")
    let other = try TestClient(gate.url)
    let will = Message(topic: "will", payload: [], qos: .atLeastOnce)
    try await other.perform(.connect(ConnectOptions(clientID: "other", will: will)))
    try await gate.accept()
    #expect(try await other.event().beginsSession)
    if isLost { try await gate.lose() } else { try await other.perform(.disconnect) }
    guard case .closed = try await other.event() else {
      Issue.record("not closed")
      return
    }
    if !isLost { try await neighbour.publish("end", []) }
    #expect(try await neighbour.message().topic == (isLost ? "will" : "end"))
  }
}

import Glibc
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// Publishing and subscribing.
@Suite struct MessageTests {
  typealias Version = MosquittoClient.Version

  @Test(arguments: Version.allCases) func grantsEachFilterItsQoS(_ version: Version) async throws {
    let broker = try await Broker(["allow_anonymous true", "max_qos 1"])
    let client = try await TestClient.connected(broker, version: version)
    let id = try await client.perform(
      .subscribe([
        Subscription("a", qos: .atMostOnce), Subscription("b", qos: .atMostOnce),
        Subscription("c", qos: .atLeastOnce), Subscription("d", qos: .atMostOnce),
      ]))
    #expect(
      try await client.event()
        == .subscribed(id, [.atMostOnce, .atMostOnce, .atLeastOnce, .atMostOnce]))
    if version == .v5_0 {
      #expect(!client.client.capabilities.contains(.exactlyOnce))
      let message = Message(topic: "a", payload: [], qos: .exactlyOnce)
      #expect(await client.refusal(.publish(message)) == .unsupported)
    }
  }

  @Test(arguments: [[], [0], [0xff, 0xfe, 0xc0], .init(0...255)] as [[UInt8]])
  func carriesAnyBytes(_ payload: [UInt8]) async throws { try await carry(payload) }

  /// By itself: as an argument, all of its bytes would stand in the log.
  @Test func carriesFourMegabytes() async throws {
    try await carry([UInt8](repeating: 7, count: 4_194_304))
  }

  private func carry(_ payload: [UInt8]) async throws {
    let client = try await TestClient.connected(Broker())
    try await client.subscribe("x")
    for qos in QoS.allCases {
      let message = Message(topic: "x", payload: payload, qos: qos)
      try await client.perform(.publish(message))
      let isSame = try await client.message() == message
      #expect(isSame, "\(payload.count) bytes by QoS \(qos.rawValue)")
    }
  }

  @Test(arguments: Version.allCases) func clearsRetained(_ version: Version) async throws {
    let broker = try await Broker()
    let publisher = try await TestClient.connected(broker, version: version)
    try await publisher.subscribe("r/#")
    try await publisher.publish("r/1", [1], retained: true)
    for topic in ["r/1", "r/2", "r/sub/3", "other"] {
      try await publisher.publish(topic, [9], qos: .exactlyOnce, retained: true)
    }
    // A client that is subscribed already gets them as new.
    let reader = try await TestClient.connected(broker, version: version)
    try await reader.subscribe("r/1")
    #expect(
      try await reader.message()
        == Message(topic: "r/1", payload: [9], qos: .exactlyOnce, isRetained: true))
    try await publisher.publish("r/1", [], retained: true)
    #expect(try await reader.message() == Message(topic: "r/1", payload: [], qos: .atLeastOnce))
    #expect(
      try await publisher.client.clearRetained(matching: "r/#") == ["r/2", "r/sub/3"])
    #expect(try await publisher.client.clearRetained(matching: "r/#") == [])
    let last = try await TestClient.connected(broker, version: version)
    try await last.subscribe("#")
    #expect(try await last.message().topic == "other")
    try await last.publish("end", [])
    #expect(try await last.message().topic == "end")
  }

  /// A broker of MQTT 3.1.1 acknowledges what it throws away.
  @Test func tellsThatRetainedMayNotBeCleared() async throws {
    let directory = Scratch()
    try directory.write("topic read #\nuser admin\ntopic readwrite #\n", to: "acl")
    let broker = try await Broker(
      ["allow_anonymous true", "acl_file \(directory.file("acl"))"], directory: directory)
    let admin = try await TestClient.connected(broker, ConnectOptions(username: "admin"))
    try await admin.publish("kept/1", [1], retained: true)
    let user = try MosquittoClient(url: broker.url)
    let error = await #expect(throws: DataClientError.self) {
      try await user.clearRetained(matching: "kept/#", within: 3_600)
    }
    #expect(
      error?.code == .rejected && error?.message.contains("kept/1") == true,
      "\(String(describing: error))"
    )
    let options = ConnectOptions(username: "admin")
    #expect(try await user.clearRetained(matching: "kept/#", connecting: options) == ["kept/1"])
  }

  @Test func clearsThousandsOfRetained() async throws {
    let broker = try await Broker()
    let client = try await TestClient.connected(broker)
    for number in 0..<3_000 {
      try await client.perform(
        .publish(Message(topic: "many/\(number)", payload: [1], isRetained: true)))
    }
    try await client.publish("done", [])
    #expect(
      try await client.client.clearRetained(matching: "many/#", within: 120).count == 3_000)
  }

  /// The connection that clears is no end of the user's own: it leaves no will, and goes in good order.
  @Test func clearsRetainedWithoutAWord() async throws {
    let packets = Observed<[[UInt8]]>([])
    let server = try ScriptedServer { socket in
      while let (first, body) = socket.readPacket() {
        packets.change { $0.append([first] + body.prefix(8)) }
        switch first {
        case 0x10: socket.write([0x20, 2, 0, 0])
        case 0x82: socket.write([0x90, 3] + body.prefix(2) + [0])
        case 0xa2: socket.write([0xb0, 2] + body.prefix(2))
        default: break
        }
      }
      packets.change { $0.append([]) }
    }
    let client = try MosquittoClient(url: "mqtt://127.0.0.1:\(server.port)")
    let options = ConnectOptions(will: Message(topic: "w", payload: [1], isRetained: true))
    #expect(try await client.clearRetained(matching: "#", connecting: options, within: 3_600) == [])
    let seen = await packets.first { $0.last == [] ? $0 : nil } ?? []
    #expect(seen.compactMap(\.first) == [0x10, 0x82, 0xa2, 0xe0])
    // The flags of CONNECT: a clean session and nothing else.
    #expect(seen.first?.last == 2)
  }

  @Test func refusesFiltersThatTheServerDoesNotTake() async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      // Maximum Packet Size, 100 bytes.
      socket.write([0x20, 8, 0, 0, 5, 0x27, 0, 0, 0, 100])
      while let (first, body) = socket.readPacket() {
        if first == 0x82 { socket.write([0x90, 4] + body.prefix(2) + [0, 1]) }
      }
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)", version: .v5_0)
    try await client.connect()
    let long = String(repeating: "a", count: 100)
    #expect(await client.refusal(.subscribe([Subscription(long)])) == .invalidAction)
    #expect(await client.refusal(.unsubscribe(["b", long])) == .invalidAction)
    #expect(try await client.subscribe("a", qos: .atLeastOnce) == [.atLeastOnce])
  }

  @Test(
    arguments: [
      (.publish(Message(topic: "a/#", payload: [])), .invalidAction),
      (.publish(Message(topic: "", payload: [])), .invalidAction),
      (.publish(Message(topic: "a\u{0}", payload: [])), .invalidAction),
      (.subscribe([]), .invalidAction), (.subscribe([Subscription("")]), .invalidAction),
      (.subscribe([Subscription("a"), Subscription("a/#/b")]), .invalidAction),
      (.subscribe([Subscription("a/b#")]), .invalidAction),
      (.unsubscribe([]), .invalidAction), (.unsubscribe(["a+"]), .invalidAction),
      (.send(RequestMessage(path: "", method: "GET")), .unsupported),
      (.publish(Message(topic: "a", payload: [1])), .notConnected),
      (.subscribe([Subscription("a")]), .notConnected), (.unsubscribe(["a"]), .notConnected),
      (.disconnect, .notConnected),
    ] as [(ClientAction.Kind, DataClientError.Code)])
  func refusesActions(_ action: ClientAction.Kind, _ code: DataClientError.Code) async throws {
    #expect(try await TestClient("mqtt://127.0.0.1:1").refusal(action) == code)
  }

  @Test func refusesWhatABrokerLacks() async throws {
    let client = try TestClient(
      "mqtt://127.0.0.1:1", lacking: [.will, .retain, .exactlyOnce])
    #expect(client.client.capabilities == [.messages, .push, .binary])
    for action: ClientAction.Kind in [
      .connect(ConnectOptions(will: Message(topic: "w", payload: []))),
      .publish(Message(topic: "a", payload: [], isRetained: true)),
      .publish(Message(topic: "a", payload: [], qos: .exactlyOnce)),
      .subscribe([Subscription("a", qos: .exactlyOnce)]),
    ] {
      #expect(await client.refusal(action) == .unsupported)
    }
  }

  @Test func refusesAPayloadThatNoPacketHolds() async throws {
    let client = try await TestClient.connected(Broker())
    let message = Message(topic: "a", payload: [UInt8](repeating: 0, count: 268_435_456))
    #expect(await client.refusal(.publish(message)) == .invalidAction)
  }

  @Test func sendsNothingLaterThatWasRefused() async throws {
    let broker = try await Broker()
    let witness = try await TestClient.connected(broker)
    try await witness.subscribe("#")
    let client = try TestClient(broker.url)
    let options = ConnectOptions(clientID: "early", cleanStart: false)
    for qos in QoS.allCases {
      let message = Message(topic: "early", payload: [], qos: qos)
      #expect(await client.refusal(.publish(message)) == .notConnected)
    }
    #expect(try await client.connect(options) == false)
    try await client.publish("late", [])
    #expect(try await witness.message().topic == "late")
  }

  /// Between CONNECT and CONNACK nothing is sent, and nothing is kept for later.
  @Test func sendsNothingBeforeTheServerHasAccepted() async throws {
    let (listener, port) = try Socket.listening()
    let client = try TestClient("mqtt://127.0.0.1:\(port)")
    try await client.perform(.connect(ConnectOptions(clientID: "early")))
    let server = try listener.accept()
    #expect(server.readPacket()?.first == 0x10)
    for qos in QoS.allCases {
      let message = Message(topic: "early", payload: [], qos: qos)
      #expect(await client.refusal(.publish(message)) == .notConnected)
    }
    server.write([0x20, 2, 0, 0])
    guard case .connected = try await client.event() else {
      Issue.record("not connected")
      return
    }
    try await client.perform(.publish(Message(topic: "late", payload: [7])))
    let packet = server.readPacket()
    #expect(packet?.first == 0x30 && packet?.body == [0, 4] + Array("late".utf8) + [7])
  }
}

import LiveClient
import RepriseCore
import Testing

/// What holds for MQTT over TCP and over WebSocket alike, with a real broker.
@Suite struct BrokerWayTests {
  @Test(arguments: BrokerWay.all, QoS.allCases)
  func carriesMessages(_ way: BrokerWay, _ qos: QoS) async throws {
    let client = try await way.connected(WebSocketBroker())
    #expect(try await client.subscribe("a/+", qos: qos) == [qos])
    var expected: [Message] = []
    for number in 0..<200 {
      let message = Message(topic: "a/b", payload: [UInt8(number)], qos: qos)
      try await client.perform(.publish(message))
      expected.append(message)
    }
    var received: [Message] = []
    var published: [ClientAction.ID] = []
    while received.count < 200 || published.count < 200 {
      switch try await client.event() {
      case .message(let message): received.append(message)
      case .published(let id): published.append(id)
      case let other: Issue.record("\(other)")
      }
    }
    #expect(received == expected)
    #expect(published.map(\.rawValue) == Array(3...202))
    let id = try await client.perform(.unsubscribe(["a/+"]))
    #expect(try await client.event() == .unsubscribed(id))
    try await client.disconnect()
  }

  @Test(arguments: BrokerWay.all, QoS.allCases)
  func agreesWithTheCommands(_ way: BrokerWay, _ qos: QoS) async throws {
    let broker = try await WebSocketBroker()
    let subscriber = try Child(
      [
        "mosquitto_sub", "-p", "\(broker.broker.port)", "-t", "ours/#", "-t", "ready", "-q",
        "\(qos.rawValue)", "-C", "3", "-h", "127.0.0.1", "-W", "120", "-F", "%t %q %r %x",
      ])
    let client = try await way.connected(broker)
    try await client.publish("ready", [1], retained: true)
    try await subscriber.wait(for: "ready") { $0.text.contains("ready") }
    try await client.publish("ours/1", [0xff, 0], qos: qos)
    try await client.publish("ours/2", [], qos: qos)
    #expect(await subscriber.wait() == 0)
    #expect(
      subscriber.text.split(separator: "\n").dropFirst().map { $0.lowercased() }
        == ["ours/1 \(qos.rawValue) 0 ff00", "ours/2 \(qos.rawValue) 0 "])
    try await client.subscribe("theirs", qos: qos)
    // Properties of 5.0 come with the message.
    let properties =
      way.version == .v5_0
      ? ["-V", "5", "-D", "publish", "content-type", "text/plain", "-D", "publish"]
        + ["user-property", "a", "b", "-D", "publish", "message-expiry-interval", "600"] : []
    try await Child.run(
      ["mosquitto_pub", "-p", "\(broker.broker.port)", "-t", "theirs", "-q", "\(qos.rawValue)"]
        + ["-m", "grüß"] + properties)
    let message = try await client.message()
    var expected = Message(topic: "theirs", payload: [UInt8]("grüß".utf8), qos: qos)
    if way.version == .v5_0 {
      // A broker takes off the time that it has kept a message.
      let left = try #require(message.properties.expiryInterval)
      #expect((1...600).contains(left))
      expected.properties = MessageProperties(
        expiryInterval: left, contentType: "text/plain", userProperties: [.init("a", "b")])
    }
    #expect(message == expected)
  }

  @Test(arguments: BrokerWay.all) func keepsRetained(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let publisher = try await way.connected(broker)
    try await publisher.publish("r", [1], retained: true)
    let reader = try await way.connected(broker)
    try await reader.subscribe("r")
    #expect(
      try await reader.message()
        == Message(topic: "r", payload: [1], qos: .atLeastOnce, isRetained: true))
    try await publisher.publish("r", [], retained: true)
    #expect(try await reader.message() == Message(topic: "r", payload: [], qos: .atLeastOnce))
  }

  @Test(arguments: BrokerWay.all) func takesUpSessions(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker(globals: ["max_queued_messages 100000"])
    let options = ConnectOptions(clientID: "keeper", cleanStart: false)
    let keeper = try way.client(broker)
    #expect(try await keeper.connect(options) == false)
    try await keeper.subscribe("news/#", qos: .exactlyOnce)
    try await keeper.disconnect()
    let publisher = try await way.connected(broker)
    for number in 0..<50 {
      try await publisher.publish("news/\(number % 3)", [UInt8(number)], qos: .exactlyOnce)
    }
    #expect(try await keeper.connect(options) == true)
    for number in 0..<50 { #expect(try await keeper.message().payload == [UInt8(number)]) }
    try await keeper.disconnect()
    // A clean start ends the session, and so a later one is new.
    #expect(try await keeper.connect(ConnectOptions(clientID: "keeper")) == false)
    try await keeper.disconnect()
    #expect(try await keeper.connect(options) == false)
  }

  @Test(arguments: BrokerWay.all) func leavesAWill(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let witness = try await way.connected(broker)
    try await witness.subscribe("will/#")
    let will = Message(topic: "will/a", payload: [0, 0xff], qos: .exactlyOnce)
    let options = ConnectOptions(will: will)
    do {
      let client = try await way.connected(broker, options)
      try await client.disconnect()
      try await client.connect()
    }
    do { _ = try await way.connected(broker, options) }
    #expect(try await witness.message() == will)
    let other = Message(topic: "will/b", payload: [], qos: .atMostOnce, isRetained: true)
    do {
      let options = ConnectOptions(will: other)
      _ = try await way.connected(broker, options)
    }
    #expect(try await witness.message() == Message(topic: "will/b", payload: []))
  }
}

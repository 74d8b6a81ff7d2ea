import LiveClient
import RepriseCore
import TestSupport
import Testing

/// The properties of messages under MQTT 5.0, over TCP and over WebSocket.
@Suite struct PropertyTests {
  private static let ways = BrokerWay.all.filter { $0.version == .v5_0 }

  private static let all = MessageProperties(
    isText: true, expiryInterval: 86_400, contentType: "text/plain", responseTopic: "answers/here",
    correlationData: [0, 0xFF, 0xC0],
    userProperties: [.init("b", "ü"), .init("a", ""), .init("b", "2")])

  /// A message as it was sent: a broker takes off the time that it has kept it.
  private func unaged(_ message: Message) -> Message {
    guard let left = message.properties.expiryInterval else { return message }
    #expect((86_000...86_400).contains(left))
    var message = message
    message.properties.expiryInterval = 86_400
    return message
  }

  @Test(arguments: ways, QoS.allCases)
  func goThereAndBack(_ way: BrokerWay, _ qos: QoS) async throws {
    let client = try await way.connected(WebSocketBroker())
    #expect(client.client.capabilities.contains(.properties))
    try await client.subscribe("p/#", qos: qos)
    for properties in [Self.all, MessageProperties(), MessageProperties(correlationData: [])] {
      let message = Message(topic: "p/a", payload: [0x61], qos: qos, properties: properties)
      try await client.perform(.publish(message))
      #expect(unaged(try await client.message()) == message)
    }
    let kept = Message(
      topic: "p/kept", payload: [0x61], qos: qos, isRetained: true, properties: Self.all)
    try await client.perform(.publish(kept))
    _ = try await client.message()
    try await client.subscribe("p/kept", qos: qos)
    #expect(unaged(try await client.message()) == kept)
  }

  @Test(arguments: ways) func standInAWill(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let witness = try await way.connected(broker)
    try await witness.subscribe("will", qos: .exactlyOnce)
    let will = Message(topic: "will", payload: [1], qos: .atLeastOnce, properties: Self.all)
    do { _ = try await way.connected(broker, ConnectOptions(will: will)) }
    #expect(unaged(try await witness.message()) == will)
  }

  @Test(arguments: ways) func agreeWithTheCommands(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let subscriber = try Child(
      [
        "mosquitto_sub", "-V", "5", "-p", "\(broker.broker.port)", "-t", "ours", "-t", "ready",
        "-C", "2", "-h", "127.0.0.1", "-W", "120", "-F", "%C|%D|%F|%R|%P|%x",
      ])
    let client = try await way.connected(broker)
    try await client.publish("ready", [1], retained: true)
    try await subscriber.wait(for: "ready") { $0.text.contains("|01") }
    var properties = Self.all
    properties.correlationData = Array("k7".utf8)
    try await client.perform(
      .publish(Message(topic: "ours", payload: [0x61], properties: properties)))
    #expect(await subscriber.wait() == 0)
    let fields = subscriber.text.split(separator: "\n").last?.split(separator: "|")
    #expect(
      fields?.map(String.init) == [
        "text/plain", "k7", "1", "answers/here", "b:ü a: b:2", "61",
      ])
    try await client.subscribe("theirs")
    let set = { ["-D", "publish"] + $0 }
    try await Child.run(
      ["mosquitto_pub", "-V", "5", "-p", "\(broker.broker.port)", "-t", "theirs", "-m", "a"]
        + set(["payload-format-indicator", "1"]) + set(["message-expiry-interval", "86400"])
        + set(["content-type", "text/plain"]) + set(["response-topic", "answers/here"])
        + set(["correlation-data", "k7"]) + set(["user-property", "b", "ü"])
        + set(["user-property", "b", "2"]))
    properties.userProperties.remove(at: 1)
    #expect(
      unaged(try await client.message())
        == Message(topic: "theirs", payload: [0x61], properties: properties))
  }

  @Test(arguments: BrokerWay.all) func whatCannotBeSentIsRefused(_ way: BrokerWay) async throws {
    let client = try await way.connected(WebSocketBroker())
    let isNew = way.version == .v5_0
    #expect(client.client.capabilities.contains(.properties) == isNew)
    let long = String(repeating: "a", count: 65_536)
    for properties in [
      MessageProperties(responseTopic: "a/#"), MessageProperties(responseTopic: ""),
      MessageProperties(contentType: long), MessageProperties(contentType: "a\u{0}"),
      MessageProperties(correlationData: Array(long.utf8)),
      MessageProperties(userProperties: [.init("a\u{0}", "")]),
      MessageProperties(userProperties: [.init("a", long)]),
    ] {
      let message = Message(topic: "t", payload: [], properties: properties)
      #expect(
        await client.refusal(.publish(message)) == (isNew ? .invalidAction : .unsupported))
    }
    try await client.publish("t", [])
    try await client.disconnect()
    let will = Message(topic: "w", payload: [], properties: MessageProperties(responseTopic: "+"))
    #expect(
      await client.refusal(.connect(ConnectOptions(will: will)))
        == (isNew ? .invalidAction : .unsupported))
  }

  @Test func areOfOneKindLiveAndReplayed() async throws {
    func run(_ client: any DataClient) async throws -> [ClientEvent] {
      var events: [ClientEvent] = []
      func act(_ id: UInt32, _ kind: ClientAction.Kind, answers: Int = 1) async throws {
        try await client.perform(ClientAction(.init(rawValue: id), kind))
        for _ in 0..<answers { events.append(try await client.next(before: nil)) }
      }
      #expect(client.capabilities.contains(.properties))
      var properties = Self.all
      properties.expiryInterval = nil
      let message = Message(topic: "p", payload: [1], qos: .atLeastOnce, properties: properties)
      try await act(1, .connect(ConnectOptions(clientID: "p", will: message)))
      try await act(2, .subscribe([Subscription("p", qos: .atLeastOnce)]))
      try await act(3, .publish(message), answers: 2)
      #expect(events.contains(.message(message)))
      try await act(4, .disconnect)
      return events
    }
    let broker = try await Broker()
    let recorder = try RecordingClient(
      MosquittoClient(url: broker.url, version: .v5_0), to: MemorySink())
    let live = try await run(recorder)
    try recorder.finish()
    let text = String(decoding: recorder.sink.bytes, as: UTF8.self)
    #expect(text.contains(#""correlationData""#) && text.contains(#"["b","ü"]"#), "\(text)")
    let replay = try ReplayClient(EventList(recording: recorder.sink.bytes).events)
    #expect(try await run(replay) == live)
    try replay.finish()
  }
}

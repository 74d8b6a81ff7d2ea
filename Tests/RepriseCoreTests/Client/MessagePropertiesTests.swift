import Testing
import Wire

@testable import RepriseCore

/// What messages say besides topic and payload.
@Suite struct MessagePropertiesTests {
  private static let samples: [MessageProperties] = [
    MessageProperties(), MessageProperties(isText: true), MessageProperties(expiryInterval: 0),
    MessageProperties(expiryInterval: .max), MessageProperties(contentType: ""),
    MessageProperties(responseTopic: "a/ü"), MessageProperties(correlationData: []),
    MessageProperties(correlationData: [0, 0xFF]),
    MessageProperties(userProperties: [.init("a", "1"), .init("", ""), .init("a", "2")]),
    MessageProperties(
      isText: true, expiryInterval: 7, contentType: "c", responseTopic: "r", correlationData: [1],
      userProperties: [.init("n", "v")]),
  ]

  @Test(arguments: samples) func standInPacketsAsTheyAre(_ properties: MessageProperties) throws {
    #expect(MessageProperties(properties.ofPackets) == properties)
    #expect(properties.isEmpty == properties.ofPackets.isEmpty)
    func size(_ properties: MessageProperties) throws -> Int {
      let publish = MQTTPacket.Publish(topic: "t", payload: [], properties: properties.ofPackets)
      return try MQTTPacket(.publish(publish), version: .v5_0).encoded().count
    }
    #expect(try size(properties) - size(MessageProperties()) == properties.byteCount)
  }

  @Test func aMessageIsAnotherOneWithThem() {
    let plain = Message(topic: "t", payload: [])
    var message = plain
    #expect(!message.hasProperties && message.properties.isEmpty)
    message.properties.contentType = "c"
    #expect(message != plain && message.hasProperties)
    #expect(
      Set([message, plain, Message(topic: "t", payload: [], properties: .init(contentType: "c"))])
        .count == 2)
    message.properties.contentType = nil
    #expect(message == plain && !message.hasProperties)
  }

  @Test func recordingsHideThoseThatAreNamed() throws {
    let properties = MessageProperties(
      userProperties: [.init("Key", "1"), .init("other", "2"), .init("key", "3")])
    for payload: [UInt8] in [[], [1]] {
      let event = try Sample.event(
        MQTTPacket(
          .publish(.init(topic: "t", payload: payload, properties: properties.ofPackets)),
          version: .v5_0))
      var line: [UInt8] = []
      let writer = EventJSONWriter(hiding: RedactionRules(keys: ["key"]))
      event.withView { writer.append($0, to: &line) }
      let text = String(decoding: line, as: UTF8.self)
      #expect(text.contains(#""userProperty":[["Key","***"],["other","2"],["key","***"]]"#))
      #expect(text.contains(payload.isEmpty ? #"{"utf8":""}"# : #"{"utf8":"\u0001"}"#))
    }
  }

  /// A session of MQTT 3.1.1 knows none; what is refused is nowhere to be found later.
  @Test func areRefusedWhereNobodyKnowsThem() async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "t", "x")
    session.disconnect(2)
    let message = Message(
      topic: "t", payload: Array("x".utf8), properties: MessageProperties(contentType: "c"))
    let client = try ReplayClient(session.events)
    var user = Actor(client)
    #expect(!client.capabilities.contains(.properties))
    try await user.connect()
    _ = try await user.next()
    let error = await #expect(throws: DataClientError.self) {
      try await user.do(.publish(message))
    }
    #expect(error?.code == .unsupported && error?.message.contains("properties") == true)
    try await user.publish("t", "x")
  }
}

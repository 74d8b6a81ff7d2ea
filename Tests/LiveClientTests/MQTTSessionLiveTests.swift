import DeviceSDK
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// Ordinary MQTT sessions on a real broker, and the same application on what was recorded of it.
@Suite struct MQTTSessionLiveTests {
  /// Two clients' worth of an application: it watches rooms, keeps a state, serves and asks.
  private func app(_ client: any DataClient) async throws -> [String] {
    var lines: [String] = []
    let isNew = client.capabilities.contains(.properties)
    try await withSession(on: client, configuration: MQTTConfiguration(clientID: "app")) { mqtt in
      try await mqtt.withSubscription(to: "home/+/door", qos: .exactlyOnce) { doors in
        for qos in QoS.allCases {
          try await mqtt.publish("home/\(qos)/door", "open", qos: qos)
        }
        try await mqtt.publish("home/hall/lamp", json: ["level": 0.5], retain: true)
        var count = 0
        for try await message in doors {
          lines.append("\(message.topic) \(message.text ?? "-") \(message.qos)")
          count += 1
          if count == 3 { break }
        }
      }
      for try await message in mqtt.messages(matching: "home/#") {
        lines.append("\(message.topic) \(message.text ?? "-") retained \(message.isRetained)")
        break
      }
      guard isNew else {
        let error = await #expect(throws: MQTTError.self) {
          try await mqtt.request("service", "question")
        }
        #expect(error?.kind == .unsupported)
        return
      }
      try await mqtt.withSubscription(to: "service") { requests in
        async let one = mqtt.request("service", "one")
        async let two = mqtt.request("service", "two")
        var served = 0
        for try await request in requests {
          try await mqtt.respond(to: request, request.payload + Array("!".utf8))
          served += 1
          if served == 2 { break }
        }
        lines.append("\(try await one.text ?? "-") \(try await two.text ?? "-")")
      }
    }
    return lines
  }

  @Test(arguments: BrokerWay.all)
  func theSameLiveAndFromItsRecording(_ way: BrokerWay) async throws {
    let broker = try await WebSocketBroker()
    let recorder = try RecordingClient(way.client(broker).client, to: MemorySink())
    let live = try await app(recorder)
    try recorder.finish()
    #expect(
      live == [
        "home/atMostOnce/door open atMostOnce", "home/atLeastOnce/door open atLeastOnce",
        "home/exactlyOnce/door open exactlyOnce", #"home/hall/lamp {"level":0.5} retained true"#,
      ] + (way.version == .v5_0 ? ["one! two!"] : []))
    let events = try EventList(recording: recorder.sink.bytes).events
    let replay = try ReplayClient(events)
    #expect(try await app(replay) == live)
    try replay.finish()
  }

  @Test func outlivesItsBroker() async throws {
    let broker = try await Broker()
    let relay = try Relay(to: broker.port)
    var configuration = MQTTConfiguration(clientID: "app")
    configuration.reconnect = BackOff(first: .milliseconds(10), longest: .milliseconds(100))
    let client = try MosquittoClient(url: "mqtt://127.0.0.1:\(relay.port)")
    try await withSession(on: client, configuration: configuration) { mqtt in
      try await mqtt.withSubscription(to: "t") { messages in
        let changes = mqtt.stateChanges
        // The connection is gone before the broker has the message, which is sent again on the next one, where the
        // subscription is asked for again before it.
        relay.cut(after: 1, isReset: true)
        try await mqtt.publish("t", "still here")
        for await change in changes {
          #expect(change.state == .disconnected)
          break
        }
        for try await message in messages {
          #expect(message.text == "still here")
          break
        }
      }
    }
  }

  @Test func aSlowReaderMissesNothing() async throws {
    let broker = try await Broker(globals: ["max_queued_messages 100000"])
    let writer = try await TestClient.connected(broker)
    let client = try MosquittoClient(url: broker.url)
    try await withSession(on: client, configuration: MQTTConfiguration(clientID: "slow")) { mqtt in
      try await mqtt.withSubscription(to: "t", limit: 16) { messages in
        for number in 0..<5_000 {
          try await writer.perform(
            .publish(
              Message(
                topic: "t", payload: [UInt8(number & 0xFF), UInt8(number >> 8)], qos: .atLeastOnce))
          )
        }
        try await writer.publish("end", [])
        var number = 0
        for try await message in messages {
          #expect(message.payload == [UInt8(number & 0xFF), UInt8(number >> 8)])
          number += 1
          if number == 5_000 { break }
        }
      }
      #expect(mqtt.droppedMessages == 0)
    }
  }
}

import DeviceSDK
import Glibc
import LiveClient
import RepriseCore
import Testing

/// MQTT over WebSocket with a real broker.
@Suite struct MQTTWebSocketTests {
  typealias Version = MosquittoClient.Version

  @Test(arguments: Version.allCases)
  func whatIsUnderWayArrivesOnceAlsoOverALoss(_ version: Version) async throws {
    let server = try await WebSocketBroker(globals: ["max_queued_messages 100000"])
    let witness = try await WebSocketUser.connected(server, version: version)
    try await witness.subscribe("w", qos: .exactlyOnce)
    let relay = try Relay(to: server.port)
    let options = ConnectOptions(clientID: "lossy", cleanStart: false)
    let client = WebSocketUser(
      try MQTTWebSocketClient(url: "ws://127.0.0.1:\(relay.port)/mqtt", version: version))
    try await client.connect(options)
    relay.cut(after: 3_000, isReset: true)
    var open: Set<ClientAction.ID> = []
    for number in 0..<200 {
      do {
        open.insert(
          try await client.perform(
            .publish(Message(topic: "w", payload: [UInt8(number)], qos: .exactlyOnce))))
      } catch { break }
    }
    let count = open.count
    while !open.isEmpty {
      switch try await client.event() {
      case .published(let id): open.remove(id)
      case .closed(.byServer), .closed(.lost), .closed(.unreached):
        try await client.perform(.connect(options))
      case .connected(let answer): #expect(answer.isSessionPresent)
      case let other: Issue.record("\(other)")
      }
    }
    for number in 0..<count { #expect(try await witness.message().payload == [UInt8(number)]) }
    try await witness.publish("w", [255], qos: .exactlyOnce)
    #expect(try await witness.message().payload == [255])
  }

  @Test(arguments: Version.allCases) func carriesMuch(_ version: Version) async throws {
    let server = try await WebSocketBroker()
    let client = try await WebSocketUser.connected(server, version: version)
    let other = try await TestClient.connected(server.broker, version: version)
    try await client.subscribe("x")
    try await other.subscribe("y")
    let payload = (0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    for qos in QoS.allCases {
      try await client.perform(.publish(Message(topic: "y", payload: payload, qos: qos)))
      // Nothing goes on behind QoS 2 while nobody reads.
      try await client.event { event in if case .published = event { () } else { nil } }
      #expect(try await other.message() == Message(topic: "y", payload: payload, qos: qos))
      try await other.publish("x", payload, qos: qos)
      // Over WebSocket mosquitto writes 4 KiB in each turn of its loop, and a turn takes 0.1 s unless
      // something comes in. What nobody has subscribed to comes in, so that 1 MiB takes no 26 s.
      for _ in 0..<300 { try await other.publish("unheard", []) }
      #expect(try await client.message() == Message(topic: "x", payload: payload, qos: qos))
    }
  }

  @Test func stopsTheServerWhileNobodyReads() async throws {
    let server = try await WebSocketBroker(globals: ["max_queued_messages 100000"])
    let client = try await WebSocketUser.connected(
      server, limits: MosquittoClient.Limits(events: 20))
    try await client.subscribe("much", qos: .atLeastOnce)
    let publisher = try await TestClient.connected(server.broker)
    let filling = [UInt8](repeating: 0x78, count: 4_000)
    for number in 0..<900 {
      try await publisher.perform(
        .publish(
          Message(
            topic: "much", payload: Array("\(number) ".utf8) + filling, qos: .atLeastOnce)))
    }
    for number in 0..<900 {
      let text = String(decoding: try await client.message().payload.prefix(8), as: UTF8.self)
      #expect(text.hasPrefix("\(number) "))
    }
  }

  @Test func speaksTLS() async throws {
    let certificates = try await Certificates()
    let server = try await WebSocketBroker(webSocket: [
      "certfile \(certificates.certificate("server"))", "keyfile \(certificates.key("server"))",
    ])
    let url = "wss://localhost:\(server.port)/mqtt"
    for (authority, isGood) in [
      (certificates.authority, true), (certificates.otherAuthority, false),
    ] {
      let client = WebSocketUser(
        try MQTTWebSocketClient(url: url, tls: TLSOptions(authorityFile: authority)))
      #expect((try await client.failure() == nil) == isGood)
    }
  }

  @Test func theChannelRunsOnIt() async throws {
    let server = try await WebSocketBroker()
    let client = try MQTTWebSocketClient(url: server.url)
    let peer = try await TestClient.connected(server.broker)
    try await peer.subscribe("\(LiveChannel.up)/#")
    try await withChannel(on: client, configuration: LiveChannel.configuration()) { channel in
      try await channel.start()
      try await channel.publish("/thing/status")
      #expect(try await peer.message().topic == "\(LiveChannel.up)/thing/status")
      async let answer = channel.invoke("/account/bind", ["iotToken": "t"])
      let request = try await peer.message()
      #expect(request.topic == "\(LiveChannel.up)/account/bind")
      let id = JSONValue(parsing: request.payload)?["id"]?.text ?? ""
      try await peer.publish(
        "\(LiveChannel.down)/account/bind_reply",
        Array(#"{"id":"\#(id)","code":200,"data":{"n":1}}"#.utf8))
      #expect(try await answer.data?["n"]?.integer == 1)
      try await channel.stop()
    }
  }
}

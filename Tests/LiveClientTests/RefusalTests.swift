import DeviceSDK
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// Messages that the server does not want.
@Suite struct LiveRefusalTests {
  /// A broker whose access list allows everybody to read all, and to write below `open`.
  private static func broker() async throws -> Broker {
    let directory = Scratch()
    try directory.write("topic read #\ntopic readwrite open/#\n", to: "acl")
    return try await Broker(
      ["allow_anonymous true", "acl_file \(directory.file("acl"))"], directory: directory)
  }

  @Test(arguments: [QoS.atLeastOnce, .exactlyOnce])
  func tellsRefusedMessagesUnderVersion5(_ qos: QoS) async throws {
    let client = try await TestClient.connected(Self.broker(), version: .v5_0)
    #expect(client.client.capabilities.contains(.refusals))
    var ids: [ClientAction.ID] = []
    for topic in ["closed", "open/a", "closed", "open/a"] {
      ids.append(
        try await client.perform(.publish(Message(topic: topic, payload: [1], qos: qos))))
    }
    var outcomes: [ClientAction.ID: ClientEvent] = [:]
    while outcomes.count < ids.count {
      let event = try await client.event()
      switch event {
      case .published(let id), .failed(let id, _): outcomes[id] = event
      default: Issue.record("\(event)")
      }
    }
    let failure = ActionFailure.refused(code: 135, reason: nil)
    #expect(
      ids.map { outcomes[$0] } == [
        .failed(ids[0], failure), .published(ids[1]), .failed(ids[2], failure),
        .published(ids[3]),
      ])
    #expect("\(failure)".contains("access list"))
    // What was refused takes no room.
    for _ in 0..<50 {
      try await client.perform(.publish(Message(topic: "closed", payload: [], qos: qos)))
      guard case .failed = try await client.event() else {
        Issue.record("not refused")
        return
      }
    }
    try await client.publish("open/b", [], qos: qos)
  }

  @Test func version311AcknowledgesWhatItThrowsAway() async throws {
    let broker = try await Self.broker()
    let reader = try await TestClient.connected(broker)
    try await reader.subscribe("#")
    let client = try await TestClient.connected(broker)
    #expect(!client.client.capabilities.contains(.refusals))
    try await client.publish("closed", [1])
    try await client.publish("open/a", [2])
    #expect(try await reader.message().payload == [2])
  }

  /// The packets that answer a message, and what is told of it.
  @Test(
    arguments: [
      (1, [0x40, 3, 0, 1, 0x97], .failed(code: 0x97, reason: nil)),
      (1, [0x40, 8, 0, 1, 0x87, 4, 0x1F, 0, 1, 0x6E], .failed(code: 0x87, reason: "n")),
      (1, [0x40, 3, 0, 1, 0x10], .published), (1, [0x40, 2, 0, 1], .published),
      (2, [0x50, 3, 0, 1, 0x99], .failed(code: 0x99, reason: nil)),
      // The library keeps the reason string of a PUBREC to itself.
      (2, [0x50, 8, 0, 1, 0x80, 4, 0x1F, 0, 1, 0x6E], .failed(code: 0x80, reason: nil)),
      (2, [0x50, 2, 0, 1, 0x70, 3, 0, 1, 0x92], .published),
    ] as [(UInt8, [UInt8], Outcome)])
  func tellsWhatTheServerSays(_ qos: UInt8, _ answer: [UInt8], _ outcome: Outcome) async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 3, 0, 0, 0])
      _ = socket.readPacket()
      socket.write(answer)
      while socket.readPacket() != nil {}
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)", version: .v5_0)
    try await client.connect()
    let message = Message(topic: "t", payload: [], qos: QoS(rawValue: qos) ?? .atMostOnce)
    let id = try await client.perform(.publish(message))
    switch outcome {
    case .published: #expect(try await client.event() == .published(id))
    case .failed(let code, let reason):
      #expect(try await client.event() == .failed(id, .refused(code: code, reason: reason)))
    }
  }

  enum Outcome: Sendable { case published, failed(code: UInt8, reason: String?) }

  @Test func aRecordingKeepsTheReasonCode() async throws {
    func run(_ client: any DataClient) async throws -> [ClientEvent] {
      var events: [ClientEvent] = []
      func act(_ id: UInt32, _ kind: ClientAction.Kind) async throws {
        try await client.perform(ClientAction(.init(rawValue: id), kind))
        events.append(try await client.next(before: nil))
      }
      try await act(1, .connect(ConnectOptions(clientID: "curious")))
      try await act(2, .publish(Message(topic: "closed", payload: [1], qos: .atLeastOnce)))
      try await act(3, .publish(Message(topic: "closed", payload: [2], qos: .exactlyOnce)))
      try await act(4, .publish(Message(topic: "open/a", payload: [3], qos: .exactlyOnce)))
      try await act(5, .disconnect)
      return events
    }
    let broker = try await Self.broker()
    let recorder = try RecordingClient(
      MosquittoClient(url: broker.url, version: .v5_0), to: MemorySink())
    let live = try await run(recorder)
    try recorder.finish()
    let text = String(decoding: recorder.sink.bytes, as: UTF8.self)
    #expect(text.contains(#""type":"PUBACK""#) && text.contains(#""type":"PUBREC""#))
    let replay = try ReplayClient(EventList(recording: recorder.sink.bytes).events)
    #expect(try await run(replay) == live)
    try replay.finish()
  }

  @Test func theChannelFailsTheCall() async throws {
    let broker = try await Self.broker()
    let client = try MosquittoClient(url: broker.url, version: .v5_0)
    try await withChannel(on: client, configuration: LiveChannel.configuration()) { channel in
      try await channel.start()
      let error = await #expect(throws: ChannelError.self) { try await channel.publish("/a") }
      #expect(error?.kind == .gateway && error?.cloudCode == 135)
      #expect(error?.underlying as? ActionFailure == .refused(code: 135, reason: nil))
      let request = await #expect(throws: ChannelError.self) { try await channel.invoke("/a") }
      #expect(request?.cloudCode == 135)
      #expect(channel.state == .connected)
    }
  }
}

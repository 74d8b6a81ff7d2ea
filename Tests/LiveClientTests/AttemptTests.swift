import LiveClient
import RepriseCore
import TestSupport
import Testing
import Wire

/// Recordings of clients whose connection did not come to be at first.
@Suite struct AttemptTests {
  /// What is recorded of a client that tries once and comes back when somebody is there, and its replay.
  private func record(
    _ client: some DataClient, url: String, isBetween: () async throws -> Void = {}
  ) async throws -> (types: [String], events: [ClientEvent]) {
    func run(on client: some DataClient, _ isBetween: () async throws -> Void) async throws
      -> [ClientEvent]
    {
      let user = TestUser(client)
      var events: [ClientEvent] = []
      try await user.perform(.connect(ConnectOptions(clientID: "late")))
      events.append(try await user.event())
      try await isBetween()
      try await user.perform(.connect(ConnectOptions(clientID: "late")))
      events.append(try await user.event())
      if case .connected? = events.last {
        try await user.perform(.disconnect)
        events.append(try await user.event())
      }
      return events
    }
    let recorder = try RecordingClient(client, to: MemorySink(), url: url)
    let live = try await run(on: recorder, isBetween)
    try recorder.finish()
    let events = try EventList(recording: recorder.sink.bytes).events
    let replay = try ReplayClient(events)
    #expect(try await run(on: replay, {}) == live)
    try replay.finish()
    return (events.map(Self.shown), live)
  }

  private static func shown(_ event: Event) -> String {
    event.withView { view in
      switch view.body {
      case .attempted(let attempt): "ATTEMPT \(attempt.how.rawValue)"
      case .opened: "OPEN"
      case .closed(let closing): "CLOSE \(closing.how.rawValue)"
      case .handshake(let handshake): "\(handshake.name)"
      case .http(let part): "\(part.name)"
      case .tls(let part): "\(part.name)"
      case .webSocket(let frame): "\(frame.opcode.name)"
      case .mqtt(let packet): "\(packet.type.name)"
      case .gap, .malformed: "lost"
      }
    }
  }

  private static func isUnreached(_ event: ClientEvent?, _ text: String) -> Bool {
    guard case .closed(.unreached(let reason, _))? = event else { return false }
    return reason.contains(text)
  }

  @Test(arguments: MosquittoClient.Version.allCases)
  func aBrokerThatComesLate(_ version: MosquittoClient.Version) async throws {
    let broker = try await Broker()
    await broker.stop()
    let (types, events) = try await record(
      MosquittoClient(url: broker.url, version: version), url: broker.url
    ) { try await broker.start() }
    #expect(
      types == [
        "ATTEMPT failed", "OPEN", "CONNECT", "CONNACK", "DISCONNECT", "CLOSE fin",
      ])
    #expect(Self.isUnreached(events.first, "Connection refused"))
  }

  @Test func aNameThatIsUnknown() async throws {
    let url = "mqtt://no-such-host.invalid"
    let (types, events) = try await record(MosquittoClient(url: url), url: url)
    #expect(types == ["ATTEMPT failed", "ATTEMPT failed"])
    #expect(events.allSatisfy { Self.isUnreached($0, "no-such-host.invalid") })
  }

  @Test func aServerThatIsNotTrusted() async throws {
    let certificates = try await Certificates()
    let broker = try await Broker([
      "allow_anonymous true", "certfile \(certificates.certificate("server"))",
      "keyfile \(certificates.key("server"))",
    ])
    let url = "mqtts://localhost:\(broker.port)"
    let client = try MosquittoClient(
      url: url, tls: TLSOptions(authorityFile: certificates.otherAuthority))
    let (types, events) = try await record(client, url: url)
    #expect(types == ["ATTEMPT failed", "ATTEMPT failed"])
    #expect(events.allSatisfy { Self.isUnreached($0, "not trusted") })
  }

  /// The server asks for a certificate, but the client learns that only behind its CONNECT (RFC 8446 section 4.4.2).
  @Test func aServerThatMissesACertificate() async throws {
    let certificates = try await Certificates()
    let broker = try await certificates.broker("server", ["require_certificate true"])
    let url = "mqtts://localhost:\(broker.port)"
    let client = try MosquittoClient(
      url: url, tls: TLSOptions(authorityFile: certificates.authority))
    let (types, _) = try await record(client, url: url)
    #expect(types == ["OPEN", "CONNECT", "CLOSE reset", "OPEN", "CONNECT", "CLOSE reset"])
  }

  /// TCP was up, and CONNECT was sent: that is no attempt.
  @Test func aServerThatClosesWithoutAnAnswer() async throws {
    let server = try ScriptedServer { socket in _ = socket.readPacket() }
    let url = "mqtt://127.0.0.1:\(server.port)"
    let (types, _) = try await record(MosquittoClient(url: url), url: url)
    #expect(types == ["OPEN", "CONNECT", "CLOSE reset", "OPEN", "CONNECT", "CLOSE reset"])
  }

  /// A session that the server has forgotten is begun anew on a connection more: that nobody takes it any more does not
  /// undo that the server was reached.
  @Test func aServerThatGoesWhileASessionBeginsAnew() async throws {
    let (listener, port) = try Socket.listening()
    try startThread {
      for isLast in [false, true] {
        guard let socket = try? listener.accept(), socket.readPacket() != nil else { return }
        if isLast { listener.shut() }
        socket.write([0x20, 2, 0, 0])
        while socket.readPacket() != nil {}
      }
    }
    let client = try TestClient("mqtt://127.0.0.1:\(port)")
    let options = ConnectOptions(clientID: "late", cleanStart: false)
    try await client.perform(.connect(options))
    #expect(try await client.event() == .connected(.init()))
    try await client.perform(.publish(Message(topic: "a", payload: [], qos: .atLeastOnce)))
    try await client.perform(.disconnect)
    #expect(try await client.event() == .closed(.byUser))
    try await client.perform(.connect(options))
    guard case .closed(.lost(let reason)) = try await client.event() else {
      Issue.record("the server was reached")
      return
    }
    #expect(reason.contains("refused"))
  }

  @Test(arguments: [false, true])
  func nobodyBehindAWebSocket(carriesMQTT: Bool) async throws {
    let url = "ws://127.0.0.1:\(try Socket.freePort())/mqtt"
    let (types, events) =
      carriesMQTT
      ? try await record(MQTTWebSocketClient(url: url), url: url)
      : try await record(WebSocketClient(url: url), url: url)
    #expect(types == ["ATTEMPT failed", "ATTEMPT failed"])
    #expect(events.allSatisfy { Self.isUnreached($0, "127.0.0.1") })
  }

  /// The handshake was sent and refused; MQTT that it was to carry was never sent.
  @Test(arguments: [false, true])
  func aHandshakeThatIsRefused(carriesMQTT: Bool) async throws {
    let server = try ScriptedServer { socket in
      guard socket.readUpgrade() != nil else { return }
      socket.write(Array("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n".utf8))
    }
    let url = "ws://127.0.0.1:\(server.port)/mqtt"
    guard !carriesMQTT else {
      let (types, events) = try await record(MQTTWebSocketClient(url: url), url: url)
      #expect(types == ["ATTEMPT failed", "ATTEMPT failed"])
      #expect(events.allSatisfy { Self.isUnreached($0, "401") })
      return
    }
    let (types, events) = try await record(WebSocketClient(url: url), url: url)
    #expect(types == ["OPEN", "UPGRADE", "CLOSE reset", "OPEN", "UPGRADE", "CLOSE reset"])
    guard case .closed(.lost(let reason))? = events.first else {
      Issue.record("\(events)")
      return
    }
    #expect(reason.contains("401"))
  }

  /// The WebSocket came to be, and CONNECT went over it.
  @Test func aBrokerBehindAWebSocketThatClosesWithoutAnAnswer() async throws {
    let server = try ScriptedServer { socket in
      guard let key = socket.readUpgrade() else { return }
      socket.write(
        Array(
          ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: \(WebSocketKey.accept(for: key))\r\n"
            + "Sec-WebSocket-Protocol: mqtt\r\n\r\n").utf8))
      _ = socket.read(16)
    }
    let url = "ws://127.0.0.1:\(server.port)/mqtt"
    let (types, _) = try await record(MQTTWebSocketClient(url: url), url: url)
    #expect(types == ["OPEN", "CONNECT", "CLOSE reset", "OPEN", "CONNECT", "CLOSE reset"])
  }
}

import Glibc
import RepriseCore
import Testing

@testable import Gates

/// What a gate says when broker, client or its own user do not do as they should.
@Suite struct GateTroubleTests {
  /// The error that something fails with.
  private func error(
    _ body: () async throws -> Void
  ) async -> DataClientError? {
    do {
      try await body()
      return nil
    } catch { return error as? DataClientError }
  }

  @Test func saysThatTheBrokerIsNotThere() async throws {
    let (reserve, port) = try Socket.reserved()
    defer { withExtendedLifetime(reserve) {} }
    let gate = try BrokerGate(broker: "mqtt://127.0.0.1:\(port)")
    let client = try TestClient(gate.url)
    for _ in 0..<3 {
      try await client.perform(.connect(ConnectOptions()))
      let error = await error { try await gate.accept() }
      #expect(error?.code == .transport)
      #expect(error?.message == "127.0.0.1 port \(port) does not answer: Connection refused")
      guard case .closed(.lost) = try await client.event() else {
        Issue.record("not lost")
        return
      }
    }
  }

  @Test func saysThatTheBrokerRefusesItself() async throws {
    let broker = try await Broker(["allow_anonymous false"])
    let gate = try BrokerGate(broker: broker.url)
    let client = try TestClient(gate.url)
    try await client.perform(.connect(ConnectOptions()))
    let error = await error { try await gate.accept() }
    #expect(error?.message.contains("refuses the connection itself, with code 5") == true)
    #expect(try await client.event() == .closed(.refused(code: 5)))
  }

  @Test func givesTheUserOfTheURLToTheClient() throws {
    let gate = try BrokerGate(broker: "mqtt://ann:p%40ss@127.0.0.1:1")
    #expect(gate.url == "mqtt://ann:p%40ss@127.0.0.1:\(gate.port)")
  }

  @Test(arguments: [
    ("mqtts://localhost", DataClientError.Code.unsupported),
    ("mqtt://no-such-host.invalid", .transport), ("localhost", .unreadable),
  ])
  func refusesURLs(_ url: String, _ code: DataClientError.Code) {
    let error = #expect(throws: DataClientError.self) { try BrokerGate(broker: url) }
    #expect(error?.code == code)
  }

  @Test func saysThatNothingComes() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url, limit: .milliseconds(50))
    let orders: [@Sendable () async throws -> Void] = [
      { try await gate.accept() }, { try await gate.refuse(code: 3) }, { try await gate.grant() },
      { try await gate.acknowledge() }, { try await gate.lose() },
    ]
    for order in orders {
      let error = await error(order)
      #expect(error?.code == .timedOut)
      #expect(error?.message.hasSuffix("it has no connection") == true, "\(error as Any)")
    }
  }

  /// What something sends that is no broker.
  enum Nonsense: String, CaseIterable {
    case noPacket = "sent what is no packet of MQTT"
    case nothing = "closed the connection"
    case tooMuch = "16 MiB"

    var bytes: [UInt8] {
      switch self {
      case .noPacket: .init(repeating: 0xff, count: 5)
      case .nothing: []
      case .tooMuch: [0x30, 0x81, 0x80, 0x80, 0x08] + .init(repeating: 0, count: (16 << 20) + 1)
      }
    }
  }

  @Test(arguments: Nonsense.allCases) func givesUpOnWhatIsNoBroker(_ nonsense: Nonsense)
    async throws
  {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write(nonsense.bytes)
    }
    let gate = try BrokerGate(broker: "mqtt://127.0.0.1:\(server.port)")
    let client = try TestClient(gate.url)
    try await client.perform(.connect(ConnectOptions()))
    let error = await error { try await gate.accept() }
    #expect(error?.message.contains(nonsense.rawValue) == true, "\(error as Any)")
    guard case .closed(.lost) = try await client.event() else {
      Issue.record("not lost")
      return
    }
  }

  @Test func takesPacketsInAnyPieces() async throws {
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      for byte in [0x20, 2, 0, 0] as [UInt8] { socket.write([byte]) }
      guard let subscribe = socket.readPacket() else { return }
      let id = Array(subscribe.body.prefix(2))
      socket.write([0x90, 3] + id + [1] + [0x30, 4, 0, 1, 0x61, 0x62] + [0xd0])
      socket.write([0])
      _ = socket.readPacket()
    }
    let gate = try BrokerGate(broker: "mqtt://127.0.0.1:\(server.port)")
    let client = try TestClient(gate.url)
    try await client.perform(.connect(ConnectOptions()))
    try await gate.accept()
    #expect(try await client.event() == .connected(.init()))
    let id = try await client.perform(.subscribe([Subscription("a")]))
    #expect(try await client.event() == .message(Message(topic: "a", payload: [0x62])))
    try await gate.grant()
    #expect(try await client.event() == .subscribed(id, [.atLeastOnce]))
  }

  @Test func forgetsAClientThatGoesAway() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    for number in UInt64(0)..<5 {
      let client = try TestClient(gate.url)
      try await client.perform(.connect(ConnectOptions(clientID: "device")))
      #expect(try await gate.awaitOpening(after: number) == number + 1)
    }
    let client = try TestClient(gate.url)
    try await client.perform(.connect(ConnectOptions(clientID: "device")))
    #expect(try await gate.awaitOpening(after: 5) == 6)
    try await gate.accept()
    #expect(try await client.event() == .connected(.init()))
  }

  @Test func noticesThatTheBrokerDies() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    let client = try TestClient(gate.url)
    try await client.perform(.connect(ConnectOptions()))
    try await gate.accept()
    #expect(try await client.event() == .connected(.init()))
    await broker.stop(SIGKILL)
    // The system closes what the killed process had open, in good order.
    guard case .closed(.byServer(code: nil, _)) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    let error = await error { try await gate.grant() }
    #expect(error?.message.contains("port \(broker.port)") == true, "\(error as Any)")
  }

  @Test func waitsForTheConnectBeforeItCuts() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url, limit: .milliseconds(100))
    let silent = try #require(try Socket.connected(to: gate.port))
    let error = await error { try await gate.lose() }
    #expect(error?.message == "the client does not connect in time; it is connecting")
    #expect(silent.writeSome([0x10]) == 1)
  }

  @Test func closesWhatItRefuses() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    let client = try #require(try Socket.connected(to: gate.port))
    client.write(Self.connect)
    async let refusal: Void = gate.refuse(code: 3)
    #expect(try await client.readToEnd() == [0x20, 2, 0, 3])
    shutdown(client.number, Int32(SHUT_RDWR))
    try await refusal
  }

  /// A CONNECT of MQTT 3.1.1 with the client identifier `a`.
  private static let connect: [UInt8] = [0x10, 13, 0, 4, 77, 81, 84, 84, 4, 2, 0, 60, 0, 1, 97]

  @Test func endsWhatIsCancelled() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    for _ in 0..<5 {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          await #expect(throws: CancellationError.self) { try await gate.accept() }
        }
        // Some rounds are cancelled when the order waits, others before it is given.
        for _ in 0..<3 { try? await gate.hold() }
        group.cancelAll()
      }
    }
  }

  @Test func endsWhatWaitsForIt() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    async let waiting = error { try await gate.accept() }
    gate.close()
    #expect(await waiting?.code == .transport)
    #expect(await error { try await gate.lose() }?.message == "the gate is closed")
    gate.close()
  }

  @Test func givesEveryDescriptorBack() async throws {
    let broker = try await Broker()
    let gate = try BrokerGate(broker: broker.url)
    let client = try TestClient(gate.url)
    // What is performed is on the wire, so that each order means the connection of its own round.
    let gated = GatedClient(client.client, gate: gate)
    for round in UInt32(0)..<200 {
      let id = ClientAction.ID(rawValue: round)
      try await gated.perform(ClientAction(id, .connect(ConnectOptions(clientID: "device"))))
      switch round % 4 {
      case 0: try await gate.lose()
      case 1: try await gate.refuse(code: 3)
      case 2:
        try await gate.accept()
        #expect(try await client.event() == .connected(.init()))
        try await gate.lose()
      default: try await gated.perform(ClientAction(id, .disconnect))
      }
      guard case .closed = try await client.event() else {
        Issue.record("not closed in round \(round)")
        return
      }
    }
    let ports = [gate.port, broker.port]
    // Both ends of the last connection may still be closing; the listener stays.
    #expect(try await eventually { Socket.open(on: ports) == 1 })
    gate.close()
    #expect(Socket.open(on: ports) == 0)
  }
}

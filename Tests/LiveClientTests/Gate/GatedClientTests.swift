import RepriseCore
import Testing

@testable import Gates
@testable import LiveClient

/// That what was performed has come by the gate.
@Suite struct GatedClientTests {
  private struct Bench {
    let broker: Broker
    let gate: BrokerGate
    let client: GatedClient<MosquittoClient>

    init() async throws {
      broker = try await Broker()
      gate = try BrokerGate(broker: broker.url, limit: .seconds(30))
      client = GatedClient(try MosquittoClient(url: gate.url), gate: gate)
    }

    func perform(_ id: UInt32, _ kind: ClientAction.Kind) async throws {
      try await client.perform(ClientAction(ClientAction.ID(rawValue: id), kind))
    }

    func event() async throws -> ClientEvent {
      let deadline = client.now.advanced(by: .seconds(30))
      return try await client.next(before: deadline)
    }

    /// Connects.
    func connect() async throws {
      try await perform(1, .connect(ConnectOptions(clientID: "device")))
      try await gate.accept()
      #expect(try await event() == .connected(.init()))
    }
  }

  @Test func isNeverOvertaken() async throws {
    let bench = try await Bench()
    for _ in 0..<100 {
      try await bench.perform(1, .connect(ConnectOptions(clientID: "device")))
      try await bench.perform(2, .disconnect)
      #expect(try await bench.event() == .closed(.byUser))
      try await bench.connect()
      try await bench.perform(3, .subscribe([Subscription("a"), Subscription("b")]))
      try await bench.gate.lose()
      guard case .closed(.lost) = try await bench.event() else {
        Issue.record("not lost")
        return
      }
    }
  }

  @Test func bringsEverythingToTheBrokerBeforeALoss() async throws {
    let bench = try await Bench()
    let watcher = try await TestClient.connected(bench.broker)
    try await watcher.subscribe("#")
    for round in UInt8(0)..<50 {
      try await bench.connect()
      let message = Message(topic: "last", payload: [round], qos: .atLeastOnce)
      try await bench.perform(2, .publish(message))
      try await bench.gate.lose()
      guard case .closed(.lost) = try await bench.event() else {
        Issue.record("not lost")
        return
      }
      #expect(try await watcher.message().payload == [round])
    }
  }

  @Test func disconnectsThoughNothingWasAcknowledged() async throws {
    let bench = try await Bench()
    try await bench.connect()
    try await bench.perform(2, .subscribe([Subscription("a")]))
    for (id, qos) in [(3, QoS.atLeastOnce), (4, .exactlyOnce)] as [(UInt32, QoS)] {
      try await bench.perform(id, .publish(Message(topic: "b", payload: [], qos: qos)))
    }
    let start = bench.client.now
    try await bench.perform(5, .disconnect)
    #expect(try await bench.event() == .published(ClientAction.ID(rawValue: 3)))
    #expect(try await bench.event() == .published(ClientAction.ID(rawValue: 4)))
    #expect(try await bench.event() == .closed(.byUser))
    // A client that waits for its acknowledgements in vain gives up after five seconds.
    #expect(bench.client.now.nanoseconds(since: start) < 5_000_000_000)
  }

  @Test func saysWhatItCannotSend() async throws {
    let bench = try await Bench()
    await #expect(throws: DataClientError.self) { try await bench.perform(1, .disconnect) }
    await #expect(throws: DataClientError.self) {
      try await bench.perform(1, .publish(Message(topic: "a", payload: [])))
    }
    let gate = try BrokerGate(broker: bench.broker.url, limit: .milliseconds(200))
    let client = GatedClient(try MosquittoClient(url: gate.url), gate: gate)
    func publish() async throws {
      let message = Message(topic: "a", payload: [], qos: .atLeastOnce)
      try await client.perform(ClientAction(ClientAction.ID(rawValue: 2), .publish(message)))
    }
    let id = ClientAction.ID(rawValue: 1)
    try await client.perform(ClientAction(id, .connect(ConnectOptions(clientID: "other"))))
    try await gate.accept()
    #expect(try await client.next(before: nil) == .connected(.init()))
    for _ in 0..<20 { try await publish() }
    try client.settle()
    // libmosquitto sends no more than 20 that nobody has acknowledged.
    try await publish()
    let error = #expect(throws: DataClientError.self) { try client.settle() }
    #expect(error?.code == .timedOut)
    try client.settle()
  }
}

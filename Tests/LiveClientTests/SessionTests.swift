import DataClient
import Glibc
import LiveClient
import Testing

/// What outlives a connection: sessions and wills.
@Suite struct SessionTests {
  typealias Version = MosquittoClient.Version

  @Test(arguments: Version.allCases) func takesUpSessions(_ version: Version) async throws {
    let broker = try Broker.persistent()
    let options = ConnectOptions(clientID: "keeper", cleanStart: false)
    let keeper = try TestClient(broker.url, version: version)
    #expect(try await keeper.connect(options) == false)
    try await keeper.subscribe("news/#", qos: .exactlyOnce)
    try await keeper.disconnect()
    let publisher = try await TestClient.connected(broker, version: version)
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

  @Test(arguments: Version.allCases) func forgetsWhatTheServerForgot(_ version: Version)
    async throws
  {
    let broker = try Broker()
    let options = ConnectOptions(clientID: "keeper", cleanStart: false)
    let keeper = try TestClient(broker.url, version: version)
    try await keeper.connect(options)
    try await keeper.subscribe("a", qos: .exactlyOnce)
    broker.pause(true)
    for _ in 0..<10 {
      try await keeper.perform(.publish(Message(topic: "a", payload: [1], qos: .exactlyOnce)))
    }
    broker.stop(SIGKILL)
    try await closed(keeper)
    try broker.start()
    #expect(try await keeper.connect(options) == false)
    try await keeper.subscribe("a", qos: .exactlyOnce)
    try await keeper.publish("a", [2], qos: .exactlyOnce)
    let payload = try await keeper.message().payload
    // What had not left yet when the connection broke may still come; what had must not.
    #expect(payload == [2] || payload == [1])
    try await keeper.disconnect()
    #expect(try await keeper.connect(options) == true)
  }

  @Test(arguments: Version.allCases) func losesNothingThatIsAcknowledged(_ version: Version)
    async throws
  {
    let broker = try Broker.persistent()
    let receiver = try TestClient(broker.url, version: version)
    let sender = try TestClient(broker.url, version: version)
    let receiving = ConnectOptions(clientID: "receiver", cleanStart: false)
    let sending = ConnectOptions(clientID: "sender", cleanStart: false)
    try await receiver.connect(receiving)
    try await receiver.subscribe("n", qos: .exactlyOnce)
    try await sender.connect(sending)
    var acknowledged: Set<ClientAction.ID> = []
    var sent: [ClientAction.ID: [UInt8]] = [:]
    var received: [[UInt8]] = []
    for round in 0..<20 {
      for number in 0..<40 {
        let payload = [UInt8(round), UInt8(number)]
        let message = Message(topic: "n", payload: payload, qos: .exactlyOnce)
        sent[try await sender.perform(.publish(message))] = payload
      }
      // The broker goes down in the middle of it, at another place each time.
      for _ in 0..<(round * 2) {
        if case .published(let id) = try await sender.event() { acknowledged.insert(id) }
      }
      broker.stop(SIGTERM)
      acknowledged.formUnion(try await drain(sender).published)
      received += try await drain(receiver).payloads
      try broker.start()
      #expect(try await sender.connect(sending) == true)
      #expect(try await receiver.connect(receiving) == true)
    }
    while acknowledged.count < sent.count {
      if case .published(let id) = try await sender.event() { acknowledged.insert(id) }
    }
    while received.count < sent.count { received.append(try await receiver.message().payload) }
    try await sender.publish("n", [], qos: .exactlyOnce)
    #expect(try await receiver.message().payload == [])
    #expect(Set(received) == Set(sent.values))
    #expect(received.count == Set(received).count)
  }

  @Test(arguments: Version.allCases) func leavesAWill(_ version: Version) async throws {
    let broker = try Broker()
    let witness = try await TestClient.connected(broker, version: version)
    try await witness.subscribe("will/#")
    let will = Message(topic: "will/a", payload: [0, 0xff], qos: .exactlyOnce)
    let options = ConnectOptions(will: will)
    do {
      let client = try await TestClient.connected(broker, version: version, options)
      try await client.disconnect()
      try await client.connect()
    }
    do { _ = try await TestClient.connected(broker, version: version, options) }
    #expect(try await witness.message() == will)
    let other = Message(topic: "will/b", payload: [], qos: .atMostOnce, isRetained: true)
    do {
      let options = ConnectOptions(will: other)
      _ = try await TestClient.connected(broker, version: version, options)
    }
    #expect(try await witness.message() == Message(topic: "will/b", payload: []))
  }

  /// Waits for the end of the connection.
  private func closed(_ client: TestClient) async throws { _ = try await drain(client) }

  /// Takes all events of a connection, to its end.
  private func drain(_ client: TestClient) async throws -> (
    published: Set<ClientAction.ID>, payloads: [[UInt8]]
  ) {
    var published: Set<ClientAction.ID> = []
    var payloads: [[UInt8]] = []
    while true {
      switch try await client.event() {
      case .published(let id): published.insert(id)
      case .message(let message): payloads.append(message.payload)
      case .closed: return (published, payloads)
      default: continue
      }
    }
  }
}

import Glibc
import LiveClient
import RepriseCore
import Testing

/// What outlives a connection: sessions and wills.
@Suite struct SessionTests {
  typealias Version = MosquittoClient.Version

  @Test(arguments: Version.allCases) func forgetsWhatTheServerForgot(_ version: Version)
    async throws
  {
    let broker = try await Broker()
    let options = ConnectOptions(clientID: "keeper", cleanStart: false)
    let keeper = try TestClient(broker.url, version: version)
    try await keeper.connect(options)
    try await keeper.subscribe("a", qos: .exactlyOnce)
    broker.pause(true)
    for _ in 0..<10 {
      try await keeper.perform(.publish(Message(topic: "a", payload: [1], qos: .exactlyOnce)))
    }
    await broker.stop(SIGKILL)
    try await closed(keeper)
    try await broker.start()
    #expect(try await keeper.connect(options) == false)
    try await keeper.subscribe("a", qos: .exactlyOnce)
    try await keeper.publish("a", [2], qos: .exactlyOnce)
    let payload = try await keeper.message().payload
    // What had not left yet when the connection broke may still come; what had must not.
    #expect(payload == [2] || payload == [1])
    try await keeper.disconnect()
    #expect(try await keeper.connect(options) == true)
  }

  /// The library keeps a copy of a message that is sent again, and hands it out instead of another.
  @Test func handsOutNoCopies() async throws {
    let connections = Counter()
    let server = try ScriptedServer { socket in
      func publish(_ flags: UInt8, _ payload: UInt8) {
        socket.write([0x34 | flags, 6, 0, 1, 0x61, 0, 1, payload])
      }
      func release() {
        socket.write([0x62, 2, 0, 1])
        #expect(socket.readPacket()?.first == 0x70)
      }
      _ = socket.readPacket()
      connections.add()
      socket.write([0x20, 2, connections.count == 1 ? 0 : 1, 0])
      switch connections.count {
      case 1: publish(0, 1)
      case 2:
        publish(8, 1)
        #expect(socket.readPacket()?.first == 0x50)
        release()
        release()
        publish(0, 2)
      case 3:
        publish(8, 2)
        #expect(socket.readPacket()?.first == 0x50)
        release()
        // The packet identifier is free again, but the library still has a copy under it.
        publish(0, 3)
        #expect(socket.readPacket() == nil)
        return
      default:
        publish(8, 3)
        #expect(socket.readPacket()?.first == 0x50)
        release()
        return
      }
      #expect(socket.readPacket()?.first == 0x50)
    }
    let client = try TestClient("mqtt://127.0.0.1:\(server.port)")
    var payloads: [[UInt8]] = []
    while payloads.last != [3] {
      #expect(connections.count < 10)
      try await client.connect(ConnectOptions(clientID: "a", cleanStart: false))
      payloads += try await drain(client).payloads
    }
    #expect(payloads == [[1], [2], [3]])
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
      case .closed(let why):
        #expect("\(why)".hasSuffix("; connect again"), "\(why)")
        return (published, payloads)
      default: continue
      }
    }
  }
}

import Glibc
import Testing

@testable import Gates
@testable import LiveClient

/// One connection of a gate, with both of its sides played by the test.
@Suite struct GateConnectionTests {
  private struct Bench {
    let client: Socket
    let broker: Socket
    let connection: GateConnection

    init(isPassing: Bool = true, before others: [UInt16] = []) throws {
      let (door, doorPort) = try TCPSocket.listening()
      let (server, serverPort) = try Socket.listening()
      client = try #require(try Socket.connected(to: doorPort))
      let accepted = try #require(try door.accept())
      let addresses = try (others + [serverPort]).flatMap {
        try TCPAddress.resolve("127.0.0.1", port: $0)
      }
      connection = GateConnection(
        1, client: accepted, addresses: addresses, place: "the broker", isPassing: isPassing)
      for _ in addresses { Self.turn(connection) }
      broker = try server.accept()
    }

    /// Lets the connection do what can be done at once.
    func turn() { Self.turn(connection) }

    private static func turn(_ connection: GateConnection) {
      let (client, broker) = connection.interests()
      var files = [client, broker]
      guard poll(&files, 2, 0) > 0 else { return }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      connection.service(client: files[0].revents, broker: files[1].revents, buffer: &buffer)
      connection.settle(LiveClock().now)
    }

    /// Lets the connection go on without the sockets.
    func settle() { connection.settle(LiveClock().now) }

    /// Whether the connection reads what a side sends.
    func reads(client: Bool) -> Bool {
      let interests = connection.interests()
      let events = client ? interests.client.events : interests.broker.events
      return Int32(events) & POLLIN != 0
    }
  }

  /// A PUBLISH of 32 KiB, as it is on the wire.
  private static let publish =
    [0x30, 0x80, 0x80, 0x02, 0, 1, 0x61] + [UInt8](repeating: 7, count: 32_765)

  /// Sends packets until the connection reads no more of them, as nobody reads at the other side:
  /// the buffers of the system fill up, then those of the gate.
  private func fill(_ bench: Bench, fromClient: Bool) throws -> Int {
    let sender = fromClient ? bench.client : bench.broker
    var sent = 0
    while bench.reads(client: fromClient) {
      sent += sender.writeSome(Self.publish[...])
      try #require(sent % Self.publish.count == 0)
      try #require(sent < 128 << 20, "The gate keeps everything.")
      bench.turn()
    }
    return sent
  }

  @Test(arguments: [true, false]) func keepsLittleForASlowSide(_ isClientSlow: Bool) throws {
    let bench = try Bench()
    let sent = try fill(bench, fromClient: !isClientSlow)
    let slow = isClientSlow ? bench.client : bench.broker
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var received = 0
    while received < sent {
      received += try #require(slow.readSome(&buffer))
      bench.turn()
    }
    #expect(received == sent && bench.reads(client: !isClientSlow))
  }

  @Test(arguments: [true, false]) func bringsWhatIsUnderWayToItsEnd(_ isClientSlow: Bool) throws {
    let bench = try Bench()
    let sent = try fill(bench, fromClient: !isClientSlow)
    bench.connection.finish()
    // The outbox is full, and so are the buffers of the system: the end has to wait.
    bench.settle()
    let slow = isClientSlow ? bench.client : bench.broker
    var buffer = [UInt8](repeating: 0, count: 1 << 20)
    var received = 0
    while let count = slow.readSome(&buffer) {
      received += count
      bench.turn()
    }
    #expect(received == sent)
  }

  @Test func triesEveryAddress() throws {
    let others = try [Socket.reserved(), Socket.reserved()]
    defer { withExtendedLifetime(others) {} }
    let bench = try Bench(before: others.map(\.port))
    bench.client.write([1, 2, 3])
    bench.turn()
    bench.turn()
    #expect(bench.broker.read(3) == [1, 2, 3])
    #expect(bench.connection.trouble == nil)
  }

  @Test func keepsARefusalThoughTheBrokerIsGone() throws {
    let refusal: [UInt8] = [0x20, 2, 0, 5]
    let bench = try Bench(isPassing: false)
    bench.broker.write(refusal)
    shutdown(bench.broker.number, Int32(SHUT_WR))
    for _ in 0..<3 { bench.turn() }
    #expect(bench.connection.isOpen && bench.connection.connackCode == 5)
    #expect(bench.connection.release { $0.accept() })
    for _ in 0..<2 { bench.settle() }
    #expect(bench.client.read(5) == refusal)
    #expect(!bench.connection.isOpen)
  }
}

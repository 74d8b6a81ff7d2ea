import Glibc
import RepriseCore
import TestSupport
import Testing

/// What passes a proxy between two sockets: bytes, ends, resets, waiting.
@Suite struct ProxyStreamTests {
  private let listener: Socket
  private let bench: ProxyBench

  init() async throws {
    let (listener, port) = try Socket.listening()
    self.listener = listener
    bench = try await ProxyBench(to: "127.0.0.1:\(port)")
  }

  /// A client, and its connection at the server.
  private func pair() async throws -> (client: Socket, server: Socket) {
    let client = try bench.connected()
    return (client, try await onThread { [listener] in try listener.accept() })
  }

  /// The capture of a proxy that was stopped.
  private func recorded() async throws -> Passed {
    #expect(try await bench.command.stop(SIGINT) == 130)
    return try bench.passed()
  }

  @Test func passesBytesBothWaysAtOnce() async throws {
    var random = SplitMix64(seed: 7)
    let said = [random.bytes(10_000_000), random.bytes(10_000_003)]
    let (client, server) = try await pair()
    async let sent: Void = client.writeAll(said[0])
    async let answered: Void = server.writeAll(said[1])
    async let heard = onThread { server.read(said[0].count) }
    let got = try await onThread { client.read(said[1].count) }
    #expect(try await heard == said[0])
    #expect(got == said[1])
    _ = try await (sent, answered)
    client.finish()
    #expect(try await server.readToBreak() == ([], 0))
    server.finish()
    #expect(try await client.readToBreak() == ([], 0))
    let connections = try await recorded().connections
    #expect(connections.count == 1)
    #expect(connections.first?.bytes[.client] == said[0])
    #expect(connections.first?.bytes[.server] == said[1])
    #expect(
      connections.first?.marks == ["client syn", "server syn", "client fin", "server fin"])
  }

  /// The half that is ended takes nothing from the other one.
  @Test func passesEndsOfHalvesOn() async throws {
    let (client, server) = try await pair()
    client.write(Array("question".utf8))
    client.finish()
    #expect(try await server.readToBreak() == (Array("question".utf8), 0))
    server.write(Array("answer".utf8))
    server.finish()
    #expect(try await client.readToBreak() == (Array("answer".utf8), 0))
    let connections = try await recorded().connections
    #expect(
      connections.map(\.bytes) == [
        [.client: Array("question".utf8), .server: Array("answer".utf8)]
      ])
    #expect(
      connections.first?.marks == ["client syn", "server syn", "client fin", "server fin"])
  }

  @Test(arguments: Peer.allCases) func passesResetsOn(breaker: Peer) async throws {
    func scene() async throws -> Socket {
      let (client, server) = try await pair()
      let (mine, other) = breaker == .client ? (client, server) : (server, client)
      mine.write([1, 2])
      // What was said before arrives before.
      #expect(try await onThread { other.read(2) } == [1, 2])
      mine.resetWhenClosed()
      return other
    }
    #expect(try await scene().readToBreak() == ([], ECONNRESET))
    let connections = try await recorded().connections
    #expect(
      connections.map(\.marks) == [["client syn", "server syn", "\(breaker.rawValue) reset"]])
    #expect(connections.first?.bytes[breaker] == [1, 2])
  }

  /// What a server says before it breaks off, as the client still writes, is not lost.
  @Test func passesTheLastWordsOn() async throws {
    func scene() async throws -> Socket {
      let (client, server) = try await pair()
      try await client.writeAll([UInt8](repeating: 7, count: 100_000))
      #expect(try await onThread { server.read(10).count } == 10)
      server.write(Array("go away".utf8))
      return client
    }
    // The server has not read all, so its end is a reset.
    let client = try await scene()
    #expect(try await client.readToBreak() == (Array("go away".utf8), ECONNRESET))
    let connections = try await recorded().connections
    #expect(connections.first?.bytes[.server] == Array("go away".utf8))
    #expect(connections.first?.marks == ["client syn", "server syn", "server reset"])
  }

  /// What had arrived before a server broke off passes, though the client was slow and what it says comes too late.
  @Test func passesAllThatHadArrived() async throws {
    func scene() async throws -> (client: Socket, arrived: Int) {
      let (client, server) = try await pair()
      client.write([1])
      var wait = pollfd(fd: server.number, events: Int16(POLLIN), revents: 0)
      #expect(poll(&wait, 1, Int32(waitingLimit) * 1_000) == 1)
      let taken = try await fill(server)
      var left: Int32 = 0
      #expect(ioctl(server.number, UInt(TIOCOUTQ), &left) == 0)
      return (client, taken - Int(left))
    }
    // The server has not read all, so its end is a reset.
    let (client, arrived) = try await scene()
    client.write([2])
    let (bytes, code) = try await client.readToBreak()
    #expect(code == ECONNRESET)
    #expect(bytes.count >= arrived)
    #expect(isBeginning(bytes))
    let connection = try #require(try await recorded().connections.first)
    // Megabytes are nothing to print.
    let isRecorded = connection.bytes == [.client: [1, 2], .server: bytes]
    #expect(isRecorded)
    #expect(connection.marks == ["client syn", "server syn", "server reset"])
  }

  /// A client that has not read yet is not reset before it has all that a server said before it broke off: the system
  /// discards what waits on its way there.
  @Test func waitsForTheClientToReadBeforeAReset() async throws {
    let last = [UInt8](Self.piece.prefix(400_000))
    func scene() async throws -> Socket {
      let (client, server) = try await pair()
      try await server.writeAll(last)
      // All of it has arrived, so that nothing of it is lost on the way from the server.
      let hasArrived = try await eventually {
        var left: Int32 = -1
        return ioctl(server.number, UInt(TIOCOUTQ), &left) == 0 && left == 0
      }
      #expect(hasArrived)
      server.resetWhenClosed()
      return client
    }
    let client = try await scene()
    // Time for the reset to pass, if it were to.
    var wait = pollfd(fd: client.number, events: 0, revents: 0)
    #expect(poll(&wait, 1, 300) == 0)
    let (bytes, code) = try await client.readToBreak()
    #expect(code == ECONNRESET)
    #expect(bytes.count == last.count)
    #expect(isBeginning(bytes))
    let connection = try #require(try await recorded().connections.first)
    #expect(connection.marks == ["client syn", "server syn", "server reset"])
  }

  private static let piece = {
    var random = SplitMix64(seed: 3)
    return random.bytes(1 << 20)
  }()

  /// Sends the same piece again and again until nobody has taken anything for a second; returns how much was taken.
  private func fill(_ sender: Socket) async throws -> Int {
    try await onThread {
      var limit = timeval(tv_sec: 1, tv_usec: 0)
      setsockopt(
        sender.number, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
      var taken = 0
      while taken < 128 << 20 {
        let count = Self.piece[(taken % Self.piece.count)...].withUnsafeBytes {
          send(sender.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        guard count > 0 else { break }
        taken += count
      }
      return taken
    }
  }

  /// Whether bytes are what ``fill(_:)`` sends.
  private func isBeginning(_ bytes: [UInt8]) -> Bool {
    stride(from: 0, to: bytes.count, by: Self.piece.count).allSatisfy { start in
      let count = min(Self.piece.count, bytes.count - start)
      return bytes[start...].withUnsafeBytes { bytes in
        Self.piece.withUnsafeBytes { piece in
          guard let left = bytes.baseAddress, let right = piece.baseAddress else { return false }
          return memcmp(left, right, count) == 0
        }
      }
    }
  }

  /// What is not taken stays with its sender; and once it is taken, nothing is missing.
  @Test(arguments: Peer.allCases) func holdsBackWhatIsNotTaken(sender: Peer) async throws {
    let (client, server) = try await pair()
    let (from, to) = sender == .client ? (client, server) : (server, client)
    let taken = try await fill(from)
    // Two connections' buffers of the system, and the proxy's own.
    #expect(taken > 0 && taken < 40 << 20)
    from.finish()
    let bytes = try await to.readToBreak().bytes
    #expect(bytes.count == taken)
    #expect(isBeginning(bytes))
    #expect(try await recorded().connections.first?.bytes[sender] == bytes)
  }

  @Test func passesHundredsAtOnce() async throws {
    let count = 300
    let listener = listener
    try startThread {
      // All are there before the first one is answered.
      let sockets = (0..<count).compactMap { _ in try? listener.accept() }
      for socket in sockets.reversed() {
        socket.write(socket.read(4) + [0])
        socket.finish()
      }
    }
    let clients = try (0..<count).map { _ in try bench.connected() }
    func word(_ number: Int) -> [UInt8] { Array("\(1_000 + number)".utf8) }
    for (number, client) in clients.enumerated() { client.write(word(number)) }
    for (number, client) in clients.enumerated() {
      #expect(try await client.readToBreak() == (word(number) + [0], 0))
      client.finish()
    }
    let connections = try await recorded().connections
    #expect(connections.count == count)
    let words = connections.compactMap { $0.bytes[.client] }
    #expect(Set(words) == Set((0..<count).map(word)))
    for connection in connections {
      #expect(connection.bytes[.server] == (connection.bytes[.client] ?? []) + [0])
    }
  }
}

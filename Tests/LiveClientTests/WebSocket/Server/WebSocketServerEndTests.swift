import LiveClient
import Testing
import Wire

/// That connections of a server end, and the server with them, whatever clients do.
@Suite(.timeLimit(.minutes(5))) struct WebSocketServerEndTests {
  /// Never asks whether a client lives, and does not wait long for one that is to be left.
  private static var options: WebSocketServerOptions {
    WebSocketServerOptions(
      limits: WebSocketServerLimits(
        pingInterval: .seconds(3_600), pongTime: .milliseconds(100), closeTime: .milliseconds(100)))
  }

  /// More than the buffers of a connection take.
  private static let flood = [UInt8](repeating: 7, count: 64 << 20)

  @Test func stopsAlthoughAClientDoesNotRead() async throws {
    // The socket stays open until the server has ended.
    let (socket, connection) = try await withWebSocketServer(Self.options) { server in
      let client = try await RawClient(server.port)
      let connection = try #require(await server.connections.next())
      try await connection.send(Self.flood)
      return (client.socket, connection)
    }
    defer { withExtendedLifetime(socket) {} }
    #expect(await connection.end() == .lost("the client does not read"))
  }

  @Test func closesAConnectionWhoseClientPingsAndDoesNotRead() async throws {
    try await withWebSocketServer(Self.options) { server in
      let client = try await RawClient(server.port)
      let connection = try #require(await server.connections.next())
      try await connection.send(Self.flood)
      try connection.close()
      client.send(FrameRow.frame(.ping))
      #expect(await connection.end() == .lost("the client does not read"))
    }
  }

  @Test func keepsNoMoreConnectionsForWhoeverAcceptsThanThereMayBe() async throws {
    let options = WebSocketServerOptions(limits: WebSocketServerLimits(connections: 2))
    try await withWebSocketServer(options) { server in
      for _ in 0..<2 { try await Self.comeAndGo(server) }
      // The two were not taken, although their clients are gone.
      #expect(try await RawClient(server.port).response?.status == 503)
      _ = await server.connections.next()
      // The links of those before may be there for a moment.
      while try await RawClient(server.port).response?.status != 101 {}
    }
  }

  private static func comeAndGo(_ server: WebSocketServer) async throws {
    let client = try await RawClient(server.port)
    #expect(client.response?.status == 101)
    client.send(FrameRow.frame(.close, [0x03, 0xE8]))
    #expect(try await client.frames()?.last?.closeCode == 1000)
  }
}

extension WebSocketServerConnection {
  /// How the connection ends.
  fileprivate func end() async -> WebSocketClosure? {
    for await event in events {
      if case .closed(let closure) = event { return closure }
    }
    return nil
  }
}

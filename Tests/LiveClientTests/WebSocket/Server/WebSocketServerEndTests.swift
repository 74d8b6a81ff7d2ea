import DataClient
import LiveClient
import Testing
import Wire

/// That connections of a server end, and the server with them, whatever clients do.
@Suite(.timeLimit(.minutes(2))) struct WebSocketServerEndTests {
  /// Never asks whether a client lives, and does not wait long for a Close frame.
  private static var options: WebSocketServerOptions {
    WebSocketServerOptions(
      limits: WebSocketServerLimits(pingInterval: .seconds(3_600), closeTime: .milliseconds(100)))
  }

  /// More than the buffers of a connection take.
  private static let flood = [UInt8](repeating: 7, count: 64 << 20)

  @Test func stopsAlthoughAClientDoesNotRead() async throws {
    // The socket stays open until the server has ended.
    let (socket, connection) = try await withWebSocketServer(Self.options) { server in
      let client = try RawClient(server.port)
      let connection = try #require(await server.connections.next())
      try await connection.send(Self.flood)
      return (client.socket, connection)
    }
    defer { withExtendedLifetime(socket) {} }
    #expect(await connection.end() == .lost("The client does not read."))
  }

  @Test func closesAConnectionWhoseClientPingsAndDoesNotRead() async throws {
    try await withWebSocketServer(Self.options) { server in
      let client = try RawClient(server.port)
      let connection = try #require(await server.connections.next())
      try await connection.send(Self.flood)
      try connection.close()
      client.send(FrameRow.frame(.ping))
      #expect(await connection.end() == .lost("The client does not read."))
    }
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

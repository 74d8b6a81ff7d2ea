import RepriseCore
import Testing
import Wire

@testable import LiveClient

/// The server's side of a connection keeps what a world promises.
@Suite struct ServerSideClientTests {
  /// What the worlds of all connections on one server are made of.
  private struct World {
    let client: ServerSideClient
    let peer: RawClient
    let user: TestUser<ServerSideClient>
  }

  private func withWorld(
    _ options: WebSocketServerOptions = WebSocketServerOptions(),
    _ body: (World) async throws -> Void
  ) async throws {
    try await withWebSocketServer(options) { server in
      let peer = try await RawClient(server.port)
      let client = ServerSideClient(try #require(await server.connections.next()))
      try await body(World(client: client, peer: peer, user: TestUser(client)))
    }
  }

  private static func text(_ text: String) -> WebSocketFrame {
    FrameRow.frame(.text, Array(text.utf8))
  }

  @Test func tellsWhatTheClientSendsAndThenTheEnd() async throws {
    try await withWorld { world async throws in
      world.peer.send(
        Self.text("a"), FrameRow.frame(.pong), FrameRow.frame(.binary, [1]),
        FrameRow.frame(.close, [0x0F, 0xA1] + Array("bye".utf8)))
      #expect(try await world.user.event() == .text("a"))
      #expect(try await world.user.event() == .binary([1]))
      #expect(world.client.closure == nil)
      #expect(
        try await world.user.event()
          == .closed(.lost("the client closed the connection with the code 4001: bye")))
      #expect(world.client.closure == .byClient(code: 4001, reason: "bye"))
      for _ in 0..<2 { #expect(try await world.user.event() == .ended) }
      #expect(await world.user.refusal(.sendText("late")) == .notConnected)
      #expect(await world.user.refusal(.disconnect) == .notConnected)
    }
  }

  @Test func sendsAndCloses() async throws {
    try await withWorld { world async throws in
      #expect(world.client.capabilities == [.frames, .push, .binary])
      #expect(await world.user.refusal(.connect(ConnectOptions())) == .unsupported)
      #expect(await world.user.refusal(.subscribe([])) == .unsupported)
      try await world.user.perform(.sendText("a"))
      try await world.user.perform(.sendBinary([1, 2]))
      try await world.user.perform(.disconnect)
      #expect(await world.user.refusal(.disconnect) == .notConnected)
      let frames = [
        WebSocketFrame(.text, [0x61]), WebSocketFrame(.binary, [1, 2]),
        WebSocketFrame(.close, [0x03, 0xE8]),
      ].flatMap { $0.encoded() }
      let (bytes, _) = try await world.peer.socket.read { $0.count >= frames.count }
      #expect(bytes == frames)
      world.peer.send(FrameRow.frame(.close, [0x03, 0xE8]))
      #expect(try await world.user.event() == .closed(.byUser))
      #expect(world.client.closure == .byServer(code: 1000, reason: ""))
    }
  }

  @Test func dropsTheConnectionBehindWhatWasSent() async throws {
    try await withWebSocketServer { server in
      let peer = try await RawClient(server.port)
      let connection = try #require(await server.connections.next())
      let user = TestUser(ServerSideClient(connection))
      let bytes = [UInt8](repeating: 7, count: 1_000_000)
      try await user.perform(.sendBinary(bytes))
      try connection.drop()
      #expect(throws: DataClientError.self) { try connection.drop() }
      #expect(await user.refusal(.sendText("late")) == .notConnected)
      let frames = try #require(try await peer.frames())
      #expect(frames.map(\.payload) == [bytes])
      #expect(try await user.event() == .closed(.byUser))
      #expect(user.client.closure == .dropped)
    }
  }

  /// A connection without a server, whose events come when a test says.
  private func connection(
    _ clock: LiveClock, _ inbox: ThreadMailbox<WebSocketServerEvent.Told>
  ) -> WebSocketServerConnection {
    let agreement = WebSocketAgreement(RawClient.request("/"), WebSocketServerOptions())
    return WebSocketServerConnection(
      agreement, from: "127.0.0.1", clock: clock, inbox: inbox, outbox: ServerOutbox(limit: 1) {})
  }

  @Test func timePassesToTheDeadlineAndNeverBack() async throws {
    let (clock, inbox) = (LiveClock(), ThreadMailbox<WebSocketServerEvent.Told>(limit: 10))
    let client = ServerSideClient(connection(clock, inbox))
    let start = client.now
    let soon = start.advanced(by: .milliseconds(1))
    #expect(try await client.next(before: soon) == .deadline && client.now >= soon)
    // One that has passed is told at once.
    #expect(try await client.next(before: start) == .deadline && client.now >= soon)
    // In an hour's time, an event comes half an hour behind the deadline.
    let deadline = start.advanced(by: .seconds(1_800))
    let moment = start.advanced(by: .seconds(3_600))
    inbox.append(.init(event: .text("a"), moment: moment))
    #expect(try await client.next(before: deadline) == .deadline && client.now == deadline)
    #expect(try await client.next(before: nil) == .text("a") && client.now == moment)
    inbox.append(.init(event: .text("b"), moment: start))
    #expect(try await client.next(before: moment) == .text("b") && client.now == moment)
  }

  @Test func timeStandsStillWhileAnEventWaits() async throws {
    let (clock, inbox) = (LiveClock(), ThreadMailbox<WebSocketServerEvent.Told>(limit: 10))
    let client = ServerSideClient(connection(clock, inbox))
    inbox.append(.init(event: .text("a"), moment: clock.now))
    let now = client.now
    try await passTime(of: clock)
    #expect(client.now == now)
    #expect(try await client.next(before: nil) == .text("a"))
    try await passTime(of: clock)
    #expect(client.now > now)
    // A second reader of the connection's events takes its end too.
    inbox.finish()
    #expect(try await client.next(before: nil) == .ended)
  }

  /// Waits until a clock has moved on, by a client that waits for nothing else.
  private func passTime(of clock: LiveClock) async throws {
    let client = ServerSideClient(connection(clock, ThreadMailbox(limit: 1)))
    let soon = clock.now.advanced(by: .milliseconds(1))
    #expect(try await client.next(before: soon) == .deadline && clock.now >= soon)
  }

  @Test func wakesWhoWaitsOrWhoComesNext() async throws {
    try await withWorld { world async throws in
      let client = world.client
      client.wake()
      client.wake()
      #expect(try await client.next(before: nil) == .woken)
      async let event = client.next(before: nil)
      client.wake()
      #expect(try await event == .woken)
      client.wake()
      world.peer.send(Self.text("a"))
      #expect(try await client.next(before: nil) == .woken)
      #expect(try await client.next(before: nil) == .text("a"))
    }
  }

  @Test func aCancelledReaderLosesNothing() async throws {
    try await withWorld { world async throws in
      for number in 0..<50 {
        let reader = Task { [client = world.client] in try await client.next(before: nil) }
        world.peer.send(Self.text("\(number)"))
        reader.cancel()
        do {
          #expect(try await reader.value == .text("\(number)"))
        } catch is CancellationError {
          #expect(try await world.user.event() == .text("\(number)"))
        }
      }
    }
  }

  @Test func hasOneReader() async throws {
    try await withWorld { world async throws in
      await withTaskGroup(of: Result<ClientEvent, any Error>.self) { group in
        for _ in 0..<10 {
          group.addTask { [client = world.client] in
            do { return .success(try await client.next(before: nil)) } catch {
              return .failure(error)
            }
          }
        }
        for _ in 0..<9 {
          let refusal = await #expect(throws: DataClientError.self) {
            try await group.next()?.get()
          }
          #expect(refusal?.code == .invalidAction)
        }
        world.peer.send(Self.text("a"))
        let event = try? await group.next()?.get()
        #expect(event == .text("a"))
      }
    }
  }
}

import LiveClient
import Testing
import Wire

/// The server with clients that break the rules, on sockets.
@Suite struct WebSocketServerFaultTests {
  private static var options: WebSocketServerOptions {
    WebSocketServerOptions(limits: WebSocketServerLimits(message: FrameRow.limit))
  }

  private func check(_ rows: [FrameRow], extensions: String?) async throws {
    try await withTestServer(Self.options) { server, log in
      for (number, row) in rows.enumerated() {
        let target = "/echo?\(number)"
        let client = try await RawClient(server.port, target: target, extensions: extensions)
        #expect(client.response?.status == 101)
        client.socket.write(row.bytes)
        // What is good is answered, unless the client closes before.
        if row.code == nil { try await client.readMessage() }
        client.send(FrameRow.frame(.close, [0x03, 0xE8]))
        let frames = try #require(try await client.frames(), "\(row.testDescription)")
        // Behind the Close frame comes nothing, and a message that is not good is not answered.
        #expect(frames.last?.closeCode == row.code ?? 1000, "\(row.testDescription)")
        #expect(!frames.contains { !$0.header.opcode.isControl })
        let closure = try await log.closure(of: target)
        switch closure {
        case .failed(let code, let message):
          #expect(code == row.code && !message.isEmpty, "\(row.testDescription)")
        default: #expect(closure == .byClient(code: 1000, reason: "") && row.code == nil)
        }
      }
      // One connection has one end.
      for number in rows.indices { #expect(log.closures(of: "/echo?\(number)").count == 1) }
    }
  }

  @Test func closesWithTheCodeOfTheFault() async throws {
    try await check(FrameRow.faults, extensions: nil)
    try await check(FrameRow.deflated, extensions: "permessage-deflate")
  }

  @Test func closesWith1007WhenATextIsNotUTF8() async throws {
    try await check(FrameRow.texts, extensions: nil)
  }

  @Test func noticesAClientThatAnswersNoPing() async throws {
    var options = WebSocketServerOptions()
    options.limits.pingInterval = .milliseconds(50)
    options.limits.pongTime = .milliseconds(50)
    try await withTestServer(options) { server, log in
      let client = try await RawClient(server.port, target: "/mute")
      let frames = try await client.frames()
      #expect(frames?.map(\.header.opcode) == [.ping])
      #expect(
        try await log.closure(of: "/mute") == .lost("the client is silent, and answered no PING"))
    }
  }

  @Test func tellsThatAClientIsGoneWithoutAClose() async throws {
    try await withTestServer { server, log in
      var client: RawClient? = try await RawClient(server.port, target: "/gone")
      client?.send(FrameRow.frame(.text, [0x61], isFinal: false))
      client = nil
      #expect(try await log.closure(of: "/gone") == .lost("the connection was lost"))
    }
  }

  @Test func endsAConnectionWhoseCloseNobodyAnswers() async throws {
    var options = WebSocketServerOptions()
    options.limits.closeTime = .milliseconds(50)
    try await withTestServer(options) { server, log in
      let client = try await RawClient(server.port, target: "/close?1000")
      client.send(FrameRow.frame(.text, [0x61]))
      #expect(try await client.frames()?.last?.closeCode == 1000)
      #expect(
        try await log.closure(of: "/close?1000") == .lost("the client answered no Close frame"))
    }
  }

  @Test func givesUpARequestThatTakesTooLong() async throws {
    var options = WebSocketServerOptions()
    options.limits.handshakeTime = .milliseconds(50)
    try await withTestServer(options) { server, _ in
      let socket = try #require(try Socket.connected(to: server.port))
      socket.write(Array("GET / HT".utf8))
      let answer = String(decoding: try #require(try await socket.readToEnd()), as: UTF8.self)
      #expect(answer.hasPrefix("HTTP/1.1 408 "))
    }
  }

  @Test func refusesOneConnectionTooMany() async throws {
    try await withTestServer(
      WebSocketServerOptions(limits: WebSocketServerLimits(connections: 2))
    ) { server, _ in
      // In one array, so that none is gone when the next one comes, as in release mode after its last use.
      var clients: [RawClient] = []
      for _ in 0..<3 { clients.append(try await RawClient(server.port)) }
      #expect(clients.map { $0.response?.status } == [101, 101, 503])
    }
  }
}

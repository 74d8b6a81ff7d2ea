import LiveClient
import RepriseCore
import TestSupport
import Testing
import Wire

/// The client and the server of this package with each other: two codecs that share no line.
@Suite struct WebSocketBothEndsTests {
  private func connected(
    _ server: WebSocketServer, _ target: String, _ options: WebSocketOptions = WebSocketOptions(),
    tls: TLSOptions = TLSOptions()
  ) async throws -> WebSocketClient {
    let client = try WebSocketClient(url: server.url + target, options: options, tls: tls)
    let event = try await client.after(.connect(ConnectOptions()))
    #expect(event == .connected(.init()), "\(event)")
    return client
  }

  @Test(arguments: [(true, true), (true, false), (false, true)])
  func understandEachOther(offers: Bool, accepts: Bool) async throws {
    try await withTestServer(WebSocketServerOptions(acceptsDeflate: accepts)) { server, log in
      let client = try await connected(
        server, "/echo", WebSocketOptions(offersDeflate: offers))
      for size in [0, 63, 64, 125, 126, 65_536, 200_000] {
        let text = String(repeating: "0123456789", count: size / 10 + 1).prefix(size)
        #expect(try await client.after(.sendText(String(text))) == .text(String(text)))
      }
      #expect(try await client.after(.disconnect) == .closed(.byUser))
      #expect(try await log.closure(of: "/echo") == .byClient(code: 1000, reason: ""))
    }
  }

  /// Frames that no server may send, and the code that the client closes with: 1005 where libwebsockets
  /// ends the connection without a word, and 0 where it takes the frame all the same, as it does when a
  /// server masks (RFC 6455 section 5.1); it does not tell of it either.
  @Test(arguments: [
    ("masked", WebSocketFrame(.text, [0x61], maskingKey: 1), 0),
    ("RSV2", WebSocketFrame(.text, [0x61], reservedBits: 0b010), 1002),
    ("opcode 3", WebSocketFrame(.init(rawValue: 3), []), 1005),
    ("fragmented PING", WebSocketFrame(.ping, [], isFinal: false), 1005),
    ("long PING", WebSocketFrame(.ping, Array(repeating: 0, count: 126)), 1005),
    ("continuation of nothing", WebSocketFrame(.continuation, []), 1005),
    ("surrogate", WebSocketFrame(.text, [0xED, 0xA0, 0x80]), 1007),
    ("overlong", WebSocketFrame(.text, [0xC0, 0x80]), 1007),
    ("beyond U+10FFFF", WebSocketFrame(.text, [0xF4, 0x90, 0x80, 0x80]), 1007),
    ("half a character", WebSocketFrame(.text, [0xE2, 0x82]), 1007),
    ("no DEFLATE", WebSocketFrame(.binary, [0xFF, 0xFF], reservedBits: 0b100), 1007),
    ("too long", WebSocketFrame(.binary, Array(repeating: 0, count: 2_000)), 1009),
  ])
  func theClientRefusesAFrame(name: String, frame: WebSocketFrame, code: UInt16) async throws {
    try await withWebSocketServer { server in
      let client = try await connected(server, "/", WebSocketOptions(messageLimit: 1_000))
      let connection = try #require(await server.connections.next())
      try await connection.send(frame: frame)
      try? await connection.send("after it")
      let event = try await client.event()
      guard case .closed = event else {
        #expect(code == 0, "\(name): \(event)")
        return
      }
      switch await connection.events.last {
      case .closed(.byClient(let told, _)): #expect(told == code, "\(name)")
      case let last: #expect(code == 1005, "\(name): \(String(describing: last))")
      }
    }
  }

  @Test func speakTLSWithCertificatesOnBothSides() async throws {
    let certificates = try await Certificates()
    let options = WebSocketServerOptions(
      tls: ServerTLSOptions(
        certificateFile: certificates.certificate("server"), keyFile: certificates.key("server"),
        clientAuthorityFile: certificates.authority))
    try await withTestServer(options) { server, _ in
      let known = TLSOptions(
        authorityFile: certificates.authority, certificateFile: certificates.certificate("client"),
        keyFile: certificates.key("client"))
      let client = try await connected(server, "/echo", tls: known)
      #expect(try await client.after(.sendText("x")) == .text("x"))
      let stranger = try WebSocketClient(
        url: server.url, tls: TLSOptions(authorityFile: certificates.authority))
      guard case .closed(.lost) = try await stranger.after(.connect(ConnectOptions())) else {
        Issue.record("a client without a certificate is let in")
        return
      }
    }
  }

  @Test func theEndOfTheServerIsToldToEverybody() async throws {
    let client = try await withTestServer { server, _ in try await connected(server, "/echo") }
    guard case .closed(.byServer(code: nil, let reason)) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    #expect(reason.contains("1001"))
  }

  @Test func aServerNeedsAFreePortAndGoodFiles() async throws {
    let (socket, port) = try Socket.listening()
    defer { _ = socket }
    for (address, problem) in [
      ("127.0.0.1", "Address already in use"), ("localhost", "Address already in use"),
      // An address for documentation (RFC 5737), and a name that is never one (RFC 6761).
      ("192.0.2.1", "Cannot assign requested address"), ("a.invalid", "a.invalid is not found"),
    ] {
      let error = await #expect(throws: DataClientError.self) {
        try await withWebSocketServer(WebSocketServerOptions(address: address, port: port)) { _ in
        }
      }
      #expect(error?.message.contains(problem) == true, "\(error?.message ?? "")")
    }
    let scratch = Scratch()
    try scratch.write("nonsense", to: "bad.pem")
    for file in [scratch.file("bad.pem"), scratch.file("missing.pem")] {
      let tls = ServerTLSOptions(certificateFile: file, keyFile: file)
      await #expect(throws: DataClientError.self) {
        try await withWebSocketServer(WebSocketServerOptions(tls: tls)) { _ in }
      }
    }
    await #expect(throws: DataClientError.self) {
      try await withWebSocketServer(WebSocketServerOptions(subprotocols: ["a b"])) { _ in }
    }
  }

  @Test(arguments: ["::1", "localhost"]) func aServerListensOnAnyAddress(address: String)
    async throws
  {
    try await withTestServer(WebSocketServerOptions(address: address)) { server, _ in
      let client = try await connected(server, "/echo")
      #expect(try await client.after(.sendText("x")) == .text("x"))
    }
  }

  @Test func aServerWaitsForAClientThatDoesNotRead() async throws {
    let options = WebSocketServerOptions(limits: WebSocketServerLimits(unsent: 100_000))
    try await withWebSocketServer(options) { server in
      let client = try await RawClient(server.port)
      let connection = try #require(await server.connections.next())
      let bytes = [UInt8](repeating: 7, count: 200_000)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          for _ in 0..<100 { try await connection.send(bytes) }
          try connection.close()
        }
        let frames = try #require(try await client.frames())
        #expect(frames.count == 101 && frames.dropLast().allSatisfy { $0.payload == bytes })
        try await group.waitForAll()
      }
    }
  }

  @Test func aServerStopsAClientWhileNobodyReads() async throws {
    let options = WebSocketServerOptions(limits: WebSocketServerLimits(received: 10_000))
    try await withWebSocketServer(options) { server in
      let client = try WebSocketClient(url: server.url)
      try await client.perform(ClientAction(.init(rawValue: 1), .connect(ConnectOptions())))
      let connection = try #require(await server.connections.next())
      #expect(try await client.event() == .connected(.init()))
      let text = String(repeating: "x", count: 1_000)
      for number in 0..<2_000 {
        try await client.perform(
          ClientAction(.init(rawValue: 1), .sendText("\(number) \(text)")))
      }
      try await client.perform(ClientAction(.init(rawValue: 1), .disconnect))
      var number = 0
      for await event in connection.events {
        guard case .text(let received) = event else { break }
        #expect(received.hasPrefix("\(number) "))
        number += 1
      }
      #expect(number == 2_000)
    }
  }
}

extension WebSocketServerConnection.Events {
  /// The last event.
  fileprivate var last: WebSocketServerEvent? {
    get async {
      var last: WebSocketServerEvent?
      for await event in self { last = event }
      return last
    }
  }
}

import LiveClient
import Testing

/// The server with clients of another library.
@Suite struct WebSocketServerInteroperabilityTests {
  private static let options = WebSocketServerOptions(subprotocols: ["two", "mqtt"])

  @Test(arguments: ["deflate", ""]) func echoesWhateverAClientSends(compression: String)
    async throws
  {
    try await withTestServer(Self.options) { server, _ in
      let agreed = try await PythonClient.run("echo:\(compression)", server.url)
      #expect(agreed.contains("permessage-deflate") == !compression.isEmpty)
    }
  }

  @Test func agreesToNoDeflateWhenItIsNotWanted() async throws {
    try await withTestServer(WebSocketServerOptions(acceptsDeflate: false)) { server, _ in
      let agreed = try await PythonClient.run("echo:deflate", server.url)
      #expect(agreed == "null")
    }
  }

  @Test(arguments: ["deflate", ""])
  func joinsAndMakesFragmentsWithPingsBetween(compression: String) async throws {
    try await withTestServer { server, _ in
      _ = try await PythonClient.run("fragments:\(compression)", server.url)
    }
  }

  @Test func tellsWithWhichCodeTheClientClosed() async throws {
    try await withTestServer { server, log in
      _ = try await PythonClient.run("client_codes", server.url)
      let codes: [UInt16] = [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000,
        4999,
      ]
      // Each connection has a task of its own, and which of them tells of its end first is open.
      let closures = try await log.closures(of: "/echo", count: codes.count)
      #expect(closures.count == codes.count, "\(closures)")
      for code in codes {
        #expect(
          closures.contains(.byClient(code: code, reason: "because \(code) ä")), "\(closures)")
      }
    }
  }

  @Test func closesWithEveryCode() async throws {
    try await withTestServer { server, log in
      _ = try await PythonClient.run("server_codes", server.url)
      let closure = try await log.closure(of: "/close?1012")
      #expect(closure == .byServer(code: 1012, reason: "because 1012 ä"))
    }
  }

  @Test func refusesAndChoosesASubprotocol() async throws {
    try await withTestServer(Self.options) { server, _ in
      let chosen = try await PythonClient.run("handshake", server.url)
      #expect(chosen == #"["two", "two", null, null]"#)
    }
  }

  @Test func servesManyAtOnce() async throws {
    try await withTestServer { server, _ in _ = try await PythonClient.run("many", server.url) }
  }

  @Test(arguments: ["127.0.0.1", "0.0.0.0"]) func tellsWhereAClientIs(address: String) async throws
  {
    try await withWebSocketServer(WebSocketServerOptions(address: address)) { server in
      let client = try await RawClient(server.port)
      defer { withExtendedLifetime(client) {} }
      let connection = await server.connections.next()
      #expect(connection?.clientAddress == "127.0.0.1")
    }
  }

  @Test func speaksTLS() async throws {
    let certificates = try await Certificates()
    let options = WebSocketServerOptions(
      tls: ServerTLSOptions(
        certificateFile: certificates.certificate("server"), keyFile: certificates.key("server")))
    try await withTestServer(options) { server, _ in
      _ = try await PythonClient.run("echo:deflate", server.url, authority: certificates.authority)
    }
  }
}

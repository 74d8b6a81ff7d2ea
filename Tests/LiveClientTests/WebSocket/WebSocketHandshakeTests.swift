import LiveClient
import RepriseCore
import Testing
import Wire

/// Servers that answer the opening handshake in every way that opens no connection.
@Suite struct WebSocketHandshakeTests {
  /// How a server answers.
  enum Answer: String, CaseIterable {
    case wrongAccept, noAccept, noUpgrade, otherSubprotocol, page, refusal, redirection, nothing,
      garbage
    case anotherProtocol, extensionNobodyAskedFor

    /// What it sends, given the key of the request.
    func text(_ key: String) -> String {
      let accept = "Sec-WebSocket-Accept: \(WebSocketKey.accept(for: key))\r\n"
      let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\n"
      let switching = "HTTP/1.1 101 Switching Protocols\r\n"
      return switch self {
      case .wrongAccept:
        switching + upgrade + "Sec-WebSocket-Accept: \(WebSocketKey.accept(for: "no"))\r\n\r\n"
      case .noAccept: switching + upgrade + "\r\n"
      case .noUpgrade: switching + "Connection: Upgrade\r\n" + accept + "\r\n"
      case .otherSubprotocol:
        switching + upgrade + accept + "Sec-WebSocket-Protocol: another\r\n\r\n"
      case .page: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
      case .redirection:
        "HTTP/1.1 302 Found\r\nLocation: ws://127.0.0.1:9/other\r\nContent-Length: 0\r\n\r\n"
      case .refusal:
        "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
      case .nothing: ""
      case .garbage: "SSH-2.0-OpenSSH_9.2\r\n\r\n"
      case .anotherProtocol:
        switching + "Upgrade: h2c\r\nConnection: Upgrade\r\n" + accept + "\r\n"
      case .extensionNobodyAskedFor:
        switching + upgrade + accept + "Sec-WebSocket-Extensions: x-none\r\n\r\n"
      }
    }

    /// What the user is told, among other things.
    var hint: String {
      switch self {
      case .wrongAccept, .noAccept: "Sec-WebSocket-Accept"
      case .noUpgrade, .anotherProtocol: "Upgrade"
      case .otherSubprotocol: "subprotocol"
      case .page: "200"
      case .refusal: "403"
      case .redirection: "(HTTP status 302), but names another place: ws://127.0.0.1:9/other"
      case .nothing, .garbage: "no answer of HTTP"
      case .extensionNobodyAskedFor: "extension"
      }
    }
  }

  @Test(arguments: Answer.allCases) func saysWhatIsWrong(_ answer: Answer) async throws {
    let server = try ScriptedServer { socket in
      guard let key = socket.readUpgrade() else { return }
      socket.write(Array(answer.text(key).utf8))
    }
    let client = try WebSocketClient(
      url: "ws://127.0.0.1:\(server.port)/", options: WebSocketOptions(subprotocols: ["mqtt"]))
    // Once, and it is the same the next time.
    for _ in 0..<2 {
      guard case .closed(.lost(let reason)) = try await client.after(.connect(ConnectOptions()))
      else {
        Issue.record("not refused")
        return
      }
      #expect(reason.hasPrefix("127.0.0.1:\(server.port): "))
      #expect(reason.contains(answer.hint), "\(answer): \(reason)")
    }
  }

  @Test func aSubprotocolMayBeRequired() async throws {
    let server = try await PythonServer()
    for (offered, isRequired, isGood) in [
      ("other", false, true), ("other", true, false), ("mqtt", true, true),
    ] {
      let options = WebSocketOptions(subprotocols: [offered], requiresSubprotocol: isRequired)
      let client = try WebSocketClient(url: server.url("/echo"), options: options)
      let event = try await client.after(.connect(ConnectOptions()))
      #expect((event == .connected(.init())) == isGood, "\(event)")
      guard !isGood, case .closed(.lost(let reason)) = event else { continue }
      #expect(reason.contains("does not choose the subprotocol other"))
    }
  }

  @Test(arguments: [false, true]) func endsWithoutACloseFrame(isInFrame: Bool) async throws {
    let server = try ScriptedServer { socket in
      guard let key = socket.readUpgrade() else { return }
      socket.acceptUpgrade(key)
      socket.writeText("whole")
      if isInFrame {
        socket.write(Array(WebSocketFrame(.text, Array("cut".utf8)).encoded().dropLast()))
      }
    }
    let client = try WebSocketClient(url: "ws://127.0.0.1:\(server.port)/")
    #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
    #expect(try await client.event() == .text("whole"))
    guard case .closed(.lost(let reason)) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    #expect(reason.contains("connection was lost"))
  }
}

extension Socket {
  /// Reads the head of an opening handshake; returns its key, and nil at the end.
  func readUpgrade() -> String? {
    var head: [UInt8] = []
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
      let next = read(1)
      guard !next.isEmpty else { return nil }
      head += next
    }
    return HTTPHead(head).fields(named: "Sec-WebSocket-Key").first?.value ?? ""
  }

  /// Answers an opening handshake.
  func acceptUpgrade(_ key: String) {
    write(
      Array(
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          + "Sec-WebSocket-Accept: \(WebSocketKey.accept(for: key))\r\n\r\n").utf8))
  }

  /// Sends a text message.
  func writeText(_ text: String) {
    write(WebSocketFrame(.text, Array(text.utf8)).encoded())
  }
}

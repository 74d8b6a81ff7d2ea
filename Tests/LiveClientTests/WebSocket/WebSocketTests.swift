import Foundation
import LiveClient
import RepriseCore
import Testing

/// The client against a server of another library.
@Suite struct WebSocketTests {
  private func connected(
    _ server: PythonServer, _ path: String, _ options: WebSocketOptions = WebSocketOptions(),
    limits: WebSocketClient.Limits = WebSocketClient.Limits()
  ) async throws -> WebSocketClient {
    let client = try WebSocketClient(url: server.url(path), options: options, limits: limits)
    let event = try await client.after(.connect(ConnectOptions()))
    #expect(event == .connected(.init()), "\(event)")
    return client
  }

  @Test(arguments: [true, false])
  func echoesTextAndBytesOfAnySize(offersDeflate: Bool) async throws {
    let server = try await PythonServer()
    let client = try await connected(
      server, "/echo", WebSocketOptions(offersDeflate: offersDeflate))
    for size in [0, 1, 125, 126, 127, 65_535, 65_536, 1_000_000] {
      let text =
        String(repeating: "ä€x😀", count: size / 10) + String(repeating: "y", count: size % 10)
      #expect(try await client.after(.sendText(text)) == .text(text))
    }
    for size in [0, 125, 65_536, 16_777_216] {
      var bytes: [UInt8] = []
      while bytes.count < size { bytes.append(contentsOf: 0..<251) }
      bytes.removeLast(bytes.count - size)
      #expect(try await client.after(.sendBinary(bytes)) == .binary(bytes))
    }
    #expect(try await client.after(.disconnect) == .closed(.byUser))
  }

  @Test(arguments: [1, 3, 1_000])
  func joinsFragmentsWithPingsBetweenThem(size: Int) async throws {
    let server = try await PythonServer()
    let client = try await connected(server, "/fragments?\(size)")
    let text = String(repeating: "0123456789", count: 20)
    #expect(try await client.after(.sendText(text)) == .text(text))
    #expect(try await client.after(.disconnect) == .closed(.byUser))
  }

  @Test func keepsTheOrderOfAThousandMessages() async throws {
    let server = try await PythonServer()
    let client = try await connected(server, "/echo")
    for number in 0..<1_000 {
      try await client.perform(.init(.init(rawValue: 0), .sendText("\(number)")))
    }
    for number in 0..<1_000 { #expect(try await client.event() == .text("\(number)")) }
  }

  @Test(arguments: [
    1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 4999,
  ])
  func tellsWithWhichCodeTheServerClosed(code: Int) async throws {
    let server = try await PythonServer()
    let client = try await connected(server, "/close?\(code)")
    guard case .closed(.byServer(code: nil, let reason)) = try await client.after(.sendText("x"))
    else {
      Issue.record("not closed")
      return
    }
    // The library knows no codes that were registered after it was written.
    let isKnown = !(1012...1014).contains(code)
    #expect(reason.contains("\(code)") == isKnown && reason.contains("as asked"))
    // Once, and the client can be used again.
    #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
  }

  @Test func sendsHeadersAndCredentialsAndOffersSubprotocols() async throws {
    let server = try await PythonServer()
    let options = WebSocketOptions(headers: ["X-Test": "one two"], subprotocols: ["one", "two"])
    let url = server.url("/headers").replacing("//", with: "//me:p%40ss@")
    let client = try WebSocketClient(url: url, options: options)
    #expect(try await client.after(.connect(ConnectOptions())) == .connected(.init()))
    guard case .text(let text) = try await client.event(),
      let value = JSONValue(parsing: Array(text.utf8)), case .object(let members) = value
    else {
      Issue.record("no headers")
      return
    }
    let fields = Dictionary(members.map { ($0.key, $0.value.text ?? "") }) { first, _ in first }
    #expect(fields["x-test"] == "one two" && fields["subprotocol"] == "two")
    #expect(fields["sec-websocket-protocol"] == "one, two")
    #expect(fields["authorization"] == "Basic bWU6cEBzcw==")
    #expect(fields["host"] == "127.0.0.1:\(server.port)")
    #expect(fields["extensions"]?.contains("permessage-deflate") == true)
  }

  @Test(arguments: [403, 404, 500]) func tellsAStatusThatIsNoUpgrade(status: Int) async throws {
    let server = try await PythonServer()
    let client = try WebSocketClient(url: server.url("/\(status)"))
    guard case .closed(.lost(let reason)) = try await client.after(.connect(ConnectOptions()))
    else {
      Issue.record("not refused")
      return
    }
    #expect(reason.contains("\(status)"))
  }

  @Test func tellsThatNobodyIsThere() async throws {
    let port = try Socket.freePort()
    let client = try WebSocketClient(url: "ws://127.0.0.1:\(port)/")
    for _ in 0..<2 {
      let event = try await client.after(.connect(ConnectOptions()))
      guard case .closed(.unreached(let reason, _)) = event else {
        Issue.record("not refused")
        return
      }
      #expect(reason.contains("127.0.0.1:\(port)"))
    }
  }

  @Test func tellsThatTheServerWasKilled() async throws {
    let server = try await PythonServer()
    let client = try await connected(server, "/echo")
    await server.stop()
    guard case .closed(.lost) = try await client.event() else {
      Issue.record("not closed")
      return
    }
  }

  @Test func noticesAServerThatAnswersNoPing() async throws {
    let server = try await PythonServer()
    let client = try await connected(
      server, "/echo", WebSocketOptions(pingInterval: .seconds(1), pongTimeout: .seconds(1)))
    server.pause(true)
    guard case .closed(.lost) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    server.pause(false)
  }

  @Test func refusesAMessageThatIsTooLong() async throws {
    let server = try await PythonServer()
    // A thousandth of it travels, as zeros are deflated.
    let client = try await connected(
      server, "/bomb?60000000", WebSocketOptions(messageLimit: 1_000_000))
    guard case .closed(.lost(let reason)) = try await client.event() else {
      Issue.record("not closed")
      return
    }
    #expect(reason.contains("1000000"))
  }

  @Test func stopsTheServerWhileNobodyReads() async throws {
    let server = try await PythonServer()
    let client = try await connected(
      server, "/push?5000", limits: WebSocketClient.Limits(events: 100))
    for number in 0..<5_000 {
      guard case .text(let text) = try await client.event() else {
        Issue.record("no text")
        return
      }
      #expect(Int(text.prefix(8)) == number)
    }
    #expect(try await client.after(.sendText("still there")) == .text("still there"))
  }

  @Test func restsFromASilentServerForAnyTime() async throws {
    let server = try await PythonServer()
    let client = try await connected(
      server, "/push?50", WebSocketOptions(pingInterval: .seconds(Int64.max)),
      limits: WebSocketClient.Limits(events: 1))
    for _ in 0..<50 {
      guard case .text = try await client.event() else {
        Issue.record("no text")
        return
      }
    }
  }

  @Test func refusesWhatItCannotDo() async throws {
    let server = try await PythonServer()
    let client = try WebSocketClient(url: server.url("/echo"))
    #expect(await client.refusal(.sendText("x")) == .notConnected)
    #expect(await client.refusal(.disconnect) == .notConnected)
    #expect(await client.refusal(.publish(Message(topic: "a", payload: []))) == .unsupported)
    try await client.perform(.init(.init(rawValue: 0), .connect(ConnectOptions())))
    #expect(await client.refusal(.connect(ConnectOptions())) == .invalidAction)
  }

  @Test func givesUpATryAtOnce() async throws {
    let (listener, port) = try Socket.listening()
    defer { _ = listener }
    let client = try WebSocketClient(url: "ws://127.0.0.1:\(port)/")
    try await client.perform(.init(.init(rawValue: 0), .connect(ConnectOptions())))
    #expect(try await client.after(.disconnect) == .closed(.byUser))
  }

  @Test(arguments: [
    "http://a", "ws:/a", "a", "ws://", "ws://a b/", "ws://a:0/", "ws://a:70000/", "ws://a/#f",
    "wss://[::1/", "ws://h/a b", "ws://h/a\r\nX: y", "ws://h/\u{7F}", "mqtt://a",
  ])
  func refusesABadURL(url: String) {
    #expect(throws: DataClientError.self) { try WebSocketClient(url: url) }
  }

  @Test(arguments: [["a b": "c"], ["a": "b\r\nc: d"], ["a": "\u{7F}"], ["": "x"]])
  func refusesAHeaderThatCannotBeSent(headers: [String: String]) {
    #expect(throws: DataClientError.self) {
      try WebSocketClient(url: "ws://localhost/", options: WebSocketOptions(headers: headers))
    }
  }
}

/// TLS, and every way in which it must not work.
@Suite struct WebSocketTLSTests {
  @Test func trustsOnlyWhomItShould() async throws {
    let certificates = try await Certificates()
    let tls = TLSOptions(authorityFile: certificates.authority)
    let other = TLSOptions(authorityFile: certificates.otherAuthority)
    var unverified = TLSOptions()
    unverified.verifiesCertificate = false
    var unnamed = tls
    unnamed.verifiesHostName = false
    let table: [(String, TLSOptions, Bool)] = [
      ("server", tls, true), ("server", other, false), ("server", TLSOptions(), false),
      ("wrong", tls, false), ("wrong", unnamed, true), ("wrong", unverified, true),
    ]
    for (name, options, isGood) in table {
      let server = try await PythonServer(
        certificate: certificates.certificate(name), key: certificates.key(name))
      let client = try WebSocketClient(
        url: server.url("/echo", host: "localhost"), tls: options)
      let event = try await client.after(.connect(ConnectOptions()))
      #expect((event == .connected(.init())) == isGood, "\(name): \(event)")
      if isGood { #expect(try await client.after(.sendText("x")) == .text("x")) }
    }
  }
}

extension WebSocketClient {
  /// The next event; that none comes is an error.
  func event() async throws -> ClientEvent {
    let event = try await next(before: now.advanced(by: .seconds(60)))
    guard event != .deadline else { throw Child.Failure(description: "nothing happened") }
    return event
  }

  /// The next event after an action.
  func after(_ kind: ClientAction.Kind) async throws -> ClientEvent {
    try await perform(ClientAction(ClientAction.ID(rawValue: 1), kind))
    return try await event()
  }

  /// The code of the error with which an action is refused.
  func refusal(_ kind: ClientAction.Kind) async -> DataClientError.Code? {
    do {
      try await perform(ClientAction(ClientAction.ID(rawValue: 1), kind))
      return nil
    } catch { return (error as? DataClientError)?.code }
  }
}

import RepriseCore
import Testing
import Wire

@testable import Gates
@testable import LiveClient

/// A server of WebSocket that does what it is told to, beside a real client.
@Suite struct FrameGateTests {
  private func client(of gate: FrameGate) throws -> GatedClient<WebSocketClient> {
    GatedClient(
      try WebSocketClient(url: gate.url, options: WebSocketOptions(offersDeflate: false)),
      gate: gate)
  }

  private func perform(
    _ kind: ClientAction.Kind, on client: some DataClient
  ) async throws {
    try await client.perform(ClientAction(ClientAction.ID(rawValue: 1), kind))
  }

  private func connected(_ gate: FrameGate) async throws -> GatedClient<WebSocketClient> {
    let client = try client(of: gate)
    try await perform(.connect(ConnectOptions()), on: client)
    try await gate.accept()
    #expect(try await client.next(before: nil) == .connected(.init()))
    return client
  }

  @Test func carriesMessagesInBothDirections() async throws {
    let gate = try FrameGate()
    let client = try await connected(gate)
    for size in [0, 1, 125, 126, 65_535, 65_536, 200_000] {
      try await perform(.sendText(String(repeating: "a", count: size)), on: client)
      try await gate.send([UInt8](repeating: 7, count: size))
      #expect(try await client.next(before: nil) == .binary([UInt8](repeating: 7, count: size)))
    }
    try await gate.send("é你")
    #expect(try await client.next(before: nil) == .text("é你"))
    try client.settle()
    try await perform(.disconnect, on: client)
    try await gate.answerClose()
    #expect(try await client.next(before: nil) == .closed(.byUser))
    // Nothing is there any more that would want an answer.
    try await gate.answerClose()
    try client.settle()
  }

  @Test(arguments: [
    FrameGate.Refusal.status(200), .status(403), .status(500), .wrongAccept, .foreignSubprotocol,
  ])
  func refusesAHandshake(_ refusal: FrameGate.Refusal) async throws {
    let gate = try FrameGate()
    let client = try client(of: gate)
    for _ in 0..<2 {
      try await perform(.connect(ConnectOptions()), on: client)
      try await gate.refuse(refusal)
      guard case .closed(.lost) = try await client.next(before: nil) else {
        Issue.record("the client takes \(refusal)")
        return
      }
    }
    try await perform(.connect(ConnectOptions()), on: client)
    try await gate.accept()
    #expect(try await client.next(before: nil) == .connected(.init()))
  }

  @Test func closesAndLosesConnections() async throws {
    let gate = try FrameGate()
    let client = try await connected(gate)
    try await gate.close(code: 1_001)
    guard case .closed(.byServer(code: nil, let reason)) = try await client.next(before: nil) else {
      Issue.record("the client does not see the Close frame")
      return
    }
    #expect(reason.contains("1001"))
    try await perform(.connect(ConnectOptions()), on: client)
    try await gate.lose()
    guard case .closed(.lost) = try await client.next(before: nil) else {
      Issue.record("the client does not see that nobody answers")
      return
    }
    try await perform(.connect(ConnectOptions()), on: client)
    try await gate.accept()
    #expect(try await client.next(before: nil) == .connected(.init()))
    try await gate.lose()
    guard case .closed(.lost) = try await client.next(before: nil) else {
      Issue.record("the client does not see the end")
      return
    }
  }

  @Test func letsAClientGiveItsTryUp() async throws {
    let gate = try FrameGate()
    let client = try client(of: gate)
    try await perform(.connect(ConnectOptions()), on: client)
    try await perform(.disconnect, on: client)
    try await gate.answerClose()
    #expect(try await client.next(before: nil) == .closed(.byUser))
  }

  @Test func tellsWhatDoesNotCome() async throws {
    let gate = try FrameGate(limit: .milliseconds(20))
    let error = await #expect(throws: DataClientError.self) { try await gate.accept() }
    #expect(error?.code == .timedOut && error?.message.contains("no handshake") == true)
    gate.close()
    await #expect(throws: DataClientError.self) { try await gate.lose() }
  }

  @Test func passesToAServerWithAMindOfItsOwn() async throws {
    let gate = try FrameGate(isPassing: true)
    let client = try client(of: gate)
    let server = gate.server
    try await perform(.connect(ConnectOptions()), on: client)
    #expect(try await client.next(before: nil) == .connected(.init()))
    #expect(try await server.next(before: nil) == .connected(.init()))
    try await perform(.sendText("hello"), on: client)
    #expect(try await server.next(before: nil) == .text("hello"))
    try await perform(.sendText("welcome"), on: server)
    #expect(try await client.next(before: nil) == .text("welcome"))
    try await perform(.disconnect, on: client)
    #expect(try await client.next(before: nil) == .closed(.byUser))
    guard case .closed = try await server.next(before: nil) else {
      Issue.record("the server does not see the end")
      return
    }
  }

  /// A client on a plain socket, and the server's side of its open connection.
  private func rawClient(of gate: FrameGate) async throws -> RawClient {
    let client = try await RawClient(gate.port)
    #expect(client.response?.accepts == true)
    #expect(try await gate.server.next(before: nil) == .connected(.init()))
    return client
  }

  @Test func readsNothingBehindWhatIsNoFrame() async throws {
    let gate = try FrameGate(isPassing: true)
    let client = try await rawClient(of: gate)
    let tooLong: [UInt8] = [0x82, 0xFF] + Array(repeating: 0xFF, count: 8)
    client.socket.write(WebSocketFrame(.text, [0x61], maskingKey: 7).encoded() + tooLong)
    #expect(try await gate.server.next(before: nil) == .text("a"))
    client.send(WebSocketFrame(.text, [0x62], maskingKey: 7))
    guard case .closed = try await gate.server.next(before: nil) else {
      Issue.record("the rest is looked at")
      return
    }
  }

  @Test func tellsNoMessageThatIsNotWhole() async throws {
    let gate = try FrameGate(isPassing: true)
    let client = try await rawClient(of: gate)
    let half = [UInt8](repeating: 0x61, count: 9 << 20)
    let socket = client.socket
    try await onThread {
      socket.write(
        WebSocketFrame(.binary, half, isFinal: false, maskingKey: 7).encoded()
          + WebSocketFrame(.continuation, half, maskingKey: 7).encoded())
    }
    guard case .closed = try await gate.server.next(before: nil) else {
      Issue.record("a message is cut off")
      return
    }
  }
}

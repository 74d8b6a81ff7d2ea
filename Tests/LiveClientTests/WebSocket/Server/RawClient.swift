import Wire

/// A client of WebSocket that sends just the bytes it is told to.
final class RawClient {
  let socket: Socket
  private(set) var response: WebSocketResponse?

  /// Opens a connection to a port of loopback.
  init(_ port: UInt16, target: String = "/echo", extensions: String? = nil) async throws {
    guard let socket = try Socket.connected(to: port) else {
      throw Child.Failure(description: "nobody listens on \(port)")
    }
    self.socket = socket
    socket.write(Self.request(target, extensions: extensions).head.bytes)
    let head = try await onThread {
      var head: [UInt8] = []
      while head.suffix(4) != [0x0D, 0x0A, 0x0D, 0x0A], let byte = socket.read(1).first {
        head.append(byte)
      }
      return head
    }
    response = WebSocketResponse(HTTPHead(head), to: nil)
  }

  static func request(_ target: String, extensions: String? = nil) -> WebSocketRequest {
    WebSocketRequest(
      target: target,
      fields: [
        .init("Host", "localhost"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        .init("Sec-WebSocket-Version", "13"),
      ] + (extensions.map { [.init("Sec-WebSocket-Extensions", $0)] } ?? []))
  }

  func send(_ frames: WebSocketFrame...) { socket.write(frames.flatMap { $0.encoded() }) }

  /// Reads until a message has come whole, or the connection is at its end.
  func readMessage() async throws {
    let (bytes, hasEnded) = try await socket.read(until: Self.hasMessage)
    guard hasEnded || Self.hasMessage(in: bytes) else {
      throw Child.Failure(description: "no message came, but \(bytes)")
    }
  }

  /// Whether a data frame stands whole in bytes.
  private static func hasMessage(in bytes: [UInt8]) -> Bool {
    var hasCome = false
    var framer = WebSocketFramer()
    try? framer.consume(bytes.span.bytes) { _, header, _ in
      if !header.opcode.isControl { hasCome = true }
    }
    return hasCome
  }

  /// The frames up to the end of the connection; nil when it does not end.
  func frames() async throws -> [WebSocketFrame]? {
    guard let bytes = try await socket.readToEnd() else { return nil }
    var framer = WebSocketFramer()
    var frames: [WebSocketFrame] = []
    try framer.consume(bytes.span.bytes) { bytes, _, _ in
      if let frame = WebSocketFrame(bytes: bytes.withUnsafeBytes { Array($0) }) {
        frames.append(frame)
      }
    }
    return frames
  }
}

extension WebSocketFrame {
  /// The code of a Close frame.
  var closeCode: UInt16? {
    guard header.opcode == .close, payload.count >= 2 else { return nil }
    return UInt16(payload[0]) << 8 | UInt16(payload[1])
  }
}

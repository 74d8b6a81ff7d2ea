import Wire

/// A client of WebSocket that sends just the bytes it is told to.
final class RawClient {
  let socket: Socket
  private(set) var response: WebSocketResponse?

  /// Opens a connection to a port of loopback.
  init(_ port: UInt16, target: String = "/echo", extensions: String? = nil) throws {
    guard let socket = try Socket.connected(to: port) else {
      throw Child.Failure(description: "nobody listens on \(port)")
    }
    self.socket = socket
    socket.write(Self.request(target, extensions: extensions).head.bytes)
    var head: [UInt8] = []
    while head.suffix(4) != [0x0D, 0x0A, 0x0D, 0x0A] {
      guard let byte = socket.read(1).first else { break }
      head.append(byte)
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

  /// Reads until a message has come whole, without blocking a thread that the server's tasks need.
  func readMessage() async throws {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var hasCome = false
    _ = try await eventually {
      guard let count = socket.readSome(&buffer) else { return true }
      bytes += buffer[..<count]
      var framer = WebSocketFramer()
      try? framer.consume(bytes.span.bytes) { _, header, _ in
        if !header.opcode.isControl { hasCome = true }
      }
      return hasCome
    }
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

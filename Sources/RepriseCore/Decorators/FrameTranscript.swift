import Wire

/// Writes down what a client of messages without topics does and gets as the frames of WebSocket that it
/// stands for (RFC 6455).
///
/// What the port does not tell is made up so that it breaks no rule: the key of the handshake, the masks of the
/// client's frames, and that each message is one frame. PING and PONG are not there.
struct FrameTranscript: Transcript {
  var pen: TranscriptPen
  var wanted: WantedConnection?
  private let address: HTTPBase
  /// Where keys and masks come from: the same for every recording, so that equal sessions are equal files.
  private var random = SeededGenerator(seed: 0x6455)
  private var request: WebSocketRequest?
  private var isAnswered = false
  private var isLeaving = false

  init(server: String) {
    pen = TranscriptPen(server: server, wire: .webSocket)
    address = HTTPBase(ofURL: server)
  }

  mutating func tell(_ action: ClientAction, at time: Timestamp) -> [Event] {
    switch action.kind {
    case .sendText(let text): return [frame(.text, Array(text.utf8), .client, time)]
    case .sendBinary(let bytes): return [frame(.binary, bytes, .client, time)]
    case .connect, .disconnect, .subscribe, .unsubscribe, .publish, .send: return []
    }
  }

  mutating func tell(_ event: ClientEvent, at time: Timestamp) -> [Event] {
    switch event {
    case .connected: return accept(time)
    case .text(let text): return [frame(.text, Array(text.utf8), .server, time)]
    case .binary(let bytes): return [frame(.binary, bytes, .server, time)]
    case .closed, .subscribed, .unsubscribed, .published, .message, .response, .failed, .deadline,
      .woken,
      .ended:
      return []
    }
  }

  /// The payload of a Close frame with code 1000, that all is done (RFC 6455 section 7.4.1).
  private static let normalClosure: [UInt8] = [0x03, 0xE8]

  /// Every connection is a session of its own.
  mutating func prepare(_ options: ConnectOptions) {}

  func connectPacket(_ options: ConnectOptions) -> PacketBytes? { nil }

  mutating func farewell(at time: Timestamp) -> [Event] {
    // Without an answer to its handshake a client leaves without a word.
    guard isAnswered else { return [] }
    isLeaving = true
    return [frame(.close, Self.normalClosure, .client, time)]
  }

  mutating func greeting(_ options: ConnectOptions, at time: Timestamp) -> Event {
    (isAnswered, isLeaving) = (false, false)
    let key = (0..<2).flatMap { _ in withUnsafeBytes(of: random.next().bigEndian) { Array($0) } }
    let request = WebSocketRequest(
      target: address.rest,
      fields: [
        .init("Host", address.authority), .init("Upgrade", "websocket"),
        .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", WebSocketKey.encoded(key)),
        .init("Sec-WebSocket-Version", "13"),
      ])
    self.request = request
    return pen.make(.handshake(.request(request)), from: .client, at: time)
  }

  private mutating func accept(_ time: Timestamp) -> [Event] {
    isAnswered = true
    let head = HTTPHead(
      startLine: "HTTP/1.1 101 Switching Protocols",
      fields: [
        .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Accept", WebSocketKey.accept(for: request?.key ?? "")),
      ])
    let response = WebSocketResponse(head, to: request)
    return [pen.make(.handshake(.response(response)), from: .server, at: time)]
  }

  mutating func tell(_ closed: ClientEvent.Closed, at time: Timestamp) -> [Event] {
    switch closed {
    case .byUser:
      let answer = isLeaving ? [frame(.close, Self.normalClosure, .server, time)] : []
      return answer + [pen.close(.fin, by: .client, at: time)]
    case .byServer(_, let reason):
      return [pen.close(.fin, by: .server, saying: reason, at: time)]
    case .refused, .lost, .unreached:
      return [pen.close(.reset, by: .server, saying: "\(closed)", at: time)]
    }
  }

  private mutating func frame(
    _ opcode: WebSocketOpcode, _ payload: [UInt8], _ sender: Peer, _ time: Timestamp
  ) -> Event {
    let mask = sender == .client ? UInt32(truncatingIfNeeded: random.next()) : nil
    let frame = WebSocketFrame(opcode, payload, maskingKey: mask)
    return pen.make(.webSocket(frame), from: sender, at: time)
  }
}

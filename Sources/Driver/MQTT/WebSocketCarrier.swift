import Wire

/// MQTT in the binary frames of a WebSocket, as either end has it (MQTT 5.0 section 6, RFC 6455).
struct WebSocketCarrier {
  /// What came of bytes of the other end.
  struct Arrival {
    /// The MQTT in them.
    var cargo: [UInt8] = []
    /// What has to be sent at once: Pong and Close frames, and a server's answer to the request.
    var answer: [UInt8] = []
  }

  /// How far it is.
  enum Phase: Equatable {
    case upgrading
    case open
    /// There is none; the text is for people.
    case refused(String)
  }

  private(set) var phase = Phase.upgrading
  /// What a client asks for; nil at the server's end.
  private let request: WebSocketRequest?
  private var reader = HTTPHeadReader()
  private var framer = WebSocketFramer()
  private var hasClosed = false
  private var hasHeardClose = false
  /// Whether both ends have sent a Close frame.
  var isClosed: Bool { hasClosed && hasHeardClose }

  /// Waits for a client's request.
  init() { request = nil }

  /// Prepares a request.
  /// - Parameter target: What is asked for.
  init(_ target: WebSocketTarget) {
    let key = WebSocketKey.encoded((0..<16).map { _ in UInt8.random(in: 0...255) })
    var fields: [HTTPHead.Field] = [
      .init("Host", target.host), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
      .init("Sec-WebSocket-Key", key), .init("Sec-WebSocket-Version", "13"),
      .init("Sec-WebSocket-Protocol", "mqtt"),
    ]
    fields += target.headers.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }
    request = WebSocketRequest(target: target.path, fields: fields)
  }

  /// The request, to be sent first; nothing at the server's end.
  var opening: [UInt8] { request?.head.bytes ?? [] }

  /// Puts MQTT into a frame.
  func wrap(_ bytes: [UInt8]) -> [UInt8] { frame(.binary, bytes) }

  /// The Close frame, once.
  mutating func close() -> [UInt8] {
    guard phase == .open, !hasClosed else { return [] }
    hasClosed = true
    return frame(.close, [0x03, 0xE8])
  }

  /// A frame, which only clients mask (RFC 6455 section 5.1).
  private func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
    let key = request == nil ? nil : UInt32.random(in: 0...UInt32.max)
    return WebSocketFrame(opcode, payload, maskingKey: key).encoded()
  }

  /// Takes bytes of the other end.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> Arrival {
    var rest = Array(bytes)
    var arrival = Arrival()
    if phase == .upgrading { (arrival.answer, rest) = upgrade(rest) }
    guard phase == .open, !rest.isEmpty else { return arrival }
    var closing = false
    // What is no frame is recorded, and judged by others.
    var pings: [[UInt8]] = []
    try? framer.consume(rest.span.bytes) { frame, header, _ in
      guard header.size <= frame.byteCount else { return }
      var payload: [UInt8] = []
      WebSocketMask.append(
        frame.extracting(droppingFirst: header.size), key: header.maskingKey ?? 0, to: &payload)
      switch header.opcode {
      case .ping: pings.append(payload)
      case .close: closing = true
      case .binary, .continuation, .text: arrival.cargo += payload
      default: break
      }
    }
    for ping in pings { arrival.answer += frame(.pong, ping) }
    if closing {
      arrival.answer += close()
      hasHeardClose = true
    }
    return arrival
  }

  /// Takes the request or the answer to it; returns what is answered, and what came behind it.
  private mutating func upgrade(_ bytes: [UInt8]) -> (answer: [UInt8], rest: [UInt8]) {
    switch reader.consume(bytes.span.bytes) {
    case .needMore: return ([], [])
    case .tooLarge:
      phase = .refused("the head of the other end's HTTP has no end")
      return ([], [])
    case .head(let head, let used):
      let answer = request.map { take(head, to: $0) } ?? accept(WebSocketRequest(head))
      return (answer, phase == .open ? Array(bytes.dropFirst(used)) : [])
    }
  }

  private mutating func take(_ head: HTTPHead, to request: WebSocketRequest) -> [UInt8] {
    let response = WebSocketResponse(head, to: request)
    phase =
      response.accepts
      ? .open : .refused("the server refuses WebSocket by status \(response.status)")
    return []
  }

  /// Accepts a client, with the subprotocol where it offers that (MQTT 5.0 section 6).
  private mutating func accept(_ request: WebSocketRequest) -> [UInt8] {
    phase = .open
    let offered = request.subprotocols.first { ["mqtt", "mqttv3.1"].contains($0) }
    return WebSocketResponse(accepting: request, subprotocol: offered).head.bytes
  }
}

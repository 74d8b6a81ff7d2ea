import RepriseCore
import SessionReplay
import Wire

/// A session of WebSocket without MQTT as a test writes it, an event a millisecond.
struct SocketDialogue {
  private(set) var events: [Event] = []

  /// Something that an end says.
  struct Line: Sendable {
    let sender: Peer
    let body: Event.Body
    let connection: Int

    static func client(_ body: Event.Body, on connection: Int = 1) -> Line {
      Line(sender: .client, body: body, connection: connection)
    }

    static func server(_ body: Event.Body, on connection: Int = 1) -> Line {
      Line(sender: .server, body: body, connection: connection)
    }
  }

  init(_ lines: [Line]) {
    for line in lines {
      let number = events.count + 1
      events.append(
        Event(
          EventContext(
            time: Dialogue.time(number), frame: number, connection: line.connection,
            sender: line.sender, wire: Self.wire(of: line.body)), line.body))
    }
  }

  private static func wire(of body: Event.Body) -> WireProtocol {
    if case .mqtt = body { .mqtt(.v3_1_1) } else { .webSocket }
  }

  /// What both ends do.
  func script(
    _ selection: ScriptReader.Selection = .init(), within window: ReplayWindow = .init()
  ) throws -> SessionScript {
    try events.script(selection, within: window)
  }
}

extension Event.Body {
  /// A request for WebSocket.
  static func ask(_ target: String, _ fields: [HTTPHead.Field] = []) -> Self {
    .handshake(.request(.asking(target, fields)))
  }

  /// The answer that accepts it.
  static func accept(_ subprotocol: String? = nil) -> Self {
    .handshake(
      .response(WebSocketResponse(accepting: .asking("/"), subprotocol: subprotocol)))
  }

  static func text(_ text: String, isFinal: Bool = true) -> Self {
    .webSocket(WebSocketFrame(.text, Array(text.utf8), isFinal: isFinal))
  }

  static func rest(_ text: String) -> Self {
    .webSocket(WebSocketFrame(.continuation, Array(text.utf8)))
  }

  static func binary(_ bytes: [UInt8]) -> Self { .webSocket(WebSocketFrame(.binary, bytes)) }

  static func control(_ opcode: WebSocketOpcode) -> Self { .webSocket(WebSocketFrame(opcode, [])) }

  static func close(_ code: UInt16) -> Self {
    .webSocket(WebSocketFrame(.close, [UInt8(code >> 8), UInt8(truncatingIfNeeded: code)]))
  }

  static func end(_ how: ConnectionClosing.How) -> Self {
    .closed(ConnectionClosing(how: how, firstFrame: 1, firstTime: Dialogue.time(1)))
  }

  /// It as an end says it in a run; nil for what is none of WebSocket.
  var unit: ReplayUnit? {
    switch self {
    case .handshake(let handshake): .handshake(handshake)
    case .webSocket(let frame): .frame(frame)
    default: nil
    }
  }
}

extension ReplayUnit {
  /// What it says, in a word or two.
  var words: String {
    switch self {
    case .packet(let packet): "\(packet.type.name)"
    case .handshake(.request(let request)): "GET \(request.target)"
    case .handshake(.response(let response)): "\(response.status)"
    case .frame(let frame):
      if frame.header.opcode == .text {
        String(decoding: frame.payload, as: UTF8.self)
      } else {
        "\(frame.header.opcode.name) \(frame.payload)"
      }
    }
  }
}

extension ReplayDifference {
  /// What differs, in a line.
  var words: String {
    "\(place): expected \(expected ?? "nothing"), actual \(actual ?? "nothing")"
  }
}

extension WebSocketRequest {
  static func asking(_ target: String, _ fields: [HTTPHead.Field] = []) -> WebSocketRequest {
    WebSocketRequest(
      target: target,
      fields: [
        .init("Host", "h"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        .init("Sec-WebSocket-Version", "13"),
      ] + fields)
  }
}

import RepriseCore
import Wire

/// MQTT in the binary frames of a WebSocket, as a client has it (MQTT 5.0 section 6, RFC 6455).
struct WebSocketCarrier {
  /// What came of bytes of the server.
  struct Arrival {
    /// The MQTT in them.
    var cargo: [UInt8] = []
    /// What has to be sent at once: Pong and Close frames.
    var answer: [UInt8] = []
  }

  /// How far it is.
  enum Phase: Equatable {
    case upgrading
    case open
    /// The server refused; the text is for people.
    case refused(String)
  }

  private(set) var phase = Phase.upgrading
  private let request: WebSocketRequest
  private var reader = HTTPHeadReader()
  private var framer = WebSocketFramer()
  private var hasClosed = false

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

  /// The request, to be sent first.
  var opening: [UInt8] { request.head.bytes }

  /// Puts MQTT into a frame.
  func wrap(_ bytes: [UInt8]) -> [UInt8] { Self.frame(.binary, bytes) }

  /// The Close frame, once.
  mutating func close() -> [UInt8] {
    guard phase == .open, !hasClosed else { return [] }
    hasClosed = true
    return Self.frame(.close, [0x03, 0xE8])
  }

  private static func frame(_ opcode: WebSocketOpcode, _ payload: [UInt8]) -> [UInt8] {
    WebSocketFrame(opcode, payload, maskingKey: UInt32.random(in: 0...UInt32.max)).encoded()
  }

  /// Takes bytes of the server.
  mutating func take(_ bytes: ArraySlice<UInt8>) -> Arrival {
    var rest = Array(bytes)
    if phase == .upgrading { rest = upgrade(rest) }
    guard phase == .open, !rest.isEmpty else { return Arrival() }
    var arrival = Arrival()
    var closing = false
    // What is no frame is recorded, and judged by others.
    try? framer.consume(rest.span.bytes) { frame, header, _ in
      guard header.size <= frame.byteCount else { return }
      let payload = frame.withUnsafeBytes { Array($0.dropFirst(header.size)) }
      switch header.opcode {
      case .ping: arrival.answer += Self.frame(.pong, payload)
      case .close: closing = true
      case .binary, .continuation, .text: arrival.cargo += payload
      default: break
      }
    }
    if closing { arrival.answer += close() }
    return arrival
  }

  /// Takes the answer to the request; returns what came behind it.
  private mutating func upgrade(_ bytes: [UInt8]) -> [UInt8] {
    switch reader.consume(bytes.span.bytes) {
    case .needMore: return []
    case .tooLarge:
      phase = .refused("the answer to the request for WebSocket has no end")
      return []
    case .head(let head, let used):
      let response = WebSocketResponse(head, to: request)
      guard response.accepts else {
        phase = .refused("the server refuses WebSocket by status \(response.status)")
        return []
      }
      phase = .open
      return Array(bytes.dropFirst(used))
    }
  }
}

/// What a request for WebSocket asks for.
package struct WebSocketTarget: Sendable, Hashable {
  /// The path, with its query.
  package var path: String
  /// The host, with its port where that is not the usual one.
  package var host: String
  /// Other fields of the request, by their names.
  package var headers: [String: String]
}

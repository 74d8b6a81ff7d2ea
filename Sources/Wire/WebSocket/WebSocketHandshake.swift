/// One half of an opening handshake (RFC 6455 section 1.3).
public indirect enum WebSocketHandshake: Sendable, Hashable {
  /// A client asks to speak WebSocket.
  case request(WebSocketRequest)
  /// The server answers.
  case response(WebSocketResponse)

  /// The name in capitals; a server that does not switch refuses.
  public var name: StaticString {
    switch self {
    case .request: "UPGRADE"
    case .response(let response): response.accepts ? "UPGRADED" : "REFUSED"
    }
  }

  /// The head of the request or response.
  public var head: HTTPHead {
    switch self {
    case .request(let request): request.head
    case .response(let response): response.head
    }
  }

  /// The rules that it breaks, in the order of their places.
  public var faults: [WebSocketFault] {
    switch self {
    case .request(let request): request.faults
    case .response(let response): response.faults
    }
  }
}

import RepriseCore

/// What a client of a ``WebSocketServer`` did.
public enum WebSocketServerEvent: Sendable, Hashable {
  /// A message of text, its fragments joined (RFC 6455 section 5.6).
  case text(String)
  /// A message of bytes.
  case binary([UInt8])
  /// A PONG with what it carries: the answer to a PING, or a sign of life unasked (section 5.5.3).
  case pong([UInt8])
  /// The connection is over. It is told once, and nothing follows.
  case closed(WebSocketClosure)
}

/// How a connection of a ``WebSocketServer`` ended (RFC 6455 section 7.1).
public enum WebSocketClosure: Sendable, Hashable {
  /// The client's Close frame came first, with a code or without one, and was answered.
  case byClient(code: UInt16?, reason: String)
  /// The server's Close frame came first, and the client answered with its own.
  case byServer(code: UInt16?, reason: String)
  /// The client broke a rule, and was told so with a code (section 7.1.7).
  case failed(code: UInt16, message: String)
  /// The server ended it without a Close frame.
  case dropped
  /// It ended without Close frames on both sides: cut, reset, or silent for too long.
  case lost(String)
}

extension WebSocketServerEvent {
  /// An event, and when it came.
  struct Told: Sendable {
    let event: WebSocketServerEvent
    let moment: Timestamp
  }

  /// About how many bytes of memory the event holds.
  var weight: Int {
    switch self {
    case .text(let text): 128 + text.utf8.count
    case .binary(let bytes), .pong(let bytes): 128 + bytes.count
    case .closed: 128
    }
  }
}

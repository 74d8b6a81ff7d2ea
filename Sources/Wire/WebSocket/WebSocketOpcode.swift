/// What a frame is: the lower four bits of its first byte (RFC 6455 section 5.2).
public struct WebSocketOpcode: RawRepresentable, Sendable, Hashable {
  /// The four bits (0...15).
  public let rawValue: UInt8

  /// Creates an opcode; bits above the lower four are dropped.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

  /// A fragment that goes on with a message.
  public static let continuation = WebSocketOpcode(rawValue: 0)
  /// A message of UTF-8 text, or its first fragment.
  public static let text = WebSocketOpcode(rawValue: 1)
  /// A message of any bytes, or its first fragment.
  public static let binary = WebSocketOpcode(rawValue: 2)
  /// The end of the connection, announced.
  public static let close = WebSocketOpcode(rawValue: 8)
  /// The question whether the other side lives.
  public static let ping = WebSocketOpcode(rawValue: 9)
  /// The answer to a ping, or a sign of life unasked.
  public static let pong = WebSocketOpcode(rawValue: 10)

  /// Whether frames of this kind control the connection and carry no part of a message.
  public var isControl: Bool { rawValue & 0b1000 != 0 }

  /// Whether the RFC gives the opcode a meaning.
  public var isDefined: Bool { rawValue <= 2 || (8...10).contains(rawValue) }

  /// The name in capitals; `RESERVED` for one without a meaning.
  public var name: StaticString {
    switch rawValue {
    case 0: "CONTINUATION"
    case 1: "TEXT"
    case 2: "BINARY"
    case 8: "CLOSE"
    case 9: "PING"
    case 10: "PONG"
    default: "RESERVED"
    }
  }
}

/// The two ends of a WebSocket connection, whose frames differ: only a client masks (section 5.1).
public enum WebSocketRole: Sendable, Hashable, CaseIterable {
  /// The one who asked for the connection.
  case client
  /// The one who accepted it.
  case server
}

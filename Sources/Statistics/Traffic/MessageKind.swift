import RepriseCore
internal import Wire

/// What an event is, by the names of `inspect`, as a small number.
package struct MessageKind: Sendable, Hashable, CaseIterable {
  /// The place in tables: MQTT's types first, then WebSocket's opcodes, then the rest.
  let index: Int

  private static let others: [(protocolName: StaticString, name: StaticString)] = [
    ("connection", "OPEN"), ("connection", "CLOSE"), ("connection", "ATTEMPT"),
    ("connection", "GAP"), ("connection", "MALFORMED"), ("websocket", "UPGRADE"),
    ("websocket", "UPGRADED"), ("websocket", "REFUSED"), ("http", "REQUEST"),
    ("http", "RESPONSE"), ("http", "UNANSWERED"), ("tls", "TLS"), ("tls", "ALERT"),
  ]
  private static let firstOpcode = 16
  private static let firstOther = 32
  /// How many kinds there are.
  static let count = firstOther + others.count

  package static let allCases = (0..<count).map { MessageKind(index: $0) }

  init(index: Int) { self.index = index }

  private init(other: Int) { self.init(index: Self.firstOther + other) }

  /// Tells what an event is.
  init(_ event: borrowing EventView) {
    switch event.body {
    case .mqtt(let packet): self.init(index: Int(packet.type.rawValue))
    case .webSocket(let frame): self.init(index: Self.firstOpcode + Int(frame.opcode.rawValue))
    case .opened: self.init(other: 0)
    case .closed: self.init(other: 1)
    case .attempted: self.init(other: 2)
    case .gap: self.init(other: 3)
    case .malformed: self.init(other: 4)
    case .handshake(.request): self.init(other: 5)
    case .handshake(.response(let response)): self.init(other: response.accepts ? 6 : 7)
    case .http(.request): self.init(other: 8)
    case .http(.response): self.init(other: 9)
    case .http(.unanswered): self.init(other: 10)
    case .tls(.handshake): self.init(other: 11)
    case .tls(.alert): self.init(other: 12)
    }
  }

  /// The name in capitals, as `inspect` shows it.
  package var name: String {
    switch index {
    case 0..<Self.firstOpcode:
      "\((MQTTPacketType(rawValue: UInt8(index)) ?? .reserved).name)"
    case Self.firstOpcode..<Self.firstOther:
      "\(WebSocketOpcode(rawValue: UInt8(index - Self.firstOpcode)).name)"
    default: "\(Self.others[index - Self.firstOther].name)"
    }
  }

  /// What it belongs to: `mqtt`, `websocket`, `http`, `tls`, or `connection`.
  var protocolName: String {
    switch index {
    case 0..<Self.firstOpcode: "mqtt"
    case Self.firstOpcode..<Self.firstOther: "websocket"
    default: "\(Self.others[index - Self.firstOther].protocolName)"
    }
  }
}

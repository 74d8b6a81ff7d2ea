import Wire

/// What a filter can ask of an event.
enum FilterField: String, Sendable, Equatable, CaseIterable {
  case type, from, connection, topic, filter, client, time
  case version = "protocol"
  case qos, retain, dup, id, length, frame, payload, code, over, fin, masked, fault
  case username, address, port, method, target

  /// The kind of values that the field is compared with.
  var kind: Kind {
    switch self {
    case .type: .name(FilterEventType.names)
    case .from: .name(Peer.allCases.map(\.rawValue))
    case .version:
      .name(["mqtt", "mqtt-3.1", "mqtt-3.1.1", "mqtt-5.0", "websocket", "http", "tls"])
    case .over: .name(Carrier.allCases.map(\.rawValue))
    case .topic, .filter, .client, .username, .address, .payload, .method, .target: .text
    case .time: .time
    case .connection, .port, .qos, .id, .length, .frame, .code: .number
    case .retain, .dup, .fin, .masked, .fault: .flag
    }
  }

  /// The kinds of values.
  enum Kind: Sendable, Equatable {
    /// One of some names.
    case name([String])
    /// Any text.
    case text
    /// A whole number.
    case number
    /// A moment or a time of day.
    case time
    /// True or false; the field stands alone.
    case flag
  }

  /// The comparisons that have a meaning for the field.
  var comparisons: [FilterComparison] {
    switch kind {
    case .name, .flag: [.equal, .notEqual]
    case .text: [.equal, .notEqual, .matches, .contains]
    case .number, .time: [.equal, .notEqual, .less, .atMost, .greater, .atLeast]
    }
  }
}

/// The types of events, by the names that `inspect` shows.
enum FilterEventType: Sendable, Equatable {
  case opened, closed, attempted, gap, malformed
  case packet(MQTTPacketType)
  case frame(WebSocketOpcode)
  case handshake(String)
  /// A step of an exchange over HTTP.
  case http(String)
  /// What is said of TLS.
  case tls(String)
  /// A packet or frame of a type that has no meaning.
  case reserved

  private static let handshakes = ["UPGRADE", "UPGRADED", "REFUSED"]
  private static let steps = ["REQUEST", "RESPONSE", "UNANSWERED"]
  private static let secured = ["TLS", "ALERT"]

  static let names: [String] =
    MQTTPacketType.allCases.map { String(describing: $0.name) }
    + WebSocketOpcode.named.filter { $0 != .close }.map { String(describing: $0.name) }
    + handshakes + steps + secured + ["OPEN", "CLOSE", "ATTEMPT", "GAP", "MALFORMED"]

  init?(name: String) {
    switch name {
    case "OPEN": self = .opened
    case "CLOSE": self = .closed
    case "ATTEMPT": self = .attempted
    case "GAP": self = .gap
    case "MALFORMED": self = .malformed
    case "RESERVED": self = .reserved
    default:
      if let type = MQTTPacketType(name: name) {
        self = .packet(type)
      } else if let opcode = WebSocketOpcode.named.first(where: { "\($0.name)" == name }) {
        self = .frame(opcode)
      } else if Self.handshakes.contains(name) {
        self = .handshake(name)
      } else if Self.steps.contains(name) {
        self = .http(name)
      } else if Self.secured.contains(name) {
        self = .tls(name)
      } else {
        return nil
      }
    }
  }

  func isType(of event: borrowing EventView) -> Bool {
    switch event.body {
    case .opened: self == .opened
    case .closed: self == .closed
    case .attempted: self == .attempted
    case .gap: self == .gap
    case .malformed: self == .malformed
    case .mqtt(let packet): self == (packet.type == .reserved ? .reserved : .packet(packet.type))
    case .webSocket(let frame): isType(of: frame.opcode)
    case .handshake(let handshake):
      if case .handshake(let name) = self { name == "\(handshake.name)" } else { false }
    case .tls(let part):
      if case .tls(let name) = self { name == "\(part.name)" } else { false }
    case .http(let part):
      if case .http(let name) = self { name == "\(part.name)" } else { false }
    }
  }
}

extension FilterEventType {
  /// CLOSE is what it says, be it a frame or the end of a connection.
  private func isType(of opcode: WebSocketOpcode) -> Bool {
    if opcode == .close { return self == .closed }
    return self == (opcode.isDefined ? .frame(opcode) : .reserved)
  }
}

/// What a field is compared with.
enum FilterValue: Sendable, Equatable {
  case type(FilterEventType)
  case peer(Peer)
  /// A version, or MQTT of an unknown one.
  case version(MQTTVersion?)
  case webSocket
  case http
  case tls
  case carrier(Carrier)
  case text([UInt8])
  case number(Int)
  /// The name of return or reason codes.
  case reason(FilterReason)
  case moment(Timestamp)
  /// Nanoseconds since the first event of the file.
  case sinceStart(Int64)
  /// Nanoseconds since midnight UTC.
  case timeOfDay(Int64)
}

/// A filter expression, understood.
indirect enum FilterExpression: Sendable, Equatable {
  case comparison(FilterField, FilterComparison, FilterValue)
  case isAny(FilterField, of: [FilterValue])
  case flag(FilterField, is: Bool)
  /// A member of a payload that is JSON.
  case member(FilterMember, FilterComparison, FilterMember.Value)
  case and(FilterExpression, FilterExpression)
  case or(FilterExpression, FilterExpression)
  case not(FilterExpression)

  /// Whether a field is asked for anywhere.
  func uses(_ field: FilterField) -> Bool {
    switch self {
    case .comparison(let other, _, _), .isAny(let other, _), .flag(let other, _): other == field
    case .and(let first, let second), .or(let first, let second):
      first.uses(field) || second.uses(field)
    case .not(let inner): inner.uses(field)
    case .member: field == .payload
    }
  }
}

import Wire

extension FilterMemory {
  /// What is to be remembered.
  struct Wanted: OptionSet, Sendable {
    let rawValue: UInt8

    static let client = Wanted(rawValue: 1)
    static let username = Wanted(rawValue: 2)
    static let address = Wanted(rawValue: 4)
    static let topic = Wanted(rawValue: 8)
  }

  /// Takes from an event what later ones of its connection don't say again.
  /// - Parameters:
  ///   - wanted: What is to be remembered.
  ///   - event: The next event of the session.
  mutating func learn(_ wanted: Wanted, from event: borrowing EventView) {
    guard !wanted.isEmpty else { return }
    let connection = event.context.connection
    switch event.body {
    case .opened(let opening) where wanted.contains(.address):
      let ends = [opening.client, opening.server].map(FilterAddress.init)
      setAddresses(ends, of: connection)
    case .attempted(let attempt):
      if wanted.contains(.address) {
        setAddresses([FilterAddress(attempt.server)], of: connection)
      }
      attempt.withConnect(as: event.context.wire.version) { packet in
        learn(wanted, connect: packet, connection)
      }
    case .mqtt(let packet): learn(wanted, packet, event.context)
    case .tls(.handshake(let hellos)) where wanted.contains(.address):
      let ends = [hellos.client, hellos.server].map(FilterAddress.init)
      setAddresses(ends, of: connection)
    case .opened, .closed, .gap, .malformed, .handshake, .webSocket, .http, .tls: return
    }
  }

  /// Forgets the connection that an event ends, if it ends one.
  mutating func forget(after event: borrowing EventView) {
    switch event.body {
    case .closed, .attempted: forget(event.context.connection)
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http, .tls: break
    }
  }

  private mutating func learn(
    _ wanted: Wanted, connect packet: borrowing MQTTPacketView, _ connection: Int
  ) {
    guard let connect = packet.connect else { return }
    if wanted.contains(.client) { setClient(Array(copying: connect.clientID), of: connection) }
    if wanted.contains(.username), connect.hasUsername {
      setUsername(Array(copying: connect.username), of: connection)
    }
  }

  private mutating func learn(
    _ wanted: Wanted, _ packet: borrowing MQTTPacketView, _ context: EventContext
  ) {
    switch packet.type {
    case .connect: learn(wanted, connect: packet, context.connection)
    case .connack:
      if wanted.contains(.client), let bytes = packet.assignedClientID {
        setClient(bytes, of: context.connection)
      }
    case .publish:
      guard wanted.contains(.topic), !packet.topic.isEmpty, let alias = packet.topicAlias else {
        return
      }
      setTopic(Array(copying: packet.topic), alias, of: context.sender, on: context.connection)
    default: return
    }
  }
}

extension FilterMemory.Wanted {
  /// What an expression asks for.
  init(_ expression: FilterExpression) {
    self = []
    if expression.uses(.client) { insert(.client) }
    if expression.uses(.username) { insert(.username) }
    if expression.uses(.address) || expression.uses(.port) { insert(.address) }
    if expression.uses(.topic) { insert(.topic) }
  }
}

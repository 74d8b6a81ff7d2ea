import Wire

/// Something that a replay has to do with: an action, what the server sent, an end, or a hole.
struct ReplayEntry: Sendable {
  let event: Event
  let role: ReplayEventRole
}

/// What an event of the life is for a replay.
enum ReplayEventRole {
  /// An action of the user.
  case action
  /// Something that the server sent.
  case fromServer
  /// The end of a connection.
  case closing
  /// Missing bytes.
  case hole
  /// What the protocol does by itself.
  case nothing
}

extension Event {
  /// Tells what the event is for a replay that knows which connections lack their CONNECT.
  @inline(__always)
  func role(_ implied: Set<Int>) -> ReplayEventRole {
    switch body {
    case .mqtt(let packet):
      guard let first = packet.bytes.first else { return .hole }
      let role = role(MQTTPacketType(firstByte: first), isRepeated: first & 0b1000 != 0)
      if packet.size == packet.bytes.count { return isRefusedMessage ? .fromServer : role }
      // What nobody waits for may be cut.
      if case .nothing = role { return .nothing }
      return .hole
    case .opened: return implied.contains(context.connection) ? .action : .nothing
    // What carries packets is the work of the library; the packets come behind it.
    case .handshake, .webSocket: return .nothing
    case .closed: return .closing
    case .gap, .malformed: return .hole
    }
  }

  private func role(_ type: MQTTPacketType, isRepeated: Bool) -> ReplayEventRole {
    switch (type, context.sender) {
    case (.publish, .client), (.subscribe, .client), (.unsubscribe, .client):
      // What is sent again is the work of the library, not of its user.
      isRepeated ? .nothing : .action
    case (.connect, .client), (.disconnect, .client): .action
    case (.connack, .server), (.publish, .server), (.puback, .server), (.pubcomp, .server),
      (.suback, .server), (.unsuback, .server), (.disconnect, .server):
      .fromServer
    // It has no time of its own, but frees the identifier of a message.
    case (.pubrel, .server): .fromServer
    default: .nothing
    }
  }

  /// Whether the server refuses a message of QoS 2, so that its exchange ends with PUBREC.
  private var isRefusedMessage: Bool {
    guard packetType == .pubrec, context.sender == .server else { return false }
    return withView { view in
      guard case .mqtt(let packet) = view.body else { return false }
      return packet.refusal != nil
    }
  }

  /// Whether an event of the server is one that users get.
  var isForUser: Bool { packetType != .pubrel }

  /// Whether an event is the end of a connection, and not of the capture.
  var endsConnection: Bool {
    guard case .closed(let closing) = body else { return false }
    return closing.how != .endOfCapture
  }

  /// The packet identifier of a packet that the server answers by it.
  var packetID: UInt16? {
    withView { view in
      guard case .mqtt(let packet) = view.body else { return nil }
      return packet.packetID
    }
  }
}

import Wire

/// Something that a replay has to do with: an action, what the server sent, an end, or a hole.
///
/// An object, as entries go from hand to hand and events are large.
final class ReplayEntry: Sendable {
  let event: Event
  let role: ReplayEventRole
  /// About how many bytes of memory the entry takes.
  let size: Int

  init(_ event: Event, _ role: ReplayEventRole) {
    self.event = event
    self.role = role
    switch event.body {
    case .mqtt(let packet): size = Self.ownSize + packet.bytes.count
    case .webSocket(let frame): size = Self.ownSize + 256 + frame.payload.count
    case .attempted(let attempt):
      size = Self.ownSize + (attempt.connect?.bytes.count ?? 0)
    case .http(let part): size = Self.ownSize + part.size
    case .opened, .closed, .gap, .malformed, .handshake, .tls: size = Self.ownSize
    }
  }

  /// With the headers of the two objects that it consists of.
  private static let ownSize = MemoryLayout<Event>.stride + 64
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

extension ReplayEventRole {
  /// The role of a packet that is whole, unless it refuses a message.
  init(_ type: MQTTPacketType, _ firstByte: UInt8, from sender: Peer) {
    switch (type, sender) {
    case (.publish, .client), (.subscribe, .client), (.unsubscribe, .client):
      // What is sent again is the work of the library, not of its user.
      self = firstByte & 0b1000 != 0 ? .nothing : .action
    case (.connect, .client), (.disconnect, .client): self = .action
    case (.connack, .server), (.publish, .server), (.puback, .server), (.pubcomp, .server),
      (.suback, .server), (.unsuback, .server), (.disconnect, .server):
      self = .fromServer
    // It has no time of its own, but frees the identifier of a message.
    case (.pubrel, .server): self = .fromServer
    default: self = .nothing
    }
  }
}

extension Event {
  /// Tells what the event is for a replay that knows which connections lack their CONNECT.
  @inline(__always)
  func role(_ implied: Set<Int>) -> ReplayEventRole {
    switch body {
    case .mqtt(let packet):
      guard let first = packet.bytes.first else { return .hole }
      let role = ReplayEventRole(MQTTPacketType(firstByte: first), first, from: context.sender)
      if packet.size == packet.bytes.count { return isRefusedMessage ? .fromServer : role }
      // What nobody waits for may be cut.
      if case .nothing = role { return .nothing }
      return .hole
    case .opened: return implied.contains(context.connection) ? .action : .nothing
    case .handshake(let handshake): return handshake.replayRole
    case .webSocket(let frame): return frame.replayRole(from: context.sender)
    case .http(let part): return part.replayRole
    case .closed, .attempted: return .closing
    case .gap, .malformed: return .hole
    case .tls: return .nothing
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

  /// Whether an event is an end that somebody is told of: that of a connection, and not of the capture, or that of an
  /// attempt which the user did not give up itself.
  var isToldEnd: Bool {
    switch body {
    case .closed(let closing): closing.how != .endOfCapture
    case .attempted(let attempt): attempt.how == .failed
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http, .tls: false
    }
  }

  /// The packet identifier of a packet that the server answers by it.
  var packetID: UInt16? {
    withView { view in
      guard case .mqtt(let packet) = view.body else { return nil }
      return packet.packetID
    }
  }
}

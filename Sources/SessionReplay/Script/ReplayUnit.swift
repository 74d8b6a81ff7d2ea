package import RepriseCore
package import Wire

/// What an end of a connection says at once, recorded or in this run.
package enum ReplayUnit: Sendable {
  /// A packet of MQTT.
  case packet(ReplayPacket)
  /// A half of the opening handshake of a WebSocket that carries no MQTT.
  case handshake(WebSocketHandshake)
  /// A whole message of such a WebSocket as one frame, a Close, or a Ping; inflated, and without a mask.
  case frame(WebSocketFrame)

  /// The packet; nil where it is none of MQTT.
  package var packet: ReplayPacket? {
    if case .packet(let packet) = self { packet } else { nil }
  }

  /// The frame; nil where it is none.
  var frame: WebSocketFrame? {
    if case .frame(let frame) = self { frame } else { nil }
  }

  /// How many bytes of memory it takes, about.
  var size: Int {
    switch self {
    case .packet(let packet): packet.bytes.count
    case .handshake(let handshake): handshake.head.bytes.count
    case .frame(let frame): frame.payload.count
    }
  }

  // MARK: What it is to a session

  /// Whether nothing comes before it, and what follows waits for it.
  var isOpening: Bool {
    switch self {
    case .packet(let packet): packet.type == .connect || packet.type == .connack
    case .handshake: true
    case .frame: false
    }
  }

  /// Whether whoever sends it leaves: DISCONNECT, or the Close frame that begins the end.
  var isFarewell: Bool {
    switch self {
    case .packet(let packet): packet.type == .disconnect
    case .handshake: false
    case .frame(let frame): frame.header.opcode == .close
    }
  }

  /// Whether it is a message, for which nobody sees what a server waits.
  var isMessage: Bool {
    switch self {
    case .packet(let packet): packet.type == .publish
    case .handshake: false
    case .frame(let frame): !frame.header.opcode.isControl
    }
  }

  /// Whether it asks only whether the other end lives, by a Ping frame.
  var isPing: Bool { frame?.header.opcode == .ping }

  /// What it is called: `PUBLISH`, `UPGRADE`, `TEXT`.
  var name: String {
    switch self {
    case .packet(let packet): "\(packet.type.name)"
    case .handshake(let handshake): "\(handshake.name)"
    case .frame(let frame): "\(frame.header.opcode.name)"
    }
  }

  // MARK: How it is shown

  /// It as an event.
  /// - Parameters:
  ///   - place: Where it stands in the session.
  ///   - sender: The end that sends it.
  ///   - time: When.
  /// - Returns: The event.
  package func event(at place: ReplayPlace, from sender: Peer, _ time: Timestamp) -> Event {
    let (wire, body): (WireProtocol, Event.Body) =
      switch self {
      case .packet(let packet): (.mqtt(packet.version), .mqtt(PacketBytes(packet.bytes)))
      case .handshake(let handshake): (.webSocket, .handshake(handshake))
      case .frame(let frame): (.webSocket, .webSocket(Self.masked(frame, by: sender)))
      }
    return Event(
      EventContext(
        time: time, frame: place.frame, connection: place.connection, sender: sender, wire: wire),
      body)
  }

  /// A frame as it was on its way: those of clients were masked (RFC 6455 section 5.1).
  private static func masked(_ frame: WebSocketFrame, by sender: Peer) -> WebSocketFrame {
    guard sender == .client else { return frame }
    var frame = frame
    frame.header.maskingKey = 0
    return frame
  }

  /// It in a line for people, with secrets hidden.
  var summary: String {
    let nowhere = ReplayPlace(frame: 0, connection: 0, time: Timestamp(nanoseconds: 0))
    return event(at: nowhere, from: .client, nowhere.time).summary
  }
}

extension Event {
  /// What happens in a line for people, with secrets hidden.
  var summary: String {
    var writer = EventTextWriter()
    var line: [UInt8] = []
    withView { writer.appendBody($0, to: &line) }
    // The columns of inspect are none here.
    let words = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 1)
    return words.map { $0.drop { $0 == " " } }.joined(separator: " ")
  }
}

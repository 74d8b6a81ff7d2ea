import RepriseCore
import Wire

/// What a connection did that tells how it ended and what its keep-alive was used for.
struct ConnectionCourse {
  /// How the connection came into view; nil where no event tells it.
  private(set) var opening: ConnectionOpening?
  /// The client's identifier; nil where it is not known.
  private(set) var client: Name?
  /// Whether control packets were seen.
  private(set) var isMQTT = false
  /// The keep-alive in seconds, as the client asked for it, or as the server set it; 0 is none, nil not known.
  private(set) var keepAlive: Int?
  /// How many PINGREQs the client sent.
  private(set) var pings = 0
  /// The longest time between two packets of the client, in nanoseconds, where the capture shows all between them.
  private(set) var longestSilence: Int?
  /// How often that time was longer than one and a half times the keep-alive.
  private(set) var overruns = 0
  /// The code of a CONNACK that refuses.
  private(set) var refusal: UInt8?
  /// Whether CONNACK has accepted the client.
  private(set) var isAccepted = false
  /// The connection that took this one over.
  var rival: Rival?
  /// The last event of the client.
  private(set) var lastOfClient: Timestamp?

  private var disconnect: (peer: Peer, code: UInt8?)?
  private var webSocketClose: (peer: Peer, code: UInt16?)?
  private var alert: (peer: Peer, code: UInt8)?
  /// Whether bytes of an end are missing behind its last message.
  private var isBlind = BothPeers(false)
  /// Whether the last that an end sent can't be read or breaks the format.
  private var isFaulty = BothPeers(false)
  /// Since when the client was silent; nil where bytes are missing since.
  private var silenceBegan: Timestamp?
  /// What is missing is not told where the recording leaves pings out.
  private var hasPings = true

  /// How much longer than it has to a server waits at least, in nanoseconds: its clock is not that of the capture.
  private static let tolerance: Int64 = 100_000_000
  /// How long after the CONNECT of a newer connection a server may close the older one because of it, in nanoseconds.
  private static let takeoverTime: Int64 = 10_000_000_000

  /// Creates the course of a new connection.
  init() {}

  /// Takes the next event of the connection.
  mutating func consume(_ event: borrowing EventView) {
    let context = event.context
    switch event.body {
    case .opened(let opened):
      opening = opened
      hasPings = opened.hasPings
    case .mqtt(let packet):
      isMQTT = true
      note(context, isFaulty: packet.hasFaults)
      consume(packet, context)
    case .webSocket(let frame):
      // What is missing of the packets in frames the frames don't tell.
      if !isMQTT { note(context, isFaulty: !frame.faults.isEmpty) }
      if frame.opcode == .close, webSocketClose == nil {
        webSocketClose = (context.sender, frame.closeCode)
      }
    case .handshake(let handshake): note(context, isFaulty: !handshake.faults.isEmpty)
    case .http: note(context, isFaulty: false)
    case .gap:
      isBlind[context.sender] = true
      isFaulty[context.sender] = false
      if context.sender == .client { silenceBegan = nil }
    case .malformed:
      isBlind[context.sender] = true
      isFaulty[context.sender] = true
      if context.sender == .client { silenceBegan = nil }
    case .tls(.alert(let told)):
      if told.isFatal, told.code != 0, alert == nil { alert = (context.sender, told.code) }
    case .tls, .closed, .attempted: return
    }
  }

  private mutating func note(_ context: EventContext, isFaulty: Bool) {
    isBlind[context.sender] = false
    self.isFaulty[context.sender] = isFaulty
    if context.sender == .client { lastOfClient = context.time }
  }

  private mutating func consume(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    if context.sender == .client {
      endSilence(context.time)
      silenceBegan = context.time
    }
    switch packet.type {
    case .connect:
      guard let connect = packet.connect else { return }
      client = Name(connect.clientID)
      keepAlive = Int(connect.keepAlive)
    case .connack:
      if let code = packet.reasonCode, code != 0 { refusal = code } else { isAccepted = true }
      if let assigned = packet.assignedClientID { client = Name(assigned.span.bytes) }
      if let seconds = packet.properties.integer(.serverKeepAlive) { keepAlive = seconds }
    case .pingreq: pings += 1
    case .disconnect:
      if disconnect == nil { disconnect = (context.sender, packet.reasonCode) }
    default: return
    }
  }

  /// The longest silence that the server has to bear, in nanoseconds; nil where there is no keep-alive.
  private var limit: Int64? {
    guard let keepAlive, keepAlive > 0, hasPings else { return nil }
    return Int64(keepAlive) * 1_500_000_000
  }

  private mutating func endSilence(_ time: Timestamp) {
    guard let silenceBegan, hasPings else { return }
    let silence = time.nanoseconds(since: silenceBegan)
    guard silence >= 0 else { return }
    longestSilence = max(longestSilence ?? 0, Int(silence))
    if let limit, silence > limit { overruns += 1 }
  }

  /// Tells how the connection ended, as its last event says.
  /// - Parameters:
  ///   - closing: What the event says.
  ///   - closer: The peer that began it.
  /// - Returns: The end.
  mutating func end(_ closing: ConnectionClosing, by closer: Peer) -> ConnectionEnd {
    if disconnect == nil, closing.how != .endOfCapture { endSilence(closing.firstTime) }
    if let told = toldEnd { return told }
    let peer = closer
    guard closing.how != .endOfCapture else { return ConnectionEnd(cause: .endOfCapture) }
    guard !isBlind.client, !isBlind.server else {
      // Bytes that can't be read are there, and close a connection; those that are missing may say anything.
      return isFaulty[peer.other] && !isBlind[peer]
        ? ConnectionEnd(cause: .fault, peer: peer) : ConnectionEnd(cause: .unknown)
    }
    if peer == .server, let cause = causeOfServer(closing) {
      return ConnectionEnd(cause: cause, peer: .server)
    }
    if isFaulty[peer.other] { return ConnectionEnd(cause: .fault, peer: peer) }
    return ConnectionEnd(cause: closing.how == .fin ? .fin : .reset, peer: peer)
  }

  /// The end that the ends told themselves.
  private var toldEnd: ConnectionEnd? {
    if let refusal { return ConnectionEnd(cause: .refused, peer: .server, code: Int(refusal)) }
    if let disconnect {
      // A code that stands for itself says no more than none.
      let code = disconnect.code.flatMap { $0 == 0 ? nil : Int($0) }
      let cause: ConnectionEnd.Cause =
        disconnect.peer == .client
        ? .disconnected : code == 0x8E ? .takenOver : code == 0x8D ? .keepAlive : .disconnected
      return ConnectionEnd(cause: cause, peer: disconnect.peer, code: code)
    }
    if let alert { return ConnectionEnd(cause: .alert, peer: alert.peer, code: Int(alert.code)) }
    if let webSocketClose {
      return ConnectionEnd(
        cause: .webSocketClose, peer: webSocketClose.peer, code: webSocketClose.code.map(Int.init))
    }
    return nil
  }

  /// Why a server closed the connection that said nothing, where what was before shows it.
  private func causeOfServer(_ closing: ConnectionClosing) -> ConnectionEnd.Cause? {
    if let rival {
      let delay = closing.firstTime.nanoseconds(since: rival.time)
      if delay >= 0, delay <= Self.takeoverTime { return .takenOver }
    }
    if let limit, let silenceBegan,
      closing.firstTime.nanoseconds(since: silenceBegan) >= limit - Self.tolerance
    {
      return .keepAlive
    }
    return nil
  }
}

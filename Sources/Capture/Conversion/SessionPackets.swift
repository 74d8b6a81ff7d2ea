package import RepriseCore
internal import Wire

/// Writes the events of a recording as the packets that a capture would have of its connections.
///
/// Bytes that are not known are left out of the streams, so that whoever reads the packets sees that they are missing.
/// Each connection has the addresses that the recording names; a host without an address gets one of those that stand
/// for no host (RFC 5737), and its name is said in a comment.
package struct SessionPackets {
  /// Takes a packet of raw IP in two pieces, which are valid during the call only.
  package typealias Taker = (
    _ time: Timestamp, _ comments: [String], _ header: RawSpan, _ payload: RawSpan
  ) -> Void

  /// What of a session could not be written as it was.
  package struct Losses: Equatable {
    /// How many bodies of HTTP stand in another framing or coding than they were sent in.
    package var bodies = 0
    /// How many times bytes are missing because the recording does not have them.
    package var gaps = 0
    /// How many attempts to connect there were, of which nothing is on a wire.
    package var attempts = 0
    /// How many connections had been decrypted, and are written in plain.
    package var decrypted = 0
    /// How many connections were encrypted, so that nothing of them is in the recording.
    package var encrypted = 0
    /// How many connections have a port that Wireshark does not take for what they speak.
    package var unknownPorts = 0

    /// Creates no losses.
    package init() {}
  }

  /// Bytes that are missing.
  private struct Hole {
    let sender: Peer
    let count: Int
    let time: Timestamp
    let comment: String
  }

  private struct Connection {
    typealias Taker = (_ comments: [String], _ header: RawSpan, _ payload: RawSpan) -> Void

    var tcp: SyntheticTCP
    /// What is to be said of the next packet.
    var comments: [String]
    /// What is missing before what comes next.
    var hole: Hole?
    /// Whether frames of WebSocket show what carries the MQTT, which then is in them.
    var showsCarrier = false
    /// The messages that are told uncompressed.
    var plain = PlainMessages()
    /// Where PINGREQs are missing; nil where the recording has them.
    var pings: UnrecordedPings?

    mutating func send(from sender: Peer, _ bytes: RawSpan, _ take: Taker) {
      var said = comments
      comments = []
      tcp.send(from: sender, bytes) {
        take(said, $0, $1)
        said = []
      }
    }

    mutating func skip(
      _ count: Int, from sender: Peer, saying comment: String, _ take: Taker
    ) {
      var said = comments + [comment]
      comments = []
      tcp.skip(count, from: sender) {
        take(said, $0, $1)
        said = []
      }
    }

    /// Notes that from here on a proxy altered what an end sends.
    mutating func alter(_ sender: Peer) {
      tcp.alter(sender)
      comments.append("from here on a proxy altered what the \(sender.rawValue) sent")
    }
  }

  private let take: Taker
  private let usesKnownPorts: Bool
  private var halfCloses: HalfCloses
  private var connections: [Int: Connection] = [:]
  private var names: [String: UInt32] = [:]
  /// What could not be written as it was.
  package internal(set) var losses = Losses()
  /// How many connections were written.
  package private(set) var count = 0

  /// Prepares to write packets.
  /// - Parameters:
  ///   - usesKnownPorts: Whether servers have the ports by which Wireshark knows what they speak; comments tell the
  ///     real ones.
  ///   - halfCloses: The ends that have their place in front of what the other ends said behind them.
  ///   - take: Takes them.
  package init(
    usesKnownPorts: Bool = false, _ halfCloses: HalfCloses = HalfCloses(), _ take: @escaping Taker
  ) {
    self.usesKnownPorts = usesKnownPorts
    self.halfCloses = halfCloses
    self.take = take
  }

  /// Takes the next event.
  package mutating func consume(_ event: borrowing EventView) {
    let number = event.context.connection
    openIfNeeded(event)
    settleHole(before: event)
    settlePings(before: event)
    if let end = halfCloses.take(before: event) { finish(end, of: number) }
    switch event.body {
    case .opened(let opening): open(opening, event.context)
    case .closed(let closing): close(closing, event.context)
    case .attempted: losses.attempts += 1
    case .gap(let gap) where gap.reason == .altered:
      connections[number]?.alter(event.context.sender)
    case .gap(let gap):
      skip(gap.bytes, event.context, saying: "missing: \(gap.reason.rawValue)")
    case .malformed(let malformation):
      skip(0, event.context, saying: "bytes that could not be read: \(malformation.message)")
    case .mqtt(let packet):
      guard !isCarried(event.context) else { return }
      send(packet.bytes, missing: packet.header.packetSize - packet.bytes.byteCount, event.context)
    case .handshake(let handshake):
      connections[number]?.showsCarrier = true
      let bytes = handshake.head.bytes
      send(bytes.span.bytes, missing: 0, event.context)
    case .webSocket(let frame):
      connections[number]?.showsCarrier = true
      let plain = connections[number]?.plain.take(frame, from: event.context.sender)
      let bytes = (plain ?? WebSocketFrame(copying: frame)).encoded()
      send(bytes.span.bytes, missing: frame.missing, event.context)
    case .http(let part): send(part, event.context)
    case .tls(.handshake(let hellos)) where hellos.obstacle == nil:
      let parts = [hellos.version, hellos.cipherSuite, hellos.serverName].compactMap(\.self)
      connections[number]?.comments.append(
        "this connection was decrypted: \(parts.joined(separator: ", "))")
      losses.decrypted += 1
    case .tls(.handshake): losses.encrypted += 1
    case .tls(.alert): break
    }
  }

  private func isCarried(_ context: EventContext) -> Bool {
    context.over != nil && connections[context.connection]?.showsCarrier == true
  }

  /// Takes an event that is not wanted: what its sender says next is behind bytes that are missing.
  package mutating func leaveOut(_ event: borrowing EventView) {
    let context = event.context
    if connections[context.connection]?.hole?.sender != context.sender { settleHole(before: event) }
    switch event.body {
    case .opened(var opening):
      opening.isFromStart = false
      open(opening, context)
    case .closed: connections[context.connection] = nil
    case .attempted, .tls: break
    case .gap, .malformed, .mqtt, .handshake, .webSocket, .http:
      skip(0, context, saying: "missing: left out")
    }
  }

  // MARK: Ends

  private mutating func open(_ opening: ConnectionOpening, _ context: EventContext) {
    let number = context.connection
    var comments: [String] = []
    let known = KnownPort(context.wire, over: context.over)
    // Where no port is told, those of connections differ all the same.
    let dynamic = UInt16(truncatingIfNeeded: 49_152 + number % 16_384)
    let client = endpoint(opening.client, of: .client, port: dynamic, &comments)
    var server = endpoint(opening.server, of: .server, port: known.port, &comments)
    if !known.includes(server.port) {
      if usesKnownPorts {
        comments.append("the server was \(server)")
        server = Endpoint(address: server.address, port: known.port)
      } else {
        losses.unknownPorts += 1
      }
    }
    // Numbers that tell connections of the same ports apart, and are the same in every run.
    let start = UInt32(truncatingIfNeeded: number &* 0x9E37_79B1)
    var tcp = SyntheticTCP(client: client, server: server, start: start, seenFrom: .nowhere)
    if opening.isFromStart {
      tcp.open { take(opening.firstTime, comments, $0, $1) }
      comments = []
    }
    connections[number] = Connection(
      tcp: tcp, comments: comments, pings: opening.hasPings ? nil : UnrecordedPings())
    count += 1
  }

  /// Opens a connection whose opening the recording does not have.
  private mutating func openIfNeeded(_ event: borrowing EventView) {
    switch event.body {
    case .opened, .closed, .attempted, .tls: return
    case .gap, .malformed, .mqtt, .handshake, .webSocket, .http: break
    }
    let context = event.context
    guard connections[context.connection] == nil else { return }
    open(
      ConnectionOpening(
        client: "", server: "", isFromStart: false, firstFrame: context.frame,
        firstTime: context.time), context)
  }

  private mutating func endpoint(
    _ text: String, of peer: Peer, port: UInt16, _ comments: inout [String]
  ) -> Endpoint {
    if let endpoint = Endpoint(text) { return endpoint }
    let parts = Endpoint.parts(text)
    let host = parts?.host ?? text
    let name = host.isEmpty ? "a \(peer.rawValue) whose address is not known" : host
    let index = names[name] ?? UInt32(truncatingIfNeeded: names.count)
    names[name] = index
    // 192.0.2.1 to 192.0.2.254: addresses of documentation.
    let address = IPAddress(ipv4: 0xC000_0201 + index % 254)
    comments.append("\(address) stands for \(name)")
    return Endpoint(address: address, port: parts?.port ?? port)
  }

  private mutating func finish(_ end: HalfCloses.HalfClose, of number: Int) {
    guard var connection = connections[number] else { return }
    let (comments, time) = (connection.comments, end.closing.firstTime)
    connection.comments = []
    connection.tcp.finish(from: end.sender, isPrompt: end.closing.isPrompt) {
      take(time, comments, $0, $1)
    }
    connections[number] = connection
  }

  private mutating func close(_ closing: ConnectionClosing, _ context: EventContext) {
    guard var connection = connections.removeValue(forKey: context.connection) else { return }
    let first = closing.firstTime
    let (sender, time) = (context.sender, context.time)
    let isPrompt = closing.isPrompt
    switch closing.how {
    case .fin:
      connection.tcp.finish(from: sender, isPrompt: isPrompt) {
        take(first, connection.comments, $0, $1)
      }
      if closing.isAnswered {
        connection.tcp.finish(from: sender.other) { take(time, [], $0, $1) }
      } else if time > first {
        // As long as this one it was seen that nothing came; without an end it would be seen to the end of the file.
        connection.tcp.reset(from: sender.other) { take(time, [], $0, $1) }
      }
    case .reset:
      connection.tcp.reset(from: sender, isPrompt: isPrompt) {
        take(first, connection.comments, $0, $1)
      }
    case .endOfCapture:
      connection.tcp.acknowledge(sender, isPrompt: isPrompt) {
        take(time, connection.comments, $0, $1)
      }
    }
  }

  // MARK: Bytes

  mutating func send(_ bytes: RawSpan, missing: Int, _ context: EventContext) {
    guard var connection = connections[context.connection] else { return }
    let time = context.time
    connection.send(from: context.sender, bytes) { take(time, $0, $1, $2) }
    if missing > 0 {
      losses.gaps += 1
      connection.skip(missing, from: context.sender, saying: "missing: the rest of it") {
        take(time, $0, $1, $2)
      }
    }
    connections[context.connection] = connection
  }

  /// What stands for bytes whose number is not known: one alone would be taken for the number of a FIN.
  private static let unknown = 2

  /// Leaves bytes out; where their number is not known, it is 0.
  private mutating func skip(_ count: Int, _ context: EventContext, saying comment: String) {
    guard connections[context.connection] != nil else { return }
    losses.gaps += 1
    connections[context.connection]?.hole = Hole(
      sender: context.sender, count: count > 0 ? count : Self.unknown, time: context.time,
      comment: comment)
  }

  /// Writes a hole, unless what comes says itself that it is missing there: a loss inside of a packet is told before
  /// the packet.
  private mutating func settleHole(before event: borrowing EventView) {
    let number = event.context.connection
    guard let hole = connections[number]?.hole else { return }
    connections[number]?.hole = nil
    let missing =
      switch event.body {
      case .mqtt(let packet): packet.header.packetSize - packet.bytes.byteCount
      case .webSocket(let frame): frame.missing
      default: 0
      }
    guard missing == 0 || event.context.sender != hole.sender else { return }
    connections[number]?.skip(hole.count, from: hole.sender, saying: hole.comment) {
      take(hole.time, $0, $1, $2)
    }
  }

  /// Leaves bytes out where a client must have sent a PINGREQ, if its recording has none of them.
  private mutating func settlePings(before event: borrowing EventView) {
    let number = event.context.connection
    guard connections[number]?.pings?.take(event) == true else { return }
    losses.gaps += 1
    let time = event.context.time
    connections[number]?.skip(
      Self.unknown, from: .client, saying: "missing: PINGREQ, which the recording does not have"
    ) { take(time, $0, $1, $2) }
  }
}

extension ConnectionClosing {
  /// Whether nothing was late, and all was seen beside both ends.
  fileprivate var isPrompt: Bool {
    !isLate && [clientSilence, clientRest, serverRest].allSatisfy { $0 == nil }
  }
}

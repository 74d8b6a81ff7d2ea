public import Wire

/// One event of a session, as a value of its own.
public struct Event: Sendable, Hashable {
  /// When, where and between whom it happened.
  public var context: EventContext
  /// What happened.
  public var body: Body

  /// Creates an event.
  public init(_ context: EventContext, _ body: Body) {
    self.context = context
    self.body = body
  }

  /// Copies an event out of borrowed bytes.
  public init(copying view: borrowing EventView) {
    context = view.context
    switch view.body {
    case .opened(let opening): body = .opened(opening)
    case .closed(let closing): body = .closed(closing)
    case .attempted(let attempt): body = .attempted(attempt)
    case .gap(let gap): body = .gap(gap)
    case .malformed(let malformation): body = .malformed(malformation)
    case .mqtt(let packet):
      body = .mqtt(PacketBytes(Array(copying: packet.bytes)))
    case .handshake(let handshake): body = .handshake(handshake)
    case .webSocket(let frame): body = .webSocket(WebSocketFrame(copying: frame))
    case .http(let part): body = .http(part)
    case .tls(let part): body = .tls(part)
    }
  }

  /// What can happen on a connection.
  public enum Body: Sendable, Hashable {
    /// The connection was recognised.
    case opened(ConnectionOpening)
    /// The connection is over, or the capture of it.
    case closed(ConnectionClosing)
    /// The client wanted a connection that never came to be.
    case attempted(ConnectionAttempt)
    /// Bytes of the sender are missing from the capture.
    case gap(Gap)
    /// Bytes of the sender can't be cut into packets.
    case malformed(Malformation)
    /// The sender sent a control packet; its fields are decoded from its bytes when they are needed.
    case mqtt(PacketBytes)
    /// The sender asked for WebSocket, or answered that.
    case handshake(WebSocketHandshake)
    /// The sender sent a WebSocket frame.
    case webSocket(WebSocketFrame)
    /// The sender sent a message of HTTP, or did not answer one.
    case http(HTTPPart)
    /// The sender said something of TLS.
    case tls(TLSPart)
  }

  /// Calls a closure with the event as everything that judges or shows takes it.
  public func withView<Result, Failure: Error>(
    _ use: (borrowing EventView) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch body {
    case .opened(let opening): return try use(EventView(context, .opened(opening)))
    case .closed(let closing): return try use(EventView(context, .closed(closing)))
    case .attempted(let attempt): return try use(EventView(context, .attempted(attempt)))
    case .gap(let gap): return try use(EventView(context, .gap(gap)))
    case .malformed(let malformation): return try use(EventView(context, .malformed(malformation)))
    case .mqtt(let packet):
      let bytes = packet.bytes.span.bytes
      guard case .header(let header) = MQTTFixedHeader.read(bytes) else {
        let malformation = Malformation(MQTTFramingError(.notMQTT, at: 0))
        return try use(EventView(context, .malformed(malformation)))
      }
      let view = MQTTPacketView(
        bytes, header: header, version: context.wire.version ?? .v3_1_1)
      return try use(EventView(context, .mqtt(view)))
    case .handshake(let handshake): return try use(EventView(context, .handshake(handshake)))
    case .webSocket(let frame):
      return try frame.withView(from: context.sender.role) { view throws(Failure) in
        try use(EventView(context, .webSocket(copy view)))
      }
    case .http(let part): return try use(EventView(context, .http(part)))
    case .tls(let part): return try use(EventView(context, .tls(part)))
    }
  }

  /// The packet as a value, if the event is one of a type that is not reserved.
  public var packet: MQTTPacket? {
    withView { view in
      guard case .mqtt(let packet) = view.body else { return nil }
      return MQTTPacket(packet)
    }
  }
}

/// The bytes of a packet on the wire, as far as they were captured.
public struct PacketBytes: Sendable, Hashable {
  /// The bytes from the first of the fixed header on.
  public var bytes: [UInt8]

  /// Creates a packet's bytes.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The packet's size on the wire in bytes; larger than the count of ``bytes`` when some are missing.
  public var size: Int {
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else {
      return bytes.count
    }
    return header.packetSize
  }
}

/// What takes the events of a session as they come: a judge, a printer, a recorder.
public protocol EventConsumer {
  /// Takes the next event; its bytes are borrowed and gone when the call returns.
  /// - Throws: What makes it pointless to go on, such as a full disk.
  mutating func consume(_ event: borrowing EventView) throws

  /// Takes the header of a recording, in front of the first of its events.
  /// - Throws: What makes it pointless to go on, such as a full disk.
  mutating func begin(_ header: RecordingHeader) throws

  /// Takes the keys of a recording's line that this program does not know, in front of the event that the line is of.
  /// - Parameters:
  ///   - members: The keys, with their values.
  ///   - line: The number of the line, which is the event's frame.
  mutating func note(unknown members: [JSONMember], line: Int)

  /// Has at hand what it knows of a connection which one of the next events is of, where that makes it faster.
  ///
  /// It need not be told, and the event need not come.
  mutating func expect(connection: Int)
}

extension EventConsumer {
  /// Does nothing: who writes no recording has no use for it.
  public mutating func begin(_ header: RecordingHeader) throws {}
  /// Does nothing: who writes no recording has no use for them.
  public mutating func note(unknown members: [JSONMember], line: Int) {}
  /// Does nothing.
  public mutating func expect(connection: Int) {}
}

public import Wire

/// One event of a session, with its packet still in the bytes that it was read from.
///
/// This is what a capture, a recording or a live client hands to everything that judges, shows or
/// keeps a session. ``Event`` is the same as a value of its own.
public struct EventView: ~Escapable {
  /// When, where and between whom it happened.
  public let context: EventContext
  /// What happened.
  public let body: Body

  /// Creates an event.
  @_lifetime(copy body)
  public init(_ context: EventContext, _ body: consuming Body) {
    self.context = context
    self.body = body
  }

  /// What can happen on a connection.
  public enum Body: ~Escapable {
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
    /// The sender sent a control packet.
    case mqtt(MQTTPacketView)
    /// The sender asked for WebSocket, or answered that.
    case handshake(WebSocketHandshake)
    /// The sender sent a WebSocket frame.
    case webSocket(WebSocketFrameView)
    /// The sender sent a message of HTTP, or did not answer one.
    case http(HTTPPart)
    /// The sender said something of TLS, under all that is above.
    case tls(TLSPart)
  }
}

/// When, where and between whom an event happened.
public struct EventContext: Sendable, Hashable {
  /// When the frame that completed it was captured.
  public var time: Timestamp
  /// The number of the frame that completed it, from 1; in a recording, the line.
  public var frame: Int
  /// The number of the connection in its file, from 1 in order of first sight.
  public var connection: Int
  /// The end that sent it; of an opening or an attempt the client, of a closing the one that began it.
  public var sender: Peer
  /// What the event belongs to: what the connection speaks, or what runs over that.
  public var wire: WireProtocol
  /// What that runs over, if not over the connection itself.
  public var over: Carrier?
  /// Whether its place among the events of the other end is not known: a capture that lost bytes does
  /// not always tell what came first.
  public var isOrderUncertain: Bool
  /// Whether the packet was put together from a recording's fields, as its own bytes would tell a secret and are
  /// withheld: what is wrong with it can't be seen any more.
  public var isRebuilt = false
  /// Whether it is one of a selection, which may have left out whole connections.
  public var isSelected = false

  /// Creates a context.
  public init(
    time: Timestamp, frame: Int, connection: Int, sender: Peer, wire: WireProtocol,
    over: Carrier? = nil, isOrderUncertain: Bool = false
  ) {
    self.time = time
    self.frame = frame
    self.connection = connection
    self.sender = sender
    self.wire = wire
    self.over = over
    self.isOrderUncertain = isOrderUncertain
  }
}

/// What can carry a protocol inside a connection, by the names that `inspect` prints.
public enum Carrier: String, Sendable, Hashable, CaseIterable {
  /// The messages of WebSocket.
  case webSocket = "websocket"
}

/// The two ends of a connection.
public enum Peer: String, Sendable, Hashable, CaseIterable {
  /// The one who opened it.
  case client
  /// The one who listened.
  case server

  /// The other end.
  public var other: Peer { self == .client ? .server : .client }

  /// The same end of a WebSocket connection.
  public var role: WebSocketRole { self == .client ? .client : .server }
}

/// How a connection came into view.
public struct ConnectionOpening: Sendable, Hashable {
  /// The client's address and port, as text.
  public var client: String
  /// The server's address and port, as text.
  public var server: String
  /// Whether the start of the connection is in the capture.
  public var isFromStart: Bool
  /// The frame of the connection's first segment; the event's own frame is that of its recognition.
  public var firstFrame: Int
  /// The time of the connection's first segment.
  public var firstTime: Timestamp
  /// Why the version was taken that no CONNECT names; nil when one does.
  public var evidence: String?
  /// Whether PINGREQ and PINGRESP are told; who records what a client does and gets sees none of them.
  public var hasPings: Bool

  /// Creates an opening.
  public init(
    client: String, server: String, isFromStart: Bool, firstFrame: Int, firstTime: Timestamp,
    evidence: String? = nil, hasPings: Bool = true
  ) {
    self.client = client
    self.server = server
    self.isFromStart = isFromStart
    self.firstFrame = firstFrame
    self.firstTime = firstTime
    self.evidence = evidence
    self.hasPings = hasPings
  }
}

/// How a connection went out of view.
///
/// A FIN, a reset and the end of the capture are three things: the last proves nothing.
public struct ConnectionClosing: Sendable, Hashable {
  /// What ended it.
  public var how: How
  /// The frame of the first FIN or RST; the last frame of the capture without one.
  public var firstFrame: Int
  /// The time of the first FIN or RST.
  public var firstTime: Timestamp
  /// What a client that was recorded said of the loss; nil in captures, which can't know.
  public var reason: String?
  /// Whether the other end closed the connection by a FIN of its own.
  ///
  /// That takes an application that was still there; a reset takes none, as any host answers so what it
  /// knows nothing of. True where nobody can know, and of all that is no FIN.
  public var isAnswered: Bool
  /// Whether something that an end had sent arrived late, by more than a second as acknowledgements of TCP show: then the
  /// times of the connection's events are those at which they were sent, and not those at which the other end had them.
  public var isLate: Bool
  /// Whether the capture was put together of two whose clocks differ: then no time or order between its connections is known,
  /// be they over before.
  public var isOfMergedClocks: Bool
  /// The longest time for which the client is known to have sent nothing, in nanoseconds, where the capture was taken
  /// away from it; nil where it was taken beside it, or where nobody can know.
  ///
  /// What comes behind a silence then may have been sent at any time of it, and have been lost on its way until the
  /// network was there again. An acknowledgement that carries nothing shows that all that was sent is there.
  public var clientSilence: Int64?
  /// How long before the first FIN or RST the client last showed that it had ended nothing, in nanoseconds, where the
  /// capture was taken away from it; nil where it was taken beside it, or where nobody can know.
  ///
  /// An end that is captured may have been sent at any time since, and its first copies have been lost on their way.
  public var clientRest: Int64?
  /// The same of the server.
  public var serverRest: Int64?

  /// Creates a closing.
  public init(
    how: How, firstFrame: Int, firstTime: Timestamp, reason: String? = nil, isAnswered: Bool = true,
    isLate: Bool = false, isOfMergedClocks: Bool = false, clientSilence: Int64? = nil,
    clientRest: Int64? = nil, serverRest: Int64? = nil
  ) {
    self.how = how
    self.firstFrame = firstFrame
    self.firstTime = firstTime
    self.reason = reason
    self.isAnswered = isAnswered || how != .fin
    self.isLate = isLate
    self.isOfMergedClocks = isOfMergedClocks
    self.clientSilence = clientSilence
    self.clientRest = clientRest
    self.serverRest = serverRest
  }

  /// The ways in which a connection ends.
  public enum How: String, Sendable, Hashable, CaseIterable {
    /// A peer closed it by a FIN.
    case fin
    /// A peer reset it.
    case reset
    /// The capture ends, or its limits were reached, while the connection was open.
    case endOfCapture = "end-of-capture"
  }
}

/// Bytes that were on the wire but are not in the capture, or can't be read from it.
public struct Gap: Sendable, Hashable {
  /// How many bytes are missing.
  public var bytes: Int
  /// How that is known.
  public var reason: Reason

  /// Creates a gap.
  public init(bytes: Int, reason: Reason) {
    self.bytes = bytes
    self.reason = reason
  }

  /// The ways in which missing bytes are noticed.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The receiver acknowledged bytes that were not captured.
    case acknowledged
    /// The capture cut its frames short (snaplen).
    case snaplen
    /// The connection or the capture ended before the bytes came.
    case unfilled
    /// A limit of the reader was reached, or that of a line in a recording.
    case limit
    /// They are there, but could not be decrypted.
    case encrypted
    /// A selection left events out; how many bytes they had is not told, and 0 stands for it.
    case leftOut = "left-out"
    /// They are there, but are no MQTT: what answers is a server of another protocol.
    case foreign = "not-mqtt"
    /// Nothing is missing of what the other end got, but from there on that is not all, or not what the sender sent: a
    /// proxy changed it, or left it out; 0 stands for how much it was.
    case altered
  }
}

/// Bytes that can't be cut into packets.
public struct Malformation: Sendable, Hashable {
  /// A stable name of what is wrong.
  public var code: String
  /// Where, in bytes from the start of the sender's stream.
  public var offset: Int
  /// One sentence for a reader.
  public var message: String

  /// Creates a malformation.
  public init(code: String, offset: Int, message: String) {
    self.code = code
    self.offset = offset
    self.message = message
  }

  /// The code of a frame whose header is cut by the end of the stream, behind a reserved opcode.
  public static let reservedOpcode = "reserved-opcode"

  /// Creates the malformation of a frame of which no more is there than an opcode that is reserved.
  /// - Parameters:
  ///   - firstByte: The first byte of the frame.
  ///   - offset: Where it stands in the stream.
  public init(reservedOpcodeIn firstByte: UInt8, at offset: Int) {
    self.init(
      code: Self.reservedOpcode, offset: offset,
      message: "the stream ends inside the header of a frame with the reserved opcode "
        + "\(firstByte & 0x0F) (first byte 0x\(String(firstByte, radix: 16, uppercase: true)))")
  }

  /// Creates a malformation from the error that the framer threw.
  public init(_ error: MQTTFramingError) {
    self.init(code: error.code.rawValue, offset: error.offset, message: error.code.message)
  }
}

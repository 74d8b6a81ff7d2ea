import RepriseCore
public import Wire

/// Where a ``WebSocketServer`` listens, what it agrees to, and how much it takes.
public struct WebSocketServerOptions: Sendable, Hashable {
  /// The address to listen on, a host name, of whose addresses it is one (of IPv4 if there is any), or
  /// the name of a network interface.
  public var address: String
  /// The port to listen on; 0 is a free one.
  public var port: UInt16
  /// How to show who the server is; nil speaks without TLS.
  public var tls: ServerTLSOptions?
  /// The subprotocols that are spoken, the favourite first; a client that offers none of them is
  /// accepted without one (RFC 6455 section 4.2.2).
  public var subprotocols: [String]
  /// Whether permessage-deflate is agreed to (RFC 7692).
  public var acceptsDeflate: Bool
  /// How much may wait, and how long.
  public var limits: WebSocketServerLimits

  /// Creates options.
  /// - Parameters:
  ///   - address: The address to listen on, a host name, or the name of a network interface.
  ///   - port: The port to listen on; 0 is a free one.
  ///   - tls: How to show who the server is; nil speaks without TLS.
  ///   - subprotocols: The subprotocols that are spoken, the favourite first.
  ///   - acceptsDeflate: Whether permessage-deflate is agreed to.
  ///   - limits: How much may wait, and how long.
  public init(
    address: String = "127.0.0.1", port: UInt16 = 0, tls: ServerTLSOptions? = nil,
    subprotocols: [String] = [], acceptsDeflate: Bool = true,
    limits: WebSocketServerLimits = WebSocketServerLimits()
  ) {
    self.address = address
    self.port = port
    self.tls = tls
    self.subprotocols = subprotocols
    self.acceptsDeflate = acceptsDeflate
    self.limits = limits
  }

  /// Checks what can be checked without a network.
  /// - Throws: `DataClientError` that says what is wrong.
  func check() throws(DataClientError) {
    try tls?.check()
    for name in subprotocols where !HTTPText.isToken(name.utf8) {
      throw DataClientError(.invalidAction, "the subprotocol \"\(name)\" is no token")
    }
  }
}

/// How much may wait in a ``WebSocketServer``, and how long.
public struct WebSocketServerLimits: Sendable, Hashable {
  /// How many connections there may be, and how many may wait to be accepted, open or over already; one more is
  /// refused with the status 503.
  public var connections: Int
  /// The longest message that is taken, in bytes; a longer one closes the connection with 1009.
  public var message: Int
  /// How many bytes of received messages may wait on a connection before its socket is left alone.
  public var received: Int
  /// How many bytes of messages may be unwritten on a connection before `send` waits.
  public var unsent: Int
  /// How long a client may take over its opening request.
  public var handshakeTime: Duration
  /// After how long without anything from a client a PING is sent.
  public var pingInterval: Duration
  /// How long to wait for its PONG, or for anything to be read of what goes before a Close frame, before the
  /// connection is taken for dead.
  public var pongTime: Duration
  /// How long to wait for a client's Close frame, and then for the end of the connection.
  public var closeTime: Duration

  /// Creates limits.
  /// - Parameters:
  ///   - connections: How many connections there may be.
  ///   - message: The longest message that is taken, in bytes.
  ///   - received: How many bytes of received messages may wait on a connection.
  ///   - unsent: How many bytes of messages may be unwritten on a connection.
  ///   - handshakeTime: How long a client may take over its opening request.
  ///   - pingInterval: After how long without anything from a client a PING is sent.
  ///   - pongTime: How long to wait for its PONG.
  ///   - closeTime: How long to wait for a client's Close frame, and then for the end.
  public init(
    connections: Int = 1_000, message: Int = 67_108_864, received: Int = 16_777_216,
    unsent: Int = 16_777_216, handshakeTime: Duration = .seconds(10),
    pingInterval: Duration = .seconds(30), pongTime: Duration = .seconds(20),
    closeTime: Duration = .seconds(5)
  ) {
    self.connections = connections
    self.message = message
    self.received = received
    self.unsent = unsent
    self.handshakeTime = handshakeTime
    self.pingInterval = pingInterval
    self.pongTime = pongTime
    self.closeTime = closeTime
  }
}

/// How a live server shows who it is when it speaks TLS.
public struct ServerTLSOptions: Sendable, Hashable {
  /// A file with the server's certificate and what leads to its authority, PEM.
  public var certificateFile: String
  /// A file with its key, PEM, without a password.
  public var keyFile: String
  /// A file with the authorities that clients must have their certificates from, PEM; nil asks
  /// clients for none.
  public var clientAuthorityFile: String?

  /// Creates options.
  /// - Parameters:
  ///   - certificateFile: A file with the server's certificate.
  ///   - keyFile: A file with its key.
  ///   - clientAuthorityFile: A file with the authorities of the clients' certificates.
  public init(certificateFile: String, keyFile: String, clientAuthorityFile: String? = nil) {
    self.certificateFile = certificateFile
    self.keyFile = keyFile
    self.clientAuthorityFile = clientAuthorityFile
  }

  /// Checks that the files can be read.
  /// - Throws: `DataClientError` that names the file.
  func check() throws(DataClientError) {
    try TLSOptions(authorityFile: certificateFile).check()
    try TLSOptions(authorityFile: keyFile).check()
    try TLSOptions(authorityFile: clientAuthorityFile).check()
  }
}

/// What a server answers to an opening request that keeps to RFC 6455.
public enum WebSocketDecision: Sendable, Hashable {
  /// The status 101.
  case accept
  /// Another status (400 to 599, such as 403), with fields of the response besides Content-Length and
  /// Connection, and a text.
  case refuse(status: Int, fields: [HTTPHead.Field] = [], body: String = "")
}

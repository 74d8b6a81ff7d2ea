/// How a WebSocket is opened and kept.
public struct WebSocketOptions: Sendable, Hashable {
  /// Fields of the opening request besides those of the protocol, by name.
  public var headers: [String: String]
  /// The subprotocols that are offered, the favourite first (RFC 6455 section 1.9).
  public var subprotocols: [String]
  /// Whether a server that chooses none of the subprotocols is left.
  public var requiresSubprotocol: Bool
  /// Whether permessage-deflate is offered (RFC 7692).
  public var offersDeflate: Bool
  /// After how long without anything from the server a PING is sent; in whole seconds, at least 1.
  public var pingInterval: Duration
  /// How long to wait for its PONG before the connection is taken for dead; in whole seconds, at least 1.
  public var pongTimeout: Duration
  /// The longest message that is taken, in bytes; a longer one closes the connection with 1009.
  public var messageLimit: Int

  /// Creates options.
  /// - Parameters:
  ///   - headers: Fields of the opening request besides those of the protocol.
  ///   - subprotocols: The subprotocols that are offered.
  ///   - requiresSubprotocol: Whether a server that chooses none of the subprotocols is left.
  ///   - offersDeflate: Whether permessage-deflate is offered.
  ///   - pingInterval: After how long without anything from the server a PING is sent.
  ///   - pongTimeout: How long to wait for its PONG.
  ///   - messageLimit: The longest message that is taken, in bytes.
  public init(
    headers: [String: String] = [:], subprotocols: [String] = [],
    requiresSubprotocol: Bool = false, offersDeflate: Bool = true,
    pingInterval: Duration = .seconds(30), pongTimeout: Duration = .seconds(5),
    messageLimit: Int = 67_108_864
  ) {
    self.headers = headers
    self.subprotocols = subprotocols
    self.requiresSubprotocol = requiresSubprotocol
    self.offersDeflate = offersDeflate
    self.pingInterval = pingInterval
    self.pongTimeout = pongTimeout
    self.messageLimit = messageLimit
  }
}

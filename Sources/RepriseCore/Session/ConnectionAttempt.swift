import Wire

/// A connection that a client wanted and that never came to be, as far as a recording of the client tells.
///
/// Nothing of it was on the wire that anybody could judge: it is kept so that a replay can repeat it. Captures have
/// none.
public struct ConnectionAttempt: Sendable, Hashable {
  /// What became of it.
  public var how: How
  /// The server's address, as text.
  public var server: String
  /// When the client asked for the connection; the event's own time is that of the outcome.
  public var firstTime: Timestamp
  /// The CONNECT that would have been sent; nil where the client speaks no MQTT.
  public var connect: PacketBytes?
  /// What the client said of the outcome.
  public var reason: String?
  /// Why there was no connection, as the client told it.
  public var cause: ClientEvent.Closed.Cause

  /// Creates an attempt.
  public init(
    how: How, server: String, firstTime: Timestamp, connect: PacketBytes? = nil,
    reason: String? = nil, cause: ClientEvent.Closed.Cause = .other
  ) {
    self.how = how
    self.server = server
    self.firstTime = firstTime
    self.connect = connect
    self.reason = reason
    self.cause = cause
  }

  /// The outcomes of an attempt.
  public enum How: String, Sendable, Hashable, CaseIterable {
    /// There was no connection: no way there, nobody who listens, a name that is unknown, TLS that was refused.
    case failed
    /// The client left before the server had answered; whether there was a connection it does not tell.
    case givenUp = "given-up"
    /// The recording ends before there was an outcome.
    case endOfCapture = "end-of-capture"
  }

  /// Calls a closure with the CONNECT, if there is one.
  /// - Parameters:
  ///   - version: The version of MQTT that the client speaks.
  ///   - use: What is called.
  func withConnect(as version: MQTTVersion?, _ use: (borrowing MQTTPacketView) -> Void) {
    guard let bytes = connect?.bytes.span.bytes,
      case .header(let header) = MQTTFixedHeader.read(bytes)
    else { return }
    use(MQTTPacketView(bytes, header: header, version: version ?? .v3_1_1))
  }
}

public import RepriseCore

/// How requests are sent, and how their connection is kept.
public struct RequestConfiguration: Sendable {
  /// What to do with a request that is made before the connection is open.
  public enum WhileConnecting: Sendable, Hashable {
    /// It fails at once.
    case fail
    /// It waits for the try that is under way, and fails with it.
    case waitForTry
    /// It waits for the connection, if fewer than a number of requests are open already.
    case queue(limit: Int)
  }

  /// The product of targets that name none.
  public var product = "app_iOS"
  /// How long to wait for an answer, unless the target or the call says otherwise.
  public var timeout: Duration = .seconds(15)
  /// How long to wait for a connection.
  public var connectTimeout: Duration = .seconds(5)
  /// How long to wait for a connection to close in good order.
  public var closeTimeout: Duration = .seconds(5)
  /// How long to wait before connecting anew; ``fixedDelay`` is three seconds each time.
  public var reconnect = BackOff(first: .seconds(3))
  /// How often a connection is tried anew without success before giving up.
  public var reconnectLimit = 20
  /// The time between two heartbeats; nil sends none.
  public var heartbeatInterval: Duration? = .seconds(15)
  /// What to do with a request that is made before the connection is open.
  public var whileConnecting = WhileConnecting.waitForTry
  /// How often a request whose connection was lost is sent again on the next one, unless the target or the
  /// call says otherwise; for services that may be asked twice.
  public var resendCount = 0
  /// What requests look like, and how answers are read.
  public var format: any RequestFormat = JSONRequestFormat()
  /// Whether the numbers of requests go on on a new connection; otherwise each connection counts from 1.
  public var countsOnAfterReconnecting = false
  /// Where log entries go.
  public var log = DeviceLog()
  /// The seed of the jitter; nil is another one for every connection.
  public var jitterSeed: UInt64?

  /// Three seconds each time.
  public static let fixedDelay = BackOff(
    first: .seconds(3), longest: .seconds(3), jitterPercent: 0)

  /// Creates a configuration with the usual values.
  public init() {}

  /// Checks what can be checked without a network.
  /// - Throws: ``RequestError`` of kind `client` that says what is wrong.
  func validate() throws(RequestError) {
    guard reconnectLimit >= 0, resendCount >= 0 else {
      throw RequestError(.client, "reconnectLimit and resendCount are not negative")
    }
    if let heartbeatInterval, heartbeatInterval < .milliseconds(1) {
      throw RequestError(.client, "heartbeatInterval is at least a millisecond, or nil for none")
    }
    if let clash = (format as? JSONRequestFormat)?.envelope.clash {
      throw RequestError(.client, "of the format's envelope, \(clash.part) \(clash.message)")
    }
    if case .queue(let limit) = whileConnecting, limit < 1 {
      throw RequestError(.client, "a queue has room for at least one request")
    }
  }
}

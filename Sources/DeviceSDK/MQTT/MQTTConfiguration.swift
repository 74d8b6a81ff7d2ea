public import RepriseCore

/// How an ``MQTTSession`` connects, waits and asks for its subscriptions again.
public struct MQTTConfiguration: Sendable {
  /// The client identifier; empty lets the server choose one, which takes ``cleanStart``.
  public var clientID: String
  /// The user name.
  public var username: String?
  /// The password; never shown or recorded in clear.
  public var password: [UInt8]?
  /// Whether each connection starts without the session that the server may have kept.
  public var cleanStart = true
  /// The longest time between two packets, in seconds; 0 is no limit (MQTT 3.1.1 section 3.1.2.10).
  public var keepAlive: UInt16 = 60
  /// The message that the server sends when the connection is lost.
  public var will: Message?
  /// What CONNECT says besides, such as how long the server keeps the session, which takes MQTT 5.0.
  public var connectProperties = ConnectProperties()
  /// How long to wait for a connection to be accepted, and for its subscriptions to be granted again.
  public var connectTimeout: Duration = .seconds(30)
  /// How long `withSession` waits for its first connection, however many tries that takes; nil waits for ever, as a
  /// device may that is up before its network.
  ///
  /// ``log`` tells of each try.
  public var startTimeout: Duration? = .seconds(30)
  /// How long to wait for a connection to close in good order.
  public var closeTimeout: Duration = .seconds(5)
  /// How long a publish or a subscription waits that says nothing else, a time without connection included; nil waits
  /// for ever.
  public var callTimeout: Duration? = .seconds(30)
  /// How long to wait before connecting anew; nil gives up when a connection can't be made or is lost.
  public var reconnect: BackOff? = BackOff()
  /// How many kicks within ``kickWindow`` are taken for another client of the same identifier, and are final.
  public var kickLimit = 3
  /// Within which time kicks are counted together.
  public var kickWindow: Duration = .seconds(60)
  /// How many publishes and requests wait for a connection; those beyond fail at once.
  public var queueLimit = 1_000
  /// The topic that answers to requests come to; nil is `clientID/response`.
  public var responseTopic: String?
  /// Where log entries go.
  public var log = DeviceLog()
  /// The seed of the jitter; mixed with the client identifier, so that clients differ without one.
  public var jitterSeed: UInt64 = 0

  /// Creates a configuration.
  /// - Parameters:
  ///   - clientID: The client identifier; empty lets the server choose one.
  ///   - username: The user name.
  ///   - password: The password.
  public init(clientID: String = "", username: String? = nil, password: [UInt8]? = nil) {
    self.clientID = clientID
    self.username = username
    self.password = password
  }

  /// Creates a configuration with a password of text.
  /// - Parameters:
  ///   - clientID: The client identifier; empty lets the server choose one.
  ///   - username: The user name.
  ///   - password: The password, which is sent as UTF-8.
  public init(clientID: String = "", username: String?, password: String) {
    self.init(clientID: clientID, username: username, password: Array(password.utf8))
  }

  /// Checks what can be checked without a network.
  /// - Throws: ``MQTTError`` of kind `invalid` that says what is wrong.
  public func validate() throws(MQTTError) {
    guard cleanStart || !clientID.isEmpty else {
      throw MQTTError(
        .invalid, "a session that is kept has a client identifier; set clientID, or cleanStart")
    }
    guard queueLimit >= 0, kickLimit > 0 else {
      throw MQTTError(.invalid, "queueLimit is at least 0, and kickLimit at least 1")
    }
    if let responseTopic { try MQTTTopic.checkName(responseTopic) }
  }

  /// The topic that answers come to; nil when there is nothing to make one of.
  var topicOfResponses: String? {
    responseTopic ?? (clientID.isEmpty ? nil : "\(clientID)/response")
  }

  var connectOptions: ConnectOptions {
    ConnectOptions(
      clientID: clientID, cleanStart: cleanStart, keepAlive: keepAlive, username: username,
      password: password, will: will, properties: connectProperties)
  }

  var keeperRules: ConnectionKeeper.Rules {
    ConnectionKeeper.Rules(
      connectTimeout: connectTimeout, closeTimeout: closeTimeout, backOff: reconnect ?? BackOff(),
      kickLimit: kickLimit, kickWindow: kickWindow)
  }
}

extension MQTTConfiguration: CustomStringConvertible, CustomReflectable {
  /// The client identifier; the password is never shown.
  public var description: String { "MQTT as \"\(clientID)\"" }

  /// What debuggers and `dump` show: all that is no secret and has no place of its own.
  public var customMirror: Mirror {
    Mirror(
      self, children: ["clientID": clientID, "cleanStart": cleanStart, "keepAlive": keepAlive])
  }
}

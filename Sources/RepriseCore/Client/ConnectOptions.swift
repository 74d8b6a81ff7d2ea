/// How to open a connection.
public struct ConnectOptions: Sendable, Hashable {
  /// The client identifier; empty lets the server choose one.
  public var clientID: String
  /// Whether to start without the session that the server may have.
  public var cleanStart: Bool
  /// The longest time between two packets, in seconds; 0 is no limit.
  public var keepAlive: UInt16
  /// The user name.
  public var username: String?
  /// The password; never shown or recorded in clear.
  public var password: [UInt8]?
  /// The message that the server sends when the connection is lost.
  public var will: Message?
  /// What it says besides, which takes ``Capabilities/properties``.
  public var properties: ConnectProperties

  /// Creates options.
  public init(
    clientID: String = "", cleanStart: Bool = true, keepAlive: UInt16 = 60,
    username: String? = nil, password: [UInt8]? = nil, will: Message? = nil,
    properties: ConnectProperties = ConnectProperties()
  ) {
    self.clientID = clientID
    self.cleanStart = cleanStart
    self.keepAlive = keepAlive
    self.username = username
    self.password = password
    self.will = will
    self.properties = properties
  }
}

/// What a client of MQTT 5.0 says besides when it connects (section 3.1.2.11).
///
/// MQTT 3.1.1 has none of it: a client without ``Capabilities/properties`` refuses a connection that has any.
public struct ConnectProperties: Sendable, Hashable {
  /// For how many seconds the server keeps the session behind the end of the connection, 0xFFFFFFFF for ever; nil ends
  /// it with the connection where that starts without a session, and keeps it for ever where not, as 3.1.1 does.
  public var sessionExpiryInterval: UInt32?
  /// How many messages above QoS 0 the server may send before it has an answer (1...65,535); nil is no limit.
  public var receiveMaximum: UInt16?
  /// The largest packet that the server may send, in bytes (1 or more); nil is no limit.
  ///
  /// It leaves out messages that make a larger one.
  public var maximumPacketSize: UInt32?
  /// How many seconds the server waits behind the end of the connection before it sends the will (section 3.1.3.2.2);
  /// nil is none.
  public var willDelayInterval: UInt32?
  /// Names and values of the application's own, in their order; a name may come more than once.
  public var userProperties: [MessageProperties.UserProperty]

  /// Creates properties.
  public init(
    sessionExpiryInterval: UInt32? = nil, receiveMaximum: UInt16? = nil,
    maximumPacketSize: UInt32? = nil, willDelayInterval: UInt32? = nil,
    userProperties: [MessageProperties.UserProperty] = []
  ) {
    self.sessionExpiryInterval = sessionExpiryInterval
    self.receiveMaximum = receiveMaximum
    self.maximumPacketSize = maximumPacketSize
    self.willDelayInterval = willDelayInterval
    self.userProperties = userProperties
  }

  /// Whether there is none.
  public var isEmpty: Bool { self == ConnectProperties() }
}

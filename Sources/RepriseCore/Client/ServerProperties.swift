/// What a server of MQTT 5.0 says of itself and of the connection when it accepts one (section 3.2.2.3).
///
/// What it does not say is nil; MQTT 3.1.1 says none of it.
public struct ServerProperties: Sendable, Hashable {
  /// The client identifier that it gave to a client that had none.
  public var assignedClientID: String?
  /// For how many seconds it keeps the session behind the end of the connection, where that is not what was asked for.
  public var sessionExpiryInterval: UInt32?
  /// The longest time between two packets that it wants, in seconds; 0 is no limit.
  ///
  /// The client keeps to it.
  public var keepAlive: UInt16?
  /// How many messages above QoS 0 may be unanswered at a time (1...65,535).
  public var receiveMaximum: UInt16?
  /// The largest packet that it takes, in bytes (1 or more).
  public var maximumPacketSize: UInt32?
  /// The highest QoS that it takes.
  public var maximumQoS: QoS?
  /// Whether it keeps retained messages.
  public var isRetainAvailable: Bool?
  /// Whether it takes wildcards in topic filters.
  public var isWildcardAvailable: Bool?
  /// Whether it takes shared subscriptions.
  public var isSharedAvailable: Bool?
  /// What topics for responses begin with.
  public var responseInformation: String?
  /// What it says to people.
  public var reasonString: String?
  /// Names and values of its own, in their order; a name may come more than once.
  public var userProperties: [MessageProperties.UserProperty] = []

  /// Creates properties of which none is said.
  public init() {}
}

/// Where what a server says is kept.
final class ServerPropertiesBox: Sendable, Hashable {
  let properties: ServerProperties

  init(_ properties: ServerProperties) { self.properties = properties }

  static func == (one: ServerPropertiesBox, other: ServerPropertiesBox) -> Bool {
    one.properties == other.properties
  }

  func hash(into hasher: inout Hasher) { hasher.combine(properties) }
}

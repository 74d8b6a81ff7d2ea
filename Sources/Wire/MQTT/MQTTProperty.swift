/// The 27 properties of MQTT 5.0, by their identifiers (section 2.2.2.2, table 2-4).
public enum MQTTPropertyID: UInt8, Sendable, Hashable, CaseIterable {
  /// Whether the payload is UTF-8 text (1) or not stated (0).
  case payloadFormatIndicator = 0x01
  /// The lifetime of a message in seconds.
  case messageExpiryInterval = 0x02
  /// The type of the content, as text.
  case contentType = 0x03
  /// The topic for a response.
  case responseTopic = 0x08
  /// What ties a response to its request.
  case correlationData = 0x09
  /// The number of the subscription that a message comes for (1...268,435,455).
  case subscriptionIdentifier = 0x0B
  /// How long a session outlives its connection, in seconds.
  case sessionExpiryInterval = 0x11
  /// The identifier that the server gave to a client that had none.
  case assignedClientIdentifier = 0x12
  /// The keep-alive time that the server wants instead, in seconds.
  case serverKeepAlive = 0x13
  /// The name of the method of extended authentication.
  case authenticationMethod = 0x15
  /// Data of the method of extended authentication.
  case authenticationData = 0x16
  /// Whether reason strings and user properties are wanted on failures.
  case requestProblemInformation = 0x17
  /// How long a will waits, in seconds.
  case willDelayInterval = 0x18
  /// Whether response information is wanted.
  case requestResponseInformation = 0x19
  /// The basis for response topics.
  case responseInformation = 0x1A
  /// Another server to use.
  case serverReference = 0x1C
  /// A reason for people to read.
  case reasonString = 0x1F
  /// How many messages above QoS 0 may be open at once (1...65,535).
  case receiveMaximum = 0x21
  /// The highest topic alias that is accepted.
  case topicAliasMaximum = 0x22
  /// A number for a topic (1...65,535).
  case topicAlias = 0x23
  /// The highest QoS that the server supports (0 or 1).
  case maximumQoS = 0x24
  /// Whether the server keeps retained messages.
  case retainAvailable = 0x25
  /// A name and a value of the application's own.
  case userProperty = 0x26
  /// The largest packet that is accepted, in bytes (1 or more).
  case maximumPacketSize = 0x27
  /// Whether the server supports wildcards in filters.
  case wildcardSubscriptionAvailable = 0x28
  /// Whether the server supports subscription identifiers.
  case subscriptionIdentifierAvailable = 0x29
  /// Whether the server supports shared subscriptions.
  case sharedSubscriptionAvailable = 0x2A

  /// The standard's name in lowerCamelCase, as recordings write it.
  public var name: StaticString {
    switch self {
    case .payloadFormatIndicator: "payloadFormatIndicator"
    case .messageExpiryInterval: "messageExpiryInterval"
    case .contentType: "contentType"
    case .responseTopic: "responseTopic"
    case .correlationData: "correlationData"
    case .subscriptionIdentifier: "subscriptionIdentifier"
    case .sessionExpiryInterval: "sessionExpiryInterval"
    case .assignedClientIdentifier: "assignedClientIdentifier"
    case .serverKeepAlive: "serverKeepAlive"
    case .authenticationMethod: "authenticationMethod"
    case .authenticationData: "authenticationData"
    case .requestProblemInformation: "requestProblemInformation"
    case .willDelayInterval: "willDelayInterval"
    case .requestResponseInformation: "requestResponseInformation"
    case .responseInformation: "responseInformation"
    case .serverReference: "serverReference"
    case .reasonString: "reasonString"
    case .receiveMaximum: "receiveMaximum"
    case .topicAliasMaximum: "topicAliasMaximum"
    case .topicAlias: "topicAlias"
    case .maximumQoS: "maximumQoS"
    case .retainAvailable: "retainAvailable"
    case .userProperty: "userProperty"
    case .maximumPacketSize: "maximumPacketSize"
    case .wildcardSubscriptionAvailable: "wildcardSubscriptionAvailable"
    case .subscriptionIdentifierAvailable: "subscriptionIdentifierAvailable"
    case .sharedSubscriptionAvailable: "sharedSubscriptionAvailable"
    }
  }

  /// How the value is encoded.
  public var kind: Kind {
    switch self {
    case .payloadFormatIndicator, .requestProblemInformation, .requestResponseInformation,
      .maximumQoS, .retainAvailable, .wildcardSubscriptionAvailable,
      .subscriptionIdentifierAvailable, .sharedSubscriptionAvailable:
      .byte
    case .serverKeepAlive, .receiveMaximum, .topicAliasMaximum, .topicAlias: .twoByteInteger
    case .messageExpiryInterval, .sessionExpiryInterval, .willDelayInterval, .maximumPacketSize:
      .fourByteInteger
    case .subscriptionIdentifier: .variableByteInteger
    case .contentType, .responseTopic, .assignedClientIdentifier, .authenticationMethod,
      .responseInformation, .serverReference, .reasonString:
      .string
    case .correlationData, .authenticationData: .binary
    case .userProperty: .stringPair
    }
  }

  /// The encodings of a property's value (5.0 section 1.5).
  public enum Kind: Sendable, Hashable {
    /// One byte.
    case byte
    /// Two bytes, big-endian.
    case twoByteInteger
    /// Four bytes, big-endian.
    case fourByteInteger
    /// One to four bytes.
    case variableByteInteger
    /// UTF-8 with its length.
    case string
    /// Bytes with their length.
    case binary
    /// Two strings.
    case stringPair
  }

  /// The packets that may carry the property (table 2-4).
  public var places: Places {
    switch self {
    case .payloadFormatIndicator, .messageExpiryInterval, .contentType, .responseTopic,
      .correlationData:
      [.publish, .will]
    case .subscriptionIdentifier: [.publish, .subscribe]
    case .sessionExpiryInterval: [.connect, .connack, .disconnect]
    case .assignedClientIdentifier, .serverKeepAlive, .responseInformation, .maximumQoS,
      .retainAvailable, .wildcardSubscriptionAvailable, .subscriptionIdentifierAvailable,
      .sharedSubscriptionAvailable:
      [.connack]
    case .authenticationMethod, .authenticationData: [.connect, .connack, .auth]
    case .requestProblemInformation, .requestResponseInformation: [.connect]
    case .willDelayInterval: [.will]
    case .serverReference: [.connack, .disconnect]
    case .reasonString:
      [
        .connack, .puback, .pubrec, .pubrel, .pubcomp, .suback, .unsuback, .disconnect, .auth,
      ]
    case .receiveMaximum, .topicAliasMaximum, .maximumPacketSize: [.connect, .connack]
    case .topicAlias: [.publish]
    case .userProperty: .all
    }
  }

  /// Whether the property may stand more than once in a packet that a sender of a kind writes.
  ///
  /// A server may name several subscriptions in one PUBLISH (5.0 section 3.3.2.3.8); a SUBSCRIBE has
  /// one subscription identifier at most.
  /// - Parameter place: The packet that carries the property.
  /// - Returns: Whether a second one is no fault.
  public func mayRepeat(in place: Places) -> Bool {
    switch self {
    case .userProperty: true
    case .subscriptionIdentifier: place == .publish
    default: false
    }
  }

  /// Whether an integer value is one that the standard allows (section 2.2.2.2 and the packets' own).
  public func allows(_ value: Int) -> Bool {
    switch self {
    case .payloadFormatIndicator, .requestProblemInformation, .requestResponseInformation,
      .maximumQoS, .retainAvailable, .wildcardSubscriptionAvailable,
      .subscriptionIdentifierAvailable, .sharedSubscriptionAvailable:
      value <= 1
    case .subscriptionIdentifier, .receiveMaximum, .topicAlias, .maximumPacketSize: value != 0
    default: true
    }
  }

  /// A set of places where properties stand: a packet of a type, or a will.
  public struct Places: OptionSet, Sendable, Hashable {
    /// One bit a place.
    public let rawValue: UInt32
    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
    init(_ type: MQTTPacketType) { rawValue = 1 << UInt32(type.rawValue) }

    /// CONNECT.
    public static let connect = Places(.connect)
    /// CONNACK.
    public static let connack = Places(.connack)
    /// PUBLISH.
    public static let publish = Places(.publish)
    /// PUBACK.
    public static let puback = Places(.puback)
    /// PUBREC.
    public static let pubrec = Places(.pubrec)
    /// PUBREL.
    public static let pubrel = Places(.pubrel)
    /// PUBCOMP.
    public static let pubcomp = Places(.pubcomp)
    /// SUBSCRIBE.
    public static let subscribe = Places(.subscribe)
    /// SUBACK.
    public static let suback = Places(.suback)
    /// UNSUBSCRIBE.
    public static let unsubscribe = Places(.unsubscribe)
    /// UNSUBACK.
    public static let unsuback = Places(.unsuback)
    /// DISCONNECT.
    public static let disconnect = Places(.disconnect)
    /// AUTH.
    public static let auth = Places(.auth)
    /// The will in CONNECT.
    public static let will = Places(rawValue: 1 << 16)
    /// Every place.
    public static let all: Places = [
      .connect, .connack, .publish, .puback, .pubrec, .pubrel, .pubcomp, .subscribe, .suback,
      .unsubscribe, .unsuback, .disconnect, .auth, .will,
    ]
  }
}

/// A property of MQTT 5.0 with its value, as a value of its own.
public struct MQTTProperty: Sendable, Hashable {
  /// Which property it is.
  public let id: MQTTPropertyID
  /// Its value; the case goes with the ``MQTTPropertyID/kind`` of the identifier.
  public let value: Value

  /// Creates a property.
  public init(_ id: MQTTPropertyID, _ value: Value) {
    self.id = id
    self.value = value
  }

  /// The value of a property.
  public enum Value: Sendable, Hashable {
    /// A byte or an integer of any width.
    case integer(Int)
    /// A string.
    case string(String)
    /// Bytes.
    case binary([UInt8])
    /// A name and a value.
    case pair(String, String)
  }
}

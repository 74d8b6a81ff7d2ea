/// A control packet as a value of its own, for building and encoding.
///
/// Where the standard leaves a choice of encoding (an explicit success code, an empty property list,
/// a longer Remaining Length) the packet says which was taken, so that encoding a decoded packet
/// gives the same bytes.
public struct MQTTPacket: Sendable, Hashable {
  /// The version that it is encoded by.
  public var version: MQTTVersion
  /// What it says.
  public var content: Content
  /// The least number of bytes for the Remaining Length (1...4); 1 is the shortest encoding.
  public var lengthSize: Int
  /// Whether the flags of the fixed header have DUP set, which 3.1 allows on requests.
  public var dup: Bool

  /// Creates a packet.
  /// - Parameters:
  ///   - content: What it says.
  ///   - version: The version to encode it by.
  ///   - dup: The DUP flag of a PUBLISH, or in MQTT 3.1 of a request.
  ///   - lengthSize: The least number of bytes for the Remaining Length (1...4).
  public init(
    _ content: Content, version: MQTTVersion, dup: Bool = false, lengthSize: Int = 1
  ) {
    self.content = content
    self.version = version
    self.dup = dup
    self.lengthSize = lengthSize
  }

  /// The content of a packet, by its type.
  public enum Content: Sendable, Hashable {
    /// A client asks for a connection.
    case connect(Connect)
    /// The server answers a CONNECT.
    case connack(Connack)
    /// A message.
    case publish(Publish)
    /// PUBACK, PUBREC, PUBREL or PUBCOMP; encoding any other type is a bug of the caller.
    case acknowledgement(MQTTPacketType, packetID: UInt16, Reason)
    /// A client asks for messages.
    case subscribe(packetID: UInt16, [Subscription], [MQTTProperty])
    /// The answer to a SUBSCRIBE.
    case suback(packetID: UInt16, codes: [UInt8], [MQTTProperty])
    /// A client no longer wants messages.
    case unsubscribe(packetID: UInt16, [String], [MQTTProperty])
    /// The answer to an UNSUBSCRIBE; codes and properties are those of 5.0.
    case unsuback(packetID: UInt16, codes: [UInt8], [MQTTProperty])
    /// A client shows that it lives.
    case pingreq
    /// The answer to a PINGREQ.
    case pingresp
    /// The end of a connection.
    case disconnect(Reason)
    /// Extended authentication (5.0).
    case auth(Reason)

    /// The type of the packet.
    package var type: MQTTPacketType {
      switch self {
      case .connect: .connect
      case .connack: .connack
      case .publish: .publish
      case .acknowledgement(let type, _, _): type
      case .subscribe: .subscribe
      case .suback: .suback
      case .unsubscribe: .unsubscribe
      case .unsuback: .unsuback
      case .pingreq: .pingreq
      case .pingresp: .pingresp
      case .disconnect: .disconnect
      case .auth: .auth
      }
    }
  }

  /// Its type.
  package var type: MQTTPacketType { content.type }

  /// A request for a connection (MQTT 5.0 section 3.1).
  public struct Connect: Sendable, Hashable {
    /// The client identifier; empty asks the server for one.
    public var clientID: String
    /// Clean Session or Clean Start.
    public var cleanStart: Bool
    /// The longest time between two packets in seconds; 0 is no limit.
    public var keepAlive: UInt16
    /// The will.
    public var will: Will?
    /// The user name.
    public var username: String?
    /// The password.
    public var password: [UInt8]?
    /// The properties (5.0).
    public var properties: [MQTTProperty]
    /// Whether bit 7 of the level is set, as bridges do.
    public var isBridge: Bool

    /// Creates a request.
    public init(
      clientID: String, cleanStart: Bool = true, keepAlive: UInt16 = 60, will: Will? = nil,
      username: String? = nil, password: [UInt8]? = nil, properties: [MQTTProperty] = [],
      isBridge: Bool = false
    ) {
      self.clientID = clientID
      self.cleanStart = cleanStart
      self.keepAlive = keepAlive
      self.will = will
      self.username = username
      self.password = password
      self.properties = properties
      self.isBridge = isBridge
    }
  }

  /// The message that a server sends when a client is lost (MQTT 5.0 section 3.1.2.5).
  public struct Will: Sendable, Hashable {
    /// The topic name.
    public var topic: String
    /// The message.
    public var payload: [UInt8]
    /// The QoS, 0...2.
    public var qos: UInt8
    /// Whether it is retained.
    public var retain: Bool
    /// The properties (5.0).
    public var properties: [MQTTProperty]

    /// Creates a will.
    public init(
      topic: String, payload: [UInt8], qos: UInt8 = 0, retain: Bool = false,
      properties: [MQTTProperty] = []
    ) {
      self.topic = topic
      self.payload = payload
      self.qos = qos
      self.retain = retain
      self.properties = properties
    }
  }

  /// The answer to a CONNECT (MQTT 5.0 section 3.2).
  public struct Connack: Sendable, Hashable {
    /// Whether the server has a session of the client.
    public var sessionPresent: Bool
    /// The return or reason code; 0 accepts.
    public var code: UInt8
    /// The properties (5.0).
    public var properties: [MQTTProperty]

    /// Creates an answer.
    public init(sessionPresent: Bool = false, code: UInt8 = 0, properties: [MQTTProperty] = []) {
      self.sessionPresent = sessionPresent
      self.code = code
      self.properties = properties
    }
  }

  /// A message (MQTT 5.0 section 3.3).
  public struct Publish: Sendable, Hashable {
    /// The topic name.
    public var topic: String
    /// The message.
    public var payload: [UInt8]
    /// The QoS, 0...2.
    public var qos: UInt8
    /// Whether the message is, or was, retained.
    public var retain: Bool
    /// The packet identifier; written at QoS 1 and 2 only.
    public var packetID: UInt16
    /// The properties (5.0).
    public var properties: [MQTTProperty]

    /// Creates a message.
    public init(
      topic: String, payload: [UInt8], qos: UInt8 = 0, retain: Bool = false, packetID: UInt16 = 0,
      properties: [MQTTProperty] = []
    ) {
      self.topic = topic
      self.payload = payload
      self.qos = qos
      self.retain = retain
      self.packetID = packetID
      self.properties = properties
    }
  }

  /// One filter of a SUBSCRIBE (MQTT 5.0 section 3.8.3).
  public struct Subscription: Sendable, Hashable {
    /// The topic filter.
    public var filter: String
    /// The options byte: the highest QoS in bits 0 and 1, and in 5.0 the options above.
    public var options: UInt8

    /// Creates a subscription.
    public init(_ filter: String, options: UInt8) {
      self.filter = filter
      self.options = options
    }
  }

  /// A reason code and properties, either of which 5.0 lets be left out.
  public struct Reason: Sendable, Hashable {
    /// The reason code; nil leaves it out, which means success.
    public var code: UInt8?
    /// The properties, which need a code; nil leaves their length out.
    public var properties: [MQTTProperty]?

    /// Creates a reason.
    public init(_ code: UInt8? = nil, properties: [MQTTProperty]? = nil) {
      self.code = code
      self.properties = properties
    }
  }
}

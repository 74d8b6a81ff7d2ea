/// What the user of a ``DataClient`` can have done.
public struct ClientAction: Sendable, Hashable {
  /// Names the action in the events that answer it; unique among the open actions of a client.
  public struct ID: Sendable, Hashable, RawRepresentable {
    /// The number.
    public let rawValue: UInt32

    /// Creates an identifier.
    public init(rawValue: UInt32) { self.rawValue = rawValue }
  }

  /// The action's identifier.
  public let id: ID
  /// What to do.
  public let kind: Kind

  /// Creates an action.
  public init(_ id: ID, _ kind: Kind) {
    self.id = id
    self.kind = kind
  }

  /// The kinds of action.
  public enum Kind: Sendable, Hashable {
    /// Open the connection; answered by `connected` or `closed`.
    case connect(ConnectOptions)
    /// Ask for messages; answered by `subscribed`.
    case subscribe([Subscription])
    /// Ask no longer for messages; answered by `unsubscribed` or `failed`.
    case unsubscribe([String])
    /// Send a message; answered by `published` when the receiver has it, at QoS 0 when it is written,
    /// or by `failed` when the receiver does not want it.
    case publish(Message)
    /// Ask for a resource; answered by `response`, or by `failed` when no answer comes.
    case send(RequestMessage)
    /// Send one text message over a connection without topics; nothing answers it (RFC 6455 section 5.6).
    case sendText(String)
    /// Send one binary message over a connection without topics; nothing answers it (RFC 6455 section 5.6).
    case sendBinary([UInt8])
    /// Close the connection in good order; answered by `closed`.
    case disconnect
  }
}

/// How hard sender and receiver try (MQTT 3.1.1 section 4.3).
public enum QoS: UInt8, Sendable, Hashable, CaseIterable, Comparable {
  /// Once or not at all.
  case atMostOnce = 0
  /// Once or more often.
  case atLeastOnce = 1
  /// Just once.
  case exactlyOnce = 2

  /// Tells whether one tries less hard than another.
  public static func < (lhs: QoS, rhs: QoS) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// A message on a topic.
public struct Message: Sendable, Hashable {
  /// The topic name.
  public var topic: String
  /// The payload; it may be empty.
  public var payload: [UInt8]
  /// How hard it is, or was, tried.
  public var qos: QoS
  /// Whether the server keeps it for later subscribers, or has kept it.
  public var isRetained: Bool
  /// What it says besides, which takes ``Capabilities/properties``.
  public var properties: MessageProperties {
    get { box?.properties ?? MessageProperties() }
    set { box = newValue.isEmpty ? nil : MessagePropertiesBox(newValue) }
  }
  /// The properties; nil when there are none.
  private var box: MessagePropertiesBox?

  /// Whether the message says anything besides its topic and its payload.
  public var hasProperties: Bool { box != nil }

  /// Creates a message that says nothing besides its topic and its payload.
  public init(
    topic: String, payload: [UInt8], qos: QoS = .atMostOnce, isRetained: Bool = false
  ) {
    self.topic = topic
    self.payload = payload
    self.qos = qos
    self.isRetained = isRetained
  }

  /// Creates a message.
  public init(
    topic: String, payload: [UInt8], qos: QoS = .atMostOnce, isRetained: Bool = false,
    properties: MessageProperties
  ) {
    self.topic = topic
    self.payload = payload
    self.qos = qos
    self.isRetained = isRetained
    box = properties.isEmpty ? nil : MessagePropertiesBox(properties)
  }
}

/// A request as clients carry it: what a ``Request`` says of itself, its parameters encoded.
public struct RequestMessage: Sendable, Hashable {
  /// Where the resource is, relative to the client's base.
  public var path: String
  /// The method, such as `GET`.
  public var method: String
  /// The parameters, by name.
  public var parameters: [String: JSONValue]

  /// The parameters as they stand in a URL: what is no text as JSON.
  package var texts: [String: String] { parameters.mapValues { $0.text ?? "\($0)" } }

  /// Creates a request.
  public init(path: String, method: String, parameters: [String: JSONValue] = [:]) {
    self.path = path
    self.method = method
    self.parameters = parameters
  }
}

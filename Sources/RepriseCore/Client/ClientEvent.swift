/// What a ``DataClient`` tells its user.
public enum ClientEvent: Sendable, Hashable {
  /// The connection is open.
  case connected(Connected)
  /// A SUBSCRIBE was answered: the granted QoS of each filter, nil for one that was refused.
  case subscribed(ClientAction.ID, [QoS?])
  /// An UNSUBSCRIBE was answered.
  case unsubscribed(ClientAction.ID)
  /// A message is where its QoS wants it.
  case published(ClientAction.ID)
  /// A message came.
  case message(Message)
  /// A text message came over a connection without topics.
  case text(String)
  /// A binary message came over a connection without topics.
  case binary([UInt8])
  /// A request was answered.
  case response(ClientAction.ID, ResponseMessage)
  /// An UNSUBSCRIBE, a message or a request came to nothing after it was handed over.
  case failed(ClientAction.ID, ActionFailure)
  /// The connection is closed, or could not be opened.
  case closed(Closed)
  /// The deadline passed before anything happened.
  case deadline
  /// ``DataClient/wake()`` was called.
  case woken
  /// This world has no more events.
  case ended

  /// What the server says when it accepts a connection.
  public struct Connected: Sendable, Hashable {
    /// Whether the server kept the session of an earlier connection.
    public var isSessionPresent: Bool
    /// Events are copied often, and few are this one.
    private var box: ServerPropertiesBox?

    /// What a server of MQTT 5.0 says besides.
    public var properties: ServerProperties {
      get { box?.properties ?? ServerProperties() }
      set { box = newValue == ServerProperties() ? nil : ServerPropertiesBox(newValue) }
    }

    /// Creates an answer.
    public init(
      isSessionPresent: Bool = false, properties: ServerProperties = ServerProperties()
    ) {
      self.isSessionPresent = isSessionPresent
      self.properties = properties
    }
  }

  /// Why a connection is closed.
  public enum Closed: Sendable, Hashable {
    /// The user disconnected.
    case byUser
    /// The server refused the connection, with the code of its CONNACK.
    case refused(code: UInt8)
    /// The server ended an open connection in good order: it closed its side of TCP (FIN), or said so in a
    /// DISCONNECT, whose reason code it is (MQTT 5.0 section 3.14.2.1), or in a Close frame; the text is for people.
    case byServer(code: UInt8?, String)
    /// The connection broke, without an end in good order; the text is for people.
    case lost(String)
    /// There never was a connection, and nothing of the protocol was sent: no way there, nobody who listens, a name
    /// that is unknown, TLS that was refused; the text is for people.
    case unreached(String, cause: Cause = .other)

    /// Why there never was a connection, as far as an application does something else for it.
    public enum Cause: String, Sendable, Hashable, CaseIterable {
      /// The network is not there.
      case noNetwork
      /// Something else, or the client does not tell.
      case other
    }
  }
}

/// The answer to a request.
public struct ResponseMessage: Sendable, Hashable {
  /// The status; 200 is success, as in HTTP.
  public var status: Int
  /// The body.
  public var body: [UInt8]

  /// Creates an answer.
  public init(status: Int = 200, body: [UInt8]) {
    self.status = status
    self.body = body
  }
}

/// What a transport and a peer can do.
public struct Capabilities: OptionSet, Sendable, Hashable {
  /// One bit a capability.
  public let rawValue: UInt32

  /// Creates a set from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// Messages can be retained.
  public static let retain = Capabilities(rawValue: 1)
  /// A will can be left.
  public static let will = Capabilities(rawValue: 2)
  /// QoS 2.
  public static let exactlyOnce = Capabilities(rawValue: 4)
  /// The peer sends on its own.
  public static let push = Capabilities(rawValue: 8)
  /// Payloads may be any bytes.
  public static let binary = Capabilities(rawValue: 16)
  /// Messages can be published and subscribed to.
  public static let messages = Capabilities(rawValue: 32)
  /// Requests are answered.
  public static let requests = Capabilities(rawValue: 64)
  /// Text and binary messages without topics can be sent, as over a WebSocket.
  public static let frames = Capabilities(rawValue: 128)
  /// The peer says which message or UNSUBSCRIBE it refuses, as servers do under MQTT 5.0.
  public static let refusals = Capabilities(rawValue: 256)
  /// Messages carry properties, as under MQTT 5.0.
  public static let properties = Capabilities(rawValue: 512)
}

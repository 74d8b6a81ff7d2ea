public import RepriseCore

/// How a channel behaves, and where it leads.
public struct ChannelConfiguration: Sendable {
  /// When a call subscribes to its reply topic.
  public enum ReplySubscription: Sendable, Hashable {
    /// Before the first call on a topic, whatever else is subscribed to.
    case always
    /// Only when no granted filter covers the reply topic.
    case unlessCovered
  }

  /// When subscriptions are asked for again on a new connection.
  public enum Resubscription: Sendable, Hashable {
    /// On every new connection.
    case always
    /// Only when the server has not kept the session, as it may without ``ChannelConfiguration/cleanStart``.
    case unlessSessionPresent
  }

  /// The app's key; for ``identitySource``.
  public var appKey: String
  /// The code that names the app's signature picture, for ``identitySource``; a secret.
  public var authCode: String
  /// The identity of the channel; nil until the cloud has said it.
  public var identity: ChannelIdentity?
  /// Where the channel leads, for whoever makes the client.
  public var endpoint: Endpoint
  /// Says who the channel is, where ``identity`` does not: asks the cloud, with ``appKey`` and ``authCode``.
  ///
  /// It is asked whenever the channel starts without knowing; when it throws, so does the start.
  public var identitySource: (@Sendable (ChannelConfiguration) async throws -> ChannelIdentity)?
  /// The longest silence of the connection, in seconds; 30 to 1200 is what the cloud takes, and others are
  /// refused by ``validate()``.
  public var keepAlive: UInt16 = 60
  /// Whether ``keepAlive`` is what another client has chosen, whose session is run again.
  package var takesAnyKeepAlive = false
  /// Whether `withChannel` connects the channel, and waits for that, before its body begins.
  public var startsAtOnce = false
  /// Returns the login token of the account that ``Channel/start()`` binds a channel to that is not bound yet.
  ///
  /// It is given the number of tokens that were refused. Nil leaves binding to ``Channel/bind(token:)``.
  public var bindingToken: (@Sendable (_ refused: Int) async throws -> String)?
  /// Whether a connection starts without the session that the server may have kept.
  public var cleanStart = true
  /// The message that the server sends when the connection is lost.
  public var will: Message?
  /// The QoS of what is published.
  public var publishQoS: QoS = .atLeastOnce
  /// The QoS that is asked for in subscriptions.
  public var subscribeQoS: QoS = .atLeastOnce
  /// Whether the channel subscribes to `/#` by itself, once after the first connection.
  public var subscribesAll = true
  /// When subscriptions are asked for again on a new connection.
  public var resubscription = Resubscription.always
  /// When a call subscribes to its reply topic.
  public var replySubscription = ReplySubscription.always
  /// Whether the last call on a reply topic takes its subscription back.
  public var releasesReplyTopics = false
  /// Whether a subscription that is granted when nobody waits for it any more is taken back; a client whose session
  /// is run again may have left it.
  package var takesBackLateGrants = true
  /// How long a call waits that says nothing else.
  public var callTimeout: Duration = .seconds(10)
  /// How long to wait for a connection to open, and for its subscriptions to be restored.
  public var connectTimeout: Duration = .seconds(30)
  /// How long a start waits until the channel is connected, however many tries that takes; nil waits for ever.
  ///
  /// The channel goes on trying after it.
  public var startTimeout: Duration?
  /// How long to wait for a connection to close in good order.
  public var closeTimeout: Duration = .seconds(5)
  /// How long to wait before connecting anew.
  public var reconnect = BackOff()
  /// How long to wait before binding anew when the cloud's lock was held by another.
  public var lockRetry = BackOff(jitterPercent: 0)
  /// How long to wait before binding anew when there were too many requests.
  public var throttleRetry = BackOff(
    first: .seconds(60), longest: .seconds(3_600), jitterPercent: 0)
  /// How often binding is tried before it fails for good.
  public var bindAttempts = 3
  /// How many kicks within ``kickWindow`` are taken for another user of the identity, and are final.
  ///
  /// A kick is DISCONNECT 0x8E, or that the server closes the connection in good order within ``kickWindow`` after it
  /// accepted it; a connection that breaks is none, and is opened again for ever.
  public var kickLimit = 3
  /// Within which time kicks are counted together.
  public var kickWindow: Duration = .seconds(60)
  /// The seed of the jitter; mixed with the identity, so that devices differ without one.
  public var jitterSeed: UInt64 = 0
  /// The number that the first request has as its id.
  public var firstRequestID: UInt32 = 1
  /// Where log entries go, and which.
  public var log = DeviceLog()

  /// Creates a configuration.
  /// - Parameters:
  ///   - appKey: The app's key.
  ///   - authCode: The code that names the app's signature picture.
  ///   - identity: The identity of the channel, if that is known.
  ///   - endpoint: Where the channel leads.
  public init(
    appKey: String, authCode: String = "", identity: ChannelIdentity? = nil,
    endpoint: Endpoint = Endpoint()
  ) {
    self.appKey = appKey
    self.authCode = authCode
    self.identity = identity
    self.endpoint = endpoint
  }

  /// Creates the configuration of an app that has its device's credentials already: the channel knows who it is,
  /// and starts at once, for which it has 60 seconds.
  /// - Parameters:
  ///   - credentials: The three parts of the identity, which the password is signed with.
  ///   - appKey: The app's key, which the cloud finds identities by; nil takes the product's, as there is nothing
  ///     to find.
  ///   - secureMode: How the connection is secured, as the cloud is told.
  ///   - endpoint: Where the channel leads.
  /// - Throws: ``SigningError`` when the credentials can't be used.
  public init(
    credentials: DeviceCredentials, appKey: String? = nil,
    secureMode: DeviceCredentials.SecureMode = .tls, endpoint: Endpoint = Endpoint()
  ) throws(SigningError) {
    self.init(
      appKey: appKey ?? credentials.productKey,
      identity: try credentials.identity(secureMode: secureMode),
      endpoint: endpoint)
    startsAtOnce = true
    // Before its body begins an app can't ask for the state: without an end it would hear of nothing.
    startTimeout = .seconds(60)
  }

  /// Checks what can be checked without a network.
  /// - Throws: ``ChannelError`` of kind `client` that says what is wrong.
  public func validate() throws(ChannelError) {
    guard !appKey.isEmpty else { throw ChannelError(.client, "appKey is empty") }
    if let server = endpoint.server, !server.isEmpty {
      guard !server.contains("://") else {
        throw ChannelError(.client, "server is a host without a scheme: \(server)")
      }
      guard !endpoint.autoSelectsHost else {
        throw ChannelError(.client, "autoSelectsHost works only without a server")
      }
    }
    guard (0...65_535).contains(endpoint.port) else {
      throw ChannelError(.client, "port \(endpoint.port) is not in 0…65535")
    }
    guard takesAnyKeepAlive || (30...1_200).contains(keepAlive) else {
      throw ChannelError(.client, "keepAlive \(keepAlive) is not in 30…1200 seconds")
    }
    guard bindAttempts > 0, kickLimit > 0 else {
      throw ChannelError(.client, "bindAttempts and kickLimit are at least 1")
    }
  }
}

extension ChannelConfiguration: CustomStringConvertible, CustomReflectable {
  /// The app's key and who the channel is.
  public var description: String { "appKey \(appKey), \(identity?.clientID ?? "no identity")" }

  /// What debuggers and `dump` show: all that is no secret and has no place of its own.
  public var customMirror: Mirror {
    Mirror(self, children: ["appKey": appKey, "endpoint": endpoint, "keepAlive": keepAlive])
  }
}

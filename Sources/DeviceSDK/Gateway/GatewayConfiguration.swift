public import RepriseCore

/// How a gateway behaves, and whose connection it uses.
public struct GatewayConfiguration: Sendable {
  /// Whose connection a gateway uses.
  public enum Connection: Sendable, Hashable {
    /// Its own: it connects with these credentials.
    case own(ChannelIdentity)
    /// That of the channel with this client identifier, on a rider of a ``SharedSession``.
    case shared(ChannelIdentity)

    var identity: ChannelIdentity {
      switch self {
      case .own(let identity), .shared(let identity): identity
      }
    }
  }

  /// How many things one request may hold, and how many there may be; the cloud's limits change.
  public struct Limits: Sendable, Hashable {
    /// Sub-devices in one request that adds or deletes topology.
    public var topologyPerRequest = 30
    /// Sub-devices in one login or logout.
    public var loginsPerRequest = 5
    /// Sub-devices in one registration.
    public var registrationsPerRequest = 30
    /// Sub-devices online at one time.
    public var online = 1_500
    /// Logins of one sub-device in a minute, which automatic logins keep to.
    public var loginsPerMinute = 5
    /// Automatic logins on their way at one time.
    public var concurrentLogins = 50
    /// Properties in one post.
    public var propertiesPerPost = 200
    /// Events in one pack.
    public var eventsPerPack = 200
    /// Sub-devices in one pack.
    public var subdevicesPerPack = 20

    /// Creates the limits that the cloud documents.
    public init() {}
  }

  /// Whose connection the gateway uses.
  public var connection: Connection
  /// The cloud's limits.
  public var limits = Limits()
  /// The longest silence of a connection of its own, in seconds; 30 to 1200 is what the cloud takes.
  public var keepAlive: UInt16 = 300
  /// Whether the cloud keeps messages of QoS 1 for the gateway while it is away.
  public var receivesOfflineMessages = false
  /// The QoS of requests that say nothing else; those of sessions are always sent at QoS 0.
  public var publishQoS: QoS = .atLeastOnce
  /// Whether a sub-device that comes online is subscribed to its services and to what disables,
  /// enables and deletes it.
  public var subscribesToCommands = true
  /// Whether the gateway asks for its topology after each connection, if it has lines.
  public var syncsTopology = true
  /// How long a request waits that says nothing else.
  public var callTimeout: Duration = .seconds(10)
  /// How long a sub-device's connection may take to open.
  public var openTimeout: Duration = .seconds(30)
  /// How long to wait for a connection to open, and for its subscriptions to be restored.
  public var connectTimeout: Duration = .seconds(30)
  /// How long a start waits until the gateway is connected, however many tries that takes; nil waits for ever.
  ///
  /// The gateway goes on trying after it.
  public var startTimeout: Duration?
  /// How long ``ChannelState/connected`` waits for the sub-devices to be logged in again.
  public var restoreTimeout: Duration = .seconds(10)
  /// How long to wait for a connection to close in good order.
  public var closeTimeout: Duration = .seconds(5)
  /// How long to wait before connecting anew.
  public var reconnect = BackOff()
  /// How long to wait before asking anew when there were too many requests.
  public var throttleRetry = BackOff(
    first: .seconds(60), longest: .seconds(3_600), jitterPercent: 0)
  /// How long to wait before asking anew when the cloud had a fault.
  public var faultRetry = BackOff(jitterPercent: 0)
  /// How often an operation is tried before it fails for good.
  public var attempts = 4
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
  /// - Parameter connection: Whose connection the gateway uses.
  public init(_ connection: Connection) { self.connection = connection }

  /// Creates the configuration of a gateway that rides on a channel's connection.
  /// - Parameter clientID: The channel's client identifier, `deviceName&productKey`.
  /// - Throws: ``GatewayError`` of kind `client` when it is empty, as before the channel knows who it
  ///   is, or is none.
  public init(ridingAs clientID: String) throws(GatewayError) {
    let parts = clientID.split(separator: "&", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw GatewayError(
        .client, "a client identifier is deviceName&productKey; wait until the channel has one")
    }
    do {
      let identity = try ChannelIdentity(
        productKey: String(parts[1]), deviceName: String(parts[0]))
      self.init(.shared(identity))
    } catch {
      throw GatewayError(.client, error.message, underlying: error)
    }
  }

  /// Checks what can be checked without a network.
  /// - Throws: ``GatewayError`` of kind `client` that says what is wrong.
  public func validate() throws(GatewayError) {
    let counts = [
      limits.topologyPerRequest, limits.loginsPerRequest, limits.registrationsPerRequest,
      limits.online, limits.loginsPerMinute, limits.concurrentLogins, limits.propertiesPerPost,
      limits.eventsPerPack, limits.subdevicesPerPack, attempts, kickLimit,
    ]
    guard counts.allSatisfy({ $0 > 0 }) else {
      throw GatewayError(.client, "limits, attempts and kickLimit are at least 1")
    }
    guard publishQoS < .exactlyOnce else {
      throw GatewayError(.client, "the cloud does not know QoS 2; take 0 or 1")
    }
    if case .own = connection, !(30...1_200).contains(keepAlive) {
      throw GatewayError(.client, "keepAlive \(keepAlive) is not in 30…1200 seconds")
    }
  }
}

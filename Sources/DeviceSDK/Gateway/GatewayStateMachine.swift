package import RepriseCore

/// The gateway as a value: what the client, the application and its sub-devices do goes in, what is
/// to be done comes out.
///
/// It waits for nothing and reads no clock, so that every time-out is reached at once in a test.
package struct GatewayStateMachine: DeviceMachine {
  /// What the machine takes in.
  package typealias Input = MachineInput<Call>
  /// What the machine gives out.
  package typealias Output = MachineOutput<Value, Effect, GatewayError>

  /// What an open action is for.
  enum Purpose: CloudPurpose {
    case connect
    case disconnect
    case restore([String])
    case call(CallID)
    case request(RequestID)
    case subscribeReply(String)
    case subscribeLine(OperationID)
    /// The SUBSCRIBE that begins a sweep of retained messages.
    case sweep(CallID)
    /// The UNSUBSCRIBE that marks its end, with the filter that it was for.
    case sweepEnd(CallID, String)
    /// It is waited for no longer.
    case nothing

    static var takingBack: Self { .nothing }
  }

  /// What a connection had before this gateway took it over.
  struct Adopted {
    /// Each with the sub-device whose line has it.
    let filters: [(filter: String, subdevice: Subdevice?)]
    let online: [(ConnectionID, SubdeviceInfo)]
  }

  /// What a deadline is for.
  enum Timer: Hashable {
    case call(CallID)
    case request(RequestID)
    case operation(OperationID)
    case opening(ConnectionID)
    /// The report that the gateway is connected waits for sub-devices no longer.
    case restoring
  }

  typealias ErrorKind = GatewayErrorKind

  static let system = DeviceLog.System.gateway
  static var done: Value { .done }

  let configuration: GatewayConfiguration
  var deviceLog: DeviceLog { configuration.log }
  let identity: ChannelIdentity
  let topics: GatewayTopics
  var keeper: ConnectionKeeper
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []

  var actions = ActionBook<Purpose>()
  var calls: [CallID: OpenCall] = [:]
  var deadlines = Deadlines<Timer>()

  var nextRequestID: UInt32
  var lastRequest: UInt64 = 0
  var requests: [RequestID: OpenRequest] = [:]
  var replies = ReplyBook<RequestID>()
  /// What is being found out of retained messages.
  var sweeps: [CallID: RetainedSweep] = [:]

  /// What the cloud has granted, or will be asked for again, and whose it is.
  ///
  /// What is nobody's stays until those who are on their way to it, or wait for a reply by it, are done.
  var grants = GatewayFilters()
  /// What the application has subscribed to, for the gateway and for lines.
  var wishes = GatewayFilters()
  /// What the first connection has without this gateway's having asked for it; nil once it has it.
  var adopted: Adopted?
  var order = SubscriptionOrder()

  var lines: [Subdevice: Line] = [:]
  var accesses: [ConnectionID: SubdeviceAccess] = [:]
  var lastOperation: UInt64 = 0
  var operations: [OperationID: LineOperation] = [:]
  /// Lines that are to be logged in again, and have not been begun with.
  var loginsToCome: [Subdevice] = []
  /// Lines whose login the report of a new connection waits for.
  var restoring: Set<Subdevice> = []
  /// Sub-devices that the cloud has online for lines that were closed: they are taken offline, unless their new
  /// lines, which are about to be logged in, come online.
  var departed: Set<Subdevice> = []
  var counted = GatewayStatistics()
  /// Why the last try to connect came to nothing.
  var lastLoss: GatewayError?

  /// The connection's state.
  package internal(set) var state = ChannelState.disconnected

  /// Whether the application wants it to be connected: it was started, and not stopped.
  package var isStarted: Bool {
    switch keeper.link {
    case .identifying, .connecting, .restoring, .open, .backingOff, .closing(_, .some): true
    case .idle, .closing, .ended: false
    }
  }

  /// Creates a machine that is disconnected.
  /// - Parameter configuration: How the gateway behaves.
  /// - Throws: ``GatewayError`` of kind `client` when the configuration is wrong.
  package init(_ configuration: GatewayConfiguration) throws(GatewayError) {
    try configuration.validate()
    self.configuration = configuration
    identity = configuration.connection.identity
    topics = GatewayTopics(
      gateway: try Subdevice(
        productKey: identity.productKey, deviceName: identity.deviceName))
    nextRequestID = configuration.firstRequestID
    keeper = ConnectionKeeper(configuration.keeperRules, random: configuration.random)
  }

  /// What was counted.
  package var statistics: GatewayStatistics {
    var counted = counted
    counted.lostConnections = keeper.lostConnections
    return counted
  }

  /// The sub-devices that have lines, in their order.
  package var subdevices: [Subdevice] { lines.keys.sorted() }

  /// Returns the state of a sub-device's line; nil when it has none.
  /// - Parameter subdevice: The sub-device.
  /// - Returns: The state.
  package func lineState(of subdevice: Subdevice) -> LineState? { lines[subdevice]?.state }

  /// Tells whether the cloud has disabled a sub-device, as far as it is known here.
  /// - Parameter subdevice: The sub-device.
  /// - Returns: Whether it has.
  package func isDisabled(_ subdevice: Subdevice) -> Bool {
    lines[subdevice]?.isDisabled ?? false
  }

  /// When the machine wants to be asked again if nothing happens before.
  package var deadline: Timestamp? { earlier(keeper.deadline, deadlines.first) }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    take(input, now: now)
  }

  mutating func receive(_ event: ClientEvent) {
    switch event {
    case .message(let message): receive(message)
    case .connected: follow(keeper.noteConnected(time))
    case .closed(let reason): follow(keeper.noteClosed(reason, time))
    case .subscribed(let action, let granted): noteGranted(action, granted)
    case .unsubscribed(let action), .published(let action): noteDone(action)
    case .failed(let action, let failure):
      noteRefusal(of: action, DataClientError(.rejected, "\(failure)"))
    case .deadline: expire()
    case .ended: follow(keeper.noteEnd())
    case .response, .text, .binary, .woken: break
    }
  }

  private mutating func expire() {
    while let timer = deadlines.popExpired(at: time) {
      switch timer {
      case .call(let id): expire(id)
      case .request(let id): expire(id)
      case .operation(let id): expire(id)
      case .opening(let id): expireOpening(of: id)
      case .restoring: reportConnected()
      }
    }
    follow(keeper.expire(time))
  }
}

extension GatewayConfiguration {
  /// How patient the keeper of the connection is; an owner's connection is the owner's to watch.
  var keeperRules: ConnectionKeeper.Rules {
    var rules = ConnectionKeeper.Rules(
      connectTimeout: connectTimeout, closeTimeout: closeTimeout, backOff: reconnect,
      kickLimit: kickLimit, kickWindow: kickWindow)
    if case .shared = connection {
      rules.connectTimeout = nil
      rules.kickLimit = nil
    }
    return rules
  }

  /// Jitter of its own for each device, also for those that were given no seed.
  var random: SeededGenerator {
    SeededGenerator(named: connection.identity.clientID, seed: jitterSeed)
  }
}

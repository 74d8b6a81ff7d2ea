package import RepriseCore

/// The channel as a value: what the client and the application do goes in, what is to be done comes
/// out.
///
/// It waits for nothing and reads no clock, so that every time-out is reached at once in a test.
package struct ChannelStateMachine: DeviceMachine {
  /// What the application can ask for.
  package enum Call: Sendable {
    /// Open the connection, and keep it open; completed when it is.
    case start
    /// Close the connection; completed when it is.
    case stop
    /// Say whether there is a network.
    case setReachable(Bool)
    /// Take an identity that was not known at first.
    case identify(ChannelIdentity)
    /// Give a start up that waits for an identity, as there is none to be had.
    case failToIdentify(ChannelError)
    /// Send a request and wait for its reply.
    case invoke(Invocation)
    /// Send parameters; completed when the receiver has them, at QoS 0 when they are written.
    case publish(ChannelTopic, JSONValue, isRetained: Bool = false)
    /// Send bytes as they are; completed as parameters are.
    case publishBytes(ChannelTopic, [UInt8], isRetained: Bool = false)
    /// Find out where the cloud retains messages that a filter for topics to publish to matches; completed with the
    /// full topics.
    case findRetained(ChannelTopic)
    /// Ask for messages; completed when they are granted.
    case subscribe(ChannelTopic)
    /// Ask no longer for messages; completed when that is acknowledged.
    case unsubscribe(ChannelTopic)
    /// Bind the channel to the account that a token is for.
    case bind(token: String)
    /// Take the binding back.
    case unbind
    /// Leave ``AccountState/needsLogin``, as the user has logged in again.
    case noteLogin
  }

  /// A request with what is to be known of its reply.
  package struct Invocation: Sendable {
    /// The topic of the request.
    package var topic: ChannelTopic
    /// The parameters.
    package var params: JSONValue
    /// Its object `extraParam` has members that stand beside the parameters.
    package var options: JSONValue?
    /// How long to wait for the reply; nil takes the configuration's time.
    package var timeout: Duration?

    /// Creates a request.
    /// - Parameters:
    ///   - topic: The topic of the request.
    ///   - params: The parameters.
    ///   - options: Its object `extraParam` has members that stand beside the parameters.
    ///   - timeout: How long to wait for the reply.
    package init(
      _ topic: ChannelTopic, params: JSONValue, options: JSONValue? = nil,
      timeout: Duration? = nil
    ) {
      self.topic = topic
      self.params = params
      self.options = options
      self.timeout = timeout
    }
  }

  /// What a call results in.
  package enum Value: Sendable, Hashable {
    /// It is done.
    case done
    /// It is done, and was answered.
    case reply(ChannelReply)
    /// These are the full topics that were looked for.
    case topics([String])
  }

  /// What the application is told without having asked.
  package enum Effect: Sendable, CloudEffect {
    /// Give a message to the listeners of the app.
    case deliver(ChannelMessage)
    /// Give a message that is not below the channel's prefix to whoever shares the connection.
    case forward(ChannelMessage)
    /// The connection's state is another.
    case changeState(ChannelStateChange)
    /// The account's state is another.
    case changeAccount(AccountState)
    /// Write an entry into the log.
    case log(DeviceLog.Entry)
  }

  /// What the machine takes in.
  package typealias Input = MachineInput<Call>
  /// What the machine gives out.
  package typealias Output = MachineOutput<Value, Effect, ChannelError>

  /// What an open action is for.
  enum Purpose: CloudPurpose {
    case connect
    case disconnect
    case subscribeAll
    /// The subscriptions that a new connection gets back.
    case restore([Grant])
    case call(CallID)
    case subscribeReply(String)
    case request(CallID)
    /// The SUBSCRIBE that begins a sweep of retained messages.
    case sweep(CallID)
    /// The UNSUBSCRIBE that marks its end, with the filter that it was for.
    case sweepEnd(CallID, String)
    /// An UNSUBSCRIBE, for a call of the application or for none.
    case unsubscribe(CallID?)

    static var takingBack: Self { .unsubscribe(nil) }
  }

  typealias ErrorKind = ChannelErrorKind

  static let system = DeviceLog.System.channel
  static var done: Value { .done }

  let configuration: ChannelConfiguration
  var deviceLog: DeviceLog { configuration.log }
  var identity: ChannelIdentity?
  var topics: ChannelTopics?
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []

  var keeper: ConnectionKeeper
  /// Whether the cloud has kept the session that the connection goes on with.
  var isSessionPresent = false
  /// Why there is no connection, since there was one.
  var lastLoss: ChannelError?
  var needsSubscribeAll = true

  var actions = ActionBook<Purpose>()
  var calls: [CallID: OpenCall] = [:]
  var deadlines = DeadlineQueue()
  var nextRequestID: UInt32
  var replies = ReplyBook<CallID>()
  var grants: [Grant] = []
  var order = SubscriptionOrder()
  /// How many calls of the application that ask for a filter are not completed.
  var wishes: [String: Int] = [:]
  /// What the first connection has without having been asked for it on this channel.
  var adopted: [Grant] = []
  var dependents: [String: Int] = [:]
  var heldBack: [String: [CallID]] = [:]
  /// What is being found out of retained messages.
  var sweeps: [CallID: RetainedSweep] = [:]

  var accountBefore = AccountState.unbound
  var refusedTokens = 0

  /// The connection's state.
  package internal(set) var state = ChannelState.disconnected
  /// The account's state.
  package internal(set) var account = AccountState.unbound
  /// What was counted.
  package internal(set) var statistics = ChannelStatistics()

  /// Creates a machine that is disconnected.
  /// - Parameter configuration: How the channel behaves.
  /// - Throws: ``ChannelError`` of kind `client` when the configuration is wrong.
  package init(_ configuration: ChannelConfiguration) throws(ChannelError) {
    try configuration.validate()
    self.configuration = configuration
    nextRequestID = configuration.firstRequestID
    keeper = ConnectionKeeper(
      configuration.keeperRules, random: SeededGenerator(seed: configuration.jitterSeed))
    if let identity = configuration.identity { take(identity) }
  }

  /// The channel's client identifier; nil until the identity is known.
  package var clientID: String? { identity?.clientID }

  /// When the machine wants to be asked again if nothing happens before.
  package var deadline: Timestamp? { earlier(keeper.deadline, deadlines.first) }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    let before = keeper.link.phase
    defer { assert(ChannelTable.leads(from: before, to: keeper.link.phase)) }
    return take(input, now: now)
  }

  mutating func receive(_ event: ClientEvent) {
    switch event {
    case .message(let message): receive(message)
    case .connected(let connected): noteConnected(connected)
    case .closed(let reason): follow(keeper.noteClosed(reason, time))
    case .subscribed(let action, let granted): noteGranted(action, granted)
    case .unsubscribed(let action), .published(let action): noteDone(action)
    case .failed(let action, let failure): noteFailure(of: action, failure)
    case .deadline: expire()
    case .ended: follow(keeper.noteEnd())
    case .text, .binary, .response, .woken: break
    }
  }

  mutating func begin(_ call: Call, _ id: CallID) {
    switch call {
    case .start: start(id)
    case .stop: stop(id)
    case .setReachable(let isReachable):
      follow(keeper.setReachable(isReachable, time))
      complete(id)
    case .identify(let identity): identify(as: identity, id)
    case .failToIdentify(let error): failToIdentify(error, id)
    case .invoke(let invocation): invoke(invocation, for: .application, id)
    case .publish(let topic, let params, let isRetained):
      publish(topic, params: params, isRetained: isRetained, id)
    case .publishBytes(let topic, let payload, let isRetained):
      publish(topic, payload: payload, isRetained: isRetained, id)
    case .findRetained(let filter): findRetained(filter, id)
    case .subscribe(let topic): subscribe(topic, id)
    case .unsubscribe(let topic): unsubscribe(topic, id)
    case .bind(let token): bind(token: token, id)
    case .unbind: unbind(id)
    case .noteLogin: noteLogin(id)
    }
  }

  private mutating func expire() {
    while let id = deadlines.popExpired(at: time) { expire(id) }
    follow(keeper.expire(time))
  }
}

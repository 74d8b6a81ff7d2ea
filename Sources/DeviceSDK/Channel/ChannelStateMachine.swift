public import DataClient

/// The channel as a value: what the client and the application do goes in, what is to be done comes
/// out.
///
/// It waits for nothing and reads no clock, so that every time-out is reached at once in a test.
public struct ChannelStateMachine: StateMachine {
  /// What the application can ask for.
  public enum Call: Sendable {
    /// Open the connection, and keep it open; completed when it is.
    case start
    /// Close the connection; completed when it is.
    case stop
    /// Say whether there is a network.
    case setReachable(Bool)
    /// Take an identity that was not known at first.
    case identify(ChannelIdentity)
    /// Send a request and wait for its reply.
    case invoke(Invocation)
    /// Send parameters; completed when the receiver has them, at QoS 0 when they are written.
    case publish(ChannelTopic, JSONValue)
    /// Send bytes as they are; completed as parameters are.
    case publishBytes(ChannelTopic, [UInt8])
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
  public struct Invocation: Sendable {
    /// The topic of the request.
    public var topic: ChannelTopic
    /// The parameters.
    public var params: JSONValue
    /// Its object `extraParam` has members that stand beside the parameters.
    public var options: JSONValue?
    /// How long to wait for the reply; nil takes the configuration's time.
    public var timeout: Duration?

    /// Creates a request.
    /// - Parameters:
    ///   - topic: The topic of the request.
    ///   - params: The parameters.
    ///   - options: Its object `extraParam` has members that stand beside the parameters.
    ///   - timeout: How long to wait for the reply.
    public init(
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
  public enum Value: Sendable, Hashable {
    /// It is done.
    case done
    /// It is done, and was answered.
    case reply(ChannelReply)
  }

  /// What the application is told without having asked.
  public enum Effect: Sendable {
    /// Give a message to the listeners of the app.
    case deliver(ChannelMessage)
    /// Give a message that is not below the channel's prefix to whoever shares the connection.
    case forward(ChannelMessage)
    /// The connection's state is another.
    case changeState(ChannelStateChange)
    /// The account's state is another.
    case changeAccount(AccountState)
    /// Write an entry into the log.
    case log(ChannelLog.Entry)
  }

  /// What the machine takes in.
  public typealias Input = MachineInput<Call>
  /// What the machine gives out.
  public typealias Output = MachineOutput<Value, Effect, ChannelError>

  /// How the connection is.
  enum Link {
    /// Not started, stopped, or given up.
    case idle
    /// Started, and nobody has said yet who the channel is.
    case identifying
    /// CONNECT was sent.
    case connecting(ClientAction.ID, until: Timestamp)
    /// A new connection was accepted, and the subscriptions are on their way.
    case restoring(ClientAction.ID, [Grant], until: Timestamp)
    /// All is well.
    case connected
    /// The connection was lost, or not accepted; the next try comes later.
    case backingOff(until: Timestamp)
    /// DISCONNECT was sent; with an error, a new connection follows.
    case closing(until: Timestamp, retryAfter: ChannelError?)
    /// The world has no more events.
    case ended

    /// The phase that it is, of ``ChannelTable``.
    var phase: ChannelPhase {
      switch self {
      case .idle: .idle
      case .identifying: .identifying
      case .connecting: .connecting
      case .restoring: .restoring
      case .connected: .connected
      case .backingOff: .backingOff
      case .closing(_, .some): .breakingOff
      case .closing: .closing
      case .ended: .ended
      }
    }
  }

  /// What an open action is for.
  enum Purpose {
    case connect
    case disconnect
    case subscribeAll
    case restore
    case call(CallID)
    case subscribeReply(String)
    case request(CallID)
    /// An UNSUBSCRIBE, for a call of the application or for none.
    case unsubscribe(CallID?)
  }

  let configuration: ChannelConfiguration
  var identity: ChannelIdentity?
  var topics: ChannelTopics?
  var random: SeededGenerator
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []

  private(set) var link = Link.idle
  var failedAttempts = 0
  var kicks: KickCounter
  /// Why there is no connection, since there was one.
  var lastLoss: ChannelError?
  var needsSubscribeAll = true

  var lastAction: UInt32 = 0
  var actions: [ClientAction.ID: Purpose] = [:]

  var calls: [CallID: OpenCall] = [:]
  var deadlines = DeadlineQueue()
  var nextRequestID: UInt32
  var waiting: [String: [String: CallID]] = [:]
  var subscribing: [String: ReplySubscription<CallID>] = [:]
  var grants: [Grant] = []
  var order = SubscriptionOrder<Grant.Owner>()
  /// How many calls of the application that ask for a filter are not completed.
  var wishes: [String: Int] = [:]
  /// What the first connection has without having been asked for it on this channel.
  var adopted: [Grant] = []
  var dependents: [String: Int] = [:]
  var heldBack: [String: [CallID]] = [:]
  var memory = ReplyMemory()

  /// Whether there is a network, as far as the application knows; without one nothing is tried.
  var isReachable = true
  var accountBefore = AccountState.unbound
  var refusedTokens = 0

  /// The connection's state.
  public internal(set) var state = ChannelState.disconnected
  /// The account's state.
  public internal(set) var account = AccountState.unbound
  /// What was counted.
  public internal(set) var statistics = ChannelStatistics()

  /// Creates a machine that is disconnected.
  /// - Parameter configuration: How the channel behaves.
  /// - Throws: ``ChannelError`` of kind `client` when the configuration is wrong.
  public init(_ configuration: ChannelConfiguration) throws(ChannelError) {
    try configuration.validate()
    self.configuration = configuration
    nextRequestID = configuration.firstRequestID
    random = SeededGenerator(seed: configuration.jitterSeed)
    kicks = KickCounter(limit: configuration.kickLimit, window: configuration.kickWindow)
    if let identity = configuration.identity { take(identity) }
  }

  /// Brings the connection into another phase, as the table has it.
  mutating func enter(_ next: Link, by trigger: ChannelTrigger) {
    assert(
      ChannelTable.next(link.phase, trigger) == next.phase,
      "\(link.phase) does not become \(next.phase) by \(trigger)")
    link = next
  }

  /// The channel's client identifier; nil until the identity is known.
  public var clientID: String? { identity?.clientID }

  /// When the machine wants to be asked again if nothing happens before.
  public var deadline: Timestamp? {
    switch link {
    case .connecting(_, let until), .restoring(_, _, let until), .closing(let until, _):
      earlier(until, deadlines.first)
    case .backingOff(let until): earlier(isReachable ? until : nil, deadlines.first)
    case .idle, .identifying, .connected, .ended: deadlines.first
    }
  }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  public mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    time = now
    switch input {
    case .received(let event): receive(event)
    case .refused(let action, let error): noteRefusal(of: action, error)
    case .called(let id, let call): begin(call, id)
    case .cancelled(let id): cancel(id)
    }
    let result = outputs
    outputs = []
    return result
  }

  private mutating func receive(_ event: ClientEvent) {
    switch event {
    case .message(let message): receive(message)
    case .connected(let connected): noteConnected(connected)
    case .closed(let reason): noteClosed(reason)
    case .subscribed(let action, let granted): noteGranted(action, granted)
    case .unsubscribed(let action), .published(let action): noteDone(action)
    case .failed(let action, let failure): noteFailure(of: action, failure)
    case .deadline: expire()
    case .ended: noteEnd()
    case .text, .binary, .response, .woken: break
    }
  }

  private mutating func begin(_ call: Call, _ id: CallID) {
    switch call {
    case .start: start(id)
    case .stop: stop(id)
    case .setReachable(let isReachable): setReachable(isReachable, id)
    case .identify(let identity): identify(as: identity, id)
    case .invoke(let invocation): invoke(invocation, for: .application, id)
    case .publish(let topic, let params): publish(topic, params: params, id)
    case .publishBytes(let topic, let payload): publish(topic, payload: payload, id)
    case .subscribe(let topic): subscribe(topic, id)
    case .unsubscribe(let topic): unsubscribe(topic, id)
    case .bind(let token): bind(token: token, id)
    case .unbind: unbind(id)
    case .noteLogin: noteLogin(id)
    }
  }

  private mutating func expire() {
    while let id = deadlines.popExpired(at: time) { expire(id) }
    expireLink()
  }
}

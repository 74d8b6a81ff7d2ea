package import RepriseCore

/// The link of the message service as a value: what the client and the application do goes in, what is
/// to be done comes out.
///
/// Every change of its state is a row of `LinkTable/message`.
package struct MessageLinkMachine: StateMachine {
  /// What the application can ask for.
  package enum Call: Sendable {
    /// Log in; completed when the link is connected. An empty token is the app's identifier.
    case login(token: String)
    /// Log out; completed when the connection is closed.
    case logout
    /// Show a new token; completed when the server has taken it.
    case renewToken(String)
    /// Subscribe to a channel; completed when all of its features are there.
    case subscribe(String, LinkSubscribeFeatures)
    /// Unsubscribe from a channel; at once when the link is not connected.
    case unsubscribe(String)
    /// Give up the subscription to a channel that is under way, as cancelling its task does; only a replay calls it,
    /// which has no tasks of the application.
    case abandonSubscription(String)
    /// Publish in a channel; completed when the broker has it.
    case publish(String, [UInt8])
    /// Change the user's temporary states in a channel; nil takes one away.
    case changeStates(String, [String: String?])
    /// Ask whether a stream channel may be joined now.
    case admitStream(String)
    /// Say that a stream channel is left.
    case releaseStream(String)
    /// Say what became of the device's network.
    case noteNetwork(LinkNetworkChange)
  }

  /// What a call results in: nothing.
  package typealias Value = Void

  /// What the machine takes in.
  package typealias Input = MachineInput<Call>
  /// What the machine gives out.
  package typealias Output = MachineOutput<Value, LinkEffect, LinkError>

  /// A call that is not completed yet.
  enum OpenCall {
    case login
    case logout
    case renewing(String)
    case subscribing(Subscribing)
    case unsubscribing
    case publishing
    case changingStates(ChangingStates)
  }

  /// How far a subscription is.
  struct Subscribing {
    let channel: String
    let features: LinkSubscribeFeatures
    /// Whether another subscription to the channel comes first.
    var isQueued = false
    /// Whether the server was asked, and so has the states that there were then.
    var isAsked = false
    var isTakenIn = false
    var hasSnapshot: Bool
    /// Whether the time of the list of users is over, and the server has not answered at all.
    var isLate = false
    /// What the channel was subscribed to with before the server took the user in; nil when it was not.
    var former: LinkSubscribeFeatures?
  }

  /// Temporary states on their way.
  struct ChangingStates {
    let channel: String
    let states: [String: String]
    let change: TemporaryStates.ChangeID
    /// Whether they wait for the answer to a subscription that went to the server without them.
    var isHeld: Bool
  }

  /// A time without a connection.
  struct Outage {
    let since: Timestamp
    var attempts = 0
    var wasSuspended = false
  }

  /// When the link gives up, and what for.
  struct Limit {
    let time: Timestamp
    let trigger: LinkTrigger
  }

  let configuration: LinkConfiguration
  var session: LinkSession
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []

  var token = ""
  var tokenTimes: TokenTimes?
  var outage: Outage?
  var retryTime: Timestamp?
  var limit: Limit?
  /// The channels that were subscribed to when the link began to open.
  var restoring: [(channel: String, features: LinkSubscribeFeatures)] = []
  /// Those of them that the broker did not grant.
  var refusedChannels: [String] = []
  /// The channels that were unsubscribed from since then.
  var droppedChannels: Set<String> = []
  /// Whether the link has been connected in this session.
  package internal(set) var wasConnected = false
  /// Whether the user has been logged in since the last logout.
  var wasLoggedIn = false

  package internal(set) var channels: [String: LinkSubscribeFeatures] = [:]
  /// The features whose topics the broker was asked for on this connection, and was not told to drop.
  var askedFeatures: [String: LinkSubscribeFeatures] = [:]
  var states = TemporaryStates()
  var streams: Set<String> = []

  var calls: [CallID: OpenCall] = [:]
  var deadlines = DeadlineQueue()
  var limits = LinkLimits()
  var random: SeededGenerator

  /// The link's state.
  package internal(set) var state = LinkState.idle

  /// Creates a machine that is not logged in.
  /// - Parameter configuration: How the link behaves.
  /// - Throws: ``LinkError`` when an identifier is wrong.
  package init(_ configuration: LinkConfiguration) throws(LinkError) {
    try configuration.validate()
    self.configuration = configuration
    session = LinkSession(
      LinkTopics(message: configuration), every: configuration.heartbeatInterval, configuration)
    random = SeededGenerator(named: session.topics.base)
  }

  /// The channels that are subscribed to, or will be again, in the order of their names.
  package var subscribedChannels: [String] { channels.keys.sorted() }

  /// When the machine wants to be asked again if nothing happens before.
  package var deadline: Timestamp? {
    var first = earlier(session.deadline, deadlines.first)
    if state != .connected { first = earlier(first, earlier(retryTime, limit?.time)) }
    if state == .disconnected { first = earlier(first, suspensionTime) }
    return earlier(first, tokenTimes?.next)
  }

  /// Takes in one thing that happened.
  /// - Parameters:
  ///   - input: What happened.
  ///   - now: When.
  /// - Returns: What to do, in this order.
  package mutating func handle(_ input: Input, now: Timestamp) -> [Output] {
    take(input, now: now)
  }

  mutating func begin(_ call: Call, _ id: CallID) throws(LinkError) {
    switch call {
    case .login(let token): try login(token, id)
    case .logout: try logout(id)
    case .renewToken(let token): try renew(token, id)
    case .subscribe(let channel, let features): try subscribe(channel, features, id)
    case .unsubscribe(let channel): try unsubscribe(channel, id)
    case .abandonSubscription(let channel): try abandonSubscription(to: channel, id)
    case .publish(let channel, let payload): try publish(channel, payload, id)
    case .changeStates(let channel, let changes): try changeStates(channel, changes, id)
    case .admitStream(let channel): try admitStream(channel, id)
    case .releaseStream(let channel):
      streams.remove(channel)
      complete(id)
    case .noteNetwork(let change): noteNetwork(change, id)
    }
  }
}

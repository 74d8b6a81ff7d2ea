package import RepriseCore

/// The link of one stream channel as a value: what the client and the application do goes in, what is
/// to be done comes out.
///
/// Every change of its state is a row of `LinkTable/stream`. A lost link is opened again, for 20
/// minutes.
package struct StreamLinkMachine: StateMachine {
  /// What the application can ask for.
  package enum Call: Sendable {
    /// Join the channel; completed when the link is connected. An empty token is the app's identifier.
    case join(token: String, LinkJoinFeatures)
    /// Leave the channel; completed when the connection is closed.
    case leave
    /// Show a new token; completed when the server has taken it.
    case renewToken(String)
    /// Change the user's temporary states in the channel; nil takes one away.
    case changeStates([String: String?])
    /// Join a topic; completed when the server has taken it.
    case joinTopic(String, LinkTopicOptions)
    /// Leave a topic; at once when the link is not connected.
    case leaveTopic(String)
    /// Publish in a topic that is joined.
    case publish(String, [UInt8])
    /// Subscribe to users of a topic; none are those who have joined it.
    case subscribeTopic(String, [String])
    /// Unsubscribe from users of a topic, or from all; at once when the link is not connected.
    case unsubscribeTopic(String, [String])
    /// Say that the message service has failed.
    case noteServiceFailure
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
    case join
    case leave
    case renewing(String)
    case changingStates(TemporaryStates.ChangeID)
    case joiningTopic(String, LinkTopicOptions)
    case leavingTopic
    case publishing
    case subscribingTopic(Set<StreamTopics.Source>)
    case unsubscribingTopic
  }

  /// How long a lost link is tried to be opened again.
  static let patience: Duration = .seconds(1_200)
  /// The longest time between two tries.
  static let longestPause: Duration = .seconds(30)

  /// The channel's name.
  package let channel: String
  let configuration: LinkConfiguration
  var session: LinkSession
  var time = Timestamp(nanoseconds: 0)
  var outputs: [Output] = []

  var token = ""
  var tokenTimes: TokenTimes?
  var features = LinkJoinFeatures()
  var attempts = 0
  var retryTime: Timestamp?
  var giveUpTime: Timestamp?
  var lossTime: Timestamp?
  /// Whether the link has been connected since it was joined.
  package internal(set) var wasConnected = false
  /// Whether the channel has been joined since it was left.
  var wasJoined = false
  var states = TemporaryStates()

  package internal(set) var topics = StreamTopics()
  var messages = RateWindow(LinkLimits.topicMessages, per: .seconds(1))
  /// What was subscribed to in topics when the link began to open, as the broker was asked for it.
  var restoring: [StreamTopics.Source] = []
  /// What of it the broker did not grant.
  var refusedSources: Set<StreamTopics.Source> = []
  /// The topics that the greeting names.
  var greetedTopics: Set<String> = []

  var calls: [CallID: OpenCall] = [:]
  var deadlines = DeadlineQueue()
  var random: SeededGenerator

  /// The link's state.
  package internal(set) var state = LinkState.idle

  /// Creates a machine of a channel that is not joined.
  /// - Parameters:
  ///   - channel: The channel.
  ///   - configuration: How the link behaves.
  /// - Throws: ``LinkError`` when an identifier is wrong.
  package init(_ channel: String, _ configuration: LinkConfiguration) throws(LinkError) {
    try configuration.validate()
    try LinkName.checkChannel(channel)
    self.channel = channel
    self.configuration = configuration
    session = LinkSession(
      LinkTopics(stream: channel, configuration), every: LinkHeartbeat.streamInterval,
      configuration)
    random = SeededGenerator(named: session.topics.base)
  }

  /// When the machine wants to be asked again if nothing happens before.
  package var deadline: Timestamp? {
    let first = earlier(session.deadline, earlier(deadlines.first, tokenTimes?.next))
    return state == .connecting ? earlier(first, earlier(retryTime, giveUpTime)) : first
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
    case .join(let token, let features): try join(token, features, id)
    case .leave: try leave(id)
    case .renewToken(let token): try renew(token, id)
    case .changeStates(let changes): try changeStates(changes, id)
    case .joinTopic(let topic, let options): try joinTopic(topic, options, id)
    case .leaveTopic(let topic): try leaveTopic(topic, id)
    case .publish(let topic, let payload): try publish(topic, payload, id)
    case .subscribeTopic(let topic, let users): try subscribeTopic(topic, users, id)
    case .unsubscribeTopic(let topic, let users): try unsubscribeTopic(topic, users, id)
    case .noteServiceFailure:
      fail(.serviceFailed, LinkError(.channelNotConnected, "the message service has failed"))
      complete(id)
    case .noteNetwork(let change): noteNetwork(change, id)
    }
  }
}

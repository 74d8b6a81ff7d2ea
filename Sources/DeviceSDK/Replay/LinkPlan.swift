public import DataClient

/// What the people and the code of a recorded app did to make a session of a link, told from the session alone.
///
/// What a link sends by itself (heartbeats, greetings, new tries) is the link's work again in a replay. Any
/// other packet is there because the app called something.
public struct LinkPlan: Sendable {
  /// How the link has to behave, and whose it is.
  public let configuration: LinkConfiguration
  /// The stream channel that the link is of; nil for the message service.
  public let streamChannel: String?
  /// What was taken for granted, one sentence each, to be shown to people.
  public let notes: [String]
  /// Whether the session ends while its last connection is open.
  let breaksOff: Bool
  private let session: RecordedLinkSession

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the link and its server said to each other.
  /// - Throws: `DataClientError` when it is no session of a link, or not from its beginning.
  public init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    let session = RecordedLinkSession(dialogue)
    guard case .connect(let options)? = session.actions.first else {
      throw DataClientError(.unreadable, "the session of a link has to begin with its CONNECT")
    }
    guard let name = RecordedLinkName(options.clientID) else {
      throw DataClientError(
        .unreadable, "\(options.clientID) is no client identifier of a link; see LinkTopics")
    }
    var configuration = LinkConfiguration(
      appID: name.app, userID: name.user, sessionID: name.session)
    configuration.leavesWill = options.will != nil
    let greeting = session.greeting(after: -1)
    configuration.presenceTimeout = Self.seconds("presenceTimeout", greeting, or: 300)
    configuration.heartbeatInterval = Self.seconds("heartbeatInterval", greeting, or: 5)
    self.configuration = configuration
    self.session = session
    streamChannel = name.streamChannel
    breaksOff = session.breaksOff
    notes =
      greeting == nil
      ? ["the link never says who it is, so its heartbeats are taken to come every 5 s"] : []
  }

  private static func seconds(_ key: String, _ greeting: JSONValue?, or other: Int) -> Duration {
    .seconds(greeting?[key]?.lenientInteger ?? other)
  }

  // MARK: Calls of the message service

  /// Returns what the app called when its client did something that the link does not do by itself.
  /// - Parameters:
  ///   - ordinal: The number of the action in the session, from 0.
  ///   - link: The link as it is.
  /// - Returns: The calls, in their order; none when no call of the message service brings it about.
  func messageCalls(for ordinal: Int, on link: MessageLinkMachine) -> [MessageLinkMachine.Call] {
    guard session.actions.indices.contains(ordinal) else { return [] }
    let state = link.state
    switch session.actions[ordinal] {
    case .connect:
      // Before its time, a link that waits is tried again because the network is back, or by a login.
      let isWaiting = state == .disconnected || state == .suspended
      guard isWaiting, !session.showsNewToken(after: ordinal) else {
        return [.login(token: session.token(after: ordinal))]
      }
      return [.noteNetwork(.regained)]
    case .disconnect:
      if state == .connected { return [.noteNetwork(.lost)] }
      guard state == .connecting, session.connectsNext(after: ordinal) else { return [.logout] }
      return [.login(token: session.token(after: ordinal))]
    case .subscribe(let wanted):
      guard let channel = Self.channel(wanted.first?.filter) else { return [] }
      return subscription(to: channel, after: ordinal, wanted)
    case .unsubscribe(let filters):
      guard let channel = Self.channel(filters.first) else { return [] }
      // A task that subscribed was cancelled.
      let isAbandoned = link.isAbandoning(channel, by: filters)
      return [isAbandoned ? .abandonSubscription(channel) : .unsubscribe(channel)]
    case .publish(let message):
      guard let verb = session.verb(of: message) else {
        guard let channel = Self.channel(message.topic) else { return [] }
        return [.publish(channel, message.payload)]
      }
      return messageCalls(verb, JSONValue(parsing: message.payload) ?? .null, ordinal, link)
    case .send, .sendText, .sendBinary: return []
    }
  }

  private func messageCalls(
    _ verb: String, _ request: JSONValue, _ ordinal: Int, _ link: MessageLinkMachine
  ) -> [MessageLinkMachine.Call] {
    let channel = request["channel"]?.text ?? ""
    let verb = LinkVerb(rawValue: verb)
    if let verb, verb == .subscribe || verb == .unsubscribe, link.isAbandoning(channel, by: verb) {
      return [.abandonSubscription(channel)]
    }
    switch verb {
    case .logout: return [.logout]
    case .renew: return [.renewToken(request["token"]?.text ?? "")]
    case .subscribe: return subscription(to: channel, after: ordinal - 1, [])
    case .unsubscribe: return [.unsubscribe(channel)]
    case .state: return [.changeStates(channel, session.stateChanges[ordinal] ?? [:])]
    case .login, .join, .leave, nil: return []
    }
  }

  /// A subscription, before which states may have been set that go with it.
  private func subscription(
    to channel: String, after ordinal: Int, _ wanted: [Subscription]
  ) -> [MessageLinkMachine.Call] {
    let request = session.request(.subscribe, channel: channel, after: ordinal)
    var features = LinkSubscribeFeatures(
      rawValue: request?.value["features"]?.lenientInteger ?? 0)
    if request == nil {
      for filter in wanted.map(\.filter) {
        features.insert(filter.hasSuffix("/presence") ? .presence : .message)
      }
    }
    let call = MessageLinkMachine.Call.subscribe(channel, features)
    guard let changes = request.flatMap({ session.stateChanges[$0.ordinal] }), !changes.isEmpty
    else { return [call] }
    return [.changeStates(channel, changes), call]
  }

  private static func channel(_ topic: String?) -> String? {
    topic.flatMap(LinkChannelTopics.parse)?.channel
  }

  // MARK: Calls of a stream channel

  /// Returns what the app called when its client did something that the link does not do by itself.
  /// - Parameters:
  ///   - ordinal: The number of the action in the session, from 0.
  ///   - state: How the link is.
  /// - Returns: The calls; none when no call of a stream channel brings it about.
  func streamCalls(for ordinal: Int, in state: LinkState) -> [StreamLinkMachine.Call] {
    guard session.actions.indices.contains(ordinal) else { return [] }
    switch session.actions[ordinal] {
    case .connect: return [state == .connecting ? .noteNetwork(.regained) : join(after: ordinal)]
    case .disconnect:
      if state == .connected { return [.noteNetwork(.lost)] }
      return [session.connectsNext(after: ordinal) ? join(after: ordinal) : .leave]
    case .publish(let message):
      let request = JSONValue(parsing: message.payload) ?? .null
      switch session.verb(of: message).flatMap(LinkVerb.init) {
      case .leave: return [.leave]
      case .renew: return [.renewToken(request["token"]?.text ?? "")]
      case .state: return [.changeStates(session.stateChanges[ordinal] ?? [:])]
      case .login, .logout, .join, .subscribe, .unsubscribe, nil: return []
      }
    case .subscribe, .unsubscribe, .send, .sendText, .sendBinary: return []
    }
  }

  private func join(after ordinal: Int) -> StreamLinkMachine.Call {
    let features = session.greeting(after: ordinal)?["features"]?.lenientInteger
    return .join(
      token: session.token(after: ordinal),
      LinkJoinFeatures(rawValue: features ?? LinkJoinFeatures.presence.rawValue))
  }
}

/// Whose link a client identifier names.
struct RecordedLinkName: Sendable, Hashable {
  let app: String
  let user: String
  let session: String
  let streamChannel: String?

  /// Reads `link/{app}/message/{user}/{session}` or `link/{app}/stream/{user}/{session}/{channel}`; nil when it is
  /// neither.
  init?(_ clientID: String) {
    let levels = clientID.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count >= 5, levels[0] == "link",
      levels[2] == "message" && levels.count == 5 || levels[2] == "stream" && levels.count == 6,
      let app = LinkTopics.decode(levels[1]), let user = LinkTopics.decode(levels[3]),
      let session = LinkTopics.decode(levels[4])
    else { return nil }
    self.app = app
    self.user = user
    self.session = session
    guard levels.count == 6 else {
      streamChannel = nil
      return
    }
    guard let channel = LinkTopics.decode(levels[5]) else { return nil }
    streamChannel = channel
  }
}

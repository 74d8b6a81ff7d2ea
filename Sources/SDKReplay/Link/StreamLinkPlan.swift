package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded application did on the link of one stream channel.
package struct StreamLinkPlan: LinkPlan {
  private let link: RecordedLink
  private let channel: String
  private var session: RecordedLinkSession { link.session }

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the link and its server said to each other.
  /// - Throws: `DataClientError` when it is no session of such a link, or not from its beginning.
  package init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    link = try RecordedLink(dialogue)
    guard let channel = link.streamChannel else {
      throw DataClientError(.unsupported, "the session is that of the message service")
    }
    self.channel = channel
  }

  /// Whose session it is.
  package var subject: String { link.subject }
  /// What was taken for granted.
  package var notes: [String] { link.notes }
  /// Whether the session ends while its last connection is open.
  package var breaksOff: Bool { session.breaksOff }

  /// Makes the link.
  package func makeMachine(_ capabilities: Capabilities) throws -> StreamLinkMachine {
    try StreamLinkMachine(channel, link.configuration)
  }

  /// Closes the link.
  package var goodbye: StreamLinkMachine.Call { .leave }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<StreamLinkMachine>) async throws {
    try await driver.loop()
  }

  /// Returns a call in words.
  package func words(for call: StreamLinkMachine.Call) -> ReplayedCall.Words? {
    switch call {
    case .join(_, let features): .init("join", nil, .string("features \(features.rawValue)"))
    case .leave: .init("leave")
    case .renewToken: .init("renew")
    case .changeStates(let changes): .init("states", nil, states: changes)
    case .joinTopic(let topic, let options):
      .init(
        "join", topic, .string("\(options.qos)" + (options.meta.isEmpty ? "" : ", \(options.meta)"))
      )
    case .leaveTopic(let topic): .init("leave", topic)
    case .publish(let topic, let payload): .init("publish", topic, .shown(payload))
    case .subscribeTopic(let topic, let users): .init("subscribe", topic, .names(users))
    case .unsubscribeTopic(let topic, let users): .init("unsubscribe", topic, .names(users))
    case .noteServiceFailure: .init("service", nil, "failed")
    case .noteNetwork(let change): .init("network", nil, .string("\(change)"))
    }
  }

  // MARK: Calls

  /// Returns what the app called when its client did something that the link does not do by itself.
  /// - Parameters:
  ///   - ordinal: The number of the action in the session, from 0.
  ///   - link: The link as it is.
  ///   - ending: What was told so far.
  /// - Returns: The calls; none when no call of a stream channel brings it about.
  package func calls(
    for ordinal: Int, on link: StreamLinkMachine, _ ending: LinkState
  ) -> [StreamLinkMachine.Call] {
    let state = link.state
    guard session.actions.indices.contains(ordinal) else { return [] }
    switch session.actions[ordinal] {
    case .connect: return [state == .connecting ? .noteNetwork(.regained) : join(after: ordinal)]
    case .disconnect:
      if state == .connected {
        // Without a word a link ends because the message service's has failed, too.
        let isNew = session.beginning(after: ordinal)?.isOfNewSession ?? false
        return [isNew ? .noteServiceFailure : .noteNetwork(.lost)]
      }
      return [session.connectsNext(after: ordinal) ? join(after: ordinal) : .leave]
    case .publish(let message):
      if let place = LinkChannelTopics.parseTopic(message.topic) {
        return [.publish(place.topic, message.payload)]
      }
      let request = JSONValue(parsing: message.payload) ?? .null
      let topic = request["topic"]?.text ?? ""
      switch session.verb(of: message).flatMap(LinkVerb.init) {
      case .leave: return [.leave]
      case .renew: return [.renewToken(request["token"]?.text ?? "")]
      case .state: return [.changeStates(session.stateChanges[ordinal] ?? [:])]
      case .joinTopic:
        let meta = request["meta"]?.text ?? ""
        return [.joinTopic(topic, LinkTopicOptions(qos: session.qos(of: topic), meta: meta))]
      case .leaveTopic: return [.leaveTopic(topic)]
      case .login, .logout, .join, .subscribe, .unsubscribe, nil: return []
      }
    case .subscribe(let wanted):
      return Self.users(wanted.map(\.filter)).map { [.subscribeTopic($0.topic, $0.users)] } ?? []
    case .unsubscribe(let filters):
      return Self.users(filters).map { [.unsubscribeTopic($0.topic, $0.users)] } ?? []
    case .send, .sendText, .sendBinary: return []
    }
  }

  /// Returns what the user did while there was no connection.
  package func answers(
    to effect: LinkEffect, on link: StreamLinkMachine, at time: Timestamp
  ) -> [StreamLinkMachine.Call] {
    guard case .changeState(let event) = effect, link.wasConnected, event.current == .connecting,
      let beginning = session.beginning(from: time), !beginning.isOfNewSession
    else { return [] }
    let (left, topics) = (link.topics, beginning.topics)
    let gone = left.sources.filter { !beginning.receives($0) }
    return left.joined.keys.filter { !topics.contains($0) }.sorted().map { .leaveTopic($0) }
      + Dictionary(grouping: gone, by: \.topic).sorted { $0.key < $1.key }.map {
        .unsubscribeTopic($0.key, $0.value.map(\.user).sorted())
      }
  }

  /// The users of one topic whom filters are for; nil when they are for anything else.
  private static func users(_ filters: [String]) -> (topic: String, users: [String])? {
    let places = filters.compactMap(LinkChannelTopics.parseTopic)
    guard places.count == filters.count, let topic = places.first?.topic,
      places.allSatisfy({ $0.topic == topic })
    else { return nil }
    return (topic, places.map(\.user))
  }

  private func join(after ordinal: Int) -> StreamLinkMachine.Call {
    let features = session.greeting(after: ordinal)?["features"]?.lenientInteger
    return .join(
      token: session.token(after: ordinal),
      LinkJoinFeatures(rawValue: features ?? LinkJoinFeatures.presence.rawValue))
  }
}

extension JSONValue {
  /// Users of a topic.
  fileprivate static func names(_ users: [String]) -> JSONValue {
    .array(users.map { .string($0) })
  }
}

package import DeviceSDK
package import RepriseCore

/// What the people and the code of a recorded application did on the link of its message service.
package struct MessageLinkPlan: LinkPlan {
  private let link: RecordedLink
  private var session: RecordedLinkSession { link.session }

  /// Makes a plan of a session.
  /// - Parameter dialogue: What the link and its server said to each other.
  /// - Throws: `DataClientError` when it is no session of such a link, or not from its beginning.
  package init(_ dialogue: ReplayDialogue) throws(DataClientError) {
    link = try RecordedLink(dialogue)
    guard link.streamChannel == nil else {
      throw DataClientError(.unsupported, "the session is that of a stream channel")
    }
  }

  /// Whose session it is.
  package var subject: String { link.subject }
  /// What was taken for granted.
  package var notes: [String] { link.notes }
  /// Whether the session ends while its last connection is open.
  package var breaksOff: Bool { session.breaksOff }

  /// Makes the link.
  package func makeMachine(_ capabilities: Capabilities) throws -> MessageLinkMachine {
    try MessageLinkMachine(link.configuration)
  }

  /// Closes the link.
  package var goodbye: MessageLinkMachine.Call { .logout }

  /// Takes events until the end.
  package static func loop(_ driver: Driver<MessageLinkMachine>) async throws {
    try await driver.loop()
  }

  /// Returns a call in words.
  package func words(for call: MessageLinkMachine.Call) -> ReplayedCall.Words? {
    switch call {
    case .login: .init("login")
    case .logout: .init("logout")
    case .renewToken: .init("renew")
    case .subscribe(let channel, let features):
      .init("subscribe", channel, .string("features \(features.rawValue)"))
    case .unsubscribe(let channel): .init("unsubscribe", channel)
    case .abandonSubscription(let channel): .init("abandon", channel)
    case .publish(let channel, let payload): .init("publish", channel, .shown(payload))
    case .changeStates(let channel, let changes): .init("states", channel, states: changes)
    case .admitStream(let channel): .init("admit", channel)
    case .releaseStream(let channel): .init("release", channel)
    case .noteNetwork(let change): .init("network", nil, .string("\(change)"))
    }
  }

  // MARK: Calls

  /// Returns what the app called when its client did something that the link does not do by itself.
  /// - Parameters:
  ///   - ordinal: The number of the action in the session, from 0.
  ///   - link: The link as it is.
  ///   - ending: What was told so far.
  /// - Returns: The calls, in their order; none when no call of the message service brings it about.
  package func calls(
    for ordinal: Int, on link: MessageLinkMachine, _ ending: LinkState
  ) -> [MessageLinkMachine.Call] {
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
      return calls(verb, JSONValue(parsing: message.payload) ?? .null, ordinal, link)
    case .send, .sendText, .sendBinary: return []
    }
  }

  /// Returns what the user did while there was no connection.
  package func answers(
    to effect: LinkEffect, on link: MessageLinkMachine, at time: Timestamp
  ) -> [MessageLinkMachine.Call] {
    guard case .changeState(let event) = effect, link.wasConnected,
      event.current == .disconnected || event.current == .suspended,
      let beginning = session.beginning(from: time)
    else { return [] }
    guard !beginning.isOfNewSession else { return [.logout] }
    let kept = beginning.channels
    return link.channels.keys.filter { !kept.contains($0) }.sorted().map { .unsubscribe($0) }
  }

  private func calls(
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
    case .login, .join, .leave, .joinTopic, .leaveTopic, nil: return []
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
}

import RepriseCore

/// Message channels: subscriptions, what comes of them, and how they are brought back.
extension MessageLinkMachine {
  func topics(of channel: String) -> LinkChannelTopics {
    LinkChannelTopics(.message, channel, appID: configuration.appID)
  }

  /// What the broker has to grant for a channel.
  func filters(
    of channel: String, _ features: LinkSubscribeFeatures
  ) -> [Subscription] {
    let topics = topics(of: channel)
    var filters: [Subscription] = []
    if features.contains(.presence) { filters.append(Subscription(topics.presence)) }
    if features.contains(.message) { filters.append(Subscription(topics.messages)) }
    return filters
  }

  // MARK: Publishing

  mutating func publish(
    _ channel: String, _ payload: [UInt8], _ id: CallID
  ) throws(LinkError) {
    try LinkName.checkChannel(channel)
    try checkConnected(.channelNotConnected)
    try limits.countMessage(time)
    guard payload.count <= LinkLimits.messageSize else {
      throw LinkError(
        .channelMessageLengthExceedLimitation,
        "a message has \(LinkLimits.messageSize) bytes at most")
    }
    wait(id, .publishing)
    let topic = topics(of: channel).message(from: configuration.userID)
    let message = Message(topic: topic, payload: payload, qos: .atLeastOnce)
    session.perform(.publish(message), for: id)
  }

  // MARK: What comes

  mutating func noteSnapshot(_ payload: [UInt8]) {
    guard let event = LinkPresenceEvent(snapshot: payload, .message, time: time) else { return }
    let waiting = subscriptions(to: event.channel).filter { $0.subscribing.isAsked }
    guard !waiting.isEmpty || channels[event.channel]?.contains(.presence) == true else { return }
    tell(.tellPresence(event))
    for (id, var subscribing) in waiting {
      subscribing.hasSnapshot = true
      settle(subscribing, id)
    }
  }

  /// Message channels have no topics.
  mutating func noteTopicEvent(_ payload: [UInt8]) {}

  mutating func noteMessage(_ message: Message) {
    guard let (channel, use) = LinkChannelTopics.parse(message.topic),
      let features = channels[channel], features.contains(use.feature)
    else { return }
    switch use {
    case .message(let user):
      tell(
        .deliver(
          LinkMessage(channel: channel, publisher: user, payload: message.payload, time: time)))
    case .presence:
      let event = LinkPresenceEvent(parsing: message.payload, channel, .message, time: time)
      // What is told to all is told to the one whom it is about, too.
      if let other = event.without(configuration.userID) {
        tell(.tellPresence(other))
      }
    }
  }

  // MARK: Restoring

  /// Says who the user is, and what the session had.
  mutating func greet(_ granted: [QoS?]) {
    var granted = granted[...]
    var restored: [JSONValue] = []
    for (channel, features) in restoring {
      let count = filters(of: channel, features).count
      let isGranted = granted.count >= count && !granted.prefix(count).contains(nil)
      granted = granted.dropFirst(count)
      // It may have been unsubscribed from meanwhile.
      guard channels[channel] != nil else { continue }
      guard isGranted else {
        refusedChannels.append(channel)
        continue
      }
      restored.append([
        "channel": .string(channel), "features": .number(String(features.rawValue)),
        "states": .strings(states[channel]),
      ])
    }
    session.greet(
      .login,
      [
        JSONMember("token", .string(token)),
        JSONMember("heartbeatInterval", .seconds(configuration.heartbeatInterval)),
        JSONMember("presenceTimeout", .seconds(configuration.presenceTimeout)),
        JSONMember("again", .bool(wasConnected)),
        JSONMember("restore", .array(restored)),
      ])
  }

  /// Takes channels out of the session that did not come back.
  mutating func dropChannels(_ names: [String]) -> [UnrestoredChannel] {
    var dropped: [UnrestoredChannel] = []
    for channel in Set(names).sorted() where channels.removeValue(forKey: channel) != nil {
      askedFeatures[channel] = nil
      dropped.append(
        UnrestoredChannel(channel: channel, type: .message, states: states.remove(channel)))
    }
    return dropped
  }

  /// Leaves what was unsubscribed from while the greeting was on its way.
  mutating func leaveDropped() {
    for channel in droppedChannels.sorted() {
      askedFeatures[channel] = [.presence, .message]
      leave(channel)
    }
    droppedChannels = []
  }
}

extension JSONValue {
  /// A duration in whole seconds.
  static func seconds(_ duration: Duration) -> JSONValue {
    .number(String(duration.components.seconds))
  }
}

extension LinkChannelTopics.Use {
  /// The feature of a subscription that brings it.
  fileprivate var feature: LinkSubscribeFeatures {
    switch self {
    case .presence: .presence
    case .message: .message
    }
  }
}

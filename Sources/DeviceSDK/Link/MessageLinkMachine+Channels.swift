import DataClient

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

  // MARK: Subscribing

  mutating func subscribe(
    _ channel: String, _ features: LinkSubscribeFeatures, _ id: CallID
  ) throws(LinkError) {
    try limits.countCall(time)
    try LinkName.checkChannel(channel)
    try checkConnected(.channelNotConnected)
    try limits.countSubscription(to: channel, time)
    guard channels.count < LinkLimits.channels || channels[channel] != nil else {
      throw LinkError(
        .channelSubscribeFailed, "\(LinkLimits.channels) message channels are the most")
    }
    let wantsUsers = features.contains(.presence)
    let subscribing = Subscribing(
      channel: channel, features: features, hasSnapshot: !wantsUsers)
    wait(id, .subscribing(subscribing), for: wantsUsers ? firstWait : nil)
    let filters = filters(of: channel, features)
    guard !filters.isEmpty else { return askServer(subscribing, id) }
    session.perform(.subscribe(filters), for: id)
  }

  private var firstWait: Duration { min(configuration.snapshotTimeout, configuration.callTimeout) }

  mutating func noteGranted(_ subscribing: Subscribing, _ granted: [QoS?], _ id: CallID) {
    let count = filters(of: subscribing.channel, subscribing.features).count
    guard granted.count == count, !granted.contains(nil) else {
      undo(subscribing)
      return fail(
        id,
        LinkError(
          .subscribePermissionDenied, "the broker does not grant \(subscribing.channel)"))
    }
    askServer(subscribing, id)
  }

  private mutating func askServer(_ subscribing: Subscribing, _ id: CallID) {
    let channel = subscribing.channel
    session.request(
      .subscribe,
      [
        JSONMember("channel", .string(channel)),
        JSONMember("features", .number(String(subscribing.features.rawValue))),
        JSONMember("states", .strings(states[channel])),
      ], for: id)
  }

  mutating func noteTakenIn(_ subscribing: Subscribing, _ id: CallID) {
    var subscribing = subscribing
    subscribing.isTakenIn = true
    channels[subscribing.channel] = subscribing.features
    settle(subscribing, id)
  }

  private mutating func settle(_ subscribing: Subscribing, _ id: CallID) {
    calls[id] = .subscribing(subscribing)
    if subscribing.isTakenIn, subscribing.hasSnapshot { complete(id) }
  }

  /// A subscription's time is over; its first time is that of the list of users.
  mutating func expire(_ subscribing: Subscribing, _ id: CallID) {
    guard !subscribing.isTakenIn else {
      undo(subscribing)
      return fail(
        id,
        LinkError(
          .channelPresenceNotReady,
          "the users of \(subscribing.channel) were not listed in time"))
    }
    let rest = configuration.callTimeout - firstWait
    guard !subscribing.hasSnapshot, !subscribing.isLate, rest > .zero else {
      undo(subscribing)
      return fail(
        id, LinkError(.channelSubscribeTimeout, "\(subscribing.channel) was not answered in time"))
    }
    var subscribing = subscribing
    subscribing.isLate = true
    wait(id, .subscribing(subscribing), for: rest)
  }

  /// Takes back what a subscription has reached.
  mutating func undo(_ subscribing: Subscribing) {
    channels[subscribing.channel] = nil
    leave(subscribing.channel, filters(of: subscribing.channel, subscribing.features))
  }

  /// Tells broker and server that a channel is not wanted, and waits for neither.
  private mutating func leave(_ channel: String, _ filters: [Subscription]) {
    guard state == .connected else { return }
    if !filters.isEmpty { session.perform(.unsubscribe(filters.map(\.filter))) }
    session.tell(.unsubscribe, [JSONMember("channel", .string(channel))])
  }

  // MARK: Unsubscribing

  mutating func unsubscribe(_ channel: String, _ id: CallID) throws(LinkError) {
    try limits.countCall(time)
    if state == .idle || state == .failed { try checkConnected(.channelNotConnected) }
    guard let features = channels[channel] else {
      throw LinkError(.channelNotSubscribed, "\(channel) is not subscribed to")
    }
    let filters = filters(of: channel, features)
    channels[channel] = nil
    _ = states.remove(channel)
    guard state == .connected else {
      droppedChannels.insert(channel)
      return complete(id)
    }
    wait(id, .unsubscribing)
    if !filters.isEmpty { session.perform(.unsubscribe(filters.map(\.filter))) }
    session.request(.unsubscribe, [JSONMember("channel", .string(channel))], for: id)
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

  // MARK: States

  mutating func changeStates(
    _ channel: String, _ changes: [String: String?], _ id: CallID
  ) throws(LinkError) {
    try limits.countCall(time)
    try LinkName.checkChannel(channel)
    try checkConnected(.presenceNotConnected)
    let changed = try states.changed(by: changes, in: channel)
    guard channels[channel] != nil else {
      // They go to the server with the subscription.
      states.keep(changed, of: channel)
      return complete(id)
    }
    states.noteSent(changed, of: channel)
    wait(id, .changingStates(channel, changed))
    let members = [
      JSONMember("channel", .string(channel)), JSONMember("states", .strings(changed)),
    ]
    session.request(.state, members, for: id)
  }

  // MARK: What comes

  mutating func noteSnapshot(_ payload: [UInt8]) {
    guard let event = LinkPresenceEvent(snapshot: payload, .message, time: time) else { return }
    let waiting = openCalls.compactMap { id, call -> (CallID, Subscribing)? in
      guard case .subscribing(let subscribing) = call, subscribing.channel == event.channel
      else { return nil }
      return (id, subscribing)
    }
    guard !waiting.isEmpty || channels[event.channel] != nil else { return }
    outputs.append(.tell(.tellPresence(event)))
    for (id, var subscribing) in waiting {
      subscribing.hasSnapshot = true
      settle(subscribing, id)
    }
  }

  mutating func noteMessage(_ message: Message) {
    guard let (channel, use) = LinkChannelTopics.parse(message.topic),
      channels[channel] != nil
    else { return }
    switch use {
    case .message(let user):
      outputs.append(
        .tell(
          .deliver(
            LinkMessage(channel: channel, publisher: user, payload: message.payload, time: time)
          )))
    case .presence:
      let event = LinkPresenceEvent(parsing: message.payload, channel, .message, time: time)
      // What is told to all is told to the one whom it is about, too.
      if let other = event.without(configuration.userID) {
        outputs.append(.tell(.tellPresence(other)))
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
      dropped.append(
        UnrestoredChannel(channel: channel, type: .message, states: states.remove(channel)))
    }
    return dropped
  }

  /// Leaves what was unsubscribed from while the greeting was on its way.
  mutating func leaveDropped() {
    for channel in droppedChannels.sorted() {
      leave(channel, filters(of: channel, [.presence, .message]))
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

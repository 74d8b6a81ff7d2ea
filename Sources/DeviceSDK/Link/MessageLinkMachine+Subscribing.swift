import RepriseCore

/// Subscribing to message channels and unsubscribing: what of it broker and server have, and which of it
/// is taken back when it fails.
///
/// Subscriptions to one channel take turns, so that each knows what there was before it.
extension MessageLinkMachine {
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
    var subscribing = Subscribing(
      channel: channel, features: features, hasSnapshot: !features.contains(.presence))
    guard subscriptions(to: channel).isEmpty else {
      subscribing.isQueued = true
      return wait(id, .subscribing(subscribing))
    }
    begin(subscribing, id)
  }

  private mutating func begin(_ subscribing: Subscribing, _ id: CallID) {
    let (channel, features) = (subscribing.channel, subscribing.features)
    wait(id, .subscribing(subscribing), for: subscribing.hasSnapshot ? nil : firstWait)
    let filters = filters(of: channel, features)
    guard !filters.isEmpty else { return askServer(subscribing, id) }
    askedFeatures[channel, default: []].formUnion(features)
    session.perform(.subscribe(filters), for: id)
  }

  /// The subscriptions to a channel that are not done, the earliest first.
  func subscriptions(to channel: String) -> [(id: CallID, subscribing: Subscribing)] {
    openCalls.compactMap { id, call in
      guard case .subscribing(let subscribing) = call, subscribing.channel == channel else {
        return nil
      }
      return (id, subscribing)
    }
  }

  private var firstWait: Duration { min(configuration.snapshotTimeout, configuration.callTimeout) }

  // MARK: Answers

  mutating func noteGranted(_ subscribing: Subscribing, _ granted: [QoS?], _ id: CallID) {
    let count = filters(of: subscribing.channel, subscribing.features).count
    guard granted.count == count, !granted.contains(nil) else {
      fail(
        id,
        LinkError(
          .subscribePermissionDenied, "the broker does not grant \(subscribing.channel)"))
      return takeBack(subscribing)
    }
    askServer(subscribing, id)
  }

  private mutating func askServer(_ subscribing: Subscribing, _ id: CallID) {
    var subscribing = subscribing
    subscribing.isAsked = true
    calls[id] = .subscribing(subscribing)
    session.request(.subscribe, members(of: subscribing.channel, subscribing.features), for: id)
  }

  /// What the server is told of a subscription: states that are not acknowledged yet are among those that
  /// it has, as what was sent of them reaches it before.
  private func members(of channel: String, _ features: LinkSubscribeFeatures) -> [JSONMember] {
    [
      JSONMember("channel", .string(channel)),
      JSONMember("features", .number(String(features.rawValue))),
      JSONMember("states", .strings(states.newest(of: channel))),
    ]
  }

  mutating func noteTakenIn(_ subscribing: Subscribing, _ id: CallID) {
    var subscribing = subscribing
    subscribing.isTakenIn = true
    subscribing.former = channels[subscribing.channel]
    channels[subscribing.channel] = subscribing.features
    sendHeldStates(of: subscribing.channel)
    settle(subscribing, id)
  }

  mutating func settle(_ subscribing: Subscribing, _ id: CallID) {
    calls[id] = .subscribing(subscribing)
    guard subscribing.isTakenIn, subscribing.hasSnapshot else { return }
    complete(id)
    releaseTopics(of: subscribing.channel)
    beginNext(to: subscribing.channel)
  }

  /// A subscription's time is over; its first time is that of the list of users.
  mutating func expire(_ subscribing: Subscribing, _ id: CallID) {
    guard !subscribing.isTakenIn else {
      fail(
        id,
        LinkError(
          .channelPresenceNotReady,
          "the users of \(subscribing.channel) were not listed in time"))
      return takeBack(subscribing)
    }
    let rest = configuration.callTimeout - firstWait
    guard !subscribing.hasSnapshot, !subscribing.isLate, !subscribing.isQueued, rest > .zero else {
      fail(
        id, LinkError(.channelSubscribeTimeout, "\(subscribing.channel) was not answered in time"))
      return takeBack(subscribing)
    }
    var subscribing = subscribing
    subscribing.isLate = true
    wait(id, .subscribing(subscribing), for: rest)
  }

  // MARK: Taking back

  /// Takes back what a subscription that has ended in vain has reached at broker and server: the channel is
  /// subscribed to as it was before, or not at all.
  /// - Parameters:
  ///   - subscribing: The subscription.
  ///   - wasRefused: Whether the server said no, and so has left everything as it was.
  mutating func takeBack(_ subscribing: Subscribing, wasRefused: Bool = false) {
    guard !subscribing.isQueued else { return }
    let channel = subscribing.channel
    keepHeldStates(of: channel)
    guard let features = channels[channel] else {
      leave(channel)
      return beginNext(to: channel)
    }
    releaseTopics(of: channel)
    if state == .connected, subscribing.isAsked, !wasRefused {
      session.tell(.subscribe, members(of: channel, features))
    }
    beginNext(to: channel)
  }

  /// The subscription to a channel that is under way, with no other before it.
  private func begunSubscription(to channel: String) -> (id: CallID, subscribing: Subscribing)? {
    subscriptions(to: channel).first { !$0.subscribing.isQueued }
  }

  /// Ends the subscription to a channel that is under way as if nobody waited for it any more.
  mutating func abandonSubscription(to channel: String, _ id: CallID) throws(LinkError) {
    guard let (other, subscribing) = begunSubscription(to: channel) else {
      throw LinkError(.channelNotSubscribed, "\(channel) is not being subscribed to")
    }
    fail(other, LinkError(.channelSubscribeCanceled, "the subscription to \(channel) was given up"))
    takeBack(subscribing)
    complete(id)
  }

  /// Whether giving up the subscription to a channel brings about an UNSUBSCRIBE, and unsubscribing does not.
  package func isAbandoning(_ channel: String, by filters: [String]) -> Bool {
    guard let (_, subscribing) = begunSubscription(to: channel) else { return false }
    guard let features = channels[channel] else { return true }
    guard let kept = subscribing.isTakenIn ? subscribing.former : features else { return false }
    return Set(self.filters(of: channel, kept).map(\.filter)).isDisjoint(with: filters)
  }

  /// Whether giving up the subscription to a channel tells the server so, and nothing else does.
  /// - Parameters:
  ///   - channel: The channel.
  ///   - verb: What the server is told: `unsubscribe`, or `subscribe` with what there was before.
  /// - Returns: Whether it does.
  package func isAbandoning(_ channel: String, by verb: LinkVerb) -> Bool {
    guard let (_, subscribing) = begunSubscription(to: channel) else { return false }
    return verb == .subscribe ? subscribing.isAsked : channels[channel] == nil
  }

  private mutating func beginNext(to channel: String) {
    guard state == .connected, let (id, next) = subscriptions(to: channel).first, next.isQueued
    else { return }
    var subscribing = next
    subscribing.isQueued = false
    begin(subscribing, id)
  }

  /// Has the broker drop the topics of features that a channel is not subscribed to with any more.
  private mutating func releaseTopics(of channel: String) {
    let wanted = channels[channel] ?? []
    guard state == .connected, let asked = askedFeatures[channel] else { return }
    let filters = filters(of: channel, asked.subtracting(wanted))
    askedFeatures[channel] = asked.intersection(wanted)
    if !filters.isEmpty { session.perform(.unsubscribe(filters.map(\.filter))) }
  }

  /// Tells broker and server that a channel is not wanted, and waits for neither.
  mutating func leave(_ channel: String) {
    guard state == .connected else { return }
    releaseTopics(of: channel)
    askedFeatures[channel] = nil
    session.tell(.unsubscribe, [JSONMember("channel", .string(channel))])
  }

  // MARK: Unsubscribing

  mutating func unsubscribe(_ channel: String, _ id: CallID) throws(LinkError) {
    try limits.countCall(time)
    if state == .idle || state == .failed { try checkConnected(.channelNotConnected) }
    guard channels[channel] != nil else {
      throw LinkError(.channelNotSubscribed, "\(channel) is not subscribed to")
    }
    for (other, _) in subscriptions(to: channel) {
      fail(other, LinkError(.channelSubscribeCanceled, "\(channel) was unsubscribed from"))
    }
    channels[channel] = nil
    _ = states.remove(channel)
    guard state == .connected else {
      droppedChannels.insert(channel)
      return complete(id)
    }
    wait(id, .unsubscribing)
    releaseTopics(of: channel)
    askedFeatures[channel] = nil
    session.request(.unsubscribe, [JSONMember("channel", .string(channel))], for: id)
  }

  // MARK: Temporary states

  mutating func changeStates(
    _ channel: String, _ changes: [String: String?], _ id: CallID
  ) throws(LinkError) {
    try limits.countCall(time)
    try LinkName.checkChannel(channel)
    try checkConnected(.presenceNotConnected)
    let changed = try states.changed(by: changes, in: channel)
    let isSubscribed = channels[channel] != nil
    let isAsked = subscriptions(to: channel).contains { $0.subscribing.isAsked }
    guard isSubscribed || isAsked else {
      // They go to the server with the subscription.
      states.keep(changed, of: channel)
      return complete(id)
    }
    let changing = ChangingStates(
      channel: channel, states: changed, change: states.begin(changed, of: channel),
      isHeld: !isSubscribed)
    wait(id, .changingStates(changing))
    if isSubscribed { send(changing, id) }
  }

  private mutating func send(_ changing: ChangingStates, _ id: CallID) {
    let members = [
      JSONMember("channel", .string(changing.channel)),
      JSONMember("states", .strings(changing.states)),
    ]
    session.request(.state, members, for: id)
  }

  /// The changes of a channel's states that wait for a subscription, the earliest first.
  private func heldStates(of channel: String) -> [(id: CallID, changing: ChangingStates)] {
    openCalls.compactMap { id, call in
      guard case .changingStates(let changing) = call, changing.channel == channel, changing.isHeld
      else { return nil }
      return (id, changing)
    }
  }

  /// Sends the states that were set after the subscription had left for the server.
  private mutating func sendHeldStates(of channel: String) {
    for (id, changing) in heldStates(of: channel) {
      var changing = changing
      changing.isHeld = false
      calls[id] = .changingStates(changing)
      send(changing, id)
    }
  }

  /// Keeps states that the server will not get before the next subscription.
  private mutating func keepHeldStates(of channel: String) {
    for (id, _) in heldStates(of: channel) { complete(id) }
  }
}

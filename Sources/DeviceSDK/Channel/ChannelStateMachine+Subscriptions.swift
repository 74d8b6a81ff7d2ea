import RepriseCore

/// Subscribing and unsubscribing.
extension ChannelStateMachine {
  mutating func subscribe(_ topic: ChannelTopic, _ id: CallID) {
    guard let topics = connectedTopics(for: id),
      let filter = completed(
        for: id, { () throws(ChannelError) in try topics.subscriptionFilter(for: topic) })
    else { return }
    dropWaitingUnsubscriptions(of: filter.text)
    calls[id] = .subscribing(filter: filter.text)
    wishes[filter.text, default: 0] += 1
    deadlines.set(time.advanced(by: configuration.callTimeout), for: id)
    sendSubscription(filter.text, for: .call(id))
  }

  @discardableResult
  mutating func sendSubscription(_ filter: String, for purpose: Purpose) -> ClientAction.ID {
    let wish = Subscription(filter, qos: configuration.subscribeQoS)
    let action = perform(.subscribe([wish]), for: purpose)
    order.noteSubscribe(filter, action, former: owner(of: filter))
    return action
  }

  mutating func unsubscribe(_ topic: ChannelTopic, _ id: CallID) {
    guard let topics = connectedTopics(for: id),
      let filter = completed(
        for: id, { () throws(ChannelError) in try topics.subscriptionFilter(for: topic) })
    else { return }
    calls[id] = .unsubscribing
    // Taken back now, the reply to a request on its way would be lost.
    if dependents[filter.text] == nil {
      sendUnsubscription(id, filter.text)
    } else {
      heldBack[filter.text, default: []].append(id)
    }
  }

  private mutating func sendUnsubscription(_ id: CallID, _ filter: String) {
    deadlines.set(time.advanced(by: configuration.callTimeout), for: id)
    noteUnwanted(filter)
    revoke(filter, for: id)
  }

  /// Sends UNSUBSCRIBE; from now on nothing relies on the filter, whenever that is answered.
  private mutating func revoke(_ filter: String, for id: CallID?) {
    let action = perform(.unsubscribe([filter]), for: .unsubscribe(id))
    order.noteUnsubscribe(filter, action, former: owner(of: filter))
    setOwner(nil, of: filter)
  }

  /// The application wants messages again before its wish not to have them was sent.
  private mutating func dropWaitingUnsubscriptions(of filter: String) {
    let ids = takeHeldBack(filter)
    guard !ids.isEmpty else { return }
    // Its new subscription may be refused, and then it has none.
    settle([order.noteLeft(filter, former: owner(of: filter), to: .nobody)])
    noteUnwanted(filter)
    for id in ids { complete(id) }
  }

  /// The application does not want what the channel subscribes to by itself, whether that is granted yet or not.
  private mutating func noteUnwanted(_ filter: String) {
    if isEverything(filter) { needsSubscribeAll = false }
  }

  /// Takes the calls whose UNSUBSCRIBE was not sent yet.
  private mutating func takeHeldBack(_ filter: String) -> [CallID] {
    (heldBack.removeValue(forKey: filter) ?? []).filter { calls[$0] != nil }
  }

  // MARK: Grants

  func isGranted(_ filter: String) -> Bool { owner(of: filter) != nil }

  private func owner(of filter: String) -> Grant.Owner? {
    grants.first { $0.filter == filter }?.owner
  }

  private func isEverything(_ filter: String) -> Bool {
    topics.map { filter == $0.down + "/#" } ?? false
  }

  private mutating func setOwner(_ owner: Grant.Owner?, of filter: String) {
    switch (grants.firstIndex { $0.filter == filter }, owner) {
    case (let index?, let owner?): grants[index].owner = owner
    case (let index?, nil): grants.remove(at: index)
    case (nil, let owner?): grants.append(Grant(filter, for: owner))
    case (nil, nil): break
    }
  }

  /// Takes over what answers say of filters.
  mutating func settle(_ outcomes: [SubscriptionOrder.Outcome]) {
    for outcome in outcomes { setOwner(outcome.owner, of: outcome.filter) }
  }

  mutating func noteGranted(_ action: ClientAction.ID, _ granted: [QoS?]) {
    keeper.noteSignOfLife()
    guard let purpose = actions.close(action) else { return }
    let isGranted = granted.first.flatMap { $0 } != nil
    let outcomes = order.noteGranted(action, [isGranted ? asker(of: purpose) : nil])
    settle(outcomes)
    switch purpose {
    case .restore(let grants): noteRestored(grants, granted)
    case .subscribeAll: noteAllAnswered(isGranted)
    case .subscribeReply(let topic): noteReplyAnswered(action, topic, isGranted)
    case .call(let id): noteCallAnswered(id, isGranted)
    case .sweep(let id):
      if calls[id] != nil, !isGranted { fail(id, Self.refusedSubscription) }
    case .connect, .disconnect, .request, .unsubscribe, .sweepEnd: break
    }
    // What was granted too late, to nobody, is taken back.
    for outcome in outcomes { releaseGrant(of: outcome.filter) }
  }

  /// For whom a SUBSCRIBE was sent, if somebody waits for it still; nil when its grant is of no consequence.
  private func asker(of purpose: Purpose) -> Grant.Owner? {
    switch purpose {
    case .subscribeAll: .application
    case .subscribeReply: .requests
    case .call(let id):
      if calls[id] != nil {
        .application
      } else {
        configuration.takesBackLateGrants ? .nobody : nil
      }
    case .connect, .disconnect, .restore, .request, .unsubscribe, .sweep, .sweepEnd: nil
    }
  }

  private mutating func noteAllAnswered(_ isGranted: Bool) {
    needsSubscribeAll = false
    if !isGranted { log(.warning, .subscription, "the cloud does not grant /#") }
  }

  private mutating func noteCallAnswered(_ id: CallID, _ isGranted: Bool) {
    guard calls[id] != nil else { return }
    if isGranted { complete(id) } else { fail(id, Self.refusedSubscription) }
  }

  // MARK: Reply topics

  /// Sees to it that a request's reply will come; false while that is not sure yet.
  mutating func prepareReplyTopic(
    _ topic: String, for id: CallID
  ) -> (filter: String, isReady: Bool) {
    if isGranted(topic) { return (topic, true) }
    if configuration.replySubscription == .unlessCovered,
      // One that is to be taken back would have to be kept for as long as new requests come.
      let cover = grants.first(where: {
        heldBack[$0.filter] == nil && $0.owner != .nobody && $0.matcher?.matches(topic) == true
      })
    {
      return (cover.filter, true)
    }
    if !replies.isSubscribing(to: topic) {
      replies.noteSubscribe(topic, sendSubscription(topic, for: .subscribeReply(topic)))
    }
    replies.wait(id, for: topic)
    return (topic, false)
  }

  private mutating func noteReplyAnswered(
    _ action: ClientAction.ID, _ topic: String, _ wasGranted: Bool
  ) {
    guard wasGranted else {
      return failRequests(waitingFor: action, topic, Self.refusedSubscription)
    }
    // It may have been taken back since: who waits now has sent a SUBSCRIBE behind that.
    guard isGranted(topic) else { return }
    for id in replies.takeGranted(topic) { send(id) }
  }

  /// Fails the requests that wait for a SUBSCRIBE of their reply topic, but not those that have sent another since.
  mutating func failRequests(
    waitingFor action: ClientAction.ID, _ topic: String, _ error: ChannelError
  ) {
    for id in replies.takeRefused(topic, action) { fail(id, error) }
  }

  /// One request less depends on a filter.
  mutating func release(_ filter: String) {
    let count = (dependents[filter] ?? 1) - 1
    dependents[filter] = count > 0 ? count : nil
    guard count <= 0, isConnected else { return }
    for id in takeHeldBack(filter) { sendUnsubscription(id, filter) }
    releaseGrant(of: filter)
  }

  /// A call of the application that asked for a filter is over.
  mutating func endWish(for filter: String) {
    wishes[filter] = wishes[filter].flatMap { $0 > 1 ? $0 - 1 : nil }
    releaseGrant(of: filter)
  }

  /// Takes back the subscription to a filter that nobody wants any more.
  mutating func releaseGrant(of filter: String) {
    if let grant = grants.first(where: { $0.filter == filter }) { release(grant) }
  }

  /// Takes back what was granted and nobody wants any more; UNSUBSCRIBE would also undo a SUBSCRIBE for the application
  /// that is under way.
  mutating func release(_ grant: Grant) {
    guard isReleasable(grant.owner), isConnected, dependents[grant.filter] == nil,
      wishes[grant.filter] == nil, !isSubscribingToAll(by: grant.filter)
    else { return }
    revoke(grant.filter, for: nil)
  }

  /// Whether what is kept for somebody is taken back when it is not needed.
  func isReleasable(_ owner: Grant.Owner) -> Bool {
    switch owner {
    case .nobody: true
    case .requests: configuration.releasesReplyTopics
    case .application: false
    }
  }

  /// Whether a filter is the one that the channel is subscribing to by itself.
  private func isSubscribingToAll(by filter: String) -> Bool {
    isEverything(filter)
      && actions.purposes.values.contains { if case .subscribeAll = $0 { true } else { false } }
  }
}

// MARK: Retained messages

extension ChannelStateMachine {
  static func topics(_ topics: [String]) -> Value { .topics(topics) }

  var endOfSweep: String { topics?.endOfSweep ?? "" }

  func isHeard(_ topic: String) -> Bool {
    grants.contains { $0.owner == .application && $0.matcher?.matches(topic) == true }
  }

  mutating func findRetained(_ filter: ChannelTopic, _ id: CallID) {
    guard let topics = connectedTopics(for: id),
      let filter = completed(
        for: id, { () throws(ChannelError) in try topics.publishFilter(for: filter) }),
      let matcher = TopicFilter(filter.text)
    else { return }
    calls[id] = .sweeping
    deadlines.set(time.advanced(by: configuration.callTimeout), for: id)
    sweep(matcher, id)
  }
}

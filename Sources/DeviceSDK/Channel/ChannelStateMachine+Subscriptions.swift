import DataClient

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

  mutating func sendSubscription(_ filter: String, for purpose: Purpose) {
    let wish = Subscription(filter, qos: configuration.subscribeQoS)
    order.noteSubscribe(filter, perform(.subscribe([wish]), for: purpose))
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
    revoke(filter, for: id)
  }

  /// Sends UNSUBSCRIBE; from now on nothing relies on the filter, whenever that is answered.
  private mutating func revoke(_ filter: String, for id: CallID?) {
    let grant = grants.first { $0.filter == filter }
    grants.removeAll { $0.filter == filter }
    order.noteUnsubscribe(filter)
    let revocation = Revocation(filter: filter, wasForApplication: grant?.isForApplication)
    perform(.unsubscribe([filter]), for: .unsubscribe(revocation, id))
  }

  /// What could not be taken back still brings messages, and has to be restored.
  mutating func keep(_ revocation: Revocation) {
    let overtaken = order.takeOvertakenGrant(of: revocation.filter)
    guard let isForApplication = overtaken ?? revocation.wasForApplication else { return }
    noteGrant(of: revocation.filter, isForApplication: isForApplication)
  }

  /// The application wants messages again before its wish not to have them was sent.
  private mutating func dropWaitingUnsubscriptions(of filter: String) {
    for id in takeHeldBack(filter) { complete(id) }
  }

  /// Takes the calls whose UNSUBSCRIBE was not sent yet.
  private mutating func takeHeldBack(_ filter: String) -> [CallID] {
    (heldBack.removeValue(forKey: filter) ?? []).filter { calls[$0] != nil }
  }

  // MARK: Grants

  func isGranted(_ filter: String) -> Bool { grants.contains { $0.filter == filter } }

  mutating func noteGrant(of filter: String, isForApplication: Bool) {
    guard let index = grants.firstIndex(where: { $0.filter == filter }) else {
      return grants.append(Grant(filter, isForApplication: isForApplication))
    }
    if isForApplication { grants[index].isForApplication = true }
  }

  mutating func noteGranted(_ action: ClientAction.ID, _ granted: [QoS?]) {
    failedAttempts = 0
    guard let purpose = actions.removeValue(forKey: action) else { return }
    let isGranted = granted.first.flatMap { $0 } != nil
    let isOvertaken = order.takeAnswer(to: action)
    switch purpose {
    case .restore:
      if case .restoring(action, let grants, _) = link { noteRestored(grants, granted) }
    case .subscribeAll: noteAllGranted(isGranted, isOvertaken)
    case .subscribeReply(let topic): noteReplyGranted(topic, isGranted, isOvertaken)
    case .call(let id): noteCallGranted(id, isGranted, isOvertaken)
    case .connect, .disconnect, .request, .unsubscribe: break
    }
  }

  /// Notes what a SUBACK says, if no UNSUBSCRIBE has overtaken it.
  private mutating func noteGrant(
    of filter: String, isForApplication: Bool, unless isOvertaken: Bool
  ) {
    if isOvertaken {
      order.noteOvertakenGrant(of: filter, isForApplication: isForApplication)
    } else {
      noteGrant(of: filter, isForApplication: isForApplication)
    }
  }

  private mutating func noteAllGranted(_ isGranted: Bool, _ isOvertaken: Bool) {
    needsSubscribeAll = false
    guard isGranted, let topics else {
      return log(.warning, .subscription, "the cloud does not grant /#")
    }
    noteGrant(of: topics.down + "/#", isForApplication: true, unless: isOvertaken)
  }

  private mutating func noteCallGranted(_ id: CallID, _ isGranted: Bool, _ isOvertaken: Bool) {
    guard case .subscribing(let filter) = calls[id] else { return }
    guard isGranted else { return fail(id, Self.refusedSubscription) }
    noteGrant(of: filter, isForApplication: true, unless: isOvertaken)
    complete(id)
  }

  private static let refusedSubscription = ChannelError(
    .gateway, "the cloud does not grant the subscription", cloudCode: 0x80)

  // MARK: Reply topics

  /// Sees to it that a request's reply will come; false while that is not sure yet.
  mutating func prepareReplyTopic(
    _ topic: String, for id: CallID
  ) -> (filter: String, isReady: Bool) {
    if isGranted(topic) { return (topic, true) }
    if configuration.replySubscription == .unlessCovered,
      // One that is to be taken back would have to be kept for as long as new requests come.
      let cover = grants.first(where: {
        heldBack[$0.filter] == nil && $0.matcher?.matches(topic) == true
      })
    {
      return (cover.filter, true)
    }
    if subscribing[topic] == nil {
      sendSubscription(topic, for: .subscribeReply(topic))
    }
    subscribing[topic, default: []].append(id)
    return (topic, false)
  }

  private mutating func noteReplyGranted(
    _ topic: String, _ isGranted: Bool, _ isOvertaken: Bool
  ) {
    // Requests that wait now have sent a SUBSCRIBE behind the UNSUBSCRIBE.
    guard !isOvertaken else { return }
    guard isGranted else { return failSubscribers(of: topic, Self.refusedSubscription) }
    noteGrant(of: topic, isForApplication: false)
    for id in subscribing.removeValue(forKey: topic) ?? [] { send(id) }
    releaseReplyTopic(topic)
  }

  mutating func failSubscribers(of topic: String, _ error: ChannelError) {
    for id in subscribing.removeValue(forKey: topic) ?? [] { fail(id, error) }
  }

  /// One request less depends on a filter.
  mutating func release(_ filter: String) {
    let count = (dependents[filter] ?? 1) - 1
    dependents[filter] = count > 0 ? count : nil
    guard count <= 0, isConnected else { return }
    for id in takeHeldBack(filter) { sendUnsubscription(id, filter) }
    releaseReplyTopic(filter)
  }

  /// A call of the application that asked for a filter is over.
  mutating func endWish(for filter: String) {
    wishes[filter] = wishes[filter].flatMap { $0 > 1 ? $0 - 1 : nil }
    releaseReplyTopic(filter)
  }

  /// Takes back the subscription to a reply topic that nobody wants any more; UNSUBSCRIBE would also undo a SUBSCRIBE
  /// of the application that is under way.
  mutating func releaseReplyTopic(_ topic: String) {
    guard configuration.releasesReplyTopics, isConnected, dependents[topic] == nil,
      wishes[topic] == nil,
      grants.contains(where: { $0.filter == topic && !$0.isForApplication })
    else { return }
    revoke(topic, for: nil)
  }
}

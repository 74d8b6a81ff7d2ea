import RepriseCore

/// Retained messages: where the cloud has some.
extension ChannelStateMachine {
  mutating func findRetained(_ filter: ChannelTopic, _ id: CallID) {
    guard let topics = connectedTopics(for: id),
      let filter = completed(
        for: id, { () throws(ChannelError) in try topics.publishFilter(for: filter) }),
      let matcher = TopicFilter(filter.text)
    else { return }
    calls[id] = .sweeping
    sweeps[id] = RetainedSweep(matcher)
    deadlines.set(time.advanced(by: configuration.callTimeout), for: id)
    let end = topics.endOfSweep
    perform(
      .subscribe([Subscription(filter.text, qos: .atMostOnce), Subscription(end, qos: .atMostOnce)]
      ),
      for: .sweep(id))
    perform(.unsubscribe([end]), for: .sweepEnd(id, filter.text))
  }

  /// Ends a sweep, as all that is retained was told of; what the application has, or has asked for, stays.
  mutating func noteSwept(_ id: CallID, _ filter: String) {
    if let sweep = sweeps[id] { complete(id, .topics(sweep.topics)) }
    let isHeld =
      isGranted(filter) || order.isUnderWay(filter)
      || sweeps.values.contains { $0.filter.text == filter }
    if !isHeld { perform(.unsubscribe([filter]), for: .unsubscribe(nil)) }
  }

  /// Tells whether a message came for a sweep and nobody else.
  mutating func takeRetained(_ message: Message) -> Bool {
    var isWanted = false
    for id in sweeps.keys where sweeps[id]?.take(message) == true { isWanted = true }
    return isWanted
      && !grants.contains { $0.owner == .application && $0.matcher?.matches(message.topic) == true }
  }
}

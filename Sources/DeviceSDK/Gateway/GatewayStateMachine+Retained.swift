import RepriseCore

/// Retained messages: where the cloud has some.
extension GatewayStateMachine {
  /// The topic whose UNSUBSCRIBE marks the end of a sweep.
  package var endOfSweep: String { topics.endOfSweep }

  mutating func findRetained(_ filter: FullTopic, _ id: CallID) {
    guard isConnected(for: id) else { return }
    guard let matcher = TopicFilter(filter.text) else { return fail(id, Self.noFilter(filter)) }
    calls[id] = .sweeping
    sweeps[id] = RetainedSweep(matcher)
    setTimer(.call(id), in: configuration.callTimeout)
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
      grant(of: filter) != nil || order.isUnderWay(filter)
      || sweeps.values.contains { $0.filter.text == filter }
    if !isHeld { perform(.unsubscribe([filter]), for: .nothing) }
  }

  /// Tells whether a message came for a sweep and nobody else.
  mutating func takeRetained(_ message: Message) -> Bool {
    var isWanted = false
    for id in sweeps.keys where sweeps[id]?.take(message) == true { isWanted = true }
    return isWanted
      && !grants.filters.contains { TopicFilter($0)?.matches(message.topic) == true }
  }
}

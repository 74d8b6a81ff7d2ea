import RepriseCore

/// A topic filter that somebody holds, or held: what is wanted, and what the server has.
struct HeldFilter: Sendable {
  /// What is under way about it; one packet at a time.
  enum Step: Sendable {
    /// SUBSCRIBE, and the calls that it answers.
    case asking(ClientAction.ID, [CallID])
    /// UNSUBSCRIBE.
    case leaving
  }

  /// Which was held first.
  let order: UInt64
  /// Its holders, each with its wish.
  var holders: [MQTTStateMachine.Holder: MQTTStateMachine.Wish] = [:]
  /// Calls that no SUBSCRIBE was sent for yet.
  var waiting: [CallID] = []
  /// What the server has granted; nil when it has nothing.
  var granted: QoS?
  /// Whether the server may have it although it has not said so.
  var mayBeThere = false
  var underWay: Step?

  /// What is under way is not answered any more; a session that the server keeps has it, or not.
  mutating func noteLoss() {
    switch underWay {
    case .asking(_, let calls):
      waiting = calls + waiting
      mayBeThere = true
    case .leaving:
      granted = nil
      mayBeThere = true
    case nil: break
    }
    underWay = nil
  }

  /// What is asked for: what is enough for all who hold it, and of what is retained what those want who ask now.
  /// - Parameters:
  ///   - name: The filter.
  ///   - asking: Those who ask now; nobody where a new connection asks for all.
  /// - Returns: The subscription.
  func subscription(_ name: String, for asking: [MQTTStateMachine.Holder]) -> Subscription {
    let wishes = holders.values
    let asked = asking.compactMap { holders[$0] }
    let handling = (asked.isEmpty ? Array(wishes) : asked).map(\.options.retainHandling)
      .min { $0.rawValue < $1.rawValue }
    return Subscription(
      name, qos: wishes.map(\.qos).max() ?? .atMostOnce,
      options: SubscriptionOptions(
        noLocal: !wishes.isEmpty && wishes.allSatisfy(\.options.noLocal),
        retainAsPublished: wishes.contains(where: \.options.retainAsPublished),
        retainHandling: handling ?? .always))
  }

  /// The server has nothing of it.
  mutating func forgetGrant() {
    granted = nil
    mayBeThere = false
  }
}

/// Subscriptions: one SUBSCRIBE for each who asks, so that each is sent what is retained, and one UNSUBSCRIBE when the
/// last has left.
extension MQTTStateMachine {
  mutating func hold(_ filter: String, _ wish: Wish, _ holder: Holder, _ id: CallID) {
    guard keeper.link != .idle, keeper.link != .ended else {
      let why = lastReason.map { ": \($0.message)" } ?? ""
      return fail(id, MQTTError(.notConnected, "there is no connection\(why)"))
    }
    holds[id] = (filter, holder)
    note(holder, of: filter, wish)
    filters[filter]?.waiting.append(id)
    setDeadline(configuration.callTimeout, for: id)
    settle(filter)
  }

  mutating func note(_ holder: Holder, of name: String, _ wish: Wish) {
    filterCount &+= 1
    var filter = filters[name] ?? HeldFilter(order: filterCount)
    filter.holders[holder] = wish
    filters[name] = filter
  }

  mutating func release(_ filter: String, _ holder: Holder) {
    for (id, hold) in holds where hold.filter == filter && hold.holder == holder {
      fail(id, MQTTError(.notConnected, "the messages are not wanted any more"))
    }
    leave(filter, holder)
  }

  /// A holder is gone.
  mutating func leave(_ filter: String, _ holder: Holder) {
    filters[filter]?.holders[holder] = nil
    settle(filter)
  }

  /// Brings the server nearer to what is wanted of a filter, if nothing is under way about it.
  mutating func settle(_ name: String) {
    guard case .open = keeper.link, let filter = filters[name], filter.underWay == nil else {
      return
    }
    if filter.holders.isEmpty {
      guard filter.granted != nil || filter.mayBeThere else { return filters[name] = nil }
      filters[name]?.underWay = .leaving
      perform(.unsubscribe([name]), for: .unsubscribe(name))
    } else if filter.granted == nil || !filter.waiting.isEmpty {
      ask(for: [name])
    }
  }

  /// Sends one SUBSCRIBE for filters.
  @discardableResult
  mutating func ask(for names: [String]) -> ClientAction.ID {
    let action = perform(
      .subscribe(
        names.compactMap { name in
          filters[name].map { filter in
            filter.subscription(name, for: filter.waiting.compactMap { holds[$0]?.holder })
          }
        }),
      for: .subscribe(names))
    for name in names {
      let calls = filters[name]?.waiting ?? []
      filters[name]?.waiting = []
      filters[name]?.underWay = .asking(action, calls)
    }
    return action
  }

  mutating func noteGranted(_ action: ClientAction.ID, _ granted: [QoS?]) {
    guard case .subscribe(let names) = actions.close(action) else { return }
    for (index, name) in names.enumerated() {
      if granted.indices.contains(index), let qos = granted[index] {
        grant(name, action, qos)
      } else {
        refuse(
          name, action,
          MQTTError(.refused, "the server does not grant \(name); may this client read it?"))
      }
    }
    noteRestored(action)
    sendQueue()
  }

  private mutating func grant(_ name: String, _ action: ClientAction.ID, _ qos: QoS) {
    guard case .asking(action, let calls) = filters[name]?.underWay else { return }
    filters[name]?.underWay = nil
    filters[name]?.granted = qos
    filters[name]?.mayBeThere = false
    for id in calls where holds[id] != nil { complete(id) }
    settle(name)
  }

  /// SUBSCRIBE came to nothing: for those who asked by it, and for all if the server had nothing before.
  mutating func refuse(_ name: String, _ action: ClientAction.ID, _ error: MQTTError) {
    guard case .asking(action, let calls) = filters[name]?.underWay else { return }
    // The connection was over before it was sent: the next one asks.
    guard error.kind != .notConnected else { return filters[name]?.noteLoss() ?? () }
    filters[name]?.underWay = nil
    for id in calls {
      guard let holder = holds[id]?.holder else { continue }
      filters[name]?.holders[holder] = nil
      fail(id, error)
    }
    if filters[name]?.granted == nil { end(name, error) }
    settle(name)
  }

  /// Messages of a filter go to nobody any more, but those who ask from now on.
  private mutating func end(_ name: String, _ error: MQTTError) {
    let asking = Set((filters[name]?.waiting ?? []).compactMap { holds[$0]?.holder })
    let holders = filters[name]?.holders ?? [:]
    filters[name]?.holders = holders.filter { asking.contains($0.key) }
    if holders[Self.ownHolder] != nil {
      for id in requests.values.sorted() { fail(id, error) }
    }
    if holders.keys.contains(where: { $0 != Self.ownHolder && !asking.contains($0) }) {
      tell(.end(name, error))
    }
  }

  mutating func noteTakenBack(_ action: ClientAction.ID) {
    guard case .unsubscribe(let name) = actions.close(action) else { return }
    noteLeft(name)
  }

  /// UNSUBSCRIBE is answered, one way or the other: nothing is to rely on the filter.
  mutating func noteLeft(_ name: String) {
    filters[name]?.underWay = nil
    filters[name]?.forgetGrant()
    settle(name)
  }
}

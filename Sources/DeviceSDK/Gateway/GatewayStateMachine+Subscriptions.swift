import RepriseCore

/// Publishing, subscribing and unsubscribing.
extension GatewayStateMachine {
  // MARK: Publishing

  mutating func publish(
    _ topic: FullTopic, method: String?, _ params: JSONValue, isRetained: Bool, _ id: CallID
  ) {
    let method = method ?? GatewayEnvelope.method(of: topic.text)
    let payload = GatewayEnvelope.thing(method: method)
      .request(id: takeRequestID(), params: params)
    upload(topic, payload, configuration.publishQoS, isRetained: isRetained, id)
  }

  mutating func upload(
    _ topic: FullTopic, _ payload: [UInt8], _ qos: QoS, isRetained: Bool = false, _ id: CallID
  ) {
    guard isConnected(for: id) else { return }
    guard !TopicRules.hasWildcard(topic.text) else { return fail(id, Self.wildcard(topic)) }
    guard qos < .exactlyOnce else {
      return fail(id, GatewayError(.client, "the cloud does not know QoS 2; take 0 or 1"))
    }
    calls[id] = .publishing
    setTimer(.call(id), in: configuration.callTimeout)
    perform(
      .publish(Message(topic: topic.text, payload: payload, qos: qos, isRetained: isRetained)),
      for: .call(id))
  }

  mutating func answer(
    _ command: GatewayCommand, code: Int, message: String?, _ data: JSONValue, _ id: CallID
  ) {
    guard command.needsAnswer else {
      return fail(id, GatewayError(.client, "the gateway has answered the command itself"))
    }
    let payload = GatewayEnvelope.answer(id: command.id, code: code, message: message, data: data)
    upload(
      FullTopic(unchecked: command.topic + "_reply"), payload, configuration.publishQoS, id)
  }

  // MARK: Subscribing

  mutating func subscribe(_ filter: FullTopic, for subdevice: Subdevice?, _ id: CallID) {
    guard isConnected(for: id) else { return }
    guard TopicFilter(filter.text) != nil else {
      return fail(id, Self.noFilter(filter))
    }
    if let subdevice, lines[subdevice] == nil { return fail(id, Self.noLine(subdevice)) }
    calls[id] = .subscribing(
      Subscribing(filter: filter.text, owner: GatewayOwner(subdevice)))
    setTimer(.call(id), in: configuration.callTimeout)
    ask(for: [filter.text], for: .call(id))
  }

  static func noFilter(_ filter: FullTopic) -> GatewayError {
    GatewayError(.client, "a wildcard must fill a level, and # the last: \(filter.text)")
  }

  @discardableResult
  mutating func ask(for filters: [String], for purpose: Purpose) -> ClientAction.ID {
    let action = perform(.subscribe(filters.map { subscription($0) }), for: purpose)
    for filter in filters { order.noteSubscribe(filter, action, former: grant(of: filter)) }
    return action
  }

  /// Has the cloud drop filters; from now on nothing relies on them, whenever that is answered.
  private mutating func drop(_ filters: [String], for purpose: Purpose) {
    let action = perform(.unsubscribe(filters), for: purpose)
    for filter in filters {
      order.noteUnsubscribe(filter, action, former: grant(of: filter))
      grants.remove(filter)
    }
  }

  func isGranted(_ filter: String) -> Bool { grants.contains(filter) }

  /// For whom the cloud has a filter, to the order of packets: whose it is in detail is in ``grants``.
  private func grant(of filter: String) -> Grant.Owner? {
    isGranted(filter) ? .application : nil
  }

  mutating func unsubscribe(_ filter: FullTopic, for subdevice: Subdevice?, _ id: CallID) {
    guard isConnected(for: id) else { return }
    let owner = GatewayOwner(subdevice)
    forgetWish(filter.text, of: owner)
    withdraw(filter.text, of: owner)
    guard !isNeeded(filter.text) else {
      // A reply topic stays the line's for the requests to come, as its commands do.
      let isKept = isAwaited(filter.text) || isForCommands(filter.text)
      if isKept { grants.insert(filter.text, of: home(of: filter.text)) }
      if !isKept || owner != home(of: filter.text) { grants.disown(filter.text, by: owner) }
      return complete(id)
    }
    calls[id] = .unsubscribing
    setTimer(.call(id), in: configuration.callTimeout)
    drop([filter.text], for: .call(id))
  }

  /// The subscriptions of an owner that are not granted yet, the earliest first.
  private func subscriptions(of owner: GatewayOwner) -> [(CallID, Subscribing)] {
    openCalls.compactMap { id, call in
      guard case .subscribing(let subscribing) = call, subscribing.owner == owner else {
        return nil
      }
      return (id, subscribing)
    }
  }

  /// Nothing is to come of an owner's subscriptions to a filter that are on their way.
  private mutating func withdraw(_ filter: String, of owner: GatewayOwner) {
    for (call, var subscribing) in subscriptions(of: owner) where subscribing.filter == filter {
      subscribing.isWithdrawn = true
      calls[call] = .subscribing(subscribing)
    }
  }

  mutating func forgetWish(_ filter: String, of owner: GatewayOwner) {
    wishes.disown(filter, by: owner)
    if wishes.isOrphan(filter) { wishes.remove(filter) }
  }

  // MARK: Whether a filter is needed

  /// Whether the cloud has to keep a filter: for the gateway, for a line, for a reply, or for a subscription
  /// that is on its way.
  private func isNeeded(_ filter: String) -> Bool {
    topics.own.contains(filter) || wishes.contains(filter) || isForCommands(filter)
      || isAwaited(filter) || isBeingSubscribed(filter)
  }

  /// Whether a request waits for its reply by this filter.
  private func isAwaited(_ filter: String) -> Bool {
    requests.values.contains { $0.replyTopic == filter }
  }

  private func isBeingSubscribed(_ filter: String) -> Bool {
    calls.values.contains { call in
      guard case .subscribing(let subscribing) = call else { return false }
      return subscribing.filter == filter && !subscribing.isWithdrawn
    }
  }

  /// Whether a sub-device that is online, or is just coming online, gets its commands by this filter.
  private func isForCommands(_ filter: String) -> Bool {
    guard configuration.subscribesToCommands, let device = GatewayTopic(filter)?.device,
      let line = lines[device], line.state == .online || isComingOnline(line)
    else { return false }
    return GatewayTopics.commands(of: device).contains(filter)
  }

  private func isComingOnline(_ line: Line) -> Bool {
    guard let first = line.queue.first, case .subscribing = operations[first]?.phase else {
      return false
    }
    return true
  }

  /// Whose a filter is that nobody has asked for: that of the line which its topic names.
  private func home(of filter: String) -> GatewayOwner {
    GatewayOwner(GatewayTopic(filter).flatMap { lines[$0.device] == nil ? nil : $0.device })
  }

  /// Has the cloud drop those filters that are nobody's, and that nobody needs.
  mutating func release(_ filters: [String]) {
    let filters = filters.filter { grants.isOrphan($0) && !isNeeded($0) }
    guard !filters.isEmpty else { return }
    if keeper.isUp { return drop(filters, for: .nothing) }
    for filter in filters { grants.remove(filter) }
  }

  /// A line is gone: what it alone has needed is taken back, also what is on its way.
  mutating func forgetSubscriptions(of subdevice: Subdevice, _ error: GatewayError) {
    let owner = GatewayOwner.line(subdevice)
    let wished = wishes.disownAll(by: owner)
    for filter in wished { wishes.remove(filter) }
    let pending = subscriptions(of: owner)
    for (_, subscribing) in pending { grants.insert(subscribing.filter, of: nil) }
    // What it had when it was online the broker may have still.
    for filter in wished { grants.insert(filter, of: nil) }
    release(Set(grants.disownAll(by: owner) + wished).sorted())
    for (id, _) in pending { fail(id, error) }
  }

  // MARK: Answers

  func subscription(_ filter: String) -> Subscription {
    Subscription(filter, qos: configuration.publishQoS)
  }

  mutating func noteGranted(_ action: ClientAction.ID, _ granted: [QoS?]) {
    keeper.noteSignOfLife()
    guard let purpose = actions.close(action) else { return }
    let outcomes = order.noteGranted(action, granted.map { $0 == nil ? nil : .application })
    let isGranted = granted.first.flatMap { $0 } != nil
    switch purpose {
    case .restore(let filters): noteRestored(filters, granted)
    case .subscribeReply(let topic):
      noteReplyAnswered(action, topic, isGranted, isGiven: outcomes.first?.owner != nil)
    case .subscribeLine(let operation):
      let given = outcomes.filter { $0.owner != nil }.map(\.filter)
      noteLineGranted(operation, granted, given: Set(given))
    case .call(let id): if let outcome = outcomes.first { noteCallAnswered(id, outcome, isGranted) }
    case .sweep(let id):
      if calls[id] != nil, !isGranted { fail(id, Self.refusedSubscription) }
    case .connect, .disconnect, .request, .sweepEnd, .nothing: break
    }
  }

  /// Filters were granted that nobody waits for any more: those who wish for them have them.
  mutating func takeOver(_ filters: Set<String>) {
    for filter in filters {
      grants.insert(filter, of: isForCommands(filter) ? home(of: filter) : nil)
      for owner in wishes.owners(of: filter) { grants.insert(filter, of: owner) }
    }
    release(filters.sorted())
  }

  private mutating func noteCallAnswered(
    _ id: CallID, _ outcome: SubscriptionOrder.Outcome, _ isGranted: Bool
  ) {
    let isGiven = isGranted && outcome.owner != nil
    guard case .subscribing(let subscribing) = calls[id] else {
      // The call that asked for it is over, and what it brings is for none.
      if isGiven { grants.insert(outcome.filter, of: nil) }
      return release([outcome.filter])
    }
    guard isGranted else { return fail(id, Self.refusedSubscription) }
    if !subscribing.isWithdrawn { wishes.insert(subscribing.filter, of: subscribing.owner) }
    if isGiven {
      // The broker has it, be it that nobody wants it any more.
      grants.insert(
        subscribing.filter, of: subscribing.isWithdrawn ? nil : subscribing.owner)
    }
    complete(id)
  }

  /// SUBSCRIBE or UNSUBSCRIBE came to nothing: what the cloud has it has still, be it that nobody wants it any more.
  mutating func noteSubscriptionFailure(of action: ClientAction.ID) {
    for outcome in order.noteFailure(action) where outcome.owner != nil {
      grants.insert(outcome.filter, of: nil)
    }
  }

  // MARK: Reply topics

  /// Sees to it that a request's reply will come; false while that is not sure yet.
  mutating func isReplyTopicReady(of request: OpenRequest, _ id: RequestID) -> Bool {
    let topic = request.replyTopic
    if grants.contains(topic) { return true }
    if !replies.isSubscribing(to: topic) {
      replies.noteSubscribe(topic, ask(for: [topic], for: .subscribeReply(topic)))
    }
    replies.wait(id, for: topic)
    return false
  }

  private mutating func noteReplyAnswered(
    _ action: ClientAction.ID, _ topic: String, _ wasGranted: Bool, isGiven: Bool
  ) {
    guard wasGranted else {
      return failRequests(waitingFor: action, topic, Self.refusedSubscription)
    }
    // It may have been taken back since: who waits now has sent a SUBSCRIBE behind that.
    guard isGiven else { return }
    let ids = replies.takeGranted(topic)
    let isForNobody = ids.isEmpty && isOfNoLine(topic)
    grants.insert(topic, of: isForNobody ? nil : home(of: topic))
    for id in ids { send(id) }
    release([topic])
  }

  /// Whether a topic names a sub-device that has no line, or none any more.
  private func isOfNoLine(_ topic: String) -> Bool {
    guard let device = GatewayTopic(topic)?.device, device != topics.gateway else { return false }
    return lines[device] == nil
  }

  /// Fails the requests that wait for a SUBSCRIBE of their reply topic, but not those that have sent another since.
  mutating func failRequests(
    waitingFor action: ClientAction.ID, _ topic: String, _ error: GatewayError
  ) {
    for id in replies.takeRefused(topic, action) { finish(id, .failure(error)) }
  }
}

// MARK: Retained messages

extension GatewayStateMachine {
  static func topics(_ topics: [String]) -> Value { .topics(topics) }

  /// The topic whose UNSUBSCRIBE marks the end of a sweep.
  package var endOfSweep: String { topics.endOfSweep }

  func isHeard(_ topic: String) -> Bool {
    grants.filters.contains { TopicFilter($0)?.matches(topic) == true }
  }

  mutating func findRetained(_ filter: FullTopic, _ id: CallID) {
    guard isConnected(for: id) else { return }
    guard let matcher = TopicFilter(filter.text) else { return fail(id, Self.noFilter(filter)) }
    calls[id] = .sweeping
    setTimer(.call(id), in: configuration.callTimeout)
    sweep(matcher, id)
  }
}

import DataClient

/// Publishing, subscribing and unsubscribing.
extension GatewayStateMachine {
  // MARK: Publishing

  mutating func publish(
    _ topic: FullTopic, method: String?, _ params: JSONValue, _ id: CallID
  ) {
    let method = method ?? GatewayEnvelope.method(of: topic.text)
    let payload = GatewayEnvelope.thing(method: method)
      .request(id: takeRequestID(), params: params)
    upload(topic, payload, configuration.publishQoS, id)
  }

  mutating func upload(_ topic: FullTopic, _ payload: [UInt8], _ qos: QoS, _ id: CallID) {
    guard isConnected(for: id) else { return }
    guard !TopicRules.hasWildcard(topic.text) else { return fail(id, Self.wildcard(topic)) }
    guard qos < .exactlyOnce else {
      return fail(id, GatewayError(.client, "the cloud does not know QoS 2; take 0 or 1"))
    }
    calls[id] = .publishing
    setTimer(.call(id), in: configuration.callTimeout)
    perform(.publish(Message(topic: topic.text, payload: payload, qos: qos)), for: .call(id))
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
      return fail(
        id, GatewayError(.client, "a wildcard must fill a level, and # the last: \(filter.text)"))
    }
    if let subdevice, lines[subdevice] == nil { return fail(id, Self.noLine(subdevice)) }
    calls[id] = .subscribing(
      Subscribing(filter: filter.text, owner: GatewayOwner(subdevice)))
    setTimer(.call(id), in: configuration.callTimeout)
    perform(.subscribe([subscription(filter.text)]), for: .call(id))
  }

  mutating func unsubscribe(_ filter: FullTopic, for subdevice: Subdevice?, _ id: CallID) {
    guard isConnected(for: id) else { return }
    let owner = GatewayOwner(subdevice)
    forgetWish(filter.text, of: owner)
    withdraw(filter.text, of: owner, isTakenBack: false)
    guard !isNeeded(filter.text) else {
      // A reply topic stays the line's for the requests to come, as its commands do.
      let isKept = isAwaited(filter.text) || isForCommands(filter.text)
      if isKept { grants.insert(filter.text, of: home(of: filter.text)) }
      if !isKept || owner != home(of: filter.text) { grants.disown(filter.text, by: owner) }
      return complete(id)
    }
    withdraw(filter.text, of: owner, isTakenBack: true)
    grants.remove(filter.text)
    calls[id] = .unsubscribing(filter: filter.text)
    setTimer(.call(id), in: configuration.callTimeout)
    perform(.unsubscribe([filter.text]), for: .call(id))
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
  private mutating func withdraw(_ filter: String, of owner: GatewayOwner, isTakenBack: Bool) {
    for (call, var subscribing) in subscriptions(of: owner) where subscribing.filter == filter {
      subscribing.isWithdrawn = true
      subscribing.isTakenBack = isTakenBack
      calls[call] = .subscribing(subscribing)
    }
  }

  mutating func forgetWish(_ filter: String, of owner: GatewayOwner) {
    wishes.disown(filter, by: owner)
    if wishes.isOrphan(filter) { wishes.remove(filter) }
  }

  // MARK: Who needs a filter

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
    for filter in filters { grants.remove(filter) }
    if keeper.isUp { perform(.unsubscribe(filters), for: .nothing) }
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
    guard let purpose = actions.removeValue(forKey: action) else { return }
    let isGranted = granted.first.flatMap { $0 } != nil
    switch purpose {
    case .restore(let filters): noteRestored(filters, granted)
    case .subscribeReply(let topic): noteReplyGranted(topic, isGranted)
    case .subscribeLine(let operation): noteLineGranted(operation, granted)
    case .call(let id): noteCallGranted(id, isGranted)
    case .connect, .disconnect, .request, .nothing: break
    }
  }

  private mutating func noteCallGranted(_ id: CallID, _ isGranted: Bool) {
    guard case .subscribing(let subscribing) = calls[id] else { return }
    guard isGranted else { return fail(id, Self.refusedSubscription) }
    if !subscribing.isWithdrawn {
      wishes.insert(subscribing.filter, of: subscribing.owner)
      grants.insert(subscribing.filter, of: subscribing.owner)
    } else if !subscribing.isTakenBack {
      // The broker has it, be it that nobody wants it any more.
      grants.insert(subscribing.filter, of: nil)
    }
    complete(id)
  }

  static let refusedSubscription = GatewayError(
    .gateway, "the cloud does not grant the subscription", cloudCode: 0x80)

  // MARK: Reply topics

  /// Sees to it that a request's reply will come; false while that is not sure yet.
  mutating func isReplyTopicReady(of request: OpenRequest, _ id: RequestID) -> Bool {
    let topic = request.replyTopic
    if grants.contains(topic) { return true }
    if subscribing[topic] == nil {
      perform(.subscribe([subscription(topic)]), for: .subscribeReply(topic))
    }
    subscribing[topic, default: []].append(id)
    return false
  }

  private mutating func noteReplyGranted(_ topic: String, _ isGranted: Bool) {
    guard isGranted else { return failSubscribers(of: topic, Self.refusedSubscription) }
    let ids = subscribing.removeValue(forKey: topic) ?? []
    grants.insert(topic, of: home(of: topic))
    for id in ids { send(id) }
  }

  mutating func failSubscribers(of topic: String, _ error: GatewayError) {
    for id in subscribing.removeValue(forKey: topic) ?? [] { finish(id, .failure(error)) }
  }

  /// A request does not wait for its reply topic any more.
  mutating func leaveReplyTopic(of request: OpenRequest, _ id: RequestID) {
    guard case .subscribing = request.phase,
      let others = subscribing[request.replyTopic]?.filter({ $0 != id })
    else { return }
    subscribing[request.replyTopic] = others.isEmpty ? nil : others
  }
}

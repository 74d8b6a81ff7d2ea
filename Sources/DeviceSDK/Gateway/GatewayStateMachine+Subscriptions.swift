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
    calls[id] = .subscribing(filter: filter.text, subdevice)
    setTimer(.call(id), in: configuration.callTimeout)
    perform(.subscribe([subscription(filter.text)]), for: .call(id))
  }

  mutating func unsubscribe(_ filter: FullTopic, for subdevice: Subdevice?, _ id: CallID) {
    guard isConnected(for: id) else { return }
    if let subdevice { lines[subdevice]?.filters.removeAll { $0 == filter.text } }
    // Taken back now, the reply to a request on its way would be lost.
    guard !isAwaited(filter.text), !isWanted(filter.text, butFor: subdevice) else {
      if isAwaited(filter.text) { grants[filter.text]?.isForApplication = false }
      return complete(id)
    }
    grants[filter.text] = nil
    calls[id] = .unsubscribing(filter: filter.text)
    setTimer(.call(id), in: configuration.callTimeout)
    perform(.unsubscribe([filter.text]), for: .call(id))
  }

  /// Whether a request waits for its reply by this filter.
  private func isAwaited(_ filter: String) -> Bool {
    requests.values.contains { $0.replyTopic == filter }
  }

  /// Whether others than the one line have subscribed to this filter.
  private func isWanted(_ filter: String, butFor subdevice: Subdevice?) -> Bool {
    topics.own.contains(filter)
      || lines.contains { $0.key != subdevice && $0.value.filters.contains(filter) }
  }

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
    guard case .subscribing(let filter, let subdevice) = calls[id] else { return }
    guard isGranted else { return fail(id, Self.refusedSubscription) }
    grants[filter] = GatewayGrant(owner: subdevice, isForApplication: true)
    if let subdevice, lines[subdevice]?.filters.contains(filter) == false {
      lines[subdevice]?.filters.append(filter)
    }
    complete(id)
  }

  static let refusedSubscription = GatewayError(
    .gateway, "the cloud does not grant the subscription", cloudCode: 0x80)

  // MARK: Reply topics

  /// Sees to it that a request's reply will come; false while that is not sure yet.
  mutating func isReplyTopicReady(of request: OpenRequest, _ id: RequestID) -> Bool {
    let topic = request.replyTopic
    if grants[topic] != nil { return true }
    if subscribing[topic] == nil {
      perform(.subscribe([subscription(topic)]), for: .subscribeReply(topic))
    }
    subscribing[topic, default: []].append(id)
    return false
  }

  private mutating func noteReplyGranted(_ topic: String, _ isGranted: Bool) {
    guard isGranted else { return failSubscribers(of: topic, Self.refusedSubscription) }
    let ids = subscribing.removeValue(forKey: topic) ?? []
    let owner = GatewayTopic(topic).flatMap { lines[$0.device] == nil ? nil : $0.device }
    grants[topic] = GatewayGrant(
      owner: owner, isForApplication: grants[topic]?.isForApplication ?? false)
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

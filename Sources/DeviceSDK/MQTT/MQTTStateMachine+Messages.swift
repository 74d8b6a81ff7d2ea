import RepriseCore

/// A message or a request that is not done.
struct OpenMessage: Sendable {
  let message: Message
  /// What it was sent with; nil while it waits for a connection.
  var action: ClientAction.ID?
  /// What the answer to a request carries.
  var correlation: [UInt8]?
  /// How long it may take.
  var timeout: Duration?
}

/// Messages and requests: sent, queued, acknowledged, answered.
extension MQTTStateMachine {
  mutating func publish(_ message: Message, within timeout: Duration?, _ id: CallID) {
    enqueue(OpenMessage(message: message, timeout: timeout ?? configuration.callTimeout), id)
  }

  mutating func request(_ message: Message, within timeout: Duration?, _ id: CallID) {
    guard let topic = configuration.topicOfResponses else {
      let error = MQTTError(
        .invalid, "answers need a topic of their own; set clientID or responseTopic")
      return fail(id, error)
    }
    var message = message
    let correlation = makeCorrelation()
    message.properties.responseTopic = topic
    message.properties.correlationData = correlation
    if filters[topic]?.holders[Self.ownHolder] == nil {
      note(Self.ownHolder, of: topic, Wish(qos: .atLeastOnce))
    }
    requests[correlation] = id
    enqueue(
      OpenMessage(
        message: message, correlation: correlation,
        timeout: timeout ?? configuration.callTimeout), id)
    settle(topic)
  }

  /// The holder of the topic of responses.
  static var ownHolder: Holder { 0 }

  /// When the first request was made and which this is: no other run gives the same.
  private mutating func makeCorrelation() -> [UInt8] {
    let first = firstRequest ?? time
    firstRequest = first
    requestCount &+= 1
    return withUnsafeBytes(of: first.nanoseconds.bigEndian, Array.init)
      + withUnsafeBytes(of: requestCount.bigEndian, Array.init)
  }

  private mutating func enqueue(_ message: OpenMessage, _ id: CallID) {
    messages[id] = message
    guard keeper.link != .idle, keeper.link != .ended else {
      let why = lastReason.map { ": \($0.message)" } ?? ""
      return fail(id, MQTTError(.notConnected, "there is no connection\(why)"))
    }
    setDeadline(message.timeout, for: id)
    guard !canSend(message) else { return send(id) }
    guard queue.count < configuration.queueLimit else {
      return fail(
        id, MQTTError(.notConnected, "\(queue.count) messages wait for the connection already"))
    }
    queue.append(id)
  }

  private func canSend(_ message: OpenMessage) -> Bool {
    guard case .open = keeper.link else { return false }
    guard message.correlation != nil else { return true }
    return configuration.topicOfResponses.flatMap { filters[$0]?.granted } != nil
  }

  private mutating func send(_ id: CallID) {
    guard let message = messages[id]?.message else { return }
    let action = perform(.publish(message), for: .message(id))
    messages[id]?.action = action
  }

  /// Sends what can be sent now, in its order.
  mutating func sendQueue() {
    let ready = queue.filter { id in messages[id].map(canSend) ?? false }
    guard !ready.isEmpty else { return }
    let set = Set(ready)
    queue.removeAll(where: set.contains)
    for id in ready { send(id) }
  }

  mutating func notePublished(_ action: ClientAction.ID) {
    guard case .message(let id) = actions.close(action) else { return }
    // A request is done when its answer is there.
    if messages[id]?.correlation == nil, messages[id] != nil { complete(id) }
  }

  /// A message was not taken, or not sent.
  mutating func noteUnsent(_ id: CallID, _ error: MQTTError) {
    guard messages[id] != nil else { return }
    // The connection was over before it was sent: as if it had waited.
    guard error.kind == .notConnected, keeper.link != .idle, keeper.link != .ended else {
      return fail(id, error)
    }
    messages[id]?.action = nil
    queue.append(id)
  }

  mutating func receive(_ message: Message) {
    if message.hasProperties, message.topic == configuration.topicOfResponses,
      let correlation = message.properties.correlationData, let id = requests[correlation]
    {
      return complete(id, .reply(message))
    }
    tell(.deliver(message))
  }

  // MARK: A connection that is lost

  /// What was sent is not answered any more: what may come twice is sent again.
  mutating func loseMessages() {
    let sent = messages.filter { $0.value.action != nil }.keys.sorted()
    var again: [CallID] = []
    for id in sent {
      guard let message = messages[id] else { continue }
      if let action = message.action { actions[action] = nil }
      if message.message.qos == .atLeastOnce, message.correlation == nil {
        messages[id]?.action = nil
        again.append(id)
      } else {
        fail(id, Self.lost)
      }
    }
    queue.insert(contentsOf: again, at: 0)
  }

  /// A session that the server keeps does not keep what has QoS 0, nor what others answer.
  mutating func loseUnkept() {
    for id in messages.keys.sorted() {
      guard let message = messages[id], let action = message.action,
        message.message.qos == .atMostOnce || message.correlation != nil
      else { continue }
      actions[action] = nil
      fail(id, Self.lost)
    }
  }

  private static let lost = MQTTError(
    .lost, "the connection was lost before the answer; it is not known whether the server has it")
}

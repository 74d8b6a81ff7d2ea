import RepriseCore

/// Requests and their replies.
extension GatewayStateMachine {
  mutating func invoke(_ invocation: Invocation, _ id: CallID) {
    guard isConnected(for: id) else { return }
    guard !TopicRules.hasWildcard(invocation.topic.text) else {
      return fail(id, Self.wildcard(invocation.topic))
    }
    let isSession = GatewayTopic(invocation.topic.text)?.kind == .other
    let method = invocation.method ?? GatewayEnvelope.method(of: invocation.topic.text)
    let request = begin(
      OpenRequest(
        topic: invocation.topic.text,
        envelope: isSession && method == nil ? .session : .thing(method: method),
        params: invocation.params, qos: isSession ? .atMostOnce : configuration.publishQoS,
        subdevices: invocation.subdevice.map { [$0] } ?? [], purpose: .call(id),
        persistence: .none, timeout: invocation.timeout ?? configuration.callTimeout))
    calls[id] = .requesting(request)
    prepare(request)
  }

  static func wildcard(_ topic: FullTopic) -> GatewayError {
    GatewayError(.client, "a topic to publish to has no wildcards: \(topic.text)")
  }

  /// Sends a request of the gateway's own, as soon as its reply topic is granted.
  @discardableResult
  mutating func request(
    _ topic: String, _ envelope: GatewayEnvelope, _ params: JSONValue,
    about subdevices: [Subdevice] = [], for purpose: OpenRequest.Purpose,
    _ persistence: OpenRequest.Persistence = .codes
  ) -> RequestID {
    let id = begin(
      OpenRequest(
        topic: topic, envelope: envelope, params: params,
        qos: envelope == .session ? .atMostOnce : configuration.publishQoS,
        subdevices: subdevices, purpose: purpose, persistence: persistence,
        timeout: configuration.callTimeout))
    prepare(id)
    return id
  }

  private mutating func begin(_ request: OpenRequest) -> RequestID {
    lastRequest += 1
    let id = RequestID(rawValue: lastRequest)
    requests[id] = request
    setTimer(.request(id), in: request.timeout)
    return id
  }

  private mutating func prepare(_ id: RequestID) {
    guard let request = requests[id] else { return }
    if isReplyTopicReady(of: request, id) { send(id) }
  }

  /// Sends a request whose reply topic is granted.
  mutating func send(_ id: RequestID) {
    guard var request = requests[id] else { return }
    if case .departure(let subdevice) = request.purpose, isOvertaken(departure: subdevice) {
      return abandon(id)
    }
    if case .operation(let operation) = request.purpose,
      let operation = operations[operation], !operation.subdevices.isEmpty
    {
      // Lines may have been closed since the last try.
      request.params = form(of: operation).params
      request.subdevices = operation.subdevices
    }
    let requestID = takeRequestID()
    request.phase = .waiting(id: requestID)
    requests[id] = request
    replies.noteSent(id, id: requestID, on: request.replyTopic)
    let payload = request.envelope.request(id: requestID, params: request.params)
    perform(
      .publish(Message(topic: request.topic, payload: payload, qos: request.qos)),
      for: .request(id))
  }

  /// Takes the next id of a request: a number from 0 to 4294967295, and then from 0 again.
  mutating func takeRequestID() -> String {
    while true {
      let id = String(nextRequestID)
      nextRequestID &+= 1
      if !replies.isInUse(id) { return id }
    }
  }

  // MARK: Ending

  mutating func expire(_ id: RequestID) {
    guard var request = requests[id] else { return }
    switch request.phase {
    case .pausing:
      request.phase = .subscribing
      requests[id] = request
      setTimer(.request(id), in: request.timeout)
      prepare(id)
    case .subscribing:
      giveUp(id, request, GatewayError(.gateway, "the reply topic was not granted in time"))
    case .waiting: giveUp(id, request, GatewayError(.gateway, "there was no reply in time"))
    }
  }

  private mutating func giveUp(_ id: RequestID, _ request: OpenRequest, _ error: GatewayError) {
    guard case .codesAndSilence = request.persistence,
      request.attempt + 1 < configuration.attempts
    else { return finish(id, .failure(error)) }
    pause(id, request, .abandoned, for: configuration.faultRetry.delay(attempt: request.attempt))
  }

  /// Tries again later, with a new id.
  private mutating func pause(
    _ id: RequestID, _ request: OpenRequest, _ outcome: ReplyMemory.Outcome, for delay: Duration
  ) {
    var request = request
    replies.noteEnd(of: request.phase, on: request.replyTopic, outcome)
    replies.leave(request.replyTopic, id)
    request.phase = .pausing
    request.attempt += 1
    requests[id] = request
    setTimer(.request(id), in: delay)
    guard case .operation(let operation) = request.purpose else { return }
    if outcome == .abandoned {
      requests[id]?.mayHaveBeenDone = true
    } else if !request.mayHaveBeenDone {
      // The cloud has refused what it was asked for, so that nobody is to be taken offline again.
      operations[operation]?.departed = []
    }
    noteDelay(of: operation)
  }

  /// Gives up a request that is waited for no longer.
  mutating func abandon(_ id: RequestID) {
    if let request = requests.removeValue(forKey: id) { forget(request, id, .abandoned) }
  }

  mutating func finish(
    _ id: RequestID, _ result: Result<GatewayReply, GatewayError>,
    _ outcome: ReplyMemory.Outcome = .abandoned
  ) {
    guard let request = requests.removeValue(forKey: id) else { return }
    forget(request, id, outcome)
    switch request.purpose {
    case .call(let call):
      switch result {
      case .success(let reply): complete(call, .reply(reply))
      case .failure(let error): fail(call, error)
      }
    case .topology(let call, let unchanged): noteTopology(result, call, unchanged)
    case .part(let call, let index): notePart(of: call, result, index: index)
    case .operation(let operation): noteAnswer(to: operation, result)
    case .departure: break
    }
  }

  private mutating func forget(
    _ request: OpenRequest, _ id: RequestID, _ outcome: ReplyMemory.Outcome
  ) {
    deadlines.set(nil, for: .request(id))
    replies.noteEnd(of: request.phase, on: request.replyTopic, outcome)
    replies.leave(request.replyTopic, id)
    release([request.replyTopic])
  }

  // MARK: Replies

  /// Gives a reply to the request that waits for it; false when it belongs to none of the gateway's.
  mutating func takeReply(_ message: Message) -> Bool {
    let topic = message.topic
    guard topic.utf8.suffix(6).elementsEqual("_reply".utf8),
      let envelope = ChannelEnvelope(parsing: message.payload)
    else { return false }
    switch replies.reply(envelope.id, on: topic) {
    case .awaited(let id):
      guard let request = requests[id] else { return false }
      answer(id, request, envelope)
      return true
    case .again:
      counted.duplicateReplies &+= 1
      log(.debug, .call, "request \(envelope.id) was answered again on \(topic)")
      return true
    case .late:
      counted.lateReplies &+= 1
      log(.info, .call, "request \(envelope.id) was answered too late on \(topic)")
      return true
    case .unknown:
      guard grants.contains(topic), !wishes.contains(topic) else { return false }
      counted.unknownReplies &+= 1
      log(.info, .call, "a reply on \(topic) has the unknown id \(envelope.id)")
      return false
    }
  }

  private mutating func answer(
    _ id: RequestID, _ request: OpenRequest, _ envelope: ChannelEnvelope
  ) {
    guard let code = envelope.code else {
      let error = GatewayError(.gateway, "the reply has no code")
      return finish(id, .failure(error), .answered)
    }
    guard code != 200 else {
      return finish(id, .success(GatewayReply(envelope, code: code)), .answered)
    }
    refuse(id, request, code, envelope.message ?? "")
  }

  /// The cloud has said no to a request, in a reply or as an error of the session.
  mutating func refuse(_ id: RequestID, _ request: OpenRequest, _ code: Int, _ message: String) {
    log(.info, .call, "a request on \(request.topic) failed with code \(code)")
    if let delay = retryDelay(of: request, after: code) {
      return pause(id, request, .answered, for: delay)
    }
    // Of several, the code does not say which one it is about; of one that has gone, it says nothing of a new line.
    if request.subdevices.count == 1, let subdevice = request.subdevices.first,
      !request.isDeparture
    {
      applyCode(code, message, to: subdevice)
    }
    finish(id, .failure(CloudCode.error(code, message)), .answered)
  }

  private func retryDelay(of request: OpenRequest, after code: Int) -> Duration? {
    if case .none = request.persistence { return nil }
    guard request.attempt + 1 < configuration.attempts else { return nil }
    switch CloudCode.known(code).remedy {
    case .none, .fail: return nil
    case .slowDown: return configuration.throttleRetry.delay(attempt: request.attempt)
    case .retry: return configuration.faultRetry.delay(attempt: request.attempt)
    }
  }
}

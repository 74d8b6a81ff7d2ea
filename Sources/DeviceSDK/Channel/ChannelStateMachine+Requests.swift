import RepriseCore

/// Requests and their replies.
extension ChannelStateMachine {
  mutating func invoke(_ request: Invocation, for purpose: OpenInvocation.Purpose, _ id: CallID) {
    guard let topics = connectedTopics(for: id),
      let topic = completed(
        for: id, { () throws(ChannelError) in try topics.publishTopic(for: request.topic) }),
      let reply = completed(
        for: id, { () throws(ChannelError) in try topics.replyTopic(for: request.topic) })
    else { return }
    guard account != .needsLogin || topic != topics.bind else { return fail(id, Self.needsLogin) }
    var invocation = OpenInvocation(
      request: request, purpose: purpose, topic: topic, replyTopic: reply.text)
    calls[id] = .invoking(invocation)
    setTimeout(of: id, invocation)
    let (filter, isReady) = prepareReplyTopic(reply.text, for: id)
    dependents[filter, default: 0] += 1
    invocation.dependsOn = filter
    calls[id] = .invoking(invocation)
    if isReady { send(id) }
  }

  private mutating func setTimeout(of id: CallID, _ invocation: OpenInvocation) {
    let timeout = invocation.request.timeout ?? configuration.callTimeout
    deadlines.set(time.advanced(by: timeout), for: id)
  }

  /// Sends a request whose reply topic is granted.
  mutating func send(_ id: CallID) {
    guard case .invoking(var invocation) = calls[id], let identity else { return }
    if invocation.attempt > 0 { setTimeout(of: id, invocation) }
    var requestID = takeRequestID()
    while replies.isInUse(requestID) { requestID = takeRequestID() }
    invocation.phase = .waiting(id: requestID)
    calls[id] = .invoking(invocation)
    replies.noteSent(id, id: requestID, on: invocation.replyTopic)
    let payload = ChannelEnvelope.request(
      id: requestID, clientID: identity.clientID, params: invocation.request.params,
      options: invocation.request.options)
    noteAccountRequest(invocation.topic)
    perform(
      .publish(
        Message(topic: invocation.topic.text, payload: payload, qos: configuration.publishQoS)),
      for: .request(id))
  }

  /// Forgets a request, with all that was kept for it.
  mutating func close(
    _ invocation: OpenInvocation, _ id: CallID, _ outcome: ReplyMemory.Outcome
  ) {
    replies.noteEnd(of: invocation.phase, on: invocation.replyTopic, outcome)
    replies.leave(invocation.replyTopic, id)
    noteAccountEnd(invocation.topic)
    if let filter = invocation.dependsOn { release(filter) }
  }

  // MARK: Messages

  mutating func receive(_ message: Message) {
    statistics.messages &+= 1
    keeper.noteSignOfLife()
    guard let topics else { return }
    if replies.expects(message.topic), takeReply(message) { return }
    if !sweeps.isEmpty, takeRetained(message) { return }
    if topics.isOwn(message.topic) {
      let prefixLength = topics.down.utf8.count
      tell(.deliver(ChannelMessage(message, prefixLength: prefixLength, time: time)))
    } else {
      tell(.forward(ChannelMessage(message, prefixLength: 0, time: time)))
    }
  }

  /// Gives a reply to the request that waits for it; false when it belongs to none of the channel's.
  private mutating func takeReply(_ message: Message) -> Bool {
    let topic = message.topic
    guard let envelope = ChannelEnvelope(parsing: message.payload) else {
      log(.warning, .call, "what came on \(topic) is no reply")
      return false
    }
    switch replies.reply(envelope.id, on: topic) {
    case .awaited(let id):
      guard case .invoking(let invocation) = calls[id] else { return false }
      answer(id, invocation, envelope, message.payload)
      return true
    case .again:
      statistics.duplicateReplies &+= 1
      log(.debug, .call, "request \(envelope.id) was answered again on \(topic)")
      return true
    case .late:
      statistics.lateReplies &+= 1
      log(.info, .call, "request \(envelope.id) was answered too late on \(topic)")
      return true
    case .unknown:
      statistics.unknownReplies &+= 1
      log(.info, .call, "a reply on \(topic) has the unknown id \(envelope.id)")
      return false
    }
  }

  private mutating func answer(
    _ id: CallID, _ invocation: OpenInvocation, _ envelope: ChannelEnvelope, _ payload: [UInt8]
  ) {
    let message = envelope.message ?? ""
    guard let code = envelope.code else {
      return fail(id, ChannelError(.gateway, "the reply has no code"), isAnswered: true)
    }
    if code == 200 {
      noteAccountSuccess(invocation.topic)
      let reply = ChannelReply(
        id: envelope.id, code: code, message: message, data: envelope.data, payload: payload)
      return complete(id, .reply(reply))
    }
    log(.info, .call, "request \(envelope.id) failed with code \(code)")
    noteRefusedToken(code, invocation.topic)
    if let delay = retryDelay(after: code, invocation) {
      return pause(id, invocation, for: delay)
    }
    fail(id, Self.error(code: code, message: message, invocation.purpose), isAnswered: true)
  }

  private mutating func pause(
    _ id: CallID, _ invocation: OpenInvocation, for delay: Duration
  ) {
    var invocation = invocation
    replies.noteEnd(of: invocation.phase, on: invocation.replyTopic, .answered)
    invocation.phase = .pausing
    invocation.attempt += 1
    calls[id] = .invoking(invocation)
    deadlines.set(time.advanced(by: delay), for: id)
  }

  private static func error(
    code: Int, message: String, _ purpose: OpenInvocation.Purpose
  ) -> ChannelError {
    let kind: ChannelError.Kind =
      switch purpose {
      case .binding: refusesToken(code) ? .login : .business
      case .application: .business
      }
    return ChannelError(
      kind, message, cloudCode: code, underlying: CloudError(code: code, message: message))
  }
}

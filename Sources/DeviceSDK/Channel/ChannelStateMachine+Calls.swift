import RepriseCore

/// What all calls have in common.
extension ChannelStateMachine {
  var isConnected: Bool {
    if case .open = keeper.link { true } else { false }
  }

  // MARK: Doing

  /// Returns the topics if something can be sent; otherwise the call fails.
  mutating func connectedTopics(for id: CallID) -> ChannelTopics? {
    guard isConnected, let topics else {
      fail(id, Self.notConnected)
      return nil
    }
    return topics
  }

  /// Returns what a topic is completed to; otherwise the call fails.
  mutating func completed(
    for id: CallID, _ complete: () throws(ChannelError) -> FullTopic
  ) -> FullTopic? {
    do {
      return try complete()
    } catch {
      fail(id, error)
      return nil
    }
  }

  // MARK: Ending

  /// Forgets a call, with all that was kept for it.
  mutating func close(_ id: CallID, isAnswered: Bool) {
    guard let call = calls.removeValue(forKey: id) else { return }
    deadlines.set(nil, for: id)
    switch call {
    case .invoking(let invocation): close(invocation, id, isAnswered ? .answered : .abandoned)
    case .subscribing(let filter): endWish(for: filter)
    case .sweeping: sweeps[id] = nil
    case .starting, .stopping, .publishing, .unsubscribing: break
    }
  }

  /// Fails all that waits for an answer on the connection.
  mutating func failOpenCalls(_ error: ChannelError) {
    replies.forgetSubscribing()
    heldBack = [:]
    for (id, call) in openCalls {
      switch call {
      case .starting, .stopping: break
      case .publishing, .subscribing, .unsubscribing, .sweeping, .invoking: fail(id, error)
      }
    }
  }

  mutating func failStarts(_ error: ChannelError) {
    for (id, call) in openCalls {
      if case .starting = call { fail(id, error) }
    }
  }

  /// A call's time is over.
  mutating func expire(_ id: CallID) {
    guard let call = calls[id] else { return }
    switch call {
    case .starting: fail(id, lateStart)
    case .stopping: break
    case .publishing: fail(id, ChannelError(.network, "the message was not acknowledged in time"))
    case .subscribing, .unsubscribing, .sweeping:
      fail(id, ChannelError(.network, "the subscription was not answered in time"))
    case .invoking(let invocation):
      switch invocation.phase {
      case .subscribing:
        fail(id, ChannelError(.network, "the reply topic was not granted in time"))
      case .waiting: fail(id, ChannelError(.network, "there was no reply in time"))
      case .pausing: send(id)
      }
    }
  }

  // MARK: Answers of the client

  mutating func noteRefusal(of action: ClientAction.ID, _ error: DataClientError) {
    guard let purpose = actions.close(action) else { return }
    settle(order.noteFailure(action))
    switch purpose {
    case .connect, .disconnect, .restore: follow(keeper.noteRefusal(error, time))
    case .call(let id), .request(let id), .sweep(let id), .sweepEnd(let id, _):
      if calls[id] != nil { fail(id, Self.error(for: error)) }
    case .subscribeReply(let topic): failRequests(waitingFor: action, topic, Self.error(for: error))
    case .subscribeAll:
      log(.warning, .subscription, "the channel could not subscribe: \(error.message)")
    case .unsubscribe(let id): if let id, calls[id] != nil { fail(id, Self.error(for: error)) }
    }
  }

  /// An action came to nothing after it was handed over.
  mutating func noteFailure(of action: ClientAction.ID, _ failure: ActionFailure) {
    guard let purpose = actions.close(action) else { return }
    settle(order.noteFailure(action))
    let error = Self.error(for: failure)
    switch purpose {
    case .call(let id), .request(let id), .sweep(let id), .sweepEnd(let id, _):
      if calls[id] != nil { fail(id, error) }
    case .unsubscribe(let id):
      if let id, calls[id] != nil { fail(id, error) }
      if id == nil {
        log(.warning, .subscription, "a subscription could not be changed: \(error.message)")
      }
    case .subscribeReply(let topic): failRequests(waitingFor: action, topic, error)
    case .subscribeAll:
      log(.warning, .subscription, "a subscription could not be changed: \(error.message)")
    case .restore: follow(keeper.noteFailure(failure, time))
    case .connect, .disconnect: break
    }
  }

  mutating func noteDone(_ action: ClientAction.ID) {
    guard let purpose = actions.close(action) else { return }
    settle(order.noteTakenBack(action))
    switch purpose {
    case .call(let id): if calls[id] != nil { complete(id) }
    case .unsubscribe(let id): if let id, calls[id] != nil { complete(id) }
    case .sweepEnd(let id, let filter): noteSwept(id, filter)
    case .connect, .disconnect, .restore, .subscribeAll, .subscribeReply, .request, .sweep: break
    }
  }

  // MARK: Publishing

  mutating func publish(
    _ topic: ChannelTopic, params: JSONValue, isRetained: Bool, _ id: CallID
  ) {
    guard let identity else { return fail(id, Self.notConnected) }
    publish(topic, isRetained, id) { machine in
      ChannelEnvelope.request(
        id: machine.takeRequestID(), clientID: identity.clientID, params: params)
    }
  }

  mutating func publish(
    _ topic: ChannelTopic, payload: [UInt8], isRetained: Bool, _ id: CallID
  ) {
    publish(topic, isRetained, id) { _ in payload }
  }

  private mutating func publish(
    _ topic: ChannelTopic, _ isRetained: Bool, _ id: CallID,
    payload: (inout ChannelStateMachine) -> [UInt8]
  ) {
    guard let topics = connectedTopics(for: id),
      let full = completed(
        for: id, { () throws(ChannelError) in try topics.publishTopic(for: topic) })
    else { return }
    let message = Message(
      topic: full.text, payload: payload(&self), qos: configuration.publishQoS,
      isRetained: isRetained)
    calls[id] = .publishing
    deadlines.set(time.advanced(by: configuration.callTimeout), for: id)
    perform(.publish(message), for: .call(id))
  }

  /// Takes the next id of a request: a number from 0 to 4294967295, and then from 0 again.
  mutating func takeRequestID() -> String {
    defer { nextRequestID &+= 1 }
    return String(nextRequestID)
  }
}

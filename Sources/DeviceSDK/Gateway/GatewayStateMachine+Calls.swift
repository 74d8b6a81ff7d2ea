import RepriseCore

/// What all calls have in common.
extension GatewayStateMachine {
  mutating func begin(_ call: Call, _ id: CallID) {
    switch call {
    case .start: start(id)
    case .stop: stop(id)
    case .setReachable(let isReachable):
      follow(keeper.setReachable(isReachable, time))
      complete(id)
    case .setUp(let connection): setUp(connection, id)
    case .noteOpened(let connection, let result): noteOpened(connection, result, id)
    case .remove(let subdevice): remove(subdevice, id)
    case .operate(let kind, let subdevices, let isBatch):
      operate(kind, subdevices, isBatch: isBatch, id)
    case .topology: getTopology(id)
    case .reportFound(let subdevices): reportFound(subdevices, id)
    case .register(let registrations): register(registrations, id)
    case .unregister(let subdevices): unregister(subdevices, id)
    case .invoke(let invocation): invoke(invocation, id)
    case .publish(let topic, let method, let params, let isRetained):
      publish(topic, method: method, params, isRetained: isRetained, id)
    case .upload(let topic, let bytes, let qos, let isRetained):
      upload(topic, bytes, qos, isRetained: isRetained, id)
    case .findRetained(let filter): findRetained(filter, id)
    case .subscribe(let filter, let subdevice): subscribe(filter, for: subdevice, id)
    case .unsubscribe(let filter, let subdevice): unsubscribe(filter, for: subdevice, id)
    case .answer(let command, let code, let message, let data):
      answer(command, code: code, message: message, data, id)
    }
  }

  /// Tells whether something can be sent for the application; otherwise the call fails.
  mutating func isConnected(for id: CallID) -> Bool {
    guard state == .connected else {
      fail(id, Self.notConnected)
      return false
    }
    return true
  }

  // MARK: Doing

  mutating func setTimer(_ timer: Timer, in duration: Duration) {
    deadlines.set(time.advanced(by: duration), for: timer)
  }

  // MARK: Ending

  mutating func close(_ id: CallID, isAnswered: Bool) {
    let call = calls.removeValue(forKey: id)
    deadlines.set(nil, for: .call(id))
    sweeps[id] = nil
    if case .subscribing(let subscribing) = call { release([subscribing.filter]) }
  }

  /// Gives up a call that is waited for no longer; of what was sent for it, a subscription is taken back.
  mutating func cancel(_ id: CallID) {
    let call = calls[id]
    close(id, isAnswered: false)
    switch call {
    case .requesting(let request): abandon(request)
    case .settingUp(let connection): stopSettingUp(connection, for: id)
    case .starting, .stopping, .publishing, .subscribing, .unsubscribing, .sweeping, .parts, nil:
      break
    }
  }

  mutating func expire(_ id: CallID) {
    switch calls[id] {
    case .publishing: fail(id, GatewayError(.gateway, "the message was not acknowledged in time"))
    case .subscribing, .unsubscribing, .sweeping:
      fail(id, GatewayError(.gateway, "the subscription was not answered in time"))
    case .starting: fail(id, lateStart)
    case .stopping, .settingUp, .requesting, .parts, nil: break
    }
  }

  /// One part of a call is done; completes the call if it was the last.
  mutating func notePart(
    of id: CallID, _ result: Result<GatewayReply, GatewayError>, index: Int? = nil
  ) {
    guard case .parts(var parts) = calls[id] else { return }
    parts.left -= 1
    switch result {
    case .success(let reply): parts.replies[index ?? parts.replies.count] = reply
    case .failure(let error): parts.error = parts.error ?? error
    }
    calls[id] = .parts(parts)
    guard parts.left <= 0 else { return }
    if let error = parts.error { fail(id, error) } else { complete(id, parts.value) }
  }

  // MARK: Answers of the client

  mutating func noteRefusal(of action: ClientAction.ID, _ error: DataClientError) {
    guard let purpose = actions.close(action) else { return }
    noteSubscriptionFailure(of: action)
    switch purpose {
    case .connect, .disconnect, .restore: follow(keeper.noteRefusal(error, time))
    case .call(let id), .sweep(let id), .sweepEnd(let id, _):
      if calls[id] != nil { fail(id, Self.error(for: error)) }
    case .request(let id): finish(id, .failure(Self.error(for: error)))
    case .subscribeReply(let topic): failRequests(waitingFor: action, topic, Self.error(for: error))
    case .subscribeLine(let id): noteLineSubscribed(id, refused: error.message)
    case .nothing: break
    }
  }

  mutating func noteDone(_ action: ClientAction.ID) {
    guard let purpose = actions.close(action) else { return }
    _ = order.noteTakenBack(action)
    switch purpose {
    case .call(let id): if calls[id] != nil { complete(id) }
    case .sweepEnd(let id, let filter): noteSwept(id, filter)
    case .connect, .disconnect, .restore, .request, .subscribeReply, .subscribeLine, .sweep,
      .nothing:
      break
    }
  }
}

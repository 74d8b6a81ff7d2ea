import DataClient

/// Lines that go, or lose their sessions, while something is done with them.
extension GatewayStateMachine {
  /// Takes a line out of what is done with it, which goes on with the other lines of a batch.
  ///
  /// A login that the cloud has got is followed to its end also for one line: when it succeeds the
  /// sub-device is taken offline again, as nobody here knows it any more.
  mutating func drop(
    _ subdevice: Subdevice, _ connection: ConnectionID, from id: OperationID, _ error: GatewayError
  ) {
    guard var operation = operations[id] else { return }
    let isSentLogin = operation.kind == .logIn && isSent(operation)
    operation.subdevices.removeAll { $0 == subdevice }
    guard !operation.subdevices.isEmpty || isSentLogin else {
      return finish(id, .failure(error))
    }
    if isSentLogin { operation.departed.append(subdevice) }
    operation.bereave(error)
    guard !operation.subdevices.isEmpty else { return dropLast(id, operation, error) }
    accesses[connection]?.operations.removeAll { $0 == id }
    if case .opening(var left) = operation.phase {
      left.remove(connection)
      operation.phase = .opening(left)
    }
    operations[id] = operation
    switch operation.phase {
    case .queued: begin(id)
    case .opening(let left): if left.isEmpty { send(id) }
    case .pacing, .requesting, .subscribing: break
    }
  }

  /// Nobody waits for a login any more, which is not tried again.
  private mutating func dropLast(
    _ id: OperationID, _ operation: LineOperation, _ error: GatewayError
  ) {
    let waiters = operation.bereft
    operations[id] = operation
    operations[id]?.bereft = []
    if case .requesting(let request) = operation.phase { requests[request]?.persistence = .none }
    for waiter in waiters { notePart(of: waiter, .failure(error)) }
  }

  /// Whether the cloud has got an operation, or will.
  private func isSent(_ operation: LineOperation) -> Bool {
    switch operation.phase {
    case .queued, .pacing, .opening: return false
    case .subscribing: return true
    case .requesting(let id):
      guard let request = requests[id] else { return false }
      if case .waiting = request.phase { return true }
      return request.mayHaveBeenDone
    }
  }

  /// A sub-device whose line was closed is online in the cloud: it is taken offline, unless a new line is
  /// about to bring it online.
  mutating func logOutDeparted(_ subdevice: Subdevice) {
    if let line = lines[subdevice], line.state == .online || isToComeOnline(line) { return }
    guard keeper.isUp else { return }
    request(topics.logout, .session, subdevice.json, about: [subdevice], for: .nobody, .none)
  }

  /// A login that the cloud granted is of no use when it takes the session back at once.
  mutating func interruptLogin(
    of subdevice: Subdevice, _ event: LineEvent, _ error: GatewayError?
  ) {
    guard event == .sessionLost || event == .topologyLost,
      let line = lines[subdevice], let id = line.queue.first, let operation = operations[id],
      case .subscribing(let action, _) = operation.phase
    else { return }
    let error = error ?? GatewayError(.business, "the session was ended by the cloud")
    guard operation.subdevices.count == 1 else {
      operations[id]?.subdevices.removeAll { $0 == subdevice }
      operations[id]?.bereave(error)
      lines[subdevice]?.queue.removeAll { $0 == id }
      if let next = lines[subdevice]?.queue.first { begin(next) }
      return
    }
    actions[action] = .nothing
    finish(id, .failure(error))
  }
}

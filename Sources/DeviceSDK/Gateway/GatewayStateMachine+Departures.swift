import RepriseCore

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

  /// Gives up a login that is waited for no longer, and is not tried again.
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

  /// Takes a sub-device offline that is online in the cloud, or may be, for a line that was closed.
  ///
  /// A new line that has brought it online keeps it. One that is about to is waited for, as its login may fail.
  mutating func settleDeparture(of subdevice: Subdevice) {
    guard departed.contains(subdevice), keeper.isUp else { return }
    if let line = lines[subdevice], line.state != .online, isToComeOnline(line) { return }
    departed.remove(subdevice)
    guard lines[subdevice]?.state != .online else { return }
    request(
      topics.logout, .session, subdevice.json, about: [subdevice], for: .departure(subdevice),
      .codesAndSilence)
  }

  /// A sub-device is to be taken offline, for which something was waited for.
  /// - Returns: Whether that would end the session of its new line now.
  mutating func isOvertaken(departure subdevice: Subdevice) -> Bool {
    guard let line = lines[subdevice], line.state == .online || isToComeOnline(line) else {
      return false
    }
    departed.insert(subdevice)
    return true
  }

  /// A login that the cloud granted is of no use when it takes the session back at once.
  mutating func interruptLogin(
    of subdevice: Subdevice, _ event: LineEvent, _ error: GatewayError?
  ) {
    guard event == .sessionLost || event == .topologyLost,
      let line = lines[subdevice], let id = line.queue.first, let operation = operations[id],
      case .subscribing(let action, _, _) = operation.phase
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

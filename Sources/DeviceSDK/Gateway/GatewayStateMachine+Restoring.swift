import RepriseCore

/// Logging in again, by the gateway itself, what was online before the connection was lost.
extension GatewayStateMachine {
  /// Begins with as many logins as may be on their way at one time.
  mutating func logInAgain() {
    var running = operations.values.count { $0.isAutomatic }
    while running < configuration.limits.concurrentLogins, !loginsToCome.isEmpty {
      let subdevice = loginsToCome.removeFirst()
      guard let line = lines[subdevice], line.wantsOnline, line.state != .online else {
        noteRestoring(of: subdevice)
        continue
      }
      running += 1
      enqueueLogin(of: subdevice)
    }
  }

  private mutating func enqueueLogin(of subdevice: Subdevice) {
    enqueue(
      LineOperation(
        kind: .logIn, subdevices: [subdevice], isBatch: false, isAutomatic: true, waiters: []))
  }

  /// Returns when a login may be sent that nobody asked for, if that is not now.
  func pauseBeforeLogin(_ operation: LineOperation) -> Timestamp? {
    let limit = configuration.limits.loginsPerMinute
    let until = operation.subdevices.compactMap { subdevice -> Timestamp? in
      guard let logins = lines[subdevice]?.logins, logins.count >= limit else { return nil }
      return logins[logins.count - limit].advanced(by: .seconds(60))
    }
    return until.max().flatMap { $0 > time ? $0 : nil }
  }

  /// A login is being sent.
  mutating func noteLogin(_ operation: LineOperation) {
    let limit = configuration.limits.loginsPerMinute
    for subdevice in operation.subdevices {
      let logins = (lines[subdevice]?.logins ?? []) + [time]
      lines[subdevice]?.logins = logins.suffix(limit)
    }
    if operation.isAutomatic { counted.automaticLogins += 1 }
  }

  /// An automatic login takes longer than a reply does: the report of the connection goes without it.
  mutating func noteDelay(of id: OperationID) {
    guard let operation = operations[id], operation.isAutomatic else { return }
    for subdevice in operation.subdevices { noteRestoring(of: subdevice) }
  }

  /// A line could not be brought back; where the cloud has said no, it is left in peace.
  mutating func noteFailedLogin(_ operation: LineOperation, _ error: GatewayError) {
    guard keeper.isUp else { return }
    for subdevice in operation.subdevices {
      if error.cloudCode != nil { lines[subdevice]?.wantsOnline = false }
      if !wasTold(of: subdevice) { tellChange(of: subdevice, error) }
    }
  }

  /// Whether the code that made a login fail has changed the line just now.
  private func wasTold(of subdevice: Subdevice) -> Bool {
    outputs.contains { output in
      if case .tell(.changeLine(let change)) = output {
        change.subdevice == subdevice
      } else {
        false
      }
    }
  }

  mutating func noteAutomaticEnd(_ operation: LineOperation) {
    for subdevice in operation.subdevices { noteRestoring(of: subdevice) }
    if keeper.isUp { logInAgain() }
  }

  /// A line is back, or will not be soon; the last one makes the gateway connected.
  mutating func noteRestoring(of subdevice: Subdevice) {
    guard restoring.remove(subdevice) != nil, restoring.isEmpty else { return }
    reportConnected()
  }
}

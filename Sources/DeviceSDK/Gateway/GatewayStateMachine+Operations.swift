import RepriseCore

/// Adding and deleting topology, logging in and out: one thing after the other on each line.
extension GatewayStateMachine {
  mutating func operate(
    _ kind: LineCall, _ subdevices: [Subdevice], isBatch: Bool, _ id: CallID
  ) {
    guard isConnected(for: id) else { return }
    if let missing = subdevices.first(where: { lines[$0] == nil }) {
      return fail(id, Self.noLine(missing))
    }
    var wanted: [Subdevice] = []
    for subdevice in subdevices where !wanted.contains(subdevice) { wanted.append(subdevice) }
    if kind == .logIn {
      wanted.removeAll { lines[$0]?.state == .online && lines[$0]?.queue.isEmpty == true }
      guard hasRoom(for: wanted, id) else { return }
    }
    guard !wanted.isEmpty else { return complete(id) }
    let size = kind.limit(configuration.limits)
    let parts = stride(from: 0, to: wanted.count, by: size).map {
      Array(wanted[$0..<min($0 + size, wanted.count)])
    }
    calls[id] = .parts(Parts(left: parts.count))
    for part in parts {
      enqueue(
        LineOperation(
          kind: kind, subdevices: part, isBatch: isBatch, isAutomatic: false, waiters: [id]))
    }
  }

  private mutating func hasRoom(for subdevices: [Subdevice], _ id: CallID) -> Bool {
    let limit = configuration.limits.online
    let wanted = Set(subdevices)
    var others = Set(loginsToCome)
    // Those whose lines were closed while they were logged in are online in the cloud until it is told.
    for operation in operations.values { others.formUnion(operation.departed) }
    others.formUnion(departed)
    for request in requests.values {
      if case .departure(let subdevice) = request.purpose, !request.isSent {
        others.insert(subdevice)
      }
    }
    for (subdevice, line) in lines where line.state == .online || isToComeOnline(line) {
      others.insert(subdevice)
    }
    others.subtract(wanted)
    guard others.count + wanted.count > limit else { return true }
    fail(
      id,
      GatewayError(
        .client,
        "\(limit) sub-devices can be online; \(others.count) others are, or are coming online"))
    return false
  }

  /// Whether a line is being logged in, or will be.
  func isToComeOnline(_ line: Line) -> Bool {
    line.queue.contains { operations[$0]?.kind == .logIn }
  }

  // MARK: Taking turns

  mutating func enqueue(_ operation: LineOperation) {
    if operation.subdevices.count == 1, let subdevice = operation.subdevices.first {
      if join(operation, subdevice) { return }
      if operation.kind == .logOut || operation.kind == .deleteTopology {
        dropUnsentLogin(of: subdevice)
      }
    }
    lastOperation += 1
    let id = OperationID(rawValue: lastOperation)
    operations[id] = operation
    for subdevice in operation.subdevices { lines[subdevice]?.queue.append(id) }
    begin(id)
  }

  /// Waits for the same operation that is the line's last already; false when it is another.
  private mutating func join(_ operation: LineOperation, _ subdevice: Subdevice) -> Bool {
    guard let last = lines[subdevice]?.queue.last, let other = operations[last],
      other.kind == operation.kind, other.subdevices == operation.subdevices
    else { return false }
    operations[last]?.waiters += operation.waiters
    return true
  }

  /// A line that goes offline does not wait for a login that the cloud does not know of yet.
  private mutating func dropUnsentLogin(of subdevice: Subdevice) {
    guard let last = lines[subdevice]?.queue.last, let operation = operations[last],
      operation.kind == .logIn, operation.subdevices == [subdevice],
      operation.isUnsent || isPausing(operation)
    else { return }
    finish(last, .failure(GatewayError(.client, "the sub-device was taken offline meanwhile")))
  }

  private func isPausing(_ operation: LineOperation) -> Bool {
    guard case .requesting(let id) = operation.phase, case .pausing = requests[id]?.phase else {
      return false
    }
    return true
  }

  /// Begins with an operation if it is its turn on all of its lines.
  mutating func begin(_ id: OperationID) {
    guard let operation = operations[id], case .queued = operation.phase,
      operation.subdevices.allSatisfy({ lines[$0]?.queue.first == id })
    else { return }
    guard keeper.isUp else { return finish(id, .failure(Self.notConnected)) }
    if operation.isAutomatic, let pause = pauseBeforeLogin(operation) {
      operations[id]?.phase = .pacing
      return deadlines.set(pause, for: .operation(id))
    }
    guard operation.kind.needsSignature else { return send(id) }
    let accesses = operation.subdevices.compactMap { lines[$0]?.connection }
    operations[id]?.phase = .opening(Set(accesses))
    for access in accesses { self.accesses[access]?.operations.append(id) }
    for access in accesses { open(access) }
  }

  mutating func noteOpened(_ connection: ConnectionID, for id: OperationID) {
    guard case .opening(var left) = operations[id]?.phase else { return }
    left.remove(connection)
    operations[id]?.phase = .opening(left)
    if left.isEmpty { send(id) }
  }

  mutating func expire(_ id: OperationID) {
    switch operations[id]?.phase {
    case .pacing:
      operations[id]?.phase = .queued
      begin(id)
    case .subscribing: noteLineSubscribed(id, refused: "it was not answered in time")
    case .queued, .opening, .requesting, nil: break
    }
  }

  // MARK: Asking the cloud

  mutating func send(_ id: OperationID) {
    guard let operation = operations[id] else { return }
    let (topic, envelope, params) = form(of: operation)
    if operation.kind == .logIn { noteLogin(operation) }
    let request = request(
      topic, envelope, params, about: operation.subdevices, for: .operation(id),
      operation.isAutomatic ? .codesAndSilence : .codes)
    // It may have failed already.
    if operations[id] != nil { operations[id]?.phase = .requesting(request) }
  }

  func form(
    of operation: LineOperation
  ) -> (topic: String, GatewayEnvelope, params: JSONValue) {
    let names = operation.subdevices.map(\.json)
    let isSingle = !operation.isBatch
    switch operation.kind {
    case .addTopology:
      let infos = operation.subdevices.compactMap { lines[$0]?.info }
      return (
        topics.addTopology, .thing(method: "thing.topo.add"),
        .array(infos.map { .object($0.members(methodKey: "signmethod")) })
      )
    case .deleteTopology:
      return (topics.deleteTopology, .thing(method: "thing.topo.delete"), .array(names))
    case .logIn:
      let logins = operation.subdevices.compactMap { lines[$0]?.info }.map { info in
        JSONValue.object(
          info.members(methodKey: "signMethod") + [
            JSONMember("cleanSession", configuration.receivesOfflineMessages ? "false" : "true")
          ])
      }
      if isSingle, let login = logins.first { return (topics.login, .session, login) }
      return (topics.batchLogin, .session, .object([JSONMember("deviceList", .array(logins))]))
    case .logOut:
      if isSingle, let name = names.first { return (topics.logout, .session, name) }
      return (topics.batchLogout, .session, .array(names))
    }
  }

  mutating func noteAnswer(
    to id: OperationID, _ result: Result<GatewayReply, GatewayError>
  ) {
    guard let operation = operations[id] else { return }
    switch result {
    case .failure(let error): finish(id, .failure(error))
    case .success(let reply):
      guard operation.kind == .logIn, let filters = filters(for: operation) else {
        return finish(id, result)
      }
      let action = ask(for: filters, for: .subscribeLine(id))
      operations[id]?.phase = .subscribing(action, filters, reply)
      setTimer(.operation(id), in: configuration.callTimeout)
    }
  }

  /// What sub-devices that come online are subscribed to; nil when it is nothing.
  private func filters(for operation: LineOperation) -> [String]? {
    var filters: [String] = []
    for subdevice in operation.subdevices {
      if configuration.subscribesToCommands { filters += GatewayTopics.commands(of: subdevice) }
      filters += wishes.filters(of: .line(subdevice)).filter { !filters.contains($0) }
    }
    return filters.isEmpty ? nil : filters
  }

  /// Whose the filters of the commands are.
  private static func commanded(_ subdevices: [Subdevice]) -> [String: Subdevice] {
    Dictionary(
      subdevices.flatMap { subdevice in
        GatewayTopics.commands(of: subdevice).map { ($0, subdevice) }
      }, uniquingKeysWith: { first, _ in first })
  }

  /// The subscriptions of lines that come online are answered.
  /// - Parameters:
  ///   - id: The login.
  ///   - granted: What SUBACK says of each filter.
  ///   - given: Those of the filters that have not been taken back since.
  mutating func noteLineGranted(
    _ id: OperationID, _ granted: [QoS?], given: Set<String>
  ) {
    guard let operation = operations[id],
      case .subscribing(_, let filters, let reply) = operation.phase
    else {
      return takeOver(given)
    }
    // Once for all of them: a batch has many lines, and five filters of each.
    let commanded =
      configuration.subscribesToCommands ? Self.commanded(operation.subdevices) : [:]
    for (filter, qos) in zip(filters, granted) {
      guard qos != nil else {
        log(.warning, .subscription, "the cloud does not grant \(filter)")
        continue
      }
      guard given.contains(filter) else { continue }
      grants.insert(filter, of: nil)
      if let subdevice = commanded[filter] { grants.insert(filter, of: .line(subdevice)) }
      let owners = wishes.owners(of: filter)
      guard !owners.isEmpty else { continue }
      for subdevice in operation.subdevices where owners.contains(.line(subdevice)) {
        grants.insert(filter, of: .line(subdevice))
      }
    }
    finish(id, .success(reply))
    // Those of a line that was closed meanwhile.
    release(filters)
  }

  /// The lines are online all the same; who needs what was not granted sees it in the log.
  mutating func noteLineSubscribed(_ id: OperationID, refused reason: String) {
    log(.warning, .subscription, "a sub-device's subscription failed: \(reason)")
    guard case .subscribing(_, _, let reply) = operations[id]?.phase else { return }
    finish(id, .success(reply))
  }

  // MARK: Ending

  mutating func finish(_ id: OperationID, _ result: Result<GatewayReply, GatewayError>) {
    guard let operation = operations.removeValue(forKey: id) else { return }
    deadlines.set(nil, for: .operation(id))
    if case .requesting(let request) = operation.phase { abandon(request) }
    leaveAccesses(id, operation)
    for subdevice in operation.subdevices { lines[subdevice]?.queue.removeAll { $0 == id } }
    switch result {
    case .success(let reply):
      for subdevice in operation.subdevices {
        apply(operation.kind.event, to: subdevice)
        if operation.kind == .logIn { setDisabled(false, subdevice) }
      }
      if let error = operation.error {
        for waiter in operation.bereft { notePart(of: waiter, .failure(error)) }
      }
      for waiter in operation.waiters { notePart(of: waiter, .success(reply)) }
      departed.formUnion(operation.departed)
    case .failure(let error):
      if operation.isAutomatic { noteFailedLogin(operation, error) }
      for waiter in operation.bereft + operation.waiters { notePart(of: waiter, .failure(error)) }
      let isGranted = if case .subscribing = operation.phase { true } else { false }
      // Without a code nobody knows what the cloud has done.
      if isGranted || error.cloudCode == nil { departed.formUnion(operation.departed) }
    }
    for subdevice in operation.subdevices + operation.departed { settleDeparture(of: subdevice) }
    if operation.isAutomatic { noteAutomaticEnd(operation) }
    for subdevice in operation.subdevices {
      if let next = lines[subdevice]?.queue.first { begin(next) }
    }
  }

  private mutating func leaveAccesses(_ id: OperationID, _ operation: LineOperation) {
    guard case .opening = operation.phase else { return }
    for connection in operation.subdevices.compactMap({ lines[$0]?.connection }) {
      accesses[connection]?.operations.removeAll { $0 == id }
      giveUpOpeningForNobody(connection)
    }
  }
}

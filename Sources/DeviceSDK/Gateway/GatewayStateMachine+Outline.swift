import RepriseCore

extension GatewayStateMachine: OutlinedMachine {
  package var outline: MachineOutline {
    var outline = MachineOutline()
    outline.add("state", isStarted ? "started" : "stopped")
    outline.add(keeper.link)
    for (subdevice, line) in lines.sorted(by: { $0.key < $1.key }) {
      let disabled = line.isDisabled ? ", disabled" : ""
      let waiting = line.queue.isEmpty ? "" : ", \(line.queue.count) to be done"
      outline.add("line", "\(subdevice): \(line.state.rawValue)\(disabled)\(waiting)")
    }
    for filter in grants.filters.sorted() { outline.add("subscribed", filter) }
    for (id, operation) in operations.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      outline.add(
        "operation \(id.rawValue)", operation.outline,
        until: deadlines.deadline(of: .operation(id)))
    }
    for (id, request) in requests.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      outline.add(
        "request \(id.rawValue)", request.outline, until: deadlines.deadline(of: .request(id)))
    }
    outline.add(calls: openCalls, \.outline) { deadlines.deadline(of: .call($0)) }
    for connection in accesses.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let until = deadlines.deadline(of: .opening(connection)) else { continue }
      outline.add("opening \(connection.rawValue)", "waits for a sub-device's name", until: until)
    }
    if let until = deadlines.deadline(of: .restoring) {
      outline.add("restoring", "\(restoring.count) lines are logged in again", until: until)
    }
    return outline
  }
}

extension LineOperation {
  /// What it is about and waits for, in words.
  fileprivate var outline: String {
    let names = subdevices.map(\.description).joined(separator: ", ")
    let what = "\(kind.rawValue) \(names)"
    switch phase {
    case .queued: return "\(what): others come first"
    case .pacing: return "\(what): waits, so that there are not too many logins in a minute"
    case .opening(let connections):
      return "\(what): \(connections.count) have not said yet who they are"
    case .requesting(let id): return "\(what): waits for request \(id.rawValue)"
    case .subscribing(_, let filters, _):
      return "\(what): waits for the SUBACK of \(filters.joined(separator: ", "))"
    }
  }
}

extension OpenRequest {
  /// What it waits for, in words.
  fileprivate var outline: String {
    let tries = attempt > 0 ? ", \(attempt) \(attempt == 1 ? "try" : "tries") before" : ""
    switch phase {
    case .subscribing: return "waits for the SUBACK of \(replyTopic)\(tries)"
    case .waiting(let id): return "waits for the reply \(id) on \(replyTopic)\(tries)"
    case .pausing: return "\(topic): the next try comes later\(tries)"
    }
  }
}

extension GatewayStateMachine.OpenCall {
  /// What it waits for, in words.
  fileprivate var outline: String {
    switch self {
    case .starting: "start: waits for the connection"
    case .stopping: "stop: waits for the end of the connection"
    case .settingUp: "set up: waits until the sub-device has said who it is"
    case .publishing: "publish: waits until it is sent"
    case .subscribing(let one):
      "subscribe \(one.filter): waits for its SUBACK" + (one.isWithdrawn ? ", withdrawn" : "")
    case .unsubscribing: "unsubscribe: waits for its UNSUBACK"
    case .sweeping: "find retained messages: waits for the end of them"
    case .requesting(let id): "waits for request \(id.rawValue)"
    case .parts(let parts):
      "waits for \(parts.left) \(parts.left == 1 ? "request or operation" : "requests or operations")"
    }
  }
}

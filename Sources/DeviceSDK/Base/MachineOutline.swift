package import RepriseCore

/// How a machine is, in words, for who looks at it from outside.
package struct MachineOutline: Sendable, Hashable {
  /// One thing to be told.
  package struct Entry: Sendable, Hashable {
    /// What it is: `connection`, `call`, `subscribed`.
    package var name: String
    /// How it is.
    package var value: String
    /// When it is over, if it waits.
    package var until: Timestamp?
  }

  /// What is to be told, the most important first.
  package private(set) var entries: [Entry] = []

  /// What is told of this one and of another one.
  package func joined(with other: MachineOutline) -> MachineOutline {
    var copy = self
    copy.entries += other.entries
    return copy
  }

  mutating func add(_ name: String, _ value: String, until: Timestamp? = nil) {
    entries.append(Entry(name: name, value: value, until: until))
  }

  /// Tells each of the calls that are not completed, with what it waits for.
  mutating func add<Call>(
    calls: [(CallID, Call)], _ words: (Call) -> String, until: (CallID) -> Timestamp?
  ) {
    for (id, call) in calls { add("call \(id.rawValue)", words(call), until: until(id)) }
  }

  mutating func add(_ link: ConnectionKeeper.Link) {
    let (words, until) = link.outline
    add("connection", words, until: until)
  }
}

/// A machine that can be looked at.
package protocol OutlinedMachine: StateMachine {
  /// How it is.
  var outline: MachineOutline { get }
}

extension ConnectionKeeper.Link {
  /// What it is in words, and when it is over.
  fileprivate var outline: (String, Timestamp?) {
    switch self {
    case .idle: ("none", nil)
    case .identifying: ("waits for an identity", nil)
    case .connecting(let until): ("CONNECT was sent", until)
    case .restoring(let until): ("accepted, subscriptions are restored", until)
    case .open: ("open", nil)
    case .backingOff(let until): ("lost, the next try comes later", until)
    case .closing(let until, let reason):
      (reason == nil ? "DISCONNECT was sent" : "closed, to be opened again", until)
    case .ended: ("over", nil)
    }
  }
}

extension ChannelStateMachine: OutlinedMachine {
  package var outline: MachineOutline {
    var outline = MachineOutline()
    outline.add("state", "\(state)")
    outline.add(keeper.link)
    outline.add("account", account.rawValue)
    if let clientID { outline.add("client", clientID) }
    for grant in grants { outline.add("subscribed", "\(grant.filter) for \(grant.owner)") }
    outline.add(calls: openCalls, \.outline) { deadlines.deadline(of: $0) }
    return outline
  }
}

extension OpenCall {
  /// What it waits for, in words.
  fileprivate var outline: String {
    switch self {
    case .starting: "start: waits for the connection"
    case .stopping: "stop: waits for the end of the connection"
    case .publishing: "publish: waits until it is sent"
    case .subscribing(let filter): "subscribe \(filter): waits for its SUBACK"
    case .unsubscribing: "unsubscribe: waits for its UNSUBACK"
    case .sweeping: "find retained messages: waits for the end of them"
    case .invoking(let invocation): invocation.outline
    }
  }
}

extension OpenInvocation {
  fileprivate var outline: String {
    let name = purpose == .binding ? "bind" : "invoke"
    let tries = attempt > 0 ? ", \(attempt) \(attempt == 1 ? "try" : "tries") before" : ""
    switch phase {
    case .subscribing: return "\(name): waits for the SUBACK of \(replyTopic)\(tries)"
    case .waiting(let id): return "\(name): waits for the reply \(id) on \(replyTopic)\(tries)"
    case .pausing: return "\(name): the next try comes later\(tries)"
    }
  }
}

extension RequestStateMachine: OutlinedMachine {
  package var outline: MachineOutline {
    var outline = MachineOutline()
    outline.add(keeper.link)
    if isLoggingIn { outline.add("login", "waits for its answer") }
    if let nextHeartbeat { outline.add("heartbeat", "the next", until: nextHeartbeat) }
    for id in pending.keys.sorted() {
      outline.add(
        "call \(id.rawValue)", "request: waits for its answer", until: deadlines.deadline(of: id))
    }
    return outline
  }
}

extension MessageLinkMachine: OutlinedMachine {
  package var outline: MachineOutline {
    var outline = MachineOutline()
    outline.add("state", "\(state)")
    session.add(to: &outline)
    for (channel, features) in channels.sorted(by: { $0.key < $1.key }) {
      let users = states.sent(in: channel)
      outline.add("subscribed", "\(channel), \(features.outline)\(users)")
    }
    for channel in streams.sorted() { outline.add("stream", channel) }
    outline.add(calls: openCalls, \.outline) { deadlines.deadline(of: $0) }
    outline.add(tokenTimes, ofToken: !token.isEmpty)
    guard state != .connected else { return outline }
    if let retryTime { outline.add("timer", "the next try", until: retryTime) }
    if let limit { outline.add("timer", "it gives up, for \(limit.trigger)", until: limit.time) }
    return outline
  }
}

extension StreamLinkMachine: OutlinedMachine {
  package var outline: MachineOutline {
    var outline = MachineOutline()
    outline.add("state", "\(state)")
    outline.add("channel", channel + states.sent(in: channel))
    session.add(to: &outline)
    for topic in topics.joined.keys.sorted() { outline.add("joined", topic) }
    for source in topics.sources.sorted() {
      outline.add("subscribed", "\(source.user) in \(source.topic)")
    }
    outline.add(calls: openCalls, \.outline) { deadlines.deadline(of: $0) }
    outline.add(tokenTimes, ofToken: !token.isEmpty)
    guard state == .connecting else { return outline }
    if let retryTime {
      outline.add("timer", "the next try, \(attempts) before", until: retryTime)
    }
    if let giveUpTime { outline.add("timer", "it gives up", until: giveUpTime) }
    return outline
  }
}

extension MachineOutline {
  fileprivate mutating func add(_ times: TokenTimes?, ofToken isThere: Bool) {
    guard let times, isThere else { return }
    add("token", times.next == nil ? "told to be ending" : "valid", until: times.expires)
  }
}

extension LinkSession {
  /// Tells how the connection is, and what was asked and not answered.
  fileprivate func add(to outline: inout MachineOutline) {
    switch phase {
    case .none: outline.add("connection", "none")
    case .connecting(_, let until): outline.add("connection", "CONNECT was sent", until: until)
    case .subscribing(_, let until):
      outline.add("connection", "accepted, waits for the SUBACK of its topics", until: until)
    case .greeting(_, _, let until):
      outline.add("connection", "says who it is, waits for the server's answer", until: until)
    case .open: outline.add("connection", "open")
    case .closing(let closing):
      let isReopened = closing.reopensUntil != nil
      outline.add(
        "connection", isReopened ? "closed, to be opened again" : "DISCONNECT was sent",
        until: closing.until ?? closing.reopensUntil)
    case .ended: outline.add("connection", "over")
    }
    guard case .open = phase, let heartbeat else { return }
    let open = heartbeat.unanswered
    let words = open == 0 ? "the next" : "\(open) without an answer"
    outline.add("heartbeat", words, until: heartbeat.deadline)
  }
}

extension LinkSubscribeFeatures {
  fileprivate var outline: String {
    let all: [(LinkSubscribeFeatures, String)] = [
      (.presence, "presence"), (.message, "messages"), (.beQuiet, "quiet"),
    ]
    let names = all.filter { contains($0.0) }.map(\.1)
    return names.isEmpty ? "nothing of it" : names.joined(separator: ", ")
  }
}

extension TemporaryStates {
  /// The user's states in a channel, behind its name.
  fileprivate func sent(in channel: String) -> String {
    let own = self[channel].sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
    return own.isEmpty ? "" : ": " + own.joined(separator: " ")
  }
}

extension MessageLinkMachine.OpenCall {
  /// What it waits for, in words.
  fileprivate var outline: String {
    switch self {
    case .login: "log in: waits until the link is connected"
    case .logout: "log out: waits for the end of the connection"
    case .renewing: "renew the token: waits for the server"
    case .subscribing(let one): "subscribe \(one.channel): \(one.outline)"
    case .unsubscribing: "unsubscribe: waits for its UNSUBACK"
    case .publishing: "publish: waits until the broker has it"
    case .changingStates(let one):
      "change states in \(one.channel): waits for "
        + (one.isHeld ? "the answer to its subscription" : "the server")
    }
  }
}

extension MessageLinkMachine.Subscribing {
  /// What it waits for, in words.
  fileprivate var outline: String {
    if isQueued { return "another subscription to it comes first" }
    if !isAsked { return "waits for its SUBACK" }
    if !isTakenIn { return "waits for the server" }
    return hasSnapshot ? "is there" : "waits for the list of users" + (isLate ? ", late" : "")
  }
}

extension StreamLinkMachine.OpenCall {
  /// What it waits for, in words.
  fileprivate var outline: String {
    switch self {
    case .join: "join: waits until the link is connected"
    case .leave: "leave: waits for the end of the connection"
    case .renewing: "renew the token: waits for the server"
    case .changingStates: "change states: waits for the server"
    case .joiningTopic(let topic, _): "join topic \(topic): waits for the server"
    case .leavingTopic: "leave a topic: waits for the server"
    case .publishing: "publish in a topic: waits until the broker has it"
    case .subscribingTopic(let sources):
      "subscribe to \(sources.sorted().map { "\($0.user) in \($0.topic)" }.joined(separator: ", ")): "
        + "waits for its SUBACK"
    case .unsubscribingTopic: "unsubscribe in a topic: waits for its UNSUBACK"
    }
  }
}

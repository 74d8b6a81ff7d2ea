import DeviceSDK
import RepriseCore

/// What a plan has to know of a session of a link, gathered in one walk through it.
struct RecordedLinkSession: Sendable {
  /// What the recorded client did; the place in the list is its number.
  private(set) var actions: [ClientAction.Kind] = []
  /// When it connected, and the number of that action.
  private var connects: [(time: Timestamp, ordinal: Int)] = []
  /// How the temporary states differ from those before, by the number of the PUBLISH that has them.
  private(set) var stateChanges: [Int: [String: String?]] = [:]
  /// Whether the session ends while its last connection is open.
  private(set) var breaksOff = false
  /// The states of each channel as they were sent last; that of a stream channel has no name.
  private var states: [String: [String: String]] = [:]

  init(_ dialogue: ReplayDialogue) {
    for step in dialogue {
      switch step.content {
      case .action(let action):
        if case .connect = action.kind { connects.append((step.place.time, actions.count)) }
        actions.append(action.kind)
        take(action.kind)
      case .event(.closed): breaksOff = false
      case .event: continue
      }
    }
  }

  private mutating func take(_ kind: ClientAction.Kind) {
    if case .connect = kind { breaksOff = true }
    guard case .publish(let message) = kind, let verb = verb(of: message).flatMap(LinkVerb.init),
      let request = JSONValue(parsing: message.payload)
    else { return }
    let channel = request["channel"]?.text ?? ""
    switch verb {
    case .state, .subscribe: noteStates(request.recordedStates, of: channel)
    case .unsubscribe: states[channel] = nil
    case .logout, .leave: states = [:]
    case .login, .join, .renew, .joinTopic, .leaveTopic: return
    }
  }

  private mutating func noteStates(_ new: [String: String], of channel: String) {
    var changes: [String: String?] = [:]
    for (key, value) in new where states[channel]?[key] != value {
      changes.updateValue(value, forKey: key)
    }
    for key in (states[channel] ?? [:]).keys where new[key] == nil {
      changes.updateValue(nil, forKey: key)
    }
    states[channel] = new
    stateChanges[actions.count - 1] = changes
  }

  // MARK: Looking ahead

  /// What a message asks the server for; nil when it is a message of a channel.
  func verb(of message: Message) -> String? {
    let levels = message.topic.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.count >= 7, levels[levels.count - 2] == "up", levels[2] != "channel" else {
      return nil
    }
    return levels.last.map(String.init)
  }

  /// The greeting that follows an action on the next connection.
  func greeting(after ordinal: Int) -> JSONValue? {
    request(where: { $0 == .login || $0 == .join }, after: ordinal)?.value
  }

  // MARK: The next connection

  /// Returns the first connection that is begun at a time or later; nil when there is none.
  /// - Parameter time: The time.
  /// - Returns: How it begins.
  func beginning(from time: Timestamp) -> RecordedLinkBeginning? {
    var (low, high) = (0, connects.count)
    while low < high {
      let middle = (low + high) / 2
      if connects[middle].time < time { low = middle + 1 } else { high = middle }
    }
    return low < connects.count ? beginning(of: low) : nil
  }

  /// Returns how the connection begins that follows an action.
  func beginning(after ordinal: Int) -> RecordedLinkBeginning? {
    connects.firstIndex { $0.ordinal > ordinal }.flatMap { beginning(of: $0) }
  }

  /// How a connection begins; nil for one that ends before the link says who it is.
  private func beginning(of index: Int) -> RecordedLinkBeginning? {
    let next = index + 1 < connects.count ? connects[index + 1].ordinal : actions.count
    var filters: [String]?
    for number in connects[index].ordinal..<next {
      switch actions[number] {
      case .subscribe(let wanted): filters = filters ?? wanted.map(\.filter)
      case .publish(let message):
        guard let verb = verb(of: message).flatMap(LinkVerb.init), verb == .login || verb == .join
        else { continue }
        return RecordedLinkBeginning(
          filters: filters ?? [], greeting: JSONValue(parsing: message.payload) ?? .null)
      default: continue
      }
    }
    return nil
  }

  /// Whether a link that had failed came back with what it had had.
  var restoresAfterFailure: Bool {
    connects.indices.dropFirst().contains { index in
      beginning(of: index).map { $0.isFresh && $0.hasRestored } ?? false
    }
  }

  // MARK: Requests

  /// The request for a channel that follows an action.
  func request(
    _ verb: LinkVerb, channel: String, after ordinal: Int
  ) -> (ordinal: Int, value: JSONValue)? {
    var last = ordinal
    while let found = request(where: { $0 == verb }, after: last) {
      if found.value["channel"]?.text == channel { return found }
      last = found.ordinal
    }
    return nil
  }

  private func request(
    where isMeant: (LinkVerb) -> Bool, after ordinal: Int
  ) -> (ordinal: Int, value: JSONValue)? {
    for number in actions.indices where number > ordinal {
      guard case .publish(let message) = actions[number],
        let verb = verb(of: message).flatMap(LinkVerb.init), isMeant(verb)
      else { continue }
      return (number, JSONValue(parsing: message.payload) ?? .null)
    }
    return nil
  }

  /// How a topic is joined, as its messages show; as most are if it has none.
  func qos(of topic: String) -> LinkTopicQoS {
    for action in actions {
      guard case .publish(let message) = action,
        LinkChannelTopics.parseTopic(message.topic)?.topic == topic
      else { continue }
      return message.qos == .atMostOnce ? .unordered : .ordered
    }
    return .unordered
  }

  /// The token that is shown next.
  func token(after ordinal: Int) -> String { greeting(after: ordinal)?["token"]?.text ?? "" }

  /// Whether the token that is shown next is another than the one that was shown, or renewed, last.
  func showsNewToken(after ordinal: Int) -> Bool {
    var last: String?
    for number in actions.indices where number < ordinal {
      guard case .publish(let message) = actions[number],
        let verb = verb(of: message).flatMap(LinkVerb.init),
        verb == .login || verb == .renew
      else { continue }
      last = JSONValue(parsing: message.payload)?["token"]?.text
    }
    guard let next = greeting(after: ordinal)?["token"]?.text else { return false }
    return last != nil && last != next
  }

  /// Whether the action behind one opens a connection.
  func connectsNext(after ordinal: Int) -> Bool {
    guard actions.indices.contains(ordinal + 1), case .connect = actions[ordinal + 1] else {
      return false
    }
    return true
  }
}

extension JSONValue {
  /// The temporary states of a request.
  fileprivate var recordedStates: [String: String] {
    guard case .object(let members)? = self["states"] else { return [:] }
    return members.reduce(into: [:]) { if let text = $1.value.text { $0[$1.key] = text } }
  }
}

package import DeviceSDK
package import RepriseCore

/// Writes what a link does as lines, without what is another with every app.
///
/// `{up}` and `{down}` stand for what a link sends to and what it receives from, `{channels}` for the
/// channels of its kind, `{app}` for the app's identifier, and `#1` for the id of the first request.
package struct LinkText: Sendable {
  private let app: String
  private let prefixes: [(name: String, prefix: String)]
  private var requests = RequestNames()

  /// Creates the text of a link.
  /// - Parameter settings: Whose link it is.
  package init(_ settings: LinkSettings) {
    let configuration = settings.configuration
    app = configuration.appID
    let kind: LinkChannelType = settings.streamChannel == nil ? .message : .stream
    let topics =
      settings.streamChannel.map { LinkTopics(stream: $0, configuration) }
      ?? LinkTopics(message: configuration)
    prefixes = [
      ("{up}", topics.base + "/up"), ("{down}", topics.base + "/down"),
      ("{channels}", "link/\(configuration.appID)/channel/\(kind)"),
    ]
  }

  // MARK: Topics

  /// Returns a topic with names in the place of prefixes.
  private func shorten(_ topic: String) -> String {
    for (name, prefix) in prefixes where topic.hasPrefix(prefix + "/") {
      return name + topic.dropFirst(prefix.count)
    }
    return topic
  }

  /// Returns a topic with prefixes in the place of names.
  /// - Parameter topic: The topic as scenarios write it.
  /// - Returns: The topic as the wire has it.
  package func lengthen(_ topic: String) -> String {
    for (name, prefix) in prefixes where topic.hasPrefix(name + "/") {
      return prefix + topic.dropFirst(name.count)
    }
    return topic
  }

  // MARK: Actions

  /// Returns the line of an action.
  package mutating func line(_ action: ClientAction) -> String {
    switch action.kind {
    case .connect(let options): line(options)
    case .subscribe(let wanted):
      "SUBSCRIBE " + wanted.map { shorten($0.filter) }.joined(separator: " ")
    case .unsubscribe(let filters):
      "UNSUBSCRIBE " + filters.map(shorten).joined(separator: " ")
    case .publish(let message):
      "PUBLISH \(shorten(message.topic)) \(naming(message.payload))"
    case .send(let request): "SEND \(request.path)"
    case .sendText(let text): "TEXT \(text)"
    case .sendBinary(let bytes): "BINARY \(bytes.count)"
    case .disconnect: "DISCONNECT"
    }
  }

  private func line(_ options: ConnectOptions) -> String {
    let will = options.will.map { " will \(shorten($0.topic))" } ?? ""
    return "CONNECT \(options.username ?? "-") keep-alive \(options.keepAlive)\(will)"
  }

  // MARK: What the application is told

  /// Returns the line of what the application was told.
  package static func line(_ effect: LinkEffect) -> String {
    switch effect {
    case .changeState(let event): line(event)
    case .tellPresence(let event): line(event)
    case .deliver(let message):
      "message \(message.channel)\(message.topic.map { "/\($0)" } ?? "") \(message.publisher) "
        + text(message.payload)
    case .tellTopics(let event):
      "topics \(event.channel) \(event.kind)" + list("", event.topics.map(line))
    case .warnOfToken(let event): "token ends soon \(event.channel ?? "-")"
    }
  }

  private static func line(_ event: LinkStateEvent) -> String {
    let service = event.service == .message ? "state" : "stream"
    let change = "\(service) \(event.previous) > \(event.current)"
    let unrestored = event.unrestored.map {
      "\($0.channel)\(states($0.states))" + ($0.topics.isEmpty ? "" : "[\(words($0.topics))]")
    }
    return "\(change) (\(event.operation), \(event.reason))" + list("of", event.affected)
      + list("without", unrestored) + (event.isResumed ? " resumed" : "")
  }

  private static func line(_ event: LinkPresenceEvent) -> String {
    let head = "presence \(event.channel) \(event.kind)"
    switch event.kind {
    case .snapshot: return head + list("", event.snapshot.map(line))
    case .interval:
      let interval = event.interval
      return head + list("joined", interval.joined) + list("left", interval.left)
        + list("timedOut", interval.timedOut) + list("states", interval.states.map(line))
    case .remoteJoinChannel, .remoteLeaveChannel, .remoteConnectionTimeout,
      .remoteStateChanged, .errorOutOfService:
      return head + (event.user.map { " \(line($0))" } ?? "")
    }
  }

  private static func line(_ topic: LinkTopicInfo) -> String {
    let users = topic.publishers.map { $0.userID + ($0.meta.isEmpty ? "" : ":\($0.meta)") }
    return "\(topic.name)(\(users.joined(separator: ",")))"
  }

  /// Topics that did not come back: one that was joined as its name, one that was subscribed to with the users.
  private static func words(_ topics: [UnrestoredTopic]) -> String {
    topics.flatMap { topic -> [String] in
      let joined = topic.wasJoined ? [topic.name] : []
      let users = topic.users.joined(separator: ",")
      return joined + (users.isEmpty ? [] : ["\(topic.name)(\(users))"])
    }.joined(separator: ",")
  }

  private static func line(_ user: LinkPresenceEvent.User) -> String {
    user.userID + states(user.states)
  }

  private static func states(_ states: [String: String]) -> String {
    guard !states.isEmpty else { return "" }
    return text(
      JSONValue.object(
        states.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) }
      ).utf8)
  }

  private static func list(_ name: String, _ words: [String]) -> String {
    guard !words.isEmpty else { return "" }
    return ([name] + words).filter { !$0.isEmpty }.map { " \($0)" }.joined()
  }

  /// Returns the line of a call that was completed.
  package static func line(_ name: String, _ result: Result<Void, any Error>) -> String {
    switch result {
    case .success: "\(name) ok"
    case .failure(let error as LinkError): "\(name) error \(error.code.rawValue)"
    case .failure(let error as DataClientError): "\(name) error \(error.code)"
    case .failure(let error): "\(name) error \(error)"
    }
  }

  // MARK: Payloads

  private static func text(_ payload: [UInt8]) -> String {
    payload.isEmpty ? "-" : String(decoding: payload, as: UTF8.self)
  }

  /// A payload of the link: its id has a name, and so has the app as a token.
  private mutating func naming(_ payload: [UInt8]) -> String {
    guard case .object(var members) = JSONValue(parsing: payload) else {
      return Self.text(payload)
    }
    for index in members.indices {
      switch (members[index].key, members[index].value.text) {
      case ("id", let id?): members[index].value = requests.name(id)
      case ("token", app): members[index].value = "{app}"
      default: break
      }
    }
    return Self.text(JSONValue.object(members).utf8)
  }

  /// Makes the payload of a message that the cloud sends.
  /// - Parameter value: What the step says: a text as it is, anything else as JSON, nil for nothing.
  /// - Returns: The payload, with ids in the place of their names.
  package func payload(_ value: JSONValue?) -> [UInt8] {
    guard let value else { return [] }
    if case .string(let text) = value { return Array(text.utf8) }
    return requests.replaced(in: value).utf8
  }
}

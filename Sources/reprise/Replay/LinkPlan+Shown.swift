import DeviceSDK
import RepriseCore
import SDKReplay

/// What both kinds of link have in common when they are shown.
protocol ShownLinkPlan: ShownPlan, LinkPlan where Machine.Failure == LinkError {}

extension MessageLinkPlan: ShownLinkPlan {}
extension StreamLinkPlan: ShownLinkPlan {}

extension ShownLinkPlan {
  static var system: String { "link" }
  static var callKeys: (subject: String, details: String) { ("channel", "details") }
  static func answer(in value: Void) -> ShownAnswer? { nil }

  static func members(of error: LinkError) -> [JSONMember] {
    [
      JSONMember("code", .number("\(error.code.rawValue)")),
      JSONMember("message", .string(error.message)),
    ]
  }

  static func members(of outcome: ReplayOutcome<Self>) -> [JSONMember] {
    [JSONMember("state", .string("\(outcome.ending)"))]
  }

  static func summary(of outcome: ReplayOutcome<Self>) -> (state: String, counts: String?) {
    ("\(outcome.ending)", nil)
  }

  // MARK: For people

  static func line(of effect: LinkEffect, in text: ObservationText) -> ShownLine {
    switch effect {
    case .changeState(let event):
      return ShownLine(name: "state", style: .state, fields: event.fields)
    case .tellPresence(let event):
      return ShownLine(
        name: "presence", style: .message, fields: [event.channel, "\(event.kind)"] + event.words)
    case .deliver(let message):
      let shown =
        text.redaction.topics.isEmpty
        ? message.text.map { "\"\($0)\"" } ?? "\(message.payload.count) bytes, no text"
          // A link does not tell on which topic a message came.
        : RedactionRules.mark
      return ShownLine(
        name: "message", style: .message,
        fields: [message.channel, message.topic, message.publisher, shown])
    case .tellTopics(let event):
      return ShownLine(
        name: "topics", style: .message,
        fields: [event.channel, "\(event.kind)"] + event.topics.map(\.words))
    case .warnOfToken(let event):
      return ShownLine(name: "token", style: .state, fields: ["ends at \(event.expires)"])
    }
  }

  // MARK: For programs

  static func members(of effect: LinkEffect, in json: ObservationJSON) -> [JSONMember] {
    switch effect {
    case .changeState(let event): return event.members
    case .tellPresence(let event): return event.members
    case .deliver(let message):
      return [
        JSONMember("type", "message"), JSONMember("channel", .string(message.channel)),
      ] + (message.topic.map { [JSONMember("topic", .string($0))] } ?? []) + [
        JSONMember("publisher", .string(message.publisher)),
        // A link does not tell on which topic a message came.
        JSONMember(
          "payload",
          json.redaction.topics.isEmpty
            ? json.value(of: message.payload) : .string(RedactionRules.mark)),
      ]
    case .tellTopics(let event): return event.members
    case .warnOfToken(let event):
      return [JSONMember("type", "token"), JSONMember("expires", .string("\(event.expires)"))]
    }
  }
}

extension LinkStateEvent {
  fileprivate var fields: [String?] {
    let missing = unrestored.map { $0.channel + $0.topicWords }.joined(separator: ", ")
    return [
      "\(previous) → \(current)", "\(operation)", "\(reason)", isResumed ? "resumed" : nil,
      affected.isEmpty ? nil : affected.joined(separator: ", "),
      missing.isEmpty ? nil : "without \(missing)", detail.isEmpty ? nil : detail,
    ]
  }

  fileprivate var members: [JSONMember] {
    let missing = unrestored.map { channel -> JSONValue in
      .object(
        [
          JSONMember("channel", .string(channel.channel)),
          JSONMember("states", JSONValue(states: channel.states)),
        ] + channel.topicMembers)
    }
    return [
      JSONMember("type", "state"), JSONMember("state", .string("\(current)")),
      JSONMember("previous", .string("\(previous)")),
      JSONMember("service", .string("\(service)")),
      JSONMember("operation", .string("\(operation)")),
      JSONMember("reason", .string("\(reason)")),
      JSONMember("affected", .array(affected.map { .string($0) })),
      JSONMember("unrestored", .array(missing)),
      JSONMember("isResumed", .bool(isResumed)),
    ]
  }
}

extension UnrestoredChannel {
  /// What is gone of the channel's topics, as words behind its name.
  fileprivate var topicWords: String {
    guard !topics.isEmpty else { return "" }
    let words = topics.map { topic in
      ([topic.wasJoined ? "\(topic.name) (joined)" : topic.name] + topic.users)
        .joined(separator: " ")
    }
    return " [\(words.joined(separator: "; "))]"
  }

  fileprivate var topicMembers: [JSONMember] {
    guard !topics.isEmpty else { return [] }
    let values = topics.map { topic -> JSONValue in
      [
        "topic": .string(topic.name), "wasJoined": .bool(topic.wasJoined),
        "users": .array(topic.users.map { .string($0) }),
      ]
    }
    return [JSONMember("topics", .array(values))]
  }
}

extension LinkTopicEvent {
  fileprivate var members: [JSONMember] {
    [
      JSONMember("type", "topics"), JSONMember("event", .string("\(kind)")),
      JSONMember("channel", .string(channel)), JSONMember("topics", .array(topics.map(\.value))),
    ]
  }
}

extension LinkTopicInfo {
  fileprivate var words: String {
    ([name] + publishers.map { $0.meta.isEmpty ? $0.userID : "\($0.userID)=\($0.meta)" })
      .joined(separator: " ")
  }

  fileprivate var value: JSONValue {
    let users = publishers.map { publisher -> JSONValue in
      ["user": .string(publisher.userID), "meta": .string(publisher.meta)]
    }
    return ["topic": .string(name), "publishers": .array(users)]
  }
}

extension LinkPresenceEvent {
  /// The users that it is about, with temporary states, as words.
  fileprivate var words: [String] {
    switch kind {
    case .snapshot: snapshot.map(\.words)
    case .interval:
      interval.joined.map { "+\($0)" } + interval.left.map { "-\($0)" }
        + interval.timedOut.map { "?\($0)" } + interval.states.map(\.words)
    case .remoteJoinChannel, .remoteLeaveChannel, .remoteConnectionTimeout, .remoteStateChanged,
      .errorOutOfService:
      user.map { [$0.words] } ?? []
    }
  }

  fileprivate var members: [JSONMember] {
    var members = [
      JSONMember("type", "presence"), JSONMember("event", .string("\(kind)")),
      JSONMember("channel", .string(channel)),
    ]
    if let user { members.append(JSONMember("user", user.value)) }
    if kind == .snapshot { members.append(JSONMember("users", .array(snapshot.map(\.value)))) }
    guard kind == .interval else { return members }
    return members + [
      JSONMember("joined", .array(interval.joined.map { .string($0) })),
      JSONMember("left", .array(interval.left.map { .string($0) })),
      JSONMember("timedOut", .array(interval.timedOut.map { .string($0) })),
      JSONMember("states", .array(interval.states.map(\.value))),
    ]
  }
}

extension LinkPresenceEvent.User {
  fileprivate var words: String {
    ([userID] + states.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }).joined(separator: " ")
  }

  fileprivate var value: JSONValue {
    ["user": .string(userID), "states": JSONValue(states: states)]
  }
}

extension JSONValue {
  fileprivate init(states: [String: String]) {
    self = .object(
      states.sorted { $0.key < $1.key }.map { JSONMember($0.key, .string($0.value)) })
  }
}

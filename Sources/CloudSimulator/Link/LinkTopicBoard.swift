import RepriseCore

/// Which users have joined which topic of which stream channel, and how the members of channels are told of it.
struct LinkTopicBoard: Sendable {
  /// What happened in a topic.
  enum Word: String, Sendable {
    case join, leave
  }

  /// What users said of themselves, by topic and user.
  private var channels: [LinkChannel: [String: [String: String]]] = [:]

  /// The topics of a channel that a user has joined, in order.
  func topics(of user: String, in channel: LinkChannel) -> [String] {
    (channels[channel] ?? [:]).filter { $0.value[user] != nil }.keys.sorted()
  }

  /// Takes a user in.
  /// - Returns: Whether that is new, or the user says something else of itself.
  mutating func enter(
    _ topic: String, _ user: String, meta: String, in channel: LinkChannel
  ) -> Bool {
    channels[channel, default: [:]][topic, default: [:]].updateValue(meta, forKey: user) != meta
  }

  /// Takes a user out.
  /// - Returns: What the user said of itself; nil when it was not in.
  mutating func exit(_ topic: String, _ user: String, in channel: LinkChannel) -> String? {
    guard let meta = channels[channel]?[topic]?.removeValue(forKey: user) else { return nil }
    if channels[channel]?[topic]?.isEmpty == true { channels[channel]?[topic] = nil }
    if channels[channel]?.isEmpty == true { channels[channel] = nil }
    return meta
  }

  /// All topics of a channel, with the users of whom others are told.
  func snapshot(of channel: LinkChannel, isTold: (String) -> Bool) -> JSONValue {
    let topics = (channels[channel] ?? [:]).sorted { $0.key < $1.key }.map { topic, users in
      (topic, users.filter { isTold($0.key) })
    }
    return Self.event("snapshot", topics.filter { !$0.1.isEmpty })
  }

  /// What is told of one user.
  static func change(_ word: Word, _ topic: String, _ user: String, meta: String) -> JSONValue {
    event(word.rawValue, [(topic, [user: meta])])
  }

  private static func event(_ name: String, _ topics: [(String, [String: String])]) -> JSONValue {
    let values = topics.map { topic, users -> JSONValue in
      let publishers = users.sorted { $0.key < $1.key }.map { user, meta -> JSONValue in
        ["user": .string(user), "meta": .string(meta)]
      }
      return ["topic": .string(topic), "publishers": .array(publishers)]
    }
    return ["event": .string(name), "topics": .array(values)]
  }
}

/// What a user does in the topics of a stream channel, and who else is there, as far as the server has told.
package struct StreamTopics: Sendable, Hashable {
  /// A user of a topic, whose messages are received.
  package struct Source: Sendable, Hashable, Comparable {
    package let topic: String
    package let user: String

    package static func < (lhs: Source, rhs: Source) -> Bool {
      (lhs.topic, lhs.user) < (rhs.topic, rhs.user)
    }
  }

  /// The topics that the user may publish in.
  package internal(set) var joined: [String: LinkTopicOptions] = [:]
  /// Whose messages are received.
  package private(set) var sources: Set<Source> = []
  /// What publishers said of themselves, by topic and user.
  private var publishers: [String: [String: String]] = [:]

  // MARK: Subscriptions

  /// The topics in which somebody's messages are received.
  var subscribed: Set<String> { Set(sources.map(\.topic)) }

  /// The users of a topic whose messages are received.
  func users(of topic: String) -> Set<String> {
    Set(sources.lazy.filter { $0.topic == topic }.map(\.user))
  }

  mutating func subscribe(_ new: Set<Source>) { sources.formUnion(new) }

  mutating func unsubscribe(_ old: Set<Source>) { sources.subtract(old) }

  // MARK: Publishers

  /// The users who may publish in a topic, of whom the server has told.
  func publishers(of topic: String) -> Set<String> { Set((publishers[topic] ?? [:]).keys) }

  /// Notes what the server says.
  mutating func note(_ event: LinkTopicEvent) {
    if event.kind == .snapshot { publishers = [:] }
    for topic in event.topics {
      for publisher in topic.publishers {
        let meta = event.kind == .remoteLeaveTopic ? nil : publisher.meta
        publishers[topic.name, default: [:]][publisher.userID] = meta
      }
      if publishers[topic.name]?.isEmpty == true { publishers[topic.name] = nil }
    }
  }

  /// All topics with their publishers, in order: what the server has told, and what the user itself has joined.
  func list(for userID: String) -> [LinkTopicInfo] {
    var all = publishers.mapValues { $0.filter { $0.key != userID } }
    for (topic, options) in joined { all[topic, default: [:]][userID] = options.meta }
    return all.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { name, users in
      LinkTopicInfo(
        name,
        publishers: users.sorted { $0.key < $1.key }.map { .init($0.key, meta: $0.value) })
    }
  }

  // MARK: Restoring

  /// Takes out what did not come back.
  /// - Parameters:
  ///   - names: The topics that the server did not let the user join again.
  ///   - refused: The users that the broker did not grant again.
  /// - Returns: What is not there any more, in order.
  mutating func drop(_ names: [String], _ refused: Set<Source>) -> [UnrestoredTopic] {
    let lost = Set(names).filter { joined.removeValue(forKey: $0) != nil }
    let silent = sources.intersection(refused)
    sources.subtract(silent)
    return lost.union(silent.map(\.topic)).sorted().map { name in
      UnrestoredTopic(
        name: name, wasJoined: lost.contains(name),
        users: silent.filter { $0.topic == name }.map(\.user).sorted())
    }
  }
}

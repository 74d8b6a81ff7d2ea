/// Remembers which requests are done, so that a reply that comes again or too late is recognised.
struct ReplyMemory: Sendable {
  /// How a request ended.
  enum Outcome: Sendable {
    /// It was answered.
    case answered
    /// Its call was given up before.
    case abandoned
  }

  private struct Key: Hashable {
    let topic: String
    let id: String
  }

  private var outcomes = RecentFates<Key, Outcome>()
  /// How many requests of each reply topic are remembered.
  private var topics: [String: Int] = [:]

  /// Remembers a request, and forgets the oldest when there are too many.
  mutating func remember(topic: String, id: String, _ outcome: Outcome) {
    let key = Key(topic: topic, id: id)
    if outcomes[key] == nil { topics[topic, default: 0] += 1 }
    guard let forgotten = outcomes.note(key, outcome)?.topic else { return }
    topics[forgotten] = topics[forgotten].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  /// Tells whether any request of a reply topic is remembered.
  func knows(topic: String) -> Bool { !topics.isEmpty && topics[topic] != nil }

  /// Returns how a request ended; nil when it is not remembered.
  func outcome(topic: String, id: String) -> Outcome? { outcomes[Key(topic: topic, id: id)] }
}

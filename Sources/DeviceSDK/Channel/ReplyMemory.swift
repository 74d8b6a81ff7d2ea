/// Remembers which requests are done, so that a reply that comes again or too late is recognised.
struct ReplyMemory: Sendable {
  /// How a request ended.
  enum Outcome: Sendable {
    /// It was answered.
    case answered
    /// Nobody waited for it any more.
    case abandoned
  }

  private struct Key: Hashable {
    let topic: String
    let id: String
  }

  /// How many requests are remembered.
  static let capacity = 100

  private var keys: [Key] = []
  private var oldest = 0
  private var outcomes: [Key: Outcome] = [:]
  private var topics: [String: Int] = [:]

  /// Remembers a request, and forgets the oldest when there are too many.
  mutating func remember(topic: String, id: String, _ outcome: Outcome) {
    let key = Key(topic: topic, id: id)
    guard outcomes.updateValue(outcome, forKey: key) == nil else { return }
    topics[topic, default: 0] += 1
    guard keys.count == Self.capacity else { return keys.append(key) }
    let forgotten = keys[oldest]
    keys[oldest] = key
    oldest = (oldest + 1) % Self.capacity
    outcomes[forgotten] = nil
    let count = (topics[forgotten.topic] ?? 1) - 1
    topics[forgotten.topic] = count > 0 ? count : nil
  }

  /// Tells whether any request of a reply topic is remembered.
  func knows(topic: String) -> Bool { !topics.isEmpty && topics[topic] != nil }

  /// Returns how a request ended; nil when it is not remembered.
  func outcome(topic: String, id: String) -> Outcome? { outcomes[Key(topic: topic, id: id)] }
}

import RepriseCore

/// What a server retains on the topics that a filter matches, as it tells of it.
///
/// MQTT has no list of retained messages and can't clear them by filter: a SUBSCRIBE has the server send them (MQTT 3.1.1
/// section 3.8.4), and each topic gets an empty one (section 3.3.1.3). An UNSUBSCRIBE behind the SUBSCRIBE marks the
/// end, as a server answers in the order in which it was asked.
struct RetainedSweep: Sendable {
  /// How many topics one sweep keeps; the next one finds the others.
  static let limit = 10_000
  /// How often nothing but the same topics may come back before it is taken for a server that keeps them.
  static let patience = 3

  let filter: TopicFilter
  private var found: Set<String> = []

  init(_ filter: TopicFilter) { self.filter = filter }

  /// The topics that have a retained message, in order.
  var topics: [String] { found.sorted() }

  /// Tells whether a message is one of those that are looked for, and notes its topic.
  mutating func take(_ message: Message) -> Bool {
    guard message.isRetained, !message.payload.isEmpty, filter.matches(message.topic) else {
      return false
    }
    if found.count < Self.limit { found.insert(message.topic) }
    return true
  }

  /// Says of a topic that its message can't be cleared.
  static func kept(_ topic: String) -> String {
    "the retained message of \(topic) comes back whenever it is cleared; have the server's access list allow to write "
      + "there, or stop its sender"
  }

  /// Clears topics until no retained message is left, as a server may leave out what it has too much of.
  /// - Parameters:
  ///   - kept: The error for a topic whose message comes back whenever it is cleared.
  ///   - collect: Makes a sweep and returns its topics.
  ///   - clear: Sends an empty retained message to a topic.
  /// - Returns: The topics that were cleared, in order.
  /// - Throws: What the closures throw, and `kept`.
  static func run(
    kept: (String) -> any Error, collect: () async throws -> [String],
    clear: (String) async throws -> Void
  ) async throws -> [String] {
    var cleared: Set<String> = []
    var returns = 0
    while case let topics = try await collect(), let first = topics.first {
      returns = cleared.isSuperset(of: topics) ? returns + 1 : 0
      if returns == patience { throw kept(first) }
      for topic in topics { try await clear(topic) }
      cleared.formUnion(topics)
    }
    return cleared.sorted()
  }
}

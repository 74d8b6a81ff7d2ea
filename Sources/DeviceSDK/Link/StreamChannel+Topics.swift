/// Topics inside of the channel: a user that joins one may publish in it, and is heard by users that subscribe to it there.
///
/// Joined topics and subscriptions come back with a link that was lost; what does not is told as ``LinkStateEvent/unrestored``. Leaving the
/// channel ends all of it.
extension StreamChannel {
  /// The topics that the user has joined, or will join again, in order.
  public var joinedTopics: [String] { read { $0.topics.joined.keys.sorted() } ?? [] }

  /// The topics in which somebody's messages are received, in order.
  public var subscribedTopics: [String] { read { $0.topics.subscribed.sorted() } ?? [] }

  /// All topics of the channel with those who may publish in them, as far as the server has told.
  public var topics: [LinkTopicInfo] { read { $0.topics.list(for: $0.configuration.userID) } ?? [] }

  /// The users of a topic whose messages are received.
  /// - Parameter topic: The topic's name.
  /// - Returns: The users, in order.
  public func subscribedUsers(of topic: String) -> [String] {
    read { $0.topics.users(of: topic).sorted() } ?? []
  }

  /// The users who join and leave topics of this channel from now on; the newest 1024 events are kept.
  public var topicEvents: BroadcastSequence<LinkTopicEvent> {
    let name = name
    return link.hub.topics.listen(limit: 1_024) { $0.channel == name }
  }

  /// The messages of topics that are subscribed to from now on.
  /// - Parameters:
  ///   - topic: The topic; nil takes those of all topics of this channel.
  ///   - limit: How many messages are kept for a slow reader; the oldest are dropped beyond it, and counted in
  ///     ``Link/droppedMessages``.
  /// - Returns: The messages.
  public func messages(
    in topic: String? = nil, limit: Int = 1_024
  ) -> BroadcastSequence<LinkMessage> {
    let name = name
    return link.hub.messages.listen(limit: limit) { message in
      message.channel == name && message.topic != nil && (topic == nil || message.topic == topic)
    }
  }

  // MARK: Publishing

  /// Joins a topic, and returns when the user may publish in it.
  ///
  /// One that fails, or is cancelled, leaves the topic as it was before.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - options: How it is joined.
  /// - Throws: ``LinkError``: −11014 for a ninth topic, −11018 for too long a `meta`, −10017 for a topic that is
  ///   joined with other options; and `CancellationError`.
  public func joinTopic(
    _ topic: String, _ options: LinkTopicOptions = LinkTopicOptions()
  ) async throws {
    try await call(.joinTopic(topic, options), of: try joined())
  }

  /// Leaves a topic; at once while the link is not connected.
  /// - Parameter topic: The topic's name.
  /// - Throws: ``LinkError`` −11016 when it is not joined, and `CancellationError`.
  public func leaveTopic(_ topic: String) async throws {
    try await call(.leaveTopic(topic), of: try joined())
  }

  /// Publishes in a topic that is joined; see ``LinkTopicQoS`` for when that is done.
  /// - Parameters:
  ///   - payload: The message, 1 KB at most.
  ///   - topic: The topic's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func publish(_ payload: [UInt8], in topic: String) async throws {
    try await call(.publish(topic, payload), of: try joined())
  }

  /// Publishes a text in a topic that is joined; see ``LinkTopicQoS`` for when that is done.
  /// - Parameters:
  ///   - text: The message, 1 KB of UTF-8 at most.
  ///   - topic: The topic's name.
  /// - Throws: ``LinkError``, and `CancellationError`.
  public func publish(_ text: String, in topic: String) async throws {
    try await publish(Array(text.utf8), in: topic)
  }

  // MARK: Listening

  /// Subscribes to users of a topic, beside those who are subscribed to, whether they have joined it or not.
  ///
  /// One that fails, or is cancelled, leaves the subscriptions as they were before.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - users: The users; none takes those who have joined the topic, as far as there is room.
  /// - Throws: ``LinkError``: −11003 for more than 64 users, −11017 when no user is named and nobody has joined the
  ///   topic, −11040 when it is unsubscribed from meanwhile; and `CancellationError`.
  public func subscribeTopic(_ topic: String, users: [String] = []) async throws {
    try await call(.subscribeTopic(topic, users), of: try joined())
  }

  /// Unsubscribes from users of a topic; at once while the link is not connected.
  /// - Parameters:
  ///   - topic: The topic's name.
  ///   - users: The users; none takes all.
  /// - Throws: ``LinkError`` −11013 when none of them is subscribed to, and `CancellationError`.
  public func unsubscribeTopic(_ topic: String, users: [String] = []) async throws {
    try await call(.unsubscribeTopic(topic, users), of: try joined())
  }

  private func read<Value: Sendable>(
    _ look: (StreamLinkMachine) -> Value
  ) -> Value? {
    link.streams.run(of: name)?.driver.read(look)
  }
}

public import RepriseCore

/// A change of a link's state, with all that is known of it.
public struct LinkStateEvent: Sendable, Hashable {
  /// The new state.
  public let current: LinkState
  /// The state before.
  public let previous: LinkState
  /// Whose link it is.
  public let service: LinkService
  /// What brought the change.
  public let operation: LinkOperation
  /// Why it came.
  public let reason: LinkReason
  /// The reason in words, of the server or of the transport, for people; it may be empty.
  public let detail: String
  /// The channels subscribed to, or joined, by this link.
  public let affected: [String]
  /// What could not be restored; only when the link is connected again, and mostly empty.
  public let unrestored: [UnrestoredChannel]
  /// Whether the link is connected again within two minutes of the loss, and never was suspended.
  public let isResumed: Bool
  /// When the state changed.
  public let time: Timestamp

  /// The time in milliseconds since 1970-01-01T00:00:00Z, as the vendor tells it.
  public var timestamp: Int64 { time.nanoseconds / 1_000_000 }
}

/// A channel that a link had before it was lost, and that the server did not give back, wholly or in part.
public struct UnrestoredChannel: Sendable, Hashable {
  /// The channel's name.
  public let channel: String
  /// The kind of channel.
  public let type: LinkChannelType
  /// The user's own temporary states in it, which are gone from the session now.
  public let states: [String: String]
  /// What is gone of the topics of a stream channel, which itself is joined again.
  public let topics: [UnrestoredTopic]

  init(
    channel: String, type: LinkChannelType, states: [String: String],
    topics: [UnrestoredTopic] = []
  ) {
    self.channel = channel
    self.type = type
    self.states = states
    self.topics = topics
  }
}

/// A topic of a stream channel of which something did not come back.
public struct UnrestoredTopic: Sendable, Hashable {
  /// The topic's name.
  public let name: String
  /// Whether the user had joined it, and has not any more.
  public let wasJoined: Bool
  /// The users whose messages are not received any more, in order.
  public let users: [String]
}

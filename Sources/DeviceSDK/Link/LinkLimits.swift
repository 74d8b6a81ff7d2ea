import RepriseCore

/// What a user may do at most, and how often (the vendor's limits of a client).
struct LinkLimits: Sendable {
  /// How many message channels may be subscribed to.
  static let channels = 50
  /// How many stream channels may be joined.
  static let streams = 10
  /// How long a message may be, in bytes.
  static let messageSize = 32_768
  /// How many topics of a stream channel may be joined.
  static let topics = 8
  /// How many topics of a stream channel may be subscribed to.
  static let subscribedTopics = 50
  /// How many users of a topic may be subscribed to.
  static let topicUsers = 64
  /// How long a message of a topic may be, in bytes.
  static let topicMessageSize = 1_024
  /// How long may be what a user says of itself when it joins a topic, in bytes.
  static let topicMetaSize = 256
  /// How many messages may be published in the topics of a stream channel in a second.
  static let topicMessages = 200

  private var calls = RateWindow(20, per: .seconds(1))
  private var messages = RateWindow(60, per: .seconds(1))
  private var subscriptions: [String: RateWindow] = [:]

  /// Counts a call.
  /// - Throws: ``LinkError`` −10021 when there were more than 20 in a second.
  mutating func countCall(_ now: Timestamp) throws(LinkError) {
    guard calls.count(now) else {
      throw LinkError(.operationRateExceedLimitation, "20 calls a second are the most")
    }
  }

  /// Counts a message.
  /// - Throws: ``LinkError`` −11025 when there were more than 60 in a second.
  mutating func countMessage(_ now: Timestamp) throws(LinkError) {
    guard messages.count(now) else {
      throw LinkError(.channelPublishMessageTooFrequent, "60 messages a second are the most")
    }
  }

  /// Counts a subscription.
  /// - Throws: ``LinkError`` −11020 when there were more than two to this channel in five seconds.
  mutating func countSubscription(to channel: String, _ now: Timestamp) throws(LinkError) {
    if subscriptions.count > 2 * Self.channels {
      subscriptions = subscriptions.filter { !$0.value.isOver(now) }
    }
    guard subscriptions[channel, default: RateWindow(2, per: .seconds(5))].count(now) else {
      throw LinkError(
        .channelSubscribeTooFrequent, "a channel is subscribed to twice in five seconds at most")
    }
  }
}

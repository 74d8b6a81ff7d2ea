import RepriseCore

/// A topic as applications write it, below the channel's prefix: `/account/bind`.
package struct ShortTopic: Sendable, Hashable {
  /// The text; it starts with one slash.
  package let text: String

  /// Creates a topic from how people write it: a missing first slash and doubled ones are forgiven.
  /// - Parameter given: The topic, or a topic filter.
  /// - Throws: ``ChannelError`` of kind `client` when it names nothing or can't stand in a packet.
  package init(_ given: String) throws(ChannelError) {
    try TopicRules.check(given)
    var bytes: [UInt8] = [TopicRules.slash]
    for byte in given.utf8 where byte != TopicRules.slash || bytes.last != TopicRules.slash {
      bytes.append(byte)
    }
    guard bytes.count > 1 else { throw ChannelError(.client, "the topic is empty") }
    text = String(decoding: bytes, as: UTF8.self)
  }

  /// What is left of a full topic below the prefix.
  init(stripped text: String) { self.text = text }
}

/// A topic as it stands in packets: `/sys/a1pk/dev1/app/up/account/bind`.
package struct FullTopic: Sendable, Hashable {
  /// The text.
  package let text: String

  /// Creates a topic that is used as it is.
  /// - Parameter given: The topic, or a topic filter.
  /// - Throws: ``ChannelError`` of kind `client` when it is empty or can't stand in a packet.
  package init(_ given: String) throws(ChannelError) {
    try TopicRules.check(given)
    text = given
  }

  /// A topic whose text was received, or was put together from checked parts.
  package init(unchecked text: String) { self.text = text }
}

/// A topic before it is completed, short or full.
package enum ChannelTopic: Sendable, Hashable {
  /// A topic below the channel's prefix.
  case short(ShortTopic)
  /// A topic that is used as it is.
  case full(FullTopic)

  /// Judges a topic as given: what starts with `/sys/` is full, the rest is short.
  /// - Parameter given: The topic, or a topic filter.
  /// - Throws: ``ChannelError`` of kind `client` when it names nothing or can't stand in a packet.
  package init(_ given: String) throws(ChannelError) {
    if given.utf8.starts(with: TopicRules.system) {
      self = .full(try FullTopic(given))
      return
    }
    let short = try ShortTopic(given)
    if short.text.utf8.starts(with: TopicRules.system) {
      self = .full(FullTopic(unchecked: short.text))
    } else {
      self = .short(short)
    }
  }
}

/// Completes topics with the prefixes of one identity, and strips them.
package struct ChannelTopics: Sendable, Hashable {
  /// The prefix of what the app sends.
  package let up: String
  /// The prefix of what the app receives.
  package let down: String

  /// Creates the topics of an identity.
  /// - Parameters:
  ///   - productKey: The product's key.
  ///   - deviceName: The device's name in the product.
  package init(productKey: String, deviceName: String) {
    up = "/sys/\(productKey)/\(deviceName)/app/up"
    down = "/sys/\(productKey)/\(deviceName)/app/down"
  }

  /// Returns the topic to publish to.
  /// - Parameter topic: A topic without wildcards.
  /// - Returns: The full topic.
  /// - Throws: ``ChannelError`` of kind `client` when the topic has a wildcard, or is too long with its prefix.
  package func publishTopic(for topic: ChannelTopic) throws(ChannelError) -> FullTopic {
    let full = try complete(topic, with: up)
    guard !TopicRules.hasWildcard(full.text) else {
      throw ChannelError(.client, "a topic to publish to has no wildcards: \(full.text)")
    }
    return full
  }

  /// Returns the filter for topics to publish to.
  /// - Parameter topic: A topic or a topic filter.
  /// - Returns: The full filter.
  /// - Throws: ``ChannelError`` of kind `client` when a wildcard stands where none may, or the filter is too long with
  ///   its prefix.
  func publishFilter(for topic: ChannelTopic) throws(ChannelError) -> FullTopic {
    try filter(try complete(topic, with: up))
  }

  /// A topic of nobody's, whose UNSUBSCRIBE marks the end of what the cloud retains.
  package var endOfSweep: String { up + "/sweep/end" }

  /// Returns the filter to subscribe to.
  /// - Parameter topic: A topic or a topic filter.
  /// - Returns: The full filter.
  /// - Throws: ``ChannelError`` of kind `client` when a wildcard stands where none may, or the filter is too long with
  ///   its prefix.
  package func subscriptionFilter(for topic: ChannelTopic) throws(ChannelError) -> FullTopic {
    try filter(try complete(topic, with: down))
  }

  private func filter(_ full: FullTopic) throws(ChannelError) -> FullTopic {
    guard TopicFilter(full.text) != nil else {
      throw ChannelError(.client, "a wildcard must fill a level, and # the last: \(full.text)")
    }
    return full
  }

  /// Returns the topic on which a request is answered.
  /// - Parameter topic: The topic of the request.
  /// - Returns: The full topic of the reply.
  /// - Throws: ``ChannelError`` of kind `client` when the topic has a wildcard, or is too long.
  package func replyTopic(for topic: ChannelTopic) throws(ChannelError) -> FullTopic {
    let request = try publishTopic(for: topic)
    guard let rest = TopicRules.rest(of: request.text, below: up) else {
      return try FullTopic(request.text + "_reply")
    }
    return try FullTopic(down + rest + "_reply")
  }

  /// Takes the down prefix, and nothing but it, off a received topic.
  /// - Parameter topic: The topic of a message.
  /// - Returns: The short topic, or the full one when it is not below the prefix.
  package func strip(_ topic: FullTopic) -> ChannelTopic {
    guard let rest = TopicRules.rest(of: topic.text, below: down) else { return .full(topic) }
    return .short(ShortTopic(stripped: String(rest)))
  }

  /// Tells whether a received topic is below the down prefix.
  func isOwn(_ topic: String) -> Bool { TopicRules.isBelow(topic, prefix: down) }

  private func complete(
    _ topic: ChannelTopic, with prefix: String
  ) throws(ChannelError) -> FullTopic {
    switch topic {
    case .short(let short): try FullTopic(prefix + short.text)
    case .full(let full): full
    }
  }
}

/// What holds for every topic.
package enum TopicRules {
  static let slash = UInt8(ascii: "/")
  static let system = Array("/sys/".utf8)

  static func check(_ topic: String) throws(ChannelError) {
    guard !topic.isEmpty else { throw ChannelError(.client, "the topic is empty") }
    guard topic.utf8.count <= 65_535 else {
      throw ChannelError(.client, "the topic is longer than 65,535 bytes")
    }
    guard !topic.utf8.contains(0) else { throw ChannelError(.client, "the topic holds U+0000") }
  }

  static func hasWildcard(_ topic: String) -> Bool {
    topic.utf8.contains { $0 == UInt8(ascii: "#") || $0 == UInt8(ascii: "+") }
  }

  /// Tells whether a topic goes on below a prefix, at the boundary of a level.
  static func isBelow(_ topic: String, prefix: String) -> Bool {
    let topic = topic.utf8Span.span
    let prefix = prefix.utf8Span.span
    guard topic.count > prefix.count, topic[prefix.count] == slash else { return false }
    // From behind: the prefixes of a session differ in their last bytes.
    for index in prefix.indices.reversed() where topic[index] != prefix[index] { return false }
    return true
  }

  /// Returns what is left of a topic below a prefix, with its slash; nil when it is not below.
  package static func rest(of topic: String, below prefix: String) -> Substring? {
    guard isBelow(topic, prefix: prefix) else { return nil }
    let utf8 = topic.utf8
    return topic[utf8.index(utf8.startIndex, offsetBy: prefix.utf8.count)...]
  }
}

public import RepriseCore

/// Which users may publish in the topics of a stream channel: all of it, or what has changed.
public struct LinkTopicEvent: Sendable, Hashable {
  /// The kinds of event; the raw values are the vendor's.
  public enum Kind: Int, Sendable, Hashable, CaseIterable {
    /// All topics of the channel, as it was joined, or again.
    case snapshot = 1
    /// A user joined a topic.
    case remoteJoinTopic = 2
    /// A user left a topic, or has been silent for too long.
    case remoteLeaveTopic = 3
  }

  /// What happened.
  public let kind: Kind
  /// The stream channel's name.
  public let channel: String
  /// The topics that it happened in, each with the publishers that it is about.
  public let topics: [LinkTopicInfo]
  /// When it was received.
  public let time: Timestamp
}

/// A topic inside of a stream channel, with users who may publish in it.
public struct LinkTopicInfo: Sendable, Hashable {
  /// A user who has joined the topic.
  public struct Publisher: Sendable, Hashable {
    /// The user's identifier.
    public var userID: String
    /// What the user said of itself when it joined; it may be empty.
    public var meta: String

    /// Creates a publisher.
    /// - Parameters:
    ///   - userID: The user's identifier.
    ///   - meta: What the user said of itself when it joined.
    public init(_ userID: String, meta: String = "") {
      self.userID = userID
      self.meta = meta
    }
  }

  /// The topic's name.
  public var name: String
  /// The users, in order.
  public var publishers: [Publisher]

  /// Creates a topic.
  /// - Parameters:
  ///   - name: The topic's name.
  ///   - publishers: The users who have joined it.
  public init(_ name: String, publishers: [Publisher]) {
    self.name = name
    self.publishers = publishers
  }
}

/// How hard messages of a topic are tried to be delivered; the raw values are the vendor's.
public enum LinkTopicQoS: Int, Sendable, Hashable, CaseIterable {
  /// At most once: publishing is done when the message is written.
  case unordered = 0
  /// At least once and in order: publishing is done when the broker has the message.
  case ordered = 1

  /// How messages travel.
  var qos: QoS {
    switch self {
    case .unordered: .atMostOnce
    case .ordered: .atLeastOnce
    }
  }
}

/// How a topic is joined.
///
/// There is no priority, as MQTT has none.
public struct LinkTopicOptions: Sendable, Hashable {
  /// How hard messages are tried to be delivered.
  public var qos: LinkTopicQoS
  /// What other users are told with the user's name, 256 bytes of UTF-8 at most.
  public var meta: String

  /// Creates options.
  /// - Parameters:
  ///   - qos: How hard messages are tried to be delivered.
  ///   - meta: What other users are told with the user's name.
  public init(qos: LinkTopicQoS = .unordered, meta: String = "") {
    self.qos = qos
    self.meta = meta
  }
}

extension LinkTopicEvent {
  /// Reads what a server says of a channel's topics; nil when it is nothing of that kind.
  init?(parsing payload: [UInt8], _ channel: String, time: Timestamp) {
    guard let object = JSONValue(parsing: payload), let topics = object["topics"]?.elements else {
      return nil
    }
    let kind: Kind
    switch object["event"]?.text {
    case "snapshot": kind = .snapshot
    case "join": kind = .remoteJoinTopic
    case "leave": kind = .remoteLeaveTopic
    default: return nil
    }
    self.init(
      kind: kind, channel: channel, topics: topics.compactMap(LinkTopicInfo.init), time: time)
  }

  /// The event without what it says of one user; nil when nothing is left of a change.
  func without(_ userID: String) -> LinkTopicEvent? {
    guard kind != .snapshot else { return self }
    let others = topics.compactMap { $0.without(userID) }
    guard !others.isEmpty else { return nil }
    return LinkTopicEvent(kind: kind, channel: channel, topics: others, time: time)
  }
}

extension LinkTopicInfo {
  /// Reads a topic; nil when it has no name.
  fileprivate init?(_ value: JSONValue) {
    guard let name = value["topic"]?.text else { return nil }
    let publishers = (value["publishers"]?.elements ?? []).compactMap { publisher in
      publisher["user"]?.text.map { Publisher($0, meta: publisher["meta"]?.text ?? "") }
    }
    self.init(name, publishers: publishers)
  }

  /// The topic without one user; nil when nobody is left.
  fileprivate func without(_ userID: String) -> LinkTopicInfo? {
    let others = publishers.filter { $0.userID != userID }
    return others.isEmpty ? nil : LinkTopicInfo(name, publishers: others)
  }
}

public import RepriseCore

/// Which users come and go in a channel, and what they say of themselves there.
public struct LinkPresenceEvent: Sendable, Hashable {
  /// The kinds of event; the raw values are the vendor's.
  public enum Kind: Int, Sendable, Hashable, CaseIterable {
    /// All users of the channel, as it was subscribed to, or again.
    case snapshot = 1
    /// What happened since the last event of this kind, in a channel with many users.
    case interval = 2
    /// A user came.
    case remoteJoinChannel = 3
    /// A user left.
    case remoteLeaveChannel = 4
    /// A user has been silent for too long.
    case remoteConnectionTimeout = 5
    /// A user's temporary states are others.
    case remoteStateChanged = 6
    /// The server's word on presence could not be read.
    case errorOutOfService = 7
  }

  /// A user with temporary states.
  public struct User: Sendable, Hashable {
    /// The user's identifier.
    public var userID: String
    /// The user's temporary states.
    public var states: [String: String]

    /// Creates a user.
    /// - Parameters:
    ///   - userID: The user's identifier.
    ///   - states: The user's temporary states.
    public init(_ userID: String, states: [String: String] = [:]) {
      self.userID = userID
      self.states = states
    }
  }

  /// What happened in a channel with many users since the last time.
  public struct Interval: Sendable, Hashable {
    /// The users who came.
    public var joined: [String] = []
    /// The users who left.
    public var left: [String] = []
    /// The users who have been silent for too long.
    public var timedOut: [String] = []
    /// The users whose states are others.
    public var states: [User] = []
  }

  /// What happened.
  public let kind: Kind
  /// The channel's name.
  public let channel: String
  /// The kind of channel.
  public let type: LinkChannelType
  /// The user it happened to, with the states there are now; nil for events of several users.
  public let user: User?
  /// All users, of a snapshot.
  public let snapshot: [User]
  /// What happened to several users, of an interval.
  public let interval: Interval
  /// When it was received.
  public let time: Timestamp

  init(
    _ kind: Kind, _ channel: String, _ type: LinkChannelType, user: User? = nil,
    snapshot: [User] = [], interval: Interval = Interval(), time: Timestamp
  ) {
    self.kind = kind
    self.channel = channel
    self.type = type
    self.user = user
    self.snapshot = snapshot
    self.interval = interval
    self.time = time
  }
}

extension LinkPresenceEvent {
  /// The event without what it says of one user; nil when nothing is left.
  func without(_ userID: String) -> LinkPresenceEvent? {
    guard kind == .interval else { return user?.userID == userID ? nil : self }
    var rest = interval
    rest.joined.removeAll { $0 == userID }
    rest.left.removeAll { $0 == userID }
    rest.timedOut.removeAll { $0 == userID }
    rest.states.removeAll { $0.userID == userID }
    guard rest != Interval() else { return nil }
    return LinkPresenceEvent(kind, channel, type, interval: rest, time: time)
  }
}

/// A message that another user, or the user itself, published in a channel, or in a topic of a stream channel.
public struct LinkMessage: Sendable, Hashable {
  /// The channel's name.
  public let channel: String
  /// The topic inside of the stream channel; nil for a message channel.
  public let topic: String?
  /// The user who published it.
  public let publisher: String
  /// What was published.
  public let payload: [UInt8]
  /// When it was received.
  public let time: Timestamp

  /// The payload as text; nil when it is not UTF-8.
  public var text: String? { String(validating: payload, as: UTF8.self) }

  init(
    channel: String, topic: String? = nil, publisher: String, payload: [UInt8], time: Timestamp
  ) {
    self.channel = channel
    self.topic = topic
    self.publisher = publisher
    self.payload = payload
    self.time = time
  }
}

/// What a subscription to a message channel brings.
public struct LinkSubscribeFeatures: OptionSet, Sendable, Hashable {
  /// One bit a feature; the vendor's.
  public let rawValue: Int

  /// Creates a set from its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The users who come and go.
  public static let presence = LinkSubscribeFeatures(rawValue: 1)
  /// What is published.
  public static let message = LinkSubscribeFeatures(rawValue: 4)
  /// Other users are not told of this one.
  public static let beQuiet = LinkSubscribeFeatures(rawValue: 16)
}

/// What joining a stream channel brings; not the bits of ``LinkSubscribeFeatures``.
///
/// The vendor's own examples join with ``metadata``, so it and ``lock`` are accepted and reach the server. They bring
/// events of storage and locks, which are no part of these links, and so they have no effect.
public struct LinkJoinFeatures: OptionSet, Sendable, Hashable {
  /// One bit a feature; the vendor's.
  public let rawValue: Int

  /// Creates a set from its bits.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The users who come and go.
  public static let presence = LinkJoinFeatures(rawValue: 1)
  /// What is stored of the channel, of which there is nothing.
  public static let metadata = LinkJoinFeatures(rawValue: 2)
  /// The locks of the channel, of which there are none.
  public static let lock = LinkJoinFeatures(rawValue: 4)
  /// Other users are not told of this one.
  public static let beQuiet = LinkJoinFeatures(rawValue: 8)
}

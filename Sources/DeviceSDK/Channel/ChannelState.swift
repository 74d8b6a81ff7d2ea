public import RepriseCore

/// How the channel's connection is.
public enum ChannelState: Int, Sendable, Hashable, CaseIterable {
  /// The connection is open, and all subscriptions are back.
  case connected = 1
  /// There is no connection; there may be a new try later.
  case disconnected = 2
  /// A connection is being opened.
  case connecting = 3
}

/// A change of the connection's state.
public struct ChannelStateChange: Sendable {
  /// The new state.
  public let state: ChannelState
  /// Why the connection is gone, when it is not for having been closed.
  public let error: ChannelError?
  /// Whether the channel stays disconnected until it is started again.
  public let isFinal: Bool
  /// When it changed.
  public let time: Timestamp
}

/// Whether the channel is bound to a user's account.
public enum AccountState: String, Sendable, Hashable, CaseIterable {
  /// No account, or none that the channel knows of.
  case unbound
  /// Binding was asked for.
  case binding
  /// Bound; a lost connection does not change it, as the cloud keeps it.
  case bound
  /// Unbinding was asked for.
  case unbinding
  /// Several tokens were refused; no more are sent until the user has logged in again.
  case needsLogin
}

/// What the channel has counted since it was made.
public struct ChannelStatistics: Sendable, Hashable {
  /// Messages received, replies among them.
  public var messages: UInt64 = 0
  /// Replies to calls that did not wait any more.
  public var lateReplies: UInt64 = 0
  /// Replies to calls that had been answered.
  public var duplicateReplies: UInt64 = 0
  /// Replies that belong to no call of the channel.
  public var unknownReplies: UInt64 = 0
  /// Accepted connections that were lost.
  public var lostConnections: UInt64 = 0
}

public import RepriseCore

/// A change of the gateway's connection.
public struct GatewayStateChange: Sendable {
  /// The new state.
  public let state: ChannelState
  /// Why the connection is gone, when it is not for having been closed.
  public let error: GatewayError?
  /// Whether the gateway stays disconnected until it is started again.
  public let isFinal: Bool
  /// When it changed.
  public let time: Timestamp
}

/// A change of a sub-device's line.
public struct LineChange: Sendable {
  /// The sub-device.
  public let subdevice: Subdevice
  /// The new state, which may be the old one when only ``isDisabled`` changed, or a login failed.
  public let state: LineState
  /// Whether the cloud has disabled the sub-device.
  public let isDisabled: Bool
  /// Why it changed, when nobody here asked for it; or why the gateway could not log the sub-device
  /// in again.
  public let error: GatewayError?
  /// When it changed.
  public let time: Timestamp
}

/// What a gateway has counted since it was made.
public struct GatewayStatistics: Sendable, Hashable {
  /// Messages received, replies among them.
  public var messages: UInt64 = 0
  /// Replies to requests that did not wait any more.
  public var lateReplies: UInt64 = 0
  /// Replies to requests that had been answered.
  public var duplicateReplies: UInt64 = 0
  /// Replies that belong to no request of the gateway.
  public var unknownReplies: UInt64 = 0
  /// Accepted connections that were lost.
  public var lostConnections: UInt64 = 0
  /// Logins of sub-devices that the gateway sent by itself, after a new connection.
  public var automaticLogins: UInt64 = 0
}

/// A message that came down to the gateway or to one of its sub-devices.
public struct GatewayMessage: Sendable, Hashable {
  /// The sub-device whose line it is for; nil when it is the gateway's.
  public let subdevice: Subdevice?
  /// The message, with its full topic.
  public let message: ChannelMessage

  /// The full topic.
  public var topic: String { message.fullTopic }
}

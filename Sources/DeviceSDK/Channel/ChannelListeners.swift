/// Hears what comes down the channel; held weakly.
public protocol ChannelDownstreamListener: AnyObject, Sendable {
  /// Takes a message.
  /// - Parameters:
  ///   - topic: The topic without the channel's prefix.
  ///   - message: The message.
  func onDownstream(topic: String, message: ChannelMessage)

  /// Tells whether this listener wants messages of a topic; asked before each.
  /// - Parameter topic: The topic without the channel's prefix.
  /// - Returns: Whether it does; true if nothing else is said.
  func shouldHandle(topic: String) -> Bool
}

extension ChannelDownstreamListener {
  /// Wants all messages.
  public func shouldHandle(topic: String) -> Bool { true }
}

/// Hears of the connection's state; held weakly.
public protocol ChannelConnectListener: AnyObject, Sendable {
  /// Takes a change of the state.
  /// - Parameter change: The change.
  func onConnectState(_ change: ChannelStateChange)
}

/// The outcome of a request as handlers get it.
public struct ChannelResponse: Sendable {
  /// Whether the cloud answered with code 200.
  public let isSuccess: Bool
  /// The reply, if it was one of success.
  public let reply: ChannelReply?
  /// Why the request failed.
  public let error: ChannelError?
}

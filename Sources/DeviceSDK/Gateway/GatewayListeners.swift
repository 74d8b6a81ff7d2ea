/// Hears of a gateway's connection; held weakly.
public protocol GatewayConnectListener: AnyObject, Sendable {
  /// Takes a change of the state.
  /// - Parameter change: The change.
  func onConnectState(_ change: GatewayStateChange)
}

/// Hears what comes down to a gateway and all of its sub-devices; held weakly.
public protocol GatewayDownstreamListener: AnyObject, Sendable {
  /// Takes a message.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - message: The message.
  func onDownstream(topic: String, message: GatewayMessage)

  /// Tells whether this listener wants messages of a topic; asked before each.
  /// - Parameter topic: The full topic.
  /// - Returns: Whether it does; true if nothing else is said.
  func shouldHandle(topic: String) -> Bool
}

extension GatewayDownstreamListener {
  /// Wants all messages.
  public func shouldHandle(topic: String) -> Bool { true }
}

/// Hears what comes down to one sub-device; held weakly.
public protocol GatewayLineDownstreamListener: AnyObject, Sendable {
  /// Takes a message.
  /// - Parameters:
  ///   - topic: The full topic.
  ///   - message: The message.
  func onDownstream(topic: String, message: GatewayMessage)

  /// Tells whether this listener wants messages of a topic; asked before each.
  /// - Parameter topic: The full topic.
  /// - Returns: Whether it does; true if nothing else is said.
  func shouldHandle(topic: String) -> Bool
}

extension GatewayLineDownstreamListener {
  /// Wants all messages.
  public func shouldHandle(topic: String) -> Bool { true }
}

/// The outcome of a call as handlers get it.
public struct GatewayResponse: Sendable {
  /// Whether the cloud has said yes.
  public let isSuccess: Bool
  /// The cloud's reply, if there was one and it was one of success; nil when nothing was to be asked for, as when a line
  /// was online already.
  public let reply: GatewayReply?
  /// Why the call failed.
  public let error: GatewayError?

  init(_ result: Result<GatewayStateMachine.Value, GatewayError>) {
    switch result {
    case .success(.reply(let reply)): (isSuccess, self.reply, error) = (true, reply, nil)
    case .success(.replies(let replies)): (isSuccess, reply, error) = (true, replies.last, nil)
    case .success: (isSuccess, reply, error) = (true, nil, nil)
    case .failure(let failure): (isSuccess, reply, error) = (false, nil, failure)
    }
  }
}

/// Hears what links tell, as in older SDKs; held weakly.
///
/// What is not implemented is not heard.
public protocol LinkDelegate: AnyObject, Sendable {
  /// Takes a change of a link's state.
  /// - Parameter event: The change.
  func didReceiveLinkStateEvent(_ event: LinkStateEvent)

  /// Takes a word on the users of a channel.
  /// - Parameter event: What happened.
  func didReceivePresenceEvent(_ event: LinkPresenceEvent)

  /// Takes a message of a channel, or of a topic of one.
  /// - Parameter message: The message.
  func didReceiveMessageEvent(_ message: LinkMessage)

  /// Takes a word on the topics of a stream channel.
  /// - Parameter event: What happened.
  func didReceiveTopicEvent(_ event: LinkTopicEvent)

  /// Takes the warning that a token will not be valid for long.
  /// - Parameter event: Whose token it is.
  func tokenPrivilegeWillExpire(_ event: LinkTokenEvent)
}

extension LinkDelegate {
  /// Does nothing.
  public func didReceiveLinkStateEvent(_ event: LinkStateEvent) {}
  /// Does nothing.
  public func didReceivePresenceEvent(_ event: LinkPresenceEvent) {}
  /// Does nothing.
  public func didReceiveMessageEvent(_ message: LinkMessage) {}
  /// Does nothing.
  public func didReceiveTopicEvent(_ event: LinkTopicEvent) {}
  /// Does nothing.
  public func tokenPrivilegeWillExpire(_ event: LinkTokenEvent) {}
}

/// What a completion gets of a call that succeeded.
public struct LinkResponse: Sendable, Hashable {
  /// The name of the call.
  public let operation: String
}

/// What a completion gets of a call that failed.
public struct LinkErrorInfo: Sendable, Hashable {
  /// The vendor's number of the error.
  public let errorCode: LinkErrorCode
  /// What is wrong, for people.
  public let reason: String
  /// The name of the call.
  public let operation: String
}

/// How to join a stream channel.
public struct LinkJoinOption: Sendable, Hashable {
  /// The token; empty takes the app's identifier.
  public var token: String
  /// What the channel is to bring.
  public var features: LinkJoinFeatures

  /// Creates an option.
  /// - Parameters:
  ///   - token: The token; empty takes the app's identifier.
  ///   - features: What the channel is to bring.
  public init(token: String = "", features: LinkJoinFeatures = .presence) {
    self.token = token
    self.features = features
  }
}

/// Why a call of a link failed.
public struct LinkError: Error, Sendable, Hashable {
  /// The vendor's number of the error; the only part that programs should compare.
  public var code: LinkErrorCode
  /// What is wrong, for people; never a secret.
  public var message: String

  /// Creates an error.
  /// - Parameters:
  ///   - code: The number of the error.
  ///   - message: What is wrong, for people.
  public init(_ code: LinkErrorCode, _ message: String) {
    self.code = code
    self.message = message
  }
}

extension LinkError: CustomStringConvertible {
  /// The number and the message.
  public var description: String { "\(code.rawValue): \(message)" }
}

/// The vendor's numbers of errors; those of a server that are not named here are kept as they are.
public struct LinkErrorCode: RawRepresentable, Sendable, Hashable {
  /// The number.
  public let rawValue: Int

  /// Creates a code.
  public init(rawValue: Int) { self.rawValue = rawValue }

  private init(_ rawValue: Int) { self.rawValue = rawValue }

  // MARK: Login

  /// There is no SDK yet, or none any more.
  public static let notInitialized = LinkErrorCode(-10_001)
  /// The user is not logged in.
  public static let notLogin = LinkErrorCode(-10_002)
  /// The app's identifier is empty.
  public static let invalidAppID = LinkErrorCode(-10_003)
  /// The token is not valid.
  public static let invalidToken = LinkErrorCode(-10_005)
  /// The user's identifier is empty, too long, or has characters that none may have.
  public static let invalidUserID = LinkErrorCode(-10_006)
  /// The transport does not do what a link needs.
  public static let initServiceFailed = LinkErrorCode(-10_007)
  /// The channel's name is empty, too long, or has characters that none may have.
  public static let invalidChannelName = LinkErrorCode(-10_008)
  /// The token is too old.
  public static let tokenExpired = LinkErrorCode(-10_009)
  /// The server has no room.
  public static let loginNoServerResources = LinkErrorCode(-10_010)
  /// The login took too long.
  public static let loginTimeout = LinkErrorCode(-10_011)
  /// The server does not want the login.
  public static let loginRejected = LinkErrorCode(-10_012)
  /// The login was broken off.
  public static let loginAborted = LinkErrorCode(-10_013)
  /// A parameter can't be.
  public static let invalidParameter = LinkErrorCode(-10_014)
  /// The user may not log in.
  public static let loginNotAuthorized = LinkErrorCode(-10_015)
  /// The token is for another app.
  public static let loginInconsistentAppID = LinkErrorCode(-10_016)
  /// The same was asked for already.
  public static let duplicateOperation = LinkErrorCode(-10_017)
  /// There were too many calls.
  public static let operationRateExceedLimitation = LinkErrorCode(-10_021)
  /// The app has no such service.
  public static let serviceNotSupported = LinkErrorCode(-10_022)
  /// Another login, or a logout, came in between.
  public static let loginCanceled = LinkErrorCode(-10_023)
  /// The link is not connected.
  public static let notConnected = LinkErrorCode(-10_025)
  /// The new token was not acknowledged in time.
  public static let renewTokenTimeout = LinkErrorCode(-10_026)

  // MARK: Channels

  /// The stream channel is not joined.
  public static let channelNotJoined = LinkErrorCode(-11_001)
  /// The message channel is not subscribed to.
  public static let channelNotSubscribed = LinkErrorCode(-11_002)
  /// There are too many users of a topic.
  public static let channelExceedTopicUserLimitation = LinkErrorCode(-11_003)
  /// There are too many stream channels.
  public static let channelInstanceExceedLimitation = LinkErrorCode(-11_005)
  /// The stream channel could not be joined.
  public static let channelJoinFailed = LinkErrorCode(-11_007)
  /// The topic's name is empty, too long, or has characters that none may have.
  public static let channelInvalidTopicName = LinkErrorCode(-11_008)
  /// The message is longer than 32 KB, or 1 KB in a topic.
  public static let channelMessageLengthExceedLimitation = LinkErrorCode(-11_010)
  /// Among the users of a topic is a name that is none.
  public static let channelInvalidUserList = LinkErrorCode(-11_011)
  /// The topic, or none of its users that were named, is subscribed to.
  public static let channelTopicNotSubscribed = LinkErrorCode(-11_013)
  /// There are too many topics.
  public static let channelExceedTopicLimitation = LinkErrorCode(-11_014)
  /// The topic could not be joined.
  public static let channelJoinTopicFailed = LinkErrorCode(-11_015)
  /// The topic is not joined.
  public static let channelTopicNotJoined = LinkErrorCode(-11_016)
  /// The topic was joined by no user.
  public static let channelTopicNotExist = LinkErrorCode(-11_017)
  /// What was said with the joining of a topic is longer than 256 bytes.
  public static let channelInvalidTopicMeta = LinkErrorCode(-11_018)
  /// The subscription was not answered in time.
  public static let channelSubscribeTimeout = LinkErrorCode(-11_019)
  /// One channel was subscribed to more than twice in five seconds.
  public static let channelSubscribeTooFrequent = LinkErrorCode(-11_020)
  /// The channel could not be subscribed to.
  public static let channelSubscribeFailed = LinkErrorCode(-11_021)
  /// The channel could not be unsubscribed from.
  public static let channelUnsubscribeFailed = LinkErrorCode(-11_022)
  /// The message could not be sent.
  public static let channelPublishMessageFailed = LinkErrorCode(-11_024)
  /// There were too many messages.
  public static let channelPublishMessageTooFrequent = LinkErrorCode(-11_025)
  /// The message was not acknowledged in time.
  public static let channelPublishMessageTimeout = LinkErrorCode(-11_026)
  /// The link of the channel is not connected.
  public static let channelNotConnected = LinkErrorCode(-11_027)
  /// The stream channel could not be left.
  public static let channelLeaveFailed = LinkErrorCode(-11_028)
  /// The users of the channel were not told in time.
  public static let channelPresenceNotReady = LinkErrorCode(-11_032)
  /// Another join, or a leave, came in between.
  public static let channelJoinCanceled = LinkErrorCode(-11_034)
  /// The user may not subscribe to the channel.
  public static let subscribePermissionDenied = LinkErrorCode(-11_038)
  /// The user may not publish in the channel.
  public static let publishPermissionDenied = LinkErrorCode(-11_039)
  /// The channel was unsubscribed from before the subscription was done.
  public static let channelSubscribeCanceled = LinkErrorCode(-11_040)

  // MARK: Presence

  /// Presence is not connected.
  public static let presenceNotConnected = LinkErrorCode(-13_001)
  /// There are states of too many channels.
  public static let presenceCacheTooManyStates = LinkErrorCode(-13_004)
  /// There are too many states of a channel.
  public static let presenceStateCountOverflow = LinkErrorCode(-13_005)
  /// A state has no name.
  public static let presenceInvalidStateKey = LinkErrorCode(-13_006)
  /// States were not acknowledged in time.
  public static let presenceOperationTimeout = LinkErrorCode(-13_012)
  /// States were refused.
  public static let presenceOperationFailed = LinkErrorCode(-13_013)
}

extension LinkReason {
  /// The reason of a server that says no, from its number of the error.
  static func rejection(_ code: LinkErrorCode) -> LinkReason {
    switch code {
    case .invalidToken: .invalidToken
    case .tokenExpired: .tokenExpired
    case .loginNotAuthorized: .loginNotAuthorized
    case .loginInconsistentAppID, .invalidAppID: .inconsistentAppID
    case .operationRateExceedLimitation: .operationRateExceedLimitation
    case .serviceNotSupported: .serviceNotSupported
    default: .loginRejected
    }
  }

  /// The number of the error that calls get when a server throws the user out.
  var kickCode: LinkErrorCode {
    switch self {
    case .tokenExpired: .tokenExpired
    case .invalidToken: .invalidToken
    default: .loginRejected
    }
  }
}

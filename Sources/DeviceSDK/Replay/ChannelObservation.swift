public import DataClient

/// One thing that a replayed channel was asked for or told its app.
public struct ChannelObservation: Sendable {
  /// When, in the session's time.
  public let time: Timestamp
  /// What in the session it comes from; nil when it comes from nothing but time.
  public let place: ReplayPlace?
  /// What it was.
  public let content: Content

  /// What can be seen of a channel.
  public enum Content: Sendable {
    /// The app called something.
    case called(Call)
    /// A call was completed.
    case completed(Call, Result<ChannelReply?, ChannelError>)
    /// The connection's state is another.
    case state(ChannelStateChange)
    /// The account's state is another.
    case account(AccountState)
    /// The app got a message.
    case message(ChannelMessage)
    /// A message came that is not below the app's prefix.
    case foreignMessage(ChannelMessage)
    /// The channel noted something that it told nobody: a late reply, a subscription that was refused.
    case note(ChannelLog.Entry)
  }

  /// A call of the app, by a number that counts the calls from 1.
  public struct Call: Sendable, Hashable {
    /// The number.
    public let number: Int
    /// What was called: `start`, `stop`, `invoke`, `publish`, `subscribe`, `unsubscribe`, `bind`, `unbind`, `login`.
    public let name: String
    /// The short topic, or the full one when it is not below the app's prefix; nil for calls that have none.
    public let topic: String?
    /// The parameters; a token is not among them.
    public let params: JSONValue?
  }
}

/// How a replay of a channel ended.
public struct ChannelReplayOutcome: Sendable {
  /// Where the channel left the session; nil when it went through it.
  public let divergence: ReplayDivergence?
  /// When the session ended, or was left.
  public let time: Timestamp
  /// The connection's state at the end.
  public let state: ChannelState
  /// The account's state at the end.
  public let account: AccountState
  /// The calls that still waited.
  public let openCalls: [ChannelObservation.Call]
  /// What the channel would have sent next when the session broke off; nil when it waited.
  public let unsent: String?
  /// What the channel counted.
  public let statistics: ChannelStatistics
}

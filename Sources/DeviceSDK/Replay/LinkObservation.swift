public import DataClient

/// One thing that a replayed link was asked for or told its app.
public struct LinkObservation: Sendable {
  /// When, in the session's time.
  public let time: Timestamp
  /// What in the session it comes from; nil when it comes from nothing but time.
  public let place: ReplayPlace?
  /// What it was.
  public let content: Content

  /// What can be seen of a link.
  public enum Content: Sendable {
    /// The app called something.
    case called(Call)
    /// A call was completed; nil is success.
    case completed(Call, LinkError?)
    /// The app was told something.
    case told(LinkEffect)
  }

  /// A call of the app, by a number that counts the calls from 1.
  public struct Call: Sendable, Hashable {
    /// The number.
    public let number: Int
    /// What was called: `login`, `logout`, `renew`, `subscribe`, `unsubscribe`, `publish`, `states`, `network`, `join`,
    /// `leave`.
    public let name: String
    /// The channel; nil for calls that have none.
    public let channel: String?
    /// What was given besides, never a token.
    public let details: String?
  }
}

/// How a replay of a link ended.
public struct LinkReplayOutcome: Sendable {
  /// Where the link left the session; nil when it went through it.
  public let divergence: ReplayDivergence?
  /// When the session ended, or was left.
  public let time: Timestamp
  /// The link's state at the end.
  public let state: LinkState
  /// The calls that still waited.
  public let openCalls: [LinkObservation.Call]
  /// What the link would have sent next when the session broke off; nil when it waited.
  public let unsent: String?
}

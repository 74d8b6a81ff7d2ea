/// How a server of links behaves.
///
/// As JSON, the key `links` of a ``CloudScript``; with it, though it be empty, the cloud answers links:
///
/// ```json
/// {
///   "links": {
///     "tokens": { "stale": { "code": 6, "reason": 9 }, "short": { "lifetime": 60 } },
///     "refusedChannels": { "secret": 7 },
///     "lostChannels": ["gone"],
///     "refusedTopics": { "board": 7 },
///     "lostTopics": ["news"]
///   }
/// }
/// ```
public struct LinkServiceRules: Sendable, Hashable {
  /// What the server says to a token.
  public struct Token: Sendable, Hashable {
    /// The code of the answer; 0 is success.
    public var code: Int
    /// The number of the reason; nil leaves it out.
    public var reason: Int?
    /// How long the token is valid from each greeting on.
    public var lifetime: Duration

    /// Creates a rule.
    /// - Parameters:
    ///   - code: The code of the answer; 0 is success.
    ///   - reason: The number of the reason.
    ///   - lifetime: How long the token is valid from each greeting on.
    public init(code: Int = 0, reason: Int? = nil, lifetime: Duration = .seconds(86_400)) {
      self.code = code
      self.reason = reason
      self.lifetime = lifetime
    }
  }

  /// What is said to tokens that are not accepted for a day.
  public var tokens: [String: Token] = [:]
  /// The channels that users are not taken back into.
  public var lostChannels: Set<String> = []
  /// The channels that users are not taken into, with the code of the answer.
  public var refusedChannels: [String: Int] = [:]
  /// The topics of stream channels that users are not taken back into.
  public var lostTopics: Set<String> = []
  /// The topics of stream channels that users are not taken into, with the code of the answer.
  public var refusedTopics: [String: Int] = [:]
  /// How many users a channel has at most in which each event is told at once.
  public var announceLimit = 50
  /// How long events are collected in channels with more users.
  public var interval: Duration = .seconds(30)
  /// Whether the server hears nothing of what links send.
  public var isDeaf = false

  /// Creates the rules of a server that accepts all.
  public init() {}
}

/// Where the channel's log entries go, and how much each part of it tells.
///
/// Entries name topics, ids and codes; never parameters, payloads, tokens or passwords.
public struct ChannelLog: Sendable {
  /// How important an entry is.
  public enum Level: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// Something does not work and will not by itself.
    case error
    /// Something went wrong and is dealt with.
    case warning
    /// Something happened that an operator wants to know.
    case info
    /// Every step.
    case debug

    /// Tells whether one level is more important than another.
    public static func < (lhs: Level, rhs: Level) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// The part of the channel that tells something.
  public enum Module: String, Sendable, Hashable, CaseIterable {
    /// Opening, losing and closing the connection.
    case connection
    /// Subscribing and unsubscribing.
    case subscription
    /// Requests and replies.
    case call
    /// Binding and unbinding the account.
    case account
    /// Listeners of messages.
    case listener
    /// The lines of a gateway's sub-devices.
    case line
  }

  /// One entry.
  public struct Entry: Sendable, Hashable {
    /// How important it is.
    public var level: Level
    /// Which part tells it.
    public var module: Module
    /// What it says.
    public var message: String
  }

  /// The level of parts that have none of their own.
  public var level: Level
  /// The levels of parts.
  public var levels: [Module: Level]
  /// Takes the entries; it must return soon, and may call the channel.
  public var handler: (@Sendable (Entry) -> Void)?

  /// Creates a log.
  /// - Parameters:
  ///   - level: The level of parts that have none of their own.
  ///   - levels: The levels of parts.
  ///   - handler: Takes the entries; without one there are none.
  public init(
    level: Level = .warning, levels: [Module: Level] = [:],
    handler: (@Sendable (Entry) -> Void)? = nil
  ) {
    self.level = level
    self.levels = levels
    self.handler = handler
  }

  /// Tells whether entries of a part and a level are wanted.
  func takes(_ level: Level, _ module: Module) -> Bool {
    handler != nil && level <= levels[module] ?? self.level
  }
}

public import RepriseCore
import Synchronization

/// Where the log entries of the SDK go, and how much each part of it tells.
///
/// ```swift
/// let log = DeviceLog(level: .info, to: try LogFile("/var/log/lamp.log", limitInKB: 512))
/// configuration.log = log  // of a channel, a gateway, a link or a session
/// log.level = .debug  // from now on, for all of them
/// ```
///
/// At a desk `DeviceLog(level: .info) { print($0) }` is enough.
///
/// Copies share their levels. Entries name topics, identifiers and codes; never parameters, payloads, tokens or passwords.
public struct DeviceLog: Sendable {
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

  /// The system that tells something.
  public enum System: String, Sendable, Hashable, CaseIterable {
    /// The long connection of an app.
    case channel
    /// A gateway and its lines.
    case gateway
    /// The links of a user.
    case link
    /// Requests over a WebSocket or HTTP.
    case requests
    /// A session of the application's own topics.
    case mqtt
  }

  /// The part of a system that tells something.
  public enum Module: String, Sendable, Hashable, CaseIterable {
    /// Opening, losing and closing the connection.
    case connection
    /// Subscribing and unsubscribing.
    case subscription
    /// Messages, requests and replies.
    case call
    /// Binding and unbinding the account; tokens and logins.
    case account
    /// Listeners of messages.
    case listener
    /// The lines of a gateway's sub-devices.
    case line
  }

  /// One entry.
  public struct Entry: Sendable, Hashable {
    /// When it was, in the client's world.
    public var time: Timestamp
    /// Which system tells it.
    public var system: System
    /// How important it is.
    public var level: Level
    /// Which part tells it.
    public var module: Module
    /// What it says.
    public var message: String
  }

  private struct Levels {
    var level: Level
    var levels: [Module: Level]
  }

  /// What copies share.
  private final class Settings: Sendable {
    let levels: Mutex<Levels>
    init(_ levels: Levels) { self.levels = Mutex(levels) }
  }

  private let settings: Settings
  /// Takes the entries.
  private let handler: (@Sendable (Entry) -> Void)?

  /// Creates a log.
  /// - Parameters:
  ///   - level: The level of parts that have none of their own.
  ///   - levels: The levels of parts.
  ///   - handler: Takes the entries; without one there are none. It must return soon, and may call the SDK.
  public init(
    level: Level = .warning, levels: [Module: Level] = [:],
    handler: (@Sendable (Entry) -> Void)? = nil
  ) {
    settings = Settings(Levels(level: level, levels: levels))
    self.handler = handler
  }

  /// Creates a log that is written to a file.
  /// - Parameters:
  ///   - level: The level of parts that have none of their own.
  ///   - levels: The levels of parts.
  ///   - file: The file.
  public init(level: Level = .warning, levels: [Module: Level] = [:], to file: LogFile) {
    self.init(level: level, levels: levels) { file.write($0) }
  }

  /// The level of parts that have none of their own; a change holds for all copies from now on.
  public var level: Level {
    get { settings.levels.withLock(\.level) }
    nonmutating set { settings.levels.withLock { $0.level = newValue } }
  }

  /// The levels of parts; a change holds for all copies from now on.
  public var levels: [Module: Level] {
    get { settings.levels.withLock(\.levels) }
    nonmutating set { settings.levels.withLock { $0.levels = newValue } }
  }

  /// Tells whether entries of a part and a level are wanted.
  func takes(_ level: Level, _ module: Module) -> Bool {
    handler != nil && level <= settings.levels.withLock { $0.levels[module] ?? $0.level }
  }

  /// Writes an entry that is wanted.
  func write(_ entry: Entry) { handler?(entry) }
}

extension DeviceLog: Hashable {
  /// Copies are equal, and so are logs that go nowhere.
  public static func == (lhs: DeviceLog, rhs: DeviceLog) -> Bool {
    lhs.handler == nil ? rhs.handler == nil : lhs.settings === rhs.settings
  }

  /// Hashes what makes logs equal.
  public func hash(into hasher: inout Hasher) {
    if handler != nil { hasher.combine(ObjectIdentifier(settings)) }
  }
}

extension DeviceLog.Entry: CustomStringConvertible {
  /// The entry as a line of a ``LogFile``: time, level, system with its part, message.
  public var description: String {
    // What a server has said must not look like lines of its own.
    let message = message.unicodeScalars.reduce(into: "") { text, scalar in
      let isControl = scalar.properties.generalCategory == .control
      text += isControl ? scalar.escaped(asASCII: true) : String(scalar)
    }
    return "\(time) \(level) \(system.rawValue)/\(module.rawValue) \(message)"
  }
}

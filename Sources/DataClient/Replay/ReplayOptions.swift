/// How a ``ReplayClient`` compares, waits and tells the time.
public struct ReplayOptions: Sendable {
  /// How exactly actions have to be those of the session.
  public var match: ReplayMatch
  /// Which values are made anew in every run.
  public var roles: ReplayRoles
  /// Whether time jumps or passes.
  public var pace: ReplayPace
  /// Who performs actions.
  public var actors: ReplayActors
  /// How much later than recorded a timer of the user may fire; for delays with jitter.
  public var timerTolerance: Duration
  /// The file that the session was read from, as it is typed in commands; for messages.
  public var source: String?

  /// Creates options.
  public init(
    match: ReplayMatch = .json, roles: ReplayRoles = .standard, pace: ReplayPace = .virtual,
    actors: ReplayActors = .anyTask, timerTolerance: Duration = .zero, source: String? = nil
  ) {
    self.match = match
    self.roles = roles
    self.pace = pace
    self.actors = actors
    self.timerTolerance = timerTolerance
    self.source = source
  }
}

/// How exactly an action has to be the recorded one.
public enum ReplayMatch: String, Sendable, Hashable, CaseIterable {
  /// Everything is equal, a payload byte by byte; no value may be made anew.
  case strict
  /// The kind, topics and filters are equal.
  case topic
  /// Everything is equal, payloads as JSON where they are JSON, but for ``ReplayRoles``.
  case json
}

/// Who performs actions on a replaying client.
///
/// When the next thing in the session is an action that was not performed, and the reader's deadline is
/// later than it, somebody else must perform it before time can go on.
public enum ReplayActors: Sendable, Hashable {
  /// Any task may: the reader is suspended until one does.
  case anyTask
  /// The reader alone does: nothing can ever happen, so the replay has diverged.
  case readerOnly
}

/// Whether the time of a replay jumps or passes.
public enum ReplayPace: Sendable {
  /// Time jumps to the next event or deadline.
  case virtual
  /// Time passes by a clock, so many times as fast as it was recorded; from 0.000001 on, at which a second takes
  /// twelve days.
  ///
  /// It passes while the reader works, too, and stands while the session waits for an action that is late.
  case scaled(Double, by: any Clock<Duration>)

  /// The slowest pace, in decimal: slower ones make a recorded pause longer than a duration can be.
  package static let slowestText = "0.000001"

  /// Tells whether time can pass so many times as fast.
  /// - Parameter factor: How many times.
  /// - Returns: Whether it is a number that is not too small.
  package static func isPossible(_ factor: Double) -> Bool {
    factor >= 0.000_001 && factor.isFinite
  }

  /// Time passes as it was recorded.
  /// - Parameter clock: The clock that the replay sleeps by.
  /// - Returns: The pace.
  public static func recorded(by clock: any Clock<Duration>) -> ReplayPace {
    .scaled(1, by: clock)
  }
}

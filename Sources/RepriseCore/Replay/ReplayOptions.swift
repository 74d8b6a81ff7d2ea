/// How a ``ReplayClient`` compares, waits and tells the time.
public struct ReplayOptions: Sendable {
  /// How exactly actions have to be those of the session.
  public var match: ReplayMatch
  /// Which values are made anew in every run.
  public var roles: ReplayRoles
  /// Whether actions may come in another order than recorded where nothing shows why they had that one.
  public var order: ReplayOrder
  /// Whether time jumps or passes.
  public var pace: ReplayPace
  /// The tasks that perform actions.
  public var actors: ReplayActors
  /// How much later than recorded a timer of the user may fire; for delays with jitter.
  public var timerTolerance: Duration
  /// The path of the URL that the recorded client had for a base: `/v1`.
  ///
  /// The paths of requests are relative to it. Nil takes what a recording says, and the root of a captured server.
  public var requestBase: String?
  /// How long an action that is due may be missing before the replay says so.
  public var patience: ReplayPatience
  /// The file that the session was read from, as it is typed in commands; for messages.
  public var source: String?

  /// Creates options.
  public init(
    match: ReplayMatch = .json, roles: ReplayRoles = .standard, order: ReplayOrder = .causal,
    pace: ReplayPace = .virtual, actors: ReplayActors = .anyTask, timerTolerance: Duration = .zero,
    patience: ReplayPatience = .standard, source: String? = nil, requestBase: String? = nil
  ) {
    self.match = match
    self.roles = roles
    self.order = order
    self.patience = patience
    self.pace = pace
    self.actors = actors
    self.timerTolerance = timerTolerance
    self.source = source
    self.requestBase = requestBase
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

/// In which order actions have to come.
public enum ReplayOrder: String, Sendable, Hashable, CaseIterable {
  /// As their causes ask: actions that nothing inbound separates may come in any order among themselves.
  ///
  /// What the application may have waited for separates: a message, a connection's beginning and end, and a PUBACK
  /// or PUBCOMP that leaves no other action under way. A message behind SUBACKs follows one of these subscriptions.
  ///
  /// A call is a request that is answered by a message with the same identifier, and the subscription that it begins
  /// with. Replies to other calls do not separate it, unless it carries what one of them has brought: of calls that
  /// were made at once one may have been answered before the last was made. An application that waits for a reply
  /// that the session has behind another call is stalled.
  ///
  /// Whether one task made actions one after the other or several tasks made them at once is not in a recording. So
  /// these are no longer told apart: subscriptions in another order, a message before the second of two subscriptions
  /// that it followed, and messages on one topic, in another order, that one task sent without waiting for anything
  /// (QoS 0, or QoS 1 where the first PUBACK came behind the second PUBLISH). Where the task waited for each PUBACK or
  /// each reply, their order is checked.
  case causal
  /// As recorded, one after the other.
  case recorded
}

/// How long a replay waits for an action that is due and that some task may perform.
///
/// Nothing else can happen until it is performed, so an application that waits for something else waits for ever.
public enum ReplayPatience: Sendable {
  /// For ever: people act, or a debugger holds them up.
  case unlimited
  /// As long as a clock says; longer than any work that the application does between two actions.
  ///
  /// Where ``ReplayOptions/pace`` lets time pass, patience is unlimited all the same.
  case limited(Duration, by: any Clock<Duration>)

  /// Ten seconds of real time.
  public static var standard: ReplayPatience { .limited(.seconds(10), by: ContinuousClock()) }
}

/// The tasks that perform actions on a replaying client.
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
  /// Time jumps to the next event or deadline of all clients that share it.
  case shared(SharedTime)

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

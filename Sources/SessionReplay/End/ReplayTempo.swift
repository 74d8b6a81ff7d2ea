package import RepriseCore

/// How the time of a session becomes that of a replay.
///
/// Something is done no sooner behind what came before it than it was in the session. What comes late makes all that
/// follows as much later.
package struct ReplayTempo: Sendable {
  /// How many times as fast as recorded; nil does not wait.
  private let factor: Double?
  /// What came last by this tempo: when, and when in the session.
  private var anchor: (time: Timestamp, recorded: Timestamp)?

  /// Creates a tempo that has not begun.
  /// - Parameter factor: How many times as fast as recorded; nil does not wait.
  package init(_ factor: Double?) { self.factor = factor }

  /// Takes note of something that has happened.
  /// - Parameters:
  ///   - time: When.
  ///   - recorded: When in the session.
  package mutating func note(_ time: Timestamp, _ recorded: Timestamp) {
    guard let factor, let anchor else { return self.anchor = (time, recorded) }
    let wanted = Double(recorded.nanoseconds(since: anchor.recorded)) / factor
    if Double(time.nanoseconds(since: anchor.time)) >= wanted { self.anchor = (time, recorded) }
  }

  /// When something is due.
  /// - Parameter recorded: When it happened in the session.
  /// - Returns: The time; that before all times where it need not wait.
  package func due(_ recorded: Timestamp) -> Timestamp {
    guard let anchor else { return Timestamp(nanoseconds: .min) }
    return due(recorded, behind: anchor.recorded, at: anchor.time)
  }

  /// When something is due that follows from one thing.
  /// - Parameters:
  ///   - recorded: When it happened in the session.
  ///   - cause: When that happened in the session which it follows from.
  ///   - time: When that has happened.
  /// - Returns: The time.
  package func due(
    _ recorded: Timestamp, behind cause: Timestamp, at time: Timestamp
  ) -> Timestamp {
    time.advanced(by: wait(from: cause, to: recorded))
  }

  /// How long to wait between two moments of the session.
  private func wait(from earlier: Timestamp, to later: Timestamp) -> Duration {
    guard let factor else { return .zero }
    return .nanoseconds(Self.scaled(max(0, later.nanoseconds(since: earlier)), by: 1 / factor))
  }

  /// The longest time that the other end may take for a recorded one: its own time is not that of the replay.
  /// - Parameters:
  ///   - earlier: A moment of the session.
  ///   - later: A later one.
  /// - Returns: The time.
  package func patience(from earlier: Timestamp, to later: Timestamp) -> Duration {
    let recorded = Duration.nanoseconds(max(0, later.nanoseconds(since: earlier)))
    return max(recorded, wait(from: earlier, to: later))
  }

  private static func scaled(_ nanoseconds: Int64, by factor: Double) -> Int64 {
    let result = Double(nanoseconds) * factor
    // A tenth of what fits, so that it can be added to any time of this age.
    return result < 0x1p60 ? Int64(result) : 1 << 60
  }
}

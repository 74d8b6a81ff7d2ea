package import RepriseCore
import SessionReplay

/// How a replay ended.
package enum ReplayEnding: Sendable {
  /// All of the session has happened.
  case done
  /// The other end left the session.
  case diverged(ReplayDivergence)
  /// There is no other end; the text says why.
  case unreachable(String)
}

/// What there is to tell of a replay.
package struct ReplayNews {
  /// What was said by either end and not told, in order.
  private var said: [Event] = []
  /// How the replay ended; nil as long as it goes on.
  var ending: ReplayEnding?

  /// Notes what an end said.
  /// - Parameter event: It, with its place in the session and the time of now.
  mutating func append(_ event: Event) { said.append(event) }

  /// Ends the replay where the other end has left the session.
  /// - Parameter divergence: How it did; nil where it did not.
  mutating func diverge(_ divergence: ReplayDivergence?) {
    if let divergence { ending = .diverged(divergence) }
  }

  /// Takes what was said since the last time.
  mutating func take() -> [Event] {
    defer { said = [] }
    return said
  }

  /// Waits for the other end, and ends the replay where it has said nothing for too long.
  /// - Parameters:
  ///   - end: The end that is played, which waits.
  ///   - tempo: How fast the session goes.
  ///   - now: The time.
  /// - Returns: How long it is waited for; nil where it is not any more.
  mutating func awaiting(
    _ end: ReplayedEnd, by tempo: ReplayTempo, _ now: Timestamp
  ) -> Timestamp? {
    guard let deadline = end.deadline(by: tempo), deadline <= now else {
      return end.deadline(by: tempo)
    }
    diverge(end.givingUp("sends nothing more"))
    return nil
  }
}

import RepriseCore

/// How the client of a session came back after losses.
extension RecordedSession {
  /// The shortest time between a loss and the next try; nil when there was none.
  ///
  /// A delay that is over too soon waits in a replay; one that is over too late leaves the session.
  var shortestPause: Duration? {
    var shortest: Int64?
    for end in ends where end.reason != .byUser {
      guard let next = connect(after: end) else { continue }
      let pause = max(0, next.place.time.nanoseconds(since: end.time))
      shortest = min(shortest ?? pause, pause)
    }
    return shortest.map { .nanoseconds($0) }
  }

  /// Tells whether the client connected again although it was kicked out too often.
  func goesOnWhenKicked(_ limit: Int, _ window: Duration) -> Bool {
    var kicks = KickCounter(limit: limit, window: window)
    for end in ends {
      guard let acceptedAt = end.acceptedAt else { continue }
      kicks.noteAccepted(acceptedAt)
      if kicks.noteClosed(end.reason, end.time), connect(after: end) != nil { return true }
    }
    return false
  }

  private func connect(after end: End) -> Action? {
    guard end.actionCount < actions.count else { return nil }
    let next = actions[end.actionCount]
    if case .connect = next.kind { return next }
    return nil
  }
}

extension BackOff {
  /// The same delay each time.
  static func exactly(_ delay: Duration) -> BackOff {
    BackOff(first: delay, longest: delay, jitterPercent: 0)
  }
}

/// The passing of a session's time by a clock, from one moment on.
///
/// Moments are counted from the beginning, so that sleeps which take too long do not add up.
struct ReplayCourse: Sendable {
  private let start: Timestamp
  private let factor: Double
  /// How much time of the clock has passed.
  private let passed: @Sendable () -> Duration

  /// Begins now.
  /// - Parameters:
  ///   - start: The moment of the session.
  ///   - factor: How many times as fast as the clock its time passes.
  ///   - clock: The clock.
  init(from start: Timestamp, _ factor: Double, by clock: any Clock<Duration>) {
    self.start = start
    self.factor = factor
    passed = Self.stopwatch(clock)
  }

  private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
    let start = clock.now
    return { start.duration(to: clock.now) }
  }

  /// The time of the clock from now until a moment of the session; nil when that is there.
  func rest(until end: Timestamp) -> Duration? {
    let rest = duration(until: end) - passed()
    return rest > .zero ? rest : nil
  }

  /// The moment of the session that it is now, not behind another one.
  func now(before end: Timestamp) -> Timestamp {
    let passed = passed()
    guard passed < duration(until: end) else { return end }
    return min(end, start.advanced(by: passed * factor))
  }

  private func duration(until end: Timestamp) -> Duration {
    .nanoseconds(end.nanoseconds(since: start)) / factor
  }
}

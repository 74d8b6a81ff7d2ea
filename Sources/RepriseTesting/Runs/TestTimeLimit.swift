import Testing

/// The time limit of a test, by which Testing cancels it.
enum TestTimeLimit {
  /// Why an action was not performed, in a test that took too long.
  static let reason = "the test reached its time limit, and had not performed it"
  /// The limit is counted from before a recording is read.
  private static let share = 0.9

  /// Tells whether the running test is over because it takes too long.
  /// - Parameter start: When its body began.
  /// - Returns: Whether it is cancelled, and at the end of its time limit.
  static func isExceeded(since start: ContinuousClock.Instant) -> Bool {
    guard Task.isCancelled, let limit = Test.current?.timeLimit else { return false }
    return ContinuousClock.now - start >= limit * share
  }
}

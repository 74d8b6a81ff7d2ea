/// What the command tells its caller when it ends.
enum ExitStatus: Int32, Sendable {
  /// Done, and nothing is violated.
  case done = 0
  /// Done, and something failed: a clause is violated.
  case failed = 1
  /// It could not be done.
  case unable = 2
  /// Interrupted from the keyboard; what was written stays.
  case interrupted = 130
  /// Terminated; what was written stays.
  case terminated = 143
}

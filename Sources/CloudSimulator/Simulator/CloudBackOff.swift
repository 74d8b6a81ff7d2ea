/// How long the simulator waits before it connects again: doubling from the first to the longest.
public struct CloudBackOff: Sendable, Hashable {
  /// The delay after the first failure.
  public var first: Duration
  /// The longest delay.
  public var longest: Duration
  /// How many attempts in a row may fail; nil is any number.
  public var limit: Int?

  /// Creates a rule; as it stands 1, 2, 4, … 60 seconds, without end.
  /// - Parameters:
  ///   - first: The delay after the first failure.
  ///   - longest: The longest delay.
  ///   - limit: How many attempts in a row may fail.
  public init(
    first: Duration = .seconds(1), longest: Duration = .seconds(60), limit: Int? = nil
  ) {
    self.first = first
    self.longest = longest
    self.limit = limit
  }

  /// Returns the delay after a failure.
  /// - Parameter failures: How many attempts in a row have failed, from 1.
  /// - Returns: The delay; nil when there were too many.
  public func delay(after failures: Int) -> Duration? {
    if let limit, failures > limit { return nil }
    var delay = min(first, longest)
    for _ in 0..<max(0, min(failures - 1, 62)) where delay < longest {
      delay = min(delay + delay, longest)
    }
    return delay
  }
}

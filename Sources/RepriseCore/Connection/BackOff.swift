/// How long to wait before a next try: doubling from the first delay to the longest.
public struct BackOff: Sendable, Hashable {
  /// The delay before the first new try.
  public var first: Duration
  /// The longest delay, before jitter.
  public var longest: Duration
  /// How much of a delay may be added to it by chance, in percent.
  public var jitterPercent: UInt8

  /// Creates a rule; as it stands 1, 2, 4, … 60 seconds and up to a quarter more.
  /// - Parameters:
  ///   - first: The delay before the first new try.
  ///   - longest: The longest delay, before jitter.
  ///   - jitterPercent: How much of a delay may be added to it by chance, in percent.
  public init(
    first: Duration = .seconds(1), longest: Duration = .seconds(60), jitterPercent: UInt8 = 25
  ) {
    self.first = first
    self.longest = longest
    self.jitterPercent = jitterPercent
  }

  /// Returns the delay before a new try, without jitter.
  /// - Parameter attempt: How many tries were in vain since the last success, from 0.
  /// - Returns: The delay.
  public func delay(attempt: Int) -> Duration {
    var delay = min(first, longest)
    for _ in 0..<max(0, min(attempt, 62)) {
      guard delay < longest else { return longest }
      delay = min(delay + delay, longest)
    }
    return delay
  }

  /// Returns the delay before a new try, with jitter.
  /// - Parameters:
  ///   - attempt: How many tries were in vain since the last success, from 0.
  ///   - random: Where the jitter comes from.
  /// - Returns: The delay.
  package func delay(attempt: Int, random: inout SeededGenerator) -> Duration {
    let delay = delay(attempt: attempt)
    guard jitterPercent > 0 else { return delay }
    // In millionths of the delay, so that the product stays far from any limit.
    let share = random.next() % (UInt64(jitterPercent) * 10_000 + 1)
    let (extra, overflow) = (delay.clampedNanoseconds / 1_000_000)
      .multipliedReportingOverflow(by: Int64(share))
    return overflow ? delay : delay + .nanoseconds(extra)
  }
}

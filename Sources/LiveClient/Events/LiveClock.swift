import Glibc
package import RepriseCore

/// The time of live clients: it starts at the time of day and then follows the monotonic clock.
///
/// So it never runs backwards, and setting the computer's clock moves no deadline.
package struct LiveClock: Sendable {
  private let origin: Int64
  private let start: Int64

  /// Starts a clock.
  package init() {
    origin = Self.nanoseconds(of: CLOCK_REALTIME)
    start = Self.nanoseconds(of: CLOCK_MONOTONIC)
  }

  /// The time.
  package var now: Timestamp {
    Timestamp(nanoseconds: origin &+ (Self.nanoseconds(of: CLOCK_MONOTONIC) &- start))
  }

  /// How many milliseconds `poll` has to wait for a moment, rounded up; 0 when it is past.
  package func milliseconds(until deadline: Timestamp) -> Int32 {
    let nanoseconds = deadline.nanoseconds(since: now)
    guard nanoseconds > 0 else { return 0 }
    return Int32(clamping: (nanoseconds - 1) / 1_000_000 + 1)
  }

  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}

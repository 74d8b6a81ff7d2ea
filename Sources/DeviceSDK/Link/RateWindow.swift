import RepriseCore

/// Counts what happens within a moving stretch of time.
struct RateWindow: Sendable {
  private let limit: Int
  private let window: Duration
  private var times: [Timestamp] = []
  private var oldest = 0

  /// Allows so many events in any stretch of a length.
  init(_ limit: Int, per window: Duration) {
    self.limit = limit
    self.window = window
  }

  /// Counts an event, unless there were too many.
  /// - Returns: Whether it may happen.
  mutating func count(_ now: Timestamp) -> Bool {
    guard times.count == limit else {
      times.append(now)
      return true
    }
    guard times[oldest].advanced(by: window) <= now else { return false }
    times[oldest] = now
    oldest = (oldest + 1) % limit
    return true
  }

  /// Whether nothing that was counted matters any more.
  func isOver(_ now: Timestamp) -> Bool { times.allSatisfy { $0.advanced(by: window) <= now } }
}

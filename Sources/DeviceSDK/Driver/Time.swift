import DataClient

extension Duration {
  /// The duration in nanoseconds; clamped, never negative.
  var clampedNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !overflow else { return .max }
    let (sum, tooLarge) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return tooLarge ? .max : sum
  }
}

/// Returns the earlier of two moments, of which nil is never.
func earlier(_ first: Timestamp?, _ second: Timestamp?) -> Timestamp? {
  guard let first else { return second }
  guard let second else { return first }
  return min(first, second)
}

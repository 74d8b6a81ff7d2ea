import DataClient

extension Timestamp {
  /// Returns the moment that is a duration later; clamped, never overflowing.
  func advanced(by duration: Duration) -> Timestamp {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return self }
    let (scaled, isScaledTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (length, isLengthTooLarge) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    let (sum, isSumTooLarge) = nanoseconds.addingReportingOverflow(length)
    let isTooLarge = isScaledTooLarge || isLengthTooLarge || isSumTooLarge
    return Timestamp(nanoseconds: isTooLarge ? .max : sum)
  }

  /// Milliseconds since 1970-01-01T00:00:00Z, as the cloud's messages have them.
  var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

/// Returns the earlier of two moments, of which nil is never.
func earlier(_ first: Timestamp?, _ second: Timestamp?) -> Timestamp? {
  guard let first else { return second }
  guard let second else { return first }
  return min(first, second)
}

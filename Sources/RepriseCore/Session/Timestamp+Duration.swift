extension Duration {
  /// The duration in nanoseconds; clamped, never negative.
  package var clampedNanoseconds: Int64 { max(0, inNanoseconds) }

  /// The duration in nanoseconds, clamped.
  var inNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, sumOverflow) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    guard overflow || sumOverflow else { return sum }
    return seconds < 0 ? .min : .max
  }
}

extension Timestamp {
  /// Milliseconds since 1970-01-01T00:00:00Z.
  package var milliseconds: Int64 { nanoseconds / 1_000_000 }

  /// Returns a later moment; clamped, never overflowing.
  /// - Parameter duration: How much later.
  /// - Returns: The moment.
  public func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.inNanoseconds)
    guard overflow else { return Timestamp(nanoseconds: sum) }
    return Timestamp(nanoseconds: duration < .zero ? .min : .max)
  }
}

/// Returns the earlier of two moments, of which nil is never.
package func earlier(_ first: Timestamp?, _ second: Timestamp?) -> Timestamp? {
  guard let first else { return second }
  guard let second else { return first }
  return min(first, second)
}

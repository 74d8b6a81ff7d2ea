extension Duration {
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
  /// Returns a later moment; clamped, never overflowing.
  /// - Parameter duration: How much later.
  /// - Returns: The moment.
  public func advanced(by duration: Duration) -> Timestamp {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.inNanoseconds)
    guard overflow else { return Timestamp(nanoseconds: sum) }
    return Timestamp(nanoseconds: duration < .zero ? .min : .max)
  }
}

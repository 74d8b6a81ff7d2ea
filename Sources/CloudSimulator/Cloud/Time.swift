import DataClient

extension Timestamp {
  /// Milliseconds since 1970-01-01T00:00:00Z, as the cloud's messages have them.
  var milliseconds: Int64 { nanoseconds / 1_000_000 }
}

/// Returns the earlier of two moments, of which nil is never.
func earlier(_ first: Timestamp?, _ second: Timestamp?) -> Timestamp? {
  guard let first else { return second }
  guard let second else { return first }
  return min(first, second)
}

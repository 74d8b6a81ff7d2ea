internal import RepriseCore

// How long an end may take for what no standard gives a time.
extension Timestamp {
  /// How long a receiver of what is bad may take to close, in nanoseconds.
  private static let leniency: Int64 = 1_000_000_000

  /// Whether so much time has passed since an earlier moment that it can be held against a peer.
  func isLate(since earlier: Timestamp) -> Bool {
    nanoseconds(since: earlier) > ConnectionState.patience
  }

  /// Whether a receiver should have closed by now for what was bad at an earlier moment.
  ///
  /// Until then it may answer what comes behind the bad packet or frame: no sentence of MQTT or of RFC 6455 says how
  /// soon it has to close.
  func isBehindLeniency(since earlier: Timestamp) -> Bool {
    nanoseconds(since: earlier) >= Self.leniency
  }
}

internal import RepriseCore

/// The shortest times that messages of a connection took to the clients of a host.
///
/// Where two clocks timed them, all took as long at least as the clocks differ, be they of two captures that were put
/// together.
struct Latencies {
  private var shortest = FlatTable(limit: 16_384, empty: Int64.max)

  /// Takes the time that a message took, in nanoseconds.
  mutating func note(_ time: Int64, from connection: Int, to host: UInt64) {
    _ = shortest.update(Self.key(connection, host)) { shortest, _ in
      shortest = min(shortest, max(0, time))
    }
  }

  /// How much later than the messages of a connection what the clients of a host get may have been timed, in nanoseconds.
  func lead(from connection: Int, to host: UInt64) -> Int64 {
    shortest[Self.key(connection, host)] ?? 0
  }

  private static func key(_ connection: Int, _ host: UInt64) -> UInt64 {
    host ^ UInt64(truncatingIfNeeded: connection) &* 0x9E37_79B9_7F4A_7C15
  }
}

/// When messages came late, by the connections of their receivers: then others wait in front of those that come next, and
/// a server may give up some.
struct DeliveryLags {
  private var latest: [Int: Timestamp] = [:]
  private static let maximum = 4_096
  /// How late that is, in nanoseconds.
  static let least: Int64 = 100_000_000

  /// Takes a message that came late.
  mutating func note(on connection: Int, at time: Timestamp) {
    guard latest.count < Self.maximum || latest[connection] != nil else { return }
    latest[connection] = time
  }

  /// Whether messages came late behind a moment, or may have.
  func wereLate(on connection: Int, since time: Timestamp) -> Bool {
    guard let late = latest[connection] else { return latest.count == Self.maximum }
    return late >= time
  }

  mutating func leave(_ connection: Int) {
    if !latest.isEmpty { latest[connection] = nil }
  }
}

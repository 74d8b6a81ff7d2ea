package import Capture
package import RepriseCore

/// Several taps, of which each sees all that passes.
package final class ProxyTaps: ProxyTap {
  private let taps: [any ProxyTap]

  /// Joins taps.
  /// - Parameter taps: The taps, in the order in which they see it.
  package init(_ taps: [any ProxyTap]) { self.taps = taps }

  package func opened(_ client: ProxyClient, at time: Timestamp) {
    for tap in taps { tap.opened(client, at: time) }
  }

  package func reached(_ connection: Int, _ outcome: ProxyOutcome, at time: Timestamp) {
    for tap in taps { tap.reached(connection, outcome, at: time) }
  }

  package func passed(
    _ connection: Int, from sender: Peer, _ bytes: RawSpan, at time: Timestamp
  ) {
    for tap in taps { tap.passed(connection, from: sender, bytes, at: time) }
  }

  package func altered(_ connection: Int, of senders: [Peer], _ comment: String) {
    for tap in taps { tap.altered(connection, of: senders, comment) }
  }

  package func ended(
    _ connection: Int, by peer: Peer, _ end: StreamRecorder.End, at time: Timestamp
  ) {
    for tap in taps { tap.ended(connection, by: peer, end, at: time) }
  }

  package func closed(_ connection: Int, at time: Timestamp) {
    for tap in taps { tap.closed(connection, at: time) }
  }

  package func settle(_ time: Timestamp) throws -> Timestamp? {
    var earliest: Timestamp?
    for tap in taps {
      guard let wish = try tap.settle(time) else { continue }
      earliest = min(wish, earliest ?? wish)
    }
    return earliest
  }

  package var isFull: Bool { taps.contains(where: \.isFull) }

  package func finish(_ time: Timestamp) throws {
    for tap in taps { try tap.finish(time) }
  }
}

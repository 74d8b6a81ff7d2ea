internal import RepriseCore

/// Whether the times of the two directions of a connection can be compared, and say how long anything took.
///
/// Events come in an order that is causally possible, whatever their times. Where one direction answers
/// what by its time the other sends much later only, both were captured by clocks that differ, or one
/// was held back on its way to the capture: then no time between them says how long anything took.
struct ConnectionClocks {
  private var client = Timestamp(nanoseconds: .min)
  private var server = Timestamp(nanoseconds: .min)
  /// The last frame in the capture that told a time, and that time: behind it none is earlier, unless a clock was set.
  private var latest = Timestamp(nanoseconds: .min)
  private var latestFrame: UInt32 = 0
  /// Whether their times contradict the order of events, or the clock may have been set.
  private(set) var differ = false
  /// Whether the clock may have been set while the connection was open.
  private var mayBeSet = false
  /// So much they may differ, in nanoseconds: every rule that goes by time leaves at least as much room.
  private static let tolerance: Int64 = 1_000_000_000

  /// Why no time between two events says how long anything took, where it does not.
  var doubt: UndecidedReason { mayBeSet ? .clockMayBeSet : .clocksDiffer }

  /// Takes note that the clock may have been set.
  mutating func noteSet() {
    mayBeSet = true
    differ = true
  }

  /// Takes the next event of a direction.
  @inline(__always)
  mutating func take(_ moment: Moment, of peer: Peer) {
    let time = moment.time
    if moment.frame > latestFrame {
      if time < latest, latest.nanoseconds(since: time) > Self.tolerance { differ = true }
      (latest, latestFrame) = (time, UInt32(clamping: moment.frame))
    }
    if peer == .client {
      // What waited for earlier bytes of its direction came to nobody before them.
      client = max(client, time)
      if server > client, server.nanoseconds(since: client) > Self.tolerance { differ = true }
    } else {
      server = max(server, time)
      if client > server, client.nanoseconds(since: server) > Self.tolerance { differ = true }
    }
  }
}

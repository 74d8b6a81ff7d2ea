/// Where the clock of a capture was set forward while nothing was captured.
///
/// What shows it is the clock of an end, or an acknowledgement that no end would have waited for: of one connection.
/// It holds for all that were open meanwhile. Where anything was captured meanwhile nothing was left out by the clock, and
/// what seemed to show it says something of its own connection only.
struct ClockSteps {
  /// How long nothing was captured where a clock may have been set, in nanoseconds.
  private static let least: Int64 = 2_000_000_000
  /// The most of such pauses that are kept, the latest ones.
  private static let most = 64

  private struct Pause {
    var from: Int64
    var to: Int64
    /// Whether some connection shows that less time has passed.
    var isSet = false
  }

  private var pauses: [Pause] = []

  /// Takes the times of two segments of which nothing was captured in between.
  @inline(__always)
  mutating func take(_ time: Int64, behind earlier: Int64) {
    guard time &- earlier > Self.least else { return }
    add(Pause(from: earlier, to: time))
  }

  @inline(never)
  private mutating func add(_ pause: Pause) {
    if pauses.count == Self.most {
      // One that was set stays, as long as there are others.
      pauses.remove(at: pauses.firstIndex { !$0.isSet } ?? 0)
    }
    pauses.append(pause)
  }

  /// Takes that a connection shows that less time has passed between two moments than the capture says.
  mutating func note(from: Int64, to: Int64) {
    for index in pauses.indices where pauses[index].from >= from && pauses[index].to <= to {
      pauses[index].isSet = true
    }
  }

  /// Whether the clock was set while a connection was open.
  func isSet(from: Int64, to: Int64) -> Bool {
    pauses.contains { $0.isSet && $0.to > from && $0.from < to }
  }
}

/// Whether a capture was put together of two that hold the same traffic, timed by clocks that differ.
///
/// What both hold stands twice in it, always so much apart as the clocks differ. A segment that is sent again comes sooner
/// or later each time, and not when its receiver has acknowledged it: so it takes several that did, of both directions,
/// captured over a while and repeated at one distance. Then a time says something only beside others of the same clock, and
/// of which clock it is nobody knows.
struct MergedClocks {
  /// A segment with the time when it was first captured.
  private struct Entry {
    var mark: UInt64
    var time: Int64
  }

  /// What was repeated at one distance.
  private struct Repeats {
    var distance: Int64
    var counts = SIMD2<UInt32>()
    /// When the first and the last of it were captured for the first time.
    var first: Int64
    var last: Int64
  }

  /// Whether it was.
  private(set) var areThere = false
  private var entries: [Entry] = []
  private var repeats: [Repeats] = []

  private static let places = 1 << 15
  private static let most = 8
  /// The least distance that counts, in nanoseconds: every rule that goes by time leaves as much room.
  private static let least: Int64 = 1_000_000_000
  /// How much distances differ where captures were taken at both ends of a long way.
  private static let tolerance: Int64 = 250_000_000
  /// How many segments it takes, captured over how long: what is sent again at once had not been sent so.
  private static let fewest: UInt32 = 6
  private static let span: Int64 = 1_000_000_000

  /// Takes a segment.
  /// - Parameters:
  ///   - mark: What tells it from others; not 0.
  ///   - side: Who sent it.
  ///   - time: When it was captured.
  ///   - isAcknowledged: Whether its receiver has acknowledged it before; asked for a repeated one alone.
  @inline(__always)
  mutating func take(
    _ mark: UInt64, of side: Side, at time: Int64, isAcknowledged: () -> Bool
  ) {
    if entries.isEmpty {
      entries = Array(repeating: Entry(mark: 0, time: 0), count: Self.places)
    }
    let place = Int(truncatingIfNeeded: mark >> 32) & (Self.places - 1)
    let entry = entries[place]
    if entry.mark == mark {
      if isAcknowledged() { meet(entry.time, of: side, at: time) }
    } else if entry.mark == 0 || !place.isMultiple(of: 2) {
      // Half of the places keep what came first, as the clocks may differ by hours, and half what came last.
      entries[place] = Entry(mark: mark, time: time)
    }
  }

  /// Takes a segment that was captured at an earlier time as well.
  @inline(never)
  private mutating func meet(_ first: Int64, of side: Side, at time: Int64) {
    let distance = time &- first
    guard distance.magnitude > UInt64(Self.least) else { return }
    let known = repeats.firstIndex { ($0.distance &- distance).magnitude <= UInt64(Self.tolerance) }
    var found =
      known.map { repeats.remove(at: $0) } ?? Repeats(distance: distance, first: first, last: first)
    found.counts[side.rawValue] &+= 1
    found.first = min(found.first, first)
    found.last = max(found.last, first)
    // What was met longest ago goes first.
    if repeats.count == Self.most { repeats.removeFirst() }
    repeats.append(found)
    if found.counts.min() > 0, found.counts.wrappedSum() >= Self.fewest,
      found.last &- found.first >= Self.span
    {
      areThere = true
    }
  }
}

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

  /// How many entries there may be, and how many there is room for at first: most captures are small, and to clear room
  /// for all of them takes as long as to read one.
  private static let places = 1 << 15
  private static let fewestPlaces = 1 << 8
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
    let place = Self.place(of: mark, among: entries.count)
    guard place < entries.count else { return add(Entry(mark: mark, time: time)) }
    let known = entries[place]
    if known.mark == mark {
      if isAcknowledged() { meet(known.time, of: side, at: time) }
    } else if known.mark == 0 {
      entries[place] = Entry(mark: mark, time: time)
    } else {
      add(Entry(mark: mark, time: time))
    }
  }

  /// The place of a mark; the places are as many as a power of two, or none.
  @inline(__always)
  private static func place(of mark: UInt64, among count: Int) -> Int {
    Int(truncatingIfNeeded: mark >> 32) & (count &- 1)
  }

  /// Adds a segment whose place another one has: there are twice as many places then, as long as there may be more.
  ///
  /// So nothing is lost as long as it would not be if there were as many as there may be from the beginning.
  @inline(never)
  private mutating func add(_ entry: Entry) {
    var place = Self.place(of: entry.mark, among: entries.count)
    while entries.count < Self.places, entries.isEmpty || entries[place].mark != 0 {
      grow()
      place = Self.place(of: entry.mark, among: entries.count)
    }
    // Half of the places keep what came first, as the clocks may differ by hours, and half what came last.
    if entries[place].mark == 0 || !place.isMultiple(of: 2) { entries[place] = entry }
  }

  private mutating func grow() {
    let old = entries
    let count = max(Self.fewestPlaces, 2 * old.count)
    entries = Array(repeating: Entry(mark: 0, time: 0), count: count)
    for entry in old where entry.mark != 0 {
      entries[Self.place(of: entry.mark, among: count)] = entry
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

/// Watches whether what an end of a connection sends arrives soon: a capture shows when it was sent, and not when the other
/// end had it.
///
/// What shows that it came late is that it is sent again, that the other end says something meanwhile and does not
/// acknowledge it, or that it takes nothing for a while. An acknowledgement that comes late shows nothing where it carries
/// something: programs that write captures of what passed leave out those that carry nothing. One that carries nothing, and
/// comes so late that what it acknowledges would have been sent again, shows that the clock of the capture was set forward
/// meanwhile, or that segments are missing. The clock of the sender shows that too, if it is in the segments.
struct TransitWatch {
  /// How long an acknowledgement may take, in nanoseconds: it is delayed by half a second at most (RFC 9293 section
  /// 3.8.6.3), and on its way as long as the data was.
  private static let patience: Int64 = 1_000_000_000
  /// After how long at the latest what is not acknowledged is sent again for the first time, in nanoseconds: after a
  /// second, or three where the way is not known (RFC 6298 section 2), and as long on the way.
  private static let repeating: Int64 = 5_000_000_000
  private static let never = Int64.max

  /// Where something ends that is not acknowledged yet, and when it was first sent.
  private var end: UInt32 = 0
  private var sent = Self.never
  /// Whether it was sent again.
  private var isRepeated = false
  /// Where the last of what was sent ends, and when that was.
  private var lastEnd: UInt32 = 0
  private var lastSent = Self.never
  /// Where something ends that was sent before a later segment showed it, and perhaps long before; nil where nothing was.
  private var hole: UInt32?
  /// Since when the receiver takes nothing.
  private var shut = Self.never
  /// Whether the last of what was sent is the end of it.
  private var isEnded = false
  /// When the receiver was last heard.
  private var heard = Self.never
  /// The clock of the end when it was last seen, and when that was.
  private var clock: UInt32 = 0
  private var clockSeen = Self.never
  /// The same of the first segment that shows it.
  private var firstClock: UInt32 = 0
  private var firstSeen = Self.never
  /// The longest time for which the end is known to have sent nothing, in nanoseconds.
  private(set) var silence: Int64 = 0
  /// When it last showed that nothing had been sent behind what was captured; nil where it never did.
  private(set) var rested: Int64?
  /// Whether what was sent last was not captured, which may be its end.
  private var hasLeapt = false
  /// The last moment before the clock of the capture was set, if the last segment shows that it was.
  private var setBehind: Int64?

  /// What passes between two segments and is looked at, in nanoseconds.
  private static let pause: Int64 = 2_000_000_000
  /// How long a clock is watched, and how often it ticks meanwhile, before the length of a tick is known.
  private static let watched: Int64 = 1_000_000_000
  private static let fewestTicks: Int64 = 50
  /// The lengths of the ticks of clocks that are in use, in nanoseconds: 1,000,000, 1,000, 500, 300, 250, 200 and 100
  /// in a second.
  private static let lengthsOfTicks: [Double] = [1e3, 1e6, 2e6, 1e7 / 3, 4e6, 5e6, 1e7]

  /// Takes the end's own clock (TSval of RFC 7323).
  /// - Parameters:
  ///   - value: What it shows.
  ///   - time: When it was captured.
  /// - Returns: Whether far less time has passed by it than by the clock of the capture, which was set meanwhile.
  @inline(__always)
  mutating func read(_ value: UInt32, at time: Int64) -> Bool {
    defer { (clock, clockSeen) = (value, time) }
    guard clockSeen != Self.never else {
      (firstClock, firstSeen) = (value, time)
      return false
    }
    guard time &- clockSeen > Self.pause, isSet(value, at: time) else { return false }
    setBehind = clockSeen
    return true
  }

  /// For how many ticks a segment may have been on its way to the capture, or waited there.
  private static let lateTicks: Int32 = 1 << 17

  /// Tells whether a segment of the end was sent before one that was captured, by the end's own clock.
  /// - Parameters:
  ///   - value: What the clock shows in the segment.
  ///   - orWithIt: Whether one that was sent at the same time counts as well.
  /// - Returns: Whether it was.
  func isBehind(_ value: UInt32, orWithIt: Bool = false) -> Bool {
    guard clockSeen != Self.never else { return false }
    return ((orWithIt ? 0 : 1)...Self.lateTicks).contains(Int32(bitPattern: clock &- value))
  }

  @inline(never)
  private func isSet(_ value: UInt32, at time: Int64) -> Bool {
    let passed = time &- clockSeen
    let ticks = Int64(Int32(bitPattern: value &- clock))
    guard ticks >= 0 else { return false }
    let before = Int64(Int32(bitPattern: clock &- firstClock))
    let watched = clockSeen &- firstSeen
    if watched >= Self.watched, before >= Self.fewestTicks {
      // What has passed by the sender's clock, and as much more as it and the way may differ.
      let own = Double(ticks) * (Double(watched) / Double(before))
      return own * 1.25 + 1e9 < Double(passed)
    }
    // With no clock that is in use would so many ticks have been so long.
    return !Self.lengthsOfTicks.contains { length in
      let own = Double(ticks) * length
      return abs(own - Double(passed)) <= length + Double(passed) / 20
    }
  }

  /// Returns what the last segment showed of the clock, once.
  mutating func takeSet() -> Int64? {
    defer { setBehind = nil }
    return setBehind
  }

  /// Takes where a segment of the end begins, if it carries something or not: what lies in front of it was sent before,
  /// and comes late where it is seen long after.
  /// - Parameters:
  ///   - start: Where it begins.
  ///   - time: When it was captured.
  @inline(__always)
  mutating func begin(at start: UInt32, at time: Int64) {
    guard lastSent != Self.never, Int32(bitPattern: start &- lastEnd) > 0 else { return }
    // It was sent at any time since the last that was seen.
    if time &- lastSent > Self.patience { hole = start }
    (lastEnd, lastSent) = (start, time)
    hasLeapt = true
    if sent == Self.never { (end, sent) = (start, time) }
  }

  /// Takes a segment of the end that carries nothing: where it stands behind all that was captured, nothing else had
  /// been sent.
  /// - Parameters:
  ///   - start: Where it stands; a probe of an idle connection stands one byte before.
  ///   - time: When it was captured.
  @inline(__always)
  mutating func rest(at start: UInt32, at time: Int64) {
    guard lastSent != Self.never, start == lastEnd || start == lastEnd &- 1 else { return }
    silence = max(silence, time &- lastSent)
    if !hasLeapt { rested = time }
  }

  /// Takes what the end sends.
  /// - Parameters:
  ///   - end: Where it ends.
  ///   - isEnd: Whether nothing comes behind it.
  ///   - time: When it was captured.
  /// - Returns: Whether it is sent again so late that it can't have arrived before.
  @inline(__always)
  mutating func send(to end: UInt32, isEnd: Bool = false, at time: Int64) -> Bool {
    if isEnd { isEnded = true }
    let isNew = lastSent == Self.never || Int32(bitPattern: end &- lastEnd) > 0
    if isNew { (lastEnd, lastSent, hasLeapt) = (end, time, false) }
    if let hole, !isNew, Int32(bitPattern: end &- hole) <= 0 {
      if end == hole { self.hole = nil }
      return true
    }
    guard sent != Self.never else {
      (self.end, sent, isRepeated) = (end, time, false)
      return false
    }
    if !isNew { isRepeated = true }
    return !isNew && time &- sent > Self.patience
  }

  /// Takes what the receiver says.
  /// - Parameters:
  ///   - number: The byte that it expects.
  ///   - window: How much it takes.
  ///   - isEmpty: Whether it carries nothing.
  ///   - isEnd: Whether it ends its own direction: if without having the other's end, and behind a silence, it may have
  ///     done so at any time before.
  ///   - time: When it was captured.
  /// - Returns: Whether something did not arrive for long.
  @inline(__always)
  mutating func hear(
    _ number: UInt32, window: UInt16, isEmpty: Bool = false, isEnd: Bool = false, at time: Int64
  ) -> Bool {
    let isCrossed = isEnd && isEnded && Int32(bitPattern: number &- lastEnd) < 0
    var isLate = isCrossed && heard != Self.never && time &- heard > Self.patience
    heard = time
    if sent != Self.never {
      if Int32(bitPattern: number &- end) < 0 {
        if time &- sent > Self.patience { isLate = true }
      } else {
        let isAll = Int32(bitPattern: number &- lastEnd) >= 0
        // It may be for what was sent last alone, where others were left out.
        if isEmpty, isAll, !isRepeated, time &- lastSent > Self.repeating {
          isLate = true
          setBehind = lastSent
        }
        isRepeated = false
        (end, sent) = (lastEnd, isAll ? Self.never : lastSent)
      }
    }
    if window == 0 {
      if shut == Self.never { shut = time }
      return isLate || time &- shut > Self.patience
    }
    if shut != Self.never {
      if time &- shut > Self.patience { isLate = true }
      shut = Self.never
    }
    return isLate
  }
}

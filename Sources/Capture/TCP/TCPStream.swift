/// One direction of a TCP connection: where its bytes stand, what waits, what was acknowledged.
///
/// Offsets count from where the stream was first seen, so that sequence numbers, which wrap around at
/// 2^32, are compared in one place only. They are negative for what comes to light before that place.
///
/// First stands what each segment asks for.
struct TCPStream {
  /// Sequence number of the byte at ``offset``; nil before the direction was seen or acknowledged.
  private(set) var nextSequence: UInt32?
  /// Whether bytes were delivered or told as lost, so that no others can come before them.
  private(set) var isBegun = false
  /// Whether the last bytes so far are lost, and with them perhaps a FIN.
  private(set) var endsInLoss = false
  /// How far the stream is delivered or known to be lost.
  private(set) var offset = 0
  /// How far the receiver acknowledged, as far as the capture shows.
  private(set) var acknowledged = Int.min
  /// The stream's end, once a FIN tells it.
  var finOffset: Int?
  /// How much of the other stream the sender of the FIN had received; `Int.min` if it says none.
  var finDemand = Int.min
  /// How far acknowledgements led step by step: one that leaps farther may be wild.
  private(set) var believed = 0
  /// How far it had acknowledged step by step some segments ago: what was not captured by now never will be.
  private(set) var settled = Int.min
  var pending = PendingSegments()
  /// Whether a segment of this direction was captured.
  private(set) var isSeen = false
  /// Where the first byte behind the SYN lies; 0 until a SYN tells another place.
  private(set) var startOffset = 0
  /// Whether a SYN told where the stream starts.
  private(set) var isExact = false

  /// Whether the start of the stream is only known from what the receiver acknowledged.
  private var isStartAssumed = false
  /// Whether bytes came that had been told as lost: then either was captured late, or sent once more.
  private(set) var isOvertaken = false
  /// Where the last bytes lie that were told as lost.
  private var losses: [Range<Int>] = []
  private static let mostLosses = 16
  /// What was acknowledged of late beyond ``offset``, and at which segment of the connection.
  private var recent: [(target: Int, segment: Int)] = []
  /// The same of what nothing supports: acknowledgements that leap.
  private var leaps: [(target: Int, segment: Int)] = []
  /// How far any of these had leapt some segments ago: nothing waits for it any longer.
  private(set) var overdue = Int.min

  /// Farther than this from what is expected no segment is believed (RFC 7323 allows windows of 1 GiB).
  static let farthest = 1 << 30
  /// So far before its assumed start a stream may turn out to start: the largest window without scaling.
  private static let farthestBack = 65_535

  /// Whether all bytes up to the FIN are delivered.
  var isFinished: Bool { finOffset.map { offset >= $0 } ?? false }

  /// Whether nothing is waited for in this direction.
  var isCalm: Bool { pending.isEmpty && recent.isEmpty }

  // MARK: The start

  /// Starts the stream behind its SYN, if that is known to be before all that came.
  /// - Parameters:
  ///   - sequence: The number of its first byte.
  ///   - isSeen: Whether the SYN was captured, and not only the answer to it.
  mutating func start(behind sequence: UInt32, isSeen: Bool) {
    if isSeen { self.isSeen = true }
    guard !isExact else { return }
    if nextSequence == nil { nextSequence = sequence }
    guard isBegun || move(to: sequence) else { return }
    isStartAssumed = false
    startOffset = offset(of: sequence) ?? 0
    isExact = true
  }

  /// Takes the place of a captured segment for the start, or for one that lies before it, as long as
  /// nothing but that is known of the start.
  /// - Parameters:
  ///   - sequence: Where the segment stands.
  ///   - length: Its length on the wire.
  ///   - mayLeaveOut: Whether what is missing since the assumed start was sent before the capture.
  mutating func see(_ sequence: UInt32, length: Int, mayLeaveOut: Bool) {
    isSeen = true
    guard let known = nextSequence else {
      nextSequence = sequence
      return
    }
    guard !isExact, !isBegun, let target = offset(of: sequence) else { return }
    if target > offset {
      if isStartAssumed, mayLeaveOut { move(to: sequence) }
      isStartAssumed = isStartAssumed && length == 0
    } else if target < offset, length > 0 {
      // A keep-alive repeats the last byte (RFC 9293 section 3.8.4).
      let isKeepAlive = length == 1 && sequence &+ 1 == known
      if !isKeepAlive { move(to: sequence) }
      isStartAssumed = false
    } else {
      isStartAssumed = false
    }
  }

  /// Starts the stream at a byte that its receiver waits for, before all that came of it.
  mutating func begin(before sequence: UInt32) {
    guard !isExact, move(to: sequence) else { return }
    if isSeen { isStartAssumed = false }
  }

  /// Moves the start of a stream of which nothing was told yet; not over what waits.
  /// - Returns: Whether it starts there now.
  @discardableResult
  private mutating func move(to sequence: UInt32) -> Bool {
    guard !isBegun, let target = offset(of: sequence), target >= offset - Self.farthestBack,
      target <= offset || pending.isEmpty
    else { return false }
    offset = target
    nextSequence = sequence
    return true
  }

  /// Returns where a sequence number lies in the stream; nil if too far away to belong to it.
  func offset(of sequence: UInt32) -> Int? {
    guard let nextSequence else { return nil }
    let distance = Int(Int32(bitPattern: sequence &- nextSequence))
    guard abs(distance) <= Self.farthest else { return nil }
    return offset + distance
  }

  /// So much may be missing of a stream that is in the capture from the middle.
  private static let farthestStart = 1 << 24

  /// Whether a sequence number may be one of the stream, or of its end, which need not all be captured.
  func mayHold(_ sequence: UInt32) -> Bool {
    guard nextSequence != nil else { return true }
    guard let place = offset(of: sequence) else { return false }
    let start = startOffset - (isExact ? 1 : Self.farthestStart)
    return place >= start && place <= offset + Self.farthestBack
  }

  // MARK: Acknowledgements

  /// Takes an acknowledgement of the receiver.
  /// - Parameters:
  ///   - sequence: The number of the byte that the receiver expects.
  ///   - segment: The number of the acknowledging segment among those of the connection.
  ///   - step: The most bytes that one acknowledgement is believed to add, be they captured or not.
  /// - Returns: Where that byte lies in the stream; `Int.min` if too far away to belong to it.
  mutating func acknowledge(_ sequence: UInt32, by segment: Int, step: Int) -> Int {
    if nextSequence == nil {
      nextSequence = sequence
      isStartAssumed = true
    }
    guard let target = offset(of: sequence) else { return .min }
    // From where the last one led, too, be that a leap: the same number once more says nothing.
    let advance = target - max(acknowledged, offset)
    let isStep = (advance > 0 && advance <= step) || target - max(believed, offset) <= step
    acknowledged = max(acknowledged, target)
    guard isStep else {
      if target > leaps.last?.target ?? overdue { leaps.append((target, segment)) }
      return target
    }
    believed = max(believed, target)
    if target > offset, target > recent.last?.target ?? settled { recent.append((target, segment)) }
    return target
  }

  /// Takes an acknowledgement of bytes that are all known; false if it is another.
  @inline(__always)
  mutating func takeKnown(_ sequence: UInt32) -> Bool {
    guard let nextSequence else { return false }
    let distance = Int(Int32(bitPattern: sequence &- nextSequence))
    guard distance <= 0 else { return false }
    if offset + distance > acknowledged { acknowledged = offset + distance }
    return true
  }

  /// Takes what was acknowledged up to a segment for settled.
  mutating func settle(upTo segment: Int) {
    while let oldest = recent.first, oldest.segment <= segment {
      settled = max(settled, oldest.target)
      recent.removeFirst()
    }
    while let oldest = leaps.first, oldest.segment <= segment {
      overdue = max(overdue, oldest.target)
      leaps.removeFirst()
    }
  }

  /// How many bytes are known to have been sent and were not captured; asked for at the end.
  var unseen: Int {
    if let finOffset { return max(0, finOffset - offset) }
    let known = min(acknowledged, believed)
    guard known > offset else { return 0 }
    // The FIN takes a number of its own: one that is acknowledged but not captured is no byte.
    return known - offset == 1 ? 0 : known - offset
  }

  /// Whether an acknowledgement leaps over what nothing else shows to have been sent: then bytes are
  /// missing, or that number is wild.
  var hasLeap: Bool { finOffset == nil && acknowledged > max(believed, offset) }

  /// Takes note of a segment whose first bytes are known; it may be one that was told as lost.
  mutating func meet(_ bytes: Range<Int>) {
    if losses.contains(where: { $0.overlaps(bytes) }) { isOvertaken = true }
  }

  mutating func advance(by count: Int, isLost: Bool = false) {
    isBegun = true
    endsInLoss = isLost
    if isLost {
      if losses.count == Self.mostLosses { losses.removeFirst() }
      losses.append(offset..<(offset + count))
    }
    offset += count
    if let nextSequence {
      self.nextSequence = nextSequence &+ UInt32(truncatingIfNeeded: count)
    }
  }
}

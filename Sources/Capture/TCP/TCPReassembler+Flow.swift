import RepriseCore

extension TCPReassembler {
  /// What is kept of a connection, all of it in one place: first what each segment asks for.
  ///
  /// Only the reassembler that made it reaches it, and checks of exclusive access would cost a third of
  /// reading.
  final class Flow: KeyedFlow {
    let key: FlowKey
    @exclusivity(unchecked) var lastFrame: Int
    /// The number of segments so far.
    @exclusivity(unchecked) var segments = 0
    let isFirstLower: Bool
    @exclusivity(unchecked) var isWanted = true
    @exclusivity(unchecked) var isClosed = false
    /// Whether nothing waits: then a segment in its place is handed on where it lies.
    @exclusivity(unchecked) var isCalm = false
    /// Whether the first segments are kept until it is clear where both streams start.
    @exclusivity(unchecked) var isStarting = true
    /// Whether it is among the flows in which something waits.
    @exclusivity(unchecked) var isWaiting = false
    @exclusivity(unchecked) var connection: Consumer.Connection?
    @exclusivity(unchecked) var closing: (how: ConnectionClosing.How, side: Side, arrival: Arrival)?
    @exclusivity(unchecked) private var streams = InlineArray<2, TCPStream>(repeating: TCPStream())
    @exclusivity(unchecked) private var transits = InlineArray<2, TransitWatch>(
      repeating: TransitWatch())
    /// How long the handshake took.
    @exclusivity(unchecked) private var handshake = HandshakeWatch()
    /// Whether something arrived late that an end had sent.
    @exclusivity(unchecked) private var hasLateness = false
    /// Where a capture was taken that was not taken, but made of what is known of a connection; nil where it was.
    @exclusivity(unchecked) private var vantage: SyntheticTCP.Vantage?
    /// Whose bytes the other end did not get as they were sent, which was told, or is to be told with the first bytes.
    var altered = (first: false, second: false)
    /// The client of such a one.
    @exclusivity(unchecked) private var client = Side.first
    /// The numbers of the networks that its segments came through, from the lower endpoint and from
    /// the upper one; 0 for none.
    var networks: (fromLower: UInt32, fromUpper: UInt32) = (0, 0)
    /// Where the last segment stood that was far from both streams, by their sequence numbers; nil where none was.
    @exclusivity(unchecked) var elsewhere: SIMD2<UInt32>?
    /// A reset that has its place behind bytes that were not captured yet.
    @exclusivity(unchecked) var reset: Reset?
    /// A SYN that came later and may be the one with which the connection began; nil where none did.
    @exclusivity(unchecked) var repeatedSYN: RepeatedSYN?
    /// What both streams begin with.
    @exclusivity(unchecked) private var beginnings = InlineArray<2, StreamBeginning>(
      repeating: StreamBeginning())
    /// The frame with which it began that something waits.
    @exclusivity(unchecked) var waitsSince: Int
    /// Whether the SYN was captured, so that the stream of the first side begins at its beginning.
    @exclusivity(unchecked) var isFromStart: Bool
    /// The first segment.
    let start: Arrival
    /// The sender's clock in the SYN, as far as it was captured and has one.
    let clockOfSYN: UInt32?
    /// What tells its segments from those of others.
    private let mark: UInt64

    init(key: FlowKey, isFirstLower: Bool, opening: FlowOpening, clockOfSYN: UInt32?) {
      self.key = key
      self.isFirstLower = isFirstLower
      isFromStart = opening.isFromStart
      start = opening.arrival
      self.clockOfSYN = clockOfSYN
      mark = key.hash(seed: 1)
      lastFrame = opening.arrival.frame
      waitsSince = opening.arrival.frame
    }

    /// What the consumer is told when the first bytes come.
    var opening: FlowOpening {
      FlowOpening(
        first: isFirstLower ? key.lower : key.upper, second: isFirstLower ? key.upper : key.lower,
        isFromStart: isFromStart, arrival: start)
    }

    /// Takes a segment of a side for what it says of how soon things arrive.
    /// - Returns: Whether it shows that something was late, or that the clock of the capture was set.
    @inline(__always)
    func watch(_ segment: borrowing TCPSegment, of side: Side, at time: Int64) -> Bool {
      let flags = segment.flags
      if segments == 1 {
        if let made = SyntheticTCP.vantage(of: segment) {
          vantage = made.vantage
          client = made.sender == .client ? side : side.other
        }
      } else if vantage == .nowhere, segment.window == SyntheticTCP.promptWindow {
        vantage = .everywhere
      }
      guard flags.isDisjoint(with: [.syn, .reset]) else {
        if flags.contains(.syn) {
          handshake.begin(side, isAnswer: flags.contains(.acknowledgment), at: time)
        }
        return false
      }
      handshake.hear(side, at: time)
      var isLate = false
      if let value = segment.timestampValue, transits[side.rawValue].read(value, at: time) {
        isLate = true
      }
      // Of what was put together from a recording, only what carries something has a time of its own.
      let isEmpty =
        vantage == nil && segment.payloadWireLength == 0 && flags.isDisjoint(with: [.fin, .reset])
      if flags.contains(.acknowledgment),
        transits[side.other.rawValue].hear(
          segment.acknowledgmentNumber, window: segment.window,
          isEmpty: isEmpty,
          isEnd: flags.contains(.fin), at: time)
      {
        isLate = true
      }
      transits[side.rawValue].begin(at: segment.sequenceNumber, at: time)
      let length = segment.payloadWireLength
      guard length > 0 || flags.contains(.fin) else {
        transits[side.rawValue].rest(at: segment.sequenceNumber, at: time)
        if isLate { hasLateness = true }
        return isLate
      }
      let end =
        segment.sequenceNumber &+ UInt32(truncatingIfNeeded: length)
        &+ (flags.contains(.fin) ? 1 : 0)
      if transits[side.rawValue].send(to: end, isEnd: flags.contains(.fin), at: time) {
        isLate = true
      }
      if isLate { hasLateness = true }
      return isLate
    }

    /// Tells where the clock of the capture was set, if the last segment shows that it was.
    @inline(never)
    func noteSteps(in steps: inout ClockSteps, at time: Int64) {
      for side in [Side.first, .second] {
        guard let earlier = transits[side.rawValue].takeSet() else { continue }
        steps.note(from: earlier, to: time)
      }
    }

    /// Whether the other end did not get what a side sent, from some place on.
    func isAltered(_ side: Side) -> Bool { side == .first ? altered.first : altered.second }

    /// Notes that the other end does not get what a side sends any more.
    func alter(_ side: Side) {
      if side == .first { altered.first = true } else { altered.second = true }
    }

    /// Takes the SYN that it begins with, and that was captured before the flow was made.
    func begin(with syn: RepeatedSYN) {
      segments = 1
      self[.first].start(behind: syn.sequence, isSeen: true)
      handshake.begin(.first, isAnswer: false, at: syn.arrival.time.nanoseconds)
    }

    /// Notes a SYN of which it is not known whether it is one that was captured before.
    func note(_ syn: borrowing TCPSegment, of side: Side, _ arrival: Arrival) {
      repeatedSYN = RepeatedSYN(side: side, sequence: syn.sequenceNumber &+ 1, arrival: arrival)
    }

    /// What tells a segment from all others; not 0.
    @inline(__always)
    func mark(of segment: borrowing TCPSegment, _ side: Side) -> UInt64 {
      let numbers = UInt64(segment.sequenceNumber) << 32 | UInt64(segment.acknowledgmentNumber)
      let length = UInt64(truncatingIfNeeded: segment.payloadWireLength) << 1
      let rest = (length | UInt64(side.rawValue)) << 32 | UInt64(segment.timestampValue ?? 0)
      return FlowKey.mix(FlowKey.mix(mark ^ numbers) ^ rest) | 1
    }

    /// Whether it was put together from a recording.
    var isMade: Bool { vantage != nil }

    /// Notes the first bytes of a stream.
    @inline(never)
    func note(beginning bytes: RawSpan, of side: Side) {
      beginnings[side.rawValue] = StreamBeginning(bytes)
    }

    /// Tells whether bytes are others than those with which a stream begins.
    func contradicts(_ bytes: RawSpan, of side: Side) -> Bool {
      beginnings[side.rawValue].contradicts(bytes)
    }

    /// Tells whether a segment of a side was sent before one that was captured, by the side's own clock.
    func isBehind(
      _ segment: borrowing TCPSegment, of side: Side, orWithIt: Bool = false
    ) -> Bool {
      guard let value = segment.timestampValue else { return false }
      return transits[side.rawValue].isBehind(value, orWithIt: orWithIt)
    }

    /// Whether something arrived late that an end had sent, or may have.
    var isLate: Bool { hasLateness || vantage == .nowhere }

    /// The longest time for which a side is known to have sent nothing, in nanoseconds; nil where the capture was taken
    /// beside it, which then shows all that it sent when it sent it.
    func silence(of side: Side) -> Int64? {
      isBeside(side) ? nil : vantage == nil ? transits[side.rawValue].silence : 0
    }

    /// How long before something a side last showed that it had not ended, in nanoseconds; nil where the capture was
    /// taken beside it.
    func rest(of side: Side, before end: Arrival) -> Int64? {
      guard !isBeside(side) else { return nil }
      let shown = vantage == nil ? transits[side.rawValue].rested : nil
      return max(0, end.time.nanoseconds &- (shown ?? start.time.nanoseconds))
    }

    private func isBeside(_ side: Side) -> Bool {
      switch vantage {
      case nil: key.isOnOneHost || handshake.nearSide == side
      case .everywhere: true
      case .client: side == client
      case .nowhere: false
      }
    }

    subscript(side: Side) -> TCPStream {
      @inline(__always) _read { yield streams[side.rawValue] }
      @inline(__always) _modify { yield &streams[side.rawValue] }
    }
  }

  /// A reset, and what its sender had sent and received.
  struct Reset {
    var side: Side
    var offset: Int
    var demand: Int
    /// What the segment acknowledged that it answers; `Int.min` if it answers none.
    var question: Int
    var arrival: Arrival
    /// The number of its segment among those of the connection.
    var segment: Int
  }

  /// A SYN of which it is not known whether it is one that was captured before.
  struct RepeatedSYN {
    var side: Side
    /// The number behind it.
    var sequence: UInt32
    var arrival: Arrival
  }
}

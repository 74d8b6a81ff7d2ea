import RepriseCore

/// Puts the segments of TCP connections into streams (RFC 9293), both directions in an order that is
/// causally possible, and tells every loss before what depends on it.
///
/// A segment is handed on when the bytes before it have been, and those of the other direction that it
/// acknowledges: so an answer never comes before its question. On an intact capture nothing ever
/// waits. A hole in a stream is a loss only on evidence: the receiver acknowledged what was not captured
/// and the connection went on for a while, the connection or the capture ended, or a limit was reached.
/// Timestamps are never used for order.
struct TCPReassembler<Consumer: TCPConsumer> {
  var consumer: Consumer
  let limits: TCPLimits
  var statistics = TCPStatistics()
  var flows = FlowTable<Flow>()
  var last = Arrival(frame: 0, time: Timestamp(nanoseconds: 0))
  /// The bytes that wait, of all flows together.
  var pendingBytes = 0
  /// The number of flows at which those that are over are forgotten.
  var nextSweep: Int
  /// The flows in which something waits, those that wait longest first.
  var waiting = WaitingFlows<Flow>()
  /// Where the clock of the capture was set forward.
  var clockSteps = ClockSteps()
  /// Whether there were two clocks.
  var mergedClocks = MergedClocks()

  init(_ consumer: consuming Consumer, limits: TCPLimits = TCPLimits()) {
    self.consumer = consumer
    self.limits = limits
    nextSweep = min(limits.flows, 4_096)
  }

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

  typealias Direction = TCPDirection<Flow>

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

  /// Takes the next segment of the capture.
  mutating func take(_ segment: borrowing TCPSegment) {
    let time = segment.time ?? last.time
    if last.frame > 0 { clockSteps.take(time.nanoseconds, behind: last.time.nanoseconds) }
    let arrival = Arrival(frame: segment.frame, time: time)
    last = arrival
    if waiting.hasAny(before: arrival.frame - limits.framesWaiting) { releaseIdle(arrival) }
    let (base, isFromLower) = FlowKey.of(segment.source, segment.destination)
    let key = segment.network == 0 ? base : key(of: segment, base, isFromLower)
    var known = flows.flow(of: key)
    if known == nil || segment.flags.contains(.syn) {
      known = flow(known, key, isFromLower, segment, arrival)
    }
    guard let flow = consume known else { return }
    if segment.network != 0 { flow.setNetwork(segment.network, isFromLower) }
    flow.lastFrame = segment.frame
    let side: Side = isFromLower == flow.isFirstLower ? .first : .second
    guard flow.isWanted, !flow.isClosed else {
      guard flow.isClosed else { return }
      compare(segment, flow, side)
      let direction = Direction(flow, side, arrival)
      if flow.repeatedSYN != nil, takeBehindRepeatedSYN(segment, direction) { return }
      guard isOfAnother(segment, direction) else { return }
      return takeAnew(segment, in: flow, key, isFromLower, arrival)
    }
    if !flow.isCalm, isOfEarlier(segment, flow, side) { return statistics.strayedSegments += 1 }
    compare(segment, flow, side)
    flow.segments &+= 1
    if let time = segment.time, flow.watch(segment, of: side, at: time.nanoseconds) {
      flow.noteSteps(in: &clockSteps, at: time.nanoseconds)
    }
    if let alteration = segment.alteration { note(alteration, of: Direction(flow, side, arrival)) }
    let isCalm = flow.isCalm
    let direction = Direction(consume flow, side, arrival)
    if isCalm, takeInPlace(segment, direction) { return }
    if direction.connection.repeatedSYN != nil, takeBehindRepeatedSYN(segment, direction) { return }
    if isOfAnother(segment, direction) {
      return takeAnew(segment, in: direction.connection, key, isFromLower, arrival)
    }
    if isAcknowledgementOfAnother(segment, direction) { return statistics.strayedSegments += 1 }
    takeApart(segment, direction)
  }

  /// Compares a segment with those of before, one of which it may be, timed by another clock.
  @inline(__always)
  private mutating func compare(_ segment: borrowing TCPSegment, _ flow: Flow, _ side: Side) {
    // One byte alone is a probe, which comes again and again.
    guard segment.payloadWireLength > 1, !mergedClocks.areThere, !flow.isMade,
      let time = segment.time
    else { return }
    let number = segment.sequenceNumber
    let length = segment.payloadWireLength
    mergedClocks.take(flow.mark(of: segment, side), of: side, at: time.nanoseconds) {
      guard let place = flow[side].offset(of: number) else { return false }
      return flow[side].acknowledged >= place + length
    }
  }

  /// Takes a segment that stands where the next one is expected while nothing waits; false if it does
  /// not.
  @inline(__always)
  private mutating func takeInPlace(
    _ segment: borrowing TCPSegment, _ direction: Direction
  ) -> Bool {
    let side = direction.side
    let special: TCPFlags = [.syn, .fin, .reset]
    guard segment.flags.isDisjoint(with: special), segment.flags.contains(.acknowledgment),
      direction.connection[side].nextSequence == segment.sequenceNumber,
      direction.connection[side.other].takeKnown(segment.acknowledgmentNumber)
    else { return false }
    let length = segment.payloadWireLength
    if length > 0 { deliver(segment.payload, length: length, direction) }
    // A FIN that came before its data.
    if direction.connection.closing != nil { endIfOver(direction.connection, direction.arrival) }
    return true
  }

  private mutating func takeApart(
    _ segment: borrowing TCPSegment, _ direction: Direction
  ) {
    let flow = direction.connection
    var demand = Int.min
    if segment.flags.contains(.acknowledgment) {
      demand = flow[direction.side.other].acknowledge(
        segment.acknowledgmentNumber, by: flow.segments, step: limits.pendingBytes)
      // What comes with data and still waits for bytes in front of all that came shows that these are missing.
      if demand < flow[direction.side.other].offset, segment.payloadWireLength > 0 {
        flow[direction.side.other].begin(before: segment.acknowledgmentNumber)
      }
    }
    receive(segment, direction, demand)
    settle(flow, direction.arrival)
  }

  /// Ends all connections where the capture ends.
  mutating func finish() {
    var open: [Flow] = []
    flows.forEach { if $0.isWanted, !$0.isClosed { open.append($0) } }
    for flow in open { cut(flow, last) }
    flows.keep { _ in false }
    waiting.removeAll()
  }

  // MARK: Streams

  mutating func receive(
    _ segment: borrowing TCPSegment, _ direction: Direction, _ demand: Int
  ) {
    var direction = direction
    let (flow, side) = (direction.connection, direction.side)
    let flags = segment.flags
    let length = segment.payloadWireLength
    var sequence = segment.sequenceNumber
    if flags.contains(.syn) {
      sequence &+= 1
      flow[side].start(behind: sequence, isSeen: true)
      if flags.contains(.acknowledgment) {
        flow[side.other].start(behind: segment.acknowledgmentNumber, isSeen: false)
      }
      // Its first data was captured before it.
      if flow.connection == nil, flow[.first].isExact { flow.isFromStart = true }
    } else if !flags.contains(.reset) {
      let isBefore =
        !flow.isFromStart && !flow[side.other].isBegun
        && demand <= flow[side.other].offset
      let assumed = flow[side].offset
      flow[side].see(sequence, length: length, mayLeaveOut: isBefore)
      // What the other side sent may acknowledge bytes before the assumed start, and was handed on without them.
      if flow[side].offset < min(assumed, flow[side].acknowledged), flow[side.other].isBegun {
        direction.arrival.isOrderUncertain = true
      }
    }
    if flags.contains(.reset) {
      let isAnswer = !flags.contains(.acknowledgment)
      return reset(direction, sequence, demand, isAnswer: isAnswer)
    }
    guard length > 0 || flags.contains(.fin) else { return }
    guard let offset = flow[side].offset(of: sequence) else {
      statistics.strayedSegments += 1
      return
    }
    if length > 0 {
      place(segment.payload, at: offset, length: length, demand, direction)
    }
    if flags.contains(.fin) { end(direction, at: offset + length, demand) }
  }

  /// Hands a segment on if it is its turn, and keeps it if not.
  mutating func place(
    _ bytes: RawSpan, at offset: Int, length: Int, _ demand: Int, _ direction: Direction
  ) {
    let (flow, side) = (direction.connection, direction.side)
    let known = flow[side].offset - offset
    if known > 0 { flow[side].meet(offset..<(offset + length)) }
    guard known < length else { return }
    let isDue =
      known >= 0 && flow[side].pending.isEmpty && flow.isOver(demand, of: side.other)
      && !flow.isStarting
    guard !isDue else {
      let rest = bytes.extracting(min(known, bytes.byteCount)..<bytes.byteCount)
      return deliver(rest, length: length - known, direction)
    }
    let skipped = max(0, known)
    let rest = bytes.extracting(min(skipped, bytes.byteCount)..<bytes.byteCount)
    hold(rest, at: offset + skipped, length: length - skipped, demand, direction)
  }

  mutating func deliver(_ bytes: RawSpan, length: Int, _ direction: Direction) {
    if !direction.connection[direction.side].isBegun {
      direction.connection.note(beginning: bytes, of: direction.side)
    }
    direction.connection[direction.side].advance(by: length)
    guard direction.connection.isWanted else { return }
    let told = told(direction)
    var isWanted = true
    if !bytes.isEmpty {
      isWanted = consumer.received(bytes, told)
    }
    if isWanted, bytes.byteCount < length {
      isWanted = consumer.lost(length - bytes.byteCount, .snaplen, told)
    }
    if !isWanted { drop(direction.connection) }
  }

  /// The direction as the consumer knows it, which makes its connection for the first bytes.
  @inline(__always)
  private mutating func told(_ direction: Direction) -> TCPDirection<Consumer.Connection> {
    if let connection = direction.connection.connection {
      return TCPDirection(connection, direction.side, direction.arrival)
    }
    let connection = consumer.opened(direction.connection.opening)
    direction.connection.connection = connection
    for side in [Side.first, .second] where direction.connection.isAltered(side) {
      consumer.altered(TCPDirection(connection, side, direction.arrival))
    }
    return TCPDirection(connection, direction.side, direction.arrival)
  }

  /// Takes what a proxy says that wrote a segment: whose bytes the other end did not get as they were sent.
  @inline(never)
  private mutating func note(
    _ alteration: (ofSender: Bool, ofReceiver: Bool), of direction: Direction
  ) {
    let flow = direction.connection
    for (side, isAltered) in [
      (direction.side, alteration.ofSender), (direction.side.other, alteration.ofReceiver),
    ] where isAltered && !flow.isAltered(side) {
      flow.alter(side)
      // What is behind it may have been captured in front of it, which makes nothing stronger.
      guard let connection = flow.connection else { continue }
      consumer.altered(TCPDirection(connection, side, direction.arrival))
    }
  }

  mutating func lose(_ count: Int, _ reason: Gap.Reason, _ direction: Direction) {
    guard count > 0 else { return }
    let flow = direction.connection
    flow[direction.side].advance(by: count, isLost: true)
    guard flow.isWanted else { return }
    if !consumer.lost(count, reason, told(direction)) { drop(flow) }
  }

  /// Forgets what is kept of a connection that nobody wants; the flow stays, to be known again.
  mutating func drop(_ flow: Flow) {
    flow.isWanted = false
    flow.connection = nil
    forgetPending(of: flow)
  }
}

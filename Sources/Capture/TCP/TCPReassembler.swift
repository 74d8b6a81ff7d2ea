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

  typealias Direction = TCPDirection<Flow>

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
}

// Which connection a segment belongs to, and which connections are worth remembering.
extension TCPReassembler {
  /// Returns the flow of a segment: the known one, or a new one where a connection begins.
  @inline(never)
  mutating func flow(
    _ known: Flow?, _ key: FlowKey, _ isFromLower: Bool, _ segment: borrowing TCPSegment,
    _ arrival: Arrival
  ) -> Flow? {
    guard let known else { return newFlow(key, isFromLower, segment, arrival) }
    guard segment.flags.contains(.syn), isNewConnection(segment, on: known, isFromLower, arrival)
    else { return known }
    if known.isWanted, !known.isClosed { cut(known, arrival) }
    if segment.flags.contains(.acknowledgment), let flow = flowOfRepeatedSYN(behind: known) {
      return flow
    }
    return newFlow(key, isFromLower, segment, arrival)
  }

  /// Returns the connection that a segment belongs to that was taken.
  mutating func flow(of segment: borrowing TCPSegment) -> Flow? {
    let (base, _) = FlowKey.of(segment.source, segment.destination)
    guard segment.network != 0 else { return flows.flow(of: base) }
    var own = base
    own.network = segment.network
    return flows.flow(of: own) ?? flows.flow(of: base)
  }

  /// Returns the key of a segment from a tunnel: that of its endpoints, with the number of its network
  /// only where another network has a connection of the same endpoints.
  ///
  /// One connection may be seen inside and outside of its tunnel, and each direction may have a number
  /// of its own: routers between two networks send into that of the receiver. So two numbers mean two
  /// connections only where they go in the same direction.
  @inline(never)
  mutating func key(
    of segment: borrowing TCPSegment, _ base: FlowKey, _ isFromLower: Bool
  ) -> FlowKey {
    let networks = flows.flow(of: base)?.networks
    let number = (isFromLower ? networks?.fromLower : networks?.fromUpper) ?? 0
    guard number != segment.network else { return base }
    var own = base
    own.network = segment.network
    return number != 0 || flows.contains(own) ? own : base
  }

  /// Tells whether a SYN begins another connection between the same ports.
  func isNewConnection(
    _ segment: borrowing TCPSegment, on flow: Flow, _ isFromLower: Bool, _ arrival: Arrival
  ) -> Bool {
    let side: Side = isFromLower == flow.isFirstLower ? .first : .second
    guard flow[side].nextSequence != nil else { return false }
    let isAnswer = segment.flags.contains(.acknowledgment)
    // The same number again is a retransmission, unless all was over; with the same time it is a copy even then, as it is
    // where what was sent later came before it.
    let offset = flow[side].offset(of: segment.sequenceNumber &+ 1)
    if offset == flow[side].startOffset {
      let isCopy =
        flow.clockOfSYN != nil && flow.clockOfSYN == segment.timestampValue
        || flow.isBehind(segment, of: side, orWithIt: true)
      guard flow.isClosed, !isAnswer, !isCopy else { return false }
      // Without clocks it may be either: what is sent behind it tells.
      let hasClock = flow.clockOfSYN != nil || segment.timestampValue != nil
      let hasSpoken = flow[.first].isBegun || flow[.second].isBegun
      guard !hasClock, hasSpoken, !flow.isMade, segment.payloadWireLength == 0 else { return true }
      flow.note(segment, of: side, arrival)
      return false
    }
    // A copy of the beginning of a connection that is in the capture from the middle, or of one before.
    if let offset, offset < flow[side].offset, flow.isBehind(segment, of: side) { return false }
    // The first data was captured before its SYN.
    if flow.isStarting, !flow[side].isExact, !flow[side].isBegun, let offset,
      (-Self.largestWindow...0).contains(offset)
    {
      return false
    }
    if mayBeBeginning(segment, flow, side) {
      if !isAnswer { flow.note(segment, of: side, arrival) }
      return false
    }
    guard flow.isFromStart, isAnswer, !flow.isClosed else { return true }
    // An answer that the capture saw late, behind the first bytes, acknowledges this connection's SYN.
    let acknowledged = flow[side.other].offset(of: segment.acknowledgmentNumber)
    return acknowledged.map { !(0...Self.largestWindow).contains($0) } ?? true
  }

  /// Tells whether a SYN, or the answer to one, may be of the beginning of a connection that is in the capture from the
  /// middle: both its numbers stand before what is there, as where two captures were merged by clocks that differ.
  private func mayBeBeginning(
    _ segment: borrowing TCPSegment, _ flow: Flow, _ side: Side
  ) -> Bool {
    guard !flow.isFromStart, !flow.isMade, segment.timestampValue == nil,
      segment.payloadWireLength == 0, flow[side].mayHold(segment.sequenceNumber &+ 1),
      let place = flow[side].offset(of: segment.sequenceNumber &+ 1),
      place <= flow[side].startOffset
    else { return false }
    return !segment.flags.contains(.acknowledgment)
      || flow[side.other].mayHold(segment.acknowledgmentNumber)
  }

  /// Begins a connection with a SYN that may have been one of the connection before, if a segment shows that it was not.
  ///
  /// Of two captures of one traffic that were merged by clocks that differ, one shows a connection again behind its end.
  /// An end that begins with the same number every time, as simple ones do, meets another number of the other end, or
  /// says something else.
  /// - Returns: Whether it does, or the segment is one of a connection that is over.
  @inline(never)
  mutating func takeBehindRepeatedSYN(
    _ segment: borrowing TCPSegment, _ direction: Direction
  ) -> Bool {
    let old = direction.connection
    guard let syn = old.repeatedSYN else { return false }
    guard isNoCopy(segment, direction) else { return old.isClosed }
    // It may be of a third one, whose SYN was not captured.
    let number =
      direction.side == syn.side ? segment.sequenceNumber : segment.acknowledgmentNumber
    guard number &- syn.sequence <= UInt32(Self.largestWindow) else {
      old.repeatedSYN = nil
      return false
    }
    cut(old, direction.arrival)
    guard flowOfRepeatedSYN(behind: old) != nil else { return false }
    take(segment)
    return true
  }

  /// The connection that a SYN began that might have been one of the connection before.
  private mutating func flowOfRepeatedSYN(behind old: Flow) -> Flow? {
    guard let syn = old.repeatedSYN else { return nil }
    old.repeatedSYN = nil
    let isFirst = syn.side == .first
    let opening = FlowOpening(
      first: isFirst ? old.opening.first : old.opening.second,
      second: isFirst ? old.opening.second : old.opening.first, isFromStart: true,
      arrival: syn.arrival)
    let flow = Flow(
      key: old.key, isFirstLower: isFirst ? old.isFirstLower : !old.isFirstLower,
      opening: opening, clockOfSYN: nil)
    flow.begin(with: syn)
    flows.insert(flow)
    return flow
  }

  /// Tells whether a segment can't be one of a connection, sent or captured again.
  private func isNoCopy(_ segment: borrowing TCPSegment, _ direction: Direction) -> Bool {
    let (flow, side) = (direction.connection, direction.side)
    if segment.flags.contains(.acknowledgment),
      !flow[side.other].mayHold(segment.acknowledgmentNumber)
    {
      return true
    }
    let sequence = segment.sequenceNumber &+ (segment.flags.contains(.syn) ? 1 : 0)
    if !segment.flags.contains(.reset), !flow[side].mayHold(sequence) { return true }
    return flow.isFromStart && flow[side].offset(of: sequence) == flow[side].startOffset
      && flow.contradicts(segment.payload, of: side)
  }

  /// The most bytes behind all that came of a stream that an answer to it acknowledges before any other answer came.
  private static var farthestAnswer: Int { 1 << 20 }

  /// Tells whether a segment answers another connection between the same ports than the one that began: what a server had
  /// sent before its client began anew comes behind the SYN, and acknowledges what is not of this connection.
  @inline(never)
  func isOfEarlier(_ segment: borrowing TCPSegment, _ flow: Flow, _ side: Side) -> Bool {
    let other = side.other
    guard flow.isFromStart, flow[other].isExact, flow[side].nextSequence == nil,
      segment.flags.contains(.acknowledgment)
    else { return false }
    guard let place = flow[other].offset(of: segment.acknowledgmentNumber) else { return true }
    let end = max(flow[other].offset, flow[other].pending.end ?? 0)
    return place < flow[other].startOffset || place > end + Self.farthestAnswer
  }

  /// The least distance, in bytes, at which the beginning of a session is that of another connection.
  private static var farAway: Int { largestWindow }

  /// Tells whether a segment without SYN is the first of another connection between the same ports, whose SYN was not
  /// captured, as where a filter takes data alone: it stands far from the stream and begins as a session does.
  ///
  /// So it is where both streams stand elsewhere at once: each end has begun anew. As both may have sent as much while
  /// nothing was captured, something besides has to tell of it.
  @inline(__always)
  func isOfAnother(_ segment: borrowing TCPSegment, _ direction: Direction) -> Bool {
    guard segment.payloadWireLength > 0, !segment.flags.contains(.syn),
      let distance = distance(of: segment.sequenceNumber, direction),
      !direction.connection.isBehind(segment, of: direction.side)
    else { return false }
    guard abs(distance) >= Self.farAway else {
      return distance >= Self.briefTurn && isByClock(segment, distance, direction)
        && consumer.beginsSession(segment.payload)
    }
    return consumer.beginsSession(segment.payload)
      || isBegunAnew(segment, by: distance, direction)
  }

  /// The least numbers that the clock of sequence numbers goes on while a connection ends and the next one begins.
  private static var briefTurn: Int { 512 }

  /// How far a number is from the next one of a stream; nil where it lies inside of it, and comes once more.
  @inline(__always)
  private func distance(of sequence: UInt32, _ direction: Direction) -> Int? {
    guard let next = direction.connection[direction.side].nextSequence else { return nil }
    let distance = Int(Int32(bitPattern: sequence &- next))
    let start = direction.connection[direction.side].startOffset
    let place = direction.connection[direction.side].offset + distance
    return distance > 0 || place < start ? distance : nil
  }

  /// How far from the other stream a segment's acknowledgement stands; nil where that acknowledges what it is near.
  private func answered(_ segment: borrowing TCPSegment, _ direction: Direction) -> Int? {
    let other = Direction(direction.connection, direction.side.other, direction.arrival)
    guard segment.flags.contains(.acknowledgment) else { return nil }
    return distance(of: segment.acknowledgmentNumber, other)
  }

  /// Tells whether a segment is of another connection whose SYN was not captured.
  ///
  /// It is where both its place and what it acknowledges are far away, and the streams had ended, be it by a reset, or it
  /// is the answer to a session's beginning, or the clock by which both ends begin went on meanwhile, or it is the second one there, where no
  /// stream goes.
  private func isBegunAnew(
    _ segment: borrowing TCPSegment, by distance: Int, _ direction: Direction
  ) -> Bool {
    let flow = direction.connection
    guard abs(distance) >= Self.farAway, let answered = answered(segment, direction),
      abs(answered) >= Self.farAway
    else { return false }
    let isSure =
      flow.isClosed || flow[.first].finOffset != nil || flow[.second].finOffset != nil
      || consumer.answersSession(segment.payload) || isByClock(segment, distance, direction)
    let isImpossible = [distance, answered].contains { $0 < 0 || $0 > TCPStream.farthest }
    guard !isSure, isImpossible else { return isSure }
    // One alone may be damaged, or made up.
    return flow.seeElsewhere(segment, direction.side)
  }

  /// Tells whether both streams stand about as much farther as the clock went on by which both ends number their
  /// connections between the same ports (RFC 6528 section 3).
  private func isByClock(
    _ segment: borrowing TCPSegment, _ distance: Int, _ direction: Direction
  ) -> Bool {
    guard let answered = answered(segment, direction), (distance > 0) == (answered > 0) else {
      return false
    }
    return abs(distance - answered) <= min(abs(distance), abs(answered)) / 8
  }

  /// Tells whether a bare acknowledgement is of another connection between the same ports, whose SYN was not captured.
  func isAcknowledgementOfAnother(
    _ segment: borrowing TCPSegment, _ direction: Direction
  ) -> Bool {
    guard segment.payloadWireLength == 0, segment.flags == .acknowledgment,
      let distance = distance(of: segment.sequenceNumber, direction)
    else { return false }
    return isBegunAnew(segment, by: distance, direction)
  }

  /// Ends a flow and takes the first segment of the next one between the same ports.
  @inline(never)
  mutating func takeAnew(
    _ segment: borrowing TCPSegment, in old: Flow, _ key: FlowKey, _ isFromLower: Bool,
    _ arrival: Arrival
  ) {
    cut(old, arrival)
    if newFlow(key, isFromLower, segment, arrival) != nil { take(segment) }
  }

  /// The largest window without scaling: so many bytes may follow a SYN at once.
  static var largestWindow: Int { 65_535 }

  mutating func newFlow(
    _ key: FlowKey, _ isFromLower: Bool, _ segment: borrowing TCPSegment, _ arrival: Arrival
  ) -> Flow? {
    let flags = segment.flags
    // A reset or a bare acknowledgement of a connection that nobody saw says nothing.
    guard flags.contains(.syn) || segment.payloadWireLength > 0, !flags.contains(.reset) else {
      return nil
    }
    if flows.count >= nextSweep { makeRoom(arrival) }
    let isAnswer = flags.contains(.syn) && flags.contains(.acknowledgment)
    let opening = FlowOpening(
      first: isAnswer ? segment.destination : segment.source,
      second: isAnswer ? segment.source : segment.destination,
      isFromStart: flags.contains(.syn), arrival: arrival)
    let flow = Flow(
      key: key, isFirstLower: isAnswer ? !isFromLower : isFromLower, opening: opening,
      clockOfSYN: opening.isFromStart && !isAnswer ? segment.timestampValue : nil)
    if isAnswer { flow[.first].start(behind: segment.acknowledgmentNumber, isSeen: false) }
    flows.insert(flow)
    return flow
  }

  /// Forgets connections that are over; if too many are left those of no interest, and then the idlest.
  mutating func makeRoom(_ arrival: Arrival) {
    // Late retransmissions are still to be known as such, and not as another connection.
    let recent = arrival.frame - limits.framesAfterEnd
    flows.keep { !$0.isClosed || $0.lastFrame > recent }
    if flows.count >= limits.flows { flows.keep { !$0.isClosed && $0.isWanted } }
    // An eighth must be free, or every new connection would come back here.
    if flows.count > limits.flows - limits.flows / 8 { giveUpIdle(arrival) }
    nextSweep = min(limits.flows, max(4_096, flows.count * 2))
  }

  mutating func giveUpIdle(_ arrival: Arrival) {
    var frames: [Int] = []
    flows.forEach { frames.append($0.lastFrame) }
    guard !frames.isEmpty else { return }
    frames.sort()
    let bound = frames[frames.count / 2]
    var idle: [Flow] = []
    flows.forEach { if $0.lastFrame <= bound, !$0.isClosed, $0.isWanted { idle.append($0) } }
    for flow in idle { cut(flow, arrival) }
    statistics.evictedFlows += idle.count
    flows.keep { !$0.isClosed && $0.isWanted }
  }
}

extension TCPReassembler.Flow {
  /// Takes a segment that stands elsewhere than the streams do.
  /// - Returns: Whether the one before did too, near the same place.
  fileprivate func seeElsewhere(_ segment: borrowing TCPSegment, _ side: Side) -> Bool {
    let (own, other) = (segment.sequenceNumber, segment.acknowledgmentNumber)
    let place = side == .first ? SIMD2(own, other) : SIMD2(other, own)
    defer { elsewhere = place }
    guard let before = elsewhere else { return false }
    let near = Int32(TCPReassembler.largestWindow)
    return [place[0] &- before[0], place[1] &- before[1]].allSatisfy {
      (-near...near).contains(Int32(bitPattern: $0))
    }
  }

  /// Notes the network that a segment came through.
  func setNetwork(_ number: UInt32, _ isFromLower: Bool) {
    if isFromLower { networks.fromLower = number } else { networks.fromUpper = number }
  }
}

import RepriseCore

// Where a segment belongs in its stream, and what the consumer is told of it.
extension TCPReassembler {
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
  mutating func note(
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

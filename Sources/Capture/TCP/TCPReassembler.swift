import DataClient

/// Puts the segments of TCP connections into streams (RFC 9293), and tells every loss.
///
/// A hole in a stream is a loss only on evidence: the receiver acknowledged what was not captured,
/// the connection or the capture ended, or a limit was reached. Until then later segments wait, so
/// that reordering and loss are both right without a switch. Timestamps are never used for order.
struct TCPReassembler<Consumer: TCPConsumer> {
  var consumer: Consumer
  let limits: TCPLimits
  var statistics = TCPStatistics()
  var flows = FlowTable<Flow>()
  var last = Arrival(frame: 0, time: Timestamp(nanoseconds: 0))
  /// The bytes that wait behind holes, of all flows together.
  var pendingBytes = 0
  /// The number of flows at which those that are over are forgotten.
  var nextSweep: Int

  init(_ consumer: consuming Consumer, limits: TCPLimits = TCPLimits()) {
    self.consumer = consumer
    self.limits = limits
    nextSweep = min(limits.flows, 4_096)
  }

  /// What is kept of a connection.
  final class Flow {
    let key: FlowKey
    let first = TCPStream()
    let second = TCPStream()
    let opening: FlowOpening
    let isFirstLower: Bool
    var connection: Consumer.Connection?
    var isWanted = true
    var isClosed = false
    var closing: (how: ConnectionClosing.How, side: Side, arrival: Arrival)?
    @exclusivity(unchecked) var lastFrame: Int

    init(key: FlowKey, isFirstLower: Bool, opening: FlowOpening) {
      self.key = key
      self.isFirstLower = isFirstLower
      self.opening = opening
      lastFrame = opening.arrival.frame
    }

    subscript(side: Side) -> TCPStream {
      @inline(__always) get { side == .first ? first : second }
    }
  }

  /// Takes the next segment of the capture.
  mutating func take(_ segment: borrowing TCPSegment) {
    let time = segment.time ?? last.time
    let arrival = Arrival(frame: segment.frame, time: time)
    last = arrival
    let (key, isFromLower) = FlowKey.of(segment.source, segment.destination)
    let known = flows.flow(of: key)
    guard let flow = flow(known, key, isFromLower, segment, arrival) else { return }
    flow.lastFrame = segment.frame
    guard flow.isWanted, !flow.isClosed else { return }
    let side: Side = isFromLower == flow.isFirstLower ? .first : .second
    // A hole that was acknowledged by the time of the last segment: neighbours that only changed
    // places have had their chance, unless this segment is the one that was missed.
    if flow[side.other].isHoleAcknowledged { release(flow, side.other, .acknowledged, arrival) }
    let isDue = flow[side].isHoleAcknowledged
    receive(segment, on: flow, from: side, arrival)
    if isDue, flow[side].isHoleAcknowledged { release(flow, side, .acknowledged, arrival) }
    if segment.flags.contains(.acknowledgment) {
      flow[side.other].acknowledge(
        segment.acknowledgmentNumber, isFromStart: flow.opening.isFromStart)
    }
    endIfOver(flow, arrival)
  }

  /// Ends all connections where the capture ends.
  mutating func finish() {
    var open: [Flow] = []
    flows.forEach { if $0.isWanted, !$0.isClosed { open.append($0) } }
    for flow in open {
      close(flow, flow.closing?.how ?? .endOfCapture, last)
    }
    flows.keep { _ in false }
  }

  // MARK: Streams

  mutating func receive(
    _ segment: borrowing TCPSegment, on flow: Flow, from side: Side, _ arrival: Arrival
  ) {
    let flags = segment.flags
    var sequence = segment.sequenceNumber
    if flags.contains(.syn) {
      sequence &+= 1
      if flow[side].nextSequence == nil { flow[side].start(at: sequence) }
    } else if segment.payloadWireLength > 0 || flags.contains(.fin) {
      flow[side].startIfNeeded(at: sequence)
    }
    if flags.contains(.reset) { return reset(flow, side, sequence, arrival) }
    let length = segment.payloadWireLength
    guard length > 0 || flags.contains(.fin) else { return }
    guard let offset = flow[side].offset(of: sequence) else {
      statistics.strayedSegments += 1
      return
    }
    if length > 0 { place(segment.payload, at: offset, length: length, flow, side, arrival) }
    if flags.contains(.fin) { end(flow, side, at: offset + length, arrival) }
  }

  @inline(__always)
  mutating func place(
    _ bytes: RawSpan, at offset: Int, length: Int, _ flow: Flow, _ side: Side, _ arrival: Arrival
  ) {
    let expected = flow[side].offset
    if offset == expected, !flow[side].hasHole {
      deliver(bytes, length: length, flow, side, arrival)
    } else if offset > expected {
      hold(bytes, at: offset, length: length, flow, side, arrival)
    } else if offset + length > expected {
      let known = expected - offset
      if known > 0 { statistics.retransmissions += 1 }
      let rest = bytes.extracting(min(known, bytes.byteCount)..<bytes.byteCount)
      if flow[side].hasHole {
        hold(rest, at: expected, length: length - known, flow, side, arrival)
      } else {
        deliver(rest, length: length - known, flow, side, arrival)
      }
    } else {
      statistics.retransmissions += 1
      return
    }
    drain(flow, side)
  }

  /// Keeps a segment until the bytes in front of it come, or are known not to come.
  mutating func hold(
    _ bytes: RawSpan, at offset: Int, length: Int, _ flow: Flow, _ side: Side, _ arrival: Arrival
  ) {
    statistics.earlySegments += 1
    let before = flow[side].pending.byteCount
    flow[side].pending.insert(bytes, at: offset, length: length, arrival)
    pendingBytes += flow[side].pending.byteCount - before
    let pending = flow[side].pending
    if pending.byteCount > limits.pendingBytes || pending.count > limits.pendingSegments
      || pendingBytes > limits.allPendingBytes
    {
      release(flow, side, .limit, arrival)
    }
  }

  mutating func deliver(
    _ bytes: RawSpan, length: Int, _ flow: Flow, _ side: Side, _ arrival: Arrival
  ) {
    flow[side].advance(by: length)
    guard flow.isWanted else { return }
    let connection = connection(of: flow)
    var isWanted = true
    if !bytes.isEmpty {
      isWanted = consumer.received(bytes, from: side, arrival, on: connection)
    }
    if isWanted, bytes.byteCount < length {
      isWanted = consumer.lost(
        length - bytes.byteCount, .snaplen, from: side, arrival, on: connection)
    }
    if !isWanted { drop(flow) }
  }

  mutating func connection(of flow: Flow) -> Consumer.Connection {
    if let connection = flow.connection { return connection }
    let connection = consumer.opened(flow.opening)
    flow.connection = connection
    return connection
  }

  /// Delivers pending segments that have nothing missing in front of them any more.
  mutating func drain(_ flow: Flow, _ side: Side) {
    while let next = flow[side].pending.first, next.offset <= flow[side].offset {
      guard let segment = flow[side].pending.removeFirst() else { return }
      pendingBytes -= segment.bytes.count
      let known = flow[side].offset - segment.offset
      guard known < segment.length else { continue }
      let bytes = segment.bytes.span.bytes
      deliver(
        bytes.extracting(min(known, bytes.byteCount)..<bytes.byteCount),
        length: segment.length - known, flow, side, segment.arrival)
    }
  }

  /// Gives up the hole in front of the first pending segment.
  mutating func release(
    _ flow: Flow, _ side: Side, _ reason: Gap.Reason, _ arrival: Arrival
  ) {
    guard let next = flow[side].pending.first else { return }
    lose(next.offset - flow[side].offset, reason, flow, side, next.arrival)
    drain(flow, side)
  }

  mutating func lose(
    _ count: Int, _ reason: Gap.Reason, _ flow: Flow, _ side: Side, _ arrival: Arrival
  ) {
    guard count > 0 else { return }
    statistics.gaps += 1
    statistics.gapBytes += count
    flow[side].advance(by: count)
    guard flow.isWanted else { return }
    let connection = connection(of: flow)
    if !consumer.lost(count, reason, from: side, arrival, on: connection) { drop(flow) }
  }

  /// Forgets what is kept of a connection that nobody wants; the flow stays, to be known again.
  mutating func drop(_ flow: Flow) {
    flow.isWanted = false
    flow.connection = nil
    pendingBytes -= flow.first.pending.byteCount + flow.second.pending.byteCount
    flow.first.pending = PendingSegments()
    flow.second.pending = PendingSegments()
  }
}

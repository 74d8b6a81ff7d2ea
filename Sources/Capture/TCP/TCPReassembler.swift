import DataClient

/// Puts the segments of TCP connections into streams (RFC 9293), and tells every loss.
///
/// A hole in a stream is a loss only on evidence: the receiver acknowledged what was not captured,
/// the connection or the capture ended, or a limit was reached. Until then later segments wait, so
/// that reordering and loss are both right without a switch. Timestamps are never used for order.
struct TCPReassembler<Consumer: TCPConsumer> {
  private(set) var consumer: Consumer
  let limits: TCPLimits
  private(set) var statistics = TCPStatistics()
  private var flows = FlowTable<Flow>()
  private var last = Arrival(frame: 0, time: Timestamp(nanoseconds: 0))
  /// The bytes that wait behind holes, of all flows together.
  private var pendingBytes = 0
  /// The number of flows at which those that are over are forgotten.
  private var nextSweep: Int

  init(_ consumer: consuming Consumer, limits: TCPLimits = TCPLimits()) {
    self.consumer = consumer
    self.limits = limits
    nextSweep = min(limits.flows, 4_096)
  }

  /// What is kept of a connection.
  final class Flow {
    let key: FlowKey
    var first: TCPStream
    var second: TCPStream
    let opening: FlowOpening
    let isFirstLower: Bool
    var connection: Consumer.Connection?
    var isWanted = true
    var isClosed = false
    var closing: (how: ConnectionClosing.How, side: Side, arrival: Arrival)?
    var lastFrame: Int

    init(key: FlowKey, isFirstLower: Bool, opening: FlowOpening) {
      self.key = key
      self.isFirstLower = isFirstLower
      self.opening = opening
      first = TCPStream()
      second = TCPStream()
      lastFrame = opening.arrival.frame
    }

    subscript(side: Side) -> TCPStream {
      _read { if side == .first { yield first } else { yield second } }
      _modify { if side == .first { yield &first } else { yield &second } }
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
      flow[side.other].acknowledge(segment.acknowledgmentNumber)
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

  // MARK: Flows

  /// Returns the flow of a segment: the known one, or a new one where a connection begins.
  @inline(__always)
  private mutating func flow(
    _ known: Flow?, _ key: FlowKey, _ isFromLower: Bool, _ segment: borrowing TCPSegment,
    _ arrival: Arrival
  ) -> Flow? {
    guard let known else { return newFlow(key, isFromLower, segment, arrival) }
    guard segment.flags.contains(.syn), isNewConnection(segment, on: known, isFromLower) else {
      return known
    }
    if known.isWanted, !known.isClosed {
      close(known, known.closing?.how ?? .endOfCapture, arrival)
    }
    return newFlow(key, isFromLower, segment, arrival)
  }

  /// Tells whether a SYN begins another connection between the same ports.
  private func isNewConnection(
    _ segment: borrowing TCPSegment, on flow: Flow, _ isFromLower: Bool
  ) -> Bool {
    let side: Side = isFromLower == flow.isFirstLower ? .first : .second
    let stream = flow[side]
    guard let offset = stream.offset(of: segment.sequenceNumber &+ 1) else {
      return stream.nextSequence != nil
    }
    // The same number again is a retransmission; so is the answer that the capture saw late.
    return offset != 0 && stream.nextSequence != nil
      && !(flow.opening.isFromStart && segment.flags.contains(.acknowledgment))
      || (flow.isClosed && offset != 0)
  }

  private mutating func newFlow(
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
      key: key, isFirstLower: isAnswer ? !isFromLower : isFromLower, opening: opening)
    if isAnswer { flow.first.start(at: segment.acknowledgmentNumber) }
    flows.insert(flow, for: key)
    return flow
  }

  /// Forgets connections that are over; if too many are left those of no interest, and then the idlest.
  private mutating func makeRoom(_ arrival: Arrival) {
    // Late retransmissions are still to be known as such, and not as another connection.
    let recent = arrival.frame - limits.framesAfterEnd
    flows.keep { !$0.isClosed || $0.lastFrame > recent }
    if flows.count >= limits.flows { flows.keep { !$0.isClosed && $0.isWanted } }
    // An eighth must be free, or every new connection would come back here.
    if flows.count > limits.flows - limits.flows / 8 { giveUpIdle(arrival) }
    nextSweep = min(limits.flows, max(4_096, flows.count * 2))
  }

  private mutating func giveUpIdle(_ arrival: Arrival) {
    var frames: [Int] = []
    flows.forEach { frames.append($0.lastFrame) }
    guard !frames.isEmpty else { return }
    frames.sort()
    let bound = frames[frames.count / 2]
    var idle: [Flow] = []
    flows.forEach { if $0.lastFrame <= bound, !$0.isClosed, $0.isWanted { idle.append($0) } }
    for flow in idle { close(flow, flow.closing?.how ?? .endOfCapture, arrival) }
    statistics.evictedFlows += idle.count
    flows.keep { !$0.isClosed && $0.isWanted }
  }

  // MARK: Streams

  private mutating func receive(
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
  private mutating func place(
    _ bytes: RawSpan, at offset: Int, length: Int, _ flow: Flow, _ side: Side, _ arrival: Arrival
  ) {
    let expected = flow[side].offset
    if offset == expected, !flow[side].hasHole {
      deliver(bytes, length: length, flow, side, arrival)
    } else if offset > expected {
      hold(bytes, at: offset, length: length, flow, side, arrival)
    } else if offset + length > expected {
      statistics.retransmissions += 1
      let known = expected - offset
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
  private mutating func hold(
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

  private mutating func deliver(
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

  private mutating func connection(of flow: Flow) -> Consumer.Connection {
    if let connection = flow.connection { return connection }
    let connection = consumer.opened(flow.opening)
    flow.connection = connection
    return connection
  }

  /// Delivers pending segments that have nothing missing in front of them any more.
  private mutating func drain(_ flow: Flow, _ side: Side) {
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
  private mutating func release(
    _ flow: Flow, _ side: Side, _ reason: Gap.Reason, _ arrival: Arrival
  ) {
    guard let next = flow[side].pending.first else { return }
    lose(next.offset - flow[side].offset, reason, flow, side, next.arrival)
    drain(flow, side)
  }

  private mutating func lose(
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
  private mutating func drop(_ flow: Flow) {
    flow.isWanted = false
    flow.connection = nil
    pendingBytes -= flow.first.pending.byteCount + flow.second.pending.byteCount
    flow.first.pending = PendingSegments()
    flow.second.pending = PendingSegments()
  }

  // MARK: Ends

  private func end(_ flow: Flow, _ side: Side, at offset: Int, _ arrival: Arrival) {
    if flow[side].finOffset == nil { flow[side].finOffset = offset }
    if flow.closing == nil { flow.closing = (.fin, side, arrival) }
  }

  private mutating func reset(
    _ flow: Flow, _ side: Side, _ sequence: UInt32, _ arrival: Arrival
  ) {
    // A receiver believes only a reset inside its window (RFC 5961 section 3); others are injected.
    if flow[side].nextSequence != nil {
      let distance = flow[side].offset(of: sequence).map { $0 - flow[side].offset }
      guard let distance, (-1...limits.pendingBytes).contains(distance) else {
        statistics.strayedSegments += 1
        return
      }
    }
    close(flow, flow.closing?.how ?? .reset, arrival, endedBy: side)
  }

  private mutating func endIfOver(_ flow: Flow, _ arrival: Arrival) {
    guard flow.closing != nil, flow.first.isFinished, flow.second.isFinished else { return }
    close(flow, .fin, arrival)
  }

  private mutating func close(
    _ flow: Flow, _ how: ConnectionClosing.How, _ arrival: Arrival, endedBy: Side = .first
  ) {
    guard !flow.isClosed else { return }
    flow.isClosed = true
    guard flow.isWanted else { return drop(flow) }
    for side in [Side.first, .second] { settle(flow, side, arrival) }
    if flow.isWanted, let connection = flow.connection {
      let began = flow.closing ?? (how, endedBy, arrival)
      consumer.closed(
        FlowClosing(how: how, side: began.side, began: began.arrival, arrival: arrival),
        on: connection)
    }
    drop(flow)
  }

  /// Delivers what waits behind holes, and tells what the other side acknowledged but nobody saw.
  private mutating func settle(_ flow: Flow, _ side: Side, _ arrival: Arrival) {
    while let next = flow[side].pending.first {
      let isAcknowledged = flow[side].acknowledged >= next.offset
      release(flow, side, isAcknowledged ? .acknowledged : .unfilled, arrival)
    }
    guard flow.isWanted, flow.connection != nil else { return }
    lose(flow[side].acknowledgedUnseen, .acknowledged, flow, side, arrival)
  }
}

/// How much is kept, at the most.
struct TCPLimits: Sendable {
  /// Bytes of one direction that wait behind a hole.
  var pendingBytes = 1 << 20
  /// Segments of one direction that wait behind a hole.
  var pendingSegments = 4_096
  /// Bytes of all connections together that wait behind holes.
  var allPendingBytes = 16 << 20
  /// Connections that are known at once; beyond it those that are over, of no interest or idle go.
  var flows = 65_536
  /// Frames after its end for which a connection is still known.
  var framesAfterEnd = 50_000
}

/// What happened to the segments of a capture.
struct TCPStatistics: Sendable, Hashable {
  var retransmissions = 0
  var earlySegments = 0
  var gaps = 0
  var gapBytes = 0
  /// Segments too far from what was expected to belong to their connection, and resets not believed.
  var strayedSegments = 0
  var evictedFlows = 0
}

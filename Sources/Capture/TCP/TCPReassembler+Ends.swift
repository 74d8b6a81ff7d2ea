import DataClient

// How connections end, and what is told then.
extension TCPReassembler {
  mutating func end(_ flow: Flow, _ side: Side, at offset: Int, _ arrival: Arrival) {
    // A stream can't end before bytes that were delivered: that FIN is of an earlier connection.
    guard offset >= flow[side].offset else {
      statistics.disbelievedEnds += 1
      return
    }
    if flow[side].finOffset == nil { flow[side].finOffset = offset }
    if flow.closing == nil { flow.closing = (.fin, side, arrival) }
  }

  mutating func reset(
    _ flow: Flow, _ side: Side, _ sequence: UInt32, _ arrival: Arrival
  ) {
    if flow[side].nextSequence != nil {
      guard let offset = flow[side].offset(of: sequence),
        abs(offset - flow[side].offset) <= limits.pendingBytes
      else {
        statistics.strayedSegments += 1
        return
      }
      guard isBelieved(resetAt: offset, flow[side]) else {
        statistics.disbelievedEnds += 1
        return
      }
    }
    close(flow, flow.closing?.how ?? .reset, arrival, endedBy: side)
  }

  /// Whether a reset is inside its receiver's window (RFC 5961 section 3.2).
  ///
  /// Others are injected or late. Where the window begins the capture tells by what the receiver
  /// acknowledged: a sender that has forgotten the connection takes the number of its reset from
  /// there (RFC 9293 section 3.10.7.1), be it behind bytes of its own that are still on their way.
  private func isBelieved(resetAt offset: Int, _ stream: borrowing TCPStream) -> Bool {
    offset >= stream.offset - 1 || (stream.acknowledged > 0 && offset == stream.acknowledged)
  }

  mutating func endIfOver(_ flow: Flow, _ arrival: Arrival) {
    guard flow.closing != nil, flow.first.isFinished, flow.second.isFinished else { return }
    close(flow, .fin, arrival)
  }

  mutating func close(
    _ flow: Flow, _ how: ConnectionClosing.How, _ arrival: Arrival, endedBy: Side? = nil
  ) {
    guard !flow.isClosed else { return }
    flow.isClosed = true
    guard flow.isWanted else { return drop(flow) }
    for side in [Side.first, .second] { settle(flow, side, arrival) }
    if flow.isWanted, let connection = flow.connection {
      let began = flow.closing ?? (how, endedBy ?? .first, arrival)
      consumer.closed(
        FlowClosing(
          how: how, side: began.side, began: began.arrival, arrival: arrival,
          isAnswered: flow[began.side.other].isFinished || endedBy == began.side.other),
        on: connection)
    }
    drop(flow)
  }

  /// Delivers what waits behind holes, and tells what the other side acknowledged but nobody saw.
  mutating func settle(_ flow: Flow, _ side: Side, _ arrival: Arrival) {
    while let next = flow[side].pending.first {
      let isAcknowledged = flow[side].acknowledged >= next.offset
      release(flow, side, isAcknowledged ? .acknowledged : .unfilled, arrival)
    }
    guard flow.isWanted, flow.connection != nil else { return }
    lose(flow[side].acknowledgedUnseen, .acknowledged, flow, side, arrival)
  }
}

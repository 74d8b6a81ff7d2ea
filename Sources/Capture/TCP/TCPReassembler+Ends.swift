import RepriseCore

// How connections end, and what is told then.
extension TCPReassembler {
  mutating func end(_ direction: Direction, at offset: Int, _ demand: Int) {
    let (flow, side) = (direction.connection, direction.side)
    // A stream can't end before bytes that were delivered: that FIN is of an earlier connection.
    guard offset >= flow[side].offset else {
      statistics.disbelievedEnds += 1
      return
    }
    if flow[side].finOffset == nil {
      flow[side].finOffset = offset
      flow[side].finDemand = demand
    }
    // A FIN that acknowledges the other one was sent behind it, wherever it was captured.
    var began = direction.arrival
    if let closing = flow.closing {
      guard closing.side != side, flow[side.other].finDemand > offset else { return }
      began.time = min(began.time, closing.arrival.time)
    }
    flow.closing = (.fin, side, began)
  }

  /// Takes a reset.
  ///
  /// One without an acknowledgement answers a segment to a connection that is over for its sender, and
  /// has its number from what that acknowledges (RFC 9293 section 3.10.7.1).
  mutating func reset(
    _ direction: Direction, _ sequence: UInt32, _ demand: Int, isAnswer: Bool
  ) {
    let (flow, side) = (direction.connection, direction.side)
    var question = Int.min
    var offset = flow[side].offset
    if flow[side].nextSequence != nil {
      guard let target = flow[side].offset(of: sequence),
        abs(target - offset) <= limits.pendingBytes
      else {
        statistics.strayedSegments += 1
        return
      }
      guard isBelieved(resetAt: target, flow[side]) else {
        statistics.disbelievedEnds += 1
        return
      }
      if isAnswer, flow[side.other].isSeen { question = target }
      // Behind a FIN, which takes a number of its own, there are no bytes.
      offset = min(target, flow[side].finOffset ?? target)
    }
    guard flow.reset == nil else { return }
    flow.reset = Reset(
      side: side, offset: offset, demand: demand, question: question, arrival: direction.arrival,
      segment: flow.segments)
  }

  /// Whether a reset is inside its receiver's window (RFC 5961 section 3.2).
  ///
  /// Others are injected or late. Where the window begins the capture tells by what the receiver
  /// acknowledged: a sender that has forgotten the connection takes the number of its reset from
  /// there (RFC 9293 section 3.10.7.1), be it behind bytes of its own that are still on their way.
  private func isBelieved(resetAt offset: Int, _ stream: borrowing TCPStream) -> Bool {
    offset >= stream.offset - 1 || (stream.acknowledged > 0 && offset == stream.acknowledged)
  }

  /// Ends a connection by its reset, once what was sent before it is there.
  mutating func resetIfDue(_ flow: Flow) {
    guard let reset = flow.reset, !flow.isClosed else { return }
    let isDue =
      reset.offset <= flow[reset.side].offset && flow.isOver(reset.demand, of: reset.side.other)
      && reset.question <= flow[reset.side].acknowledged
    guard isDue || flow.segments - reset.segment >= limits.segmentsWaiting else { return }
    cut(flow, reset.arrival)
  }

  /// Hands on what is kept of a connection until it is clear where its streams start, as at its end.
  mutating func start(_ flow: Flow) {
    guard !flow.isClosed, flow.isWanted else { return }
    flow.isStarting = false
    repeat { deliverDue(flow) } while giveUp(flow, .unfilled)
  }

  /// Ends a connection that nothing more is waited for.
  mutating func cut(_ flow: Flow, _ arrival: Arrival) {
    let how = flow.closing?.how ?? (flow.reset == nil ? .endOfCapture : .reset)
    close(flow, how, flow.reset?.arrival ?? arrival, endedBy: flow.reset?.side)
  }

  mutating func endIfOver(_ flow: Flow, _ arrival: Arrival) {
    guard flow.closing != nil, flow[.first].isFinished, flow[.second].isFinished else { return }
    close(flow, .fin, arrival)
  }

  mutating func close(
    _ flow: Flow, _ how: ConnectionClosing.How, _ arrival: Arrival, endedBy: Side? = nil
  ) {
    guard !flow.isClosed else { return }
    flow.isClosed = true
    guard flow.isWanted else { return drop(flow) }
    flow.isStarting = false
    repeat { deliverDue(flow) } while giveUp(flow, .unfilled)
    for side in [Side.first, .second] { tellUnseen(Direction(flow, side, arrival)) }
    if flow.isWanted, let connection = flow.connection {
      let began = flow.closing ?? (how, endedBy ?? .first, arrival)
      var arrival = arrival
      let leaps = [Side.first, .second].count { flow[$0].hasLeap }
      statistics.leaps += leaps
      if leaps > 0 || flow.isOvertaken || flow.mayHaveBegunOtherwise {
        arrival.isOrderUncertain = true
      }
      consumer.closed(
        FlowClosing(
          how: how, side: began.side, began: began.arrival, arrival: arrival,
          isAnswered: flow[began.side.other].isFinished,
          isLate: flow.isLate || mergedClocks.areThere
            || clockSteps.isSet(from: flow.start.time.nanoseconds, to: arrival.time.nanoseconds),
          isOfMergedClocks: mergedClocks.areThere,
          silences: (flow.silence(of: .first), flow.silence(of: .second)),
          rests: (
            flow.rest(of: .first, before: began.arrival),
            flow.rest(of: .second, before: began.arrival)
          )),
        on: connection)
    }
    drop(flow)
  }

  /// Tells what is known to have been sent and nobody saw.
  private mutating func tellUnseen(_ direction: Direction) {
    let (flow, side) = (direction.connection, direction.side)
    guard flow.isWanted else { return }
    var unseen = flow[side].unseen
    if let reset = flow.reset, reset.side == side {
      // One number alone is that of a FIN.
      let missing = reset.offset - flow[side].offset
      if missing > 1 { unseen = max(unseen, missing) }
    }
    let isAcknowledged = flow[side].acknowledged >= flow[side].offset + unseen
    lose(unseen, isAcknowledged ? .acknowledged : .unfilled, direction)
  }
}

extension TCPReassembler.Flow {
  /// Whether bytes came that had been told as lost: their direction, and its end with it, may have been
  /// captured late as a whole, and by its own time.
  fileprivate var isOvertaken: Bool { self[.first].isOvertaken || self[.second].isOvertaken }

  /// Whether the first FIN or RST that was captured may acknowledge a FIN that was not.
  fileprivate var mayHaveBegunOtherwise: Bool {
    guard let closing else {
      guard let reset else { return false }
      // A reset need not acknowledge anything; what was acknowledged before it was so in any case.
      let other = reset.side.other
      return self[other].finOffset == nil
        && max(reset.demand, self[other].acknowledged) > self[other].offset
    }
    let other = closing.side.other
    let demand = self[closing.side].finDemand
    let isAhead = demand > self[other].offset
    return self[other].finOffset == nil && (isAhead || (self[other].endsInLoss && demand != .min))
  }
}

import RepriseCore

// What waits: for the bytes in front of it, and for those of the other direction that it acknowledges.
extension TCPReassembler {
  // MARK: Keeping

  /// Keeps a segment until it is its turn.
  mutating func hold(
    _ bytes: RawSpan, at offset: Int, length: Int, _ demand: Int, _ direction: Direction
  ) {
    let (flow, side) = (direction.connection, direction.side)
    let before = flow[side].pending.reserved
    flow[side].pending.insert(bytes, at: offset, length: length, demand: demand, direction.arrival)
    pendingBytes += flow[side].pending.reserved - before
    while isOverLimit(flow, side) {
      flow.isStarting = false
      deliverDue(flow)
      guard isOverLimit(flow, side) else { return }
      guard giveUp(flow, .limit) else { return }
    }
  }

  private func isOverLimit(_ flow: Flow, _ side: Side) -> Bool {
    let (bytes, count) = (flow[side].pending.byteCount, flow[side].pending.count)
    return count > 0
      && (bytes > limits.pendingBytes || count > limits.pendingSegments
        || pendingBytes > limits.allPendingBytes)
  }

  /// Forgets what waits in a flow.
  mutating func forgetPending(of flow: Flow) {
    pendingBytes -= flow[.first].pending.reserved + flow[.second].pending.reserved
    flow[.first].pending = PendingSegments()
    flow[.second].pending = PendingSegments()
  }

  // MARK: Delivering

  /// Hands on what is due after a segment, gives up what is lost for sure, and notes what still waits.
  mutating func settle(_ flow: Flow, _ arrival: Arrival) {
    advance(flow, arrival)
    guard !flow.isCalm, !flow.isClosed, !flow.isWaiting else { return }
    flow.waitsSince = arrival.frame
    watch(flow)
  }

  private mutating func advance(_ flow: Flow, _ arrival: Arrival) {
    flow.startIfClear(after: limits.segmentsWaiting)
    for side in [Side.first, .second] {
      // Of a side that is not in the capture nothing comes late.
      let isAbsent = !flow[side].isSeen && flow.segments >= limits.segmentsWaiting
      let patience = isAbsent ? 0 : limits.segmentsWaiting
      flow[side].settle(upTo: flow.segments - patience)
    }
    repeat { deliverDue(flow) } while !flow.isStarting && giveUp(flow, nil)
    endIfOver(flow, arrival)
    resetIfDue(flow)
    if flow.isCalm { flow.waitsSince = arrival.frame }
    flow.isCalm =
      flow[.first].isCalm && flow[.second].isCalm && !flow.isStarting && flow.reset == nil
  }

  /// Hands on the segments that wait for nothing any more; of two the one that was captured first.
  mutating func deliverDue(_ flow: Flow) {
    while flow.isWanted, !flow.isStarting, let side = flow.nextDue {
      let before = flow[side].pending.reserved
      guard let segment = flow[side].pending.removeFirst() else { return }
      pendingBytes += flow[side].pending.reserved - before
      let known = flow[side].offset - segment.offset
      guard known < segment.length else { continue }
      let bytes = segment.bytes.span.bytes
      deliver(
        bytes.extracting(min(known, bytes.byteCount)..<bytes.byteCount),
        length: segment.length - known, Direction(flow, side, segment.arrival))
    }
  }

  // MARK: Giving up

  /// Gives up one thing that is waited for: a hole, or the order of two segments.
  /// - Parameters:
  ///   - flow: The connection.
  ///   - forced: Why it is given up without evidence of its loss; nil where evidence is needed.
  /// - Returns: Whether there was anything to give up.
  mutating func giveUp(_ flow: Flow, _ forced: Gap.Reason?) -> Bool {
    guard flow.isWanted else { return false }
    let sides = flow.sidesByHead
    // In a hole may be answers to what the other side sent, and questions that it answered: so each
    // part of it is told as late as can be, before the first segment that acknowledges it.
    for side in sides where loseDemanded(flow, side, forced) { return true }
    for side in sides where loseHole(flow, side, forced) { return true }
    return breakCycle(flow, isForced: forced != nil) || loseEnd(flow, forced)
  }

  /// Loses the bytes in front of the first segment that waits.
  private mutating func loseHole(_ flow: Flow, _ side: Side, _ forced: Gap.Reason?) -> Bool {
    guard let head = flow[side].pending.first, head.offset > flow[side].offset else { return false }
    guard forced != nil || flow[side].settled >= head.offset else { return false }
    guard flow.isOver(head.demand, of: side.other) else { return false }
    let isAcknowledged = flow[side].acknowledged >= head.offset && forced != .limit
    let reason = isAcknowledged ? .acknowledged : forced ?? .acknowledged
    lose(head.offset - flow[side].offset, reason, Direction(flow, side, head.arrival))
    return true
  }

  /// Loses the bytes of the other side that the first segment of a side acknowledges.
  private mutating func loseDemanded(_ flow: Flow, _ side: Side, _ forced: Gap.Reason?) -> Bool {
    let other = side.other
    guard let head = flow[side].pending.first, !flow.isOver(head.demand, of: other) else {
      return false
    }
    let next = flow[other].pending.first?.offset
    let bound = min(head.demand, next ?? .max, flow[other].finOffset ?? .max)
    let missing = bound - flow[other].offset
    // A leap that nothing supports is waited for as long, but no bytes are lost for it. What is less than
    // a leap that came earlier is none for that.
    let isWild = head.demand > flow[other].believed && flow[other].overdue >= head.demand
    let isLost = missing > 0 && (forced != nil || flow[other].settled >= bound)
    guard isLost else {
      guard isWild else { return false }
      flow[side].pending.dropDemand(isUncertain: true)
      return true
    }
    if next == nil, flow[other].finOffset == nil {
      // One number alone is that of a FIN, which is no byte. So many bytes at once nobody sent.
      let isTooFar = missing > limits.pendingBytes && bound > flow[other].believed
      if missing == 1 || isTooFar {
        flow[side].pending.dropDemand(isUncertain: isTooFar)
        return true
      }
    }
    // A hole that ends here is told with the frame of the bytes behind it.
    let behind = next == bound ? flow[other].pending.first?.arrival : nil
    lose(missing, .acknowledged, Direction(flow, other, behind ?? head.arrival))
    return true
  }

  /// Lets one of two segments go that wait for each other.
  ///
  /// One of them is a retransmission whose first copy was not captured: it acknowledges more than that
  /// copy did. The one that was captured later goes first, and of both the order is marked as not known.
  private mutating func breakCycle(_ flow: Flow, isForced: Bool) -> Bool {
    guard let first = flow[.first].pending.first, let second = flow[.second].pending.first,
      first.offset <= flow[.first].offset, second.offset <= flow[.second].offset,
      !flow.isOver(first.demand, of: .second), !flow.isOver(second.demand, of: .first)
    else { return false }
    guard
      isForced
        || (flow[.first].settled >= second.demand && flow[.second].settled >= first.demand)
    else { return false }
    let later: Side = first.arrival.frame > second.arrival.frame ? .first : .second
    flow[later].pending.dropDemand(isUncertain: true)
    flow[later.other].pending.doubtFirst()
    return true
  }

  /// Loses what is missing before a FIN.
  private mutating func loseEnd(_ flow: Flow, _ forced: Gap.Reason?) -> Bool {
    // A limit is about what waits, of which there is nothing.
    guard forced != .limit, let closing = flow.closing else { return false }
    for side in [Side.first, .second] where flow[side].pending.isEmpty {
      guard let end = flow[side].finOffset, end > flow[side].offset else { continue }
      let isAcknowledged = flow[side].acknowledged >= end
      guard forced != nil || flow[side].settled >= end else { continue }
      // Nothing shows that the connection is of interest.
      guard flow.connection != nil else { continue }
      let arrival = closing.side == side ? closing.arrival : last
      lose(
        end - flow[side].offset, isAcknowledged ? .acknowledged : .unfilled,
        Direction(flow, side, arrival))
      return true
    }
    return false
  }

  // MARK: Connections that stand still

  /// Notes that something waits in a flow.
  private mutating func watch(_ flow: Flow) {
    flow.isWaiting = true
    waiting.append(flow, since: flow.waitsSince)
  }

  /// Gives up what other connections have not brought either: a connection may be silent for long.
  mutating func releaseIdle(_ arrival: Arrival) {
    let bound = arrival.frame - limits.framesWaiting
    while let flow = waiting.removeFirst(before: bound) {
      flow.isWaiting = false
      guard flow.isWanted, !flow.isClosed, !flow.isCalm else { continue }
      guard flow.waitsSince < bound else {
        watch(flow)
        continue
      }
      flow.isStarting = false
      for side in [Side.first, .second] { flow[side].settle(upTo: .max) }
      // A reset is the end: what is missing before it was sent long ago.
      if flow.reset != nil { cut(flow, arrival) } else { advance(flow, arrival) }
      // What waits now only a segment of its own can help, with which it is among them again.
    }
  }
}

extension TCPReassembler.Flow {
  /// Whether a stream has come to a place, or to its end.
  @inline(__always)
  func isOver(_ demand: Int, of side: Side) -> Bool {
    demand <= self[side].offset || self[side].isFinished
  }

  /// Whether the first segment that waits in a direction waits for nothing any more.
  private func isDue(_ side: Side) -> Bool {
    guard let head = self[side].pending.first else { return false }
    return head.offset <= self[side].offset && isOver(head.demand, of: side.other)
  }

  /// The side whose first segment is due.
  var nextDue: Side? {
    switch (isDue(.first), isDue(.second)) {
    case (false, false): nil
    case (true, false): .first
    case (false, true): .second
    case (true, true): sidesByHead.first
    }
  }

  /// Both sides, first the one whose first waiting segment was captured first.
  var sidesByHead: [Side] {
    let frames = [Side.first, .second].map { self[$0].pending.first?.arrival.frame ?? .max }
    return frames[0] <= frames[1] ? [.first, .second] : [.second, .first]
  }

  /// Ends the wait for the start of both streams when it is clear, or no more of it is to be expected.
  func startIfClear(after segments: Int) {
    guard isStarting else { return }
    let isExact = self[.first].isExact && self[.second].isExact
    // Neighbours change places by a few.
    let isSeen = self[.first].isSeen && self[.second].isSeen && self.segments > 4
    if isExact || isSeen || self.segments >= segments { isStarting = false }
  }
}

/// The connections in which something waits, in the order in which that began.
struct WaitingFlows<Flow: AnyObject> {
  private var entries: [(flow: Flow, since: Int)] = []
  private var head = 0

  /// Whether one has waited since a frame before another.
  @inline(__always)
  func hasAny(before frame: Int) -> Bool { head < entries.count && entries[head].since < frame }

  mutating func append(_ flow: Flow, since frame: Int) { entries.append((flow, frame)) }

  /// Takes out the first one, if it has waited since a frame before another.
  mutating func removeFirst(before frame: Int) -> Flow? {
    guard hasAny(before: frame) else { return nil }
    let flow = entries[head].flow
    head += 1
    if head * 2 > entries.count {
      entries.removeFirst(head)
      head = 0
    }
    return flow
  }

  mutating func removeAll() {
    entries.removeAll()
    head = 0
  }
}

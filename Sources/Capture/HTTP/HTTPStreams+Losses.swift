import RepriseCore
import Wire

// What is not there, and the end.
extension HTTPStreams {
  /// The methods that a request has behind a loss, where a segment may begin inside of a longer one.
  private static let methods = RequestMethod.allCases.map { Array("\($0.rawValue) ".utf8) }

  /// Goes on where a segment begins with a message; false where none does.
  func resume(
    _ bytes: RawSpan, _ direction: Direction, _ state: HTTPConnection
  ) -> Bool {
    switch HTTPStart(bytes) {
    case .request where direction.isFromClient:
      let isKnown = bytes.withUnsafeBytes { bytes in
        Self.methods.contains { bytes.starts(with: $0) }
      }
      guard isKnown else { return false }
      state.loseRequests()
    case .response where !direction.isFromClient: state.loseAnswers()
    case .request, .response, .maybe, .no: return false
    }
    return true
  }

  /// Takes the loss of bytes of a side.
  func lose(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction, _ state: HTTPConnection
  ) {
    state[direction.side].offset += count
    // What a snapshot length cut out of a body, the message says itself.
    var gap = reason == .snaplen ? 0 : count
    switch state[direction.side].phase {
    case .other, .outOfStep: gap = count
    case .between, .head:
      gap = count
      state[direction.side].phase = .outOfStep
    case .body(var open):
      let behind = open.body.lose(count)
      if reason == .snaplen { gap = behind ?? 0 }
      // Told before the message that it is a part of.
      tellGap(gap, reason, direction)
      gap = 0
      if open.body.isComplete {
        state[direction.side].phase = behind == 0 ? .between : .outOfStep
        finish(open, direction, state)
      } else {
        state[direction.side].phase = .body(open)
      }
    }
    tellGap(gap, reason, direction)
  }

  /// Takes into account that nobody knows how many bytes a loss that was told has.
  func outOfStep(_ direction: Direction, _ state: HTTPConnection) {
    if case .body(let open) = state[direction.side].phase {
      finish(open, direction, state)
    }
    state[direction.side].phase = .outOfStep
  }

  private func tellGap(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction
  ) {
    guard count > 0, direction.connection.number > 0 else { return }
    emitter.emitGap(count, reason, direction)
  }

  /// Gives the memory of what is unfinished back.
  /// - Returns: Whether anything is missing for it.
  func giveUp(
    _ arrival: Arrival, _ connection: SessionConnection, _ state: HTTPConnection
  ) -> Bool {
    var hasLost = false
    for direction in connection.directions(arrival) {
      switch state[direction.side].phase {
      case .between, .outOfStep, .other: continue
      case .head(let reader):
        tellGap(reader.byteCount, .limit, direction)
        state[direction.side].phase = .outOfStep
        hasLost = true
      case .body(var open):
        let count = open.body.giveUp()
        tellGap(count, .limit, direction)
        state[direction.side].phase = .body(open)
        hasLost = hasLost || count > 0
      }
    }
    return hasLost
  }

  /// Tells what is left of both directions when their connection ends.
  func flush(
    _ closing: FlowClosing, _ connection: SessionConnection, _ state: HTTPConnection
  ) {
    for side in [connection.client, connection.client.other] {
      let direction = Direction(connection, side, closing.arrival)
      let isEnded = closing.how == .fin && (closing.side == side || closing.isAnswered)
      switch state[side].phase {
      case .between, .outOfStep, .other: continue
      case .head(let reader):
        guard reader.byteCount > 0, connection.number > 0 else { continue }
        breakOff(
          1, "incomplete-head", "a head, after \(reader.byteCount) bytes",
          at: state[side].offset - reader.byteCount, closing.how, direction)
      case .body(var open):
        if open.body.endsWithConnection, isEnded {
          open.body.end()
        } else {
          let rest = open.body.rest.map { "\($0) bytes before its end" } ?? "before its end"
          open.body.breakOff()
          emitter.openIfNew(direction)
          breakOff(
            open.body.missing, "incomplete-body", "a body, \(rest)", at: open.start, closing.how,
            direction)
        }
        finish(open, direction, state)
      }
      state[side].phase = .between
    }
  }

  /// Says that a stream ends inside of a message: by its sender's fault, or because the capture ends.
  private func breakOff(
    _ missing: Int, _ code: String, _ place: String, at offset: Int,
    _ how: ConnectionClosing.How, _ direction: Direction
  ) {
    guard how != .endOfCapture else {
      return emitter.emitGap(missing, .unfilled, direction)
    }
    let malformation = Malformation(
      code: code, offset: offset, message: "the stream ends inside \(place)")
    emitter.emitMalformation(malformation, direction)
  }
}

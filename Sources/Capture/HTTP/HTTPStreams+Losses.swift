import RepriseCore
import Wire

// What is not there, and the end.
extension HTTPStreams {
  /// The methods that a request has behind a loss, where a segment may begin inside of a longer one.
  private static let methods = RequestMethod.allCases.map { Array("\($0.rawValue) ".utf8) }

  /// Goes on where a segment begins with a message; false where none does.
  func resume(
    _ bytes: RawSpan, _ side: Side, _ connection: SessionConnection, _ state: HTTPConnection
  ) -> Bool {
    switch HTTPStart(bytes) {
    case .request where side == connection.client:
      let isKnown = bytes.withUnsafeBytes { bytes in
        Self.methods.contains { bytes.starts(with: $0) }
      }
      guard isKnown else { return false }
      state.loseRequests()
    case .response where side != connection.client: state.loseAnswers()
    case .request, .response, .maybe, .no: return false
    }
    return true
  }

  /// Takes the loss of bytes of a side.
  func lose(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: HTTPConnection
  ) {
    state[side].offset += count
    // What a snapshot length cut out of a body, the message says itself.
    var gap = reason == .snaplen ? 0 : count
    switch state[side].phase {
    case .other, .outOfStep: gap = count
    case .between, .head:
      gap = count
      state[side].phase = .outOfStep
    case .body(var open):
      let behind = open.body.lose(count)
      if reason == .snaplen { gap = behind ?? 0 }
      // Told before the message that it is a part of.
      tellGap(gap, reason, side, arrival, connection)
      gap = 0
      if open.body.isComplete {
        state[side].phase = behind == 0 ? .between : .outOfStep
        finish(open, side, arrival, connection, state)
      } else {
        state[side].phase = .body(open)
      }
    }
    tellGap(gap, reason, side, arrival, connection)
  }

  private func tellGap(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection
  ) {
    guard count > 0, connection.number > 0 else { return }
    emitter.emitGap(count, reason, side, arrival, connection)
  }

  /// Gives the memory of what is unfinished back.
  /// - Returns: Whether anything is missing for it.
  func giveUp(
    _ arrival: Arrival, _ connection: SessionConnection, _ state: HTTPConnection
  ) -> Bool {
    var hasLost = false
    for side in [Side.first, .second] {
      switch state[side].phase {
      case .between, .outOfStep, .other: continue
      case .head(let reader):
        tellGap(reader.byteCount, .limit, side, arrival, connection)
        state[side].phase = .outOfStep
        hasLost = true
      case .body(var open):
        let count = open.body.giveUp()
        tellGap(count, .limit, side, arrival, connection)
        state[side].phase = .body(open)
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
      let isEnded = closing.how == .fin && (closing.side == side || closing.isAnswered)
      switch state[side].phase {
      case .between, .outOfStep, .other: continue
      case .head(let reader):
        guard reader.byteCount > 0, connection.number > 0 else { continue }
        breakOff(
          1, "incomplete-head", "a head, after \(reader.byteCount) bytes",
          at: state[side].offset - reader.byteCount, side, closing, connection)
      case .body(var open):
        if open.body.endsWithConnection, isEnded {
          open.body.end()
        } else {
          let rest = open.body.rest.map { "\($0) bytes before its end" } ?? "before its end"
          open.body.breakOff()
          if connection.number == 0 { emitter.open(connection, closing.arrival, evidence: nil) }
          breakOff(
            open.body.missing, "incomplete-body", "a body, \(rest)", at: open.start, side, closing,
            connection)
        }
        finish(open, side, closing.arrival, connection, state)
      }
      state[side].phase = .between
    }
  }

  /// Says that a stream ends inside of a message: by its sender's fault, or because the capture ends.
  private func breakOff(
    _ missing: Int, _ code: String, _ place: String, at offset: Int, _ side: Side,
    _ closing: FlowClosing, _ connection: SessionConnection
  ) {
    guard closing.how != .endOfCapture else {
      return emitter.emitGap(missing, .unfilled, side, closing.arrival, connection)
    }
    let malformation = Malformation(
      code: code, offset: offset, message: "the stream ends inside \(place)")
    emitter.emitMalformation(malformation, side, closing.arrival, connection)
  }
}

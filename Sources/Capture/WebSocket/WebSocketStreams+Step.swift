import RepriseCore
import Wire

// How a side comes into step again behind a loss or a bad frame, and the other side waits for that.
extension WebSocketStreams {
  /// Looks for the next frame from a place on.
  func outOfStep(
    at offset: Int, _ direction: Direction,
    _ state: WebSocketConnection
  ) {
    state.loseFrames(of: direction.side)
    if case .mqtt = state.cargo { mqtt.interrupt(direction) }
    state[direction.side].framer.restart(at: offset)
    state[direction.side].resynchronizer = StreamResynchronizer(offset: offset)
    state[direction.side].lostInFrame = 0
    state[direction.side].doubt = 0
    state[direction.side].disproof = nil
  }

  /// Looks for the start of a frame in what came since a side is out of step.
  /// - Parameters:
  ///   - direction: The side, and what brought the last of it.
  ///   - state: The connection.
  ///   - isFinal: Whether nothing more will come of what is looked at.
  ///   - next: What comes behind it.
  func resynchronize(
    _ direction: Direction, _ state: WebSocketConnection, isFinal: Bool,
    then next: Backlog.Content? = nil
  ) {
    let side = direction.side
    let isMasked = state[side].isMasked ?? direction.isFromClient
    guard let found = state[side].resynchronizer?.find(isMasked, isFinal: isFinal),
      let offset = state[side].resynchronizer?.offset
    else {
      // What the other side sends meanwhile may answer what is looked at.
      if !state.isOrderGivenUp { state[side.other].isHeldBack = true }
      return
    }
    if found.skipped > 0 { notFrames(found.skipped, at: offset - found.skipped, direction) }
    // Without anything found it goes on with the bytes to come.
    if !found.pieces.isEmpty {
      state[side].resynchronizer = nil
      state[side].doubt = WebSocketChain.convincing
      state[side].framer.restart(at: offset)
      state[side].offset = offset
    }
    var position = offset
    let pieces = found.pieces.map { piece in
      defer { position += piece.bytes.count }
      return Backlog.Piece(
        side: side, arrival: piece.arrival, content: .bytes(piece.bytes), position: position)
    }
    let last = next.map { Backlog.Piece(side: side, arrival: direction.arrival, content: $0) }
    release(around: pieces, then: last, direction, state)
  }

  /// Keeps what a side sends until the other is in step again.
  @inline(never)
  func holdBack(
    _ content: Backlog.Content, _ direction: Direction, _ state: WebSocketConnection
  ) {
    let awaited = state[direction.side.other].resynchronizer
    let backlog = state.ownBacklog
    backlog.hold(
      Backlog.Piece(
        side: direction.side, arrival: direction.arrival, content: content,
        position: awaited?.end ?? 0))
    guard backlog.isOverLimit else { return }
    backlog.isGivenUp = true
    state.isOrderGivenUp = true
    state[direction.side].isHeldBack = false
    backlog.release(around: [])
    drain(direction, state)
  }

  /// Tells whether a loss has to wait: for the other side, or until the bytes in front of it are looked at for good.
  func waitsForStep(
    _ loss: Backlog.Content, _ direction: Direction, _ state: WebSocketConnection
  ) -> Bool {
    if state[direction.side].isHeldBack {
      holdBack(loss, direction, state)
      return true
    }
    guard !state[direction.side].isOutOfStep else {
      resynchronize(direction, state, isFinal: true, then: loss)
      return true
    }
    // What is looked at came before it, and nothing that is missing here settles it.
    guard state[direction.side.other].isOutOfStep, !state.isAnswerGuessed,
      state.backlog?.isGivenUp != true
    else { return false }
    state[direction.side].isHeldBack = true
    holdBack(loss, direction, state)
    return true
  }

  /// Looks at what is left of both sides for good.
  func endSearch(
    on connection: SessionConnection, _ arrival: Arrival, _ state: WebSocketConnection
  ) {
    while let side = [Side.first, .second].first(where: { state[$0].isOutOfStep }) {
      resynchronize(Direction(connection, side, arrival), state, isFinal: true)
    }
  }

  /// Hands on what was found of a side, and what waited for it.
  private func release(
    around found: [Backlog.Piece], then next: Backlog.Piece?, _ direction: Direction,
    _ state: WebSocketConnection
  ) {
    let other = direction.side.other
    var pieces = found
    // Meanwhile what the other side answered was handed on.
    if state.isOrderGivenUp {
      for index in pieces.indices where pieces[index].arrival.frame < direction.arrival.frame {
        pieces[index].arrival.isOrderUncertain = true
      }
    }
    if state[direction.side].resynchronizer == nil, state[other].resynchronizer == nil {
      state.isOrderGivenUp = false
      state.backlog?.isGivenUp = false
    }
    state[other].isHeldBack = false
    guard state.backlog != nil || !pieces.isEmpty || next != nil else { return }
    state.ownBacklog.release(around: pieces, then: next)
    drain(direction, state)
  }

  /// Hands on all that is due, in its order: some of it may have to wait anew.
  private func drain(_ latest: Direction, _ state: WebSocketConnection) {
    let backlog = state.ownBacklog
    guard !backlog.isDraining else { return }
    backlog.isDraining = true
    defer { backlog.isDraining = false }
    while let piece = backlog.takeDue() {
      var direction = Direction(latest.connection, piece.side, piece.arrival)
      // Among the events of other connections it stands late.
      if emitter.recognised > 1, piece.arrival.frame < latest.arrival.frame {
        direction.arrival.isOrderUncertain = true
      }
      switch piece.content {
      case .bytes(let bytes): _ = take(bytes.span.bytes, direction, state)
      case .lost(let count, let reason): lose(count, reason, direction, state)
      // Frames lie in a stream of which it is known how much is missing.
      case .interrupted: break
      }
    }
  }
}

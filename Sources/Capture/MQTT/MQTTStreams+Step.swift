import RepriseCore
import Wire

// How a side comes into step again behind a loss or a bad packet, and the other side waits for that.
extension MQTTStreams {
  /// Looks for the start of a packet in what came since a side is out of step.
  /// - Parameters:
  ///   - direction: The side, and what brought the last of it.
  ///   - isFinal: Whether nothing more will come of what is looked at.
  ///   - next: What comes behind it.
  func resynchronize(
    _ direction: Direction, isFinal: Bool, then next: Backlog.Content? = nil
  ) {
    let connection = direction.connection
    guard let found = direction.mqtt.resynchronizer?.find(connection.layouts, isFinal: isFinal),
      let offset = direction.mqtt.resynchronizer?.offset
    else { return letOtherWait(direction) }
    if found.skipped > 0 {
      let malformation = Malformation(
        code: MQTTFramingError.Code.notMQTT.rawValue, offset: offset - found.skipped,
        message: "\(found.skipped) bytes could not be cut into packets")
      let arrival = found.lastSkipped ?? direction.arrival
      emitter.emit(EventView(direction.at(arrival).context, .malformed(malformation)))
    }
    // Without anything found it goes on with the bytes to come.
    if !found.pieces.isEmpty {
      direction.mqtt.resynchronizer = nil
      direction.mqtt.unproven = direction.mqtt.isBehindLoss ? Self.proof : 0
      direction.mqtt.framer.restart(at: offset)
      direction.mqtt.offset = offset
    }
    var position = offset
    let pieces = found.pieces.map { piece in
      defer { position += piece.bytes.count }
      return Backlog.Piece(
        side: direction.side, arrival: piece.arrival, content: .bytes(piece.bytes),
        position: position)
    }
    let last = next.map {
      Backlog.Piece(side: direction.side, arrival: direction.arrival, content: $0)
    }
    release(around: pieces, then: last, direction)
  }

  /// Lets what the other side sends wait, unless the order of both sides is given up.
  private func letOtherWait(_ direction: Direction) {
    let connection = direction.connection
    // In frames it is seldom that packets are looked for, and what frames say by themselves can't wait.
    guard connection.stage == .mqtt, !connection.isOrderGivenUp else { return }
    connection[direction.side.other].isHeldBack = true
  }

  /// Keeps what a side sends until the other is in step again.
  @inline(never)
  func holdBack(_ content: Backlog.Content, _ direction: Direction) {
    let connection = direction.connection
    let awaited = connection[direction.side.other].resynchronizer
    direction.mqtt.mayKeep = true
    connection.ownBacklog.hold(
      Backlog.Piece(
        side: direction.side, arrival: direction.arrival, content: content,
        position: awaited?.end ?? 0))
    guard connection.ownBacklog.isOverLimit else { return }
    connection.ownBacklog.isGivenUp = true
    connection.isOrderGivenUp = true
    direction.mqtt.isHeldBack = false
    connection.ownBacklog.release(around: [])
    drain(connection, direction.arrival)
  }

  /// Tells whether a loss has to wait: for the other side, or until the bytes in front of it are looked at for good.
  func waitsForStep(_ loss: Backlog.Content, _ direction: Direction) -> Bool {
    if direction.mqtt.isHeldBack {
      holdBack(loss, direction)
      return true
    }
    guard !direction.mqtt.isOutOfStep else {
      resynchronize(direction, isFinal: true, then: loss)
      return true
    }
    // What is looked at came before it, and nothing that is missing here settles it.
    let connection = direction.connection
    guard connection.stage == .mqtt, connection[direction.side.other].isOutOfStep,
      connection.backlog?.isGivenUp != true
    else { return false }
    direction.mqtt.isHeldBack = true
    holdBack(loss, direction)
    return true
  }

  /// Looks at what is left of both sides for good.
  func endSearch(on connection: SessionConnection, _ arrival: Arrival) {
    while let side = [Side.first, .second].first(where: { connection[$0].isOutOfStep }) {
      resynchronize(Direction(connection, side, arrival), isFinal: true)
    }
  }

  /// Hands on what was found of a side, and what waited for it.
  private func release(
    around found: [Backlog.Piece], then next: Backlog.Piece?, _ direction: Direction
  ) {
    let connection = direction.connection
    let other = direction.side.other
    var pieces = found
    // Meanwhile what the other side answered was handed on.
    if connection.isOrderGivenUp {
      for index in pieces.indices where pieces[index].arrival.frame < direction.arrival.frame {
        pieces[index].arrival.isOrderUncertain = true
      }
    }
    if direction.mqtt.resynchronizer == nil, connection[other].resynchronizer == nil {
      connection.isOrderGivenUp = false
      connection.backlog?.isGivenUp = false
    }
    connection[other].isHeldBack = false
    guard connection.backlog != nil || !pieces.isEmpty || next != nil else { return }
    connection.ownBacklog.release(around: pieces, then: next)
    drain(connection, direction.arrival)
  }

  /// Hands on all that is due, in its order: some of it may have to wait anew.
  private func drain(_ connection: SessionConnection, _ arrival: Arrival) {
    let backlog = connection.ownBacklog
    guard !backlog.isDraining else { return }
    backlog.isDraining = true
    defer { backlog.isDraining = false }
    while let piece = backlog.takeDue() {
      var direction = Direction(connection, piece.side, piece.arrival)
      // Among the events of other connections it stands late.
      if emitter.recognised > 1, piece.arrival.frame < arrival.frame {
        direction.arrival.isOrderUncertain = true
      }
      switch piece.content {
      case .bytes(let bytes): take(bytes.span.bytes, direction)
      case .lost(let count, let reason): lose(count, reason, direction)
      case .interrupted: interrupt(direction)
      }
    }
  }
}

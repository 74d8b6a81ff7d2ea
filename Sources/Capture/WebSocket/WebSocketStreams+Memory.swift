import RepriseCore
import Wire

// What a connection gives up when the memory that all share is used up.
extension WebSocketStreams {
  /// Gives up what is unfinished, and tells how much is missing for it.
  /// - Returns: Whether anything is.
  func giveUp(
    _ arrival: Arrival, _ connection: SessionConnection, _ state: WebSocketConnection
  ) -> Bool {
    guard state.isOpen else { return giveUpHandshake(arrival, connection, state) }
    if endCargo(connection, state), case .undecided = state.cargo { state.cargo = .other }
    var hasLost = false
    for direction in connection.directions(arrival) where giveUp(direction, state) {
      hasLost = true
    }
    return hasLost
  }

  private func giveUp(
    _ direction: Direction, _ state: WebSocketConnection
  ) -> Bool {
    if state[direction.side].resynchronizer != nil {
      resynchronize(direction, state, isFinal: true)
    }
    let count = state[direction.side].framer.giveUp()
    if count > 0 {
      emitter.emitGap(count, .limit, direction)
      state[direction.side].lostInFrame = count
    }
    // Frames that can't be inflated for it say so themselves.
    return state.giveUpInflating(direction.side) || count > 0
  }

  private func giveUpHandshake(
    _ arrival: Arrival, _ connection: SessionConnection, _ state: WebSocketConnection
  ) -> Bool {
    var lost: [(Side, Int)] = []
    if case .request(let head) = state.phase {
      lost.append((connection.client, head.byteCount))
      state.phase = .idle
    }
    if let response = state.response {
      lost.append((connection.client.other, response.byteCount))
      state.response = nil
    }
    // HTTP that has not asked for WebSocket yet has no number, and no events.
    if connection.number > 0 {
      for (side, count) in lost {
        emitter.emitGap(count, .limit, Direction(connection, side, arrival))
      }
    }
    // Without them an answer that comes is read as one whose request was not captured.
    let areOffersLost = state.reservedOffers > 0
    if areOffersLost, state.early.isEmpty { state.phase = .idle }
    endHandshake(connection, state)
    return !lost.isEmpty || areOffersLost
  }
}

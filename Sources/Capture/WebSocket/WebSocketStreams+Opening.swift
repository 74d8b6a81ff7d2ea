import RepriseCore
import Wire
import WireDeflate

// From the handshake to the frames.
extension WebSocketStreams {
  /// Opens a connection by its answer.
  func open(
    _ response: WebSocketResponse, to request: WebSocketRequest?, _ connection: SessionConnection,
    _ state: WebSocketConnection
  ) {
    // Without its request the client's first frames may be missing as well.
    state.isFromStart = request != nil
    let deflate = response.deflate
    state.open(client: connection.client, store) { deflate?.agreement(for: $0) ?? .none }
    for side in [Side.first, .second] {
      state[side].framer.restart(at: state[side].offset)
    }
    if request == nil, state[connection.client].offset > 0 || !connection.opening.isFromStart {
      let offset = state[connection.client].offset
      state[connection.client].resynchronizer = StreamResynchronizer(offset: offset)
    }
    guard let subprotocol = response.subprotocol else { return }
    // MQTT 3.1.1 section 6.0 names it mqtt; clients of MQTT 3.1 say mqttv3.1, and some of others mqttv5.0.
    let name = subprotocol.lowercased()
    guard name.hasPrefix("mqtt") else {
      state.cargo = .other
      return
    }
    // Of any other name the first packet tells.
    guard name == "mqtt" || name.hasPrefix("mqttv") else { return }
    state.cargo = .mqtt
    if !state.isFromStart { mqtt.resynchronize(connection) }
  }

  /// Opens a connection whose answer is not in the capture.
  func openWithoutAnswer(_ connection: SessionConnection, _ state: WebSocketConnection) {
    guard case .asked(let request) = state.phase else { return }
    state.open(client: connection.client, store) { _ in request.deflate == nil ? .none : .unknown }
    for side in [Side.first, .second] {
      state[side].framer.restart(at: state[side].offset)
    }
    let server = connection.client.other
    state[server].resynchronizer = StreamResynchronizer(offset: state[server].offset)
    state.loseFrames(of: server)
    // The client has been handed on already, or does not wait for what may never be found.
    state.isOrderGivenUp = true
    state.isAnswerGuessed = state.early.isEmpty
    replayEarly(connection, state)
  }

  /// Tells whether a client asks again on a connection that was taken for open: then it was refused, by an answer that is
  /// not in the capture.
  func asksAgain(_ bytes: RawSpan, _ direction: Direction, _ state: WebSocketConnection) -> Bool {
    state.isAnswerGuessed = false
    // A frame that begins like that would have reserved bits and no mask.
    switch HTTPStart(bytes) {
    case .request, .maybe: break
    case .response, .no: return false
    }
    let server = direction.side.other
    if let search = state[server].resynchronizer, !search.isEmpty {
      notFrames(search.end - search.offset, at: search.offset, direction.other)
    }
    state[server].resynchronizer = nil
    state[server].doubt = 0
    state[server].disproof = nil
    state.isOrderGivenUp = false
    state.cargo = .undecided(HeldPieces())
    state.course.loseResponses()
    state.phase = .idle
    return true
  }

  /// Takes what the client sent before its answer came.
  func replayEarly(_ connection: SessionConnection, _ state: WebSocketConnection) {
    let early = state.early
    guard !early.isEmpty else { return }
    state.early = HeldPieces()
    let client = connection.client
    // The stream has been counted on beyond them.
    var offset = state[client].offset - early.byteCount
    state[client].framer.restart(at: offset)
    early.forEachBytes { bytes, piece in
      offset += bytes.byteCount
      takeFrames(bytes, endingAt: offset, Direction(connection, client, piece.arrival), state)
    }
  }
}

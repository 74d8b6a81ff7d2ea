import RepriseCore
import Wire

/// Turns the two directions of a WebSocket connection into its handshake, its frames, and the control
/// packets in them.
struct WebSocketStreams {
  let emitter: SessionEmitter
  let mqtt: MQTTStreams
  /// What all connections may inflate to together.
  let store = InflationStore()

  /// Takes the next bytes of a side; false when the connection is of no interest.
  func take(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ connection: SessionConnection,
    _ state: WebSocketConnection
  ) -> Bool {
    state[side].offset += bytes.byteCount
    guard !state.isOpen else {
      takeFrames(bytes, endingAt: state[side].offset, side, arrival, connection, state)
      return true
    }
    if side == connection.client { return takeRequest(bytes, arrival, connection, state) }
    takeResponse(bytes, arrival, connection, state)
    return true
  }

  /// Begins without a handshake, on the user's word or on evidence.
  func openWithoutHandshake(_ connection: SessionConnection, _ state: WebSocketConnection) {
    state.isFromStart = connection.opening.isFromStart
    state.open(client: connection.client, store) { _ in .unknown }
    guard !state.isFromStart else { return }
    for side in [Side.first, .second] {
      state[side].resynchronizer = StreamResynchronizer(offset: 0)
    }
  }

  // MARK: Frames

  /// Takes bytes of frames; `end` is where they end in the stream.
  func takeFrames(
    _ bytes: RawSpan, endingAt end: Int, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: WebSocketConnection
  ) {
    guard !bytes.isEmpty else { return }
    guard state[side].resynchronizer == nil else {
      state[side].resynchronizer?.take(bytes, arrival)
      return resynchronize(side, arrival, connection, state, isFinal: false)
    }
    do throws(WebSocketFramingError) {
      try state[side].framer.consume(bytes) { frame, header, _ in
        receive(frame, header, side, arrival, connection, state)
      }
    } catch {
      let malformation = Malformation(
        code: error.code.rawValue, offset: error.offset, message: error.code.message)
      emitter.emitMalformation(malformation, side, arrival, connection)
      // The piece is given up from the bad frame on; what follows may begin with a frame again.
      outOfStep(at: end, side, arrival, connection, state)
    }
  }

  private func receive(
    _ bytes: RawSpan, _ header: WebSocketFrameHeader, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: WebSocketConnection, lost: Int = 0
  ) {
    let lost = max(lost, state[side].lostInFrame)
    state[side].lostInFrame = 0
    state[side].isMasked = header.isMasked
    state.receive(bytes, header, from: side) { frame in
      if frame.missing > 0, lost == 0, header.frameSize != nil {
        // Bytes that were there, but more than are kept of one frame.
        emitter.emitGap(frame.missing, .limit, side, arrival, connection)
      }
      emit(frame, side, arrival, connection, state)
    }
  }

  // MARK: Losses

  /// Takes the loss of bytes of a side.
  func lose(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: WebSocketConnection
  ) {
    state[side].offset += count
    guard state.isOpen else {
      return loseHandshake(count, reason, side, arrival, connection, state)
    }
    if state[side].resynchronizer != nil {
      resynchronize(side, arrival, connection, state, isFinal: true)
    }
    if reason != .snaplen { emitter.emitGap(count, reason, side, arrival, connection) }
    let loss = state[side].framer.lose(count) { frame, header, _ in
      receive(frame, header, side, arrival, connection, state, lost: count)
    }
    guard case .outOfStep(let past) = loss else {
      let isFrameOpen = !state[side].framer.isAtBoundary
      state[side].lostInFrame = isFrameOpen ? count : 0
      return
    }
    // A frame that a snaplen cut says itself how much of it is missing, but not what follows it.
    if reason == .snaplen { emitter.emitGap(past, reason, side, arrival, connection) }
    outOfStep(at: state[side].offset, side, arrival, connection, state)
  }

  /// Looks for the next frame from a place on.
  func outOfStep(
    at offset: Int, _ side: Side, _ arrival: Arrival, _ connection: SessionConnection,
    _ state: WebSocketConnection
  ) {
    state.loseFrames(of: side)
    if case .mqtt = state.cargo { mqtt.interrupt(side, arrival, connection) }
    state[side].framer.restart(at: offset)
    state[side].resynchronizer = StreamResynchronizer(offset: offset)
    state[side].lostInFrame = 0
  }

  func resynchronize(
    _ side: Side, _ arrival: Arrival, _ connection: SessionConnection,
    _ state: WebSocketConnection, isFinal: Bool
  ) {
    let isMasked = state[side].isMasked ?? (side == connection.client)
    guard let found = state[side].resynchronizer?.find(isMasked, isFinal: isFinal),
      let offset = state[side].resynchronizer?.offset
    else { return }
    if found.skipped > 0 {
      let malformation = Malformation(
        code: WebSocketFramingError.Code.notWebSocket.rawValue, offset: offset - found.skipped,
        message: "\(found.skipped) bytes could not be cut into frames")
      emitter.emitMalformation(malformation, side, arrival, connection)
    }
    // Without anything found it goes on with the bytes to come.
    guard !found.pieces.isEmpty else { return }
    state[side].resynchronizer = nil
    state[side].framer.restart(at: offset)
    var end = offset
    for piece in found.pieces {
      end += piece.bytes.count
      if state[side].resynchronizer == nil {
        takeFrames(
          piece.bytes.span.bytes, endingAt: end, side, piece.arrival, connection, state)
      } else {
        state[side].resynchronizer?.take(piece.bytes.span.bytes, piece.arrival)
      }
    }
    if state[side].resynchronizer != nil {
      resynchronize(side, arrival, connection, state, isFinal: isFinal)
    }
  }

  // MARK: The end

  /// Tells what is left of both directions when their connection ends.
  func flush(
    _ closing: FlowClosing, _ connection: SessionConnection, _ state: WebSocketConnection
  ) {
    endHandshake(closing.arrival, connection, state)
    guard state.isOpen else { return }
    for side in [Side.first, .second] where state[side].resynchronizer != nil {
      resynchronize(side, closing.arrival, connection, state, isFinal: true)
    }
    endCargo(connection, state)
    for side in [Side.first, .second] {
      flush(side, closing, connection, state)
      if case .mqtt = state.cargo { mqtt.flush(side, closing, connection) }
    }
  }

  private func flush(
    _ side: Side, _ closing: FlowClosing, _ connection: SessionConnection,
    _ state: WebSocketConnection
  ) {
    let framer = state[side].framer
    guard state[side].resynchronizer == nil, !framer.isAtBoundary else { return }
    // Of a header that is not whole, at least one byte is missing.
    var missing = 1
    var place = "the header of a frame"
    let known = state[side].offset - framer.frameOffset
    state[side].framer.flush { _, header, _ in
      missing = (header.frameSize ?? Int.max) - known
      let size = header.frameSize.map(String.init) ?? "too many"
      place = "a \(header.opcode.name) frame of \(size) bytes, after \(known) of them"
    }
    if let firstByte = framer.pendingFirstByte, framer.pendingHeader == nil,
      !WebSocketOpcode(rawValue: firstByte).isDefined
    {
      // Whoever gets such a byte need not read on, so that this may be all there ever was of it.
      let malformation = Malformation(reservedOpcodeIn: firstByte, at: framer.frameOffset)
      return emitter.emitMalformation(malformation, side, closing.arrival, connection)
    }
    if closing.how == .endOfCapture {
      return emitter.emitGap(missing, .unfilled, side, closing.arrival, connection)
    }
    let malformation = Malformation(
      code: "incomplete-frame", offset: framer.frameOffset,
      message: "the stream ends inside \(place)")
    emitter.emitMalformation(malformation, side, closing.arrival, connection)
  }
}

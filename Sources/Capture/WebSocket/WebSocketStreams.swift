import RepriseCore
import Wire
import WireDeflate

/// Turns the two directions of a WebSocket connection into its handshake, its frames, and the control
/// packets in them.
struct WebSocketStreams {
  let emitter: SessionEmitter
  let mqtt: MQTTStreams
  /// What all connections may inflate to together.
  let store = InflationStore()

  /// Takes the next bytes of a side; false when the connection is of no interest.
  func take(
    _ bytes: RawSpan, _ direction: Direction,
    _ state: WebSocketConnection
  ) -> Bool {
    // Asked for once: each time counts the references to it.
    let own = state[direction.side]
    if own.isHeldBack {
      holdBack(.bytes(bytes.withUnsafeBytes { Array($0) }), direction, state)
      return true
    }
    own.offset += bytes.byteCount
    if state.isAnswerGuessed, direction.isFromClient, asksAgain(bytes, direction, state) {
      return takeRequest(bytes, direction, state)
    }
    guard !state.isOpen else {
      takeFrames(bytes, endingAt: own.offset, direction, state)
      return true
    }
    if direction.isFromClient { return takeRequest(bytes, direction, state) }
    takeResponse(bytes, direction, state)
    return true
  }

  /// Begins without a handshake, on the user's word or on evidence, with frames that are the first that was sent or not.
  func openWithoutHandshake(
    _ connection: SessionConnection, _ state: WebSocketConnection, isFromStart: Bool
  ) {
    state.isFromStart = isFromStart
    state.open(client: connection.client, store) { _ in .unknown }
    guard !state.isFromStart else { return }
    // In the middle a side may say too little for long, and the other would have to wait for it.
    state.isOrderGivenUp = true
    for side in [Side.first, .second] {
      state[side].resynchronizer = StreamResynchronizer(offset: 0)
    }
  }

  // MARK: Frames

  /// Takes bytes of frames; `end` is where they end in the stream.
  func takeFrames(
    _ bytes: RawSpan, endingAt end: Int, _ direction: Direction, _ state: WebSocketConnection
  ) {
    guard !bytes.isEmpty else { return }
    let own = state[direction.side]
    guard own.resynchronizer == nil else {
      own.resynchronizer?.take(bytes, direction.arrival)
      return resynchronize(direction, state, isFinal: false)
    }
    do throws(WebSocketFramingError) {
      try own.framer.consume(bytes) { frame, header, offset in
        receive(frame, header, at: offset, direction, state)
      }
      if own.disproof != nil { leaveIfDisproved(endingAt: end, direction, state) }
    } catch {
      let malformation = Malformation(
        code: error.code.rawValue, offset: error.offset, message: error.code.message)
      emitter.emitMalformation(malformation, direction)
      // The piece is given up from the bad frame on; what follows may begin with a frame again.
      outOfStep(at: end, direction, state)
    }
  }

  private func receive(
    _ bytes: RawSpan, _ header: WebSocketFrameHeader, at offset: Int, _ direction: Direction,
    _ state: WebSocketConnection, lost: Int = 0
  ) {
    let own = state[direction.side]
    guard own.disproof == nil else { return }
    emitter.secrets?.frameOffset = offset
    let lost = max(lost, own.lostInFrame)
    own.lostInFrame = 0
    let isDoubtful = own.doubt > 0
    if !isDoubtful { own.isMasked = header.isMasked }
    let evidence = isDoubtful ? WebSocketChain.evidence(of: header, in: bytes) : 0
    state.receive(bytes, header, from: direction.side) { frame in
      if isDoubtful {
        // MQTT is never sent as text, but what is taken for a text may be anything.
        let isNoText = state.carriesMQTT == true && frame.opcode == .text && evidence < 4
        guard frame.faults.isEmpty, !isNoText else {
          own.disproof = offset
          return
        }
        own.doubt -= evidence
      }
      if frame.missing > 0, lost == 0, header.frameSize != nil {
        // Bytes that were there, but more than are kept of one frame.
        emitter.emitGap(frame.missing, .limit, direction)
      }
      emit(frame, direction, state)
    }
  }

  /// Looks for frames anew where one that breaks a rule shows that those before it were none.
  ///
  /// What looks like a frame behind a loss may be the inside of one, and what follows by its length is not its sender's
  /// fault then.
  private func leaveIfDisproved(
    endingAt end: Int, _ direction: Direction, _ state: WebSocketConnection
  ) {
    guard let start = state[direction.side].disproof else { return }
    notFrames(end - start, at: start, direction)
    outOfStep(at: end, direction, state)
  }

  func notFrames(_ count: Int, at offset: Int, _ direction: Direction) {
    let malformation = Malformation(
      code: WebSocketFramingError.Code.notWebSocket.rawValue, offset: offset,
      message: "\(count) bytes could not be cut into frames")
    emitter.emitMalformation(malformation, direction)
  }

  // MARK: Losses

  /// Takes the loss of bytes of a side.
  func lose(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction, _ state: WebSocketConnection
  ) {
    guard !state.isOpen || !waitsForStep(.lost(count, reason), direction, state) else { return }
    state[direction.side].offset += count
    guard state.isOpen else {
      return loseHandshake(count, reason, direction, state)
    }
    if reason != .snaplen { emitter.emitGap(count, reason, direction) }
    let loss = state[direction.side].framer.lose(count) { frame, header, offset in
      receive(frame, header, at: offset, direction, state, lost: count)
    }
    guard state[direction.side].disproof == nil else {
      return leaveIfDisproved(endingAt: state[direction.side].offset, direction, state)
    }
    guard case .outOfStep(let past) = loss else {
      let isFrameOpen = !state[direction.side].framer.isAtBoundary
      state[direction.side].lostInFrame = isFrameOpen ? count : 0
      return
    }
    // A frame that a snaplen cut says itself how much of it is missing, but not what follows it.
    if reason == .snaplen { emitter.emitGap(past, reason, direction) }
    outOfStep(at: state[direction.side].offset, direction, state)
  }

  // MARK: The end

  /// Tells what is left of both directions when their connection ends.
  func flush(
    _ closing: FlowClosing, _ connection: SessionConnection, _ state: WebSocketConnection
  ) {
    endHandshake(connection, state)
    guard state.isOpen else { return }
    endSearch(on: connection, closing.arrival, state)
    endCargo(connection, state)
    for direction in connection.directions(closing.arrival) {
      flush(direction, closing.how, state)
      if case .mqtt = state.cargo { mqtt.flush(direction, closing.how) }
    }
  }

  private func flush(
    _ direction: Direction, _ how: ConnectionClosing.How, _ state: WebSocketConnection
  ) {
    let framer = state[direction.side].framer
    guard state[direction.side].resynchronizer == nil, !framer.isAtBoundary else { return }
    // Of a header that is not whole, at least one byte is missing.
    var missing = 1
    var place = "the header of a frame"
    let known = state[direction.side].offset - framer.unitOffset
    state[direction.side].framer.flush { _, header, _ in
      missing = (header.frameSize ?? Int.max) - known
      let size = header.frameSize.map(String.init) ?? "too many"
      place = "a \(header.opcode.name) frame of \(size) bytes, after \(known) of them"
    }
    if let firstByte = framer.pendingFirstByte, framer.pendingHeader == nil,
      !WebSocketOpcode(rawValue: firstByte).isDefined, state[direction.side].doubt <= 0
    {
      // An end that gets such a byte need not read on, so that this may be all there ever was of it.
      let malformation = Malformation(reservedOpcodeIn: firstByte, at: framer.unitOffset)
      return emitter.emitMalformation(malformation, direction)
    }
    if how == .endOfCapture {
      return emitter.emitGap(missing, .unfilled, direction)
    }
    let malformation = Malformation(
      code: "incomplete-frame", offset: framer.unitOffset,
      message: "the stream ends inside \(place)")
    emitter.emitMalformation(malformation, direction)
  }
}

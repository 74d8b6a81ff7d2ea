import RepriseCore
import Wire

// What the messages carry: MQTT by the name of the subprotocol, or by what it looks like.
extension WebSocketStreams {
  /// Hands a frame on, and then the packets that it completes.
  func emit(
    _ frame: consuming WebSocketFrameView, _ direction: Direction, _ state: WebSocketConnection
  ) {
    var frame = frame
    let context = direction.carrierContext
    if state.isEarly, !direction.arrival.isOrderUncertain {
      frame.faults.insert(WebSocketFault(.beforeAnswer, in: .opcode, at: 0), at: 0)
    }
    guard !frame.opcode.isControl else {
      emitter.secrets?.take(frame, carriesMQTT: false, direction)
      return emitter.emit(EventView(context, .webSocket(frame)))
    }
    let held = decide(frame, direction, state)
    guard case .mqtt = state.cargo else {
      if state.conceals(frame, from: direction.side) { frame.cargo = .concealed }
      emitter.secrets?.take(frame, carriesMQTT: state.carriesMQTT, direction)
      return emitter.emit(EventView(context, .webSocket(frame)))
    }
    frame.cargo = held == nil ? cargo(of: frame, direction.mqtt) : .mqttConcealed
    if frame.opcode == .text {
      frame.faults.insert(WebSocketFault(.textCarriesMQTT, in: .opcode, at: 0), at: 0)
    }
    emitter.secrets?.take(frame, carriesMQTT: true, direction)
    emitter.emit(EventView(context, .webSocket(frame)))
    if let held { replay(held, direction.connection) }
    take(frame, direction)
  }

  /// Takes the part of a message as bytes of MQTT.
  private func take(
    _ frame: borrowing WebSocketFrameView, _ direction: Direction
  ) {
    switch frame.compression {
    case .kept: return mqtt.interrupt(direction)
    case .none, .inflated: mqtt.take(frame.data, direction)
    }
    guard frame.missing > 0 else { return }
    if frame.compression == .none, frame.header.frameSize != nil {
      mqtt.lose(frame.missing, .acknowledged, direction)
    } else {
      mqtt.interrupt(direction)
    }
  }

  private func replay(_ held: HeldPieces, _ connection: SessionConnection) {
    held.forEachBytes { bytes, piece in
      mqtt.take(bytes, Direction(connection, piece.side, piece.arrival))
    }
  }

  // MARK: Recognition

  /// Decides what the messages carry, as long as that is not known.
  /// - Returns: What came before this frame and is to be handed on now; nil if nothing is.
  private func decide(
    _ frame: borrowing WebSocketFrameView, _ direction: Direction, _ state: WebSocketConnection
  ) -> HeldPieces? {
    guard case .undecided(var held) = state.cargo else { return nil }
    // Held once, so that growing it copies nothing.
    state.cargo = .other
    if case .kept = frame.compression {
      held.lose(1, .limit, from: direction.side, direction.arrival)
    } else {
      held.append(frame.data, from: direction.side, direction.arrival)
    }
    settle(held, direction.connection, state, isFinal: false)
    guard case .mqtt = state.cargo else { return nil }
    held.removeLast()
    return held.isEmpty ? nil : held
  }

  /// Judges what came so far.
  private func settle(
    _ held: HeldPieces, _ connection: SessionConnection, _ state: WebSocketConnection,
    isFinal: Bool
  ) {
    var opening = connection.opening
    opening.isFromStart = state.isFromStart
    let recognizer = MQTTRecognizer(opening: opening, rule: nil)
    switch recognizer.judge(held, isFinal: isFinal) {
    case .undecided: state.cargo = .undecided(held)
    case .mqtt(let client, let wire, _) where client == connection.client:
      state.cargo = .mqtt
      connection.wire = wire
      if !state.isFromStart { mqtt.resynchronize(connection) }
    case .mqtt, .later, .notMQTT: state.cargo = .other
    }
  }

  /// Decides by what there is, as at the end.
  /// - Returns: Whether there was anything to decide by.
  @discardableResult
  func endCargo(_ connection: SessionConnection, _ state: WebSocketConnection) -> Bool {
    guard case .undecided(let held) = state.cargo, !held.isEmpty else { return false }
    settle(held, connection, state, isFinal: true)
    guard case .mqtt = state.cargo else { return true }
    replay(held, connection)
    return true
  }

  /// Tells whether a frame holds whole packets only, and none with credentials.
  private func cargo(
    of frame: borrowing WebSocketFrameView, _ direction: borrowing MQTTDirection
  ) -> WebSocketCargo {
    guard direction.resynchronizer == nil, direction.framer.isAtBoundary else {
      return .mqttConcealed
    }
    let data = frame.data
    var position = 0
    while position < data.byteCount {
      guard case .header(let header) = MQTTFixedHeader.read(data, at: position),
        header.packetSize <= data.byteCount - position, header.type != .connect,
        header.type != .auth
      else { return .mqttConcealed }
      position += header.packetSize
    }
    return .mqtt
  }
}

import RepriseCore
import Wire
import WireDeflate

// The opening handshake, which may come after other requests on the same connection.
extension WebSocketStreams {
  /// After so many requests for something else nobody waits for WebSocket any more.
  private static var mostPlainRequests: Int { 4_096 }
  /// So much of a client that does not wait for its answer is kept.
  private static var mostEarlyBytes: Int { 64 << 10 }
  /// In so many pieces.
  private static var mostEarlyPieces: Int { 256 }

  // MARK: Requests

  /// Takes bytes of the client before the connection is open; false when it is of no interest.
  func takeRequest(
    _ bytes: RawSpan, _ direction: Direction, _ state: WebSocketConnection
  ) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      var reader: HTTPHeadReader
      switch state.phase {
      case .request(let begun):
        reader = begun
        // Held once, so that growing it copies nothing.
        state.phase = .idle
      case .asked, .open:
        takeEarly(rest, direction, state)
        return true
      case .other: return direction.connection.number > 0
      case .idle:
        guard let used = state.course.skipRequestBody(rest) else { return true }
        rest = rest.extracting(droppingFirst: used)
        // An empty line may stand in front of a request (RFC 9112 section 2.2).
        while let byte = rest.uint8(at: 0), byte == 0x0D || byte == 0x0A {
          rest = rest.extracting(droppingFirst: 1)
        }
        guard !rest.isEmpty else { return true }
        switch HTTPStart(rest) {
        case .request, .maybe: reader = HTTPHeadReader()
        case .response, .no:
          state.course.loseRequests()
          return true
        }
      }
      switch reader.consume(rest) {
      case .needMore:
        state.phase = .request(reader)
        return true
      case .tooLarge:
        state.phase = .idle
        state.course.loseRequests()
        return true
      case .head(let head, let used):
        rest = rest.extracting(droppingFirst: used)
        emitter.secrets?.take(
          head, endingAt: state[direction.side].offset - rest.byteCount, direction)
        guard takeRequest(head, direction, state) else { return false }
      }
    }
    return true
  }

  private func takeRequest(
    _ head: HTTPHead, _ direction: Direction, _ state: WebSocketConnection
  ) -> Bool {
    state.phase = .idle
    guard WebSocketRequest.isOne(head) else {
      state.course.ask(head)
      state.plainRequests += 1
      return direction.connection.number > 0 || state.plainRequests <= Self.mostPlainRequests
    }
    let request = WebSocketRequest(head)
    let isFromStart = direction.connection.opening.isFromStart
    guard state.course.knowsRequest(isFromStart: isFromStart) || Self.mayBegin(request) else {
      return true
    }
    state.course.askForWebSocket()
    emitter.openIfNew(direction)
    emit(.request(request), direction)
    state.phase = .asked(request.withoutHead)
    state.otherOffers = Array(Self.protocols(head).filter { $0 != "websocket" }.prefix(8))
    state.isAnswerLost = false
    state.response = nil
    return true
  }

  /// Whether a request stands where one was only guessed: what is none may be the inside of a body.
  ///
  /// The capture may begin inside of its method.
  private static func mayBegin(_ request: WebSocketRequest) -> Bool {
    request.faults.allSatisfy { fault in
      switch fault.code {
      case .notGET: "GET".hasSuffix(request.method)
      case .malformedStartLine, .malformedHeader, .missingHeader: false
      default: true
      }
    }
  }

  /// Keeps what the client sends before the answer came.
  private func takeEarly(
    _ bytes: RawSpan, _ direction: Direction, _ state: WebSocketConnection
  ) {
    state.early.append(bytes, from: direction.side, direction.arrival)
    let isTooMuch =
      state.early.count > Self.mostEarlyPieces || state.early.byteCount > Self.mostEarlyBytes
    if isTooMuch || state.isAnswerLost {
      goOnWithoutAnswer(direction.connection, state, isFinal: isTooMuch)
    }
  }

  /// Takes what the client sent behind a request whose answer is not in the capture: frames, or another request, which
  /// it sends on the same connection where the first was refused.
  private func goOnWithoutAnswer(
    _ connection: SessionConnection, _ state: WebSocketConnection, isFinal: Bool
  ) {
    guard !state.early.isEmpty else { return }
    switch HTTPStart(state.early[connection.client].bytes.span.bytes) {
    case .request: replayRequests(connection, state)
    case .maybe where !isFinal: return
    case .maybe, .response, .no: openWithoutAnswer(connection, state)
    }
  }

  /// Takes what the client sent behind a request for more of them.
  private func replayRequests(_ connection: SessionConnection, _ state: WebSocketConnection) {
    state.phase = .idle
    let early = state.early
    state.early = HeldPieces()
    emitter.secrets?.isReplaying = true
    early.forEachBytes { bytes, piece in
      let direction = Direction(connection, connection.client, piece.arrival)
      _ = takeRequest(bytes, direction, state)
    }
    emitter.secrets?.isReplaying = false
  }

  /// Tells whether an answer that switches is to a later request than the first, whose own answer was not captured.
  private func answersLater(
    _ head: HTTPHead, _ connection: SessionConnection, _ state: WebSocketConnection
  ) -> Bool {
    guard let asked = state.request else { return false }
    let early = state.early[connection.client].bytes.span.bytes
    guard HTTPStart(early) == .request else { return false }
    let accepts = head.fields(named: "Sec-WebSocket-Accept").map(\.value)
    guard let key = asked.key, accepts.contains(WebSocketKey.accept(for: key)) else { return true }
    var reader = HTTPHeadReader()
    guard case .head(let later, _) = reader.consume(early) else { return false }
    return WebSocketRequest.isOne(later) && WebSocketRequest(later).key == key
  }

  /// The protocols that a message offers or chooses, in small letters.
  private static func protocols(_ head: HTTPHead) -> [String] {
    head.list("Upgrade").map { $0.lowercased() }.filter { !$0.isEmpty }
  }

  /// Whether an answer switches to another protocol that the request offered beside WebSocket, as the server may (RFC 9110
  /// section 7.8).
  private static func chooses(otherOfferOf state: WebSocketConnection, _ head: HTTPHead) -> Bool {
    guard state.request != nil, !state.otherOffers.isEmpty else { return false }
    let chosen = protocols(head)
    return !chosen.isEmpty && chosen.allSatisfy(state.otherOffers.contains)
  }

  // MARK: Responses

  /// Takes bytes of the server before the connection is open.
  func takeResponse(
    _ bytes: RawSpan, _ direction: Direction, _ state: WebSocketConnection
  ) {
    var rest = bytes
    while !rest.isEmpty, !state.isOpen {
      var reader: HTTPHeadReader
      if let begun = state.response {
        reader = begun
        state.response = nil
      } else {
        guard let used = state.course.skipResponseBody(rest) else { return }
        rest = rest.extracting(droppingFirst: used)
        guard !rest.isEmpty else { return }
        guard beginsResponse(rest, direction, state) else {
          if state.isOpen { takeUnanswered(rest, direction, state) }
          return
        }
        reader = HTTPHeadReader()
      }
      switch reader.consume(rest) {
      case .needMore:
        state.response = reader
        return
      case .tooLarge:
        state.phase = .idle
        state.course.loseResponses()
        return
      case .head(let head, let used):
        rest = rest.extracting(droppingFirst: used)
        emitter.secrets?.take(
          head, endingAt: state[direction.side].offset - rest.byteCount, direction)
        take(head, direction, state)
      }
    }
    let end = state[direction.side].offset
    guard state.isOpen, !rest.isEmpty || !state.early.isEmpty else { return }
    state.isEarly = !direction.arrival.isOrderUncertain
    replayEarly(direction.connection, state)
    state.isEarly = false
    state[direction.side].framer.restart(at: end - rest.byteCount)
    takeFrames(rest, endingAt: end, direction, state)
  }

  /// Takes what the server sent behind an answer that is not in the capture.
  private func takeUnanswered(
    _ bytes: RawSpan, _ direction: Direction, _ state: WebSocketConnection
  ) {
    let end = state[direction.side].offset
    state[direction.side].resynchronizer = StreamResynchronizer(offset: end - bytes.byteCount)
    takeFrames(bytes, endingAt: end, direction, state)
  }

  /// Tells whether the server's bytes begin with an answer that is of interest.
  private func beginsResponse(
    _ bytes: RawSpan, _ direction: Direction, _ state: WebSocketConnection
  ) -> Bool {
    if case .other = state.phase { return false }
    let start = HTTPStart(bytes)
    let isFromStart = direction.connection.opening.isFromStart
    let isKnown = state.course.knowsResponse(isFromStart: isFromStart)
    guard case .asked = state.phase else {
      return start == .response || (isKnown && start == .maybe)
    }
    if state.isAnswerLost {
      let isAnswer = HTTPStart.beginsResponse(bytes)
      if !isAnswer { openWithoutAnswer(direction.connection, state) }
      return isAnswer
    }
    if start == .response || start == .maybe { return true }
    // What goes on behind a loss may be the body of an earlier answer.
    guard isKnown else { return false }
    let malformation = Malformation(
      code: "not-http", offset: state[direction.side].offset - bytes.byteCount,
      message: "the answer to the request for WebSocket is no HTTP")
    emitter.emitMalformation(malformation, direction)
    state.phase = .idle
    return false
  }

  private func take(
    _ head: HTTPHead, _ direction: Direction, _ state: WebSocketConnection
  ) {
    var response = WebSocketResponse(head, to: state.request)
    guard response.status == 101 || !answersElse(head, direction, state) else { return }
    if response.accepts, answersLater(head, direction.connection, state) {
      replayRequests(direction.connection, state)
      response = WebSocketResponse(head, to: state.request)
    }
    if response.accepts, Self.chooses(otherOfferOf: state, head) {
      state.phase = .other
      state.early = HeldPieces()
      return
    }
    let request = state.request
    if request == nil {
      // The request was not captured; other protocols switch by 101 as well.
      guard head.list("Upgrade").contains(where: { $0.lowercased() == "websocket" }) else {
        state.phase = .other
        return
      }
      // Where all requests are here and none is for WebSocket, what may stand inside of a body does.
      let isFromStart = direction.connection.opening.isFromStart
      guard
        !state.course.knowsRequest(isFromStart: isFromStart)
          || state.course.knowsResponse(isFromStart: isFromStart)
      else {
        return state.course.loseResponses()
      }
      emitter.openIfNew(direction)
      if let loss = state.lostRequest {
        emitter.emitGap(loss.bytes, loss.reason, direction.other.at(loss.arrival))
      }
    }
    state.lostRequest = nil
    // The final answer comes behind a provisional one (RFC 9110 section 15.2).
    if (100..<200).contains(response.status), !response.accepts { return }
    emit(.response(response), direction)
    guard response.accepts else {
      if let message = HTTPMessage(head) {
        state.course.answer(message, response.status, isToWebSocket: true)
      }
      return replayRequests(direction.connection, state)
    }
    open(response, to: request, direction.connection, state)
  }

  /// Takes an answer to a request for something else; false for the answer to one for WebSocket.
  private func answersElse(
    _ head: HTTPHead, _ direction: Direction, _ state: WebSocketConnection
  ) -> Bool {
    guard state.request == nil || state.course.answersEarlier else { return false }
    guard let message = HTTPMessage(head), let status = message.status else {
      state.course.loseResponses()
      return true
    }
    state.course.answer(message, status, isToWebSocket: false)
    guard !message.isInterim, state.request == nil else { return true }
    // What was asked for is known by its answer, and the rest of what only looked like a request does not come.
    state.lostRequest = nil
    let isFromStart = direction.connection.opening.isFromStart
    if case .request = state.phase, !state.course.knowsRequest(isFromStart: isFromStart) {
      state.phase = .idle
    }
    return true
  }

  private func emit(
    _ handshake: WebSocketHandshake, _ direction: Direction
  ) {
    emitter.emit(EventView(direction.carrierContext, .handshake(handshake)))
  }

  // MARK: Losses and the end

  /// Takes the loss of bytes of a side before the connection is open.
  func loseHandshake(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction, _ state: WebSocketConnection
  ) {
    if direction.connection.number > 0 { emitter.emitGap(count, reason, direction) }
    if direction.isFromClient {
      guard case .asked = state.phase else {
        if case .request = state.phase {
          state.lostRequest = (count, reason, direction.arrival)
          state.course.loseRequests()
        } else {
          state.course.loseRequestBytes(count)
        }
        if case .other = state.phase { return }
        state.phase = .idle
        return
      }
      openWithoutAnswer(direction.connection, state)
      outOfStep(at: state[direction.side].offset, direction, state)
    } else {
      guard !state.course.loseResponseBytes(count) else { return }
      state.response = nil
      state.isAnswerLost = true
      goOnWithoutAnswer(direction.connection, state, isFinal: false)
    }
  }

  /// Opens a connection at its end that only shows what its client sent.
  func endHandshake(_ connection: SessionConnection, _ state: WebSocketConnection) {
    if case .asked = state.phase { goOnWithoutAnswer(connection, state, isFinal: true) }
  }
}

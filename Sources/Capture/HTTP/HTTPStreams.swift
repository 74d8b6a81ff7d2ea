import RepriseCore
import Wire

/// Turns the two directions of a connection into requests and answers of HTTP/1.1.
///
/// It is asked for by `--decode PORT=http` alone. Most captures have connections of HTTP that nobody asked for, such as
/// a browser's: their messages would stand between the packets that somebody looks for, give every connection another
/// number, and cost memory for bodies that nobody reads. A user who looks for requests knows their port.
package struct HTTPStreams {
  /// The most bytes of a body that are kept.
  package static let longestBody = 16 << 20

  let emitter: SessionEmitter
  /// What a connection is handed over to whose first request asks for WebSocket.
  let webSocket: WebSocketStreams

  /// Takes the next bytes of a side; false when the connection is of no interest any more.
  func take(
    _ bytes: RawSpan, _ direction: Direction,
    _ state: HTTPConnection
  ) -> Bool {
    state[direction.side].offset += bytes.byteCount
    let end = state[direction.side].offset
    var rest = bytes
    while !rest.isEmpty {
      let phase = state[direction.side].phase
      // Held once, so that growing it copies nothing.
      state[direction.side].phase = .between
      switch phase {
      case .other:
        state[direction.side].phase = .other
        return true
      case .outOfStep:
        guard resume(rest, direction, state) else {
          state[direction.side].phase = .outOfStep
          return true
        }
      case .between:
        guard begins(rest, endingAt: end, direction, state) else { return true }
        guard !Self.beginsWithLineEnd(rest) else {
          rest = rest.extracting(droppingFirst: 1)
          continue
        }
        state[direction.side].phase = .head(HTTPHeadReader())
      case .head(var reader):
        switch reader.consume(rest) {
        case .needMore:
          state[direction.side].phase = .head(reader)
          return true
        case .tooLarge:
          let start = end - rest.byteCount - reader.byteCount
          fail(
            "head-too-large", "a head of more than \(reader.limit) bytes", at: start, direction,
            state)
          return true
        case .head(let head, let used):
          rest = rest.extracting(droppingFirst: used)
          if direction.connection.number == 0, direction.isFromClient, WebSocketRequest.isOne(head)
          {
            return handOver(head, rest, direction)
          }
          begin(head, at: end - rest.byteCount - head.bytes.count, direction, state)
        }
      case .body(var open):
        if open.mayBeEmpty {
          open.mayBeEmpty = false
          if HTTPStart(rest) == .response {
            open.body.end()
            finish(open, direction, state)
            continue
          }
        }
        switch open.body.consume(rest) {
        case .needMore:
          state[direction.side].phase = .body(open)
          return true
        case .complete(let used):
          rest = rest.extracting(droppingFirst: used)
          finish(open, direction, state)
        case .malformed(let place):
          open.body.breakOff()
          finish(open, direction, state)
          fail(
            "bad-chunk", "a chunk without its size, or without its end",
            at: end - rest.byteCount + place, direction, state)
          return true
        }
      }
    }
    return true
  }

  /// Lets WebSocket have a connection that begins by asking for it.
  private func handOver(
    _ head: HTTPHead, _ rest: RawSpan, _ direction: Direction
  ) -> Bool {
    let state = WebSocketConnection()
    direction.connection.begin(state)
    guard webSocket.take(head.bytes.span.bytes, direction, state) else {
      return false
    }
    return rest.isEmpty || webSocket.take(rest, direction, state)
  }

  // MARK: Heads

  /// Whether bytes between two messages may begin one, or are an empty line in front of it (RFC 9112 section 2.2).
  private func begins(
    _ bytes: RawSpan, endingAt end: Int, _ direction: Direction, _ state: HTTPConnection
  ) -> Bool {
    if Self.beginsWithLineEnd(bytes) { return true }
    switch HTTPStart(bytes) {
    case .maybe: return true
    case .request: if direction.isFromClient { return true }
    case .response: if !direction.isFromClient { return true }
    case .no: break
    }
    fail(
      "not-http", "bytes that begin no message of HTTP/1", at: end - bytes.byteCount, direction,
      state)
    return false
  }

  private static func beginsWithLineEnd(_ bytes: RawSpan) -> Bool {
    bytes.uint8(at: 0).map { $0 == 0x0D || $0 == 0x0A } ?? false
  }

  private func begin(
    _ head: HTTPHead, at start: Int, _ direction: Direction, _ state: HTTPConnection
  ) {
    let isRequest = direction.isFromClient
    guard let message = HTTPMessage(head), (message.status == nil) == isRequest else {
      return fail(
        "not-http", "a head that is none of HTTP/1", at: start, direction, state)
    }
    let method = isRequest ? nil : state.method
    let framing = HTTPFraming(message, answering: method)
    let exchange: Int
    if case .request(let method, _) = message.start {
      var isBehindLoss = false
      if case .outOfStep = state[direction.side.other].phase { isBehindLoss = true }
      exchange = state.ask(method, isBehindLoss: isBehindLoss)
    } else {
      exchange = state.answer(isInterim: message.isInterim).exchange
    }
    var open = HTTPDirection.OpenMessage(
      message: message, exchange: exchange,
      body: HTTPBodyReader(framing, limit: Self.longestBody), start: start)
    guard framing != .contradictory else {
      finish(open, direction, state)
      return fail(
        "bad-length", "a head that says of its body what can't be", at: start, direction, state)
    }
    // A tunnel, or another protocol (RFC 9110 sections 9.3.6 and 15.2.2).
    let status = message.status ?? 0
    guard status != 101, method != "CONNECT" || !(200..<300).contains(status) else {
      finish(open, direction, state)
      for side in [Side.first, .second] { state[side].phase = .other }
      let what = Malformation(
        code: "switched", offset: state[direction.side].offset,
        message: "the connection goes on in another protocol, which is not read behind HTTP")
      return emitter.emitMalformation(what, direction)
    }
    open.mayBeEmpty = !isRequest && method == nil
    if open.body.isComplete {
      finish(open, direction, state)
    } else {
      state[direction.side].phase = .body(open)
    }
  }

  // MARK: Messages

  func finish(
    _ open: HTTPDirection.OpenMessage, _ direction: Direction, _ state: HTTPConnection
  ) {
    var message = open.message
    message.body = open.body.body
    message.missing = open.body.missing
    if message.missing == 0, !message.codings.isEmpty, !message.body.isEmpty,
      let decoded = HTTPContent.decoded(message.body, message.codings, limit: Self.longestBody)
    {
      message.body = decoded
      message.isDecoded = true
    }
    state[direction.side].finished += 1
    emitter.openIfNew(direction)
    if open.body.cut > 0 {
      emitter.emitGap(open.body.cut, .limit, direction)
    }
    let part: HTTPPart =
      message.status == nil
      ? .request(exchange: open.exchange, message) : .response(exchange: open.exchange, message)
    emitter.emit(EventView(direction.context, .http(part)))
  }

  /// Says what is wrong, and looks for the next message.
  private func fail(
    _ code: String, _ message: String, at offset: Int, _ direction: Direction,
    _ state: HTTPConnection
  ) {
    emitter.openIfNew(direction)
    let malformation = Malformation(code: code, offset: offset, message: message)
    emitter.emitMalformation(malformation, direction)
    state[direction.side].phase = .outOfStep
  }
}

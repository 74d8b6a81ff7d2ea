import RepriseCore
import Wire

/// Turns the two directions of a connection into requests and answers of HTTP/1.1.
///
/// It is asked for by `--decode PORT=http` alone. Most captures have connections of HTTP that nobody asked for, such as
/// a browser's: their messages would stand between the packets that somebody looks for, give every connection another
/// number, and cost memory for bodies that nobody reads. Whoever looks for requests knows their port.
struct HTTPStreams {
  /// The most bytes of a body that are kept.
  static let longestBody = 16 << 20

  let emitter: SessionEmitter
  /// What a connection is handed over to whose first request asks for WebSocket.
  let webSocket: WebSocketStreams

  /// Takes the next bytes of a side; false when the connection is of no interest any more.
  func take(
    _ bytes: RawSpan, _ side: Side, _ arrival: Arrival, _ connection: SessionConnection,
    _ state: HTTPConnection
  ) -> Bool {
    state[side].offset += bytes.byteCount
    let end = state[side].offset
    var rest = bytes
    while !rest.isEmpty {
      let phase = state[side].phase
      // Held once, so that growing it copies nothing.
      state[side].phase = .between
      switch phase {
      case .other:
        state[side].phase = .other
        return true
      case .outOfStep:
        guard resume(rest, side, connection, state) else {
          state[side].phase = .outOfStep
          return true
        }
      case .between:
        guard begins(rest, endingAt: end, side, arrival, connection, state) else { return true }
        guard !Self.beginsWithLineEnd(rest) else {
          rest = rest.extracting(droppingFirst: 1)
          continue
        }
        state[side].phase = .head(HTTPHeadReader())
      case .head(var reader):
        switch reader.consume(rest) {
        case .needMore:
          state[side].phase = .head(reader)
          return true
        case .tooLarge:
          let start = end - rest.byteCount - reader.byteCount
          fail(
            "head-too-large", "a head of more than \(reader.limit) bytes", at: start, side, arrival,
            connection, state)
          return true
        case .head(let head, let used):
          rest = rest.extracting(droppingFirst: used)
          if connection.number == 0, side == connection.client, WebSocketRequest.isOne(head) {
            return handOver(head, rest, side, arrival, connection)
          }
          begin(head, at: end - rest.byteCount - head.bytes.count, side, arrival, connection, state)
        }
      case .body(var open):
        if open.mayBeEmpty {
          open.mayBeEmpty = false
          if HTTPStart(rest) == .response {
            open.body.end()
            finish(open, side, arrival, connection, state)
            continue
          }
        }
        switch open.body.consume(rest) {
        case .needMore:
          state[side].phase = .body(open)
          return true
        case .complete(let used):
          rest = rest.extracting(droppingFirst: used)
          finish(open, side, arrival, connection, state)
        case .malformed(let place):
          open.body.breakOff()
          finish(open, side, arrival, connection, state)
          fail(
            "bad-chunk", "a chunk without its size, or without its end",
            at: end - rest.byteCount + place, side, arrival, connection, state)
          return true
        }
      }
    }
    return true
  }

  /// Lets WebSocket have a connection that begins by asking for it.
  private func handOver(
    _ head: HTTPHead, _ rest: RawSpan, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection
  ) -> Bool {
    let state = WebSocketConnection()
    connection.begin(state)
    guard webSocket.take(head.bytes.span.bytes, side, arrival, connection, state) else {
      return false
    }
    return rest.isEmpty || webSocket.take(rest, side, arrival, connection, state)
  }

  // MARK: Heads

  /// Whether bytes between two messages may begin one, or are an empty line in front of it (RFC 9112 section 2.2).
  private func begins(
    _ bytes: RawSpan, endingAt end: Int, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: HTTPConnection
  ) -> Bool {
    if Self.beginsWithLineEnd(bytes) { return true }
    switch HTTPStart(bytes) {
    case .maybe: return true
    case .request: if side == connection.client { return true }
    case .response: if side != connection.client { return true }
    case .no: break
    }
    fail(
      "not-http", "bytes that begin no message of HTTP/1", at: end - bytes.byteCount, side, arrival,
      connection, state)
    return false
  }

  private static func beginsWithLineEnd(_ bytes: RawSpan) -> Bool {
    bytes.uint8(at: 0).map { $0 == 0x0D || $0 == 0x0A } ?? false
  }

  private func begin(
    _ head: HTTPHead, at start: Int, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: HTTPConnection
  ) {
    let isRequest = side == connection.client
    guard let message = HTTPMessage(head), (message.status == nil) == isRequest else {
      return fail(
        "not-http", "a head that is none of HTTP/1", at: start, side, arrival, connection, state)
    }
    let method = isRequest ? nil : state.method
    let framing = HTTPFraming(message, answering: method)
    let exchange: Int
    if case .request(let method, _) = message.start {
      var isBehindLoss = false
      if case .outOfStep = state[side.other].phase { isBehindLoss = true }
      exchange = state.ask(method, isBehindLoss: isBehindLoss)
    } else {
      exchange = state.answer(isInterim: message.isInterim).exchange
    }
    var open = HTTPDirection.OpenMessage(
      message: message, exchange: exchange,
      body: HTTPBodyReader(framing, limit: Self.longestBody), start: start)
    guard framing != .contradictory else {
      finish(open, side, arrival, connection, state)
      return fail(
        "bad-length", "a head that says of its body what can't be", at: start, side, arrival,
        connection, state)
    }
    // A tunnel, or another protocol (RFC 9110 sections 9.3.6 and 15.2.2).
    let status = message.status ?? 0
    guard status != 101, method != "CONNECT" || !(200..<300).contains(status) else {
      finish(open, side, arrival, connection, state)
      for side in [Side.first, .second] { state[side].phase = .other }
      let what = Malformation(
        code: "switched", offset: state[side].offset,
        message: "the connection goes on in another protocol, which is not read behind HTTP")
      return emitter.emitMalformation(what, side, arrival, connection)
    }
    open.mayBeEmpty = !isRequest && method == nil
    if open.body.isComplete {
      finish(open, side, arrival, connection, state)
    } else {
      state[side].phase = .body(open)
    }
  }

  // MARK: Messages

  func finish(
    _ open: HTTPDirection.OpenMessage, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: HTTPConnection
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
    state[side].finished += 1
    if connection.number == 0 { emitter.open(connection, arrival, evidence: nil) }
    if open.body.cut > 0 {
      emitter.emitGap(open.body.cut, .limit, side, arrival, connection)
    }
    let part: HTTPPart =
      message.status == nil
      ? .request(exchange: open.exchange, message) : .response(exchange: open.exchange, message)
    emitter.emit(EventView(connection.context(side, arrival), .http(part)))
  }

  /// Says what is wrong, and looks for the next message.
  private func fail(
    _ code: String, _ message: String, at offset: Int, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection, _ state: HTTPConnection
  ) {
    if connection.number == 0 { emitter.open(connection, arrival, evidence: nil) }
    let malformation = Malformation(code: code, offset: offset, message: message)
    emitter.emitMalformation(malformation, side, arrival, connection)
    state[side].phase = .outOfStep
  }
}

internal import RepriseCore
internal import Wire

/// All clauses of RFC 6455 that are checked, judged in the same pass as those of MQTT.
struct WebSocketJudge {
  /// The clauses in the order of their places in the tally.
  static let clauses: [ClauseKey?] =
    (HandshakeRule.allCases.map(\.clause) + FrameRule.allCases.map(\.clause))
    .map { ClauseKey(spec: "rfc6455", id: $0) }
  /// The place of the first rule in the tally.
  static let base = MQTTJudge.clauses.count
  /// The place of the first rule of frames.
  static let frameBase = base + HandshakeRule.allCases.count

  private var keys = HandshakeKeys()

  /// Starts a file, whose handshakes are compared with each other only.
  mutating func beginFile() { keys = HandshakeKeys() }

  /// Takes an event of a connection that speaks WebSocket.
  mutating func take(
    _ event: borrowing EventView, _ state: inout WebSocketState, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    state.note()
    switch event.body {
    case .handshake(.request(let request)):
      keys.judge(request, between: state.ends, event, hearing, &tally)
      state.takeRequest(request, event, hearing, &tally)
    case .handshake(.response(let response)):
      if response.accepts { keys.accept(event.context) }
      state.takeResponse(response, event, hearing, &tally)
    case .webSocket(let frame): state.takeFrame(frame, event, hearing, &tally)
    case .gap: state.lose(from: event.context.sender, hearing, &tally)
    case .malformed(let malformation):
      if malformation.code == Malformation.reservedOpcode {
        state.judgeCutHeader(malformation, event, hearing, &tally)
      }
      state.lose(from: event.context.sender, hearing, &tally)
    case .closed(let closing):
      keys.end(event.context)
      state.close(Closing(closing, event), event, hearing, &tally)
    case .opened(let opening): state.open(opening)
    case .attempted, .mqtt, .http, .tls: break
    }
  }
}

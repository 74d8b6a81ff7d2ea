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
      keys.judge(request, event, hearing, &tally)
      state.takeRequest(request, event, hearing, &tally)
    case .handshake(.response(let response)):
      keys.answer(event.context.connection)
      state.takeResponse(response, event, hearing, &tally)
    case .webSocket(let frame): state.takeFrame(frame, event, hearing, &tally)
    case .gap: state.lose(from: event.context.sender, hearing, &tally)
    case .malformed(let malformation):
      if malformation.code == Malformation.reservedOpcode {
        state.judgeCutHeader(malformation, event, hearing, &tally)
      }
      state.lose(from: event.context.sender, hearing, &tally)
    case .closed(let closing):
      if closing.how == .endOfCapture {
        keys.forget(event.context.connection)
      } else {
        keys.answer(event.context.connection)
      }
      state.close(Closing(closing, event), event, hearing, &tally)
    case .opened, .attempted, .mqtt, .http, .tls: break
    }
  }
}

/// The keys of the handshakes of a file, each of which should be met once.
struct HandshakeKeys {
  private struct Sight {
    var connection: Int
    var frame: Int
    /// Whether the request was answered, or its connection is over.
    var isSettled = false
  }

  private var sights: [String: Sight] = [:]
  /// The keys that wait for their answer, by connection.
  private var waiting: [Int: String] = [:]
  /// The most keys that are kept, and the longest: one that is right has 24 characters.
  private static let maximum = 65_536
  private static let longest = 64

  mutating func judge(
    _ request: WebSocketRequest, _ event: borrowing EventView, _ hearing: Hearing,
    _ tally: inout Tally
  ) {
    guard let key = request.key, !key.isEmpty else { return }
    guard key.utf8.count <= Self.longest else { return tally.leave(.keyIsFresh, .tooMany, hearing) }
    let connection = event.context.connection
    guard let sight = sights[key] else {
      guard sights.count < Self.maximum else { return tally.leave(.keyIsFresh, .tooMany, hearing) }
      // One key alone is as fresh as any.
      if !sights.isEmpty { tally.satisfy(.keyIsFresh, hearing) }
      sights[key] = Sight(connection: connection, frame: event.context.frame)
      waiting[connection] = key
      return
    }
    // A client that has to authenticate asks again on the same connection.
    guard sight.connection != connection else { return }
    // A capture on a proxy's machine shows what comes in, and the same again going out.
    guard sight.isSettled else { return tally.leave(.keyIsFresh, .forwarded, hearing) }
    tally.violate(
      .keyIsFresh, event, hearing,
      FindingText(
        "the client's request has the key of connection \(sight.connection), frame \(sight.frame)",
        expected: "a key that was selected at random for this connection",
        actual: "Sec-WebSocket-Key: \"\(key)\" again"))
  }

  /// Forgets that a connection waits for an answer, which nobody will see.
  mutating func forget(_ connection: Int) { waiting[connection] = nil }

  /// Notes that a connection's request is answered, or will not be any more.
  mutating func answer(_ connection: Int) {
    guard let key = waiting.removeValue(forKey: connection) else { return }
    sights[key]?.isSettled = true
  }
}

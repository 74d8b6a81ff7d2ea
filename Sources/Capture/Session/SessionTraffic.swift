import RepriseCore
import Wire
import WireDeflate

/// Turns the streams of TCP connections into the events of sessions.
///
/// A connection is held until its bytes tell what it speaks (``SessionRecognizer``); then they are
/// handed on as they lie in the capture.
struct SessionTraffic: TCPConsumer {
  let decode: [UInt16: DecodeRule]
  let emitter: SessionEmitter
  private let mqtt: MQTTStreams
  private let webSocket: WebSocketStreams
  private let http: HTTPStreams
  /// What the unfinished things of all connections take.
  let budget: MemoryBudget
  let left = LeftConnections()
  let unread = UnreadConnections()
  /// The secrets by which connections are decrypted that speak TLS.
  let secrets: TLSSecrets
  /// Writes what was decrypted, where that is wanted.
  let plain: PlainStreams?
  private let plainBuffer = TLSPlainBuffer()
  /// The connections that wait for secrets.
  let awaiting = TLSAwaiting()
  private let servers = MQTTServers()

  init(
    decode: [UInt16: DecodeRule], memory: Int = InputOptions.defaultMemory,
    secrets: TLSSecrets = TLSSecrets(), plain: PlainStreams? = nil, emitter: SessionEmitter
  ) {
    self.plain = plain
    self.decode = decode
    self.secrets = secrets
    budget = MemoryBudget(limit: memory)
    self.emitter = emitter
    mqtt = MQTTStreams(emitter: emitter)
    webSocket = WebSocketStreams(emitter: emitter, mqtt: mqtt)
    http = HTTPStreams(emitter: emitter, webSocket: webSocket)
  }

  /// How many messages would have inflated to far more than was sent.
  var messagesKept: Int { webSocket.store.refused }

  /// What connections are that give no events, in sentences.
  var notes: [String] { secrets.finish() + left.notes }

  mutating func opened(_ opening: FlowOpening) -> SessionConnection {
    let rule = decode.isEmpty ? nil : decode[opening.second.port] ?? decode[opening.first.port]
    let connection = SessionConnection(opening, rule: rule, budget)
    emitter.secrets?.open(connection)
    return connection
  }

  func beginsSession(_ bytes: RawSpan) -> Bool {
    if let header = ProxyHeader(bytes) {
      return beginsSession(bytes.extracting(droppingFirst: header.size))
    }
    if case .level = MQTTRecognizer.connectLevel(bytes) { return true }
    return HTTPStart(bytes) == .request || TLSRecognizer.hello(bytes) == 1
  }

  func answersSession(_ bytes: RawSpan) -> Bool {
    if case .header(let header) = MQTTFixedHeader.read(bytes), header.firstByte == 0x20,
      header.remainingLength >= 2, header.packetSize <= bytes.byteCount
    {
      return true
    }
    return HTTPStart(bytes) == .response || TLSRecognizer.hello(bytes) == 2
  }

  mutating func received(_ bytes: RawSpan, _ direction: Direction) -> Bool {
    guard let record = direction.connection.record else { return takeReceived(bytes, direction) }
    record.look(through: bytes, direction.side, emitter.secrets?.rules)
    // What is of no interest may hold secrets all the same.
    if record.isDecodable { record.isDecodable = takeReceived(bytes, direction) }
    return true
  }

  /// Takes the next bytes of a side, off the wire or decrypted.
  @inline(__always)
  func takeReceived(_ bytes: RawSpan, _ direction: Direction) -> Bool {
    let isWanted = receive(bytes, direction)
    let connection = direction.connection
    // Most packets lie whole in one segment: then nothing is kept, neither before nor behind it.
    if connection.stage == .mqtt, connection.reservation.amount == 0,
      !direction.mqtt.mayKeep
    {
      return isWanted
    }
    return account(for: connection, isWanted: isWanted, direction.arrival)
  }

  @inline(__always)
  private func receive(
    _ bytes: RawSpan, _ direction: Direction
  ) -> Bool {
    direction.connection.stage == .held ? receiveHeld(bytes, direction) : take(bytes, direction)
  }

  /// Takes bytes of a connection of which it is not known yet what it speaks.
  private func receiveHeld(_ bytes: RawSpan, _ direction: Direction) -> Bool {
    let connection = direction.connection
    if connection.opening.isFromStart, connection.held.isEmpty, connection.proxyHeader == nil,
      let header = ProxyHeader(bytes)
    {
      connection.proxyHeader = header
      let rest = bytes.extracting(droppingFirst: header.size)
      return rest.isEmpty || receiveHeld(rest, direction)
    }
    let recognizer = makeRecognizer(connection)
    if connection.held.isEmpty,
      let verdict = recognizer.judge(firstBytes: bytes, of: direction.side)
    {
      guard settle(verdict, connection, direction.arrival) else { return false }
      return take(bytes, direction)
    }
    connection.hold(bytes, from: direction.side, direction.arrival)
    return judgeHeld(connection, direction.arrival)
  }

  mutating func lost(_ count: Int, _ reason: Gap.Reason, _ direction: Direction) -> Bool {
    guard let record = direction.connection.record else {
      return takeLoss(of: count, reason, direction)
    }
    record.lose(count, direction.side)
    if record.isDecodable { record.isDecodable = takeLoss(of: count, reason, direction) }
    return true
  }

  /// Takes the loss of bytes of a side, of which it may not be certain how many they are (`isCounted`).
  func takeLoss(
    of count: Int, isCounted: Bool = true, _ reason: Gap.Reason, _ direction: Direction
  ) -> Bool {
    let (connection, arrival) = (direction.connection, direction.arrival)
    guard connection.stage != .held else {
      connection.hold(
        lossOf: count, isCounted: isCounted, reason, from: direction.side, arrival)
      return account(for: connection, isWanted: judgeHeld(connection, arrival), arrival)
    }
    lose(count, isCounted: isCounted, reason, direction)
    return account(for: connection, isWanted: true, arrival)
  }

  mutating func altered(_ direction: Direction) {
    let (connection, side) = (direction.connection, direction.side)
    connection.alter(side)
    emitter.emitAlteration(Direction(connection, side, direction.arrival))
    guard let plain = connection.tls?.plain else { return }
    plain.alter(side)
    emitter.emitAlteration(Direction(plain, side, direction.arrival))
  }

  mutating func closed(_ closing: FlowClosing, on connection: SessionConnection) {
    guard connection.record?.isDecodable ?? true else { return }
    takeEnd(closing, of: connection)
  }

  /// Takes the end of a connection.
  func takeEnd(_ closing: FlowClosing, of connection: SessionConnection) {
    defer { budget.reserve(0, for: connection, hasMovedOn: true) }
    if connection.stage == .held {
      let held = connection.held
      let recognizer = makeRecognizer(connection)
      let verdict = recognizer.judge(held, isFinal: true)
      guard settle(verdict, connection, closing.arrival) else { return }
      guard replay(held, connection) else { return }
    }
    if let state = connection.tls { return endTLS(closing, connection, state) }
    if let state = connection.http {
      http.flush(closing, connection, state)
    } else if let state = connection.webSocket {
      webSocket.flush(closing, connection, state)
    } else {
      for direction in connection.directions(closing.arrival) {
        mqtt.flush(direction, closing.how)
      }
    }
    // HTTP that never asked for WebSocket has no number, and no events.
    guard connection.number > 0 else {
      if let loss = connection.webSocket?.lostRequest {
        note(UnreadStart(isCONNECT: false, isCut: loss.reason == .snaplen), connection)
      }
      return
    }
    let isFirstClient = connection.client == .first
    let body = ConnectionClosing(
      how: closing.how, firstFrame: closing.began.frame, firstTime: closing.began.time,
      isAnswered: closing.isAnswered, isLate: closing.isLate,
      isOfMergedClocks: closing.isOfMergedClocks,
      clientSilence: isFirstClient ? closing.silences.first : closing.silences.second,
      clientRest: isFirstClient ? closing.rests.first : closing.rests.second,
      serverRest: isFirstClient ? closing.rests.second : closing.rests.first)
    let direction = Direction(connection, closing.side, closing.arrival)
    emitter.emit(EventView(direction.carrierContext, .closed(body)))
  }

  // MARK: Memory

  /// Takes into account what a connection takes; when that is too much with what the others take,
  /// those that have waited longest give something up.
  /// - Returns: Whether the connection is wanted, as was said.
  @inline(__always)
  func account(
    for connection: SessionConnection, isWanted: Bool, _ arrival: Arrival
  ) -> Bool {
    let progress = connection.progress
    let hasMovedOn = progress != connection.reservation.progress
    connection.reservation.progress = progress
    let amount = isWanted ? connection.reserved : 0
    budget.reserve(amount, for: connection, hasMovedOn: hasMovedOn)
    if budget.isExceeded { makeRoom(arrival) }
    return isWanted
  }

  private func makeRoom(_ arrival: Arrival) {
    while budget.isExceeded, let oldest = budget.takeOldest() {
      if giveUp(oldest, arrival) { budget.surrenders += 1 }
      let left = oldest.reserved
      // What can't be given back stays counted, but asking for it again would be of no use.
      budget.retain(left, of: oldest)
    }
  }

  /// Lets a connection give up what is unfinished.
  /// - Returns: Whether anything is missing for it.
  private func giveUp(_ connection: SessionConnection, _ arrival: Arrival) -> Bool {
    guard connection.stage != .held else {
      return connection.held.byteCount > 0 && connection.forget(arrival)
    }
    if let state = connection.tls {
      let joint = TLSJoint(traffic: self, connection: connection, state: state)
      return state.session.giveUp(arrival, joint)
    }
    if let state = connection.http { return http.giveUp(arrival, connection, state) }
    var hasLost = false
    if let state = connection.webSocket {
      hasLost = webSocket.giveUp(arrival, connection, state)
    }
    for direction in connection.directions(arrival) where mqtt.giveUp(direction) {
      hasLost = true
    }
    return hasLost
  }

  // MARK: Recognition

  private func makeRecognizer(_ connection: SessionConnection) -> SessionRecognizer {
    let opening = connection.opening
    // Without a SYN it is not known which end is the server.
    let isServerKnown =
      servers.contains(opening.second) || !opening.isFromStart && servers.contains(opening.first)
    return SessionRecognizer(
      opening: opening, rule: connection.rule, isServerKnown: isServerKnown)
  }

  /// The port that the user speaks of, or that of the server.
  func port(_ connection: SessionConnection) -> UInt16 {
    let opening = connection.opening
    if decode[opening.second.port] != nil { return opening.second.port }
    if decode[opening.first.port] != nil { return opening.first.port }
    return (connection.client == .first ? opening.second : opening.first).port
  }

  /// Counts a connection whose first packet or request is not whole.
  private func note(_ start: UnreadStart, _ connection: SessionConnection) {
    left.add(
      .unread(start), port: port(connection), frame: connection.opening.arrival.frame)
  }

  /// Judges what is held with its last piece; false when the connection is of no interest.
  private func judgeHeld(_ connection: SessionConnection, _ arrival: Arrival) -> Bool {
    let held = connection.held
    let recognizer = makeRecognizer(connection)
    let verdict = recognizer.judge(held, isFinal: false)
    if case .undecided = verdict { return true }
    if case .later = verdict, connection.forget(arrival) { return true }
    guard settle(verdict, connection, arrival) else { return false }
    return replay(held, connection)
  }

  /// Acts on a verdict; true when the connection is of interest.
  private func settle(
    _ verdict: SessionRecognizer.Verdict, _ connection: SessionConnection, _ arrival: Arrival
  ) -> Bool {
    switch verdict {
    case .undecided, .later, .foreign:
      if let rule = connection.rule, rule != DecodeRule.none, !connection.held.isEmpty {
        left.add(.not(rule), port: port(connection), frame: connection.opening.arrival.frame)
      } else if connection.rule == nil, let start = UnreadStart(connection.held) {
        note(start, connection)
      }
      if !connection.isDecrypted { unread.add(connection.opening, connection.held) }
      return false
    case .mqtt(let client, let wire, let evidence):
      unread.meet(connection.opening, client: client)
      connection.client = client
      connection.begin(wire)
      if wire.isCertain { servers.add(connection) }
      emitter.open(connection, arrival, evidence: evidence)
    case .tls(let client):
      // What is encrypted twice is not read.
      guard !connection.isDecrypted else { return false }
      connection.client = client
      connection.begin(TLSConnection(TLSSession(client: client, secrets, plainBuffer)))
    case .http(let client):
      unread.meet(connection.opening, client: client)
      connection.client = client
      if connection.rule == .http {
        connection.begin(HTTPConnection())
      } else {
        connection.begin(WebSocketConnection())
      }
    case .webSocket(let client, let evidence):
      unread.meet(connection.opening, client: client)
      connection.client = client
      let state = WebSocketConnection()
      let isFromStart = beginsWithFrames(connection)
      connection.begin(state)
      emitter.open(connection, arrival, evidence: evidence)
      webSocket.openWithoutHandshake(connection, state, isFromStart: isFromStart)
    }
    return true
  }

  /// Tells whether a connection without a handshake that can be read is one that never had any, as on the user's word.
  private func beginsWithFrames(_ connection: SessionConnection) -> Bool {
    guard connection.opening.isFromStart, connection.rule == .webSocket else { return false }
    return [Side.first, .second].allSatisfy { side in
      let held = connection.held[side]
      return HTTPStart(held.bytes.span.bytes.extracting(held.start)) == .no
    }
  }

  /// Hands on what was held; false when the connection turns out to be of no interest.
  private func replay(_ held: HeldPieces, _ connection: SessionConnection) -> Bool {
    if connection.stage == .mqtt, !connection.opening.isFromStart {
      mqtt.resynchronize(connection)
    }
    for piece in held.pieces {
      let direction = Direction(connection, piece.side, piece.arrival)
      switch piece.content {
      case .bytes(let range):
        let side = held[piece.side]
        guard
          take(side.bytes.span.bytes.extracting(range), direction)
        else { return false }
      case .lost(let count, let reason, let isCounted):
        lose(count, isCounted: isCounted, reason, direction)
      }
    }
    return true
  }

  // MARK: Streams

  @inline(__always)
  private func take(
    _ bytes: RawSpan, _ direction: Direction
  ) -> Bool {
    if direction.connection.stage == .webSocket, let state = direction.connection.webSocket {
      return webSocket.take(bytes, direction, state)
    }
    if direction.connection.stage == .http, let state = direction.connection.http {
      return http.take(bytes, direction, state)
    }
    if direction.connection.stage == .tls, let state = direction.connection.tls {
      return takeTLS(bytes, direction, state)
    }
    mqtt.take(bytes, direction)
    return true
  }

  private func lose(
    _ count: Int, isCounted: Bool, _ reason: Gap.Reason, _ direction: Direction
  ) {
    let connection = direction.connection
    if let state = connection.tls {
      let joint = TLSJoint(traffic: self, connection: connection, state: state)
      state.session.lose(count, reason, direction.side, direction.arrival, joint)
    } else if let state = connection.http {
      http.lose(count, reason, direction, state)
      if !isCounted { http.outOfStep(direction, state) }
    } else if let state = connection.webSocket {
      webSocket.lose(count, reason, direction, state)
      if !isCounted, state.isOpen {
        webSocket.outOfStep(at: state[direction.side].offset, direction, state)
      }
    } else {
      mqtt.lose(count, reason, direction)
      if !isCounted { mqtt.interrupt(direction) }
    }
  }
}

/// The servers that connections with a whole CONNECT went to, up to a number.
private final class MQTTServers {
  private static let most = 1_024
  private var servers: Set<Endpoint> = []

  func add(_ connection: SessionConnection) {
    guard servers.count < Self.most else { return }
    let opening = connection.opening
    servers.insert(connection.client == .first ? opening.second : opening.first)
  }

  func contains(_ server: Endpoint) -> Bool { servers.contains(server) }
}

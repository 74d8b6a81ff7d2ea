import RepriseCore

/// What is kept of a connection that speaks TLS.
final class TLSConnection {
  /// About what it takes by itself, in bytes.
  static let inherent = 1_200

  let session: TLSSession
  /// The connection that its plain bytes are, once there are any.
  var plain: SessionConnection?
  /// The alerts that came before it was known what to tell of the connection.
  var alerts: [Event] = []
  /// How many alerts are kept until that is known.
  var keptAlerts = 0
  /// The connection of plain TCP that the plain bytes are written as, where they are.
  var plainTCP: SyntheticTCP?
  /// Whether the plain bytes are something that is decoded, or may be.
  var isWanted = true
  /// Whether it is among those that wait for keys.
  var isAwaiting = false
  /// Whether it was told why nothing more comes of it.
  var isOver = false

  init(_ session: TLSSession) { self.session = session }
}

/// The connections that wait for keys.
final class TLSAwaiting {
  var connections: [SessionConnection] = []
}

/// Hands on what is decrypted as a connection of its own, for which everything is as it would be without TLS.
struct TLSJoint: TLSReceiver {
  let traffic: SessionTraffic
  let connection: SessionConnection
  let state: TLSConnection

  private var plain: SessionConnection {
    if let plain = state.plain { return plain }
    let made = traffic.makePlain(connection)
    made.client = connection.client
    made.preface = [Event(context(state.session.greeting), .tls(.handshake(hellos())))]
    made.preface += state.alerts
    state.plain = made
    return made
  }

  /// What both ends have said in the clear.
  func hellos(_ obstacle: TLSObstacle? = nil) -> TLSHellos {
    let (session, opening) = (state.session, connection.opening)
    let isFirstClient = connection.client == .first
    let version = session.serverHello?.version ?? session.clientHello?.version
    return TLSHellos(
      client: (isFirstClient ? opening.first : opening.second).description,
      server: (isFirstClient ? opening.second : opening.first).description,
      version: version.map(TLSHello.name), cipherSuite: session.serverHello?.suite?.name,
      serverName: session.clientHello?.extensions.serverName,
      protocols: session.clientHello?.extensions.protocols ?? [],
      chosenProtocol: session.chosenProtocol, obstacle: obstacle?.text, remedy: obstacle?.remedy)
  }

  private func context(_ place: (side: Side, arrival: Arrival)?) -> EventContext {
    let arrival = place?.arrival ?? connection.opening.arrival
    return EventContext(
      time: arrival.time, frame: arrival.frame, connection: state.plain?.number ?? 0,
      sender: connection.peer(place?.side ?? connection.client), wire: .tls,
      isOrderUncertain: arrival.isOrderUncertain)
  }

  func take(_ alert: TLSAlert, _ side: Side, _ arrival: Arrival) {
    let event = Event(context((side, arrival)), .tls(.alert(alert)))
    if let plain = state.plain, plain.number > 0 {
      if state.isWanted { event.withView { traffic.emitter.emit($0) } }
      return
    }
    guard state.keptAlerts < Self.mostAlerts else { return traffic.left.addAlert() }
    state.keptAlerts += 1
    if let plain = state.plain { plain.preface.append(event) } else { state.alerts.append(event) }
  }

  /// The most alerts that are kept of a connection until it is known what it speaks: nobody sends more than two.
  private static let mostAlerts = 8

  /// Tells why the connection is not decrypted, or not any further: the only event that there is then, but for alerts.
  func tell(_ obstacle: TLSObstacle) {
    var event = Event(context(state.session.greeting), .tls(.handshake(hellos(obstacle))))
    if let plain = state.plain {
      guard plain.number > 0, state.isWanted else { return }
      return event.withView { traffic.emitter.emit($0) }
    }
    let number = traffic.emitter.number(connection)
    for alert in [event] + state.alerts {
      event = alert
      event.context.connection = number
      event.withView { traffic.emitter.emit($0) }
    }
  }

  func receive(_ bytes: RawSpan, _ side: Side, _ arrival: Arrival) {
    traffic.plain?.receive(bytes, side, arrival, self)
    guard state.isWanted else { return }
    state.isWanted = traffic.takeReceived(bytes, Direction(plain, side, arrival))
  }

  func lose(
    _ count: Int, isCounted: Bool, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival
  ) {
    traffic.plain?.lose(count, side, arrival, self)
    guard state.isWanted else { return }
    state.isWanted = traffic.takeLoss(
      of: count, isCounted: isCounted, reason, Direction(plain, side, arrival))
  }
}

// Connections that speak TLS.
extension SessionTraffic {
  /// Makes the connection that the plain bytes of another one are.
  func makePlain(_ connection: SessionConnection) -> SessionConnection {
    let plain = SessionConnection(
      connection.opening, rule: connection.rule == .tls ? nil : connection.rule, isDecrypted: true,
      budget)
    for side in connection.altered { plain.alter(side) }
    return plain
  }

  /// Takes bytes of a connection that speaks TLS; false when nothing can come of it any more.
  func takeTLS(_ bytes: RawSpan, _ direction: Direction, _ state: TLSConnection) -> Bool {
    guard !state.isOver else { return false }
    let (connection, arrival) = (direction.connection, direction.arrival)
    let joint = TLSJoint(traffic: self, connection: connection, state: state)
    state.session.take(bytes, direction.side, arrival, joint)
    if let hello = state.session.clientHello {
      secrets.note(hello.random, of: connection.opening, at: arrival.time)
    }
    if state.session.waiting != nil, !state.isAwaiting {
      state.isAwaiting = true
      awaiting.connections.append(connection)
    }
    return isGoingOn(connection, state, direction.side, arrival)
  }

  /// Whether something can come of a connection that speaks TLS; tells why not.
  private func isGoingOn(
    _ connection: SessionConnection, _ state: TLSConnection, _ side: Side, _ arrival: Arrival
  ) -> Bool {
    guard let obstacle = state.session.obstacle else { return state.isWanted || plain != nil }
    state.isOver = true
    note(obstacle, connection, state)
    // What follows can't be read.
    if state.plainTCP != nil {
      plain?.lose(
        0, side, arrival, TLSJoint(traffic: self, connection: connection, state: state))
    }
    if state.isWanted, let plain = state.plain {
      let closing = FlowClosing(
        how: .endOfCapture, side: side, began: arrival, arrival: arrival, isAnswered: false)
      takeEnd(closing, of: plain)
    }
    return false
  }

  /// Looks whether keys are there that connections wait for.
  /// - Parameter now: The time.
  /// - Returns: Whether any still does.
  func settleTLS(_ now: Timestamp) -> Bool {
    guard !awaiting.connections.isEmpty else { return false }
    secrets.readFiles()
    var rest: [SessionConnection] = []
    for connection in awaiting.connections {
      guard let state = connection.tls, state.session.waiting != nil else {
        connection.tls?.isAwaiting = false
        continue
      }
      let arrival = state.session.greeting?.arrival ?? connection.opening.arrival
      state.session.ask(now, TLSJoint(traffic: self, connection: connection, state: state))
      state.isAwaiting = state.session.waiting != nil
      if state.isAwaiting { rest.append(connection) }
      let isWanted = isGoingOn(connection, state, connection.client, arrival)
      _ = account(for: connection, isWanted: isWanted, arrival)
    }
    awaiting.connections = rest
    return !rest.isEmpty
  }

  /// Takes the end of a connection that speaks TLS.
  func endTLS(_ closing: FlowClosing, _ connection: SessionConnection, _ state: TLSConnection) {
    guard !state.isOver else { return }
    let joint = TLSJoint(traffic: self, connection: connection, state: state)
    state.session.finish(closing.arrival, joint)
    plain?.close(closing, joint)
    if let obstacle = state.session.finalObstacle { note(obstacle, connection, state) }
    if state.isWanted, let plain = state.plain { takeEnd(closing, of: plain) }
  }

  private func note(
    _ obstacle: TLSObstacle, _ connection: SessionConnection, _ state: TLSConnection
  ) {
    TLSJoint(traffic: self, connection: connection, state: state).tell(obstacle)
    left.add(
      state.session, obstacle, port: port(connection), frame: connection.opening.arrival.frame)
  }
}

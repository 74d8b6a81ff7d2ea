import Wire

/// Takes the events of a session as they are read, and hands on the life of one client.
struct ReplayExtraction: Sendable {
  private enum Fate {
    /// No packet told yet whose connection it is.
    case undecided([Event])
    case kept
    case dropped
  }

  let selection: ReplaySelection
  private var window: ReplayWindow
  private var fates: [Int: Fate] = [:]
  private(set) var census = ReplayCensus()
  private(set) var life = ReplayLife()
  /// The highest frame that an event had.
  private(set) var lastFrame = 0

  /// Creates what has seen nothing.
  /// - Parameters:
  ///   - selection: Whose life it is.
  ///   - window: Which time of it; earlier events only tell whose connection it is.
  init(_ selection: ReplaySelection, within window: ReplayWindow) {
    self.selection = selection
    self.window = window
  }

  /// Whether the session has the client, be it in the window or not.
  var isChosen: Bool { fates.values.contains { if case .kept = $0 { true } else { false } } }

  /// Takes the next event of the session, and adds what follows from it to a life.
  /// - Parameters:
  ///   - event: The event.
  ///   - entries: Where something is added.
  ///   - isKept: Whether the caller wants more than that it is counted; then less may be added.
  mutating func take(
    _ event: borrowing EventView, into entries: inout [ReplayEntry], isKept: Bool = true
  ) {
    if let role = steadyRole(of: event) {
      lastFrame = max(lastFrame, event.context.frame)
      census.keep(event.context.connection)
      return life.add(event, role, into: &entries, isKept: isKept)
    }
    switch event.body {
    // What carries packets is not replayed, and a connection without packets may have much of it.
    case .handshake, .webSocket, .http, .tls: return
    case .attempted where event.context.wire == .webSocket: return
    case .opened, .closed, .attempted, .gap, .malformed, .mqtt:
      guard let isInside = admit(event.context) else { return }
      take(Event(copying: event), isInside, into: &entries)
    }
  }

  /// Takes the next event of the session, and adds what follows from it to a life.
  mutating func take(_ event: Event, into entries: inout [ReplayEntry]) {
    switch event.body {
    case .handshake, .webSocket, .http, .tls: return
    case .attempted where event.context.wire == .webSocket: return
    case .opened, .closed, .attempted, .gap, .malformed, .mqtt:
      guard let isInside = admit(event.context) else { return }
      take(event, isInside, into: &entries)
    }
  }

  /// The role of a packet in the middle of what is replayed, as most are; nil for all other events.
  @inline(__always)
  private func steadyRole(of event: borrowing EventView) -> ReplayEventRole? {
    guard case .mqtt(let packet) = event.body, !window.isLimited,
      life.isSteady(on: event.context.connection), packet.missing == 0
    else { return nil }
    switch packet.type {
    // They begin and end something, or may refuse a message.
    case .connect, .connack, .disconnect, .pubrec: return nil
    case .reserved, .publish, .puback, .pubrel, .pubcomp, .subscribe, .suback, .unsubscribe,
      .unsuback, .pingreq, .pingresp, .auth:
      return ReplayEventRole(packet.type, packet.header.firstByte, from: event.context.sender)
    }
  }

  /// Takes the end of the session.
  mutating func finish(into entries: inout [ReplayEntry]) { life.finish(into: &entries) }

  /// Tells whether an event is in the window; nil for one that certainly is not replayed.
  @inline(__always)
  private mutating func admit(_ context: EventContext) -> Bool? {
    lastFrame = max(lastFrame, context.frame)
    let isInside = window.contains(context.time)
    switch fates[context.connection] {
    case .kept: return isInside ? true : nil
    case .dropped: return nil
    case .undecided, nil: return isInside
    }
  }

  private mutating func take(
    _ event: Event, _ isInside: Bool, into entries: inout [ReplayEntry]
  ) {
    switch fates[event.context.connection] {
    case .kept: keep(event, into: &entries)
    case .dropped: return
    case .undecided(let held): decide(event, isInside, held, into: &entries)
    case nil: decide(event, isInside, [], into: &entries)
    }
  }

  private mutating func decide(
    _ event: Event, _ isInside: Bool, _ earlier: [Event], into entries: inout [ReplayEntry]
  ) {
    let connection = event.context.connection
    let held = isInside ? earlier + [event] : earlier
    switch event.body {
    case .mqtt: break
    // It is all that there is of its connection.
    case .attempted where isInside: break
    default:
      fates[connection] = .undecided(held)
      return
    }
    let (clientID, username) = (event.attemptedConnect ?? event).connectNames
    census.note(connection, clientID: clientID)
    let isChosen =
      switch selection {
      case .only: true
      case .client(let name): name == clientID || name == username
      case .connection(let number): number == connection
      }
    guard isChosen else {
      fates[connection] = .dropped
      return
    }
    fates[connection] = .kept
    let isFromStart = isInside && event.isFromClient(.connect) || event.attempt != nil
    if !isFromStart { life.imply(connection) }
    for event in held { keep(event, into: &entries) }
  }

  @inline(__always)
  private mutating func keep(_ event: Event, into entries: inout [ReplayEntry]) {
    census.keep(event.context.connection)
    life.take(event, into: &entries)
  }
}

extension Event {
  /// The client identifier and the user name of a CONNECT.
  fileprivate var connectNames: (clientID: String?, username: String?) {
    guard isFromClient(.connect) else { return (nil, nil) }
    return withView { view in
      guard case .mqtt(let packet) = view.body, let connect = packet.connect else {
        return (nil, nil)
      }
      return (
        String(copying: connect.clientID),
        connect.hasUsername ? String(copying: connect.username) : nil
      )
    }
  }
}

import Wire

/// Which client of a session is replayed.
public enum ReplaySelection: Sendable, Hashable {
  /// The only one there is.
  case only
  /// The client of this identifier, with all its connections.
  case client(String)
  /// The client of this connection, on this connection alone.
  case connection(Int)
}

/// Gathers the events of one client from a session that is being read.
///
/// Only the chosen client's events are kept, so that a large capture of many clients needs little memory.
/// It takes the events of any reader: `SessionInput.read` of the module Capture, a ``RecordingStream``, or
/// ``append(_:)`` one by one. What is gathered is a ``ReplayDialogue`` to look at and a ``ReplayClient`` to
/// live in:
///
/// ```swift
/// var events = ReplayEvents(of: .client("dev1&a1pk"))
/// var stream = RecordingStream()
/// try stream.consume(bytes.span.bytes, into: &events)
/// try stream.finish(into: &events)
/// let client = try ReplayClient(events)
/// ```
public struct ReplayEvents: EventConsumer, Sendable {
  private enum Fate {
    /// No packet told yet whose connection it is.
    case undecided([Event])
    case kept
    case dropped
  }

  private let selection: ReplaySelection
  private var window: ReplayWindow
  private var fates: [Int: Fate] = [:]
  private var events: [Event] = []
  /// Who was seen, by connection, for the message that somebody is not there.
  private var clients: [(connection: Int, clientID: String?)] = []
  /// The connections whose CONNECT is among the events.
  private var connected: Set<Int> = []
  /// The connections without MQTT, which are replayed when no other is.
  private var frames: FrameEvents

  /// Creates an empty collection.
  /// - Parameters:
  ///   - selection: Whose events to keep.
  ///   - window: When they happened; earlier ones only tell whose connection it is.
  public init(of selection: ReplaySelection = .only, within window: ReplayWindow = ReplayWindow()) {
    self.selection = selection
    self.window = window
    frames = FrameEvents(of: selection, within: window)
  }

  /// Takes the next event of the session.
  public mutating func consume(_ event: borrowing EventView) {
    frames.take(event)
    switch event.body {
    // What carries packets is not replayed, and a connection without packets may have much of it.
    case .handshake, .webSocket: return
    case .opened, .closed, .gap, .malformed, .mqtt:
      append(event.context) { Event(copying: event) }
    }
  }

  /// Takes the next event of the session.
  /// - Parameter event: The event.
  public mutating func append(_ event: Event) {
    event.withView { frames.take($0) }
    switch event.body {
    case .handshake, .webSocket: return
    case .opened, .closed, .gap, .malformed, .mqtt: append(event.context) { event }
    }
  }

  private mutating func append(_ context: EventContext, _ make: () -> Event) {
    let isInside = window.contains(context.time)
    switch fates[context.connection] {
    case .kept: if isInside { events.append(make()) }
    case .dropped: return
    case .undecided(let held): decide(make(), isInside, held)
    case nil: decide(make(), isInside, [])
    }
  }

  private mutating func decide(_ event: Event, _ isInside: Bool, _ earlier: [Event]) {
    let connection = event.context.connection
    let held = isInside ? earlier + [event] : earlier
    guard case .mqtt = event.body else {
      fates[connection] = .undecided(held)
      return
    }
    let clientID = event.connectClientID
    if clients.count < 10_000 { clients.append((connection, clientID)) }
    if isInside, event.isFromClient(.connect) { connected.insert(connection) }
    let isChosen =
      switch selection {
      case .only: true
      case .client(let name): name == clientID
      case .connection(let number): number == connection
      }
    guard isChosen else {
      fates[connection] = .dropped
      return
    }
    fates[connection] = .kept
    events += held
  }

  // MARK: The life

  /// Returns the chosen client's part of the session.
  /// - Returns: Its events, one connection after the other.
  /// - Throws: ``DataClientError`` when there is no such client, or more than one.
  func life() throws(DataClientError) -> ReplayLife {
    guard !events.isEmpty else {
      if let life = try frames.life() { return life }
      throw notFound()
    }
    guard !isAmbiguous else {
      throw DataClientError(
        .unreadable,
        "the session has \(clients.count) connections of several clients; choose one by client "
          + "identifier or connection: \(candidates)")
    }
    let life = ReplayLife(events, connected: connected)
    if let connection = life.unanswered {
      throw DataClientError(
        .unreadable,
        "connection \(connection) has no CONNACK although its client goes on: what the server sent is "
          + "not in the session; capture both directions")
    }
    return life
  }

  /// Whether the events seem to be those of several clients, of which one has to be chosen.
  ///
  /// A connection whose CONNECT was not captured is taken for one of the client that connects when it is over.
  public var isAmbiguous: Bool {
    guard selection == .only else { return false }
    var connections: [Int] = []
    var isInterleaved = false
    for event in events where event.context.connection != connections.last {
      isInterleaved = isInterleaved || connections.contains(event.context.connection)
      connections.append(event.context.connection)
    }
    let kept = Set(connections)
    let names = clients.filter { kept.contains($0.connection) }.map(\.clientID)
    let unknown = names.count { $0 == nil }
    if Set(names).count > 2 || (unknown == 0 && Set(names).count > 1) { return true }
    return unknown > 1 || (unknown == 1 && isInterleaved)
  }

  private func notFound() -> DataClientError {
    guard !clients.isEmpty else {
      return DataClientError(
        .unreadable, "the session has no MQTT packets, so there is nothing to replay")
    }
    let isChosen = fates.values.contains { if case .kept = $0 { true } else { false } }
    guard !isChosen else {
      return DataClientError(
        .unreadable, "the session has nothing of the client in the time that was asked for")
    }
    var message = "the session has no MQTT packets"
    switch selection {
    case .only: break
    case .connection(let number): message = "the session has no connection \(number) with packets"
    case .client(let name):
      message = "the session has no client \"\(name)\""
      if let near = NearestName.find(name, in: clients.compactMap(\.clientID)) {
        message += "; did you mean \"\(near)\"?"
      }
    }
    return DataClientError(.unreadable, "\(message); it has \(candidates)")
  }

  private var candidates: String {
    let shown = clients.prefix(20).map { client in
      let name = client.clientID.map { "\"\($0)\"" } ?? "no identifier"
      return "connection \(client.connection) (\(name))"
    }
    return shown.joined(separator: ", ") + (clients.count > 20 ? ", …" : "")
  }
}

/// One client's part of a session: its connections, one after the other.
struct ReplayLife: Sendable {
  /// The events, with a closing for every connection that another one followed.
  private(set) var events: [Event] = []
  /// The connections whose CONNECT was not captured.
  let implied: Set<Int>
  /// Whether it is one of WebSocket, with messages that have no topics.
  let carriesFrames: Bool
  /// A connection that lacks its CONNACK although its client went on; nil when there is none.
  private(set) var unanswered: Int?
  /// What a client sent between CONNECT and CONNACK, which no user of the port can do.
  private var early: [Event]?

  init(_ all: [Event], connected: Set<Int>, carriesFrames: Bool = false) {
    self.carriesFrames = carriesFrames
    implied = Set(all.lazy.map(\.context.connection)).subtracting(connected)
    let closed = Set(
      all.lazy.filter { $0.isClosingOnTheWire }.map(\.context.connection))
    events.reserveCapacity(all.count + 8)
    var current: Int?
    var over: Set<Int> = []
    var opened: Set<Int> = []
    for event in all {
      let connection = event.context.connection
      if over.contains(connection) { continue }
      if implied.contains(connection), opened.insert(connection).inserted { open(before: event) }
      if let previous = current, previous != connection {
        over.insert(previous)
        close(previous, before: event, "another connection of the client took its place")
      }
      current = connection
      if append(event) { continue }
      if event.isRefusal {
        over.insert(connection)
        current = nil
      }
      switch event.body {
      case .closed:
        over.insert(connection)
        current = nil
      case .mqtt:
        guard event.isFromClient(.disconnect), !closed.contains(connection) else { continue }
        close(connection, before: event, "")
        over.insert(connection)
        current = nil
      case .webSocket:
        guard event.isCloseFrameOfClient, !closed.contains(connection) else { continue }
        close(connection, before: event, "")
        over.insert(connection)
        current = nil
      case .opened, .gap, .malformed, .handshake: continue
      }
    }
    endHolding(current ?? 0)
  }

  /// What the session's user could do: all that MQTT can, with refusals only in 5.0, or send messages
  /// without topics.
  var capabilities: Capabilities {
    if carriesFrames { return [.frames, .push, .binary] }
    let all: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
    let hasRefusals = events.contains { $0.context.wire.version == .v5_0 }
    return hasRefusals ? all.union(.refusals) : all
  }

  /// Appends an event; actions between CONNECT and CONNACK are held back behind the CONNACK.
  ///
  /// A client may go on before it is accepted (MQTT 3.1.1 section 3.1.4); the CONNACK does not depend on it.
  /// - Returns: Whether the event is held back.
  private mutating func append(_ event: Event) -> Bool {
    let type = event.packetType
    let isEnd = type == .connect || event.isClosing
    if isEnd { endHolding(event.context.connection) }
    if early != nil, event.context.sender == .client, let type, type != .disconnect {
      early?.append(event)
      return true
    }
    events.append(event)
    if type == .connect {
      early = []
    } else if type == .connack, let held = early {
      // What a client sent that was then refused, nobody took.
      if !event.isRefusal { events += held }
      early = nil
    }
    return false
  }

  /// Notes a connection whose CONNACK never came although there are actions behind it.
  private mutating func endHolding(_ connection: Int) {
    if early?.isEmpty == false { unanswered = unanswered ?? connection }
    early = nil
  }

  /// Begins a connection that the events may not open, so that there is a place to connect at.
  private mutating func open(before event: Event) {
    if case .opened = event.body { return }
    var context = event.context
    context.sender = .client
    let opening = ConnectionOpening(
      client: "", server: "", isFromStart: false, firstFrame: context.frame,
      firstTime: context.time)
    events.append(Event(context, .opened(opening)))
  }

  /// Ends a connection whose end the capture does not show before the client goes on.
  private mutating func close(_ connection: Int, before event: Event, _ reason: String) {
    var context = event.context
    context.connection = connection
    context.sender = .client
    let closing = ConnectionClosing(
      how: .reset, firstFrame: context.frame, firstTime: context.time, reason: reason)
    events.append(Event(context, .closed(closing)))
  }
}

extension Event {
  /// The type of the packet, if it is one.
  var packetType: MQTTPacketType? {
    guard case .mqtt(let packet) = body, let first = packet.bytes.first else { return nil }
    return MQTTPacketType(firstByte: first)
  }

  func isFromClient(_ type: MQTTPacketType) -> Bool {
    context.sender == .client && packetType == type
  }

  /// Whether the event is a CONNACK, or the answer to a handshake, that does not accept.
  fileprivate var isRefusal: Bool {
    if case .handshake(let handshake) = body { return handshake.isRefusal }
    guard packetType == .connack else { return false }
    return withView { view in
      guard case .mqtt(let packet) = view.body else { return false }
      return packet.reasonCode ?? 0 != 0
    }
  }

  fileprivate var isClosing: Bool {
    if case .closed = body { true } else { false }
  }

  fileprivate var isClosingOnTheWire: Bool {
    guard case .closed(let closing) = body else { return false }
    return closing.how != .endOfCapture
  }

  /// The client identifier of a CONNECT.
  fileprivate var connectClientID: String? {
    guard isFromClient(.connect) else { return nil }
    return withView { view in
      guard case .mqtt(let packet) = view.body, let connect = packet.connect else { return nil }
      return String(copying: connect.clientID)
    }
  }
}

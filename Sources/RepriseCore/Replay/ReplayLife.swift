import Wire

/// What a session that is replayed is made of.
enum ReplayContent: Sendable {
  /// Messages on topics, in packets of MQTT.
  case messages
  /// Messages without topics, in frames of WebSocket.
  case frames
  /// Requests and answers of HTTP.
  case requests
}

/// Makes one life of a client's connections: one after the other, each with a beginning and an end.
///
/// It takes the client's events as they are read, and knows of each no more than what came before.
struct ReplayLife: Sendable {
  /// What a life is in all.
  struct Totals: Sendable {
    /// How many actions there are.
    var actions = 0
    /// When the first event was.
    var firstTime: Timestamp?
    /// Where the last event stands.
    var lastPlace: ReplayPlace?
    /// Whether MQTT 5.0 is spoken: the server can say what it refuses, and messages have properties.
    var isVersion5 = false
    /// What it is made of.
    var content = ReplayContent.messages
    /// The path of the URL of the server that requests are sent to, as far as the session tells it.
    var requestBase: String?

    /// What the session's user could do: all that MQTT can, or send messages without topics, or requests.
    var capabilities: Capabilities {
      switch content {
      case .frames: return [.frames, .push, .binary]
      case .requests: return [.requests, .binary]
      case .messages: break
      }
      let all: Capabilities = [.messages, .retain, .will, .exactlyOnce, .push, .binary]
      return isVersion5 ? all.union([.refusals, .properties]) : all
    }
  }

  /// More than these can't wait for a CONNACK that is in the session.
  private static let earlyLimit = 65_536

  private(set) var totals = Totals()
  /// A connection that lacks its CONNACK although its client went on; nil when there is none.
  private(set) var unanswered: Int?
  /// The connections whose CONNECT was not captured.
  private var implied: Set<Int> = []
  /// The connection that the client is on.
  private var current: Int?
  /// The DISCONNECT of the client on the connection that it is on.
  private var leaving: EventContext?
  private var over: Set<Int> = []
  /// What a client sent between CONNECT and CONNACK, which no user of the port can do.
  private var early: [Event]?

  /// Notes that the CONNECT of a connection was not captured.
  mutating func imply(_ connection: Int) { implied.insert(connection) }

  /// Takes the client's next event.
  @inline(__always)
  mutating func take(_ event: Event, into entries: inout [ReplayEntry]) {
    if current != event.context.connection {
      guard enter(event, into: &entries) else { return }
    }
    // A client sends nothing behind its DISCONNECT (MQTT 3.1.1 section 3.14.4), and nobody could do it again.
    if leaving != nil, event.context.sender == .client, !event.isClosing { return }
    guard !holdBack(event, into: &entries) else { return }
    if event.isClosing || event.isRefusal {
      leave()
    } else if event.isFromClient(.disconnect) || event.isCloseFrameOfClient {
      leaving = event.context
    }
  }

  /// Takes the end of the session.
  mutating func finish(into entries: inout [ReplayEntry]) {
    endHolding(current ?? 0)
    if let current, let leaving { close(current, at: leaving, "", into: &entries) }
  }

  // MARK: Connections

  /// Goes on to another connection.
  /// - Returns: Whether anything of it counts.
  private mutating func enter(_ event: Event, into entries: inout [ReplayEntry]) -> Bool {
    let connection = event.context.connection
    guard !over.contains(connection) else { return false }
    if let previous = current {
      close(
        previous, at: leaving ?? event.context,
        leaving == nil ? "another connection of the client took its place" : "", into: &entries)
      leave()
    }
    current = connection
    // There has to be a place to connect at, also where the events do not open the connection.
    guard implied.contains(connection) else { return true }
    if case .opened = event.body { return true }
    var context = event.context
    context.sender = .client
    let opening = ConnectionOpening(
      client: "", server: "", isFromStart: false, firstFrame: context.frame,
      firstTime: context.time)
    add(Event(context, .opened(opening)), into: &entries)
    return true
  }

  private mutating func leave() {
    if let current { over.insert(current) }
    current = nil
    leaving = nil
  }

  /// Ends a connection whose end the session does not show before the client goes on.
  private mutating func close(
    _ connection: Int, at place: EventContext, _ reason: String, into entries: inout [ReplayEntry]
  ) {
    var context = place
    context.connection = connection
    context.sender = .client
    let closing = ConnectionClosing(
      how: .reset, firstFrame: context.frame, firstTime: context.time, reason: reason)
    add(Event(context, .closed(closing)), into: &entries)
  }

  // MARK: Order

  /// Adds an event; actions between CONNECT and CONNACK are held back behind the CONNACK.
  ///
  /// A client may go on before it is accepted (MQTT 3.1.1 section 3.1.4); the CONNACK does not depend on it.
  /// - Returns: Whether the event is held back.
  @inline(__always)
  private mutating func holdBack(_ event: Event, into entries: inout [ReplayEntry]) -> Bool {
    let type = event.packetType
    if type == .connect || event.isClosing { endHolding(event.context.connection) }
    if let count = early?.count, event.context.sender == .client, let type, type != .disconnect {
      if count < Self.earlyLimit {
        early?.append(event)
      } else {
        endHolding(event.context.connection)
      }
      return true
    }
    add(event, into: &entries)
    if type == .connect {
      early = []
    } else if type == .connack, let held = early {
      // What a client sent that was then refused, nobody took; nor does anybody send behind a DISCONNECT.
      if !event.isRefusal, leaving == nil { for event in held { add(event, into: &entries) } }
      early = nil
    }
    return false
  }

  /// Notes a connection whose CONNACK never came although there are actions behind it.
  private mutating func endHolding(_ connection: Int) {
    if early?.isEmpty == false { unanswered = unanswered ?? connection }
    early = nil
  }

  @inline(__always)
  private mutating func add(_ event: Event, into entries: inout [ReplayEntry]) {
    if totals.firstTime == nil {
      totals.firstTime = event.attempt?.firstTime ?? event.context.time
    }
    totals.lastPlace = ReplayPlace(event.context)
    switch event.context.wire {
    case .mqtt(let version), .mqttInferred(let version):
      if version == .v5_0 { totals.isVersion5 = true }
    case .mqttUndetermined: break
    case .webSocket: if event.isOfFrames { totals.content = .frames }
    case .http, .tls: break
    }
    if let beginning = event.beginningOfAttempt {
      totals.actions += 1
      entries.append(ReplayEntry(beginning, .action))
    }
    let role = event.role(implied)
    if case .nothing = role { return }
    if case .action = role { totals.actions += 1 }
    entries.append(ReplayEntry(event, role))
  }

  // MARK: Most packets

  /// Whether a packet in the middle of a connection would only be added.
  @inline(__always)
  func isSteady(on connection: Int) -> Bool {
    current == connection && early == nil && leaving == nil
  }

  /// Adds a whole packet in the middle of a connection, without a copy where none is needed.
  /// - Parameters:
  ///   - event: The event of the packet.
  ///   - role: Its role.
  ///   - entries: Where it is added.
  ///   - isKept: Whether it is added indeed, or counted only.
  @inline(__always)
  mutating func add(
    _ event: borrowing EventView, _ role: ReplayEventRole, into entries: inout [ReplayEntry],
    isKept: Bool
  ) {
    totals.lastPlace = ReplayPlace(event.context)
    if case .nothing = role { return }
    if case .action = role { totals.actions += 1 }
    if isKept { entries.append(ReplayEntry(Event(copying: event), role)) }
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
    switch body {
    case .closed, .attempted: true
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http, .tls: false
    }
  }
}

// What never was a connection: asked for at one time, told of at another, and nothing between.
extension Event {
  /// The attempt, if the event is one.
  var attempt: ConnectionAttempt? {
    if case .attempted(let attempt) = body { attempt } else { nil }
  }

  /// The action that an attempt began with; nil for other events.
  fileprivate var beginningOfAttempt: Event? {
    guard let attempt else { return nil }
    var beginning = attemptedConnect ?? self
    beginning.context.time = attempt.firstTime
    return beginning
  }

  /// The CONNECT of an attempt, as if it had been sent; nil for other events.
  var attemptedConnect: Event? {
    attempt?.connect.map { Event(context, .mqtt($0)) }
  }
}

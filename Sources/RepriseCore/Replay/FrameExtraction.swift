import Wire

/// Takes the events of a session as they are read, and hands on the life of a client on connections of
/// WebSocket that carry no MQTT.
///
/// What is handed on is what a user of the port knows: handshakes, whole messages, the Close frame that
/// began the end, and what is missing. Fragments are joined, and messages are inflated.
struct FrameExtraction: Sendable {
  /// What is known of a connection.
  private struct Connection {
    var fromClient = WebSocketAssembler(limit: FrameExtraction.messageLimit)
    var fromServer = WebSocketAssembler(limit: FrameExtraction.messageLimit)
    /// What came before it was known whether the handshake was captured; nil from then on.
    var held: [Event]? = []
    var hasRequest = false
    var hasResponse = false
    /// Whether a Close frame came; the other side's is the answer to it (RFC 6455 section 5.5.1).
    var isClosing = false
    var isOver = false
  }

  /// The longest message that is put together, in bytes.
  private static let messageLimit = 64 << 20
  /// How many connections an error names.
  private static let shownLimit = 20

  private let selection: ReplaySelection
  private var window: ReplayWindow
  private var connections: [Int: Connection] = [:]
  private(set) var life = ReplayLife()
  /// The connections of which something is replayed.
  private var seen: Set<Int> = []
  /// The one of them that was seen first last.
  private var newest: Int?
  private var isInterleaved = false
  /// The highest frame that an event had.
  private(set) var lastFrame = 0
  /// The first connections that could have been chosen and were not.
  private var others: [Int] = []
  /// A connection that lacks the answer to its handshake although its client went on.
  private var unanswered: Int?

  init(_ selection: ReplaySelection, within window: ReplayWindow) {
    self.selection = selection
    self.window = window
  }

  /// Whether there is anything to replay.
  var hasContent: Bool { !seen.isEmpty }

  /// Takes the next event of the session, and adds what follows from it to a life.
  mutating func take(_ event: borrowing EventView, into entries: inout [ReplayEntry]) {
    let context = event.context
    let isInside = window.contains(context.time)
    guard context.wire == .webSocket else { return }
    guard selection.takesUnnamed(context.connection) else { return noteOther(event) }
    lastFrame = max(lastFrame, context.frame)
    guard !isHopeless else { return noteOnly(event, isInside) }
    var connection = connections.removeValue(forKey: context.connection) ?? Connection()
    defer { connections[context.connection] = connection }
    guard !connection.isOver, let kept = Self.keep(event, &connection), isInside else { return }
    let isAttempt = kept.attempt != nil
    if case .closed = kept.body { end(&connection) }
    if isAttempt { end(&connection) }
    if case .webSocket = kept.body, connection.hasRequest, !connection.hasResponse {
      unanswered = unanswered ?? context.connection
    }
    guard var held = connection.held else { return add(kept, into: &entries) }
    held.append(kept)
    guard kept.isOfFrames else {
      connection.held = held
      return
    }
    connection.held = nil
    connection.hasRequest = kept.isUpgrade
    if !kept.isUpgrade, !isAttempt { life.imply(context.connection) }
    for event in held { add(event, into: &entries) }
  }

  /// Takes the end of the session.
  mutating func finish(into entries: inout [ReplayEntry]) { life.finish(into: &entries) }

  private mutating func add(_ event: Event, into entries: inout [ReplayEntry]) {
    let number = event.context.connection
    if number != newest {
      // The end of one may be seen behind the beginning of the next one.
      if seen.insert(number).inserted {
        newest = number
      } else if event.isOfFrames {
        isInterleaved = true
      }
    }
    life.take(event, into: &entries)
  }

  /// Whether ``check()`` throws whatever comes, so that nothing but the connections' numbers is of use.
  private var isHopeless: Bool { isInterleaved && selection == .only }

  /// Notes that there is a connection that could be chosen, and lets go of the messages that are under way.
  private mutating func noteOnly(_ event: borrowing EventView, _ isInside: Bool) {
    connections = [:]
    if isInside, Self.isOfFrames(event) { seen.insert(event.context.connection) }
  }

  /// Notes a connection that was not chosen, as long as there are few.
  private mutating func noteOther(_ event: borrowing EventView) {
    let number = event.context.connection
    guard others.count <= Self.shownLimit, others.last != number, Self.isOfFrames(event),
      !others.contains(number)
    else { return }
    others.append(number)
  }

  /// Whether an event is one of a connection that could be chosen.
  private static func isOfFrames(_ event: borrowing EventView) -> Bool {
    switch event.body {
    case .opened, .closed, .gap, .malformed, .mqtt, .http, .tls: return false
    case .attempted: return true
    case .webSocket(let frame):
      guard case .unknown = frame.cargo else { return false }
      return true
    case .handshake: return true
    }
  }

  /// Lets go of what a connection does not need any more.
  private func end(_ connection: inout Connection) {
    connection.isOver = true
    connection.fromClient = WebSocketAssembler(limit: 0)
    connection.fromServer = WebSocketAssembler(limit: 0)
  }

  // MARK: Events

  /// Returns what a replay needs of an event.
  private static func keep(
    _ event: borrowing EventView, _ connection: inout Connection
  ) -> Event? {
    switch event.body {
    case .opened, .closed, .attempted, .gap, .malformed, .handshake(.request):
      return Event(copying: event)
    case .handshake(.response):
      connection.hasResponse = true
      return Event(copying: event)
    case .mqtt, .http, .tls: return nil
    case .webSocket(let frame):
      guard case .unknown = frame.cargo else { return nil }
      return keep(frame, event.context, &connection)
    }
  }

  private static func keep(
    _ frame: borrowing WebSocketFrameView, _ context: EventContext, _ connection: inout Connection
  ) -> Event? {
    if frame.opcode == .close {
      defer { connection.isClosing = true }
      return connection.isClosing
        ? nil : Event(context, .webSocket(WebSocketFrame(copying: frame)))
    }
    let message =
      switch context.sender {
      case .client: connection.fromClient.take(frame)
      case .server: connection.fromServer.take(frame)
      }
    guard let message else { return nil }
    guard message.isComplete else {
      let malformation = Malformation(
        code: "incomplete-message", offset: 0, message: "a message that is not there as a whole")
      return Event(context, .malformed(malformation))
    }
    let whole = WebSocketFrame(
      message.isText ? .text : .binary, message.data, maskingKey: frame.header.maskingKey)
    return Event(context, .webSocket(whole))
  }

  // MARK: Errors

  /// Why there is nothing to replay; nil when there are no connections without MQTT either.
  var notFound: DataClientError? {
    guard !others.isEmpty else { return nil }
    let more = others.count > Self.shownLimit ? ", …" : ""
    let known = others.prefix(Self.shownLimit).map(String.init).joined(separator: ", ") + more
    let what =
      switch selection {
      case .only: "nothing to replay"
      case .connection(let number): "no connection \(number) with messages"
      case .client(let name): "no client \"\(name)\", as only MQTT gives names"
      }
    return DataClientError(
      .unreadable,
      "the session has \(what); choose a connection of WebSocket by its number: \(known)")
  }

  /// Checks that it is the life of one client, and that both sides of it are there.
  /// - Throws: ``DataClientError`` when several connections are open at a time, or half of one is missing.
  func check() throws(DataClientError) {
    if selection == .only, isInterleaved {
      throw DataClientError(
        .unreadable,
        "the session has several WebSocket connections at a time; choose one: connection "
          + seen.sorted().map(String.init).joined(separator: ", "))
    }
    guard let unanswered else { return }
    throw DataClientError(
      .unreadable,
      "connection \(unanswered) has no answer to its handshake although its client goes on: what the "
        + "server sent is not in the session; capture both directions")
  }
}

import Wire

/// Gathers the connections of a session that carry messages of WebSocket and no MQTT.
///
/// What is kept of them is what a user of the port knows: handshakes, whole messages, the Close frame that
/// began the end, and what is missing. Fragments are joined, and messages are inflated.
struct FrameEvents: Sendable {
  /// What is known of a connection.
  private struct Connection {
    var fromClient = WebSocketAssembler(limit: FrameEvents.messageLimit)
    var fromServer = WebSocketAssembler(limit: FrameEvents.messageLimit)
    var hasRequest = false
    var hasResponse = false
    var hasMessages = false
    /// Whether a Close frame came; the other side's is the answer to it (RFC 6455 section 5.5.1).
    var isClosing = false
    /// Whether it carries MQTT, whose packets are replayed instead.
    var carriesMQTT = false
  }

  /// The longest message that is put together, in bytes.
  private static let messageLimit = 64 << 20

  private let selection: ReplaySelection
  private var window: ReplayWindow
  private var connections: [Int: Connection] = [:]
  private var events: [Event] = []

  init(of selection: ReplaySelection, within window: ReplayWindow) {
    self.selection = selection
    self.window = window
  }

  /// Takes the next event of the session.
  mutating func take(_ event: borrowing EventView) {
    let context = event.context
    let isInside = window.contains(context.time)
    guard isWanted(context.connection) else { return }
    if case .mqtt = event.body {
      if context.over == .webSocket { connections[context.connection]?.carriesMQTT = true }
      return
    }
    guard context.wire == .webSocket else { return }
    var connection = connections[context.connection] ?? Connection()
    let kept = Self.keep(event, &connection)
    if isInside, let kept { events.append(kept) }
    // A handshake before the time that was asked for opens no connection in it.
    if !isInside { (connection.hasRequest, connection.hasResponse) = (false, false) }
    connections[context.connection] = connection
  }

  private func isWanted(_ connection: Int) -> Bool {
    switch selection {
    case .only: true
    case .connection(let number): number == connection
    // Only MQTT gives its clients names.
    case .client: false
    }
  }

  /// Returns what a replay needs of an event.
  private static func keep(
    _ event: borrowing EventView, _ connection: inout Connection
  ) -> Event? {
    switch event.body {
    case .opened, .closed, .gap, .malformed: return Event(copying: event)
    case .mqtt: return nil
    case .handshake(.request): connection.hasRequest = true
    case .handshake(.response): connection.hasResponse = true
    case .webSocket(let frame):
      switch frame.cargo {
      case .unknown: return keep(frame, event.context, &connection)
      case .mqtt, .mqttConcealed:
        connection.carriesMQTT = true
        return nil
      }
    }
    return Event(copying: event)
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
    connection.hasMessages = true
    guard message.isComplete else {
      let malformation = Malformation(
        code: "incomplete-message", offset: 0, message: "a message that is not there as a whole")
      return Event(context, .malformed(malformation))
    }
    let whole = WebSocketFrame(
      message.isText ? .text : .binary, message.data, maskingKey: frame.header.maskingKey)
    return Event(context, .webSocket(whole))
  }

  // MARK: The life

  /// Returns the chosen connections, one after the other; nil when there are none with messages.
  /// - Throws: ``DataClientError`` when several are open at a time, or half of one is missing.
  func life() throws(DataClientError) -> ReplayLife? {
    let chosen = connections.filter { !$0.value.carriesMQTT }
    let kept = events.filter { chosen[$0.context.connection] != nil }
    guard chosen.values.contains(where: { $0.hasMessages || $0.hasRequest }) else { return nil }
    try checkOrder(kept)
    for (number, connection) in chosen.sorted(by: { $0.key < $1.key })
    where connection.hasRequest && !connection.hasResponse && connection.hasMessages {
      throw DataClientError(
        .unreadable,
        "connection \(number) has no answer to its handshake although its client goes on: what the "
          + "server sent is not in the session; capture both directions")
    }
    let opened = chosen.filter(\.value.hasRequest).map(\.key)
    return ReplayLife(kept, connected: Set(opened), carriesFrames: true)
  }

  private func checkOrder(_ events: [Event]) throws(DataClientError) {
    var seen: [Int] = []
    for event in events where event.context.connection != seen.last {
      guard seen.contains(event.context.connection) else {
        seen.append(event.context.connection)
        continue
      }
      // The end of one may be seen behind the beginning of the next one.
      if case .closed = event.body { continue }
      throw DataClientError(
        .unreadable,
        "the session has several WebSocket connections at a time; choose one: connection "
          + Set(seen).sorted().map(String.init).joined(separator: ", "))
    }
  }
}

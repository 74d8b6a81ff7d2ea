import DeviceSDK
import RepriseCore

/// What a plan has to know of a session of WebSocket, gathered in one walk through it.
struct RecordedFrames: Sendable {
  /// Something that the recorded client did; its place in the list is its number.
  struct Action: Sendable {
    let kind: ClientAction.Kind
    let time: Timestamp
  }

  /// One connection that was opened.
  struct Connection: Sendable {
    /// Whether it was open before the capture began.
    let isImplied: Bool
    /// When its heartbeats were sent.
    var beats: [Timestamp] = []
    /// Whether a heartbeat is the first thing that was sent on it.
    var beatsFirst: Bool?
    var lastTime: Timestamp
  }

  /// What the parts of its messages are called.
  let envelope: RequestEnvelope
  private(set) var actions: [Action] = []
  private(set) var connections: [Connection] = []
  /// The shortest time between the loss of a connection and the next try; nil when there was none.
  private(set) var shortestPause: Duration?
  /// Whether the session ends while its last connection is open.
  private(set) var breaksOff = false
  /// How long the server took at most to say whether there is a connection, and to say goodbye.
  private(set) var patience = RecordedPatience()
  private var lostAt: Timestamp?
  private var isOpen = false

  init(_ dialogue: ReplayDialogue, in envelope: RequestEnvelope) {
    self.envelope = envelope
    for step in dialogue {
      switch step.content {
      case .action(let action): take(action.kind, step)
      case .event(let event): take(event, step.place.time)
      }
    }
  }

  private mutating func take(_ kind: ClientAction.Kind, _ step: ReplayDialogue.Step) {
    let time = step.place.time
    actions.append(Action(kind: kind, time: time))
    switch kind {
    case .connect:
      breaksOff = true
      patience.noteTry(time)
      if let lostAt {
        let pause = Duration.nanoseconds(max(0, time.nanoseconds(since: lostAt)))
        shortestPause = min(shortestPause ?? pause, pause)
      }
      lostAt = nil
      connections.append(Connection(isImplied: step.isImplied, lastTime: time))
    case .sendText(let text): takeText(text, time)
    case .disconnect:
      patience.noteGoodbye(time)
      note(time)
    case .sendBinary, .publish, .subscribe, .unsubscribe, .send: note(time)
    }
  }

  private mutating func takeText(_ text: String, _ time: Timestamp) {
    note(time)
    guard let last = connections.indices.last else { return }
    let isBeat = request(text)?.isHeartbeat == true
    connections[last].beatsFirst = connections[last].beatsFirst ?? isBeat
    if isBeat { connections[last].beats.append(time) }
  }

  private mutating func take(_ event: ClientEvent, _ time: Timestamp) {
    if case .connected = event {
      isOpen = true
      patience.noteAnswer(time)
    }
    guard case .closed(let reason) = event else { return note(time) }
    // A try that came to nothing is no connection.
    if isOpen { note(time) } else { _ = connections.popLast() }
    isOpen = false
    patience.noteAnswer(time)
    breaksOff = false
    lostAt = reason == .byUser ? nil : time
  }

  /// Reads a message of the client; nil when it is no request.
  func request(_ text: String) -> RecordedRequest? { RecordedRequest(text, in: envelope) }

  private mutating func note(_ time: Timestamp) {
    if let last = connections.indices.last { connections[last].lastTime = time }
  }

  // MARK: Heartbeats

  /// Whether the connection or the application sends the heartbeats of a session, and how often.
  enum Heartbeats: Sendable, Hashable {
    /// There are none.
    case none
    /// The connection does, at least as often as this, and so much later at most.
    case ofConnection(every: Duration, late: Duration)
    /// The application must have, as they do not come as a connection sends them.
    case ofApplication
  }

  var heartbeats: Heartbeats {
    guard connections.contains(where: { !$0.beats.isEmpty }) else { return .none }
    guard connections.allSatisfy({ !$0.isImplied && $0.beatsFirst != false }) else {
      return .ofApplication
    }
    let gaps = connections.flatMap { connection in
      zip(connection.beats, connection.beats.dropFirst()).map { $1.nanoseconds(since: $0) }
    }
    // How long it was silent after the last one.
    let rests = connections.compactMap { connection in
      connection.beats.last.map { connection.lastTime.nanoseconds(since: $0) }
    }
    let longestRest = rests.max() ?? 0
    guard let shortest = gaps.min(), let longest = gaps.max() else {
      let standard = Duration.seconds(15)
      return .ofConnection(
        every: max(standard, .nanoseconds(longestRest) + .seconds(1)), late: .zero)
    }
    let late = longest - shortest
    guard shortest > 1_000_000, late <= shortest / 4, longestRest <= longest + shortest / 4 else {
      return .ofApplication
    }
    return .ofConnection(every: .nanoseconds(shortest), late: .nanoseconds(late + shortest / 4))
  }
}

/// A text message of a client that is a request: an envelope with a service and an identifier.
struct RecordedRequest: Sendable {
  let service: String
  let product: String?
  let method: RequestMethod?
  /// The parameters; nil when there are none, or they are no object.
  let parameters: JSONValue?
  let isHeartbeat: Bool

  /// Reads a message; nil when it is no request.
  init?(_ text: String, in envelope: RequestEnvelope) {
    guard let value = JSONValue(parsing: Array(text.utf8)),
      let service = value[envelope.service]?.text, value[envelope.id]?.identifier != nil
    else { return nil }
    self.service = service
    product = value[envelope.product]?.text
    method = (value[envelope.method]?.text).flatMap(RequestMethod.init)
    let content = value[envelope.content]
    isHeartbeat = service == envelope.heartbeat && content == nil
    let object = (content?.text).map { JSONValue(parsing: Array($0.utf8)) } ?? content
    if case .object? = object { parameters = object } else { parameters = nil }
  }
}

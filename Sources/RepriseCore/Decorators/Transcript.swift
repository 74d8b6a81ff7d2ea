import Wire

/// Writes down what a client does and gets as the events of a session that it stands for.
protocol Transcript: Sendable {
  /// What numbers the events.
  var pen: TranscriptPen { get set }

  /// The connection that is wanted, as long as nobody knows whether it came to be.
  var wanted: WantedConnection? { get set }

  /// Forgets what a connection that is asked for has no use of.
  mutating func prepare(_ options: ConnectOptions)

  /// Returns the CONNECT that a connection would begin with; nil where it is no packet.
  func connectPacket(_ options: ConnectOptions) -> PacketBytes?

  /// Returns what the client sends to begin a connection.
  mutating func greeting(_ options: ConnectOptions, at time: Timestamp) -> Event

  /// Returns what the client sends to leave a connection.
  mutating func farewell(at time: Timestamp) -> [Event]

  /// Returns the events that an action on a connection stands for.
  mutating func tell(_ action: ClientAction, at time: Timestamp) -> [Event]

  /// Returns the events that an event of a connection stands for; nothing for those that are no traffic.
  mutating func tell(_ event: ClientEvent, at time: Timestamp) -> [Event]

  /// Returns the events that the end of a connection stands for.
  mutating func tell(_ closed: ClientEvent.Closed, at time: Timestamp) -> [Event]
}

extension Transcript {
  /// Returns the end of the recording: of a connection that is open then, or of one that was wanted.
  mutating func finish(at time: Timestamp) -> [Event] {
    attempt(.endOfCapture, at: time).map { [$0] } ?? pen.finish(at: time)
  }

  /// Lets the recording go on in another file, whose lines and connections are counted anew.
  /// - Parameter time: When the one file ends and the other begins.
  /// - Returns: The last events of the one, and the first ones of the other.
  mutating func divide(at time: Timestamp) -> (end: [Event], start: [Event]) {
    pen.divide(at: time)
  }
}

/// A connection that a client asked for and of which nobody knows yet whether it came to be.
///
/// The port tells that by the outcome alone, so what begins the connection is held back until then: OPEN stands for
/// a connection, and CONNECT for bytes that were sent.
struct WantedConnection: Sendable {
  /// How the client wants to connect.
  let options: ConnectOptions
  /// When it asked for the connection.
  let time: Timestamp
  /// When it wanted to leave again.
  var leavesAt: Timestamp?
}

extension Transcript {
  /// Returns the events that an action stands for.
  mutating func take(_ action: ClientAction, at time: Timestamp) -> [Event] {
    switch action.kind {
    case .connect(let options):
      prepare(options)
      wanted = WantedConnection(options: options, time: time)
      return []
    case .disconnect:
      guard wanted == nil else {
        wanted?.leavesAt = time
        return []
      }
      return farewell(at: time)
    case .subscribe, .unsubscribe, .publish, .send, .sendText, .sendBinary:
      let beginning = begin()
      return beginning + tell(action, at: time)
    }
  }

  /// Returns the events that an event of the port stands for; nothing for those that are no traffic.
  mutating func take(_ event: ClientEvent, at time: Timestamp) -> [Event] {
    switch event {
    case .closed(let closed): return close(closed, at: time)
    case .deadline, .woken, .ended: return []
    case .connected, .subscribed, .unsubscribed, .published, .message, .text, .binary, .response,
      .failed:
      let beginning = begin()
      return beginning + tell(event, at: time)
    }
  }

  /// Returns the beginning of the wanted connection, which evidently came to be.
  private mutating func begin() -> [Event] {
    guard let wanted else { return [] }
    self.wanted = nil
    let events = [pen.open(at: wanted.time), greeting(wanted.options, at: wanted.time)]
    guard let time = wanted.leavesAt else { return events }
    return events + farewell(at: time)
  }

  /// Returns the outcome of the wanted connection, which is not known to have come to be; nil when there is none.
  private mutating func attempt(
    _ how: ConnectionAttempt.How, saying reason: String? = nil,
    because cause: ClientEvent.Closed.Cause = .other, at time: Timestamp
  ) -> Event? {
    guard let wanted else { return nil }
    self.wanted = nil
    return pen.attempt(
      how, since: wanted.time, connectPacket(wanted.options), saying: reason, because: cause,
      at: time)
  }

  private mutating func close(_ closed: ClientEvent.Closed, at time: Timestamp) -> [Event] {
    let outcome: Event? =
      switch closed {
      case .unreached(let reason, let cause):
        attempt(.failed, saying: reason, because: cause, at: time)
      case .byUser:
        attempt(
          .givenUp, saying: "the client left before the server had answered", at: time)
      case .refused, .byServer, .lost: nil
      }
    if let outcome { return [outcome] }
    let beginning = begin()
    return pen.isOpen ? beginning + tell(closed, at: time) : beginning
  }
}

/// Gives events their lines and connections, and opens and closes the latter.
struct TranscriptPen: Sendable {
  private let server: String
  private let wire: WireProtocol
  private let carrier: Carrier?
  /// The line of the last event; the header is the first one.
  private var frame = 1
  private var connection = 0
  /// Whether there is a connection.
  private(set) var isOpen = false

  /// Creates the pen of a client.
  /// - Parameters:
  ///   - server: The URL that it talks to.
  ///   - wire: What it speaks.
  ///   - carrier: What the packets of that are carried by; nil for TCP itself.
  init(server: String, wire: WireProtocol, over carrier: Carrier? = nil) {
    self.server = server
    self.wire = wire
    self.carrier = carrier
  }

  /// Returns the event that begins the next connection.
  mutating func open(at time: Timestamp) -> Event {
    connection += 1
    isOpen = true
    return opening(isFromStart: true, time)
  }

  /// Returns the event of a connection that did not come to be; it has a number all the same.
  mutating func attempt(
    _ how: ConnectionAttempt.How, since start: Timestamp, _ connect: PacketBytes?,
    saying reason: String?, because cause: ClientEvent.Closed.Cause, at time: Timestamp
  ) -> Event {
    connection += 1
    let attempt = ConnectionAttempt(
      how: how, server: server, firstTime: start, connect: connect, reason: reason, cause: cause)
    return make(.attempted(attempt), from: .client, at: time)
  }

  /// Returns an event of the connection.
  mutating func make(_ body: Event.Body, from sender: Peer, at time: Timestamp) -> Event {
    frame += 1
    let context = EventContext(
      time: time, frame: frame, connection: connection, sender: sender, wire: wire, over: carrier)
    return Event(context, body)
  }

  /// Returns the event that ends the connection.
  mutating func close(
    _ how: ConnectionClosing.How, by sender: Peer, saying reason: String? = nil,
    at time: Timestamp
  ) -> Event {
    isOpen = false
    let closing = ConnectionClosing(
      how: how, firstFrame: frame + 1, firstTime: time, reason: reason)
    return make(.closed(closing), from: sender, at: time)
  }

  /// Returns the end of the recording, if a connection is open then.
  mutating func finish(at time: Timestamp) -> [Event] {
    isOpen ? [close(.endOfCapture, by: .client, at: time)] : []
  }

  /// Goes on in another file.
  mutating func divide(at time: Timestamp) -> (end: [Event], start: [Event]) {
    let wasOpen = isOpen
    let end = finish(at: time)
    isOpen = wasOpen
    frame = 1
    connection = wasOpen ? 1 : 0
    return (end, wasOpen ? [opening(isFromStart: false, time)] : [])
  }

  private mutating func opening(isFromStart: Bool, _ time: Timestamp) -> Event {
    let opening = ConnectionOpening(
      client: "client", server: server, isFromStart: isFromStart, firstFrame: frame + 1,
      firstTime: time, hasPings: wire == .http)
    return make(.opened(opening), from: .client, at: time)
  }
}

extension DataClient {
  /// What writes the client's session down: in packets of MQTT, in frames when it has no topics, or in messages of
  /// HTTP when it knows requests only.
  /// - Parameters:
  ///   - url: What the client talks to, without a password.
  ///   - version: The version of MQTT that the client speaks; nil tells it from what the client can do.
  /// - Returns: The transcript, of nothing yet.
  func transcript(
    to url: String, speaking version: MQTTVersion?
  ) -> any Transcript {
    if version == nil, capabilities.contains(.frames), !capabilities.contains(.messages) {
      return FrameTranscript(server: url)
    }
    if version == nil, capabilities.contains(.requests),
      capabilities.isDisjoint(with: [.messages, .frames])
    {
      return RequestTranscript(server: url)
    }
    // Only 5.0 has words for refusals.
    let spoken: MQTTVersion = capabilities.contains(.refusals) ? .v5_0 : .v3_1_1
    return MessageTranscript(server: url, version: version ?? spoken)
  }
}

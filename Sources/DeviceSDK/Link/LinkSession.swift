import RepriseCore

/// One link's way through MQTT sessions, from CONNECT over the greeting to the end, without any policy.
///
/// It says what happened, and leaves it to the machine of the service what that means. So it has no keeper of its
/// connection either: when a link tries, waits, is suspended and gives up, its table says row by row, and with a keeper two
/// would decide it.
struct LinkSession: Sendable {
  /// What happened, as the service's machine sees it.
  enum Happening: Sendable {
    /// The topics are granted, or not; the greeting is to be sent.
    case ready([QoS?])
    /// The server accepted the greeting.
    case opened(LinkReply)
    /// Server or broker say no, and would say so again.
    case rejected(LinkRejection)
    /// It did not open; the next try may.
    case failed(String)
    /// It was open, and nobody answers heartbeats.
    case silenced
    /// It was open, and broke.
    case lost(String)
    /// It is closed, as it was to be.
    case closed
    /// The server answered a request.
    case replied(CallID, LinkReply)
    /// The broker did what a call needed, and granted this.
    case done(CallID, [QoS?])
    /// The client did not take what a call needed.
    case refused(CallID, DataClientError)
    /// The server throws the user out.
    case kicked(LinkRejection)
    /// The server lists users.
    case snapshot([UInt8])
    /// The server tells of topics of a stream channel.
    case topics([UInt8])
    /// A message of a channel came.
    case arrived(Message)
    /// The world has no more events.
    case ended
  }

  enum Phase: Sendable {
    case none
    case connecting(ClientAction.ID, until: Timestamp)
    case subscribing(ClientAction.ID, until: Timestamp)
    case greeting(ClientAction.ID?, request: UInt64, until: Timestamp)
    case open
    case closing(Closing)
    case ended
  }

  /// A connection on its way out.
  struct Closing: Sendable {
    let action: ClientAction.ID
    /// When the end is no longer waited for.
    var until: Timestamp?
    /// Until when a new connection, which has to wait for the end of this one, must be open.
    var reopensUntil: Timestamp?
  }

  /// What an open action is for.
  enum Purpose: Sendable {
    /// A call, which goes on when it is done.
    case call(CallID)
    /// The carrying of a request, which is answered by the server.
    case request(UInt64)
  }

  let topics: LinkTopics
  let interval: Duration
  let attemptTimeout: Duration
  let closeTimeout: Duration
  let options: ConnectOptions

  var phase = Phase.none
  var heartbeat: LinkHeartbeat?
  var filters: [Subscription] = []
  /// What the client is to do, in this order.
  var actions: [ClientAction] = []
  var purposes = ActionBook<Purpose>()
  /// The calls that wait for the server, by the number of the request.
  var requests: [UInt64: CallID] = [:]
  private var lastRequest: UInt64 = 0

  init(_ topics: LinkTopics, every interval: Duration, _ configuration: LinkConfiguration) {
    self.topics = topics
    self.interval = interval
    attemptTimeout = configuration.attemptTimeout
    closeTimeout = configuration.closeTimeout
    // The server notices silence by itself; the broker's own limit comes later.
    let seconds = interval.components.seconds + LinkHeartbeat.grace.components.seconds
    options = ConnectOptions(
      clientID: topics.base, keepAlive: UInt16(clamping: seconds),
      username: configuration.userID,
      will: configuration.leavesWill
        ? Message(topic: topics.lost, payload: [], qos: .atLeastOnce) : nil)
  }

  /// Whether a connection is there, or on its way in, or its end is waited for.
  var isThere: Bool {
    switch phase {
    case .none, .ended: false
    case .connecting, .subscribing, .greeting, .open: true
    case .closing(let closing): closing.until != nil
    }
  }

  /// When the session wants to be asked again if nothing happens before.
  var deadline: Timestamp? {
    switch phase {
    case .none, .ended: nil
    case .connecting(_, let until), .subscribing(_, let until), .greeting(_, _, let until): until
    case .open: heartbeat?.deadline
    case .closing(let closing): earlier(closing.until, closing.reopensUntil)
    }
  }

  // MARK: Opening and closing

  /// Opens a connection; one that is there is closed first.
  mutating func open(_ filters: [Subscription], now: Timestamp) {
    self.filters = filters
    let until = now.advanced(by: attemptTimeout)
    close(now: now)
    switch phase {
    case .closing(var closing):
      closing.reopensUntil = until
      phase = .closing(closing)
    case .none: connect(until: until)
    case .connecting, .subscribing, .greeting, .open, .ended: break
    }
  }

  mutating func connect(until: Timestamp) {
    phase = .connecting(perform(.connect(options)), until: until)
  }

  /// Says who the user is, on a connection that is ready for it.
  mutating func greet(_ verb: LinkVerb, _ members: [JSONMember]) {
    guard case .greeting(_, _, let until) = phase else { return }
    let action = send(verb, members)
    phase = .greeting(action, request: lastRequest, until: until)
  }

  /// Closes the connection, with a word to the server if it is open.
  mutating func close(farewell: LinkVerb? = nil, now: Timestamp) {
    switch phase {
    case .none, .ended: return
    case .closing(var closing):
      closing.reopensUntil = nil
      phase = .closing(closing)
      return
    case .open:
      if let farewell { publish(farewell, Array("{}".utf8)) }
    case .connecting, .subscribing, .greeting: break
    }
    forgetAll()
    let action = perform(.disconnect)
    phase = .closing(Closing(action: action, until: now.advanced(by: closeTimeout)))
  }

  // MARK: For calls

  /// Has the broker do something that a call needs.
  mutating func perform(_ kind: ClientAction.Kind, for call: CallID) {
    perform(kind, for: .call(call))
  }

  /// Asks the server for something that a call needs.
  mutating func request(_ verb: LinkVerb, _ members: [JSONMember], for call: CallID) {
    let action = send(verb, members)
    purposes[action] = .request(lastRequest)
    requests[lastRequest] = call
  }

  /// Asks the server for something that nobody waits for.
  mutating func tell(_ verb: LinkVerb, _ members: [JSONMember]) { send(verb, members) }

  /// Forgets what a call waits for.
  mutating func forget(_ call: CallID) {
    for (request, other) in requests where other == call { requests[request] = nil }
    for (action, purpose) in purposes.purposes {
      if case .call(call) = purpose { purposes[action] = nil }
    }
  }

  // MARK: Actions

  @discardableResult
  private mutating func send(_ verb: LinkVerb, _ members: [JSONMember]) -> ClientAction.ID {
    lastRequest += 1
    let object = JSONValue.object([JSONMember("id", .string(String(lastRequest)))] + members)
    return publish(verb, object.utf8)
  }

  @discardableResult
  private mutating func publish(_ verb: LinkVerb, _ payload: [UInt8]) -> ClientAction.ID {
    perform(.publish(Message(topic: topics.up(verb), payload: payload, qos: .atLeastOnce)))
  }

  @discardableResult
  mutating func perform(_ kind: ClientAction.Kind, for purpose: Purpose? = nil) -> ClientAction.ID {
    let id = purposes.open(for: purpose)
    actions.append(ClientAction(id, kind))
    return id
  }
}

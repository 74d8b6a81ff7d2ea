import Wire

/// The world of one recorded client, as a value without a clock and without tasks.
///
/// Two positions walk through the life. `acted` stands before the first action that was not performed, and
/// `position` behind the last event that was handed out. What the server sent is handed out only when
/// `acted` is beyond every action before it: that is causality. Performing may run ahead of handing out.
struct ReplayMachine {
  /// What ``advance(to:)`` found.
  enum Step {
    /// Something for the user.
    case event(ClientEvent)
    /// Time has to pass first; asked again at that time there is something.
    case sleep(until: Timestamp)
    /// It has to be this client's turn first.
    case turn(SharedWorld.Turn)
    /// An action is due that somebody else may perform.
    case wait
  }

  /// The connection as the user knows it.
  enum Link: Sendable {
    case closed, connecting, open, leaving
  }

  var stream: ReplayStream
  let options: ReplayOptions
  private let tolerance: Int64
  let isPaced: Bool
  /// Whether time is shared with other clients.
  let takesTurns: Bool
  /// The turn that it is, until it is used.
  var turn: SharedWorld.Turn?

  var now: Timestamp
  /// The time of what was handed out or performed last; `now` is that of an action, too, that is waited for.
  var heard: Timestamp
  /// Where the next event to hand out stands.
  private(set) var position = 0
  /// Every action before this place is performed.
  var acted = 0
  /// The actions that were performed and that `position` has not reached, by their places.
  var performed: [(number: Int, id: ClientAction.ID)] = []
  /// How many actions of the session were performed.
  var performedCount = 0
  /// The connection of the action that was performed last.
  var actedConnection: Int?
  /// What stands just before `position`.
  private var passed: EventContext?
  /// The place of what came last in the session of all that was performed or passed.
  private(set) var reached: (number: Int, place: ReplayPlace)?
  /// What the user is at.
  private(set) var cause: ReplayCause
  /// Whether the user was told that there are no more events.
  private(set) var isOver = false
  var link = Link.closed
  /// The connection whose CONNECT `position` has passed and that is not closed.
  var openConnection: Int?
  /// The connections that are closed for the user, whatever the session still has of them.
  var over: Set<Int> = []
  var isWoken = false
  /// Why the world is broken.
  var failure: DataClientError?
  var divergence: ReplayDivergence?

  /// Which open action the server's packet identifiers answer.
  var open: [UInt16: ClientAction.ID] = [:]
  /// Which requests are not answered.
  var asked: [ReplayExchange: ClientAction.ID] = [:]
  /// The messages of QoS 2 that the server has not released; to repeat one is no second message.
  var unreleased: Set<UInt16> = []
  var serverAliases = AliasedTopics()
  var bindings = ReplayBindings()
  /// The last messages that were performed.
  var performedRequests = ReplayQueue<Event>()

  init(_ session: ReplaySession, _ options: ReplayOptions) {
    stream = ReplayStream(session, below: options.requestBase)
    self.options = options
    tolerance = options.timerTolerance.clampedNanoseconds
    now = session.totals.firstTime ?? Timestamp(nanoseconds: 0)
    heard = now
    cause = ReplayCause(place: nil, time: now)
    if case .scaled = options.pace { isPaced = true } else { isPaced = false }
    if case .shared = options.pace { takesTurns = true } else { takesTurns = false }
  }

  // MARK: Handing out

  mutating func wake() { isWoken = true }

  /// Lets time pass that the caller has slept.
  mutating func elapse(to time: Timestamp) { now = max(now, time) }

  /// Moves on with a time that is shared.
  mutating func elapse(to time: Timestamp, heard: Timestamp) {
    elapse(to: time)
    self.heard = max(self.heard, heard)
  }

  /// Notes that the user is at an action, if nothing that was handed out is the reason of it.
  mutating func note(performed context: EventContext) {
    guard cause.place == nil else { return }
    cause = ReplayCause(place: ReplayPlace(context), time: now)
  }

  /// Notes how far the session was gone through.
  mutating func reach(_ context: EventContext, number: Int) {
    if let reached, reached.number > number { return }
    reached = (number, ReplayPlace(context))
  }

  /// Returns the next event, or what it waits for.
  mutating func advance(to deadline: Timestamp?) throws(DataClientError) -> Step {
    let step = try step(to: deadline)
    if case .event(let event) = step {
      switch event {
      case .deadline, .woken: cause = ReplayCause(place: nil, time: now)
      case .ended:
        cause = ReplayCause(place: nil, time: now)
        isOver = true
      default:
        cause = ReplayCause(place: passed.map { ReplayPlace($0) }, time: now)
      }
    }
    return step
  }

  private mutating func step(to deadline: Timestamp?) throws(DataClientError) -> Step {
    if let failure { throw failure }
    if isWoken {
      isWoken = false
      return .event(.woken)
    }
    while let entry = try nextEntry() {
      switch entry.role {
      case .nothing: pass(entry.event)
      case .action:
        guard position < acted else { return try due(entry.event, deadline) }
        if let event = takeAction(entry.event) { return .event(event) }
      case .fromServer, .closing:
        let time = time(of: entry.event)
        if let step = passTime(to: time, deadline) { return step }
        heard = max(heard, time)
        if let event = takeFromServer(entry.event) { return .event(event) }
      case .hole:
        try takeHole(entry.event)
      }
    }
    return .event(.ended)
  }

  /// When the next action was recorded that was not performed; nil when there is none.
  var nextActionTime: Timestamp? {
    mutating get { hasNextAction ? (try? nextAction())?.event.context.time : nil }
  }

  /// What stands at the position; nil at the end of the session.
  private mutating func nextEntry() throws(DataClientError) -> ReplayEntry? {
    do {
      return try stream.entry(at: position)
    } catch { throw fail(error) }
  }

  /// Goes on behind an event.
  private mutating func pass(_ event: Event) {
    passed = event.context
    reach(event.context, number: position)
    position += 1
    stream.forget(before: position)
  }

  /// When an event happened; a closing when it began.
  private func time(of event: Event) -> Timestamp {
    guard case .closed(let closing) = event.body else { return event.context.time }
    return closing.how == .endOfCapture ? now : min(event.context.time, closing.firstTime)
  }

  /// Moves time to an event, or to the deadline if that is first.
  /// - Returns: What to tell instead of the event; nil if the event's time has come.
  private mutating func passTime(to time: Timestamp, _ deadline: Timestamp?) -> Step? {
    if time > now, let deadline, deadline < time {
      return expire(deadline)
    }
    if let step = awaitTurn(.event, time) { return step }
    guard time > now else { return nil }
    if isPaced { return .sleep(until: time) }
    now = time
    return nil
  }

  /// Asks for a turn where time is shared; nil where it is not, or the turn is there.
  private mutating func awaitTurn(_ kind: SharedWorld.Turn.Kind, _ time: Timestamp) -> Step? {
    guard takesTurns else { return nil }
    let wanted = SharedWorld.Turn(time: time, kind: kind)
    guard turn == wanted else { return .turn(wanted) }
    turn = nil
    return nil
  }

  private mutating func expire(_ deadline: Timestamp) -> Step {
    if deadline > now, let step = awaitTurn(.deadline, deadline) { return step }
    if isPaced, deadline > now { return .sleep(until: deadline) }
    now = max(now, deadline)
    heard = max(heard, deadline)
    return .event(.deadline)
  }

  /// What to do before an action that was not performed: time never passes it, but for the tolerance.
  private mutating func due(
    _ event: Event, _ deadline: Timestamp?
  ) throws(DataClientError) -> Step {
    let time = event.context.time
    if let deadline, deadline <= now || deadline.nanoseconds(since: time) <= tolerance {
      return expire(deadline)
    }
    if isPaced, time > now { return .sleep(until: time) }
    if time > now, let step = awaitTurn(.action, time) { return step }
    now = max(now, time)
    // Where time is shared, the reader of another client may perform it.
    guard options.actors == .readerOnly, !takesTurns else { return .wait }
    throw fail(missing(event, deadline))
  }

  /// Passes an action that was performed, which some answer at once.
  private mutating func takeAction(_ event: Event) -> ClientEvent? {
    let number = position
    pass(event)
    guard performed.first?.number == number else { return nil }
    let id = performed.removeFirst().id
    if case .http(let part) = event.body {
      asked[ReplayExchange(event.context.connection, part.exchange)] = id
      return nil
    }
    if case .opened = event.body {
      openConnection = event.context.connection
      link = .open
      // The session goes on in which the capture began.
      return .connected(.init(isSessionPresent: true))
    }
    if event.isUpgrade || event.attempt != nil { openConnection = event.context.connection }
    guard let type = event.packetType else { return nil }
    if type == .connect {
      openConnection = event.context.connection
      serverAliases.removeAll()
    }
    guard let packetID = event.packetID else {
      return type == .publish ? .published(id) : nil
    }
    open[packetID] = id
    return nil
  }

  private mutating func takeFromServer(_ event: Event) -> ClientEvent? {
    pass(event)
    if case .http(let part) = event.body { return take(part, event.context) }
    guard event.context.connection == openConnection else { return nil }
    if case .closed(let closing) = event.body { return take(closing, event.context) }
    if case .attempted(let attempt) = event.body { return take(attempt) }
    return event.withView { view in
      switch view.body {
      case .mqtt(let packet): take(packet)
      case .handshake(let handshake): take(handshake)
      case .webSocket(let frame): take(frame)
      case .opened, .closed, .attempted, .gap, .malformed, .http, .tls: nil
      }
    }
  }

  /// Bytes are missing: nobody can say what was in them.
  private mutating func takeHole(_ event: Event) throws(DataClientError) {
    // Behind the end of a connection nobody asks.
    guard !over.contains(event.context.connection) else { return pass(event) }
    switch event.body {
    // What was sent is there as the other end got it, which is what is replayed.
    case .gap(let gap) where gap.reason == .altered: pass(event)
    case .gap(let gap):
      let what = gap.reason == .leftOut ? "events that a selection left out" : "\(gap.bytes) bytes"
      throw fail(incomplete(event, what))
    case .malformed(let malformation):
      throw fail(incomplete(event, "what can't be read (\(malformation.message))"))
    case .mqtt(let packet):
      throw fail(incomplete(event, "\(packet.size - packet.bytes.count) bytes of a packet"))
    case .http(let part):
      throw fail(incomplete(event, "\(part.message?.missing ?? 0) bytes of a body"))
    case .opened, .closed, .attempted, .handshake, .webSocket, .tls: pass(event)
    }
  }

  // MARK: Failing

  /// Breaks the world: from now on every call gets the same error.
  mutating func fail(_ divergence: ReplayDivergence) -> DataClientError {
    self.divergence = divergence
    return fail(DataClientError(.diverged, divergence.description))
  }

  mutating func fail(_ error: DataClientError) -> DataClientError {
    failure = error
    return error
  }

  /// Keeps what the application had thrown before it left the session.
  mutating func note(thrown error: String?) {
    guard let error, divergence != nil, divergence?.applicationError == nil else { return }
    divergence?.applicationError = error
  }
}

import Synchronization

/// A recorded session as a world: the server says again what it said, when the user does again what it did.
///
/// The session is that of one client, from a capture or a recording. It is replayed by these rules.
///
/// - **Causality.** What the server sent is handed out when every action before it in the session has
///   been performed. Actions may be performed earlier than recorded.
/// - **Order.** Actions that the application made without waiting for one another, as far as the recording can
///   tell, may come in any order among themselves; ``ReplayOrder/causal`` says which these are, and what is not
///   told apart by it. All others come in the recorded order, and by ``ReplayOrder/recorded`` all do.
/// - **Matching.** An action has to be one that the session may have next, by ``ReplayOptions/match``; of several
///   it is the one that is most like it, and of equal ones the earliest. Values that every run makes anew are
///   matched by ``ReplayRoles`` and put into what the server answers.
///   An action that does not match breaks this world: ``perform(_:)`` and ``next(before:)`` throw
///   ``DataClientError/Code/diverged`` from then on, and ``divergence`` tells all about it.
/// - **Time** is recorded time. It jumps to the next event or to the deadline, whichever is first; of
///   two at the same moment the event is first. An action happens at its recorded time, unless there
///   is something to hand out before it.
/// - **Timers and other actions.** When the session has next an action that was not performed, the
///   user's deadline decides. A deadline not later than the recorded time (but for
///   ``ReplayOptions/timerTolerance``) passes: it may be the timer that the action waits for. A timer
///   started by something recorded is never later than what it brought about, because whoever replays
///   needs no time for its own work. A later deadline does not pass, as time would pass the action:
///   ``next(before:)`` waits for some task to perform it (``nextDueAction()`` tells that it does), or
///   throws when ``ReplayOptions/actors`` says that there is none, or after ``ReplayOptions/patience``: nothing
///   else can happen any more, and so an application that waits for something else is told.
/// - **What is no action.** PINGREQ, acknowledgements and messages that are sent again are the work of
///   a library; nobody has to perform them.
/// - **WebSocket.** A session without MQTT is replayed from its handshakes and messages, which are whole
///   whatever fragments and compression they came in; PING, PONG and the answer to a Close frame are the
///   library's.
/// - **Holes.** Where bytes are missing from the session it ends with
///   ``DataClientError/Code/unreadable``.
/// - **The end.** Behind the last event comes ``ClientEvent/ended``; a connection that was open when
///   the capture ended is not closed. ``finish()`` throws when anything is left over.
/// - **Memory.** A session from a file is read as the replay goes on, so that memory does not grow with it, nor
///   for a slow user; ``ReplayEvents`` says what is kept. The file has to stay as it is until the end of the
///   replay: one that can't be read again ends the session with ``DataClientError/Code/unreadable``.
///
/// ## In a test of one's own
///
/// The events come from a file (`ReplayClient(contentsOf:)` of the module Capture reads captures and
/// recordings), or from a ``RecordingStream``. The code under test gets the client as its world, and the test
/// ends with ``finish()``, which throws what was recorded and did not happen:
///
/// ```swift
/// func lampAnswers() async throws {
///   let client = try ReplayClient(
///     contentsOf: "lamp.pcap", options: ReplayOptions(actors: .readerOnly))
///   try await runLamp(on: client)  // performs, and reads next(before:) until .ended
///   try client.finish()
/// }
/// ```
///
/// ``ReplayActors/readerOnly`` is for code that acts only on events and deadlines. Where other tasks act, as
/// the users of an application do, a task of the test plays them, by itself:
///
/// ```swift
/// while let due = try await client.nextDueAction() {
///   guard case .publish(let message) = due.action else { break }
///   await app.press(message.topic)  // what brings the recorded action about
/// }
/// ```
///
/// A test that has to look ahead for that, as a call may begin with another packet than its own, has the whole
/// session as ``ReplayDialogue``.
public final class ReplayClient: DataClient {
  private enum Found {
    case event(ClientEvent)
    case failed(DataClientError, [CheckedContinuation<Void, Never>])
    case sleep(from: Timestamp, until: Timestamp)
    case turn(since: UInt64, isNear: Bool)
    case wait(since: UInt64, [CheckedContinuation<Void, Never>])
  }

  /// All that MQTT can do, with refusals only if the session is one of MQTT 5.0; or messages without topics,
  /// if it is one of WebSocket.
  public let capabilities: Capabilities
  let state: Mutex<State>
  private let pace: ReplayPace
  let patience: ReplayPatience

  /// Creates a world from the events of one client that were gathered.
  /// - Parameters:
  ///   - events: What ``ReplayEvents`` kept of a session.
  ///   - options: How to compare, to wait and to tell the time.
  /// - Throws: ``DataClientError`` when the session does not have the client, or several.
  public init(_ events: ReplayEvents, options: ReplayOptions = ReplayOptions())
    throws(DataClientError)
  {
    if case .scaled(let factor, _) = options.pace, !ReplayPace.isPossible(factor) {
      throw DataClientError(
        .invalidAction,
        "a replay's speed is a number from \(ReplayPace.slowestText) on, not \(factor)")
    }
    pace = options.pace
    if case .scaled = options.pace { patience = .unlimited } else { patience = options.patience }
    let session = try events.session()
    capabilities = session.totals.capabilities
    state = Mutex(State(session, options))
    if case .shared(let time) = options.pace { join(time, options) }
  }

  deinit {
    if case .shared = pace { locked { $0.isFinished = true } }
  }

  /// Creates a world from the events of a session.
  /// - Parameters:
  ///   - events: The events, in the order in which they were captured.
  ///   - selection: Whose part is replayed.
  ///   - options: How to compare, to wait and to tell the time.
  /// - Throws: ``DataClientError`` when the session does not have the client, or several.
  public convenience init(
    _ events: [Event], of selection: ReplaySelection = .only,
    options: ReplayOptions = ReplayOptions()
  ) throws(DataClientError) {
    var kept = ReplayEvents(of: selection)
    for event in events { kept.append(event) }
    try self.init(kept, options: options)
  }

  // MARK: The port

  /// The time of the session.
  public var now: Timestamp {
    state.withLock { state in
      state.catchUp()
      return state.machine.now
    }
  }

  /// Performs the next action of the session.
  /// - Parameter action: What to do.
  /// - Throws: ``DataClientError``, ``DataClientError/Code/diverged`` for any other action.
  public func perform(_ action: ClientAction) async throws {
    let (result, waiting) = locked { state in
      state.begin()
      let result = Result { () throws(DataClientError) in try state.machine.perform(action) }
      if case .failure = result { state.machine.note(thrown: ApplicationScope.current?.thrown) }
      return (result, state.change())
    }
    for continuation in waiting { continuation.resume() }
    try result.get()
  }

  /// Returns the next event of the session, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: ``DataClientError`` when the replay has diverged, and `CancellationError`.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    do {
      return try await read(before: deadline)
    } catch is CancellationError {
      if case .shared = pace { locked { $0.rest() } }
      throw CancellationError()
    }
  }

  private func read(before deadline: Timestamp?) async throws -> ClientEvent {
    /// Of which change the app's tasks had a chance to do what they were at.
    var settled: UInt64?
    while true {
      try Task.checkCancellation()
      switch locked({ Self.find(&$0, deadline, settled) }) {
      case .event(let event): return event
      case .failed(let error, let observers):
        for observer in observers { observer.resume() }
        throw error
      case .sleep(let start, let end): try await sleep(from: start, until: end)
      case .turn(let change, isNear: true):
        if await letOthersRun(since: change) { settled = change }
      case .turn(let change, isNear: false): try await waitForTurn(since: change)
      case .wait(let change, let observers):
        for observer in observers { observer.resume() }
        try await waitForAction(since: change)
        state.withLock { state in
          state.isReaderWaiting = false
          // However long the user took, what comes of it is as far behind it as it was recorded.
          state.course = nil
        }
      }
    }
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return ``ClientEvent/woken``.
  public func wake() {
    let waiting = state.withLock { state in
      state.machine.wake()
      return state.change()
    }
    for continuation in waiting { continuation.resume() }
  }

  private static func find(
    _ state: inout State, _ deadline: Timestamp?, _ settled: UInt64?
  ) -> Found {
    state.catchUp()
    do throws(DataClientError) {
      while true {
        let start = state.machine.now
        switch try state.machine.advance(to: deadline) {
        case .event(let event):
          state.note(reader: .leaves)
          return .event(event)
        case .sleep(let end): return .sleep(from: start, until: end)
        case .turn(let turn):
          switch state.take(turn, isSettled: settled == state.changes) {
          case .taken: continue
          case .nearly: return .turn(since: state.changes, isNear: true)
          case .wait: return .turn(since: state.changes, isNear: false)
          }
        case .wait:
          let observers = state.change()
          state.isReaderWaiting = true
          state.note(reader: .isDue)
          return .wait(since: state.changes, observers)
        }
      }
    } catch { return .failed(error, state.change()) }
  }

  // MARK: Waiting

  /// Suspends the task until something changes or it is cancelled.
  func wait(since change: UInt64) async {
    let ticket = state.withLock { $0.makeTicket() }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        // Cancellation before this point is seen here, and after it by the handler.
        let isOver = state.withLock { state in
          guard state.changes == change, !Task.isCancelled else { return true }
          state.add(continuation, ticket)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.remove(ticket) }?.resume()
    }
  }

  /// Lets real time pass until a moment of the session, as much as the pace says, or less when something changes.
  ///
  /// What passed before, also by the reader's own work or as a clock wakes late, is part of it.
  private func sleep(from start: Timestamp, until end: Timestamp) async throws {
    guard case .scaled(let factor, let clock) = pace else { return }
    let (change, course) = state.withLock { state in
      let course = state.course ?? ReplayCourse(from: start, factor, by: clock)
      state.course = course
      return (state.changes, course)
    }
    defer { state.withLock { $0.machine.elapse(to: course.now(before: end)) } }
    guard let rest = course.rest(until: end) else { return }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await clock.sleep(for: rest) }
      group.addTask { await self.wait(since: change) }
      defer { group.cancelAll() }
      try await group.next()
    }
    try Task.checkCancellation()
  }
}

extension ReplayClient: PromptClient {
  package func nextAtOnce(before deadline: Timestamp?) throws -> ClientEvent? {
    // Whose turn it is takes more than a look.
    if case .shared = pace { return nil }
    try Task.checkCancellation()
    return state.withLock { state in
      guard case .event(let event)? = try? state.machine.advance(to: deadline) else { return nil }
      return event
    }
  }
}

import RepriseCore
import Synchronization

/// Lets happen in a world what a scenario's step permits, and tells when the subject has come to rest.
///
/// - An event reaches the subject only when a step has permitted it, so that worlds whose events come
///   early, late, or all at once make no difference. What comes while nothing is permitted is held.
/// - The subject's time moves only while it is let: from one deadline to the next, and to the end of
///   the `wait`. So a deadline is told at just its time, however late the world wakes up, and how long
///   the world takes between two steps is not seen.
/// - The subject rests when it waits for the next event and there is nothing for it: then all that it
///   wanted to do is done. Nothing is asked twice for that, and nobody sleeps.
final class SteppedClient: DataClient {
  private struct Parked {
    let ticket: UInt64
    let continuation: CheckedContinuation<Void, Never>
  }

  private struct State {
    var steps: SteppedState
    var lastTicket: UInt64 = 0
    var parked: Parked?
    var isReading = false
    var settlers: [CheckedContinuation<Void, Never>] = []

    /// Whether the subject's loop has ended, and nothing more comes of it.
    var isOver = false

    /// Whether there is nothing to wait for any more.
    var isSettled: Bool {
      switch steps.failure {
      case nil: parked != nil && steps.isIdle
      // A subject that left its session ends its loop, but not before it has done what it was about to do: which of its
      // lines come too late for the step must not be left to chance, as they tell which clause is broken.
      case .diverged: isOver
      case .broken, .silent, .ended, .cancelled: true
      }
    }

    /// What the reader does next; who reads is noted under the lock, so that a wake finds it.
    mutating func move(_ deadline: Timestamp?, at moment: Timestamp) -> SteppedState.Move {
      let move = steps.move(deadline, at: moment)
      if case .read = move { isReading = true }
      return move
    }

    mutating func takeSettlers() -> [CheckedContinuation<Void, Never>] {
      guard isSettled else { return [] }
      defer { settlers = [] }
      return settlers
    }
  }

  private let client: any DataClient
  private let pen: ScenarioPen
  private let note: @Sendable (ClientAction) -> Void
  private let state: Mutex<State>

  /// Wraps the client of a world.
  /// - Parameters:
  ///   - client: The client.
  ///   - patience: How long to wait for a permitted event, in the client's time; nil for as long as
  ///     it takes.
  ///   - pen: Is told the time that lines are stamped with.
  ///   - note: Takes every action before it is performed.
  init(
    _ client: any DataClient, patience: Duration?, pen: ScenarioPen,
    note: @escaping @Sendable (ClientAction) -> Void
  ) {
    self.client = client
    self.pen = pen
    self.note = note
    state = Mutex(State(steps: SteppedState(now: client.now, patience: patience)))
  }

  // MARK: The port

  var capabilities: Capabilities { client.capabilities }
  var now: Timestamp { state.withLock { $0.steps.now } }

  func perform(_ action: ClientAction) async throws {
    guard state.withLock({ $0.steps.take(action) }) else {
      throw DataClientError(.notConnected, "the scenario is over")
    }
    note(action)
    do {
      try await client.perform(action)
    } catch {
      state.withLock { $0.steps.takeBack(action) }
      if let error = error as? DataClientError, error.breaksWorld {
        fail(Failure(error))
      }
      throw error
    }
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    do {
      while true {
        try Task.checkCancellation()
        switch state.withLock({ $0.move(deadline, at: client.now) }) {
        case .tell(let event):
          pen.stamp(state.withLock { $0.steps.elapsed })
          return event
        case .read(let limit): try await read(before: limit)
        case .park: await park()
        }
      }
    } catch {
      fail(Failure(error))
      throw error
    }
  }

  private func read(before limit: Timestamp?) async throws {
    defer { state.withLock { $0.isReading = false } }
    let event = try await client.next(before: limit)
    state.withLock { $0.steps.take(event) }
  }

  func wake() {
    let (reader, isReading) = state.withLock { state in
      state.steps.isWoken = true
      return (state.parked.take(), state.isReading)
    }
    reader?.continuation.resume()
    if isReading { client.wake() }
  }

  // MARK: Steps

  /// What steps can permit.
  enum Permit: Sendable, Hashable {
    /// That many events.
    case events(Int)
    /// Time, but no event.
    case time(Duration)
    /// Time, but no event, and no deadline before its end.
    case jump(Duration)
    /// The end of the connection, and nothing that comes before it.
    case closing
  }

  /// Why the world did not do what a step wants.
  enum Failure: Sendable, Hashable {
    /// The subject left the session that is replayed.
    case diverged(String)
    /// The world broke, as a session that can't be read on.
    case broken(String)
    /// No event came in time.
    case silent(Duration)
    /// The world has no more events.
    case ended
    /// The task was cancelled.
    case cancelled
  }

  /// What went wrong; nil while nothing did.
  var failure: Failure? { state.withLock { $0.steps.failure } }

  /// The number of what happened last, its connection and time.
  var place: ReplayPlace { state.withLock { $0.steps.place } }

  /// Whether the subject has asked for the end of a connection that is not closed yet.
  var isLeaving: Bool { state.withLock { $0.steps.isLeaving } }

  /// Counts a message that the cloud sends, to tell the copies of it that a broker may make.
  func expect(_ message: Message) { state.withLock { $0.steps.expect(message) } }

  /// Permits something, and waits until it has happened and the subject rests.
  func permit(_ permit: Permit) async {
    let reader = state.withLock { state in
      state.steps.begin(permit, at: client.now)
      return state.parked.take()
    }
    switch permit {
    case .time: pen.stamp(0)
    case .events, .jump, .closing: break
    }
    reader?.continuation.resume()
    await settle()
    pen.stamp(nil)
  }

  /// Waits until the subject rests.
  func settle() async {
    await withCheckedContinuation { continuation in
      let isSettled = state.withLock { state in
        if state.isSettled { return true }
        state.settlers.append(continuation)
        return false
      }
      if isSettled { continuation.resume() }
    }
  }

  /// Ends the subject's world; what it still wants to do is not done.
  func end() {
    let reader = state.withLock { state in
      state.steps.isEnded = true
      return state.parked.take()
    }
    reader?.continuation.resume()
  }

  /// Takes note that the subject's loop has ended.
  func finish() {
    let settlers = state.withLock { state in
      state.isOver = true
      return state.takeSettlers()
    }
    for settler in settlers { settler.resume() }
  }

  private func fail(_ failure: Failure) {
    let settlers = state.withLock { state in
      state.steps.fail(failure)
      return state.takeSettlers()
    }
    for settler in settlers { settler.resume() }
  }

  // MARK: Waiting

  /// Suspends the reader until a step permits something, it is woken, or it is cancelled.
  private func park() async {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = Task.isCancelled
        let (mustWait, settlers) = state.withLock { state in
          guard state.steps.isIdle, !isCancelled else {
            return (false, [CheckedContinuation<Void, Never>]())
          }
          state.parked = Parked(ticket: ticket, continuation: continuation)
          return (true, state.takeSettlers())
        }
        if !mustWait { continuation.resume() }
        for settler in settlers { settler.resume() }
      }
    } onCancel: {
      let reader = state.withLock { state in
        state.parked?.ticket == ticket ? state.parked.take() : nil
      }
      reader?.continuation.resume()
    }
  }
}

extension SteppedClient.Failure {
  fileprivate init(_ error: any Error) {
    let text = ScenarioRun.text(of: error)
    switch error {
    case is CancellationError: self = .cancelled
    case let error as DataClientError where error.code == .diverged: self = .diverged(text)
    default: self = .broken(text)
    }
  }

  /// What is wrong, in one sentence.
  var message: String {
    switch self {
    case .diverged(let message), .broken(let message): message
    case .silent(let limit): "no event came within \(limit) of the world's time"
    case .ended: "the world has no more events"
    case .cancelled: "it was cancelled"
    }
  }

  /// Whether it says nothing of the subject: the world has no more to tell, or can't.
  var isOfWorld: Bool {
    switch self {
    case .broken, .ended, .cancelled: true
    case .diverged, .silent: false
    }
  }
}

extension DataClientError {
  /// Whether nothing can happen any more in the world that says so.
  fileprivate var breaksWorld: Bool {
    code == .diverged || code == .unreadable || code == .notRecorded
  }
}

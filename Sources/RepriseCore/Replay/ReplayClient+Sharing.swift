import Synchronization

/// How a client keeps to the turns of a ``SharedTime``.
extension ReplayClient {
  /// How often a reader lets others go first: most that is under way comes at once.
  private static let yields = 4
  /// For how long nothing may happen before nobody waits for those that are busy: so many times so long.
  private static let grace = (looks: 10, length: Duration.milliseconds(2))
  /// How many looks patience consists of.
  private static let looks = 100

  /// Takes a place in a time.
  func join(_ time: SharedTime, _ options: ReplayOptions) {
    let member = SharedTime.Member(
      ring: { [weak self] in self?.ring() }, giveUp: { [weak self] in self?.giveUpDueAction() },
      isOfReaders: options.actors == .readerOnly)
    state.withLock { state in
      let number = time.join(
        member, tolerance: options.timerTolerance.clampedNanoseconds,
        nextAction: state.machine.nextActionTime)
      state.seat = SharedSeat(time: time, number: number)
      state.settle()
    }
  }

  /// Has the reader look again.
  private func ring() {
    for waiter in state.withLock({ $0.change() }) { waiter.resume() }
  }

  private func giveUpDueAction() {
    let waiters = locked { state -> [CheckedContinuation<Void, Never>] in
      guard state.machine.failure == nil, let divergence = state.machine.stalled() else {
        return []
      }
      _ = state.machine.fail(divergence)
      return state.change()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Does something under the lock, and then tells whoever is to know of it.
  func locked<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
    let (value, next) = state.withLock { state in
      let value = body(&state)
      state.settle()
      return (value, state.seat?.takeNext() ?? [])
    }
    for member in next { member.ring() }
    return value
  }

  /// Lets the app's other tasks do what they are at, before time moves.
  /// - Returns: Whether nothing came of it.
  func letOthersRun(since change: UInt64) async -> Bool {
    for _ in 0..<Self.yields {
      guard isWaiting(since: change) else { return false }
      await Task.yield()
    }
    return isWaiting(since: change)
  }

  /// Waits until something changes for this client, and sees to it that nobody is waited for in vain.
  /// - Throws: `CancellationError`.
  func waitForTurn(since change: UInt64) async throws {
    guard let seat = state.withLock({ $0.seat }), await letOthersRun(since: change) else { return }
    while isWaiting(since: change) {
      let (obstacle, progress) = seat.time.read { ($0.obstacle(to: seat.number), $0.progress) }
      switch obstacle {
      case .none: return
      case .others, .busy:
        let isStill = try await nothingHappens(
          since: change, progress, seat, Self.grace.looks, Self.grace.length, by: ContinuousClock())
        if isStill, obstacle == .busy { overtakeBusySeats() }
      case .action(let culprit):
        let member = seat.time.member(culprit)
        if member.isOfReaders { return member.giveUp() }
        guard case .limited(let length, let clock) = patience else {
          return await wait(since: change)
        }
        let isStill = try await nothingHappens(
          since: change, progress, seat, Self.looks, length / Self.looks, by: clock)
        if isStill { member.giveUp() }
      }
    }
  }

  private func overtakeBusySeats() {
    locked { state in state.seat?.change { $0.overtakeBusySeats() } }
  }

  /// Looks again and again whether something happens in the shared world.
  ///
  /// In pieces, so that a process that was held for long is not taken for one that waits.
  private func nothingHappens(
    since change: UInt64, _ progress: UInt64, _ seat: SharedSeat, _ looks: Int, _ length: Duration,
    by clock: any Clock<Duration>
  ) async throws -> Bool {
    for _ in 0..<looks {
      try await wait(since: change, atMost: length, by: clock)
      guard isWaiting(since: change), seat.time.read({ $0.progress == progress }) else {
        return false
      }
    }
    return true
  }
}

/// The place of a client in a ``SharedTime``.
struct SharedSeat: Sendable {
  let time: SharedTime
  let number: Int
  /// Whose turn it is after what was changed.
  private var next: [SharedTime.Member] = []

  init(time: SharedTime, number: Int) {
    self.time = time
    self.number = number
  }

  /// Changes the world.
  mutating func change<Value: Sendable>(_ body: (inout SharedWorld) -> Value) -> Value {
    let (value, next) = time.change(by: number, body)
    if let next { self.next.append(next) }
    return value
  }

  /// Takes those whose turn it is, to be told outside of the lock.
  mutating func takeNext() -> [SharedTime.Member] {
    defer { next = [] }
    return next
  }
}

extension ReplayClient.State {
  /// Asks for a turn.
  /// - Returns: Whether the reader has it.
  mutating func take(_ turn: SharedWorld.Turn, isSettled: Bool) -> SharedWorld.Answer {
    guard var seat else { return .taken }
    defer { self.seat = seat }
    let (number, task) = (seat.number, Self.task)
    let answer = seat.change { $0.take(turn, at: number, by: task, isSettled: isSettled) }
    if case .taken = answer { machine.turn = turn }
    return answer
  }

  /// What a reader does.
  enum ReaderStep {
    /// It gets something.
    case leaves
    /// It waits for an action that is due.
    case isDue
  }

  /// Tells the shared time what the reader does.
  mutating func note(reader step: ReaderStep) {
    guard let number = seat?.number else { return }
    let task = Self.task
    seat?.change { world in
      switch step {
      case .leaves: world.leave(number, by: task)
      case .isDue: world.waitForAction(at: number, by: task)
      }
    }
  }

  /// Tells the shared time that the client is used.
  mutating func begin() {
    guard let number = seat?.number else { return }
    catchUp()
    seat?.change { $0.begin(number) }
  }

  /// Tells the shared time that the reader was cancelled.
  mutating func rest() {
    guard let number = seat?.number else { return }
    seat?.change { $0.rest(number) }
  }

  /// The task that runs.
  private static var task: Int? { withUnsafeCurrentTask { $0?.hashValue } }

  /// Tells the shared time what came of a change.
  mutating func settle() {
    guard var seat else { return }
    defer { self.seat = seat }
    let number = seat.number
    let action = machine.nextActionTime
    let isOver = machine.failure != nil || isFinished || machine.isOver
    seat.change { world in
      if isOver { world.retire(number) } else { world.note(nextAction: action, at: number) }
    }
  }

  /// Moves on with the shared time, if the reader has nothing in hand.
  mutating func catchUp() {
    guard let seat else { return }
    let number = seat.number
    let (now, heard) = seat.time.read { world in
      world.isAbreast(number) ? (world.now, world.heard) : (nil, nil)
    }
    if let now, let heard { machine.elapse(to: now, heard: heard) }
  }
}

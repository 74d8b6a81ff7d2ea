import Synchronization

/// What a replay is for those who are not its user: whoever plays the recorded application's people, and whoever
/// wants to know how it ends.
extension ReplayClient {
  /// Waits until the reader waits for an action that is due.
  ///
  /// That is the moment for whoever plays the people that the recorded application had: no timer of
  /// the application can perform the action, so one of its users did.
  /// - Returns: What is expected; nil when the replay is over, failed, or the session has no more actions.
  /// - Throws: `CancellationError`.
  public func nextDueAction() async throws -> ReplayExpectation? {
    while true {
      try Task.checkCancellation()
      let (isDone, due, change) = state.withLock { state in
        guard state.machine.hasNextAction, state.machine.failure == nil, !state.isFinished else {
          return (true, ReplayExpectation?.none, state.changes)
        }
        let due = state.isReaderWaiting ? state.machine.expectation() : nil
        return (due != nil, due, state.changes)
      }
      if isDone { return due }
      await wait(since: change)
    }
  }

  /// Breaks this world, as nobody performs the action that is due.
  ///
  /// The player of the recorded application's people says so when the action can't be brought about.
  /// - Parameter reason: What was done instead and why, for people.
  public func giveUp(because reason: String) {
    let waiting = locked { state in
      if state.machine.failure == nil, let due = state.machine.expectation() {
        _ = state.machine.fail(state.machine.notPerformed(due.event, because: reason))
      }
      return state.change()
    }
    for continuation in waiting { continuation.resume() }
  }

  /// What the user is at: what the next thing that it does comes from.
  ///
  /// An application that is told something, or whose call is answered, finds here where that stands in
  /// the session, as long as the reader does not ask for the next event.
  public var cause: ReplayCause { state.withLock { $0.machine.cause } }

  /// How far the session was gone through: where the replay diverged, or else what came last in the session of
  /// all that was performed or passed, or else what is due first; nil for a session without any action.
  public var place: ReplayPlace? {
    state.withLock { state in
      state.machine.divergence?.place ?? state.machine.reached?.place
        ?? state.machine.expectation()?.place
    }
  }

  /// Whether the reader was told that the session has no more events.
  public var isOver: Bool { state.withLock { $0.machine.isOver } }

  /// What broke this world; nil while nothing did.
  public var divergence: ReplayDivergence? { state.withLock { $0.machine.divergence } }

  /// What the session has and this run has not had, oldest first, at most 1,000.
  public var leftOvers: [ReplayExpectation] {
    state.withLock { $0.machine.leftOvers(limit: ReplayMachine.leftOverLimit) }
  }

  /// Ends the replay; a reader that still waits gets the same error.
  /// - Throws: ``DataClientError`` when the replay has diverged, or when the session has actions that
  ///   were not performed or events that were not handed out.
  public func finish() throws(DataClientError) {
    let (failure, waiting) = locked { state in
      state.isFinished = true
      let left = state.machine.leftOvers(limit: ReplayMachine.leftOverLimit + 1)
      if state.machine.failure == nil, let divergence = state.machine.leftOver(left) {
        _ = state.machine.fail(divergence)
      }
      return (state.machine.failure, state.change())
    }
    for continuation in waiting { continuation.resume() }
    if let failure { throw failure }
  }
}

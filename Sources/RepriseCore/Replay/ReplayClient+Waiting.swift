import Synchronization

/// How a reader waits for an action that somebody else performs, and for how long.
extension ReplayClient {
  /// How many looks at the reader patience consists of.
  private static let looks = 100
  /// How often a reader lets others go first before it looks at a clock: most actions come at once.
  private static let yields = 8

  /// Suspends the reader until something changes, and breaks this world when nothing does for too long.
  /// - Throws: `CancellationError`.
  func waitForAction(since change: UInt64) async throws {
    if state.withLock({ $0.seat != nil }) { return try await waitForTurn(since: change) }
    guard case .limited(let patience, let clock) = patience else {
      return await wait(since: change)
    }
    for _ in 0..<Self.yields {
      guard isWaiting(since: change) else { return }
      await Task.yield()
    }
    // In pieces, so that a process that was held for long is not taken for one that waits.
    for _ in 0..<Self.looks {
      try await wait(since: change, atMost: patience / Self.looks, by: clock)
      guard isWaiting(since: change) else { return }
    }
    giveUp(since: change)
  }

  /// Whether nothing has changed, and the task is not cancelled.
  func isWaiting(since change: UInt64) -> Bool {
    !Task.isCancelled && state.withLock { $0.changes == change }
  }

  /// Suspends the reader until something changes, or some time of a clock has passed.
  func wait(
    since change: UInt64, atMost duration: Duration, by clock: any Clock<Duration>
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await clock.sleep(for: duration) }
      group.addTask { await self.wait(since: change) }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  private func giveUp(since change: UInt64) {
    let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
      guard state.changes == change, state.machine.failure == nil,
        let divergence = state.machine.stalled()
      else { return [] }
      _ = state.machine.fail(divergence)
      return state.change()
    }
    for continuation in waiting { continuation.resume() }
  }
}

package import RepriseCore
import Synchronization

/// A client that is read no further while its user says so: what comes waits where it is, in the client and then in
/// the server.
package final class HeldUpClient: DataClient {
  private struct State {
    var reader: CheckedContinuation<Bool, Never>?
    var mustWait: @Sendable () -> Bool = { false }
  }

  private let client: any DataClient
  private let state = Mutex(State())

  /// Wraps a client.
  package init(_ client: any DataClient) { self.client = client }

  /// Says when not to read; asked before each event.
  package func waits(while condition: @escaping @Sendable () -> Bool) {
    state.withLock { $0.mustWait = condition }
  }

  /// Reads on, if the condition does not hold any more.
  package func goOn() { takeReader()?.resume(returning: false) }

  private func takeReader() -> CheckedContinuation<Bool, Never>? {
    state.withLock { $0.reader.take() }
  }

  /// What the client can do.
  package var capabilities: Capabilities { client.capabilities }

  /// The client's time.
  package var now: Timestamp { client.now }

  /// Hands an action to the client.
  package func perform(_ action: ClientAction) async throws { try await client.perform(action) }

  /// Returns the client's next event, when it may be read.
  package func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let mustWait = state.withLock(\.mustWait)
    while mustWait() {
      if await waitForRoom(mustWait) { return .woken }
      try Task.checkCancellation()
    }
    return try await client.next(before: deadline)
  }

  /// Waits until something has changed.
  /// - Returns: Whether the client was woken.
  private func waitForRoom(_ mustWait: @Sendable () -> Bool) async -> Bool {
    await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        state.withLock { $0.reader = reader }
        // What changed before the reader stood there woke nobody.
        if !mustWait() || Task.isCancelled { goOn() }
      }
    } onCancel: {
      goOn()
    }
  }

  /// Wakes who reads, or waits for room.
  package func wake() {
    if let reader = takeReader() { reader.resume(returning: true) } else { client.wake() }
  }
}

extension HeldUpClient: HeardTime {
  package var heard: Timestamp { client.lastHeard }
}

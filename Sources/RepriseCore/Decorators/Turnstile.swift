import Synchronization

/// Lets one task through at a time, in the order in which they came.
///
/// For work that goes on over suspensions, and so can't be done under a lock.
package final class Turnstile: Sendable {
  private struct State {
    var isTaken = false
    var row: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Creates a turnstile that nobody has passed.
  package init() {}

  /// Waits until nobody else is inside.
  package func enter() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.isTaken else {
          state.isTaken = true
          return true
        }
        state.row.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  /// Lets the next one in.
  package func leave() {
    let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard !state.row.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.row.removeFirst()
    }
    next?.resume()
  }
}

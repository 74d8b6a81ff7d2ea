import Dispatch
import Synchronization

/// A value that threads share, and whose changes others wait for.
///
/// A change looks for those whose wish is fulfilled, so nobody asks again and again. A waiter is a
/// task that holds no thread meanwhile.
final class Observed<Value: Sendable>: Sendable {
  /// Resumes whoever waits if the value is what he waits for; without a value he waits in vain.
  private typealias Waiter = @Sendable (Value?) -> Bool

  private struct State {
    var value: Value
    var waiters: [UInt64: Waiter] = [:]
    var lastTicket: UInt64 = 0
  }

  private let state: Mutex<State>

  init(_ value: Value) { state = Mutex(State(value: value)) }

  /// The value as it is now.
  var value: Value { state.withLock { $0.value } }

  /// Does something while the value can't change.
  func read<Result: Sendable>(_ body: (Value) -> Result) -> Result {
    state.withLock { body($0.value) }
  }

  /// Changes the value.
  func change(_ body: (inout Value) -> Void) {
    state.withLock { state in
      body(&state.value)
      for (ticket, waiter) in state.waiters where waiter(state.value) {
        state.waiters[ticket] = nil
      }
    }
  }

  /// Waits until something can be made of the value.
  /// - Parameters:
  ///   - seconds: How long; it only keeps a broken test from hanging.
  ///   - wanted: What is made of the value; nil until it is what is waited for. It is called while the value
  ///     can't change.
  /// - Returns: What was made; nil after the limit, and when the task is cancelled.
  func first<Result: Sendable>(
    within seconds: Int = waitingLimit, _ wanted: @escaping @Sendable (Value) -> Result?
  ) async -> Result? {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { [weak self] in self?.giveUp(ticket) }
    timer.schedule(deadline: .now() + .seconds(seconds))
    defer { timer.cancel() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        wait(ticket) { value in
          guard let value else {
            continuation.resume(returning: nil)
            return true
          }
          guard let result = wanted(value) else { return false }
          continuation.resume(returning: result)
          return true
        }
        // Not before there is somebody who can give up.
        timer.activate()
      }
    } onCancel: {
      giveUp(ticket)
    }
  }

  private func wait(_ ticket: UInt64, _ waiter: @escaping Waiter) {
    state.withLock { state in
      if waiter(Task.isCancelled ? nil : state.value) { return }
      state.waiters[ticket] = waiter
    }
  }

  private func giveUp(_ ticket: UInt64) {
    state.withLock { state in
      _ = state.waiters.removeValue(forKey: ticket)?(nil)
    }
  }
}

/// How many seconds a test waits for what comes at once on a machine that has time for it.
let waitingLimit = 120

import Synchronization

/// A number that threads share.
final class Counter: Sendable {
  private let state = Mutex((count: 0, hasEnded: false))

  var count: Int { state.withLock { $0.count } }
  var hasEnded: Bool { state.withLock { $0.hasEnded } }

  func add() { state.withLock { $0.count += 1 } }
  func end() { state.withLock { $0.hasEnded = true } }
}

import Synchronization

/// What tasks want of the thread of a ``WebSocketServer``.
final class ServerOrders: Sendable {
  private struct State {
    var links: Set<UInt64> = []
    var isStopped = false
    var hasEnded = false
    var waker: ContextWaker?
    var whenEnded: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  /// Has the thread look at a connection: there is something to write, or room for events.
  func look(at link: UInt64) {
    state.withLock { state in
      let isFirst = state.links.isEmpty
      state.links.insert(link)
      if isFirst { state.waker?.wake() }
    }
  }

  /// Tells the thread to close all connections, and waits for its end.
  func stop() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        state.isStopped = true
        state.waker?.wake()
        if !state.hasEnded { state.whenEnded.append(continuation) }
        return state.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }

  // MARK: - The thread

  /// Says which context is to be woken; nil before it is destroyed.
  func serve(_ context: OpaquePointer?) {
    state.withLock { $0.waker = context.map(ContextWaker.init) }
  }

  /// Takes the connections to look at, and says whether all of them are to be closed.
  func take() -> (links: Set<UInt64>, isStopped: Bool) {
    state.withLock { state in
      defer { state.links.removeAll(keepingCapacity: true) }
      return (state.links, state.isStopped)
    }
  }

  /// Says that the thread is about to end.
  func end() {
    let waiting = state.withLock { state in
      state.hasEnded = true
      defer { state.whenEnded = [] }
      return state.whenEnded
    }
    for continuation in waiting { continuation.resume() }
  }
}

import Synchronization

/// What the application listens to with `for await`.
///
/// Elements that came and were not taken yet are kept up to the limit that was asked for; beyond it
/// the oldest are dropped, so that a slow listener never holds up the connection. A sequence has one
/// reader; who wants to listen twice asks for two.
public struct BroadcastSequence<Element: Sendable>: AsyncSequence, Sendable {
  let stream: AsyncStream<Element>

  /// Returns what reads the elements.
  public func makeAsyncIterator() -> AsyncStream<Element>.Iterator { stream.makeAsyncIterator() }
}

/// Hands every element to all who listen at that time.
final class Broadcast<Element: Sendable>: Sendable {
  private struct Listener {
    let accepts: @Sendable (Element) -> Bool
    let continuation: AsyncStream<Element>.Continuation
  }

  private struct State {
    var listeners: [UInt64: Listener] = [:]
    var last: UInt64 = 0
    var dropped: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// How many elements were dropped, as listeners were slow.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// Starts to listen; what was sent before is not heard.
  func listen(
    limit: Int, where accepts: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) -> BroadcastSequence<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(
      bufferingPolicy: .bufferingNewest(max(1, limit)))
    let id: UInt64? = state.withLock { state in
      guard !state.isFinished else { return nil }
      state.last += 1
      state.listeners[state.last] = Listener(accepts: accepts, continuation: continuation)
      return state.last
    }
    if let id {
      continuation.onTermination = { [weak self] _ in self?.remove(id) }
    } else {
      continuation.finish()
    }
    return BroadcastSequence(stream: stream)
  }

  func send(_ element: Element) {
    state.withLock { state in
      for listener in state.listeners.values where listener.accepts(element) {
        if case .dropped = listener.continuation.yield(element) { state.dropped &+= 1 }
      }
    }
  }

  /// Ends all sequences once they are read to their end, and all later ones at once.
  func finish() {
    let listeners = state.withLock { state in
      state.isFinished = true
      defer { state.listeners = [:] }
      return state.listeners
    }
    for listener in listeners.values { listener.continuation.finish() }
  }

  private func remove(_ id: UInt64) {
    _ = state.withLock { $0.listeners.removeValue(forKey: id) }
  }
}

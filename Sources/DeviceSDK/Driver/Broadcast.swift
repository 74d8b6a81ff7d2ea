import Synchronization

/// What the application listens to with `for await`.
///
/// Elements that came and were not taken yet are kept up to the limit that was asked for; beyond it
/// the oldest are dropped, so that a slow reader never holds up the connection. A sequence has one
/// reader; who wants to read twice asks for two.
public struct BroadcastSequence<Element: Sendable>: AsyncSequence, Sendable {
  let listening: Broadcast<Element>.Listening

  /// Returns what reads the elements.
  public func makeAsyncIterator() -> Iterator { Iterator(listening: listening) }

  /// Reads the elements.
  public struct Iterator: AsyncIteratorProtocol {
    let listening: Broadcast<Element>.Listening
    private var batch: [Element] = []
    private var position = 0

    init(listening: Broadcast<Element>.Listening) { self.listening = listening }

    /// Returns the next element; nil when the channel is over or the task is cancelled.
    public mutating func next() async -> Element? {
      if position == batch.count {
        position = 0
        batch = []
        guard let elements = await listening.mailbox.next() else { return nil }
        batch = elements
      }
      defer { position += 1 }
      return batch[position]
    }
  }
}

/// Hands every element to all who listen at that time.
final class Broadcast<Element: Sendable>: Sendable {
  /// One who listens, until nobody holds the sequence any more.
  final class Listening: Sendable {
    let mailbox: Mailbox<Element>
    private let end: @Sendable () -> Void

    init(_ mailbox: Mailbox<Element>, end: @escaping @Sendable () -> Void) {
      self.mailbox = mailbox
      self.end = end
    }

    deinit { end() }
  }

  private struct Listener {
    let accepts: @Sendable (Element) -> Bool
    let mailbox: Mailbox<Element>
  }

  private struct State {
    var listeners: [UInt64: Listener] = [:]
    var last: UInt64 = 0
    var dropped: UInt64 = 0
    var isFinished = false
  }

  private let state = Mutex(State())

  /// How many elements were dropped, as readers were slow.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// How many listen.
  var count: Int { state.withLock { $0.listeners.count } }

  /// Starts to listen; what was sent before is not heard.
  func listen(
    limit: Int, where accepts: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) -> BroadcastSequence<Element> {
    let mailbox = Mailbox<Element>(limit: limit)
    let id = state.withLock { state in
      state.last += 1
      if state.isFinished {
        mailbox.finish()
      } else {
        state.listeners[state.last] = Listener(accepts: accepts, mailbox: mailbox)
      }
      return state.last
    }
    return BroadcastSequence(
      listening: Listening(mailbox) { [weak self] in self?.remove(id) })
  }

  func send(_ element: Element) {
    state.withLock { state in
      for listener in state.listeners.values where listener.accepts(element) {
        if !listener.mailbox.put(element) { state.dropped &+= 1 }
      }
    }
  }

  /// Ends all sequences once they are read to their end, and all later ones at once.
  func finish() {
    state.withLock { state in
      state.isFinished = true
      for listener in state.listeners.values { listener.mailbox.finish() }
      state.listeners = [:]
    }
  }

  private func remove(_ id: UInt64) {
    _ = state.withLock { $0.listeners.removeValue(forKey: id) }
  }
}

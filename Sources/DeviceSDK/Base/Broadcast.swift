import RepriseCore
import Synchronization

/// What the application listens to with `for await`.
///
/// Elements that came and were not taken yet are kept up to the limit that was asked for; beyond it
/// the oldest are dropped, so that a slow reader never holds up the connection. A sequence has one
/// reader at a time: a loop goes on where the last one was left. An application that wants to
/// read all twice asks for two.
public struct BroadcastSequence<Element: Sendable>: AsyncSequence, Sendable {
  let listening: Broadcast<Element>.Listening

  /// Returns what reads the elements.
  public func makeAsyncIterator() -> Iterator { Iterator(listening: listening) }

  /// Reads the elements.
  public struct Iterator: AsyncIteratorProtocol {
    private let reading: Reading

    init(listening: Broadcast<Element>.Listening) { reading = Reading(listening) }

    /// Returns the next element; nil when the channel is over or the task is cancelled.
    public mutating func next() async -> Element? {
      if let element = reading.take() { return element }
      return await reading.next()
    }
  }

  /// What a loop has taken and not read yet; the rest is for the next loop.
  private final class Reading {
    private let listening: Broadcast<Element>.Listening
    private var batch: [Element] = []
    private var position = 0

    init(_ listening: Broadcast<Element>.Listening) { self.listening = listening }

    deinit {
      if position < batch.count { listening.putBack(batch[position...]) }
    }

    /// Takes the next of what there is already; nil when there is nothing.
    func take() -> Element? {
      guard position < batch.count else { return nil }
      defer { position += 1 }
      return batch[position]
    }

    /// Waits for more and takes the first of it; nil when there is none and never will be.
    func next() async -> Element? {
      position = 0
      batch = []
      guard let elements = await listening.mailbox.next() else { return nil }
      batch = elements
      return take()
    }
  }
}

/// Hands every element to all who listen at that time.
final class Broadcast<Element: Sendable>: Sendable {
  /// One who listens, until nobody holds the sequence any more.
  final class Listening: Sendable {
    let mailbox: Mailbox<Element>
    private let drop: @Sendable (Int) -> Void
    private let end: @Sendable () -> Void

    init(
      _ mailbox: Mailbox<Element>, drop: @escaping @Sendable (Int) -> Void,
      end: @escaping @Sendable () -> Void
    ) {
      self.mailbox = mailbox
      self.drop = drop
      self.end = end
    }

    deinit { end() }

    /// Gives back what was taken and not read.
    func putBack(_ elements: ArraySlice<Element>) {
      let dropped = mailbox.putBack(elements)
      if dropped > 0 { drop(dropped) }
    }
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
    /// What nobody heard as nobody listened yet; nil when somebody did.
    var early: EarlyElements<Element>?
  }

  private let state: Mutex<State>

  /// Creates a broadcast that sends to who listens at that time only.
  init() { state = Mutex(State()) }

  /// Creates a broadcast that keeps what nobody heard for the first who listens.
  /// - Parameters:
  ///   - limit: How much is kept in all; the oldest are dropped beyond it.
  ///   - weight: How much an element counts.
  init(keepingEarly limit: Int, weight: @escaping @Sendable (Element) -> Int) {
    state = Mutex(State(early: EarlyElements(limit: limit, weight: weight)))
  }

  /// How many elements were dropped, as readers were slow.
  var dropped: UInt64 { state.withLock { $0.dropped } }

  /// How many listen.
  var count: Int { state.withLock { $0.listeners.count } }

  /// Starts to listen; what was sent before is not heard, but for what is kept for the first who listens.
  func listen(
    limit: Int, where accepts: @escaping @Sendable (Element) -> Bool = { _ in true }
  ) -> BroadcastSequence<Element> {
    let mailbox = Mailbox<Element>(limit: limit)
    let id = state.withLock { state in
      state.last += 1
      for element in state.early?.elements ?? Fifo() where accepts(element) {
        if !mailbox.put(element) { state.dropped &+= 1 }
      }
      state.early = nil
      if state.isFinished {
        mailbox.finish()
      } else {
        state.listeners[state.last] = Listener(accepts: accepts, mailbox: mailbox)
      }
      return state.last
    }
    return BroadcastSequence(
      listening: Listening(
        mailbox, drop: { [weak self] in self?.noteDropped($0) },
        end: { [weak self] in self?.remove(id) }))
  }

  /// Sends an element to all who listen.
  /// - Parameters:
  ///   - element: The element.
  ///   - isHeard: Whether somebody got it by another way.
  func send(_ element: Element, isHeard: Bool = false) {
    state.withLock { state in
      if isHeard { state.early = nil } else { state.early?.append(element) }
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

  private func noteDropped(_ count: Int) {
    state.withLock { $0.dropped &+= UInt64(clamping: count) }
  }

  private func remove(_ id: UInt64) {
    _ = state.withLock { $0.listeners.removeValue(forKey: id) }
  }
}

/// The newest elements that come to so much together.
private struct EarlyElements<Element: Sendable>: Sendable {
  private let limit: Int
  private let weight: @Sendable (Element) -> Int
  private(set) var elements = Fifo<Element>()
  private var total = 0

  init(limit: Int, weight: @escaping @Sendable (Element) -> Int) {
    self.limit = limit
    self.weight = weight
  }

  mutating func append(_ element: Element) {
    elements.append(element)
    total += weight(element)
    while total > limit, let oldest = elements.popFirst() { total -= weight(oldest) }
  }
}

import RepriseCore
import Synchronization

/// What a thread has for tasks: a queue with one end in each world.
///
/// The thread never waits; it asks ``takeRoom()`` and leaves its source alone while there is none.
final class ThreadMailbox<Element: Sendable>: Sendable {
  private struct Waiter {
    let ticket: UInt64
    let continuation: CheckedContinuation<Element?, Never>
  }

  private struct State {
    var elements = Fifo<(element: Element, weight: Int)>()
    var weight = 0
    var waiters = Fifo<Waiter>()
    var lastTicket: UInt64 = 0
    var hasEnded = false
    var isWriterWaiting = false
  }

  private let state = Mutex(State())
  private let limit: Int
  private let whenThereIsRoom: @Sendable () -> Void

  /// Creates an empty queue.
  /// - Parameters:
  ///   - limit: The weight that may wait before ``takeRoom()`` says that there is no room.
  ///   - whenThereIsRoom: Called after that was said, when half of the room is free.
  init(limit: Int, whenThereIsRoom: @escaping @Sendable () -> Void = {}) {
    self.limit = max(1, limit)
    self.whenThereIsRoom = whenThereIsRoom
  }

  /// Adds an element; behind the end it is dropped.
  func append(_ element: Element, weight: Int = 1) {
    let waiter = state.withLock { state -> Waiter? in
      guard !state.hasEnded else { return nil }
      if let waiter = state.waiters.popFirst() { return waiter }
      state.elements.append((element, weight))
      state.weight += weight
      return nil
    }
    waiter?.continuation.resume(returning: element)
  }

  /// Says that nothing follows.
  func finish() {
    let waiters = state.withLock { state -> Fifo<Waiter> in
      state.hasEnded = true
      defer { state.waiters = Fifo() }
      return state.waiters
    }
    var rest = waiters
    while let waiter = rest.popFirst() { waiter.continuation.resume(returning: nil) }
  }

  /// Whether there is room; once there is none, `whenThereIsRoom` tells of the next.
  func takeRoom() -> Bool {
    state.withLock { state in
      if state.weight < limit { return true }
      state.isWriterWaiting = true
      return false
    }
  }

  /// Takes the element that waits longest, or waits for one.
  /// - Returns: The element; nil behind the last one, or when the task is cancelled.
  func next() async -> Element? {
    let (found, ticket) = state.withLock { state in
      state.lastTicket += 1
      return (take(&state), state.lastTicket)
    }
    if let found { return deliver(found) }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { wait(Waiter(ticket: ticket, continuation: $0)) }
    } onCancel: {
      cancel(ticket)
    }
  }

  /// Takes the element that waits longest, and waits for none.
  /// - Returns: The element; nil when there is none.
  func poll() -> Element? { state.withLock { take(&$0) }.map(deliver) }

  private typealias Found = (element: Element, isRoomNews: Bool)

  private enum Outcome { case found(Found), nothing, waits }

  private func take(_ state: inout State) -> Found? {
    guard let (element, weight) = state.elements.popFirst() else { return nil }
    state.weight -= weight
    let isNews = state.isWriterWaiting && state.weight <= limit / 2
    if isNews { state.isWriterWaiting = false }
    return (element, isNews)
  }

  private func deliver(_ found: Found) -> Element {
    if found.isRoomNews { whenThereIsRoom() }
    return found.element
  }

  private func wait(_ waiter: Waiter) {
    let outcome = state.withLock { state -> Outcome in
      if let found = take(&state) { return .found(found) }
      // Looked at under the lock: a cancellation that comes later finds the waiter.
      guard !state.hasEnded, !Task.isCancelled else { return .nothing }
      state.waiters.append(waiter)
      return .waits
    }
    switch outcome {
    case .found(let found): waiter.continuation.resume(returning: deliver(found))
    case .nothing: waiter.continuation.resume(returning: nil)
    case .waits: break
    }
  }

  private func cancel(_ ticket: UInt64) {
    let waiter = state.withLock { $0.waiters.removeFirst { $0.ticket == ticket } }
    waiter?.continuation.resume(returning: nil)
  }
}

import RepriseCore
import Synchronization
package import Wire

/// What a connection of a server is to write, and whoever waits until there is room for more.
package final class ServerOutbox: Sendable {
  /// Something to write.
  package enum Item: Sendable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case frame(WebSocketFrame)
    case close(code: UInt16?, reason: String)
    /// The end of the connection without a Close frame.
    case drop

    /// About how many bytes it takes.
    var weight: Int {
      switch self {
      case .text(let text): 16 + text.utf8.count
      case .binary(let bytes), .ping(let bytes): 16 + bytes.count
      case .frame(let frame): 16 + frame.payload.count
      case .close, .drop: 16
      }
    }
  }

  private struct Waiter {
    let ticket: UInt64
    let item: Item
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var items = Fifo<Item>()
    var weight = 0
    var waiters = Fifo<Waiter>()
    var lastTicket: UInt64 = 0
    var isClosed = false
  }

  static let closed = DataClientError(.notConnected, "the connection is closed")

  private let state = Mutex(State())
  private let limit: Int
  private let wake: @Sendable () -> Void

  /// Creates an empty queue.
  /// - Parameters:
  ///   - limit: The weight that may wait before ``add(_:)`` does.
  ///   - wake: Called when there is something to write.
  init(limit: Int, wake: @escaping @Sendable () -> Void) {
    self.limit = max(1, limit)
    self.wake = wake
  }

  /// Adds an item as soon as there is room.
  /// - Throws: `DataClientError` when the connection is closed, `CancellationError` when the task was
  ///   cancelled before there was room; nothing is written then.
  func add(_ item: Item) async throws {
    try Task.checkCancellation()
    let (isAdded, ticket) = state.withLock { state in
      state.lastTicket += 1
      return (append(item, to: &state), state.lastTicket)
    }
    if isAdded { return wake() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        wait(Waiter(ticket: ticket, item: item, continuation: $0))
      }
    } onCancel: {
      cancel(ticket)
    }
    wake()
  }

  /// Adds the last item, which waits for no room.
  /// - Returns: Whether the connection was not closed already.
  @discardableResult
  func close(code: UInt16?, reason: String) -> Bool {
    end(with: .close(code: code, reason: reason))
  }

  /// Adds the end without a Close frame, which waits for no room.
  /// - Returns: Whether the connection was not closed already.
  func drop() -> Bool { end(with: .drop) }

  private func end(with item: Item) -> Bool {
    let waiters = state.withLock { state -> Fifo<Waiter>? in
      guard !state.isClosed else { return nil }
      state.isClosed = true
      state.items.append(item)
      defer { state.waiters = Fifo() }
      return state.waiters
    }
    guard let waiters else { return false }
    refuse(waiters)
    wake()
    return true
  }

  /// Whether nothing is added any more: the last item waits, or the connection is over.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Takes the item that is written next.
  func take() -> Item? {
    let (item, ready) = state.withLock { state -> (Item?, [Waiter]) in
      guard let item = state.items.popFirst() else { return (nil, []) }
      state.weight -= item.weight
      var ready: [Waiter] = []
      while state.weight < limit, let waiter = state.waiters.popFirst() {
        state.items.append(waiter.item)
        state.weight += waiter.item.weight
        ready.append(waiter)
      }
      return (item, ready)
    }
    for waiter in ready { waiter.continuation.resume() }
    return item
  }

  /// Drops everything: the connection is over.
  func end() {
    let waiters = state.withLock { state -> Fifo<Waiter> in
      state.isClosed = true
      state.items = Fifo()
      state.weight = 0
      defer { state.waiters = Fifo() }
      return state.waiters
    }
    refuse(waiters)
  }

  private func refuse(_ waiters: Fifo<Waiter>) {
    var rest = waiters
    while let waiter = rest.popFirst() { waiter.continuation.resume(throwing: Self.closed) }
  }

  /// Adds an item if there is room, and nobody was there before.
  private func append(_ item: Item, to state: inout State) -> Bool {
    guard !state.isClosed, state.waiters.isEmpty, state.weight < limit else { return false }
    state.items.append(item)
    state.weight += item.weight
    return true
  }

  private func wait(_ waiter: Waiter) {
    enum Outcome { case added, failed(any Error), waits }
    let outcome = state.withLock { state -> Outcome in
      if state.isClosed { return .failed(Self.closed) }
      if Task.isCancelled { return .failed(CancellationError()) }
      if append(waiter.item, to: &state) { return .added }
      state.waiters.append(waiter)
      return .waits
    }
    switch outcome {
    case .added: waiter.continuation.resume()
    case .failed(let error): waiter.continuation.resume(throwing: error)
    case .waits: break
    }
  }

  private func cancel(_ ticket: UInt64) {
    let waiter = state.withLock { $0.waiters.removeFirst { $0.ticket == ticket } }
    waiter?.continuation.resume(throwing: CancellationError())
  }
}

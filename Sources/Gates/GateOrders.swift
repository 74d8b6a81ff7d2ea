import LiveClient
import RepriseCore
import Synchronization

/// What a gate can be told to do.
enum GateCommand: Sendable {
  case accept
  case refuse(UInt8)
  case grant([QoS?]?)
  case acknowledge
  /// Breaks the connection off.
  case lose
  /// Closes the connection in good order.
  case hangUp
  case pass
  case hold
  /// Waits for the CONNECT of a connection later than one.
  case awaitConnect(after: UInt64)
  /// Waits until a connection has brought so many filters and messages.
  case awaitRequests(UInt64, count: Int)
  /// Lets a connection say DISCONNECT, and waits for it.
  case awaitGoodbye(UInt64)
}

/// What a ``BrokerGate`` was told and has not done yet.
typealias GateOrders = OrderList<GateCommand>

/// What a gate was told and has not done yet, on its way to the thread that does it.
final class OrderList<Command: Sendable>: Sendable {
  /// A command, and who waits for it.
  struct Order: Sendable {
    let ticket: UInt64
    let command: Command
    let deadline: Timestamp
    /// Gets the number of the connection that it was done on.
    let continuation: CheckedContinuation<UInt64, any Error>
  }

  /// What came since the thread last looked.
  struct Batch {
    var orders: [Order] = []
    /// The tickets of those that nobody waits for any more.
    var cancelled: Set<UInt64> = []
    /// Whether the gate is closed.
    var isClosed = false
  }

  private struct State {
    var batch = Batch()
    var lastTicket: UInt64 = 0
    var lastConnection: UInt64 = 0
  }

  static var closed: DataClientError { DataClientError(.transport, "the gate is closed") }

  private let state = Mutex(State())
  private let waker: Waker
  private let clock = LiveClock()
  private let limit: Duration

  /// Creates an empty list.
  /// - Parameters:
  ///   - limit: How long an order may take.
  ///   - waker: Wakes the thread.
  init(limit: Duration, waker: Waker) {
    self.limit = limit
    self.waker = waker
  }

  /// The number of the connection that came last.
  var lastConnection: UInt64 {
    get { state.withLock { $0.lastConnection } }
    set { state.withLock { $0.lastConnection = newValue } }
  }

  /// Has a command done, and waits for it.
  /// - Parameter command: The command.
  /// - Returns: The number of the connection that it was done on.
  /// - Throws: ``DataClientError`` when it could not be done, and `CancellationError`.
  @discardableResult func carryOut(_ command: Command) async throws -> UInt64 {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        add(
          Order(
            ticket: ticket, command: command, deadline: clock.now.advanced(by: limit),
            continuation: continuation))
      }
    } onCancel: {
      state.withLock { state in
        _ = state.batch.cancelled.insert(ticket)
      }
      waker.wake()
    }
  }

  private func add(_ order: Order) {
    let refusal = state.withLock { state -> (any Error)? in
      if state.batch.isClosed { return Self.closed }
      // Cancellation before this point is seen here, and after it by the thread.
      if Task.isCancelled { return CancellationError() }
      state.batch.orders.append(order)
      return nil
    }
    if let refusal { order.continuation.resume(throwing: refusal) } else { waker.wake() }
  }

  /// Takes what came.
  func take() -> Batch {
    state.withLock { state in
      let batch = state.batch
      state.batch = Batch(isClosed: batch.isClosed)
      return batch
    }
  }

  /// Ends the thread; orders that come later fail.
  func close() {
    state.withLock { $0.batch.isClosed = true }
    waker.wake()
  }
}

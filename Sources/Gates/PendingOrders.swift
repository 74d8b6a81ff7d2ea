import RepriseCore

/// What a gate's thread was told and has not done yet, in the order in which it was told.
struct PendingOrders<Command: Sendable> {
  /// An order that is not done.
  struct Pending {
    let order: OrderList<Command>.Order
    /// The connection whose end the order waits for, once it has begun.
    var ending: UInt64?

    var command: Command { order.command }
  }

  private var pending: [Pending] = []

  /// When the orders have to be done at the latest.
  var deadlines: [Timestamp] { pending.map(\.order.deadline) }

  /// Takes what came since the last time, and drops what nobody waits for any more.
  /// - Parameter orders: What came.
  /// - Returns: Whether the gate is still open; behind its end all orders have failed.
  mutating func take(from orders: OrderList<Command>) -> Bool {
    let batch = orders.take()
    for order in batch.orders { pending.append(Pending(order: order)) }
    drop(batch.cancelled)
    guard batch.isClosed else { return true }
    for order in pending {
      order.order.continuation.resume(throwing: OrderList<Command>.closed)
    }
    pending = []
    return false
  }

  private mutating func drop(_ cancelled: Set<UInt64>) {
    guard !cancelled.isEmpty else { return }
    for order in pending where cancelled.contains(order.order.ticket) {
      order.order.continuation.resume(throwing: CancellationError())
    }
    pending.removeAll { cancelled.contains($0.order.ticket) }
  }

  /// Does what can be done; the rest waits, unless its time is over.
  /// - Parameters:
  ///   - now: The time.
  ///   - lateness: What is said of a command whose time is over.
  ///   - carryOut: Does what was ordered, if it can be done: returns the number of the connection that
  ///     it was done on, nil when it can't be done yet, and throws when it never can.
  mutating func carryOut(
    _ now: Timestamp, lateness: (Command) -> DataClientError,
    _ carryOut: (inout Pending) throws(DataClientError) -> UInt64?
  ) {
    var waiting: [Pending] = []
    for var order in pending {
      let continuation = order.order.continuation
      do throws(DataClientError) {
        if let number = try carryOut(&order) {
          continuation.resume(returning: number)
        } else if order.order.deadline <= now {
          continuation.resume(throwing: lateness(order.command))
        } else {
          waiting.append(order)
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
    pending = waiting
  }
}

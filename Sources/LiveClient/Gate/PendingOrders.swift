import DataClient

/// What a gate was told and could not do yet, on the thread that does it.
struct PendingOrders<Command: Sendable> {
  /// An order that waits.
  struct Pending {
    let order: OrderList<Command>.Order
    /// The connection whose end the order waits for, once it has begun.
    var ending: UInt64?
  }

  private var pending: [Pending] = []

  /// When orders are late.
  var deadlines: [Timestamp] { pending.map(\.order.deadline) }

  /// Takes what came, and answers whoever waits for nothing any more.
  /// - Parameter batch: What came since the last time.
  /// - Returns: Whether the gate is open; if not, all orders are refused.
  mutating func take(_ batch: OrderList<Command>.Batch) -> Bool {
    for order in batch.orders { pending.append(Pending(order: order)) }
    if !batch.cancelled.isEmpty {
      pending.removeAll { pending in
        guard batch.cancelled.contains(pending.order.ticket) else { return false }
        pending.order.continuation.resume(throwing: CancellationError())
        return true
      }
    }
    guard batch.isClosed else { return true }
    for pending in pending {
      pending.order.continuation.resume(throwing: OrderList<Command>.closed)
    }
    pending = []
    return false
  }

  /// Does what can be done of what was ordered; the rest waits.
  /// - Parameters:
  ///   - now: The time.
  ///   - lateness: Says what is missing for a command whose time is up.
  ///   - carryOut: Does what was ordered, if it can be done, and returns the number of the connection that it was
  ///     done on; nil when it can't be done yet.
  mutating func carryOut(
    at now: Timestamp, lateness: (Command) -> DataClientError,
    _ carryOut: (inout Pending) throws(DataClientError) -> UInt64?
  ) {
    var waiting: [Pending] = []
    for var pending in pending {
      let continuation = pending.order.continuation
      do throws(DataClientError) {
        if let number = try carryOut(&pending) {
          continuation.resume(returning: number)
        } else if pending.order.deadline <= now {
          continuation.resume(throwing: lateness(pending.order.command))
        } else {
          waiting.append(pending)
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
    pending = waiting
  }
}

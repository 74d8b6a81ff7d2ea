import Synchronization

/// A world whose clients take turns, as a value.
package protocol TurnWorld: Sendable {
  /// What a client gets when it is its turn.
  associatedtype Turn: Sendable

  /// The readers that wait.
  var table: TurnTable<Turn> { get set }

  /// A task waits for a client's turn.
  mutating func wait(
    _ seat: TurnTable<Turn>.Seat, _ reader: TurnTable<Turn>.Reader, now: Timestamp
  ) -> [TurnTable<Turn>.Resumption]

  /// Gives the turns that there are.
  mutating func settle(_ now: Timestamp) -> [TurnTable<Turn>.Resumption]
}

extension TurnWorld {
  /// Turns a cancelled reader away; the others do not wait for its client until it reads again.
  fileprivate mutating func rest(
    _ seat: TurnTable<Turn>.Seat, _ reader: TurnTable<Turn>.Reader, now: Timestamp
  ) -> [TurnTable<Turn>.Resumption] {
    table.rest(seat)
    return [.init(reader, CancellationError())] + settle(now)
  }
}

/// A world whose clients take turns, and the tasks that wait for them.
package final class TurnTaking<World: TurnWorld>: Sendable {
  package typealias Seat = TurnTable<World.Turn>.Seat
  private let world: Mutex<World>

  /// Creates a world.
  package init(_ world: consuming sending World) { self.world = Mutex(world) }

  /// Reads or changes something that gives nobody a turn.
  package func with<Value: Sendable, Failure: Error>(
    _ body: (inout World) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try world.withLock { world throws(Failure) in try body(&world) }
  }

  /// Changes something, and resumes those whose turn it is then.
  package func resume<Failure: Error>(
    _ change: (inout World) throws(Failure) -> [TurnTable<World.Turn>.Resumption]
  ) throws(Failure) {
    let resumptions = try world.withLock { world throws(Failure) in try change(&world) }
    for resumption in resumptions { resumption.continuation.resume(with: resumption.result) }
  }

  /// Waits for a client's turn.
  /// - Parameters:
  ///   - seat: The client.
  ///   - deadline: When to stop waiting.
  ///   - now: The time in the world; it is asked for when nobody holds the lock of it.
  ///   - waiting: Is called when the task waits.
  /// - Returns: The turn.
  /// - Throws: `CancellationError`, and what the world turns a reader away with.
  package func turn(
    of seat: Seat, before deadline: Timestamp?, now: @escaping @Sendable () -> Timestamp,
    waiting: () -> Void = {}
  ) async throws -> World.Turn {
    let ticket = world.withLock { $0.table.makeTicket() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let reader = TurnTable<World.Turn>.Reader(
          deadline: deadline, ticket: ticket, continuation: continuation)
        let time = now()
        // Cancellation before this point is seen here, and after it by the handler.
        resume {
          Task.isCancelled
            ? $0.rest(seat, reader, now: time) : $0.wait(seat, reader, now: time)
        }
        waiting()
      }
    } onCancel: {
      let time = now()
      resume { world in
        guard let reader = world.table.takeReader(seat, ticket: ticket) else { return [] }
        return world.rest(seat, reader, now: time)
      }
    }
  }
}

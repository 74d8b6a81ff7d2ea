import Synchronization

/// What there is for the reader of a world in virtual time, as a value.
package protocol EventSource: Sendable {
  /// Takes what there is for a reader.
  /// - Parameter deadline: When the reader stops waiting: time passes to what comes before, or to it.
  /// - Returns: The event; nil when the reader has to wait, which one with a deadline never has.
  mutating func take(before deadline: Timestamp?) -> ClientEvent?
}

/// The reading half of a ``DataClient`` in virtual time: one task at a time waits for what a source has, is
/// woken, and can be cancelled.
package final class EventDesk<Source: EventSource>: Sendable {
  private struct Reader {
    let ticket: UInt64
    let continuation: CheckedContinuation<ClientEvent, any Error>
  }

  private struct State {
    var source: Source
    var isWoken = false
    var reader: Reader?
    var lastTicket: UInt64 = 0

    mutating func take(before deadline: Timestamp?) -> ClientEvent? {
      guard isWoken else { return source.take(before: deadline) }
      isWoken = false
      return .woken
    }
  }

  private let state: Mutex<State>

  /// Creates a desk at which nobody waits.
  /// - Parameter source: What there is.
  package init(_ source: Source) { state = Mutex(State(source: source)) }

  /// Whether a task waits.
  package var isAwaited: Bool { state.withLock { $0.reader != nil } }

  /// Returns something of the source as it is.
  /// - Parameter property: What.
  /// - Returns: What the property has.
  package func read<Value: Sendable>(_ property: (Source) -> Value) -> Value {
    state.withLock { property($0.source) }
  }

  /// Changes the source, and gives a waiting reader what there is now.
  /// - Parameter body: The change.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws; the reader waits on then.
  package func change<Value: Sendable, Failure: Error>(
    _ body: (inout Source) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    let value = try state.withLock { state throws(Failure) in try body(&state.source) }
    deliver()
    return value
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and ``DataClientError`` when another task waits already.
  package func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let ticket = state.withLock { state in
      state.lastTicket += 1
      return state.lastTicket
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result = state.withLock { state -> Result<ClientEvent, any Error>? in
          // Cancellation before this point is seen here, and after it by the handler.
          if Task.isCancelled { return .failure(CancellationError()) }
          if let event = state.take(before: deadline) { return .success(event) }
          guard state.reader == nil else {
            return .failure(DataClientError(.invalidAction, "only one task can wait for events"))
          }
          state.reader = Reader(ticket: ticket, continuation: continuation)
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let reader = state.withLock { $0.reader?.ticket == ticket ? $0.reader.take() : nil }
      reader?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Makes the pending, or the next, ``next(before:)`` return `woken`.
  package func wake() {
    state.withLock { $0.isWoken = true }
    deliver()
  }

  private func deliver() {
    let (reader, event) = state.withLock { state -> (Reader?, ClientEvent?) in
      guard state.reader != nil, let event = state.take(before: nil) else { return (nil, nil) }
      return (state.reader.take(), event)
    }
    if let event { reader?.continuation.resume(returning: event) }
  }
}

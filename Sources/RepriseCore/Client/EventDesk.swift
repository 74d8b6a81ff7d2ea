import Synchronization

/// What there is for the reader of a world in virtual time, as a value.
package protocol EventSource: Sendable {
  /// Takes what there is for a reader.
  /// - Parameter deadline: When the reader stops waiting: time passes to what comes before, or to it.
  /// - Returns: The event; nil when the reader has to wait, until a change gives it something.
  mutating func take(before deadline: Timestamp?) -> ClientEvent?
}

/// The reading half of a ``DataClient`` in virtual time: one task at a time waits for what a source has, is
/// woken, and can be cancelled.
package final class EventDesk<Source: EventSource>: Sendable {
  private struct Reader {
    let ticket: UInt64
    let deadline: Timestamp?
    let continuation: CheckedContinuation<ClientEvent, any Error>
  }

  /// A waiting reader with what there is for it.
  private struct Delivery {
    let reader: Reader
    let event: ClientEvent

    func resume() { reader.continuation.resume(returning: event) }
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

    /// Takes the reader that waits, and what there is for it now.
    mutating func takeDelivery() -> Delivery? {
      guard let reader, let event = take(before: reader.deadline) else { return nil }
      self.reader = nil
      return Delivery(reader: reader, event: event)
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
    let (value, delivery) = try state.withLock { state throws(Failure) in
      (try body(&state.source), state.takeDelivery())
    }
    delivery?.resume()
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
          state.reader = Reader(
            ticket: ticket, deadline: deadline, continuation: continuation)
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
    let delivery = state.withLock { state in
      state.isWoken = true
      return state.takeDelivery()
    }
    delivery?.resume()
  }
}

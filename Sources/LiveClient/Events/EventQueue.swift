package import RepriseCore
import Synchronization

/// What happened and was not asked for yet, and whoever waits for it: the receiving half of a live
/// client.
///
/// It keeps what ``DataClient`` promises about ``DataClient/next(before:)``: order, time, waking
/// and cancellation. Events carry the time at which they came, so a deadline that was reached
/// before an event came is told before it, however late the user asks.
package final class EventQueue: Sendable {
  /// The clock that events are timed by.
  let clock = LiveClock()
  private let limit: Int
  private let byteLimit: Int
  private let timer: Waker
  private let whenThereIsRoom: @Sendable () -> Void
  private let state: Mutex<State>

  /// Creates an empty queue.
  /// - Parameters:
  ///   - limit: How many events may wait before ``takeRoom()`` says that there is none.
  ///   - byteLimit: How many bytes may wait.
  ///   - whenThereIsRoom: Called after somebody was told that there is no room, when half of it is
  ///     free.
  /// - Throws: ``DataClientError`` when there are no file descriptors left.
  package init(
    limit: Int, byteLimit: Int, whenThereIsRoom: @escaping @Sendable () -> Void
  ) throws(DataClientError) {
    self.limit = max(1, limit)
    self.byteLimit = max(1, byteLimit)
    self.whenThereIsRoom = whenThereIsRoom
    timer = try Waker()
    state = Mutex(State(now: clock.now))
  }

  /// The time in this world: it stands still while events wait.
  package var now: Timestamp {
    let moment = clock.now
    return state.withLock { state in
      if state.events.isEmpty { state.now = max(state.now, moment) }
      return state.now
    }
  }

  // MARK: - The reader

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: `CancellationError`, and ``DataClientError`` when somebody else is waiting.
  package func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try Task.checkCancellation()
    let (found, ticket, hasRoom) = state.withLock { state in
      let found = state.take(before: deadline, moment: { clock.now })
      state.lastTicket += 1
      return (found, state.lastTicket, roomIsNews(&state))
    }
    if hasRoom { whenThereIsRoom() }
    if let found { return found }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        wait(Waiter(ticket: ticket, deadline: deadline, continuation: continuation))
      }
    } onCancel: {
      cancel(ticket)
    }
  }

  /// Makes a pending call of ``next(before:)``, or the next one, return ``ClientEvent/woken``.
  package func wake() {
    let waiter = state.withLock { state -> Waiter? in
      guard let waiter = state.waiter.take() else {
        state.isWoken = true
        return nil
      }
      state.now = max(state.now, clock.now)
      return waiter
    }
    waiter?.continuation.resume(returning: .woken)
  }

  private func wait(_ waiter: Waiter) {
    enum Outcome { case event(ClientEvent), failed(any Error), waits(timerSleepsTooLong: Bool) }
    let outcome = state.withLock { state -> Outcome in
      if Task.isCancelled { return .failed(CancellationError()) }
      if let event = state.take(before: waiter.deadline, moment: { clock.now }) {
        return .event(event)
      }
      guard state.waiter == nil else {
        return .failed(
          DataClientError(.invalidAction, "another task waits for the next event already"))
      }
      state.waiter = waiter
      guard let deadline = waiter.deadline else { return .waits(timerSleepsTooLong: false) }
      return .waits(timerSleepsTooLong: state.timerWakesAt.map { deadline < $0 } ?? true)
    }
    switch outcome {
    case .event(let event): waiter.continuation.resume(returning: event)
    case .failed(let error): waiter.continuation.resume(throwing: error)
    case .waits(let timerSleepsTooLong): if timerSleepsTooLong { timer.wake() }
    }
  }

  private func cancel(_ ticket: UInt64) {
    let waiter = state.withLock { state in
      state.waiter?.ticket == ticket ? state.waiter.take() : nil
    }
    waiter?.continuation.resume(throwing: CancellationError())
  }

  // MARK: - The writer

  /// Adds events that came just now.
  package func append(_ events: [ClientEvent]) {
    guard !events.isEmpty else { return }
    let handedOver = state.withLock { state -> (Waiter, ClientEvent)? in
      let moment = max(state.now, clock.now)
      for event in events { state.append(event, at: moment) }
      guard
        let waiter = state.waiter,
        let event = state.take(before: waiter.deadline, moment: { moment })
      else { return nil }
      state.waiter = nil
      return (waiter, event)
    }
    if let (waiter, event) = handedOver { waiter.continuation.resume(returning: event) }
  }

  /// How many events and bytes may still be added; once there is none, `whenThereIsRoom` tells of
  /// the next.
  func takeRoom() -> (events: Int, bytes: Int) {
    state.withLock { state in
      let events = limit - state.events.count
      let bytes = byteLimit - state.bytes
      guard events > 0, bytes > 0 else {
        state.isWriterWaiting = true
        return (0, 0)
      }
      return (events, bytes)
    }
  }

  private func roomIsNews(_ state: inout State) -> Bool {
    guard
      state.isWriterWaiting, state.events.count <= limit / 2, state.bytes <= byteLimit / 2
    else { return false }
    state.isWriterWaiting = false
    return true
  }

  // MARK: - The timer

  /// Tells of deadlines when they pass; runs on a thread of its own until ``stop()``.
  package func runTimer() {
    while true {
      let milliseconds = state.withLock { state -> Int32? in
        guard !state.isStopped else { return nil }
        state.timerWakesAt = state.waiter?.deadline
        return state.timerWakesAt.map(clock.milliseconds) ?? -1
      }
      guard let milliseconds else { return }
      _ = timer.wait(milliseconds: milliseconds)
      let waiter = state.withLock { state -> Waiter? in
        let moment = clock.now
        guard let deadline = state.waiter?.deadline, deadline <= moment else { return nil }
        state.now = max(state.now, moment)
        return state.waiter.take()
      }
      waiter?.continuation.resume(returning: .deadline)
    }
  }

  /// Ends ``runTimer()``.
  package func stop() {
    state.withLock { $0.isStopped = true }
    timer.wake()
  }
}

extension EventQueue {
  /// A call of ``EventQueue/next(before:)`` that waits.
  private struct Waiter {
    let ticket: UInt64
    let deadline: Timestamp?
    let continuation: CheckedContinuation<ClientEvent, any Error>
  }

  private struct State {
    var now: Timestamp
    var events = Fifo<(event: ClientEvent, moment: Timestamp)>()
    var bytes = 0
    var waiter: Waiter?
    var lastTicket: UInt64 = 0
    var isWoken = false
    var isWriterWaiting = false
    var isStopped = false
    /// When the timer will look again, as it thinks; nil is never.
    var timerWakesAt: Timestamp?

    init(now: Timestamp) { self.now = now }

    mutating func append(_ event: ClientEvent, at moment: Timestamp) {
      events.append((event, moment))
      bytes += event.weight
    }

    /// What there is to return at once, if anything.
    mutating func take(before deadline: Timestamp?, moment: () -> Timestamp) -> ClientEvent? {
      if isWoken {
        isWoken = false
        if events.isEmpty { now = max(now, moment()) }
        return .woken
      }
      guard let came = events.first?.moment else {
        now = max(now, moment())
        return deadline.map { $0 <= now } ?? false ? .deadline : nil
      }
      if let deadline, deadline > now, deadline < came {
        now = deadline
        return .deadline
      }
      now = max(now, came)
      guard let event = events.popFirst()?.event else { return nil }
      bytes -= event.weight
      return event
    }
  }
}

extension ClientEvent {
  /// About how many bytes of memory the event holds.
  var weight: Int {
    switch self {
    case .message(let message): message.weight
    case .text(let text): 128 + text.utf8.count
    case .binary(let bytes): 128 + bytes.count
    case .response(_, let response): 128 + response.body.count
    case .failed(_, .refused(_, let reason)): 128 + (reason?.utf8.count ?? 0)
    case .failed(_, .unanswered(_, let text)): 128 + text.utf8.count
    case .subscribed(_, let granted): 128 + granted.count
    case .connected, .unsubscribed, .published, .closed, .deadline, .woken, .ended: 128
    }
  }
}

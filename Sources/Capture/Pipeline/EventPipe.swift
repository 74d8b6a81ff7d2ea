import Dispatch
import RepriseCore
import Synchronization

/// What leads the events of one thread to another, in batches of which no more than two are on their way: a reader that
/// is faster than what takes its events waits for it.
final class EventPipe: Sendable {
  private struct State {
    var full = Fifo<EventBatch>()
    var empty: [EventBatch] = []
    var isStopped = false
    var outcome: Result<InputSummary, any Error>?
  }

  private static let places = 2

  private let state = Mutex(State())
  /// As many signals as batches are full, and one for the end.
  private let filled = DispatchSemaphore(value: 0)
  /// As many signals as places are free.
  private let free = DispatchSemaphore(value: 0)

  init() {
    for _ in 0..<Self.places { free.signal() }
  }

  // MARK: The thread that reads

  /// Hands a batch on, as soon as there is a place for it.
  /// - Parameter batch: The batch; another one, which is empty, comes in its place.
  /// - Returns: Whether more events are wanted.
  func send(_ batch: inout EventBatch) -> Bool {
    free.wait()
    let isLarge = batch.isLarge
    let isWanted = state.withLock { state in
      guard !state.isStopped else { return false }
      let next = state.empty.popLast()
      state.full.append(batch)
      batch = next ?? EventBatch()
      return true
    }
    guard isWanted else {
      free.signal()
      return false
    }
    filled.signal()
    // Beside a large one no other is made: it is waited for until all are taken.
    if isLarge {
      for _ in 0..<Self.places { free.wait() }
      for _ in 0..<Self.places { free.signal() }
    }
    return true
  }

  /// Tells what came of reading, when all events are sent.
  func end(_ outcome: Result<InputSummary, any Error>) {
    state.withLock { $0.outcome = outcome }
    filled.signal()
  }

  // MARK: The thread that takes the events

  /// Hands all events on as they come.
  /// - Parameter consumer: What takes them; when it throws, reading is over.
  /// - Returns: What was read.
  /// - Throws: What the consumer throws, or else what reading ended with.
  func drain(into consumer: inout some EventConsumer) throws -> InputSummary {
    var failure: (any Error)?
    while true {
      filled.wait()
      let (batch, outcome) = state.withLock { ($0.full.popFirst(), $0.outcome) }
      guard var batch else {
        if let failure { throw failure }
        guard let outcome else { continue }
        return try outcome.get()
      }
      if failure == nil {
        do { try batch.handOn(to: &consumer) } catch {
          failure = error
          state.withLock { $0.isStopped = true }
        }
      }
      batch.removeAll()
      state.withLock { $0.empty.append(batch) }
      free.signal()
    }
  }
}

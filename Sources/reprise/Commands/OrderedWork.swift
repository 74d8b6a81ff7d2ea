import Dispatch
import RepriseCore
import Synchronization

/// Work that several threads do piece by piece, and whose results are taken in order.
///
/// No thread is more than a few pieces ahead of what is taken, so that results do not heap up.
final class OrderedWork<Value: Sendable>: Sendable {
  private struct State {
    var next = 0
    var isStopped = false
    var results: [Int: Result<Value, any Error>] = [:]
  }

  private let count: Int
  private let threads: Int
  private let work: @Sendable (Int) throws -> Value
  private let state = Mutex(State())
  /// As many signals as pieces may be begun.
  private let free: DispatchSemaphore
  /// As many signals as results were not waited for.
  private let done = DispatchSemaphore(value: 0)
  /// As many signals as threads may work.
  private let places: DispatchSemaphore

  /// Prepares to work.
  /// - Parameters:
  ///   - count: How many pieces there are.
  ///   - threads: How many threads work on them, at least 1.
  ///   - work: Does the piece of a number, from 0.
  init(_ count: Int, threads: Int, _ work: @escaping @Sendable (Int) throws -> Value) {
    self.count = count
    self.threads = max(1, threads)
    self.work = work
    free = DispatchSemaphore(value: 0)
    places = DispatchSemaphore(value: 0)
  }

  /// Does all pieces.
  /// - Parameter take: Takes the results in order, on the thread that calls.
  /// - Throws: What the first piece throws that throws, what `take` does, and ``DataClientError`` where the system gives
  ///   no thread.
  func run(_ take: (Int, Value) throws -> Void) throws {
    for _ in 0..<threads { places.signal() }
    for _ in 0..<threads * 2 { free.signal() }
    var started: [WorkerThread] = []
    defer {
      state.withLock { $0.isStopped = true }
      for _ in started { free.signal() }
      for thread in started { thread.join() }
    }
    for _ in 0..<threads { started.append(try WorkerThread { self.doPieces() }) }
    for index in 0..<count {
      try take(index, result(of: index).get())
      free.signal()
    }
  }

  /// Does something while no thread works on a piece; only `take` may do that.
  func alone<Result>(_ body: () throws -> Result) rethrows -> Result {
    for _ in 0..<threads { places.wait() }
    defer { for _ in 0..<threads { places.signal() } }
    return try body()
  }

  private func result(of index: Int) -> Result<Value, any Error> {
    while true {
      if let result = state.withLock({ $0.results.removeValue(forKey: index) }) { return result }
      done.wait()
    }
  }

  private func doPieces() {
    while true {
      free.wait()
      let piece = state.withLock { state -> Int? in
        guard !state.isStopped, state.next < count else { return nil }
        defer { state.next += 1 }
        return state.next
      }
      guard let piece else { return }
      places.wait()
      let result = Result { try work(piece) }
      places.signal()
      state.withLock { $0.results[piece] = result }
      done.signal()
    }
  }
}

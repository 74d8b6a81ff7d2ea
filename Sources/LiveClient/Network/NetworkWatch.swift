import Glibc
import RepriseCore
import Synchronization

/// What a monitor knows, who reads it, and what its thread does.
final class NetworkWatch: Sendable {
  /// What a reader has not read yet.
  ///
  /// Changes take turns, so that of three the first and the last are the same: one of them is enough, and there are
  /// never more than two.
  struct Unread: Sendable, Hashable {
    private(set) var changes: [Bool]

    init(_ isReachable: Bool) { changes = [isReachable] }

    /// Adds a change.
    mutating func append(_ isReachable: Bool) {
      if changes.count == 2 { changes.removeLast() } else { changes.append(isReachable) }
    }

    /// Takes the next change; nil when all are read.
    mutating func take() -> Bool? { changes.isEmpty ? nil : changes.removeFirst() }
  }

  private struct Reader {
    var unread: Unread
    /// Is told whenever there is something to read, and of the end.
    let teller: AsyncStream<Void>.Continuation
  }

  private struct State {
    var isReachable: Bool
    var readers: [UInt64: Reader] = [:]
    var lastReader: UInt64 = 0
    var isStopped = false
  }

  private let state: Mutex<State>
  private let waker: Waker

  /// Creates what knows the present.
  /// - Parameter isReachable: Whether there is a network.
  /// - Throws: ``DataClientError`` when there are no file descriptors left.
  init(_ isReachable: Bool) throws(DataClientError) {
    waker = try Waker()
    state = Mutex(State(isReachable: isReachable))
  }

  var isReachable: Bool { state.withLock(\.isReachable) }

  // MARK: Readers

  /// Adds a reader, for whom the present is news.
  func addReader(_ teller: AsyncStream<Void>.Continuation) -> UInt64 {
    let (id, isStopped) = state.withLock { state in
      state.lastReader += 1
      state.readers[state.lastReader] = Reader(unread: Unread(state.isReachable), teller: teller)
      return (state.lastReader, state.isStopped)
    }
    if isStopped { teller.finish() }
    return id
  }

  func removeReader(_ id: UInt64) { _ = state.withLock { $0.readers.removeValue(forKey: id) } }

  /// Takes what a reader has not read yet; nil when there is nothing.
  func takeChange(of id: UInt64) -> Bool? { state.withLock { $0.readers[id]?.unread.take() } }

  // MARK: The thread

  /// Watches until it is stopped.
  func run(_ socket: RouteSocket) {
    while !state.withLock(\.isStopped) {
      _ = waker.wait(on: socket.number, events: Int32(POLLIN), milliseconds: -1)
      switch socket.takeNews() {
      case .none: continue
      case .changed:
        // A system that is short of memory tells it another time.
        guard let addresses = try? [InterfaceAddress].ofThisMachine() else { continue }
        note(addresses.haveNetwork)
      case .end: stop()
      }
    }
  }

  /// Tells readers, if it is another than before.
  func note(_ isReachable: Bool) {
    let tellers = state.withLock { state -> [AsyncStream<Void>.Continuation] in
      guard isReachable != state.isReachable, !state.isStopped else { return [] }
      state.isReachable = isReachable
      for id in state.readers.keys { state.readers[id]?.unread.append(isReachable) }
      return state.readers.values.map(\.teller)
    }
    for teller in tellers { teller.yield() }
  }

  /// Ends the thread's work and all reading.
  func stop() {
    let tellers = state.withLock { state in
      state.isStopped = true
      return state.readers.values.map(\.teller)
    }
    for teller in tellers { teller.finish() }
    waker.wake()
  }
}

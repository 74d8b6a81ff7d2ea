extension ReplayClient {
  /// The machine with those who wait for it.
  struct State {
    var machine: ReplayMachine
    /// Counts everything that a waiting task may want to look at.
    var changes: UInt64 = 0
    /// Whether the reader waits for an action, be it suspended already or not.
    var isReaderWaiting = false
    var isFinished = false
    /// The passing of time, where it passes; nil before and whenever the session waited for its user.
    var course: ReplayCourse?
    /// The place in a time that several clients share.
    var seat: SharedSeat?
    private var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    private var tickets: UInt64 = 0

    init(_ session: ReplaySession, _ options: ReplayOptions) {
      machine = ReplayMachine(session, options)
    }

    /// Notes a change.
    /// - Returns: The tasks that wait for one, to be resumed outside the lock.
    mutating func change() -> [CheckedContinuation<Void, Never>] {
      changes &+= 1
      isReaderWaiting = false
      guard !waiters.isEmpty else { return [] }
      defer { waiters.removeAll() }
      return Array(waiters.values)
    }

    mutating func makeTicket() -> UInt64 {
      tickets &+= 1
      return tickets
    }

    mutating func add(_ waiter: CheckedContinuation<Void, Never>, _ ticket: UInt64) {
      waiters[ticket] = waiter
    }

    mutating func remove(_ ticket: UInt64) -> CheckedContinuation<Void, Never>? {
      waiters.removeValue(forKey: ticket)
    }
  }
}

import RepriseCore
import Synchronization

/// A world whose events and whose time the test makes.
///
/// Time stands still but for ``advance(by:)``, and events are those that were fed or that the
/// responder gives. It keeps every event, however many there are.
final class ScriptedClient: DataClient {
  /// Answers an action that was performed at a time.
  typealias Responder = @Sendable (ClientAction, Timestamp) throws -> [ClientEvent]

  private struct State {
    var now: Timestamp
    var events: [ClientEvent] = []
    var first = 0
    var reader: CheckedContinuation<ClientEvent, any Error>?
    var deadline: Timestamp?
    var isWoken = false
    var performed: [ClientAction] = []
    var parkedWaiters: [CheckedContinuation<Void, Never>] = []
    var actionWaiters: [(count: Int, CheckedContinuation<Void, Never>)] = []

    var isIdle: Bool { first == events.count && !isWoken }

    mutating func takeEvent() -> ClientEvent? {
      if first < events.count {
        let event = events[first]
        if event != .ended { first += 1 }
        if first == events.count {
          events.removeAll(keepingCapacity: true)
          first = 0
        }
        return event
      }
      guard isWoken else { return nil }
      isWoken = false
      return .woken
    }
  }

  static let start = Timestamp(nanoseconds: 1_800_000_000_000_000_000)

  private let state = Mutex(State(now: ScriptedClient.start))
  private let responder: Responder

  init(
    capabilities: Capabilities = [.messages, .push, .binary],
    responder: @escaping Responder = { _, _ in [] }
  ) {
    self.capabilities = capabilities
    self.responder = responder
  }

  let capabilities: Capabilities
  var now: Timestamp { state.withLock { $0.now } }
  var performed: [ClientAction] { state.withLock { $0.performed } }

  func perform(_ action: ClientAction) async throws {
    let events = try responder(action, now)
    let waiters = state.withLock { state in
      state.performed.append(action)
      let count = state.performed.count
      defer { state.actionWaiters.removeAll { $0.count <= count } }
      return state.actionWaiters.filter { $0.count <= count }.map(\.1)
    }
    for waiter in waiters { waiter.resume() }
    feed(events)
  }

  func next(before deadline: Timestamp?) async throws -> ClientEvent {
    try await withTaskCancellationHandler {
      try Task.checkCancellation()
      return try await withCheckedThrowingContinuation { park($0, deadline) }
    } onCancel: {
      let reader = state.withLock { $0.reader.take() }
      reader?.resume(throwing: CancellationError())
    }
  }

  private func park(
    _ reader: CheckedContinuation<ClientEvent, any Error>, _ deadline: Timestamp?
  ) {
    let isCancelled = Task.isCancelled
    let (event, waiters) = state.withLock {
      state -> (ClientEvent?, [CheckedContinuation<Void, Never>]) in
      if let event = state.takeEvent() { return (event, []) }
      if isCancelled { return (nil, []) }
      state.reader = reader
      state.deadline = deadline
      defer { state.parkedWaiters = [] }
      return (nil, state.parkedWaiters)
    }
    if let event { reader.resume(returning: event) }
    if event == nil, isCancelled { reader.resume(throwing: CancellationError()) }
    for waiter in waiters { waiter.resume() }
  }

  /// Whether the reader waits and there is nothing for it.
  var isSettled: Bool { state.withLock { $0.reader != nil && $0.isIdle } }

  /// How many events nobody has taken yet.
  var unread: Int { state.withLock { $0.events.count - $0.first } }

  func wake() {
    state.withLock { $0.isWoken = true }
    deliver()
  }

  private func deliver() {
    let (reader, event) = state.withLock {
      state -> (CheckedContinuation<ClientEvent, any Error>?, ClientEvent?) in
      guard state.reader != nil, let event = state.takeEvent() else { return (nil, nil) }
      return (state.reader.take(), event)
    }
    if let event { reader?.resume(returning: event) }
  }

  // MARK: What the test does

  func feed(_ events: [ClientEvent]) {
    guard !events.isEmpty else { return }
    state.withLock { $0.events += events }
    deliver()
  }

  func feed(_ events: ClientEvent...) { feed(events) }

  /// Waits until the reader waits and there is nothing for it.
  func settle() async {
    await withCheckedContinuation { waiter in
      let isSettled = state.withLock { state in
        if state.reader != nil, state.isIdle { return true }
        state.parkedWaiters.append(waiter)
        return false
      }
      if isSettled { waiter.resume() }
    }
  }

  /// Waits, though not for ever, until the reader waits for a deadline.
  func waitForDeadline() async -> Bool {
    for _ in 0..<100_000 {
      if state.withLock({ $0.reader != nil && $0.deadline != nil }) { return true }
      await Task.yield()
    }
    return false
  }

  /// Waits, though not for ever, until the reader waits for one deadline.
  func waitForDeadline(_ deadline: Timestamp) async -> Bool {
    for _ in 0..<100_000 {
      if state.withLock({ $0.reader != nil && $0.deadline == deadline }) { return true }
      await Task.yield()
    }
    return false
  }

  /// Waits until a number of actions was performed since the beginning.
  func waitForActions(_ count: Int) async {
    await withCheckedContinuation { waiter in
      let isThere = state.withLock { state in
        if state.performed.count >= count { return true }
        state.actionWaiters.append((count, waiter))
        return false
      }
      if isThere { waiter.resume() }
    }
  }

  /// Lets time pass, with every deadline on the way.
  func advance(by duration: Duration) async {
    let (seconds, attoseconds) = duration.components
    let span = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    let end = Timestamp(nanoseconds: now.nanoseconds + span)
    while true {
      await settle()
      let reader = state.withLock { state -> CheckedContinuation<ClientEvent, any Error>? in
        guard let deadline = state.deadline, deadline <= end else {
          state.now = end
          return nil
        }
        state.now = max(state.now, deadline)
        state.deadline = nil
        return state.reader.take()
      }
      guard let reader else { return }
      reader.resume(returning: .deadline)
    }
  }
}

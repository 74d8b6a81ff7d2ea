package import RepriseCore
import Synchronization

/// Joins a machine to the world that a client is.
///
/// The machine stands under one lock. A task that gives it an input leaves what comes out in one queue,
/// and the task that finds the queue unattended empties it, in order: actions reach the client, and the
/// application is told, in the order in which the machine said so.
package final class Driver<Machine: StateMachine>: Sendable {
  /// Takes the outcome of a call.
  package typealias Completion = @Sendable (Result<Machine.Value, any Error>) -> Void
  typealias Output = MachineOutput<Machine.Value, Machine.Effect, Machine.Failure>

  enum Waiter {
    case nobody
    case task(CheckedContinuation<Machine.Value, any Error>)
    case callback(Completion)
    case result(Result<Machine.Value, any Error>)
  }

  struct State {
    var machine: Machine
    var waiters: [CallID: Waiter] = [:]
    var lastCall: UInt64 = 0
    var queue: [Output] = []
    var isAttended = false
    /// What whoever is at the queue took from it last.
    var inHand: [Output] = []
    /// The loop, when it waits for room in the queue.
    var heldUp: CheckedContinuation<Void, Never>?
    var awaitedDeadline: Timestamp?
    var isLeaving = false
    var failure: (any Error)?
    var sleepers = Sleepers()
  }

  private let state: Mutex<State>
  private let client: any DataClient
  /// The same client, if it may have events at once.
  private let promptClient: (any PromptClient)?
  private let log: SystemLog
  private let tell: @Sendable (Machine.Effect) -> Void

  /// Creates a driver.
  /// - Parameters:
  ///   - machine: The machine.
  ///   - client: The world it lives in.
  ///   - log: Where every step is told.
  ///   - tell: Takes what the application is to be told, in order, never under the lock.
  package init(
    _ machine: Machine, client: any DataClient, log: SystemLog = .none,
    tell: @escaping @Sendable (Machine.Effect) -> Void
  ) {
    state = Mutex(State(machine: machine))
    self.client = client
    promptClient = client as? any PromptClient
    self.log = log
    self.tell = tell
  }

  /// The time in the client's world.
  package var now: Timestamp { client.now }

  /// Whether the loop waits for room in the queue.
  var isHeldUp: Bool { state.withLock { $0.heldUp != nil } }

  /// Whether the client's world has ended, or is broken.
  var isOver: Bool { state.withLock { $0.failure != nil } }

  /// Returns something of the machine as it is.
  package func read<Value: Sendable>(_ property: (Machine) -> Value) -> Value {
    state.withLock { property($0.machine) }
  }

  // MARK: Calls

  /// Gives the machine a call and waits for its completion.
  /// - Parameters:
  ///   - call: The call.
  ///   - isCleanup: Whether it is made in a cancelled task, too, though not waited for.
  /// - Returns: What it results in.
  /// - Throws: The machine's error, what ended the driver, or `CancellationError`.
  func call(_ call: Machine.Call, isCleanup: Bool = false) async throws -> Machine.Value {
    if !isCleanup { try Task.checkCancellation() }
    let id = enter(call, .nobody)
    return try await withTaskCancellationHandler {
      await attendQueue(patience: Self.callersPatience)
      if state.withLock({ $0.mustWakeLoop }) { client.wake() }
      return try await withCheckedThrowingContinuation { attach($0, to: id) }
    } onCancel: {
      cancel(id)
    }
  }

  /// Gives the machine a call, and its result to a closure; the driver's own task does the rest.
  package func submit(_ call: Machine.Call, completion: @escaping Completion) {
    submit([(call, completion)])
  }

  /// Gives the machine calls, and their results to closures; the driver's own task does the rest, and is woken when
  /// the machine has them all.
  package func submit(_ calls: [(call: Machine.Call, completion: Completion)]) {
    for (call, completion) in calls { enter(call, .callback(completion)) }
    client.wake()
  }

  @discardableResult
  private func enter(_ call: Machine.Call, _ waiter: Waiter) -> CallID {
    let (id, failure) = state.withLock { state -> (CallID, (any Error)?) in
      state.lastCall += 1
      let id = CallID(rawValue: state.lastCall)
      state.waiters[id] = waiter
      if state.failure == nil {
        state.enter(.called(id, call), now: client.now)
      }
      return (id, state.failure)
    }
    if let failure { complete(id, .failure(failure)) }
    return id
  }

  private func attach(
    _ continuation: CheckedContinuation<Machine.Value, any Error>, to id: CallID
  ) {
    let result: Result<Machine.Value, any Error>? = state.withLock { state in
      guard case .result(let result) = state.waiters[id] else {
        state.waiters[id] = .task(continuation)
        return nil
      }
      state.waiters[id] = nil
      return result
    }
    if let result { continuation.resume(with: result) }
  }

  private func cancel(_ id: CallID) {
    let isOpen = state.withLock { state in
      switch state.waiters[id] {
      case .nobody, .task:
        state.enter(.cancelled(id), now: client.now)
        return true
      case .callback, .result, nil: return false
      }
    }
    guard isOpen else { return }
    complete(id, .failure(CancellationError()))
    client.wake()
  }

  private func complete(_ id: CallID, _ result: Result<Machine.Value, any Error>) {
    let waiter: Waiter? = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: id)
      switch waiter {
      case .nobody: state.waiters[id] = .result(result)
      case .result(let first): state.waiters[id] = .result(first)
      case .task, .callback, nil: break
      }
      return waiter
    }
    switch waiter {
    case .task(let continuation): continuation.resume(with: result)
    case .callback(let completion): completion(result)
    case .nobody, .result, nil: break
    }
  }

  // MARK: Sleeping

  /// The time in the client's world as the application knows it, to wait from.
  var heard: Timestamp { client.lastHeard }

  /// Waits until a moment of the client's world.
  /// - Parameter moment: The moment.
  /// - Throws: What ended the driver, and `CancellationError`.
  func sleep(until moment: Timestamp) async throws {
    let id = state.withLock { $0.sleepers.makeID() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // Cancellation before this point is seen here, and after it by the handler.
        let (result, wakesLoop) = state.withLock { state -> (Result<Void, any Error>?, Bool) in
          if Task.isCancelled { return (.failure(CancellationError()), false) }
          if let failure = state.failure { return (.failure(failure), false) }
          if moment <= client.lastHeard { return (.success(()), false) }
          state.sleepers.add(continuation, id, until: moment)
          return (nil, state.mustWakeLoop)
        }
        if let result { continuation.resume(with: result) }
        if wakesLoop { client.wake() }
      }
    } onCancel: {
      state.withLock { $0.sleepers.remove(id) }?.resume(throwing: CancellationError())
    }
  }

  /// Wakes whose moment has come, and lets them run before time goes on, which in some worlds takes no time.
  private func rouseSleepers() async {
    let due = state.withLock { $0.sleepers.takeDue(at: client.lastHeard) }
    for sleeper in due { sleeper.resume() }
    await Task.yield()
  }

  // MARK: The queue

  private func handle(_ input: MachineInput<Machine.Call>) {
    state.withLock { $0.enter(input, now: client.now) }
  }

  /// How often a caller looks for more in the queue before it leaves the rest to the loop.
  private static var callersPatience: Int { 16 }

  /// What is left of the queue to whoever is at it: from an action on, which takes a suspension.
  private struct Attendance {
    let action: ClientAction
    let behind: ArraySlice<Output>
    let patience: Int
  }

  /// Empties the queue, unless somebody is at it.
  /// - Parameter patience: How often to look for more: a caller has a call of its own to come back from, however much
  ///   others do meanwhile.
  private func attendQueue(patience: Int = .max) async {
    if let attendance = beginAttending(patience: patience) { await goOn(attendance) }
  }

  private func goOn(_ attendance: Attendance) async {
    var next: Attendance? = attendance
    while let attendance = next {
      await perform(attendance.action)
      next = attend(attendance.behind, patience: attendance.patience)
    }
  }

  private func beginAttending(patience: Int = .max) -> Attendance? {
    guard let outputs = state.withLock({ $0.takeAttendance() }) else { return nil }
    return attend(outputs[...], patience: patience)
  }

  /// Takes outputs, and what has come to the queue meanwhile, up to the next action.
  private func attend(_ outputs: ArraySlice<Output>, patience: Int) -> Attendance? {
    var (outputs, patience) = (outputs, patience)
    while true {
      for place in outputs.indices {
        switch outputs[place] {
        case .tell(let effect): tell(effect)
        case .complete(let id, let result): complete(id, result.mapError { $0 })
        case .perform(let action):
          return Attendance(
            action: action, behind: outputs[(place + 1)...], patience: patience)
        }
      }
      patience -= 1
      let (more, heldUp) = state.withLock { $0.takeQueue(goesOn: patience > 0) }
      heldUp?.resume()
      guard let more else { return nil }
      outputs = more[...]
    }
  }

  private func perform(_ action: ClientAction) async {
    log.note(action)
    do {
      try await client.perform(action)
    } catch let error as DataClientError {
      log(.warning, .call, "the client refused \(action.kind.name): \(error.message)")
      if error.code == .diverged || error.code == .unreadable {
        state.withLock { $0.failure = $0.failure ?? error }
        client.wake()
      } else {
        handle(.refused(action.id, error))
      }
    } catch {
      handle(.refused(action.id, DataClientError(.transport, "\(error)")))
    }
  }

  // MARK: Life

  /// Runs the machine for as long as a body runs, and then says goodbye.
  /// - Parameters:
  ///   - goodbye: The call that closes what the machine has opened.
  ///   - loop: Calls ``loop(_:)``; given by who knows the machine, as code that is generic over it
  ///     takes three times as long for each event.
  ///   - helper: Runs beside it; it must end when `finish` was called, or the task is cancelled.
  ///   - finish: Called when nothing more will be told.
  ///   - body: What the application does.
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, unless that comes of a broken world; otherwise what broke the client's world.
  package func run<Value: Sendable>(
    goodbye: Machine.Call, loop: @escaping @Sendable () async throws -> Void,
    helper: @escaping @Sendable () async -> Void,
    finish: @escaping @Sendable () -> Void, body: () async throws -> Value
  ) async throws -> Value {
    // A scope within another one's body is a part of the same application.
    let outer = ApplicationScope.current
    let scope = outer ?? ApplicationScope()
    var thrown: String?
    defer { if let thrown { outer?.forget(thrown: thrown) } }
    return try await ApplicationScope.$current.withValue(scope) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          defer { finish() }
          try await loop()
        }
        group.addTask { await helper() }
        let result: Result<Value, any Error>
        do {
          result = .success(try await body())
        } catch {
          thrown = scope.note(thrown: error)
          result = .failure(error)
        }
        let wasBroken = state.withLock { $0.failure != nil }
        await leave(goodbye)
        do {
          try await group.waitForAll()
        } catch is CancellationError {
          // The body was cancelled too, and says so itself if it matters.
        } catch {
          if case .failure(let own) = result, !Self.isOfWorld(own, wasBroken) { throw own }
          throw error
        }
        return try result.get()
      }
    }
  }

  /// Whether what a body threw only says that the client's world is broken.
  private static func isOfWorld(_ error: any Error, _ wasBroken: Bool) -> Bool {
    wasBroken && (error is DataClientError || error is Machine.Failure)
  }

  private func leave(_ goodbye: Machine.Call) async {
    // A cancelled task says goodbye too, and does not wait for it. So does its loop, unless it is told first that there
    // is nothing left to do.
    _ = try? await call(goodbye, isCleanup: true)
    state.withLock { $0.isLeaving = true }
    client.wake()
  }

  /// Takes events until the world or the scope ends.
  /// - Parameter goodbye: The call that closes what the machine has opened.
  /// - Throws: What broke the client's world, and `CancellationError`.
  package func loop(_ goodbye: Machine.Call) async throws {
    do {
      reading: while true {
        // Mostly there is no action, and events are there at once: a call that could suspend costs as much as they do.
        if let attendance = beginAttending() { await goOn(attendance) }
        let deadline: Timestamp?
        switch try state.withLock({ try $0.prepareToWait(client) }) {
        case .leave: break reading
        case .holdUp:
          await waitForRoom()
          continue
        case .rouse:
          await rouseSleepers()
          continue
        case .read(let until): deadline = until
        }
        let event: ClientEvent
        if let next = try promptClient?.nextAtOnce(before: deadline) {
          event = next
        } else {
          event = try await client.next(before: deadline)
        }
        log.note(event)
        switch event {
        case .woken: break
        // It may be a sleeper's, of whom the machine knows nothing.
        case .deadline where state.withLock({ !$0.isMachineDue(at: client.now) }): break
        case .ended:
          handle(.received(event))
          return await end(DataClientError(.notConnected, "there are no more events"))
        default: handle(.received(event))
        }
      }
    } catch {
      if error is CancellationError { enter(goodbye, .callback { _ in }) }
      await end(error)
      throw error
    }
    await end(CancellationError(), later: Self.scopeHasEnded)
  }

  /// What is asked for when the scope has ended fails with this.
  static var scopeHasEnded: DataClientError {
    DataClientError(.notConnected, "its scope has ended, or it was stopped: start another one")
  }

  /// Waits until whoever is at the queue has taken what is in it.
  private func waitForRoom() async {
    await withCheckedContinuation { loop in
      let isFull = state.withLock { state in
        if state.isFull { state.heldUp = loop }
        return state.isFull
      }
      if !isFull { loop.resume() }
    }
  }

  /// Nothing more will happen: whoever waits is told so.
  /// - Parameters:
  ///   - error: What those are told who wait.
  ///   - later: What those are told who come later, if it is something else.
  private func end(_ error: any Error, later: (any Error)? = nil) async {
    // From here on nothing is left to the loop: whoever is at the queue empties it.
    state.withLock { $0.failure = $0.failure ?? later ?? error }
    await attendQueue()
    let (open, sleepers) = state.withLock { ($0.unsettled, $0.sleepers.takeAll()) }
    for id in open { complete(id, .failure(error)) }
    for sleeper in sleepers { sleeper.resume(throwing: error) }
  }
}

public import RepriseCore

/// A client whose events, time and end a test makes, and which notes what it is told to do.
///
/// Events are those that are planned, those that the test feeds and those that the responder gives. It keeps every
/// event, however many there are.
public final class ScriptedClient: DataClient {
  /// Says what comes of an action that was performed at a time, or refuses it.
  public typealias Responder = @Sendable (ClientAction, Timestamp) throws -> [ClientEvent]

  /// How its time passes.
  public enum Time: Sendable {
    /// Time stands still but for what the test lets pass.
    case byHand
    /// Time passes to what a reader waits for: what is planned, or a deadline.
    case byItself
  }

  /// What a reader gets when all is told.
  public enum End: Sendable {
    /// Nothing: the reader waits for what the test feeds.
    case open
    /// The end of the world, be there a deadline or not.
    case over
    /// An error that breaks the world.
    case broken(DataClientError)
  }

  private typealias Waiter = CheckedContinuation<Void, Never>

  private struct Script: EventSource {
    let passes: Bool
    let isOpen: Bool
    var now: Timestamp
    var events = Fifo<ClientEvent>()
    /// What comes at its time, in order.
    var planned: ArraySlice<(time: Timestamp, event: ClientEvent)>
    var performed: [ClientAction] = []
    /// Until when the reader waits.
    var deadline: Timestamp?
    var settling: [Waiter] = []
    var counting: [(count: Int, waiter: Waiter)] = []

    mutating func take(before deadline: Timestamp?) -> ClientEvent? {
      self.deadline = nil
      arrive()
      if events.isEmpty, passes, let time = planned.first?.time, time <= deadline ?? time {
        now = time
        arrive()
      }
      // The end stays, as it has no end.
      if let event = events.first { return event == .ended ? event : events.popFirst() }
      if !isOpen, planned.isEmpty { return .ended }
      guard let deadline, passes || deadline <= now else {
        self.deadline = deadline
        for waiter in settling { waiter.resume() }
        settling = []
        return nil
      }
      now = max(now, deadline)
      return .deadline
    }

    /// Adds what the time has come to.
    mutating func arrive() {
      while let next = planned.first, next.time <= now {
        events.append(next.event)
        planned.removeFirst()
      }
    }

    /// Adds what comes now.
    mutating func append(_ new: [ClientEvent]) {
      arrive()
      for event in new { events.append(event) }
    }

    /// Notes an action, and takes those who wait for it.
    mutating func note(_ action: ClientAction) -> [Waiter] {
      performed.append(action)
      let waiters = counting.filter { $0.count <= performed.count }.map(\.waiter)
      counting.removeAll { $0.count <= performed.count }
      return waiters
    }

    /// Goes to what the reader waits for, if that comes before a time, and else to that time.
    /// - Returns: Whether it is that time.
    mutating func elapse(to end: Timestamp) -> Bool {
      let next = [deadline, planned.first?.time].compactMap { $0 }.min()
      guard let next, next <= end else {
        now = max(now, end)
        return true
      }
      now = max(now, next)
      return false
    }
  }

  /// When its world begins: 2027-01-15T08:00:00Z, as good as any.
  public static let start = Timestamp(nanoseconds: 1_800_000_000_000_000_000)

  private let desk: EventDesk<Script>
  private let end: End
  private let responder: Responder
  /// What it says that it can do.
  public let capabilities: Capabilities

  /// Creates a client.
  /// - Parameters:
  ///   - capabilities: What it says that it can do.
  ///   - start: The time at which its world begins.
  ///   - time: How its time passes.
  ///   - planned: What comes by itself, with its times, in their order.
  ///   - end: What comes when all is told.
  ///   - responder: What comes of each action.
  public init(
    capabilities: Capabilities = [.messages, .push, .binary],
    start: Timestamp = ScriptedClient.start,
    time: Time = .byHand, planned: [(time: Timestamp, event: ClientEvent)] = [], end: End = .open,
    responder: @escaping Responder = { _, _ in [] }
  ) {
    let isOpen = if case .open = end { true } else { false }
    desk = EventDesk(
      Script(passes: time == .byItself, isOpen: isOpen, now: start, planned: planned[...]))
    self.end = end
    self.responder = responder
    self.capabilities = capabilities
  }

  /// The time in its world.
  public var now: Timestamp { desk.read { $0.now } }

  /// Does what the responder says.
  /// - Parameter action: What to do.
  /// - Throws: What the responder throws; such an action is not noted.
  public func perform(_ action: ClientAction) async throws {
    let events = try responder(action, now)
    let waiters = desk.change { script in
      script.append(events)
      return script.note(action)
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Returns the next event, or the passing of a deadline.
  /// - Parameter deadline: When to stop waiting.
  /// - Returns: The event.
  /// - Throws: What breaks the world, `CancellationError`, and `DataClientError` when another task waits already.
  public func next(before deadline: Timestamp?) async throws -> ClientEvent {
    let event = try await desk.next(before: deadline)
    if event == .ended, case .broken(let error) = end { throw error }
    return event
  }

  /// Makes the pending, or the next, ``next(before:)`` return `woken`.
  public func wake() { desk.wake() }

  // MARK: What the test sees

  /// What was done, in order.
  public var performed: [ClientAction] { desk.read { $0.performed } }

  /// How many events nobody has taken yet.
  public var unread: Int { desk.read { $0.events.count } }

  /// Whether the reader waits and there is nothing for it.
  public var isSettled: Bool { desk.isAwaited }

  // MARK: What the test does

  /// Has something come now.
  /// - Parameter events: What comes after all else that is there.
  public func feed(_ events: [ClientEvent]) { desk.change { $0.append(events) } }

  /// Has something come now.
  /// - Parameter events: What comes after all else that is there.
  public func feed(_ events: ClientEvent...) { feed(events) }

  /// Has time pass at once, whatever the reader is at.
  /// - Parameter duration: How much.
  public func pass(_ duration: Duration) {
    desk.change { $0.now = $0.now.advanced(by: duration) }
  }

  /// Lets time pass, with every deadline on the way.
  /// - Parameter duration: How much.
  public func advance(by duration: Duration) async {
    let end = now.advanced(by: duration)
    repeat { await settle() } while !desk.change({ $0.elapse(to: end) })
  }

  /// Waits until the reader waits and there is nothing for it.
  public func settle() async {
    // Whatever changes, a waiting reader looks again, and still finds nothing.
    await withCheckedContinuation { waiter in desk.change { $0.settling.append(waiter) } }
  }

  /// Waits, though not for ever, until the reader waits for a deadline.
  /// - Parameter deadline: The deadline; nil is any.
  /// - Returns: Whether it does.
  public func waitForDeadline(_ deadline: Timestamp? = nil) async -> Bool {
    for _ in 0..<100_000 {
      if desk.isAwaited, let awaited = desk.read({ $0.deadline }), awaited == deadline ?? awaited {
        return true
      }
      await Task.yield()
    }
    return false
  }

  /// Waits until a number of actions was performed since the beginning.
  /// - Parameter count: How many.
  public func waitForActions(_ count: Int) async {
    await withCheckedContinuation { waiter in
      let isThere = desk.change { script in
        guard script.performed.count < count else { return true }
        script.counting.append((count, waiter))
        return false
      }
      if isThere { waiter.resume() }
    }
  }
}

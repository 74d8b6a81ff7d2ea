import RepriseCore

/// The members of a shared session with their time: who waits, and who reads for all.
///
/// It resumes nobody: what it returns is resumed by the owner of the lock.
struct SessionWorld: Sendable {
  typealias Seat = SessionRouter.Seat
  typealias Continuation = CheckedContinuation<Turn, any Error>

  /// What a member that waits is to do.
  enum Turn: Sendable {
    /// Hand out this event.
    case take(ClientEvent)
    /// Read the session's client for all, and come back with what it says.
    case read(until: Timestamp?)
  }

  /// A member that waits, with its turn.
  struct Resumption: Sendable {
    let continuation: Continuation
    let result: Result<Turn, any Error>
  }

  struct Waiter: Sendable {
    let ticket: UInt64
    let deadline: Timestamp?
    let continuation: Continuation
  }

  private struct Place {
    var events: [(order: UInt64, event: ClientEvent)] = []
    var waiter: Waiter?
    var isWoken = false
    /// Whether the others wait for it; not before it reads, nor after its reader was cancelled, until it reads again.
    var isAwaited: Bool
  }

  private var router = SessionRouter()
  private var places: [Seat: Place] = [:]
  private var reader: Seat?
  private var failure: (any Error)?
  private var lastOrder: UInt64 = 0
  private var lastTicket: UInt64 = 0

  private var seats: [Seat] { places.keys.sorted() }

  /// Whether a member reads, another than one, and must be woken to see what has changed.
  func isReading(butFor seat: Seat?) -> Bool { reader != nil && reader != seat }

  /// Whether a member was woken that reads for all, and so has to come back first.
  func isWokenReader(_ seat: Seat) -> Bool { reader == seat && places[seat]?.isWoken == true }

  // MARK: Members

  /// Takes in a member; the others wait for it at once, or from its first reading on.
  mutating func join(isOwner: Bool, isAwaited: Bool) -> Seat {
    let seat = router.join(isOwner: isOwner)
    places[seat] = Place(isAwaited: isAwaited)
    return seat
  }

  mutating func leave(_ seat: Seat, now: Timestamp) -> [Resumption] {
    router.leave(seat)
    let waiter = places.removeValue(forKey: seat)?.waiter
    let own = waiter.map {
      Resumption(continuation: $0.continuation, result: .success(.take(.ended)))
    }
    return (own.map { [$0] } ?? []) + settle(now)
  }

  // MARK: Actions

  mutating func perform(
    _ action: ClientAction, of seat: Seat
  ) throws(DataClientError) -> ClientAction? {
    let outcome = try router.perform(action, of: seat)
    queue(outcome.told)
    return outcome.forwarded
  }

  mutating func takeBack(_ id: ClientAction.ID) { router.takeBack(id) }

  // MARK: Waiting

  mutating func makeTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  mutating func wait(_ seat: Seat, _ waiter: Waiter, now: Timestamp) -> [Resumption] {
    guard let place = places[seat] else {
      return [Resumption(continuation: waiter.continuation, result: .success(.take(.ended)))]
    }
    guard place.waiter == nil, reader != seat else {
      let error = DataClientError(.invalidAction, "only one task can wait for events")
      return [Resumption(continuation: waiter.continuation, result: .failure(error))]
    }
    places[seat]?.isAwaited = true
    places[seat]?.waiter = waiter
    return settle(now, last: seat)
  }

  mutating func cancel(_ seat: Seat, _ ticket: UInt64, now: Timestamp) -> [Resumption] {
    guard places[seat]?.waiter?.ticket == ticket, let waiter = takeWaiter(seat) else { return [] }
    return rest(seat, waiter, now: now)
  }

  /// Turns a cancelled member away; the others do not wait for it until it reads again.
  mutating func rest(_ seat: Seat, _ waiter: Waiter, now: Timestamp) -> [Resumption] {
    places[seat]?.isAwaited = false
    let own = Resumption(continuation: waiter.continuation, result: .failure(CancellationError()))
    return [own] + settle(now)
  }

  mutating func wake(_ seat: Seat) -> [Resumption] {
    places[seat]?.isWoken = true
    return takeWoken(seat).map { [$0] } ?? []
  }

  private mutating func takeWaiter(_ seat: Seat) -> Waiter? {
    defer { places[seat]?.waiter = nil }
    return places[seat]?.waiter
  }

  // MARK: Reading

  /// The member that read for all is back.
  mutating func read(_ event: ClientEvent) {
    reader = nil
    queue(router.receive(event))
  }

  /// The member that read for all was cancelled, or the world is broken, for all.
  mutating func failReading(
    _ seat: Seat, _ error: any Error, now: Timestamp
  ) -> [Resumption] {
    reader = nil
    if error is CancellationError {
      places[seat]?.isAwaited = false
    } else {
      failure = failure ?? error
    }
    return settle(now)
  }

  private mutating func queue(_ outputs: [SessionRouter.Output]) {
    for output in outputs {
      lastOrder += 1
      places[output.seat]?.events.append((lastOrder, output.event))
      dropOldestMessage(of: output.seat)
    }
  }

  /// The others wait for a member that reads; one that does not keeps its newest messages.
  private mutating func dropOldestMessage(of seat: Seat) {
    guard let events = places[seat]?.events, events.count > Self.eventLimit else { return }
    let oldest = events.firstIndex { if case .message = $0.event { true } else { false } }
    if let oldest { places[seat]?.events.remove(at: oldest) }
  }

  /// How many events are kept for a member before its oldest messages are dropped.
  static let eventLimit = 10_000

  /// How many events a member has not taken yet.
  func eventCount(of seat: Seat) -> Int { places[seat]?.events.count ?? 0 }

  // MARK: The order of things

  /// Gives the next turn, once every member waits that is waited for: members act one at a time, so
  /// that the same events lead to the same actions in the same order.
  ///
  /// The member that began to wait `last`, just now, reads for all if there is nothing for anybody.
  private mutating func settle(_ now: Timestamp, last: Seat? = nil) -> [Resumption] {
    if let failure { return failAll(failure) }
    let woken = seats.compactMap { seat in places[seat]?.isWoken == true ? takeWoken(seat) : nil }
    guard woken.isEmpty, reader == nil, isQuiet else { return woken }
    if let turn = oldestEvent() ?? earliestDeadline(now) { return [turn] }
    let waiting = seats.filter { places[$0]?.waiter != nil }
    guard let seat = waiting.first(where: { $0 == last }) ?? waiting.first else { return [] }
    let until = places.values.compactMap { $0.waiter?.deadline }.min()
    guard let waiter = takeWaiter(seat) else { return [] }
    reader = seat
    return [Resumption(continuation: waiter.continuation, result: .success(.read(until: until)))]
  }

  private var isQuiet: Bool {
    places.values.allSatisfy { !$0.isAwaited || $0.waiter != nil }
  }

  private mutating func failAll(_ error: any Error) -> [Resumption] {
    seats.compactMap { seat in
      takeWaiter(seat).map { Resumption(continuation: $0.continuation, result: .failure(error)) }
    }
  }

  private mutating func takeWoken(_ seat: Seat) -> Resumption? {
    guard let waiter = takeWaiter(seat) else { return nil }
    places[seat]?.isWoken = false
    return Resumption(continuation: waiter.continuation, result: .success(.take(.woken)))
  }

  private mutating func oldestEvent() -> Resumption? {
    let oldest = places.filter { $0.value.waiter != nil && !$0.value.events.isEmpty }
      .min { ($0.value.events.first?.order ?? 0) < ($1.value.events.first?.order ?? 0) }
    guard let seat = oldest?.key, let event = oldest?.value.events.first?.event else { return nil }
    // The end has no end.
    if event != .ended { places[seat]?.events.removeFirst() }
    return takeWaiter(seat).map {
      Resumption(continuation: $0.continuation, result: .success(.take(event)))
    }
  }

  private mutating func earliestDeadline(_ now: Timestamp) -> Resumption? {
    let due = seats.compactMap { seat in places[seat]?.waiter?.deadline.map { (seat, $0) } }
      .filter { $0.1 <= now }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }
    guard let seat = due?.0 else { return nil }
    return takeWaiter(seat).map {
      Resumption(continuation: $0.continuation, result: .success(.take(.deadline)))
    }
  }
}

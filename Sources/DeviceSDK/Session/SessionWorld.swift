import RepriseCore

/// The members of a shared session with their time: who waits, and who reads for all.
struct SessionWorld: TurnWorld {
  typealias Seat = SessionRouter.Seat
  typealias Reader = TurnTable<Turn>.Reader
  typealias Resumption = TurnTable<Turn>.Resumption

  /// What a member that waits is to do.
  enum Turn: Sendable {
    /// Hand out this event.
    case take(ClientEvent)
    /// Read the session's client for all, and come back with what it says.
    case read(until: Timestamp?)
  }

  var table = TurnTable<Turn>()
  private var router = SessionRouter()
  private var reader: Seat?
  private var failure: (any Error)?

  /// Whether a member reads, another than one, and must be woken to see what has changed.
  func isReading(butFor seat: Seat?) -> Bool { reader != nil && reader != seat }

  /// Whether a member was woken that reads for all, and so has to come back first.
  func isWokenReader(_ seat: Seat) -> Bool { reader == seat && table.isWoken(seat) }

  // MARK: Members

  /// Takes in a member; the others wait for it at once, or from its first reading on.
  mutating func join(isOwner: Bool, isAwaited: Bool) -> Seat {
    let seat = router.join(isOwner: isOwner)
    table.add(seat, isAwaited: isAwaited)
    return seat
  }

  mutating func leave(_ seat: Seat, now: Timestamp) -> [Resumption] {
    router.leave(seat)
    let own = table.remove(seat).map { Resumption($0, .take(.ended)) }
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

  mutating func wait(_ seat: Seat, _ reader: Reader, now: Timestamp) -> [Resumption] {
    guard table.eventCount(of: seat) != nil else { return [Resumption(reader, .take(.ended))] }
    guard !table.hasReader(seat), self.reader != seat else {
      let error = DataClientError(.invalidAction, "only one task can wait for events")
      return [Resumption(reader, error)]
    }
    table.seat(reader, at: seat, isAwaited: true)
    return settle(now, last: seat)
  }

  mutating func wake(_ seat: Seat) -> [Resumption] {
    table.wake(seat)
    return takeWoken(seat).map { [$0] } ?? []
  }

  private mutating func takeWoken(_ seat: Seat) -> Resumption? {
    table.takeWoken(seat).map { Resumption($0, .take(.woken)) }
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
    if error is CancellationError { table.rest(seat) } else { failure = failure ?? error }
    return settle(now)
  }

  private mutating func queue(_ outputs: [SessionRouter.Output]) {
    for output in outputs {
      table.append(output.event, for: output.seat)
      // The others wait for a member that reads; one that does not keeps its newest messages.
      if eventCount(of: output.seat) > Self.eventLimit { table.dropOldestMessage(of: output.seat) }
    }
  }

  /// How many events are kept for a member before its oldest messages are dropped.
  static let eventLimit = 10_000

  /// How many events a member has not taken yet.
  func eventCount(of seat: Seat) -> Int { table.eventCount(of: seat) ?? 0 }

  // MARK: The order of things

  /// Gives the next turn, once every member waits that is waited for: members act one at a time, so
  /// that the same events lead to the same actions in the same order.
  mutating func settle(_ now: Timestamp) -> [Resumption] { settle(now, last: nil) }

  /// The member that began to wait `last`, just now, reads for all if there is nothing for anybody.
  private mutating func settle(_ now: Timestamp, last: Seat?) -> [Resumption] {
    if let failure { return failAll(failure) }
    let woken = table.seats.compactMap { takeWoken($0) }
    guard woken.isEmpty, reader == nil, table.isQuiet else { return woken }
    if let (_, reader, event) = table.takeOldestEvent() {
      return [Resumption(reader, .take(event))]
    }
    if let (reader, _) = table.takeEarliestDeadline(until: now) {
      return [Resumption(reader, .take(.deadline))]
    }
    let waiting = table.seats.filter { table.hasReader($0) }
    guard let seat = waiting.first(where: { $0 == last }) ?? waiting.first else { return [] }
    let until = table.earliestDeadline
    guard let next = table.takeReader(seat) else { return [] }
    reader = seat
    return [Resumption(next, .read(until: until))]
  }

  private mutating func failAll(_ error: any Error) -> [Resumption] {
    table.seats.compactMap { table.takeReader($0).map { Resumption($0, error) } }
  }
}

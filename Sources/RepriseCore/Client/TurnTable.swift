/// The readers of a world that goes in turns: who waits until when, and what is kept for each, in one order.
///
/// It resumes nobody: what it returns is resumed by the owner of the lock, see ``TurnTaking``.
package struct TurnTable<Turn: Sendable>: Sendable {
  /// The number of a client.
  package typealias Seat = Int

  /// A task that waits for its turn.
  package struct Reader: Sendable {
    package let deadline: Timestamp?
    let ticket: UInt64
    let continuation: CheckedContinuation<Turn, any Error>
  }

  /// A reader with its turn.
  package struct Resumption: Sendable {
    let continuation: CheckedContinuation<Turn, any Error>
    let result: Result<Turn, any Error>

    /// Gives a reader its turn.
    package init(_ reader: Reader, _ turn: Turn) {
      continuation = reader.continuation
      result = .success(turn)
    }

    /// Turns a reader away.
    package init(_ reader: Reader, _ error: any Error) {
      continuation = reader.continuation
      result = .failure(error)
    }
  }

  private struct Place {
    var events: [(order: UInt64, event: ClientEvent)] = []
    var reader: Reader?
    var isWoken = false
    /// Whether the others wait for it.
    var isAwaited: Bool
  }

  private var places: [Seat: Place] = [:]
  private var lastOrder: UInt64 = 0
  private var lastTicket: UInt64 = 0

  /// Creates a table at which nobody sits.
  package init() {}

  /// The clients, in the order in which they came.
  package var seats: [Seat] { places.keys.sorted() }

  // MARK: Clients

  /// Takes in a client.
  /// - Parameters:
  ///   - seat: Its number.
  ///   - isAwaited: Whether the others wait for it before it reads.
  package mutating func add(_ seat: Seat, isAwaited: Bool) {
    places[seat] = Place(isAwaited: isAwaited)
  }

  /// Takes a client out.
  /// - Returns: Its reader, if it has one.
  package mutating func remove(_ seat: Seat) -> Reader? {
    places.removeValue(forKey: seat)?.reader
  }

  // MARK: Events

  /// How many events a client has not taken yet; nil where there is no such client.
  package func eventCount(of seat: Seat) -> Int? { places[seat]?.events.count }

  /// Keeps an event for a client.
  package mutating func append(_ event: ClientEvent, for seat: Seat) {
    lastOrder += 1
    places[seat]?.events.append((lastOrder, event))
  }

  /// Drops the oldest message of a client.
  package mutating func dropOldestMessage(of seat: Seat) {
    let oldest = places[seat]?.events.firstIndex {
      if case .message = $0.event { true } else { false }
    }
    if let oldest { places[seat]?.events.remove(at: oldest) }
  }

  // MARK: Readers

  /// What tells a reader from those before.
  mutating func makeTicket() -> UInt64 {
    lastTicket += 1
    return lastTicket
  }

  /// Whether a task waits for a client's turn.
  package func hasReader(_ seat: Seat) -> Bool { places[seat]?.reader != nil }

  /// Whether a client was woken that has not been told so.
  package func isWoken(_ seat: Seat) -> Bool { places[seat]?.isWoken == true }

  /// Has a task wait for a client's turn.
  /// - Parameters:
  ///   - reader: The task.
  ///   - seat: The client.
  ///   - isAwaited: Whether the others wait for it from now on.
  package mutating func seat(_ reader: Reader, at seat: Seat, isAwaited: Bool) {
    places[seat]?.isAwaited = isAwaited
    places[seat]?.reader = reader
  }

  /// Takes the task that waits for a client's turn.
  package mutating func takeReader(_ seat: Seat) -> Reader? {
    defer { places[seat]?.reader = nil }
    return places[seat]?.reader
  }

  /// Takes a reader of a ticket, as it is cancelled.
  /// - Returns: The reader; nil where it has its turn already.
  package mutating func takeReader(_ seat: Seat, ticket: UInt64) -> Reader? {
    places[seat]?.reader?.ticket == ticket ? takeReader(seat) : nil
  }

  /// Notes that nobody reads for a client any more: the others do not wait for it until somebody does.
  package mutating func rest(_ seat: Seat) { places[seat]?.isAwaited = false }

  /// Notes that a client is to be woken.
  package mutating func wake(_ seat: Seat) { places[seat]?.isWoken = true }

  /// Takes the reader of a client that was woken, which is told so.
  package mutating func takeWoken(_ seat: Seat) -> Reader? {
    guard isWoken(seat), let reader = takeReader(seat) else { return nil }
    places[seat]?.isWoken = false
    return reader
  }

  // MARK: The order of things

  /// Whether every client waits that is waited for.
  package var isQuiet: Bool { places.values.allSatisfy { !$0.isAwaited || $0.reader != nil } }

  /// The earliest deadline of a reader.
  package var earliestDeadline: Timestamp? {
    places.values.compactMap { $0.reader?.deadline }.min()
  }

  /// Takes the oldest event that somebody waits for, with its reader; the end stays, as it has no end.
  package mutating func takeOldestEvent() -> (seat: Seat, reader: Reader, event: ClientEvent)? {
    let oldest = places.filter { $0.value.reader != nil && !$0.value.events.isEmpty }
      .min { ($0.value.events.first?.order ?? 0) < ($1.value.events.first?.order ?? 0) }
    guard let seat = oldest?.key, let event = oldest?.value.events.first?.event,
      let reader = takeReader(seat)
    else { return nil }
    if event != .ended { places[seat]?.events.removeFirst() }
    return (seat, reader, event)
  }

  /// Takes the reader of the earliest deadline, of one time that of the client which came first.
  /// - Parameter limit: Until when deadlines count; nil counts all.
  /// - Returns: The reader and its deadline; nil where there is none.
  package mutating func takeEarliestDeadline(until limit: Timestamp?) -> (Reader, Timestamp)? {
    let due = seats.compactMap { seat in places[seat]?.reader?.deadline.map { (seat, $0) } }
      .filter { deadline in limit.map { deadline.1 <= $0 } ?? true }
      .min { ($0.1, $0.0) < ($1.1, $1.0) }
    guard let due, let reader = takeReader(due.0) else { return nil }
    return (reader, due.1)
  }
}

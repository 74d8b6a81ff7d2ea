/// The memory that the unfinished things of all connections take together, and whose turn it is to
/// give some back.
///
/// What each open connection takes by itself can't be given back, so it makes the room for what is
/// unfinished smaller, but never to less than a quarter.
///
/// A connection reports what it takes after each segment; as only the traffic of one session does that,
/// access is not checked to be exclusive. Those that take something stand in a queue:
/// one that has finished something goes to its end, so that the first has waited longest. All of it is a
/// few additions; nothing is searched.
final class MemoryBudget {
  /// A place in the queue.
  private struct Place {
    var owner: SessionConnection?
    var previous: Int
    var next: Int
  }

  /// The most bytes, with those that connections take by themselves.
  let limit: Int
  /// The most bytes of what is unfinished.
  @exclusivity(unchecked) private(set) var room: Int
  /// What the open connections take by themselves.
  @exclusivity(unchecked) private var inherent = 0
  /// The bytes that are taken now.
  @exclusivity(unchecked) private(set) var reserved = 0
  /// How often a connection had to give something up.
  var surrenders = 0
  // The first place holds no connection: it is before the first and behind the last of them.
  @exclusivity(unchecked) private var places = [Place(owner: nil, previous: 0, next: 0)]
  @exclusivity(unchecked) private var free: [Int] = []

  init(limit: Int) {
    self.limit = max(0, limit)
    room = self.limit
  }

  var isExceeded: Bool { reserved > room }

  /// Takes the news of what connections take by themselves, as long as they are open.
  /// - Parameter change: So many bytes more, or less.
  func note(inherent change: Int) {
    inherent += change
    room = limit - min(inherent, limit / 4 * 3)
  }

  /// Takes the news of how much a connection takes.
  /// - Parameters:
  ///   - amount: All the bytes that it takes now.
  ///   - connection: The connection.
  ///   - hasMovedOn: Whether it has finished something since the last time.
  @inline(__always)
  func reserve(_ amount: Int, for connection: SessionConnection, hasMovedOn: Bool) {
    if amount == connection.reservation.amount, !hasMovedOn || amount == 0 { return }
    change(connection, to: amount, hasMovedOn: hasMovedOn)
  }

  /// Returns the connection that has waited longest, and takes it out of the queue.
  func takeOldest() -> SessionConnection? {
    let first = places[0].next
    guard first != 0, let owner = places[first].owner else { return nil }
    leave(owner)
    return owner
  }

  /// Takes the news of what a connection still takes that has given up what it could; it stands in the
  /// queue again once that changes, or once it has finished something.
  func retain(_ amount: Int, of connection: SessionConnection) {
    reserved += amount - connection.reservation.amount
    connection.reservation.amount = amount
  }

  private func change(_ connection: SessionConnection, to amount: Int, hasMovedOn: Bool) {
    reserved += amount - connection.reservation.amount
    connection.reservation.amount = amount
    let place = connection.reservation.place
    if place == 0 {
      if amount > 0 { join(connection) }
    } else if amount == 0 {
      leave(connection)
    } else if hasMovedOn {
      unlink(place)
      link(place)
    }
  }

  private func join(_ connection: SessionConnection) {
    let place = free.popLast() ?? places.count
    let entry = Place(owner: connection, previous: place, next: place)
    if place < places.count { places[place] = entry } else { places.append(entry) }
    link(place)
    connection.reservation.place = place
  }

  private func leave(_ connection: SessionConnection) {
    let place = connection.reservation.place
    guard place != 0 else { return }
    unlink(place)
    places[place].owner = nil
    free.append(place)
    connection.reservation.place = 0
  }

  /// Puts a place at the end of the queue.
  private func link(_ place: Int) {
    let last = places[0].previous
    places[place].previous = last
    places[place].next = 0
    places[last].next = place
    places[0].previous = place
  }

  private func unlink(_ place: Int) {
    let (previous, next) = (places[place].previous, places[place].next)
    places[previous].next = next
    places[next].previous = previous
  }
}

/// What a connection takes of the ``MemoryBudget``.
struct MemoryReservation {
  /// Its bytes.
  var amount = 0
  /// Its place in the queue; 0 is none.
  var place = 0
  /// A number that is another one when something was finished.
  var progress = 0
}

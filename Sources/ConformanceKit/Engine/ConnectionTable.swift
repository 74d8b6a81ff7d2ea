/// The states of the open connections of a file.
///
/// Events of one connection mostly come in a row, so the last place is tried before the dictionary.
struct ConnectionTable {
  private var states: [ConnectionState] = []
  private var places: [Int: Int] = [:]
  private var free: [Int] = []
  private var last = 0

  /// Finds the place of a connection, which is made if it is not there.
  @inline(__always)
  mutating func place(of connection: Int) -> Int {
    if last < states.count, states[last].number == connection { return last }
    return findPlace(of: connection)
  }

  private mutating func findPlace(of connection: Int) -> Int {
    if let place = places[connection] {
      last = place
    } else {
      let place = free.popLast() ?? states.count
      let state = ConnectionState(number: connection)
      if place < states.count { states[place] = state } else { states.append(state) }
      places[connection] = place
      last = place
    }
    return last
  }

  /// The state at a place that ``place(of:)`` returned.
  subscript(place: Int) -> ConnectionState {
    @inline(__always) get { states[place] }
    @inline(__always) _modify { yield &states[place] }
  }

  /// Forgets a connection that is over, and gives its memory back.
  mutating func remove(at place: Int) {
    places[states[place].number] = nil
    states[place] = ConnectionState(number: 0)
    free.append(place)
  }

  /// The numbers of the open connections.
  var numbers: [Int] { places.keys.sorted() }
}

internal import RepriseCore

/// The states of the open connections of a file.
///
/// Connections are numbered in a row and few are open at once, so the low bits of a number mostly tell its place,
/// which is tried before the dictionary.
struct ConnectionTable {
  /// The most memory that all states may take before some are forgotten, in bytes.
  let limit: Int
  private static let lowBits = (1 << 14) - 1
  private var states: [ConnectionState] = []
  private var places: [Int: Int] = [:]
  private var free: [Int] = []
  /// The place of the last connection that was asked for, of those whose numbers have the same low bits.
  private var hints = [Int32](repeating: 0, count: Self.lowBits + 1)
  /// The memory that all together take, in bytes.
  private(set) var reserved = 0
  /// Whether a connection of the file was forgotten, so that a number that is not known may be its.
  private(set) var hasForgotten = false
  /// Whether a connection of the file was retold by its client.
  var isRetold = false
  /// The connections of the file that are reported; nil is all.
  private var reported: Set<Int>?

  init(limit: Int) { self.limit = limit }

  /// Finds the place of a connection, which is made if it is not there.
  @inline(__always)
  mutating func place(of connection: Int) -> Int {
    let place = Int(hints[connection & Self.lowBits])
    // All of it is at hand already where one was told of it some events ago.
    states.prefetch(place)
    if place < states.count, states[place].number == connection { return place }
    return findPlace(of: connection)
  }

  /// Has the state of a connection at hand that is looked at soon; there need be none.
  @inline(__always)
  func prefetch(_ connection: Int) { states.prefetch(Int(hints[connection & Self.lowBits])) }

  /// Tells whether a connection has a state.
  func knows(_ connection: Int) -> Bool { places[connection] != nil }

  private mutating func findPlace(of connection: Int) -> Int {
    let place = places[connection] ?? addState(of: connection)
    hints[connection & Self.lowBits] = Int32(truncatingIfNeeded: place)
    return place
  }

  private mutating func addState(of connection: Int) -> Int {
    let place = free.popLast() ?? states.count
    var state = fresh(connection)
    if hasForgotten { state.loseAll(.forgotten, isRetold: isRetold) }
    if place < states.count {
      states[place] = state
    } else {
      makeRoom()
      states.append(state)
    }
    places[connection] = place
    account(at: place)
    return place
  }

  /// Makes room for another state: by doubling, or at once for all that there may be, because a state is
  /// large, and there are two of each while they move.
  private mutating func makeRoom() {
    guard states.count == states.capacity else { return }
    let most = limit / MemoryLayout<ConnectionState>.stride + 1
    let isMany = states.count >= most / 8
    states.reserveCapacity(isMany ? max(most, states.count * 2) : max(16, states.count * 2))
  }

  /// The state at a place that ``place(of:)`` returned.
  subscript(place: Int) -> ConnectionState {
    @inline(__always) get { states[place] }
    @inline(__always) _modify { yield &states[place] }
  }

  /// Notes what the opening of a connection says, of which nothing can have been before.
  mutating func open(_ opening: ConnectionOpening, at place: Int, _ wire: WireProtocol) {
    if states[place].givenUp != nil {
      forget(at: place, as: states[place].number)
      account(at: place)
    }
    states[place].wire = wire
    states[place].identity = ConnectionIdentity(opening)
    states[place].isOpened = true
    states[place].isFromStart = opening.isFromStart
    states[place].hasPings = opening.hasPings
    if !opening.hasPings { isRetold = true }
  }

  /// Notes that a connection does not have from its sender what that sent, or not all of it.
  mutating func alter(_ context: EventContext) {
    states[place(of: context.connection)].altered.insert(Blame(context.sender))
  }

  /// Forgets a connection that is over, and gives its memory back.
  mutating func remove(at place: Int) {
    places[states[place].number] = nil
    forget(at: place, as: .min)
    free.append(place)
  }

  private mutating func forget(at place: Int, as number: Int) {
    reserved -= states[place].amount
    states[place] = fresh(number)
  }

  /// A connection of which nothing is known.
  private func fresh(_ number: Int) -> ConnectionState {
    var state = ConnectionState(number: number)
    state.isReported = reports(number)
    return state
  }

  /// Whether what becomes of a connection is reported.
  func reports(_ number: Int) -> Bool { reported?.contains(number) ?? true }

  // MARK: Memory

  /// Takes into account what a connection takes now.
  @inline(__always)
  mutating func account(at place: Int) {
    reserved += states[place].measure()
  }

  /// The numbers of the connections that take most, and half of everything together.
  var largest: [Int] {
    let order = places.values.sorted { (states[$0].amount, $1) > (states[$1].amount, $0) }
    var rest = reserved / 2
    return order.prefix { place in
      defer { rest -= states[place].amount }
      return rest > 0
    }.map { states[$0].number }
  }

  /// Notes that connections were forgotten that are not over.
  mutating func noteForgotten() { hasForgotten = true }

  /// Starts a file, of which nothing is known.
  /// - Parameter reported: The connections of it that are reported; nil is all.
  mutating func beginFile(reporting reported: Set<Int>?) {
    self.reported = reported
    hasForgotten = false
    isRetold = false
  }

  /// How many connections are open.
  var count: Int { places.count }

  /// Looks at all open connections.
  func visit(_ look: (borrowing ConnectionState) -> Void) {
    for place in places.values { look(states[place]) }
  }

  /// Changes all open connections.
  mutating func change(_ change: (inout ConnectionState) -> Void) {
    for place in places.values { change(&states[place]) }
  }

  /// The numbers of the open connections.
  var numbers: [Int] { places.keys.sorted() }
}

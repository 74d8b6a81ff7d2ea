import RepriseCore

/// Numbers the actions of a machine, and knows what those are for that were not answered yet.
struct ActionBook<Purpose: Sendable>: Sendable {
  /// The number that was given last.
  var last: UInt32 = 0
  /// What the open actions are for; for all that concerns more than one.
  var purposes: [ClientAction.ID: Purpose] = [:]

  /// Takes the number of a new action.
  /// - Parameter purpose: What it is for; nil when its answer means nothing.
  /// - Returns: The number, which no open action has.
  mutating func open(for purpose: Purpose?) -> ClientAction.ID {
    // The largest number is kept free: requests that are sent past the machine have it.
    repeat {
      last &+= 1
    } while last == .max || purposes[ClientAction.ID(rawValue: last)] != nil
    let id = ClientAction.ID(rawValue: last)
    if let purpose { purposes[id] = purpose }
    return id
  }

  var isEmpty: Bool { purposes.isEmpty }
  var count: Int { purposes.count }

  /// What an open action is for.
  subscript(id: ClientAction.ID) -> Purpose? {
    get { purposes[id] }
    set { purposes[id] = newValue }
  }

  /// Returns what an action was for, as it is answered now; nil when that is of no interest any more.
  mutating func close(_ id: ClientAction.ID) -> Purpose? {
    // A heartbeat is answered with nothing open, mostly.
    purposes.isEmpty ? nil : purposes.removeValue(forKey: id)
  }
}

import RepriseCore

/// The tasks of the application that wait for moments of the client's world.
struct Sleepers: Sendable {
  typealias ID = UInt64

  private var lastID: ID = 0
  private var deadlines = Deadlines<ID>()
  private var continuations: [ID: CheckedContinuation<Void, any Error>] = [:]

  /// When the first of them is to be woken; nil while nobody sleeps.
  var deadline: Timestamp? { deadlines.first }

  /// Returns a name for a task that is about to sleep.
  mutating func makeID() -> ID {
    lastID += 1
    return lastID
  }

  /// Keeps a task until a moment.
  mutating func add(
    _ continuation: CheckedContinuation<Void, any Error>, _ id: ID, until moment: Timestamp
  ) {
    deadlines.set(moment, for: id)
    continuations[id] = continuation
  }

  /// Takes a task out; nil when it does not sleep.
  mutating func remove(_ id: ID) -> CheckedContinuation<Void, any Error>? {
    deadlines.set(nil, for: id)
    return continuations.removeValue(forKey: id)
  }

  /// Takes out those whose moment has come, the earliest first.
  mutating func takeDue(at now: Timestamp) -> [CheckedContinuation<Void, any Error>] {
    var due: [CheckedContinuation<Void, any Error>] = []
    while let id = deadlines.popExpired(at: now) {
      if let continuation = continuations.removeValue(forKey: id) { due.append(continuation) }
    }
    return due
  }

  /// Takes all of them out.
  mutating func takeAll() -> [CheckedContinuation<Void, any Error>] {
    defer {
      deadlines = Deadlines()
      continuations = [:]
    }
    return Array(continuations.values)
  }
}

/// What became of a connection's last requests and heartbeats, of at least 100 and at most 200.
struct AnswerMemory: Sendable {
  /// What became of a request.
  enum Fate: Sendable {
    case answered
    case givenUp
    /// It was a heartbeat, whose answer nobody waits for.
    case heartbeat
  }

  private static let limit = 100
  private var fates: [Int: Fate] = [:]
  private var order: [Int] = []

  /// Notes what became of a request.
  mutating func note(_ id: Int, _ fate: Fate) {
    if fates.updateValue(fate, forKey: id) == nil { order.append(id) }
    guard order.count > 2 * Self.limit else { return }
    // A batch at a time, so that each request costs little.
    for old in order.prefix(Self.limit) { fates[old] = nil }
    order.removeFirst(Self.limit)
  }

  /// What became of a request; nil when there was none, or too long ago.
  func fate(of id: Int) -> Fate? { fates[id] }
}

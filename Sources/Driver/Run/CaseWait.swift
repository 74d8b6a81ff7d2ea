import RepriseCore

/// What a case waits for before its next step.
final class CaseWait {
  /// What it may be.
  enum Thing {
    /// Nothing but the time.
    case nothing
    /// The connection of a client.
    case opening(CaseClient)
    /// The ends of the connections of clients.
    case ends(of: [CaseClient])
    /// So many packets that a client gets.
    case packets(CaseClient, Int, (HeardPacket) -> Bool)
  }

  private var thing: Thing
  /// When it is given up.
  let until: Timestamp
  /// The client that owes an answer which is due; nil where what is waited for need not come.
  let suspect: CaseClient?

  init(_ thing: Thing, until: Timestamp, suspect: CaseClient? = nil) {
    (self.thing, self.until, self.suspect) = (thing, until, suspect)
  }

  /// Whether it has come, or can't come any more.
  func isOver() -> Bool {
    switch thing {
    case .nothing: return false
    case .opening(let client): return client.connection?.phase != .opening
    case .ends(let clients): return clients.allSatisfy(\.isGone)
    case .packets(let client, var count, let isWanted):
      while count > 0, client.takeHeard(isWanted) != nil { count -= 1 }
      thing = .packets(client, count, isWanted)
      return count <= 0 || client.isGone
    }
  }
}

/// How many events of a connection a selection left out in front of one that it took, by who sent them.
///
/// A line of a selection has it as `leftOut`, also where nothing was left out: behind the last line of a connection
/// something may have been.
public struct LeftOut: Sendable, Hashable {
  /// The events of the client.
  public var client: Int
  /// The events of the server.
  public var server: Int

  /// Creates a count.
  public init(client: Int = 0, server: Int = 0) {
    self.client = client
    self.server = server
  }

  /// The events of one end.
  public subscript(peer: Peer) -> Int {
    get { peer == .client ? client : server }
    set { if peer == .client { client = newValue } else { server = newValue } }
  }
}

/// Counts what a selection leaves out, for the marks of the lines that it takes.
package struct SelectionCounter: Sendable {
  /// The most connections that are counted at once.
  static let maximumConnections = 65_536

  private var counts: [Int: LeftOut] = [:]
  /// What is counted of a connection of which nothing is kept.
  private var least = LeftOut()

  /// Creates a counter.
  package init() {}

  /// Forgets the connections of a file.
  package mutating func beginFile() { self = SelectionCounter() }

  /// Takes the news that an event is left out.
  package mutating func leaveOut(_ event: borrowing EventView) {
    let number = event.context.connection
    switch event.body {
    // Nothing comes behind it that could lack it.
    case .closed, .attempted: counts[number] = nil
    // No clause speaks of it, and nothing that others say depends on it.
    case .tls: break
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http:
      if counts.count >= Self.maximumConnections, counts[number] == nil {
        // Of those that are forgotten it is known only that there was something.
        counts.removeAll(keepingCapacity: true)
        least = LeftOut(client: 1, server: 1)
      }
      counts[number, default: least][event.context.sender] += 1
    }
  }

  /// Takes the news that an event is taken.
  /// - Returns: What was left out in front of it.
  package mutating func take(_ event: borrowing EventView) -> LeftOut {
    counts.removeValue(forKey: event.context.connection) ?? least
  }
}

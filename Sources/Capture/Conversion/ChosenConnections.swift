package import RepriseCore

/// Which frames of a capture belong to chosen connections: found out by one reading, and asked for in the next.
///
/// A frame belongs to the last connection of its endpoints that began with it or before it.
package struct ChosenConnections {
  private struct Span {
    let firstFrame: Int
    let connection: Int
  }

  private struct Hosts: Hashable {
    let one: IPAddress
    let other: IPAddress
  }

  private var spans: [FlowKey: [Span]] = [:]
  private var hosts: Set<Hosts> = []
  /// The numbers of the connections that are chosen.
  package private(set) var numbers: Set<Int> = []

  /// Creates a choice of nothing.
  package init() {}

  /// Notes a connection of the capture, which may be chosen later.
  package mutating func note(_ opening: ConnectionOpening, _ connection: Int) {
    guard let client = Endpoint(opening.client), let server = Endpoint(opening.server) else {
      return
    }
    note(client, server, from: opening.firstFrame, connection)
  }

  mutating func note(_ one: Endpoint, _ other: Endpoint, from frame: Int, _ connection: Int) {
    let span = Span(firstFrame: frame, connection: connection)
    let key = FlowKey.of(one, other).key
    var list = spans[key] ?? []
    // Connections are told of when they are recognised, which need not be in the order in which they began.
    let place = list.lastIndex { $0.firstFrame <= frame }.map { $0 + 1 } ?? 0
    list.insert(span, at: place)
    spans[key] = list
  }

  /// Chooses a connection.
  package mutating func choose(_ connection: Int) { numbers.insert(connection) }

  /// Readies the choice to be asked.
  package mutating func finish() {
    for (pair, list) in spans where list.contains(where: { numbers.contains($0.connection) }) {
      hosts.insert(Hosts(one: pair.lower.address, other: pair.upper.address))
      hosts.insert(Hosts(one: pair.upper.address, other: pair.lower.address))
    }
  }

  /// Tells whether a segment belongs to a connection that is chosen.
  package func contains(_ segment: borrowing TCPSegment) -> Bool {
    contains(segment.source, segment.destination, in: segment.frame)
  }

  /// Tells whether the connection of two endpoints that a frame belongs to is chosen.
  func contains(_ one: Endpoint, _ other: Endpoint, in frame: Int) -> Bool {
    guard let list = spans[FlowKey.of(one, other).key],
      let span = list.last(where: { $0.firstFrame <= frame })
    else { return false }
    return numbers.contains(span.connection)
  }

  /// Tells whether hosts have a connection between them that is chosen: a fragment of a packet has no ports.
  package func contains(_ source: IPAddress, _ destination: IPAddress) -> Bool {
    hosts.contains(Hosts(one: source, other: destination))
  }
}

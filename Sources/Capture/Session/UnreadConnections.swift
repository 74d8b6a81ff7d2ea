import RepriseCore

/// The connections that can't be read, between hosts of which other connections are MQTT: each of them may be one of a
/// client whose other connections are judged.
///
/// What begins with a line of text is none of MQTT, nor of what carries it.
final class UnreadConnections {
  private struct Hosts: Hashable {
    let client: IPAddress
    let server: IPAddress
  }

  private struct Unread {
    let opening: FlowOpening

    /// When it may have begun to speak.
    var beginning: ClosedRange<Timestamp> {
      guard opening.isFromStart else {
        return Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max)
      }
      let start = opening.arrival.time
      let end = start.nanoseconds.addingReportingOverflow(UnreadConnections.patience)
      return start...Timestamp(nanoseconds: end.overflow ? .max : end.partialValue)
    }
  }

  /// How long a client may take for its first packet, in nanoseconds.
  private static let patience: Int64 = 5_000_000_000
  private static let most = 4_096
  private static let mostHosts = 65_536

  private var hosts: Set<Hosts> = []
  private var unread: [Unread] = []
  /// Between which hosts there were more than are kept, in either direction: one of them may have begun at any time.
  private var overfull: Set<Hosts> = []
  /// Whether there were more hosts than are kept.
  private var hasMore = false

  /// Takes note of a connection that is read.
  func meet(_ opening: FlowOpening, client: Side) {
    let (own, other) =
      client == .first ? (opening.first, opening.second) : (opening.second, opening.first)
    let pair = Hosts(client: own.address, server: other.address)
    guard !hosts.contains(pair) else { return }
    if hosts.count < Self.mostHosts { hosts.insert(pair) } else { hasMore = true }
  }

  /// Takes note of a connection that is not.
  /// - Parameters:
  ///   - opening: How it began.
  ///   - held: What came of it.
  func add(_ opening: FlowOpening, _ held: HeldPieces) {
    guard held.byteCount > 0, ![Side.first, .second].contains(where: { Self.isText(held[$0]) })
    else { return }
    guard unread.count >= Self.most else { return unread.append(Unread(opening: opening)) }
    guard overfull.count < Self.mostHosts else { return hasMore = true }
    overfull.insert(Hosts(client: opening.first.address, server: opening.second.address))
    overfull.insert(Hosts(client: opening.second.address, server: opening.first.address))
  }

  private static func isText(_ side: HeldSide) -> Bool {
    let start = side.bytes.prefix(8)
    return start.count >= 4
      && start.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }
  }

  /// When each of those between hosts that speak MQTT with each other may have begun to speak.
  var beginnings: [ClosedRange<Timestamp>] {
    if !hosts.isEmpty, hasMore || !overfull.isDisjoint(with: hosts) {
      return [Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max)]
    }
    return unread.filter { isBetweenKnown($0.opening) }.map(\.beginning)
  }

  private func isBetweenKnown(_ opening: FlowOpening) -> Bool {
    let (first, second) = (opening.first.address, opening.second.address)
    return hosts.contains(Hosts(client: first, server: second))
      || !opening.isFromStart && hosts.contains(Hosts(client: second, server: first))
  }
}

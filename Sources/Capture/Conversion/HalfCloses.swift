package import RepriseCore

/// Finds the connections of a recording of which one end had finished while the other went on, which a recording tells
/// only where both are over.
package struct HalfCloses: EventConsumer {
  struct HalfClose {
    let sender: Peer
    let closing: ConnectionClosing
  }

  /// Those that are found, by their connections.
  private var found: [Int: HalfClose] = [:]
  /// The most that are kept: of others the end stands behind what it was in front of.
  private static let most = 65_536

  /// Creates a finder.
  package init() {}

  /// Takes the next event of the recording.
  package mutating func consume(_ event: borrowing EventView) {
    guard case .closed(let closing) = event.body, closing.how == .fin,
      closing.firstTime < event.context.time, found.count < Self.most
    else { return }
    found[event.context.connection] = HalfClose(sender: event.context.sender, closing: closing)
  }

  /// Takes out the end that one side of a connection had before something of the other; nil where there is none.
  mutating func take(before event: borrowing EventView) -> HalfClose? {
    let context = event.context
    guard !found.isEmpty, let end = found[context.connection], context.sender != end.sender,
      context.time > end.closing.firstTime
    else { return nil }
    found[context.connection] = nil
    return end
  }
}

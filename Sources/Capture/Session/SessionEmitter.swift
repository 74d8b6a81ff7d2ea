import RepriseCore

/// Hands events on, and numbers connections in the order in which they are recognised.
final class SessionEmitter {
  let emit: (borrowing EventView) -> Void
  /// The number of connections recognised so far.
  private(set) var connections = 0

  init(_ emit: @escaping (borrowing EventView) -> Void) { self.emit = emit }

  /// Numbers a connection and tells that it was recognised.
  func open(_ connection: SessionConnection, _ arrival: Arrival, evidence: String?) {
    connections += 1
    connection.number = connections
    let opening = connection.opening
    let isFirstClient = connection.client == .first
    let body = ConnectionOpening(
      client: (isFirstClient ? opening.first : opening.second).description,
      server: (isFirstClient ? opening.second : opening.first).description,
      isFromStart: opening.isFromStart, firstFrame: opening.arrival.frame,
      firstTime: opening.arrival.time, evidence: evidence)
    emit(EventView(connection.carrierContext(connection.client, arrival), .opened(body)))
  }

  func emitGap(
    _ count: Int, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival,
    _ connection: SessionConnection
  ) {
    let gap = Gap(bytes: count, reason: reason)
    emit(EventView(connection.carrierContext(side, arrival), .gap(gap)))
  }

  func emitMalformation(
    _ malformation: Malformation, _ side: Side, _ arrival: Arrival, _ connection: SessionConnection
  ) {
    emit(EventView(connection.carrierContext(side, arrival), .malformed(malformation)))
  }
}

import RepriseCore
import Wire

/// What is kept of a connection that speaks TLS.
final class TLSConnection {
  /// About what it takes by itself, in bytes.
  static let inherent = 1_200

  let session: TLSSession
  /// The connection that its plain bytes are, once there are any.
  var plain: SessionConnection?
  /// Whether the plain bytes are something that is decoded, or may be.
  var isWanted = true

  init(_ session: TLSSession) { self.session = session }
}

/// Hands on what is decrypted as a connection of its own, for which everything is as it would be without TLS.
struct TLSJoint: TLSReceiver {
  let traffic: SessionTraffic
  let connection: SessionConnection
  let state: TLSConnection

  private var plain: SessionConnection {
    if let plain = state.plain { return plain }
    let made = traffic.makePlain(connection)
    state.plain = made
    return made
  }

  func receive(_ bytes: RawSpan, _ side: Side, _ arrival: Arrival) {
    guard state.isWanted else { return }
    state.isWanted = traffic.takeReceived(bytes, Direction(plain, side, arrival))
  }

  func lose(
    _ count: Int, isCounted: Bool, _ reason: Gap.Reason, _ side: Side, _ arrival: Arrival
  ) {
    guard state.isWanted else { return }
    state.isWanted = traffic.takeLoss(
      of: count, isCounted: isCounted, reason, Direction(plain, side, arrival))
  }
}

// Connections that speak TLS.
extension SessionTraffic {
  /// Makes the connection that the plain bytes of another one are.
  func makePlain(_ connection: SessionConnection) -> SessionConnection {
    SessionConnection(
      connection.opening, rule: connection.rule, isDecrypted: true, budget)
  }

  /// Takes bytes of a connection that speaks TLS; false when nothing can come of it any more.
  func takeTLS(_ bytes: RawSpan, _ direction: Direction, _ state: TLSConnection) -> Bool {
    let (connection, arrival) = (direction.connection, direction.arrival)
    let joint = TLSJoint(traffic: self, connection: connection, state: state)
    state.session.take(bytes, direction.side, arrival, joint)
    guard let obstacle = state.session.obstacle else { return state.isWanted }
    note(obstacle, connection, state)
    if state.isWanted, let plain = state.plain {
      let closing = FlowClosing(
        how: .endOfCapture, side: direction.side, began: arrival, arrival: arrival,
        isAnswered: false)
      takeEnd(closing, of: plain)
    }
    return false
  }

  /// Takes the end of a connection that speaks TLS.
  func endTLS(_ closing: FlowClosing, _ connection: SessionConnection, _ state: TLSConnection) {
    let joint = TLSJoint(traffic: self, connection: connection, state: state)
    state.session.finish(closing.arrival, joint)
    if let obstacle = state.session.finalObstacle { note(obstacle, connection, state) }
    if state.isWanted, let plain = state.plain { takeEnd(closing, of: plain) }
  }

  private func note(
    _ obstacle: TLSObstacle, _ connection: SessionConnection, _ state: TLSConnection
  ) {
    left.add(
      state.session, obstacle, port: port(connection), frame: connection.opening.arrival.frame)
  }
}

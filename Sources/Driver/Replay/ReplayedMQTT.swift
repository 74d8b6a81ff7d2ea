import Glibc
import LiveClient
import RepriseCore
import SessionReplay
import Wire

/// A connection of a replay on which MQTT is spoken.
final class ReplayedMQTT: ReplayConnection {
  static let language = "MQTT"
  private let connection: CaseConnection
  /// The topics that the other end gave aliases to.
  private var aliases = AliasedTopics()

  /// Takes a connection.
  /// - Parameter connection: The connection.
  init(_ connection: CaseConnection) { self.connection = connection }

  var phase: CaseStream.Phase { connection.phase }
  var hasEnded: Bool { connection.hasEnded }
  var isOver: Bool { connection.isOver }
  var isStrange: Bool { connection.isStrange }
  var interest: pollfd { connection.interest }
  var wakeTime: Timestamp? { connection.wakeTime }

  func receive(_ events: Int16, _ buffer: inout [UInt8], _ now: Timestamp) -> [ReplayUnit] {
    var units: [ReplayUnit] = []
    connection.service(events, &buffer, now) { units.append(.packet(ReplayPacket($0, &aliases))) }
    return units
  }

  func goOn(_ now: Timestamp) { connection.goOn(now) }

  func send(_ unit: ReplayUnit, _ now: Timestamp) -> ReplayUnit {
    if let packet = unit.packet { connection.send(packet.bytes, now) }
    return unit
  }

  func ping(_ now: Timestamp) { send(.pingreq, now) }

  func pong(_ now: Timestamp) { send(.pingresp, now) }

  func leave(_ now: Timestamp) {
    // A client that leaves without a word has its will be told.
    send(.disconnect, now)
    finish(now)
  }

  /// Sends a packet that is nothing but its type.
  private func send(_ type: MQTTPacketType, _ now: Timestamp) {
    connection.send([type.rawValue << 4, 0], now)
  }

  func finish(_ now: Timestamp) { connection.finish(now) }

  func reset(_ now: Timestamp) { connection.reset(now) }
}

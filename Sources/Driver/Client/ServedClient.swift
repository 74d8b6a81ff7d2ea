import RepriseCore
import Wire

/// A connection of a client under test, and what is answered on it.
final class ServedClient {
  let connection: CaseConnection
  let heard = HeardPackets()
  /// The types of packets that are not sent as answers; with that of DISCONNECT the connection is not ended behind one.
  var held: Set<MQTTPacketType> = []
  /// Its CONNECT; nil as long as none has come.
  private(set) var connect: HeardPacket?
  /// Whether a step has taken it.
  var isTaken = false
  /// Whether a CONNACK has accepted it; until then nothing is answered.
  private(set) var isAccepted = false
  /// The identifier of the last packet that came and has one.
  private(set) var lastID: UInt16 = 0
  /// When the connection is ended that the client has said to leave, and should have closed (MQTT 5.0 section 3.14.4).
  private(set) var closingTime: Timestamp?
  /// The answers that are held back.
  private var heldBack: [UInt8] = []
  /// The answers that wait until it is accepted.
  private var waiting: [UInt8] = []

  init(_ connection: CaseConnection) { self.connection = connection }

  /// Takes a packet.
  /// - Returns: What is answered at once.
  func take(_ packet: HeardPacket, _ now: Timestamp) -> [UInt8] {
    heard.append(packet)
    if packet.type == .connect, connect == nil { connect = packet }
    if packet.type == .disconnect, !held.contains(.disconnect) {
      closingTime = now.advanced(by: CaseWait.shortWait)
    }
    if let id = packet.packetID { lastID = id }
    guard let answer = answer(to: packet) else { return [] }
    guard !held.contains(answer.type) else {
      heldBack += answer.bytes
      return []
    }
    guard isAccepted else {
      waiting += answer.bytes
      return []
    }
    return answer.bytes
  }

  /// Takes note of a CONNACK that was sent.
  /// - Parameter code: Its code.
  /// - Returns: The answers that waited for it.
  func answered(by code: UInt8) -> [UInt8] {
    isAccepted = code == 0
    defer { waiting = [] }
    return isAccepted ? waiting : []
  }

  /// Ends the connection.
  func close(_ now: Timestamp) {
    closingTime = nil
    connection.finish(now)
  }

  /// Answers again, and gives back the answers that were held back.
  func release() -> [UInt8] {
    defer { (held, heldBack) = ([], []) }
    return heldBack
  }

  /// What a broker answers that grants what is asked for.
  private func answer(to packet: HeardPacket) -> (type: MQTTPacketType, bytes: [UInt8])? {
    if let acknowledgement = packet.acknowledgement { return acknowledgement }
    if packet.type == .pingreq { return encoded(.pingresp, .pingresp, packet.version) }
    switch packet.content {
    case .subscribe(let id, let subscriptions, _):
      let codes = subscriptions.map { min(2, $0.options & 3) }
      return encoded(.suback, .suback(packetID: id, codes: codes, []), packet.version)
    case .unsubscribe(let id, let filters, _):
      // In 3.1.1 it has no codes (section 3.11).
      let codes = packet.version == .v5_0 ? filters.map { _ in UInt8(0) } : []
      return encoded(.unsuback, .unsuback(packetID: id, codes: codes, []), packet.version)
    default: return nil
    }
  }

  private func encoded(
    _ type: MQTTPacketType, _ content: MQTTPacket.Content, _ version: MQTTVersion
  ) -> (type: MQTTPacketType, bytes: [UInt8])? {
    (try? MQTTPacket(content, version: version).encoded()).map { (type, $0) }
  }

  /// Whether nothing more can come.
  var isGone: Bool { connection.hasEnded || connection.isOver }
}

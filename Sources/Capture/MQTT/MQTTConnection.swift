import DataClient
import Wire

/// What is kept of a connection while it is open: what it speaks, and how far each direction is cut
/// into packets.
final class MQTTConnection {
  let opening: FlowOpening
  let rule: DecodeRule?
  /// The number in the file; 0 before the connection is recognised.
  var number = 0
  /// What came before the connection was recognised.
  var held: [HeldPiece]? = []
  var client = Side.first
  var wire = WireProtocol.mqttInferred(.v3_1_1)
  var sawConnect = false
  var first = MQTTDirection()
  var second = MQTTDirection()

  init(_ opening: FlowOpening, rule: DecodeRule?) {
    self.opening = opening
    self.rule = rule
  }

  subscript(side: Side) -> MQTTDirection {
    _read { if side == .first { yield first } else { yield second } }
    _modify { if side == .first { yield &first } else { yield &second } }
  }

  func peer(_ side: Side) -> Peer { side == client ? .client : .server }

  /// The layouts that the rest of the connection may have.
  var layouts: MQTTLayouts { wire.isCertain ? MQTTLayouts(wire.version) : .both }

  func context(_ side: Side, _ arrival: Arrival) -> EventContext {
    EventContext(
      time: arrival.time, frame: arrival.frame, connection: number, sender: peer(side), wire: wire)
  }
}

/// One direction of a connection.
struct MQTTDirection {
  var framer = MQTTFramer()
  /// Set while it is unknown where the next packet starts.
  var resynchronizer: MQTTResynchronizer?
  /// Bytes of the stream that came or are known to be lost.
  var offset = 0
  /// Bytes of the current packet that are known to be lost.
  var lostInPacket = 0
}

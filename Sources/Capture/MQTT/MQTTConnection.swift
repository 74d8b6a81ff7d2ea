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
  /// How many packets only one layout fits, for each: what an inferred version stands on.
  private var proofs = (v3: 0, v5: 0)
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

  /// Takes a packet into account that only one layout fits; true if that changes the version.
  func prove(_ layout: MQTTLayouts) -> Bool {
    if layout == .v5 { proofs.v5 += 1 } else { proofs.v3 += 1 }
    let isVersion5 = wire.version == .v5_0
    guard !wire.isCertain, isVersion5 ? proofs.v3 > proofs.v5 : proofs.v5 > proofs.v3 else {
      return false
    }
    wire = .mqttInferred(isVersion5 ? .v3_1_1 : .v5_0)
    return true
  }

  /// Drops what is held, but for how much it was; false when it is too much to go on.
  func forget(_ arrival: Arrival) -> Bool {
    var lost: [HeldPiece] = []
    for side in [Side.first, .second] {
      let count = (held ?? []).reduce(0) { count, piece in
        guard piece.side == side else { return count }
        switch piece.content {
        case .bytes(let bytes): return count + bytes.count
        case .lost(let bytes, _): return count + bytes
        }
      }
      guard count > 0 else { continue }
      lost.append(HeldPiece(side: side, arrival: arrival, content: .lost(count, .limit)))
      if count > MQTTChain.largest { return false }
    }
    held = lost
    return true
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

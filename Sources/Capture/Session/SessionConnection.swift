import DataClient
import Wire

/// What is kept of a connection while it is open: what it speaks, and how far each direction is cut
/// into packets.
final class SessionConnection {
  let opening: FlowOpening
  let rule: DecodeRule?
  /// The number in the file; 0 before the connection is recognised.
  var number = 0
  private(set) var stage = Stage.held
  /// What came before the connection was recognised.
  var held: [HeldPiece] = []
  var client = Side.first
  /// What WebSocket keeps, if the connection speaks it; then the packets are those in its messages.
  private(set) var webSocket: WebSocketConnection?
  /// The hellos, if the connection speaks TLS.
  var handshake = TLSHandshake()
  private var layer = Layer()
  var sawConnect = false
  /// What the packets weigh for 5.0 and against it: what an inferred version stands on.
  private var lean = 0
  // Only the traffic of one session reaches them, packet after packet.
  @exclusivity(unchecked) var first = MQTTDirection()
  @exclusivity(unchecked) var second = MQTTDirection()

  /// What is known of a connection; asked for with every segment, and so no more than a byte.
  enum Stage {
    case held, mqtt, webSocket, tls
  }

  /// What a packet's context says, in one place because it is asked for with every packet.
  private struct Layer {
    var wire = WireProtocol.mqttInferred(.v3_1_1)
    var over: Carrier?
  }

  init(_ opening: FlowOpening, rule: DecodeRule?) {
    self.opening = opening
    self.rule = rule
  }

  subscript(side: Side) -> MQTTDirection {
    @inline(__always) _read { if side == .first { yield first } else { yield second } }
    @inline(__always) _modify { if side == .first { yield &first } else { yield &second } }
  }

  /// What the packets are laid out by.
  var wire: WireProtocol {
    get { layer.wire }
    set { layer.wire = newValue }
  }

  /// Takes the connection for MQTT.
  func begin(_ wire: WireProtocol) {
    stage = .mqtt
    layer.wire = wire
    held = []
  }

  /// Takes the connection for TLS.
  func beginTLS() {
    stage = .tls
    held = []
  }

  /// Takes the connection for WebSocket, or for HTTP that may ask for it.
  func begin(_ state: WebSocketConnection) {
    stage = .webSocket
    webSocket = state
    layer.over = .webSocket
    held = []
  }

  /// Takes into account what a packet says of a version that is not certain.
  /// - Returns: Whether that changes the layout; what was told before keeps the mark that it had.
  func weigh(_ evidence: MQTTEvidence) -> Bool {
    guard evidence.weight != 0 else { return false }
    lean = max(-MQTTEvidence.most, min(MQTTEvidence.most, lean + evidence.weight))
    guard abs(lean) >= MQTTEvidence.enough else { return false }
    let before = version
    wire = .mqttInferred(lean > 0 ? .v5_0 : .v3_1_1)
    return version != before
  }

  /// Drops what is held, but for how much it was; false when it is too much to go on.
  func forget(_ arrival: Arrival) -> Bool {
    var lost: [HeldPiece] = []
    for side in [Side.first, .second] {
      let count = held.reduce(0) { count, piece in
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

  /// The version by which packets are laid out.
  var version: MQTTVersion { wire.version ?? .v3_1_1 }

  /// The layouts that the rest of the connection may have.
  var layouts: MQTTLayouts { wire.isCertain ? MQTTLayouts(version) : .both }

  /// The context of a packet.
  func context(_ side: Side, _ arrival: Arrival) -> EventContext {
    let layer = layer
    return EventContext(
      time: arrival.time, frame: arrival.frame, connection: number, sender: peer(side),
      wire: layer.wire, over: layer.over)
  }

  /// The context of what happens on the connection itself.
  func carrierContext(_ side: Side, _ arrival: Arrival) -> EventContext {
    guard stage == .webSocket else { return context(side, arrival) }
    return EventContext(
      time: arrival.time, frame: arrival.frame, connection: number, sender: peer(side),
      wire: .webSocket)
  }
}

/// One direction of a connection.
struct MQTTDirection {
  var framer = MQTTFramer()
  /// Set while it is unknown where the next packet starts.
  var resynchronizer: StreamResynchronizer<MQTTChain>?
  /// Bytes of the stream that came or are known to be lost.
  var offset = 0
  /// Bytes of the current packet that are known to be lost.
  var lostInPacket = 0
}

import RepriseCore
import Wire

/// What is kept of a connection while it is open: what it speaks, and how far each direction is cut
/// into packets.
///
/// All of it stands in one place, and first what each segment asks for. Only the traffic of one session reaches it,
/// packet after packet; while a framer hands out packets, nothing else of its connection's directions is asked for.
final class SessionConnection {
  @exclusivity(unchecked) private(set) var stage = Stage.held
  @exclusivity(unchecked) var client = Side.first
  @exclusivity(unchecked) private var layer = Layer()
  @exclusivity(unchecked) var sawConnect = false
  /// The number in the file; 0 before the connection is recognised.
  @exclusivity(unchecked) var number = 0
  /// What the connection takes of the memory that all share.
  @exclusivity(unchecked) var reservation = MemoryReservation()
  @exclusivity(unchecked) private var directions = InlineArray<2, MQTTDirection>(
    repeating: MQTTDirection())
  /// What WebSocket keeps, if the connection speaks it; then the packets are those in its messages.
  private(set) var webSocket: WebSocketConnection?
  /// What HTTP keeps, if the connection speaks it and the user wants to see it.
  private(set) var http: HTTPConnection?
  /// What TLS keeps, if the connection speaks it; what is decrypted is a connection of its own.
  private(set) var tls: TLSConnection?
  /// What of TLS is told once it is known that the plain bytes are something that is decoded.
  var preface: [Event] = []
  /// Whether this is what was decrypted of a connection that speaks TLS.
  let isDecrypted: Bool
  /// What waits for a side that is out of step; nil where nothing ever did, as of most connections.
  private(set) var backlog: Backlog?
  /// Whether it is not known in which order packets of both sides came that are looked for now.
  @exclusivity(unchecked) var isOrderGivenUp = false
  /// What the packets weigh for 5.0 and against it: what an inferred version stands on.
  private var lean = 0
  /// Where secrets stand in its streams, if that is noted.
  var record: StreamRecord?
  let rule: DecodeRule?
  let opening: FlowOpening
  /// Whose bytes the other end did not get as they were sent, from some place on.
  private(set) var altered: [Side] = []
  /// What a proxy put in front of its bytes; nil where none did.
  var proxyHeader: ProxyHeader?
  /// What its recognition asks for; nil where nothing is kept for that, as of most connections all the time.
  private var beginning: Beginning?

  /// What is kept of a connection for its recognition alone.
  private final class Beginning {
    var held = HeldPieces()
  }

  /// What is known of a connection; asked for with every segment, and so no more than a byte.
  enum Stage {
    case held, mqtt, webSocket, tls, http
  }

  /// What a packet's context says, in one place because it is asked for with every packet.
  private struct Layer {
    var wire = WireProtocol.mqttInferred(.v3_1_1)
    var over: Carrier?
  }

  init(
    _ opening: FlowOpening, rule: DecodeRule?, isDecrypted: Bool = false, _ budget: MemoryBudget
  ) {
    self.opening = opening
    self.isDecrypted = isDecrypted
    self.rule = rule
    self.budget = budget
    budget.note(inherent: Self.inherent)
  }

  deinit {
    let webSocket = webSocket == nil ? 0 : WebSocketConnection.inherent
    budget.note(
      inherent: -Self.inherent - webSocket - (http == nil ? 0 : HTTPConnection.inherent)
        - (tls == nil ? 0 : TLSConnection.inherent))
  }

  /// Notes that the other end does not get what a side sends any more.
  func alter(_ side: Side) {
    if !altered.contains(side) { altered.append(side) }
  }

  subscript(side: Side) -> MQTTDirection {
    @inline(__always) _read { yield directions[side.rawValue] }
    @inline(__always) _modify { yield &directions[side.rawValue] }
  }

  /// What the packets are laid out by.
  var wire: WireProtocol {
    get { layer.wire }
    set { layer.wire = newValue }
  }

  /// Notes what its streams have, if that is noted.
  func noteKind() {
    switch stage {
    case .mqtt, .webSocket: record?.kind = .decoded
    case .tls: record?.kind = .encrypted
    // Of HTTP nothing is kept that would tell one byte from another.
    case .held, .http: break
    }
  }

  /// Takes the connection for MQTT.
  func begin(_ wire: WireProtocol) {
    stage = .mqtt
    layer.wire = wire
    clearHeld()
  }

  /// Takes the connection for TLS.
  func begin(_ state: TLSConnection) {
    budget.note(inherent: TLSConnection.inherent)
    stage = .tls
    tls = state
    clearHeld()
  }

  /// Takes the connection for WebSocket, or for HTTP that may ask for it.
  func begin(_ state: WebSocketConnection) {
    if webSocket == nil { budget.note(inherent: WebSocketConnection.inherent) }
    if http != nil { budget.note(inherent: -HTTPConnection.inherent) }
    http = nil
    stage = .webSocket
    webSocket = state
    layer.over = .webSocket
    clearHeld()
  }

  /// Takes the connection for HTTP.
  func begin(_ state: HTTPConnection) {
    budget.note(inherent: HTTPConnection.inherent)
    stage = .http
    http = state
    layer.wire = .http
    clearHeld()
  }

  /// Takes into account what a packet says of a version that is not certain.
  ///
  /// That may change the layout; what was told before keeps the mark that it had.
  func weigh(_ evidence: MQTTEvidence) {
    guard evidence.weight != 0 else { return }
    lean = max(-MQTTEvidence.most, min(MQTTEvidence.most, lean + evidence.weight))
    guard abs(lean) >= MQTTEvidence.enough else { return }
    wire = .mqttInferred(lean > 0 ? .v5_0 : .v3_1_1)
  }

  /// What waits for a side that is out of step.
  var ownBacklog: Backlog {
    if let backlog { return backlog }
    let made = Backlog()
    backlog = made
    return made
  }

  // MARK: The beginning

  /// What came before the connection was recognised.
  var held: HeldPieces { beginning?.held ?? HeldPieces() }

  private var ownBeginning: Beginning {
    if let beginning { return beginning }
    let made = Beginning()
    beginning = made
    return made
  }

  /// Keeps bytes until it is known what the connection speaks.
  func hold(_ bytes: RawSpan, from side: Side, _ arrival: Arrival) {
    ownBeginning.held.append(bytes, from: side, arrival)
  }

  /// Notes a loss until it is known what the connection speaks.
  func hold(
    lossOf count: Int, isCounted: Bool, _ reason: Gap.Reason, from side: Side, _ arrival: Arrival
  ) {
    ownBeginning.held.lose(count, isCounted: isCounted, reason, from: side, arrival)
  }

  private func clearHeld() { beginning = nil }

  /// Drops what is held, but for how much it was; false when it is too much to go on.
  func forget(_ arrival: Arrival) -> Bool {
    let held = held
    var lost = HeldPieces()
    for side in [Side.first, .second] {
      let count = held[side].bytes.count + held[side].lost
      guard count > 0 else { continue }
      lost.lose(count, .limit, from: side, arrival)
      if count > MQTTChain.largest { return false }
    }
    ownBeginning.held = lost
    return true
  }

  // MARK: Memory

  /// About what a connection takes by itself, its place among the flows included, in bytes.
  private static let inherent = 1_300
  private let budget: MemoryBudget

  /// The memory that everything unfinished takes, in bytes.
  @inline(__always)
  var reserved: Int {
    switch stage {
    case .held: held.reserved
    case .tls: tls?.session.reserved ?? 0
    case .mqtt: reservedByPackets + (backlog?.reserved ?? 0)
    case .http: http?.reserved ?? 0
    // Most of what it carries is no MQTT, and then nothing was ever cut into packets.
    case .webSocket:
      (webSocket?.carriesMQTT == true ? reservedByPackets : 0) + (webSocket?.reserved ?? 0)
    }
  }

  /// What both directions have of packets that are not finished: where they stand, as a direction that is asked for is
  /// copied as a whole.
  private var reservedByPackets: Int { directions[0].reserved + directions[1].reserved }

  /// A number that is another one when a packet or a frame was finished.
  @inline(__always)
  var progress: Int {
    let own = self[.first].framer.unitOffset &+ self[.second].framer.unitOffset
    if let http { return http.progress }
    return webSocket.map { own &+ $0.progress } ?? own
  }

  func peer(_ side: Side) -> Peer { side == client ? .client : .server }

  /// The version by which packets are laid out.
  var version: MQTTVersion { wire.version ?? .v3_1_1 }

  /// The layouts that the rest of the connection may have.
  var layouts: MQTTLayouts { wire.isCertain ? MQTTLayouts(version) : .both }

  /// Both directions, for what concerns the whole connection.
  func directions(_ arrival: Arrival) -> [Direction] {
    [Direction(self, .first, arrival), Direction(self, .second, arrival)]
  }

  /// The context of a packet.
  @inline(__always)
  fileprivate func context(_ side: Side, _ arrival: Arrival) -> EventContext {
    let layer = layer
    return EventContext(
      time: arrival.time, frame: arrival.frame, connection: number, sender: peer(side),
      wire: layer.wire, over: layer.over, isOrderUncertain: arrival.isOrderUncertain)
  }
}

/// A direction of a connection of which it is known, or is to be known, what it speaks.
typealias Direction = TCPDirection<SessionConnection>

extension Direction {
  var isFromClient: Bool { side == connection.client }

  /// How far it is cut into packets.
  var mqtt: MQTTDirection {
    @inline(__always) _read { yield connection[side] }
    @inline(__always) nonmutating _modify { yield &connection[side] }
  }

  /// The context of a packet.
  var context: EventContext {
    @inline(__always) get { connection.context(side, arrival) }
  }

  /// The context of what happens on the connection itself.
  var carrierContext: EventContext {
    var context = context
    guard connection.stage == .webSocket else { return context }
    context.wire = .webSocket
    context.over = nil
    return context
  }
}

/// One direction of a connection.
struct MQTTDirection {
  /// Bytes of the stream that came or are known to be lost.
  var offset = 0
  /// Bytes of the current packet that are known to be lost.
  var lostInPacket = 0
  /// Whether something may be kept behind the last piece.
  var mayKeep = false
  /// Whether what comes waits for the other side, which is out of step.
  var isHeldBack = false
  /// What its first bytes say of the whole.
  var beginning = MQTTBeginning.awaited
  var framer = MQTTFramer()
  /// Whether the next packet is looked for behind a loss, and not behind what is no packet.
  var isBehindLoss = false
  /// How many packets more have to be sound before it is sure that they are packets, where a loss was in front of them.
  var unproven = 0
  /// Set while it is unknown where the next packet starts.
  var resynchronizer: StreamResynchronizer<MQTTChain>?

  /// Whether bytes came of which it is unknown where the next packet starts.
  var isOutOfStep: Bool { resynchronizer?.isEmpty == false }

  /// The memory that everything unfinished takes, in bytes.
  @inline(__always)
  var reserved: Int { framer.reserved + (resynchronizer?.reserved ?? 0) }

  /// Takes note of whether something is kept of the last piece; asked from outside, all of the framer is copied.
  @inline(__always)
  mutating func noteKept() { mayKeep = framer.reserved > 0 }
}

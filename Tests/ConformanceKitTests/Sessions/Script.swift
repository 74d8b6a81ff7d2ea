import ConformanceKit
import RepriseCore
import Wire

/// One connection, written down step by step; a step takes a millisecond.
struct Script {
  private(set) var events: [Event] = []
  private var time: Int64 = 1_790_000_000_000_000_000
  private var frame = 0
  var connection: Int
  var wire: WireProtocol {
    didSet { if let version = wire.version, version != told { isAsTold = false } }
  }
  /// The version that it is told in.
  let told: MQTTVersion
  /// Whether nothing in it is of one version alone: it can be told in another one.
  private(set) var isAsTold = true
  /// How many filters the open UNSUBSCRIBEs have, which 5.0 answers one by one.
  private var filterCounts: [UInt16: Int] = [:]
  /// Whether names are tokens, which are hidden where secrets are.
  var hasSecretNames = false
  /// What reads the frames, once there are any.
  var carrier: Carrier {
    get { carriers[connection] ?? Carrier() }
    set { carriers[connection] = newValue }
  }
  private var carriers: [Int: Carrier] = [:]
  /// The place of an event in front of which bytes of a side are missing; nil where none are.
  var loss: (place: Int, sender: Peer)?
  /// The place of a frame or a head that is written otherwise; nil where none is.
  var twist: (place: Int, change: SessionChange)?

  init(connection: Int = 1, version: MQTTVersion = .v3_1_1) {
    self.connection = connection
    told = version
    wire = .mqtt(version)
  }

  mutating func add(_ sender: Peer, _ body: Event.Body, early nanoseconds: Int64 = 0) {
    loseIfDue()
    frame += 1
    time += 1_000_000
    let context = EventContext(
      time: Timestamp(nanoseconds: time - nanoseconds), frame: frame, connection: connection,
      sender: sender, wire: wire)
    events.append(Event(context, body))
  }

  /// A packet in the frames that came last.
  mutating func unpack(_ sender: Peer, _ packet: [UInt8]) {
    let carrying = wire
    // A packet comes with its frame.
    if loss?.place == events.count { loss = nil }
    wire = .mqtt(told)
    add(sender, .mqtt(PacketBytes(packet)))
    wire = carrying
    events[events.count - 1].context.over = .webSocket
  }

  /// Takes back that the order of the last event among those of the other side is known.
  mutating func doubtOrder() { events[events.count - 1].context.isOrderUncertain = true }

  mutating func wait(_ seconds: Double) { time += Int64(seconds * 1e9) }

  /// Goes on before so many of the last frames, as where a connection is told late.
  mutating func goBack(_ frames: Int) {
    frame -= frames
    time -= Int64(frames) * 1_000_000
  }

  // MARK: Connections

  mutating func open(
    isFromStart: Bool = true, hasPings: Bool = true, client: String? = nil,
    server: String = "10.0.0.2:1883", ago seconds: Double = 0
  ) {
    add(
      .client,
      .opened(
        ConnectionOpening(
          client: client ?? "10.0.0.1:\(49_999 + connection)", server: server,
          isFromStart: isFromStart, firstFrame: 1,
          firstTime: Timestamp(nanoseconds: time - Int64(seconds * 1e9)), hasPings: hasPings)))
  }

  mutating func close(
    _ sender: Peer, _ how: ConnectionClosing.How = .fin, isAnswered: Bool = true,
    isLate: Bool = false, clientSilence: Double? = nil, clientRest: Double? = nil,
    serverRest: Double? = nil
  ) {
    let closing = ConnectionClosing(
      how: how, firstFrame: frame + 1, firstTime: Timestamp(nanoseconds: time + 1_000_000),
      isAnswered: isAnswered, isLate: isLate,
      clientSilence: clientSilence.map { Int64($0 * 1e9) },
      clientRest: clientRest.map { Int64($0 * 1e9) },
      serverRest: serverRest.map { Int64($0 * 1e9) })
    add(sender, .closed(closing))
  }

  mutating func endCapture() { close(.client, .endOfCapture) }

  mutating func gap(_ sender: Peer) {
    carrier.lose(from: sender)
    add(sender, .gap(Gap(bytes: 10, reason: .acknowledged)))
  }

  /// Leaves out bytes in front of the next event, if it is the one.
  mutating func loseIfDue() {
    guard let loss, loss.place == events.count else { return }
    self.loss = nil
    gap(loss.sender)
    // Nothing else comes later for it.
    time -= 1_000_000
  }

  mutating func garbage(_ sender: Peer) {
    add(sender, .malformed(Malformation(MQTTFramingError(.notMQTT, at: 0))))
  }

  /// A connection whose client is accepted.
  mutating func start(
    clientID: String = "c", cleanStart: Bool = true, keepAlive: UInt16 = 0,
    sessionPresent: Bool = false, isFromStart: Bool = true, hasPings: Bool = true
  ) {
    open(isFromStart: isFromStart, hasPings: hasPings)
    client(.connect(.init(clientID: clientID, cleanStart: cleanStart, keepAlive: keepAlive)))
    server(.connack(.init(sessionPresent: sessionPresent)))
  }

  /// The usual end.
  mutating func finish() {
    client(.disconnect(.init()))
    close(.client)
  }

  // MARK: Packets

  mutating func client(_ content: MQTTPacket.Content, dup: Bool = false) {
    send(.client, content, dup)
  }

  mutating func server(_ content: MQTTPacket.Content, dup: Bool = false) {
    send(.server, content, dup)
  }

  private mutating func send(_ sender: Peer, _ content: MQTTPacket.Content, _ dup: Bool) {
    var content = translated(content)
    if hasSecretNames { content = content.withSecretNames }
    let packet = MQTTPacket(content, version: wire.version ?? .v3_1_1, dup: dup)
    // Nothing here is longer than the format can say; an empty packet would fail its test.
    add(sender, .mqtt(PacketBytes((try? packet.encoded()) ?? [])))
  }

  /// A packet as its bytes in hexadecimal, of which the capture may have lost the end.
  mutating func client(hex: String, missing: Int = 0) { send(.client, hex, missing) }
  mutating func server(hex: String, missing: Int = 0) { send(.server, hex, missing) }

  /// What says in 5.0 what a packet says in 3.1.1: codes have other numbers, a session that is to be kept says
  /// for how long, and UNSUBACK has codes.
  mutating func translated(_ content: MQTTPacket.Content) -> MQTTPacket.Content {
    guard told == .v5_0 else { return content }
    switch content {
    case .connect(var connect) where !connect.cleanStart && connect.properties.isEmpty:
      connect.properties = [.init(.sessionExpiryInterval, .integer(0xFFFF_FFFF))]
      return .connect(connect)
    case .connack(var connack) where (1...5).contains(connack.code):
      connack.code = [0x84, 0x85, 0x88, 0x86, 0x87][Int(connack.code) - 1]
      return .connack(connack)
    case .unsubscribe(let id, let filters, _):
      filterCounts[id] = filters.count
      return content
    case .unsuback(let id, let codes, let properties) where codes.isEmpty:
      let codes = [UInt8](repeating: 0, count: filterCounts[id] ?? 1)
      return .unsuback(packetID: id, codes: codes, properties)
    default: return content
    }
  }

  private mutating func send(_ sender: Peer, _ hex: String, _ missing: Int) {
    isAsTold = false
    let digits = hex.filter { $0 != " " }.map { UInt8($0.hexDigitValue ?? 0) }
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).map {
      digits[$0] << 4 | digits[$0 + 1]
    }
    add(sender, .mqtt(PacketBytes(Array(bytes.dropLast(missing)))))
  }

  /// A CONNECT with flags and a payload of any kind.
  mutating func connect(flags: UInt8, payload: [UInt8]) {
    isAsTold = false
    let body: [UInt8] = [0, 4] + Array("MQTT".utf8) + [4, flags, 0, 0] + payload
    add(.client, .mqtt(PacketBytes([0x10, UInt8(body.count)] + body)))
  }

  mutating func publish(_ sender: Peer, _ topic: String, qos: UInt8 = 0, id: UInt16 = 0) {
    send(sender, .publish(.init(topic: topic, payload: [1], qos: qos, packetID: id)), false)
  }

  mutating func republish(_ sender: Peer, _ topic: String, qos: UInt8, id: UInt16) {
    send(sender, .publish(.init(topic: topic, payload: [1], qos: qos, packetID: id)), true)
  }

  mutating func acknowledge(_ sender: Peer, _ type: MQTTPacketType, _ id: UInt16) {
    send(sender, .acknowledgement(type, packetID: id, .init()), false)
  }

  mutating func subscribe(_ id: UInt16, _ filters: String..., qos: UInt8 = 2) {
    client(.subscribe(packetID: id, filters.map { .init($0, options: qos) }, []))
  }

  mutating func suback(_ id: UInt16, _ codes: UInt8...) {
    server(.suback(packetID: id, codes: codes, []))
  }

  mutating func unsubscribe(_ id: UInt16, _ filters: String...) {
    client(.unsubscribe(packetID: id, filters, []))
  }

  mutating func unsuback(_ id: UInt16) { server(.unsuback(packetID: id, codes: [], [])) }

  mutating func ping() { client(.pingreq) }
  /// The client pings by a timer that is too slow: no network is away for as long each time.
  mutating func fallSilent(_ seconds: Double, times: Int = 3) {
    for _ in 0..<times {
      wait(seconds)
      ping()
    }
  }
  mutating func pong() { server(.pingresp) }

  /// The connection goes on for a minute, with traffic of both sides.
  mutating func goOn() {
    for _ in 0..<4 {
      wait(15)
      ping()
      pong()
    }
  }
}

/// Bytes of a string field.
func field(_ text: String) -> [UInt8] { field(Array(text.utf8)) }

/// Bytes of a field with its length.
func field(_ bytes: [UInt8]) -> [UInt8] { [0, UInt8(bytes.count)] + bytes }

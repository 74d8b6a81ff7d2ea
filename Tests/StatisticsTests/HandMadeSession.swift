import RepriseCore
import Statistics
import Wire

/// A session written down event by event, with its times in microseconds, and what is counted of it.
struct HandMadeSession {
  private(set) var events: [(event: Event, isSelected: Bool)] = []
  /// Whether what follows is selected.
  var isSelected = true
  /// Whether of what follows it is not known what came first.
  var isUncertain = false
  /// The connection that follows.
  var connection = 1
  var version = MQTTVersion.v3_1_1
  /// What the packets that follow are carried in.
  var over: Carrier?

  mutating func add(_ microseconds: Int, _ sender: Peer, _ body: Event.Body) {
    var wire = WireProtocol.mqtt(version)
    switch body {
    case .webSocket, .handshake: wire = .webSocket
    case .http: wire = .http
    case .tls: wire = .tls
    default: break
    }
    let context = EventContext(
      time: Timestamp(nanoseconds: 1_790_000_000_000_000_000 + Int64(microseconds) * 1_000),
      frame: events.count + 1, connection: connection, sender: sender, wire: wire,
      over: wire.version == nil ? nil : over, isOrderUncertain: isUncertain)
    events.append((Event(context, body), isSelected))
  }

  mutating func send(
    _ microseconds: Int, _ sender: Peer, _ content: MQTTPacket.Content, dup: Bool = false
  ) {
    let bytes = try? MQTTPacket(content, version: version, dup: dup).encoded()
    add(microseconds, sender, .mqtt(PacketBytes(bytes ?? [])))
  }

  mutating func publish(
    _ microseconds: Int, _ sender: Peer, _ topic: String, qos: UInt8 = 0, id: UInt16 = 0,
    _ payload: String = "", dup: Bool = false, _ properties: [MQTTProperty] = []
  ) {
    let message = MQTTPacket.Publish(
      topic: topic, payload: Array(payload.utf8), qos: qos, packetID: id, properties: properties)
    send(microseconds, sender, .publish(message), dup: dup)
  }

  mutating func acknowledge(
    _ microseconds: Int, _ sender: Peer, _ type: MQTTPacketType, _ id: UInt16, code: UInt8? = nil
  ) {
    send(
      microseconds, sender, .acknowledgement(type, packetID: id, MQTTPacket.Reason(code)))
  }

  mutating func open(_ microseconds: Int, isFromStart: Bool = true) {
    let time = Timestamp(nanoseconds: 1_790_000_000_000_000_000 + Int64(microseconds) * 1_000)
    add(
      microseconds, .client,
      .opened(
        ConnectionOpening(
          client: "10.0.0.1:4000\(connection)", server: "10.0.0.2:1883", isFromStart: isFromStart,
          firstFrame: events.count + 1, firstTime: time)))
  }

  mutating func connect(_ microseconds: Int, _ client: String, keepAlive: UInt16 = 60) {
    send(
      microseconds, .client,
      .connect(MQTTPacket.Connect(clientID: client, keepAlive: keepAlive)))
  }

  mutating func accept(_ microseconds: Int, code: UInt8 = 0) {
    send(microseconds, .server, .connack(MQTTPacket.Connack(code: code)))
  }

  mutating func lose(_ microseconds: Int, _ sender: Peer) {
    add(microseconds, sender, .gap(Gap(bytes: 7, reason: .acknowledged)))
  }

  mutating func close(_ microseconds: Int, _ how: ConnectionClosing.How, by sender: Peer) {
    let time = Timestamp(nanoseconds: 1_790_000_000_000_000_000 + Int64(microseconds) * 1_000)
    add(
      microseconds, sender,
      .closed(ConnectionClosing(how: how, firstFrame: events.count + 1, firstTime: time)))
  }

  func counted(
    _ limits: StatisticsLimits = StatisticsLimits(), _ envelope: RequestEnvelope = RequestEnvelope()
  ) -> SessionStatistics {
    var statistics = SessionStatistics(limits, requestKeys: RequestKeys(envelope))
    statistics.beginFile("a.pcap")
    for (event, isSelected) in events {
      event.withView { statistics.consume($0, isSelected: isSelected) }
    }
    statistics.endFile()
    return statistics
  }

  /// All that was asked, a line for each kind: who asked, how often, the times of the answers in microseconds (how
  /// many, the least, the greatest and their sum), and how many had none, were open or are undecided.
  func exchanges(
    _ limits: StatisticsLimits = StatisticsLimits(), _ envelope: RequestEnvelope = RequestEnvelope()
  ) -> [String] {
    let exchanges = counted(limits, envelope).exchanges
    return zip(ExchangeKind.allCases, exchanges).flatMap { kind, tallies in
      Peer.allCases.filter { tallies[$0].asked > 0 }.map { asker in
        let tally = tallies[asker]
        let times = tally.times
        return "\(asker) \(kind.name) \(tally.asked): "
          + "\(times.count) in \(times.minimum / 1_000)...\(times.maximum / 1_000) Σ\(times.sum / 1_000), "
          + "none \(tally.unanswered), open \(tally.stillOpen), ? \(tally.undecided)"
      }
    }
  }
}

package import RepriseCore
import Wire

/// How a connection is at one event: what was agreed, what is subscribed to, and what waits for an answer.
///
/// It tells what the connection itself shows. What a session has from a connection before is not among it.
package struct ConnectionPicture: Sendable {
  /// How far a connection is.
  package enum Phase: String, Sendable {
    /// It is open, and no CONNECT was seen on it.
    case open
    /// CONNECT was sent, and not answered.
    case connecting
    /// CONNACK accepted the client, or packets show that it did.
    case connected
    /// CONNACK refused the client.
    case refused
    /// DISCONNECT was sent.
    case disconnecting
    /// It is over.
    case closed
  }

  /// A subscription that was asked for on the connection.
  package struct Held: Sendable, Hashable {
    /// The topic filter.
    var filter: String
    /// The QoS that was asked for, or was granted.
    var qos: UInt8
    /// Whether the server has granted it.
    var isGranted: Bool
    /// The frame of its SUBSCRIBE.
    package var frame: Int
  }

  /// A packet whose identifier is in use.
  package struct InFlight: Sendable, Hashable {
    /// The end that sent it.
    var sender: Peer
    /// The packet identifier.
    package var id: UInt16
    /// Its type.
    var type: String
    /// The type of the packet that it waits for.
    var waitsFor: String
    /// What it is about: a topic.
    var topic: String
    /// Its frame.
    package var frame: Int
  }

  private struct Key: Hashable {
    var sender: Peer
    var id: UInt16
    var isMessage: Bool
  }

  /// The number of the connection.
  package let number: Int
  /// How far it is.
  private(set) var phase = Phase.open
  /// The addresses of its ends; nil where the capture does not show how it opened.
  private(set) var ends: (client: String, server: String)?
  /// What it speaks, by the names of `inspect`.
  private(set) var wire = ""
  /// The client identifier; nil where no CONNECT was seen.
  package private(set) var client: String?
  /// The Keep Alive in seconds; 0 is none.
  private(set) var keepAlive = 0
  /// Clean Session or Clean Start.
  private(set) var isClean = false
  /// Whether the server had a session of the client.
  private(set) var isSessionPresent: Bool?
  /// The topic of the will, as long as there is one.
  private(set) var willTopic: String?
  /// The subscriptions, in the order in which they were asked for.
  private(set) var subscriptions: [Held] = []
  /// How many events each end has sent, and when the last of them.
  private(set) var sent: [Peer: (count: Int, last: Timestamp)] = [:]
  /// How many PINGREQ are not answered.
  private(set) var openPings = 0
  /// When its first event was.
  package private(set) var start: Timestamp?
  /// How it ended, by the names of `inspect`; nil as long as it is open.
  private(set) var ending: String?

  private var flights: [Key: InFlight] = [:]
  private var requests: [UInt16: [(filter: String, qos: UInt8)]] = [:]
  private var retractions: [UInt16: [String]] = [:]
  private static let mostSubscriptions = 10_000

  /// Creates the picture of a connection of which nothing was seen.
  package init(_ number: Int) { self.number = number }

  /// The packets whose identifiers are in use, the earliest first.
  var inFlight: [InFlight] {
    flights.values.sorted { ($0.frame, $0.id) < ($1.frame, $1.id) }
  }

  /// Takes the next event of the session; those of other connections change nothing.
  package mutating func consume(_ event: borrowing EventView) {
    let context = event.context
    guard context.connection == number, context.wire != .tls else { return }
    if context.over != nil || wire.isEmpty || context.wire.version != nil {
      wire = "\(context.wire.name)" + (context.over.map { " over \($0.rawValue)" } ?? "")
    }
    start = start ?? context.time
    switch event.body {
    case .opened(let opening):
      ends = (opening.client, opening.server)
      start = opening.firstTime
    case .closed(let closing):
      phase = .closed
      ending = closing.how.rawValue
    case .attempted, .gap, .malformed, .tls: break
    case .mqtt(let packet):
      note(context)
      consume(packet, context)
    case .handshake, .webSocket, .http: note(context)
    }
  }

  private mutating func note(_ context: EventContext) {
    sent[context.sender] = ((sent[context.sender]?.count ?? 0) + 1, context.time)
  }

  // MARK: MQTT

  private mutating func consume(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    let sender = context.sender
    switch packet.type {
    case .connect: connect(packet)
    case .connack:
      phase = packet.reasonCode ?? 0 == 0 ? .connected : .refused
      isSessionPresent = packet.sessionPresent
    case .publish: publish(packet, context)
    case .puback, .pubrec, .pubrel, .pubcomp: acknowledge(packet, context)
    case .subscribe: subscribe(packet, context)
    case .suback: grant(packet)
    case .unsubscribe: unsubscribe(packet, context)
    case .unsuback: retract(packet)
    case .pingreq: if sender == .client { openPings += 1 }
    case .pingresp: openPings = max(0, openPings - 1)
    case .disconnect:
      phase = .disconnecting
      // A normal DISCONNECT takes the will back.
      if sender == .client, packet.reasonCode ?? 0 == 0 { willTopic = nil }
    case .auth, .reserved: break
    }
    if phase == .open, packet.type != .connect { phase = .connected }
  }

  private mutating func connect(_ packet: borrowing MQTTPacketView) {
    phase = .connecting
    guard let connect = packet.connect else { return }
    client = String(copying: connect.clientID)
    keepAlive = Int(connect.keepAlive)
    isClean = connect.cleanStart
    willTopic = connect.hasWill ? String(copying: connect.willTopic) : nil
  }

  private mutating func publish(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard let id = packet.packetID, packet.qos > 0 else { return }
    let key = Key(sender: context.sender, id: id, isMessage: true)
    if packet.dup, flights[key] != nil { return }
    flights[key] = InFlight(
      sender: context.sender, id: id, type: "PUBLISH",
      waitsFor: packet.qos == 1 ? "PUBACK" : "PUBREC", topic: String(copying: packet.topic),
      frame: context.frame)
  }

  private mutating func acknowledge(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard let id = packet.packetID else { return }
    let isOfSender = packet.type == .pubrel
    let key = Key(
      sender: isOfSender ? context.sender : context.sender.other, id: id, isMessage: true)
    switch packet.type {
    case .pubrec where packet.reasonCode ?? 0 < 0x80: flights[key]?.waitsFor = "PUBREL"
    case .pubrel: flights[key]?.waitsFor = "PUBCOMP"
    default: flights[key] = nil
    }
  }

  private mutating func subscribe(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard let id = packet.packetID else { return }
    var wanted: [(filter: String, qos: UInt8)] = []
    var filters = packet.filters
    while let filter = filters.next() {
      wanted.append((String(copying: filter.text), filter.qos))
    }
    expect(id, "SUBSCRIBE", "SUBACK", wanted.map(\.filter), context)
    for (filter, qos) in wanted {
      if let place = subscriptions.firstIndex(where: { $0.filter == filter }) {
        subscriptions[place].frame = context.frame
      } else if subscriptions.count < Self.mostSubscriptions {
        subscriptions.append(
          Held(filter: filter, qos: qos, isGranted: false, frame: context.frame))
      }
    }
    requests[id] = wanted
  }

  private mutating func grant(_ packet: borrowing MQTTPacketView) {
    guard let id = packet.packetID else { return }
    flights[Key(sender: .client, id: id, isMessage: false)] = nil
    let codes = [UInt8](copying: packet.reasonCodes)
    for (wanted, code) in zip(requests.removeValue(forKey: id) ?? [], codes) {
      guard let place = subscriptions.firstIndex(where: { $0.filter == wanted.filter }) else {
        continue
      }
      if code < 0x80 {
        subscriptions[place].qos = code
        subscriptions[place].isGranted = true
      } else if !subscriptions[place].isGranted {
        subscriptions.remove(at: place)
      }
    }
  }

  private mutating func unsubscribe(_ packet: borrowing MQTTPacketView, _ context: EventContext) {
    guard let id = packet.packetID else { return }
    var wanted: [String] = []
    var filters = packet.filters
    while let filter = filters.next() { wanted.append(String(copying: filter.text)) }
    expect(id, "UNSUBSCRIBE", "UNSUBACK", wanted, context)
    retractions[id] = wanted
  }

  private mutating func retract(_ packet: borrowing MQTTPacketView) {
    guard let id = packet.packetID else { return }
    flights[Key(sender: .client, id: id, isMessage: false)] = nil
    // Only 5.0 has codes, and by them says what was refused.
    let codes = [UInt8](copying: packet.reasonCodes)
    let wanted = retractions.removeValue(forKey: id) ?? []
    let refused = zip(wanted, codes).filter { $1 >= 0x80 }.map(\.0)
    let filters = Set(wanted).subtracting(refused)
    subscriptions.removeAll { filters.contains($0.filter) }
  }

  private mutating func expect(
    _ id: UInt16, _ type: String, _ answer: String, _ filters: [String], _ context: EventContext
  ) {
    flights[Key(sender: context.sender, id: id, isMessage: false)] = InFlight(
      sender: context.sender, id: id, type: type, waitsFor: answer,
      topic: filters.joined(separator: ", "), frame: context.frame)
  }
}

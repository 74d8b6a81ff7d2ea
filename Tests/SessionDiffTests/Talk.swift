import RepriseCore
import SessionDiff
import Wire

/// A session written down line by line, for tests that compare it with another one.
struct Talk {
  private(set) var events: [Event] = []
  /// The connection of what follows.
  var connection = 1
  var version = MQTTVersion.v5_0
  /// How long each thing takes, in nanoseconds.
  var pace: Int64 = 1_000_000
  /// The frame in front of the first.
  var frame = 0

  mutating func add(_ sender: Peer, _ body: Event.Body, _ wire: WireProtocol? = nil) {
    frame += 1
    let context = EventContext(
      time: Timestamp(nanoseconds: 1_790_000_000_000_000_000 + Int64(frame) * pace), frame: frame,
      connection: connection, sender: sender, wire: wire ?? .mqtt(version))
    events.append(Event(context, body))
  }

  mutating func say(_ sender: Peer, _ content: MQTTPacket.Content, dup: Bool = false) {
    let bytes = try? MQTTPacket(content, version: version, dup: dup).encoded()
    add(sender, .mqtt(PacketBytes(bytes ?? [])))
  }

  mutating func open(port: Int = 40_000, isFromStart: Bool = true) {
    let time = Timestamp(nanoseconds: 1_790_000_000_000_000_000)
    add(
      .client,
      .opened(
        ConnectionOpening(
          client: "10.0.0.1:\(port)", server: "10.0.0.2:\(port / 10)", isFromStart: isFromStart,
          firstFrame: frame + 1, firstTime: time)))
  }

  mutating func close(_ how: ConnectionClosing.How = .fin, by sender: Peer = .client) {
    let time = Timestamp(nanoseconds: 1_790_000_000_000_000_000)
    add(
      sender, .closed(ConnectionClosing(how: how, firstFrame: frame + 1, firstTime: time)))
  }

  mutating func connect(_ clientID: String) {
    say(.client, .connect(MQTTPacket.Connect(clientID: clientID)))
    say(.server, .connack(MQTTPacket.Connack()))
  }

  mutating func publish(
    _ sender: Peer, _ topic: String, _ payload: String, qos: UInt8 = 0, id: UInt16 = 0,
    retain: Bool = false, dup: Bool = false, _ properties: [MQTTProperty] = []
  ) {
    say(
      sender,
      .publish(
        MQTTPacket.Publish(
          topic: topic, payload: Array(payload.utf8), qos: qos, retain: retain, packetID: id,
          properties: properties)), dup: dup)
  }

  mutating func acknowledge(
    _ sender: Peer, _ type: MQTTPacketType, _ id: UInt16, code: UInt8? = nil
  ) {
    say(sender, .acknowledgement(type, packetID: id, MQTTPacket.Reason(code)))
  }

  mutating func lose(_ sender: Peer) {
    add(sender, .gap(Gap(bytes: 7, reason: .acknowledged)))
  }

  /// One client that subscribes, publishes with each QoS and gets a message.
  mutating func example(_ clientID: String = "sensor", id: UInt16 = 1) {
    open()
    connect(clientID)
    say(.client, .subscribe(packetID: id, [.init("plant/+", options: 1)], []))
    say(.server, .suback(packetID: id, codes: [1], []))
    publish(.client, "plant/1", #"{"t":21.5,"n":1}"#, retain: true)
    publish(.client, "plant/2", "on", qos: 1, id: id + 1)
    acknowledge(.server, .puback, id + 1)
    publish(.server, "plant/1", "from another", qos: 1, id: id + 7)
    acknowledge(.client, .puback, id + 7)
    publish(.client, "plant/3", "off", qos: 2, id: id + 2)
    acknowledge(.server, .pubrec, id + 2)
    acknowledge(.client, .pubrel, id + 2)
    acknowledge(.server, .pubcomp, id + 2)
    say(.client, .pingreq)
    say(.server, .pingresp)
    say(.client, .disconnect(MQTTPacket.Reason()))
    close()
  }

  static func example(_ clientID: String = "sensor", id: UInt16 = 1) -> Talk {
    var talk = Talk()
    talk.example(clientID, id: id)
    return talk
  }

  /// The same without an event, all others in their frames.
  func without(_ frame: Int) -> Talk {
    var talk = self
    talk.events.removeAll { $0.context.frame == frame }
    return talk
  }

  /// The same with another packet in the place of one.
  func with(_ frame: Int, _ content: MQTTPacket.Content) throws -> Talk {
    var talk = self
    let bytes = try MQTTPacket(content, version: version).encoded()
    for index in talk.events.indices where talk.events[index].context.frame == frame {
      talk.events[index].body = .mqtt(PacketBytes(bytes))
    }
    return talk
  }

  /// The same with two events in each other's place.
  func swapping(_ frame: Int, _ other: Int) -> Talk {
    var talk = self
    let (body, otherBody) = (talk.events[frame - 1].body, talk.events[other - 1].body)
    talk.events[frame - 1].body = otherBody
    talk.events[other - 1].body = body
    return talk
  }

  /// What differs from another session, a line for each difference.
  func differences(
    from other: Talk, _ options: DiffOptions = DiffOptions()
  ) throws -> [String] {
    try SessionComparison(events, other.events, options).lines
  }
}

extension SessionComparison {
  init(_ a: [Event], _ b: [Event], _ options: DiffOptions = DiffOptions()) throws {
    let (first, second) = (try SessionDigest(a, options), try SessionDigest(b, options))
    let plan = SessionPlan(first, second)
    self.init(
      plan, try SessionDetails(a, plan.places(inFirst: true), options),
      try SessionDetails(b, plan.places(inFirst: false), options), options)
  }

  /// A line for each difference, with its frames and fields.
  var lines: [String] {
    connections.flatMap { connection -> [String] in
      switch (connection.a, connection.b) {
      case (let a?, nil): return ["connection \(a.number) only in A"]
      case (nil, let b?): return ["connection \(b.number) only in B"]
      default:
        let unknown = connection.unknown.map { "unknown \($0.frame)" }
        return connection.differences.map(\.words) + unknown
      }
    }
  }
}

extension Difference {
  var words: String {
    let frames = [a, b].map { $0.map { String($0.frame) } ?? "·" }.joined(separator: " ")
    let answers = asked.map { " answers \($0.frame)" } ?? ""
    let values = fields.map { field in
      " \(field.place): \(field.a?.description ?? "·") → \(field.b?.description ?? "·")"
    }
    return "\(kind.rawValue) \(frames)\(answers)" + values.joined()
  }
}

extension SessionDigest {
  init(_ events: [Event], _ options: DiffOptions) throws {
    self.init(options, memory: 64 << 20)
    for event in events { try event.withView { try consume($0, isSelected: true) } }
  }
}

extension SessionDetails {
  init(_ events: [Event], _ places: SessionPlaces, _ options: DiffOptions) throws {
    self.init(places, options, memory: 64 << 20)
    for event in events { try event.withView { try consume($0, isSelected: true) } }
  }
}

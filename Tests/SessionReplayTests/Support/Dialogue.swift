import RepriseCore
import SessionReplay
import Wire

/// A session of one connection or several as a test writes it, a packet a millisecond.
struct Dialogue {
  private(set) var events: [Event] = []

  /// A line of the client, which it sends.
  static func client(_ content: MQTTPacket.Content, dup: Bool = false, on connection: Int = 1)
    -> Line
  {
    Line(.client, content, dup, connection)
  }

  static func server(_ content: MQTTPacket.Content, dup: Bool = false, on connection: Int = 1)
    -> Line
  {
    Line(.server, content, dup, connection)
  }

  struct Line {
    let sender: Peer
    let content: MQTTPacket.Content
    let dup: Bool
    let connection: Int

    init(_ sender: Peer, _ content: MQTTPacket.Content, _ dup: Bool, _ connection: Int) {
      (self.sender, self.content, self.dup, self.connection) = (sender, content, dup, connection)
    }
  }

  init(_ lines: [Line], version: MQTTVersion = .v3_1_1) throws {
    for (index, line) in lines.enumerated() {
      let packet = MQTTPacket(line.content, version: version, dup: line.dup)
      events.append(
        Event(
          Self.context(index + 1, line.sender, line.connection, version),
          .mqtt(PacketBytes(try packet.encoded()))))
    }
  }

  static func time(_ frame: Int) -> Timestamp {
    Timestamp(nanoseconds: 1_700_000_000_000_000_000 + Int64(frame) * 1_000_000)
  }

  static func context(
    _ frame: Int, _ sender: Peer, _ connection: Int, _ version: MQTTVersion = .v3_1_1
  ) -> EventContext {
    EventContext(
      time: time(frame), frame: frame, connection: connection, sender: sender, wire: .mqtt(version))
  }

  /// The same with another event at its end.
  func adding(_ body: Event.Body, by sender: Peer, on connection: Int = 1) -> Dialogue {
    var copy = self
    copy.events.append(Event(Self.context(events.count + 1, sender, connection), body))
    return copy
  }

  /// What both ends do.
  func script(
    _ selection: ScriptReader.Selection = .init(), within window: ReplayWindow = .init(),
    limit: Int = 1 << 20
  ) throws -> SessionScript {
    try events.script(selection, within: window, limit: limit)
  }
}

extension [Event] {
  /// What both ends do.
  func script(
    _ selection: ScriptReader.Selection = .init(), within window: ReplayWindow = .init(),
    limit: Int = 1 << 20
  ) throws -> SessionScript {
    var reader = ScriptReader(selection, within: window, limit: limit)
    for event in self { event.withView { reader.consume($0) } }
    return try reader.script()
  }
}

extension ReplayPacket {
  /// A packet of this run.
  init(_ content: MQTTPacket.Content, _ version: MQTTVersion = .v3_1_1, dup: Bool = false) throws {
    try self.init(MQTTPacket(content, version: version, dup: dup).encoded(), version)
  }

  /// A packet of this run, which need not be one that can be read.
  init(_ bytes: [UInt8], _ version: MQTTVersion = .v3_1_1) throws {
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else {
      throw NoPacket()
    }
    var aliases = AliasedTopics()
    self.init(MQTTPacketView(bytes.span.bytes, header: header, version: version), &aliases)
  }

  struct NoPacket: Error {}
}

extension ReplaySettings {
  static func matching(_ match: ReplayMatch, speed: Double? = nil) -> ReplaySettings {
    ReplaySettings(
      options: ReplayOptions(match: match, source: "a.jsonl"), speed: speed,
      patience: .seconds(10))
  }
}

extension MQTTPacket.Content {
  static func connect(_ clientID: String, clean: Bool = true) -> Self {
    .connect(.init(clientID: clientID, cleanStart: clean))
  }

  static var connack: Self { .connack(.init()) }

  static func publish(
    _ topic: String, _ text: String, qos: UInt8 = 0, id: UInt16 = 0, retain: Bool = false
  ) -> Self {
    .publish(
      .init(topic: topic, payload: Array(text.utf8), qos: qos, retain: retain, packetID: id))
  }

  static func subscribe(_ id: UInt16, _ filter: String, qos: UInt8 = 1) -> Self {
    .subscribe(packetID: id, [.init(filter, options: qos)], [])
  }

  static func suback(_ id: UInt16, _ code: UInt8 = 1) -> Self {
    .suback(packetID: id, codes: [code], [])
  }

  static func puback(_ id: UInt16) -> Self { .acknowledgement(.puback, packetID: id, .init()) }
  static func pubrec(_ id: UInt16) -> Self { .acknowledgement(.pubrec, packetID: id, .init()) }
  static func pubrel(_ id: UInt16) -> Self { .acknowledgement(.pubrel, packetID: id, .init()) }
  static func pubcomp(_ id: UInt16) -> Self { .acknowledgement(.pubcomp, packetID: id, .init()) }
  static var disconnect: Self { .disconnect(.init()) }
}

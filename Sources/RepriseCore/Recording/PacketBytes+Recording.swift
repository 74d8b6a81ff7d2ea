import Wire

extension PacketBytes {
  /// Reads a packet: its bytes where the line has them, else the encoding of its fields.
  ///
  /// Where a packet with faults, or of which bytes are missing, has no bytes in its line because they would have told
  /// a secret, the fields are all that is known of it; where not even they make a packet, its fixed header is.
  init(
    _ fields: RecordingFields, type: MQTTPacketType, version: MQTTVersion
  ) throws(RecordingError) {
    if fields.value("bytes") != nil {
      try self.init(captured: fields, type: type)
      return
    }
    let missing = fields.value("missing") == nil ? 0 : try fields.integer("missing")
    let isConcealed = missing > 0 || fields.value("errors") != nil
    do {
      let bytes = try Self.encoded(fields, type, version)
      self.init(missing > 0 ? Self.promising(missing, behind: bytes) : bytes)
    } catch {
      guard isConcealed else { throw error }
      self.init(try Self.header(fields, type))
    }
  }

  private static func encoded(
    _ fields: RecordingFields, _ type: MQTTPacketType, _ version: MQTTVersion
  ) throws(RecordingError) -> [UInt8] {
    let packet = try MQTTPacket(fields, type: type, version: version)
    do {
      return try packet.encoded()
    } catch {
      throw RecordingError(
        .wrongValue, message(error), line: fields.line, remedy: "correct the line or record again")
    }
  }

  /// A packet with a remaining length that promises more than there is.
  private static func promising(_ missing: Int, behind packet: [UInt8]) -> [UInt8] {
    guard case .header(let header) = MQTTFixedHeader.read(packet.span.bytes) else { return packet }
    let body = packet.suffix(header.remainingLength)
    return packet.prefix(1) + length(body.count + missing) + body
  }

  /// The fixed header of a packet of which nothing else can be told.
  private static func header(
    _ fields: RecordingFields, _ type: MQTTPacketType
  ) throws(RecordingError) -> [UInt8] {
    var flags: UInt8 = 0
    switch type {
    case .publish:
      let qos = fields.value("qos")?.integer ?? 0
      flags = UInt8(truncatingIfNeeded: qos & 3) << 1
      if try fields.flag("retain") { flags |= 1 }
      if try fields.flag("dup") { flags |= 8 }
    case .pubrel, .subscribe, .unsubscribe: flags = 2
    default: break
    }
    return [type.rawValue << 4 | flags] + length(try fields.integer("length"))
  }

  /// A remaining length (MQTT 3.1.1 section 2.2.3), at most the largest.
  private static func length(_ value: Int) -> [UInt8] {
    var rest = min(value, 268_435_455)
    var bytes: [UInt8] = []
    repeat {
      bytes.append(UInt8(rest & 0x7F) | (rest > 0x7F ? 0x80 : 0))
      rest >>= 7
    } while rest > 0
    return bytes
  }

  private init(captured fields: RecordingFields, type: MQTTPacketType) throws(RecordingError) {
    guard let bytes = Base64.decode(try fields.string("bytes")) else {
      throw fields.wrong("bytes", "is not canonical base 64")
    }
    guard case .header(let header) = MQTTFixedHeader.read(bytes.span.bytes) else {
      throw fields.wrong("bytes", "does not start with the fixed header of a packet")
    }
    guard header.type == type else {
      throw fields.wrong("bytes", "is a packet of another type than \"type\" says")
    }
    guard bytes.count <= header.packetSize else {
      throw fields.wrong("bytes", "is longer than its remaining length says")
    }
    let missing = fields.value("missing") == nil ? 0 : try fields.integer("missing")
    guard missing == header.packetSize - bytes.count else {
      throw fields.wrong("bytes", "and \"missing\" do not add up to its remaining length")
    }
    self.init(bytes)
  }

  private static func message(_ error: MQTTEncodingError) -> String {
    switch error {
    case .fieldTooLong(let field, let bytes):
      "\"\(field.rawValue)\" has \(bytes) bytes, more than a packet can hold"
    case .packetTooLarge(let bytes): "the packet has \(bytes) bytes, more than MQTT allows"
    case .wrongPropertyValue(let id): "the property \"\(id.name)\" can't have this value"
    }
  }
}

extension MQTTPacket {
  /// Rebuilds a packet from the fields of a recording's line.
  init(
    _ fields: RecordingFields, type: MQTTPacketType, version: MQTTVersion
  ) throws(RecordingError) {
    self.init(
      try Content(fields, type: type, version: version), version: version,
      dup: try fields.flag("dup"))
  }
}

extension MQTTPacket.Content {
  init(
    _ fields: RecordingFields, type: MQTTPacketType, version: MQTTVersion
  ) throws(RecordingError) {
    switch type {
    case .reserved:
      throw fields.wrong("type", "is a reserved packet, which needs its bytes in \"bytes\"")
    case .connect: self = .connect(try MQTTPacket.Connect(fields))
    case .connack:
      self = .connack(
        .init(
          sessionPresent: try fields.flag("sessionPresent"), code: try fields.reasonCode() ?? 0,
          properties: try fields.properties()))
    case .publish: self = .publish(try MQTTPacket.Publish(fields))
    case .puback, .pubrec, .pubrel, .pubcomp:
      let reason = try fields.reason(version: version, above: 2)
      self = .acknowledgement(type, packetID: try fields.uint16("packetID"), reason)
    case .subscribe:
      self = .subscribe(
        packetID: try fields.uint16("packetID"), try fields.subscriptions(),
        try fields.properties())
    case .suback:
      self = .suback(
        packetID: try fields.uint16("packetID"), codes: try fields.bytes("reasonCodes"),
        try fields.properties())
    case .unsubscribe:
      self = .unsubscribe(
        packetID: try fields.uint16("packetID"), try fields.subscriptions().map(\.filter),
        try fields.properties())
    case .unsuback:
      self = .unsuback(
        packetID: try fields.uint16("packetID"), codes: try fields.bytes("reasonCodes"),
        try fields.properties())
    case .pingreq: self = .pingreq
    case .pingresp: self = .pingresp
    case .disconnect: self = .disconnect(try fields.reason(version: version, above: 0))
    case .auth: self = .auth(try fields.reason(version: version, above: 0))
    }
  }
}

extension MQTTPacket.Connect {
  init(_ fields: RecordingFields) throws(RecordingError) {
    var will: MQTTPacket.Will?
    if let written = try fields.optionalObject("will") {
      will = MQTTPacket.Will(
        topic: try written.string("topic"), payload: try written.data("payload"),
        qos: UInt8(truncatingIfNeeded: try written.integer("qos", in: 0...3)),
        retain: try written.flag("retain"), properties: try written.properties())
    }
    self.init(
      clientID: try fields.string("clientID"), cleanStart: try fields.bool("cleanStart"),
      keepAlive: try fields.uint16("keepAlive"), will: will,
      username: try fields.optionalString("username"),
      password: fields.value("password") == nil ? nil : try fields.data("password"),
      properties: try fields.properties(), isBridge: try fields.flag("bridge"))
  }
}

extension MQTTPacket.Publish {
  init(_ fields: RecordingFields) throws(RecordingError) {
    let qos = try fields.integer("qos", in: 0...3)
    self.init(
      topic: try fields.string("topic"), payload: try fields.data("payload"),
      qos: UInt8(truncatingIfNeeded: qos), retain: try fields.flag("retain"),
      packetID: qos == 0 ? 0 : try fields.uint16("packetID"),
      properties: try fields.properties())
  }
}

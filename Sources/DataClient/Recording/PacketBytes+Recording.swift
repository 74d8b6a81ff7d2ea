import Wire

extension PacketBytes {
  /// Reads a packet: its bytes where the line has them, else the encoding of its fields.
  init(
    _ fields: RecordingFields, type: MQTTPacketType, version: MQTTVersion
  ) throws(RecordingError) {
    if fields.value("bytes") != nil {
      try self.init(captured: fields, type: type)
      return
    }
    guard fields.value("missing") == nil else {
      throw fields.wrong("missing", "needs the bytes that were captured in \"bytes\"")
    }
    let packet = try MQTTPacket(fields, type: type, version: version)
    do {
      self.init(try packet.encoded())
    } catch {
      throw RecordingError(
        .wrongValue, Self.message(error), line: fields.line,
        remedy: "correct the line or record again")
    }
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

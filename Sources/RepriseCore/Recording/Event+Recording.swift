import Wire

extension Event {
  /// Reads an event from the fields of a recording's line.
  init(_ fields: RecordingFields) throws(RecordingError) {
    let type = try fields.string("type")
    var context = try EventContext(fields)
    let body: Body
    switch type {
    case "OPEN": body = .opened(try ConnectionOpening(fields))
    case "CLOSE" where fields.value("how") != nil || context.wire != .webSocket:
      body = .closed(try ConnectionClosing(fields))
    case "ATTEMPT": body = .attempted(try ConnectionAttempt(fields, context.wire))
    case "GAP": body = .gap(try Gap(fields))
    case "MALFORMED": body = .malformed(try Malformation(fields))
    case _ where context.wire == .webSocket:
      guard let event = try Body(webSocket: fields, type: type, sender: context.sender) else {
        throw Self.unknownType(fields)
      }
      body = event
    case _ where context.wire == .tls:
      guard let part = try TLSPart(fields, type: type) else { throw Self.unknownType(fields) }
      body = .tls(part)
    case _ where context.wire == .http:
      guard let part = try HTTPPart(fields, type: type) else { throw Self.unknownType(fields) }
      body = .http(part)
    default:
      guard let packetType = MQTTPacketType(name: type) else {
        throw Self.unknownType(fields)
      }
      let version = context.wire.version ?? .v3_1_1
      body = .mqtt(try PacketBytes(fields, type: packetType, version: version))
      let isOdd = fields.value("errors") != nil || fields.value("missing") != nil
      context.isRebuilt = isOdd && fields.value("bytes") == nil
    }
    self.init(context, body)
  }

  private static func unknownType(_ fields: RecordingFields) -> RecordingError {
    RecordingError(
      .unknownType, "\"type\" names no event that this program knows", line: fields.line,
      column: fields.column(of: "type"),
      remedy: "correct the line, or read it with the newer reprise that made it")
  }
}

extension MQTTPacketType {
  private static let byName: [String: MQTTPacketType] = Dictionary(
    uniqueKeysWithValues: allCases.map { (String(describing: $0.name), $0) })

  /// The type that the standard gives a name, in capitals.
  init?(name: String) {
    guard let type = Self.byName[name] else { return nil }
    self = type
  }
}

extension EventContext {
  init(_ fields: RecordingFields) throws(RecordingError) {
    guard let sender = Peer(rawValue: try fields.string("from")) else {
      throw fields.wrong("from", "is neither \"client\" nor \"server\"")
    }
    self.init(
      time: try fields.time("time"), frame: fields.line,
      connection: try fields.integer("connection", in: 1...RecordingFields.maximumInteger),
      sender: sender, wire: try WireProtocol(fields), over: try Carrier(fields),
      isOrderUncertain: try Self.isOrderUncertain(fields))
  }

  private static func isOrderUncertain(_ fields: RecordingFields) throws(RecordingError) -> Bool {
    guard let order = try fields.optionalString("order") else { return false }
    guard order == "uncertain" else { throw fields.wrong("order", "is not \"uncertain\"") }
    return true
  }
}

extension WireProtocol {
  init(_ fields: RecordingFields) throws(RecordingError) {
    let name = try fields.string("protocol")
    if let version = MQTTVersion(name: name) {
      self = .mqtt(version)
      return
    }
    if name == "websocket" {
      self = .webSocket
      return
    }
    if name == "http" {
      self = .http
      return
    }
    if name == "tls" {
      self = .tls
      return
    }
    guard name == "mqtt" else {
      throw fields.wrong("protocol", "names no protocol that this program replays")
    }
    guard let inferred = try fields.optionalString("inferred") else {
      self = .mqttUndetermined
      return
    }
    guard let version = MQTTVersion(name: inferred) else {
      throw fields.wrong("inferred", "names no version of MQTT")
    }
    self = .mqttInferred(version)
  }
}

extension Carrier {
  fileprivate init?(_ fields: RecordingFields) throws(RecordingError) {
    guard let name = try fields.optionalString("over") else { return nil }
    guard let carrier = Carrier(rawValue: name) else {
      throw fields.wrong("over", "names nothing that this program knows to carry a protocol")
    }
    self = carrier
  }
}

extension MQTTVersion {
  /// The version that a recording or a user gives a name such as `mqtt-5.0`.
  init?(name: String) {
    switch name {
    case "mqtt-3.1": self = .v3_1
    case "mqtt-3.1.1": self = .v3_1_1
    case "mqtt-5.0": self = .v5_0
    default: return nil
    }
  }
}

extension ConnectionOpening {
  init(_ fields: RecordingFields) throws(RecordingError) {
    self.init(
      client: try fields.string("client"), server: try fields.string("server"),
      isFromStart: try fields.bool("fromStart"), firstFrame: try fields.integer("firstFrame"),
      firstTime: try fields.time("firstTime"), evidence: try fields.optionalString("evidence"),
      hasPings: fields.value("pings") == nil ? true : try fields.bool("pings"))
  }
}

extension ConnectionClosing {
  init(_ fields: RecordingFields) throws(RecordingError) {
    guard let how = How(rawValue: try fields.string("how")) else {
      throw fields.wrong("how", "is none of \"fin\", \"reset\" and \"end-of-capture\"")
    }
    self.init(
      how: how, firstFrame: try fields.integer("firstFrame"),
      firstTime: try fields.time("firstTime"), reason: try fields.optionalString("reason"),
      isAnswered: fields.value("answered") == nil ? true : try fields.bool("answered"),
      isLate: fields.value("late") == nil ? false : try fields.bool("late"),
      isOfMergedClocks: fields.value("merged") == nil ? false : try fields.bool("merged"),
      clientSilence: try fields.optionalInteger("clientSilence"),
      clientRest: try fields.optionalInteger("clientRest"),
      serverRest: try fields.optionalInteger("serverRest"))
  }
}

extension RecordingFields {
  fileprivate func optionalInteger(_ key: String) throws(RecordingError) -> Int64? {
    value(key) == nil ? nil : Int64(try integer(key))
  }
}

extension ConnectionAttempt {
  init(_ fields: RecordingFields, _ wire: WireProtocol) throws(RecordingError) {
    guard let how = How(rawValue: try fields.string("how")) else {
      throw fields.wrong("how", "is none of \"failed\", \"given-up\" and \"end-of-capture\"")
    }
    self.init(
      how: how, server: try fields.string("server"), firstTime: try fields.time("firstTime"),
      reason: try fields.optionalString("reason"))
    if let name = try fields.optionalString("cause") {
      guard let cause = ClientEvent.Closed.Cause(rawValue: name) else {
        throw fields.wrong("cause", "is neither \"noNetwork\" nor \"other\"")
      }
      self.cause = cause
    }
    guard let version = wire.version, fields.value("clientID") != nil else { return }
    connect = try PacketBytes(fields, type: .connect, version: version)
  }
}

extension Gap {
  init(_ fields: RecordingFields) throws(RecordingError) {
    guard let reason = Reason(rawValue: try fields.string("reason")) else {
      throw fields.wrong("reason", "is no reason for a gap that this program knows")
    }
    self.init(bytes: try fields.integer("bytes"), reason: reason)
  }
}

extension Malformation {
  init(_ fields: RecordingFields) throws(RecordingError) {
    let error = try fields.object("error")
    self.init(
      code: try error.string("code"), offset: try error.integer("offset"),
      message: try error.string("message"))
  }
}

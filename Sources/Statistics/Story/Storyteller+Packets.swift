import RepriseCore
import Wire

extension Storyteller {
  /// The most topics behind aliases of a connection.
  private static let mostAliases = 1_024

  mutating func consume(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ connection: StoryConnection,
    _ tell: Tell
  ) throws {
    if let fault = packet.faults.first {
      gather(.fault("\(packet.type.name), \(fault.code.message)"), context)
    }
    switch packet.type {
    case .connect: try connect(packet, context, connection, tell)
    case .connack: try connack(packet, context, connection, tell)
    case .publish: publish(packet, context, connection)
    case .pingreq: gather(.ping, context)
    case .subscribe, .unsubscribe:
      let verb = packet.type == .subscribe ? "subscribes to" : "unsubscribes from"
      try say(
        context, "\(verb) \(StoryWords.filters(packet).joined(separator: ", "))", tell)
    case .suback, .unsuback:
      let what = packet.type == .suback ? "is granted" : "is answered"
      let codes = StoryWords.codes(packet)
      try say(context, codes.isEmpty ? "is unsubscribed" : "\(what) \(codes)", tell)
    case .puback, .pubrec, .pubrel, .pubcomp:
      guard let code = packet.reasonCode, code >= 0x80 else { return }
      let who = context.sender == .client ? "refuses" : "is refused"
      try say(
        context,
        "\(who) a message by \(packet.type.name): \(StoryWords.reason(code, in: packet.type))", tell
      )
    case .disconnect:
      let code = packet.reasonCode.flatMap { $0 == 0 ? nil : $0 }
      let who = context.sender == .client ? "sends" : "gets"
      let reason = code.map { ": \(StoryWords.reason($0, in: .disconnect))" } ?? ""
      try say(context, "\(who) DISCONNECT\(reason)", tell)
    case .auth:
      try say(context, context.sender == .client ? "sends AUTH" : "gets AUTH", tell)
    case .pingresp, .reserved: return
    }
  }

  private mutating func connect(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ connection: StoryConnection,
    _ tell: Tell
  ) throws {
    connection.connectTime = context.time
    guard let connect = packet.connect else { return }
    if connect.hasWill {
      connection.will = (
        Name.identity(of: connect.willTopic), Name.identity(of: connect.willPayload)
      )
    }
    try say(context, StoryWords.connect(packet), tell)
  }

  private mutating func connack(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ connection: StoryConnection,
    _ tell: Tell
  ) throws {
    var parts: [String] = []
    if let time = connection.connectTime.flatMap({ StoryWords.after($0, context.time) }) {
      parts.append("after \(time)")
    }
    guard packet.reasonCode ?? 0 == 0 else {
      let after = parts.first.map { ", \($0)" } ?? ""
      return try say(
        context,
        "is refused: \(StoryWords.reason(packet.reasonCode ?? 0, in: .connack))\(after)", tell)
    }
    if packet.sessionPresent { parts.append("its session is there") }
    if let name = packet.assignedClientID {
      parts.append("as \(StoryWords.quoted(name.span.bytes))")
    }
    if let seconds = packet.properties.integer(.serverKeepAlive) {
      parts.append("the server sets the keep-alive to \(seconds) s")
    }
    let details = parts.isEmpty ? "" : " (\(parts.joined(separator: ", ")))"
    try say(context, "is accepted\(details)", tell)
  }

  private mutating func publish(
    _ packet: borrowing MQTTPacketView, _ context: EventContext, _ connection: StoryConnection
  ) {
    var subject = StoryFlows.Subject.unknownTopic
    let key = packet.topicAlias.map { $0 * 2 + (context.sender == .client ? 0 : 1) }
    if !packet.topic.isEmpty {
      let name = Name(packet.topic)
      subject = .publish(name, qos: packet.qos)
      if let key, connection.aliases.count < Self.mostAliases { connection.aliases[key] = name }
    } else if let name = key.flatMap({ connection.aliases[$0] }) {
      subject = .publish(name, qos: packet.qos)
    }
    gather(
      subject, context, bytes: packet.payload.byteCount, isRetained: packet.retain,
      isDuplicate: packet.dup)
  }

  mutating func consume(
    _ frame: borrowing WebSocketFrameView, _ context: EventContext, _ connection: StoryConnection,
    _ tell: Tell
  ) throws {
    if let fault = frame.faults.first {
      gather(.fault("\(frame.opcode.name), \(fault.code.message)"), context)
    }
    guard frame.opcode != .close else {
      let code = frame.closeCode.map { ", code \($0)" } ?? ""
      let who = context.sender == .client ? "sends" : "gets"
      return try say(context, "\(who) a Close frame\(code)", tell)
    }
    guard !connection.course.isMQTT, frame.cargo != .mqtt, frame.cargo != .mqttConcealed else {
      return
    }
    gather(.frame(frame.opcode), context, bytes: frame.data.byteCount)
  }
}

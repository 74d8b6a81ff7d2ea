import Wire

/// Writes down what a client does and gets as the packets of MQTT that it stands for.
///
/// What the port does not tell is not there: the properties of MQTT 5.0 that are no message's, and the packets
/// that keep an idle connection alive. Packet identifiers are the transcript's own: the port has none. An
/// exchange of QoS 2 stands where its message came, or where it was complete. What a session still owes when a
/// later connection takes it up is sent again there, as its client has to (MQTT 3.1.1 section 4.4).
struct MessageTranscript: Transcript {
  private enum Open {
    case subscribe(UInt16)
    case unsubscribe(UInt16, filters: Int)
    /// A message as it was sent, and how many were before it.
    case publish(UInt16, Message, order: Int)

    /// The packet identifier.
    var packetID: UInt16 {
      switch self {
      case .subscribe(let id), .unsubscribe(let id, _), .publish(let id, _, _): id
      }
    }
  }

  var pen: TranscriptPen
  var wanted: WantedConnection?
  private let version: MQTTVersion
  /// Whose session it is.
  private var clientID: String?
  /// How many messages above QoS 0 were sent.
  private var sent = 0
  private var open: [ClientAction.ID: Open] = [:]
  private var used: Set<UInt16> = []
  private var lastClientID: UInt16 = 0
  private var lastServerID: UInt16 = 0

  init(server: String, version: MQTTVersion) {
    let isWebSocket = ["ws://", "wss://"].contains { server.hasPrefix($0) }
    pen = TranscriptPen(
      server: server, wire: .mqtt(version), over: isWebSocket ? .webSocket : nil)
    self.version = version
  }

  // MARK: Actions

  mutating func tell(_ action: ClientAction, at time: Timestamp) -> [Event] {
    switch action.kind {
    case .subscribe(let subscriptions):
      let id = makeClientID()
      open[action.id] = .subscribe(id)
      let filters = subscriptions.map {
        MQTTPacket.Subscription($0.filter, options: $0.qos.rawValue | $0.options.bits)
      }
      return [make(time, .client, .subscribe(packetID: id, filters, []))]
    case .unsubscribe(let filters):
      let id = makeClientID()
      open[action.id] = .unsubscribe(id, filters: filters.count)
      return [make(time, .client, .unsubscribe(packetID: id, filters, []))]
    case .publish(let message):
      let id = message.qos == .atMostOnce ? 0 : makeClientID()
      if message.qos > .atMostOnce {
        open[action.id] = .publish(id, message, order: sent)
        sent += 1
      }
      return [make(time, .client, publish(message, id))]
    case .connect, .disconnect, .send, .sendText, .sendBinary: return []
    }
  }

  mutating func farewell(at time: Timestamp) -> [Event] {
    [make(time, .client, .disconnect(.init()))]
  }

  mutating func prepare(_ options: ConnectOptions) {
    // Messages belong to the session (section 3.1.2.4), all else to the connection.
    let mayGoOn = !options.cleanStart && options.clientID == clientID
    forget { action in
      guard mayGoOn, case .publish = action else { return true }
      return false
    }
    clientID = options.clientID
  }

  mutating func greeting(_ options: ConnectOptions, at time: Timestamp) -> Event {
    make(time, .client, connect(options))
  }

  func connectPacket(_ options: ConnectOptions) -> PacketBytes? {
    (try? MQTTPacket(connect(options), version: version).encoded()).map { PacketBytes($0) }
  }

  private func connect(_ options: ConnectOptions) -> MQTTPacket.Content {
    .connect(options.packet(in: version))
  }

  // MARK: Events

  mutating func tell(_ event: ClientEvent, at time: Timestamp) -> [Event] {
    switch event {
    case .connected(let connected):
      let answer = MQTTPacket.Connack(
        sessionPresent: connected.isSessionPresent,
        properties: version == .v5_0 ? connected.properties.ofPackets : [])
      let connack = make(time, .server, .connack(answer))
      if !connected.isSessionPresent { forget { _ in true } }
      return [connack] + resend(time)
    case .subscribed(let id, let granted):
      guard case .subscribe(let packetID) = end(id) else { return [] }
      let codes = granted.map { $0?.rawValue ?? 0x80 }
      return [make(time, .server, .suback(packetID: packetID, codes: codes, []))]
    case .unsubscribed(let id):
      guard case .unsubscribe(let packetID, let count) = end(id) else { return [] }
      let codes = [UInt8](repeating: 0, count: version == .v5_0 ? count : 0)
      return [make(time, .server, .unsuback(packetID: packetID, codes: codes, []))]
    case .published(let id):
      guard case .publish(let packetID, let message, _) = end(id) else { return [] }
      return acknowledgements(of: packetID, message.qos, by: .server, time)
    case .message(let message):
      let id = message.qos == .atMostOnce ? 0 : makeServerID()
      return [make(time, .server, publish(message, id))]
        + acknowledgements(of: id, message.qos, by: .client, time)
    case .failed(let id, let failure): return fail(id, failure, time)
    case .closed, .text, .binary, .response, .deadline, .woken, .ended: return []
    }
  }

  /// The messages that nobody acknowledged on the connection before, in the order in which they were sent.
  private mutating func resend(_ time: Timestamp) -> [Event] {
    let messages = open.values.compactMap { action -> (id: UInt16, message: Message, order: Int)? in
      guard case .publish(let id, let message, let order) = action else { return nil }
      return (id, message, order)
    }
    return messages.sorted { $0.order < $1.order }.map { sent in
      make(time, .client, publish(sent.message, sent.id), dup: true)
    }
  }

  /// A refusal by its reason code; what was not answered at all leaves no packet.
  private mutating func fail(
    _ id: ClientAction.ID, _ failure: ActionFailure, _ time: Timestamp
  ) -> [Event] {
    guard let ended = end(id), case .refused(let code, let reason) = failure else { return [] }
    guard version.rules.hasProperties else {
      let message = "a refusal (\(failure)) that MQTT 3.1.1 has no packet for"
      let malformation = Malformation(code: "not-encodable", offset: 0, message: message)
      return [pen.make(.malformed(malformation), from: .server, at: time)]
    }
    let properties = reason.map { [MQTTProperty(.reasonString, .string($0))] }
    switch ended {
    case .unsubscribe(let packetID, let filters):
      let codes = [UInt8](repeating: code, count: filters)
      return [make(time, .server, .unsuback(packetID: packetID, codes: codes, properties ?? []))]
    case .publish(let packetID, let message, _):
      let type: MQTTPacketType = message.qos == .exactlyOnce ? .pubrec : .puback
      let reason = MQTTPacket.Reason(code, properties: properties)
      return [make(time, .server, .acknowledgement(type, packetID: packetID, reason))]
    case .subscribe(let packetID):
      return [make(time, .server, .suback(packetID: packetID, codes: [code], properties ?? []))]
    }
  }

  mutating func tell(_ closed: ClientEvent.Closed, at time: Timestamp) -> [Event] {
    switch closed {
    case .byUser: return [pen.close(.fin, by: .client, at: time)]
    case .refused(let code):
      let connack = make(time, .server, .connack(.init(code: code)))
      return [connack, pen.close(.fin, by: .server, at: time)]
    case .byServer(let code, let reason):
      let end = pen.close(.fin, by: .server, saying: reason, at: time)
      guard let code, version.rules.hasProperties else { return [end] }
      return [make(time, .server, .disconnect(.init(code))), end]
    case .lost(let reason), .unreached(let reason, _):
      return [pen.close(.reset, by: .server, saying: reason, at: time)]
    }
  }

  // MARK: Pieces

  private mutating func make(
    _ time: Timestamp, _ sender: Peer, _ content: MQTTPacket.Content, dup: Bool = false
  ) -> Event {
    do {
      let bytes = try MQTTPacket(content, version: version, dup: dup).encoded()
      return pen.make(.mqtt(PacketBytes(bytes)), from: sender, at: time)
    } catch {
      // What no packet can say was not sent by one either.
      let malformation = Malformation(code: "not-encodable", offset: 0, message: "\(error)")
      return pen.make(.malformed(malformation), from: sender, at: time)
    }
  }

  private func publish(_ message: Message, _ id: UInt16) -> MQTTPacket.Content {
    .publish(
      .init(
        topic: message.topic, payload: message.payload, qos: message.qos.rawValue,
        retain: message.isRetained, packetID: id, properties: message.properties.ofPackets))
  }

  private mutating func acknowledgements(
    of id: UInt16, _ qos: QoS, by receiver: Peer, _ time: Timestamp
  ) -> [Event] {
    let steps: [(MQTTPacketType, Peer)] =
      switch qos {
      case .atMostOnce: []
      case .atLeastOnce: [(.puback, receiver)]
      case .exactlyOnce: [(.pubrec, receiver), (.pubrel, receiver.other), (.pubcomp, receiver)]
      }
    return steps.map { type, sender in
      make(time, sender, .acknowledgement(type, packetID: id, .init()))
    }
  }

  private mutating func end(_ id: ClientAction.ID) -> Open? {
    guard let ended = open.removeValue(forKey: id) else { return nil }
    used.remove(ended.packetID)
    return ended
  }

  /// Forgets what is never going to be answered.
  private mutating func forget(where isOver: (Open) -> Bool) {
    for (id, action) in open where isOver(action) {
      open[id] = nil
      used.remove(action.packetID)
    }
  }

  /// The next packet identifier that no open exchange has; 0 is none (MQTT 3.1.1 section 2.3.1).
  private mutating func makeClientID() -> UInt16 {
    repeat {
      lastClientID = lastClientID == .max ? 1 : lastClientID + 1
    } while used.count < 65_535 && used.contains(lastClientID)
    used.insert(lastClientID)
    return lastClientID
  }

  private mutating func makeServerID() -> UInt16 {
    lastServerID = lastServerID == .max ? 1 : lastServerID + 1
    return lastServerID
  }
}

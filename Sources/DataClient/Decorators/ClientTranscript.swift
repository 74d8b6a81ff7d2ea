import Wire

/// Writes down what a client does and gets as the packets of MQTT 3.1.1 that it stands for.
///
/// Packet identifiers are the transcript's own: the port has none. An exchange of QoS 2 stands where
/// its message came, or where it was complete.
struct ClientTranscript: Sendable {
  private enum Open {
    case subscribe(UInt16)
    case unsubscribe(UInt16)
    case publish(UInt16, QoS)
  }

  private let client: String
  private let server: String
  private let redaction: RedactionRules
  private var frame = 1
  private var connection = 0
  private(set) var isOpen = false
  private var isAnswered = false
  private var open: [ClientAction.ID: Open] = [:]
  private var used: Set<UInt16> = []
  private var lastClientID: UInt16 = 0
  private var lastServerID: UInt16 = 0

  init(client: String, server: String, _ redaction: RedactionRules) {
    self.client = client
    self.server = server
    self.redaction = redaction
  }

  // MARK: Actions

  /// Returns the events that an action stands for.
  mutating func take(_ action: ClientAction, at time: Timestamp) -> [Event] {
    switch action.kind {
    case .connect(let options): return connect(options, time)
    case .subscribe(let subscriptions):
      let id = makeClientID()
      open[action.id] = .subscribe(id)
      let filters = subscriptions.map {
        MQTTPacket.Subscription($0.filter, options: $0.qos.rawValue)
      }
      return [make(time, .client, .subscribe(packetID: id, filters, []))]
    case .unsubscribe(let filters):
      let id = makeClientID()
      open[action.id] = .unsubscribe(id)
      return [make(time, .client, .unsubscribe(packetID: id, filters, []))]
    case .publish(let message):
      let id = message.qos == .atMostOnce ? 0 : makeClientID()
      if message.qos > .atMostOnce { open[action.id] = .publish(id, message.qos) }
      return [make(time, .client, publish(message, id))]
    case .disconnect: return [make(time, .client, .disconnect(.init()))]
    case .send: return []
    }
  }

  private mutating func connect(_ options: ConnectOptions, _ time: Timestamp) -> [Event] {
    connection += 1
    (isOpen, isAnswered) = (true, false)
    open.removeAll()
    used.removeAll()
    let opening = ConnectionOpening(
      client: client, server: server, isFromStart: true, firstFrame: frame + 1, firstTime: time)
    let will = options.will.map(redaction.applied).map { will in
      MQTTPacket.Will(
        topic: will.topic, payload: will.payload, qos: will.qos.rawValue, retain: will.isRetained)
    }
    let hidesName = redaction.hidesUsernames && options.username != nil
    let connect = MQTTPacket.Connect(
      clientID: options.clientID, cleanStart: options.cleanStart, keepAlive: options.keepAlive,
      will: will, username: hidesName ? RedactionRules.mark : options.username,
      password: options.password)
    return [make(time, .client, .opened(opening)), make(time, .client, .connect(connect))]
  }

  // MARK: Events

  /// Returns the events that an event of the port stands for; nothing for those that are no traffic.
  mutating func take(_ event: ClientEvent, at time: Timestamp) -> [Event] {
    switch event {
    case .connected(let connected):
      isAnswered = true
      return [
        make(time, .server, .connack(.init(sessionPresent: connected.isSessionPresent)))
      ]
    case .subscribed(let id, let granted):
      guard case .subscribe(let packetID) = end(id) else { return [] }
      let codes = granted.map { $0?.rawValue ?? 0x80 }
      return [make(time, .server, .suback(packetID: packetID, codes: codes, []))]
    case .unsubscribed(let id):
      guard case .unsubscribe(let packetID) = end(id) else { return [] }
      return [make(time, .server, .unsuback(packetID: packetID, codes: [], []))]
    case .published(let id):
      guard case .publish(let packetID, let qos) = end(id) else { return [] }
      return acknowledgements(of: packetID, qos, by: .server, time)
    case .message(let message):
      let id = message.qos == .atMostOnce ? 0 : makeServerID()
      return [make(time, .server, publish(message, id))]
        + acknowledgements(of: id, message.qos, by: .client, time)
    case .closed(let closed): return close(closed, time)
    case .response, .deadline, .woken, .ended: return []
    }
  }

  private mutating func close(_ closed: ClientEvent.Closed, _ time: Timestamp) -> [Event] {
    guard isOpen else { return [] }
    isOpen = false
    switch closed {
    case .byUser: return [closing(.fin, .client, nil, time)]
    case .refused(let code):
      let connack = make(time, .server, .connack(.init(code: code)))
      return [connack, closing(.fin, .server, nil, time)]
    case .lost(let reason): return [closing(.reset, .server, reason, time)]
    }
  }

  /// Returns the end of the recording, if a connection is open then.
  mutating func finish(at time: Timestamp) -> [Event] {
    guard isOpen else { return [] }
    isOpen = false
    return [closing(.endOfCapture, .client, nil, time)]
  }

  // MARK: Pieces

  private mutating func make(_ time: Timestamp, _ sender: Peer, _ body: Event.Body) -> Event {
    frame += 1
    let context = EventContext(
      time: time, frame: frame, connection: connection, sender: sender, wire: .mqtt(.v3_1_1))
    return Event(context, body)
  }

  private mutating func make(
    _ time: Timestamp, _ sender: Peer, _ content: MQTTPacket.Content
  ) -> Event {
    do {
      let bytes = try MQTTPacket(content, version: .v3_1_1).encoded()
      return make(time, sender, .mqtt(PacketBytes(bytes)))
    } catch {
      // What no packet can say was not sent by one either.
      let malformation = Malformation(code: "not-encodable", offset: 0, message: "\(error)")
      return make(time, sender, .malformed(malformation))
    }
  }

  private mutating func closing(
    _ how: ConnectionClosing.How, _ sender: Peer, _ reason: String?, _ time: Timestamp
  ) -> Event {
    let closing = ConnectionClosing(
      how: how, firstFrame: frame + 1, firstTime: time, reason: reason)
    return make(time, sender, .closed(closing))
  }

  private func publish(_ message: Message, _ id: UInt16) -> MQTTPacket.Content {
    let message = redaction.applied(to: message)
    return .publish(
      .init(
        topic: message.topic, payload: message.payload, qos: message.qos.rawValue,
        retain: message.isRetained, packetID: id))
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
    switch ended {
    case .subscribe(let packetID), .unsubscribe(let packetID), .publish(let packetID, _):
      used.remove(packetID)
    }
    return ended
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

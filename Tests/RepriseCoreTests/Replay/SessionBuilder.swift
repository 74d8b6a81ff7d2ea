import RepriseCore
import Wire

/// Writes a session down, packet by packet, as a capture would have it.
struct SessionBuilder {
  private(set) var events: [Event] = []
  var version = MQTTVersion.v3_1_1
  var connection = 1

  /// A moment of the session, in seconds from its start.
  static func time(_ seconds: Double) -> Timestamp {
    Timestamp(nanoseconds: 1_750_000_000_000_000_000 + Int64(seconds * 1_000_000_000))
  }

  /// A client that connects, taps after ten seconds, and is answered a second later.
  static func tap() -> [Event] {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(10, .client, "tap", "1")
    session.publish(11, .server, "answer", "1")
    return session.events
  }

  mutating func add(_ seconds: Double, _ sender: Peer, _ body: Event.Body) {
    let context = EventContext(
      time: Self.time(seconds), frame: events.count + 1, connection: connection, sender: sender,
      wire: .mqtt(version))
    events.append(Event(context, body))
  }

  mutating func add(
    _ seconds: Double, _ sender: Peer, _ content: MQTTPacket.Content, dup: Bool = false
  ) {
    let bytes = (try? MQTTPacket(content, version: version, dup: dup).encoded()) ?? []
    add(seconds, sender, .mqtt(PacketBytes(bytes)))
  }

  mutating func open(_ seconds: Double, isFromStart: Bool = true) {
    add(
      seconds, .client,
      .opened(
        ConnectionOpening(
          client: "192.0.2.1:50000", server: "192.0.2.2:1883", isFromStart: isFromStart,
          firstFrame: events.count + 1, firstTime: Self.time(seconds))))
  }

  /// OPEN, CONNECT and CONNACK.
  mutating func connect(
    _ seconds: Double, as clientID: String = "c", cleanStart: Bool = true,
    sessionPresent: Bool = false, code: UInt8 = 0
  ) {
    open(seconds)
    add(seconds, .client, .connect(.init(clientID: clientID, cleanStart: cleanStart)))
    add(
      seconds + 0.01, .server, .connack(.init(sessionPresent: sessionPresent, code: code)))
  }

  mutating func publish(
    _ seconds: Double, _ sender: Peer, _ topic: String, _ payload: String = "",
    qos: UInt8 = 0, id: UInt16 = 0, dup: Bool = false, properties: [MQTTProperty] = []
  ) {
    add(
      seconds, sender,
      .publish(
        .init(
          topic: topic, payload: Array(payload.utf8), qos: qos, packetID: id,
          properties: properties)),
      dup: dup)
  }

  mutating func acknowledge(
    _ seconds: Double, _ sender: Peer, _ type: MQTTPacketType, _ id: UInt16
  ) {
    add(seconds, sender, .acknowledgement(type, packetID: id, .init()))
  }

  mutating func subscribe(
    _ seconds: Double, _ filters: [String], id: UInt16, codes: [UInt8]? = nil
  ) {
    add(
      seconds, .client,
      .subscribe(packetID: id, filters.map { .init($0, options: 1) }, []))
    add(
      seconds + 0.01, .server,
      .suback(packetID: id, codes: codes ?? filters.map { _ in 1 }, []))
  }

  mutating func close(
    _ seconds: Double, _ sender: Peer = .server, how: ConnectionClosing.How = .reset,
    saying reason: String? = nil
  ) {
    add(
      seconds, sender,
      .closed(
        ConnectionClosing(
          how: how, firstFrame: events.count + 1, firstTime: Self.time(seconds), reason: reason)))
  }

  mutating func disconnect(_ seconds: Double) {
    add(seconds, .client, .disconnect(.init()))
    close(seconds + 0.01, .client, how: .fin)
  }
}

/// Performs actions with identifiers of its own, and reads.
struct Actor {
  let client: any DataClient
  private var nextID: UInt32 = 0

  init(_ client: any DataClient) { self.client = client }

  @discardableResult
  mutating func `do`(_ kind: ClientAction.Kind) async throws -> ClientAction.ID {
    nextID += 1
    let id = ClientAction.ID(rawValue: nextID)
    try await client.perform(ClientAction(id, kind))
    return id
  }

  @discardableResult
  mutating func connect(
    as clientID: String = "c", cleanStart: Bool = true
  ) async throws -> ClientAction.ID {
    try await self.do(.connect(ConnectOptions(clientID: clientID, cleanStart: cleanStart)))
  }

  @discardableResult
  mutating func publish(
    _ topic: String, _ payload: String = "", qos: QoS = .atMostOnce
  ) async throws -> ClientAction.ID {
    try await self.do(.publish(Message(topic: topic, payload: Array(payload.utf8), qos: qos)))
  }

  @discardableResult
  mutating func subscribe(_ filters: String...) async throws -> ClientAction.ID {
    try await self.do(.subscribe(filters.map { Subscription($0) }))
  }

  func next(_ seconds: Double? = nil) async throws -> ClientEvent {
    try await client.next(before: seconds.map(SessionBuilder.time))
  }
}

extension Message {
  init(_ topic: String, _ payload: String, qos: QoS = .atMostOnce) {
    self.init(topic: topic, payload: Array(payload.utf8), qos: qos)
  }
}

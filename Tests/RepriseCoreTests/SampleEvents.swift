import RepriseCore
import Wire

/// Events for tests, made of packets or of bytes.
enum Sample {
  static let time = Timestamp(nanoseconds: 1_795_246_741_123_456_000)

  static func context(
    _ wire: WireProtocol = .mqtt(.v3_1_1), sender: Peer = .client, frame: Int = 2,
    connection: Int = 1, at seconds: Int64 = 0
  ) -> EventContext {
    EventContext(
      time: Timestamp(nanoseconds: time.nanoseconds + seconds * 1_000_000_000), frame: frame,
      connection: connection, sender: sender, wire: wire)
  }

  static func event(_ packet: MQTTPacket, sender: Peer = .client, at seconds: Int64 = 0) throws
    -> Event
  {
    Event(
      context(.mqtt(packet.version), sender: sender, at: seconds),
      .mqtt(PacketBytes(try packet.encoded())))
  }

  static func event(
    bytes: [UInt8], _ version: MQTTVersion, sender: Peer = .client
  ) -> Event {
    Event(
      context(.mqtt(version), sender: sender),
      .mqtt(PacketBytes(bytes)))
  }

  static func publish(
    _ topic: String, _ payload: String = "", qos: UInt8 = 0, retain: Bool = false,
    version: MQTTVersion = .v3_1_1, at seconds: Int64 = 0
  ) throws -> Event {
    try event(
      MQTTPacket(
        .publish(
          .init(
            topic: topic, payload: Array(payload.utf8), qos: qos, retain: retain, packetID: 7)),
        version: version), at: seconds)
  }

  static let opening = Event(
    context(),
    .opened(
      ConnectionOpening(
        client: "10.0.0.1:5000", server: "10.0.0.2:1883", isFromStart: true, firstFrame: 1,
        firstTime: time)))

  /// An opening that a client's own recording has.
  static let ownOpening = Event(
    context(),
    .opened(
      ConnectionOpening(
        client: "client", server: "mqtt://host:1883", isFromStart: false, firstFrame: 2,
        firstTime: time, hasPings: false)))

  /// The end of a connection whose other side was gone.
  static let lonelyClosing = Event(
    context(at: 60),
    .closed(ConnectionClosing(how: .fin, firstFrame: 9, firstTime: time, isAnswered: false)))

  /// The end of a connection on which something came late.
  static let lateClosing = Event(
    context(at: 60),
    .closed(
      ConnectionClosing(
        how: .fin, firstFrame: 9, firstTime: time, isLate: true, clientSilence: 12_500_000_000,
        clientRest: 0, serverRest: 45_000_000_000)))

  static let closing = Event(
    context(at: 60), .closed(ConnectionClosing(how: .reset, firstFrame: 9, firstTime: time)))

  static let gap = Event(context(), .gap(Gap(bytes: 1_448, reason: .acknowledged)))

  static let malformed = Event(
    context(),
    .malformed(Malformation(code: "not-mqtt", offset: 17, message: "no control packet starts here"))
  )
}

extension Sample {
  /// An event of WebSocket.
  static func webSocket(_ body: Event.Body, sender: Peer = .client) -> Event {
    Event(context(.webSocket, sender: sender), body)
  }

  static func request(target: String = "/ws", _ more: [HTTPHead.Field] = []) -> WebSocketRequest {
    WebSocketRequest(
      target: target,
      fields: [
        .init("Host", "a"), .init("Upgrade", "websocket"), .init("Connection", "Upgrade"),
        .init("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        .init("Sec-WebSocket-Version", "13"), .init("Sec-WebSocket-Protocol", "mqtt"),
      ] + more)
  }

  static func response(subprotocol: String? = "mqtt", extensions: String? = nil)
    -> WebSocketResponse
  {
    WebSocketResponse(accepting: request(), subprotocol: subprotocol, extensions: extensions)
  }
}

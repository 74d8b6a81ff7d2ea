import DataClient
import Testing
import Wire

@Suite struct SessionFilterTests {
  /// Which events of a session, counted from 0, an expression chooses.
  private func chosen(_ expression: String, _ events: [Event]) throws -> [Int] {
    var filter = try SessionFilter(expression)
    filter.beginFile()
    return events.indices.filter { index in
      events[index].withView { filter.matches($0) }
    }
  }

  private static func session() throws -> [Event] {
    let faulty: [UInt8] = [0x36, 5, 0, 1, 0x61, 0, 1]
    return [
      Sample.opening,
      try Sample.event(
        MQTTPacket(.connect(.init(clientID: "sensor 7")), version: .v3_1_1), at: 1),
      try Sample.event(
        MQTTPacket(.connack(.init(code: 5)), version: .v3_1_1), sender: .server, at: 2),
      try Sample.publish("a/b", "21.5 degrees", at: 3),
      try Sample.publish("a/b/c", "", qos: 1, retain: true, at: 4),
      try Sample.event(
        MQTTPacket(
          .subscribe(packetID: 9, [.init("x/+", options: 1), .init("#", options: 0)], []),
          version: .v3_1_1), at: 5),
      try Sample.event(
        MQTTPacket(.suback(packetID: 9, codes: [0x80, 1], []), version: .v3_1_1), sender: .server,
        at: 6),
      Sample.event(bytes: faulty, .v3_1_1), Sample.gap, Sample.malformed, Sample.closing,
    ]
  }

  @Test(arguments: [
    ("PUBLISH", [3, 4, 7]), ("type in [OPEN, CLOSE]", [0, 10]),
    ("type != PUBLISH and qos == 0", []),
    ("from == server", [2, 6]), ("from != client", [2, 6]), ("topic == a/b", [3]),
    ("topic != a/b", [4, 7]), ("topic ~ a/#", [3, 4, 7]), ("topic ~ +/+", [3]),
    ("topic contains b/", [4]), ("topic in [a/b, a]", [3, 7]), ("filter == x/+", [5]),
    ("filter contains '#'", [5]), ("client == 'sensor 7' and not PUBLISH", [1, 2, 5, 6, 8, 9, 10]),
    ("client ~ sensor and OPEN", []), ("payload contains degrees", [3]), ("payload == ''", [4, 7]),
    ("qos > 0", [4, 7]), ("qos in [1, 2]", [4]), ("retain", [4]),
    ("not retain and PUBLISH", [3, 7]),
    ("retain == false", [3, 7]), ("dup", []), ("id == 9", [5, 6]), ("code == 5", [2]),
    ("code >= 0x80", [6]), ("code == 1", [6]), ("length == 0", []), ("length > 16", [1, 3]),
    ("frame == 2", [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]), ("connection > 1", []), ("GAP", [8]),
    ("fault", [7, 8, 9]), ("fault == true && !PUBLISH", [8, 9]), ("MALFORMED or GAP", [8, 9]),
    ("time >= +5s", [5, 6, 10]), ("time == +500ms", []), ("time > 2027-11-21T07:40:00Z", []),
    ("protocol == mqtt-3.1.1 and GAP", [8]), ("protocol != mqtt-3.1.1", []),
    ("protocol == mqtt", []), ("PUBLISH and retain or GAP", [4, 8]),
    ("PUBLISH and (retain or GAP)", [4]), ("not not GAP", [8]),
  ])
  func chooses(expression: String, events: [Int]) throws {
    #expect(try chosen(expression, Self.session()) == events)
  }

  /// An upgrade, frames of both sides, a packet in one of them, a refusal.
  private static func webSocketSession() throws -> [Event] {
    var packet = try Sample.publish("a/b", "21.5")
    packet.context.over = .webSocket
    return [
      Sample.webSocket(.handshake(.request(Sample.request()))),
      Sample.webSocket(.handshake(.response(Sample.response())), sender: .server),
      Sample.webSocket(.webSocket(WebSocketFrame(.text, Array("alarm".utf8), maskingKey: 1))),
      Sample.webSocket(
        .webSocket(WebSocketFrame(.binary, [1, 2], isFinal: false)), sender: .server),
      packet,
      Sample.webSocket(.webSocket(WebSocketFrame(.close, [3, 233], maskingKey: 1))),
      Sample.webSocket(.webSocket(WebSocketFrame(.init(rawValue: 5), []))),
      Sample.webSocket(
        .handshake(
          .response(
            WebSocketResponse(
              HTTPHead(startLine: "HTTP/1.1 403 Forbidden", fields: []), to: nil))),
        sender: .server),
      Sample.webSocket(
        .closed(ConnectionClosing(how: .fin, firstFrame: 1, firstTime: Sample.time))),
    ]
  }

  @Test(arguments: [
    ("UPGRADE", [0]), ("UPGRADED or REFUSED", [1, 7]), ("TEXT", [2]), ("BINARY", [3]),
    ("type in [PING, PONG, CONTINUATION]", []), ("CLOSE", [5, 8]), ("RESERVED", [6]),
    ("protocol == websocket", [0, 1, 2, 3, 5, 6, 7, 8]), ("protocol != websocket", [4]),
    ("protocol == mqtt-3.1.1", [4]), ("protocol == mqtt", []),
    ("protocol in [mqtt-3.1.1, websocket]", [0, 1, 2, 3, 4, 5, 6, 7, 8]),
    ("over == websocket", [4]), ("over != websocket", []), ("fin", [2, 5, 6]),
    ("not fin", [0, 1, 3, 4, 7, 8]),
    ("fin == false", [3]), ("masked", [2, 5]), ("masked != true", [3, 6]),
    ("payload contains ala", [2]), ("payload == alarm", [2]), ("length == 2", [3, 5]),
    ("length > 2", [2, 4]), ("code == 1001", [5]), ("code >= 400 and code < 500", [7]),
    ("code == 101", [1]), ("fault", [6]), ("retain or dup", []), ("topic ~ a/#", [4]),
  ])
  func choosesOfWebSocket(expression: String, events: [Int]) throws {
    #expect(try chosen(expression, Self.webSocketSession()) == events)
  }

  @Test func comparesTheTimeOfDay() throws {
    let text = Sample.time.description
    let second = text.dropFirst(11).prefix(8)
    #expect(try chosen("time >= \(second) and GAP", Self.session()) == [8])
    #expect(try chosen("time < \(second)", Self.session()) == [])
  }

  @Test func resolvesTopicAliasesOfEachDirection() throws {
    func publish(_ topic: String, from sender: Peer) throws -> Event {
      try Sample.event(
        MQTTPacket(
          .publish(
            .init(topic: topic, payload: [], properties: [.init(.topicAlias, .integer(1))])),
          version: .v5_0), sender: sender)
    }
    let events = [
      try publish("a", from: .client), try publish("b", from: .server),
      try publish("", from: .client), try publish("", from: .server),
    ]
    #expect(try chosen("topic == a", events) == [0, 2])
    #expect(try chosen("topic ~ +", events) == [0, 1, 2, 3])
  }

  @Test func takesTheIdentifierThatTheServerAssigns() throws {
    let events = [
      try Sample.event(MQTTPacket(.connect(.init(clientID: "")), version: .v5_0)),
      try Sample.event(
        MQTTPacket(
          .connack(.init(properties: [.init(.assignedClientIdentifier, .string("auto-1"))])),
          version: .v5_0), sender: .server),
    ]
    #expect(try chosen("client == auto-1", events) == [1])
  }

  @Test func forgetsConnectionsWithTheirFile() throws {
    var filter = try SessionFilter("client == c")
    let connect = try Sample.event(MQTTPacket(.connect(.init(clientID: "c")), version: .v3_1_1))
    #expect(connect.withView { filter.matches($0) })
    #expect(Sample.gap.withView { filter.matches($0) })
    filter.beginFile()
    #expect(!Sample.gap.withView { filter.matches($0) })
  }
}

import Testing
import Wire

@testable import RepriseCore

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
    ("address == 10.0.0.2 and (OPEN or GAP)", [0, 8]), ("address != 10.0.0.2", []),
    ("address != 10.0.0.3 and OPEN", [0]), ("address in [10.0.0.1, x] and OPEN", [0]),
    ("address == 10.0.0.2:1883", []), ("address contains 0.1 and CLOSE", [10]),
    ("port == 1883 and GAP", [8]), ("port > 1883 and OPEN", [0]), ("port > 5000", []),
    ("port != 1883", []), ("port != 80 and OPEN", [0]), ("username == a", []),
    ("username != a", []), ("code == not-authorized", [2]), ("code != 'Not authorized'", [6]),
    ("code in [unspecified-error, 1]", [6]), ("code == unspecified-error and SUBACK", [6]),
    ("code == unacceptable-protocol-version", []),
  ])
  func chooses(expression: String, events: [Int]) throws {
    #expect(try chosen(expression, Self.session()) == events)
  }

  @Test(arguments: [
    ("username == meter", [1, 2, 3, 4, 5]), ("username ~ met and CONNECT", [1]),
    ("username != meter", []), ("username in [a, meter] and CLOSE", [5]),
    ("client == c and username contains x", []),
  ])
  func knowsTheUserOfAConnection(expression: String, events: [Int]) throws {
    let connect = MQTTPacket(
      .connect(.init(clientID: "c", username: "meter")), version: .v3_1_1)
    let other = Event(Sample.context(connection: 2), Sample.gap.body)
    let session = [
      Sample.opening, try Sample.event(connect), Sample.gap, try Sample.publish("a"),
      Sample.malformed, Sample.closing, other, Sample.gap,
    ]
    #expect(try chosen(expression, session) == events)
  }

  @Test(arguments: [
    ("payload.level > 20", [0, 1]), ("payload.level > 20.5", [1]),
    ("payload.level >= 20.50", [0, 1]),
    ("payload.level < 100", [0, 1]), ("payload.level == 2.05e1", [0]),
    ("payload.level != 20.5", [1, 2]),
    ("payload.level == high", [2]), ("payload.level == 'high' or payload.level == '21'", [2]),
    ("payload.level contains ig", [2]), ("payload.level ~ hi", [2]),
    ("payload.level in [20.5, 'high']", [0, 2]), ("payload.on == true", [0]),
    ("payload.on != true", [1]), ("payload.none == null", [0]), ("payload.none == 'null'", []),
    ("payload.items.1.name == b", [1]), ("payload.items.2.name == b", []),
    ("payload.items.0 == 7", [1]), ("payload.code == 7", [0]), ("payload.code == '7'", [0]),
    ("payload.code > 6", []), ("payload.missing != 1", []),
    ("not payload.level > 20", [2, 3, 4, 5]),
    ("PAYLOAD.level > 20", [0, 1]), ("payload.Level > 20", []),
  ])
  func readsMembersOfPayloads(expression: String, events: [Int]) throws {
    let payloads = [
      #"{"level":20.5,"on":true,"none":null,"code":"7"}"#,
      #"{"level": 21, "on": false, "items": [7, {"name": "b"}]}"#, #"{"level":"high"}"#,
      #"{"level":21"#, "",
    ]
    let session = try payloads.map { try Sample.publish("t", $0) } + [Sample.gap]
    #expect(try chosen(expression, session) == events)
  }

  @Test(
    arguments: [
      ("10.0.0.1:1883", "10.0.0.1", 1_883), ("[::1]:80", "::1", 80), ("::1", "::1", nil),
      ("mqtt://me@host:1884/a:5", "host", 1_884), ("wss://[fe80::1]/x", "fe80::1", nil),
      ("client", "client", nil), ("a:b", "a:b", nil), ("host:99999", "host:99999", nil),
    ] as [(String, String, Int?)])
  func takesAddressesApart(text: String, host: String, port: Int?) {
    let address = FilterAddress(text)
    #expect(String(decoding: address.host, as: UTF8.self) == host && address.port == port)
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

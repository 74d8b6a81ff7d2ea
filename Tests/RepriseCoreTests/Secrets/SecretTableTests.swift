import RepriseCore
import TestSupport
import Testing
import Wire

/// What may not be told, in every place where it can stand, through everything that writes.
@Suite struct SecretTableTests {
  /// A text, and what is shown of it.
  struct Case: Sendable, CustomTestStringConvertible {
    var text: String
    var shown: String
    var testDescription: String { text }

    init(_ text: String, _ shown: String? = nil) { (self.text, self.shown) = (text, shown ?? text) }
  }

  /// Characters by which secrets are noticed stand close together, and eight bytes are looked at once.
  @Test(arguments: 0..<20) func secretsBehindOthersThatAreNone(_ count: Int) {
    let none = String(repeating: "\": /.=<", count: 4).prefix(count)
    let text = "\(none)\"pwd\":\"hush\",\"n\":\"\(none)\",\"token\":\"hush\""
    let shown = "\(none)\"pwd\":\"***\",\"n\":\"\(none)\",\"token\":\"***\""
    #expect(text.hidingSecrets == shown)
  }

  private static let cases = [
    // Forms, logs and connection strings.
    Case("token=hush&password=hu%20sh&n=1", "token=***&password=***&n=1"),
    Case("a=1;token=hush;b=2", "a=1;token=***;b=2"),
    Case("user=u, access_token = hush, n=1", "user=u, access_token = ***, n=1"),
    Case("SharedAccessSignature sr=a&sig=hush%3D&se=1", "SharedAccessSignature sr=a&sig=***&se=1"),
    Case("password='hu sh' n=1", "password='***' n=1"),
    Case("pass%77ord=hush", "pass%77ord=***"),
    Case(#"password='hu\'sh' n=1"#, "password='***' n=1"),
    // Dictionaries of Python and JavaScript.
    Case("{'password': 'hush', 'n': 1}", "{'password': '***', 'n': 1}"),
    Case("{'token':'hush','iotToken':'hush'}", "{'token':'***','iotToken':'***'}"),
    Case(#"{b'token': b'hu\'sh', 'pwd': "hush"}"#, #"{b'token': b'***', 'pwd': "***"}"#),
    Case("{'pwd': ['hush'],      'psk': 1234}", #"{'pwd': "***",      'psk': "***"}"#),
    Case(#"{"a":"{'token': \"hush\"}"}"#, #"{"a":"{'token': \"***\"}"}"#),
    // XML.
    Case("<a><password>hush</password><n>1</n></a>", "<a><password>***</password><n>1</n></a>"),
    Case("<u n='1' token='hush' pwd=\"hush\"/>", "<u n='1' token='***' pwd=\"***\"/>"),
    Case("<w:Password>hush</w:Password> ok", "<w:Password>***</w:Password> ok"),
    Case("<psk type='x'>hush</psk><b>", "<psk ***</psk><b>"),
    Case("<pwd><![CDATA[<hush>]]></pwd>ok", "<pwd>***]]></pwd>ok"),
    Case("cut: <password>hush", "cut: <password>***"),
    // Addresses.
    Case("https://u:hush@h:1/p?x=1", "https://***@h:1/p?x=1"),
    Case("mqtt://hush@h then", "mqtt://***@h then"),
    Case("/ws;token=hush?sig=hush#f", "/ws;token=***?sig=***"),
    // Header lines, schemes and tokens.
    Case("Authorization: Basic hush==", "Authorization: ***"),
    Case("x, api-key: hush", "x, api-key: ***"),
    Case("it says Bearer hush-1234567", "it says Bearer ***"),
    Case("id eyJhbGciOiJub25l.eyJzdWIiOiJodXNoIn0.aHVzaA ok", "id *** ok"),
    // JSON, with its escapes.
    Case(#"{"sessionKey":"hush","n":1}"#, #"{"sessionKey":"***","n":1}"#),
    Case(#"{"tok\u0065n":"hush"}"#, #"{"tok\u0065n":"***"}"#),
    Case(#"{"authorizati\u006fn":"hush"}"#, #"{"authorizati\u006fn":"***"}"#),
    Case(#"{"credentia\u006cs":"hush"}"#, #"{"credentia\u006cs":"***"}"#),
    Case(#"{"p":"{\"p\\u0061ssword\":\"hush\"}"}"#, #"{"p":"{\"p\\u0061ssword\":\"***\"}"}"#),
    Case(
      #"{"url":"https:\/\/u:hush@h\/?token=hush","n":1}"#,
      #"{"url":"https:\/\/***@h\/?token=***","n":1}"#),
    Case(#"{"mqttSign":"hush","x-sign":"hush"}"#, #"{"mqttSign":"***","x-sign":"***"}"#),
    // JSON whose names are values.
    Case(#"{"name":"password","value":"hush"}"#, #"{"name":"password","value":"***"}"#),
    Case(#"{"value":"hush","n":{},"key":"token"}"#, #"{"value":"***","n":{},"key":"token"}"#),
    Case(
      #"[{"Id":"wifiPsk","x":"a\\","Value":"hush"},{"value":"b"}]"#,
      #"[{"Id":"wifiPsk","x":"a\\","Value":"***"},{"value":"b"}]"#),
    Case(
      #"{"p":"{\"code\": \"token\", \"value\": \"hush\"}"}"#,
      #"{"p":"{\"code\": \"token\", \"value\": \"***\"}"}"#),
    // Keys in PEM format.
    Case(
      "-----BEGIN PRIVATE KEY-----\nhush\n-----END PRIVATE KEY-----\nok",
      "-----BEGIN PRIVATE KEY-----***-----END PRIVATE KEY-----\nok"),
    Case(
      #"{"k":"-----BEGIN RSA PRIVATE KEY-----\nhush\n-----END RSA PRIVATE KEY-----\n","n":1}"#,
      #"{"k":"-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\n","n":1}"#),
    Case(
      #"{"k":"-----BEGIN EC PRIVATE KEY-----\nhush","n":1}"#,
      #"{"k":"-----BEGIN EC PRIVATE KEY-----***","n":1}"#),
    // What only looks so stays readable.
    Case("{'passwordHint': 'a', 'tokens': 'b', 'token': None}"), Case("the 'token': it is old"),
    Case("<author>a</author><tokens>b</tokens><password/><password></password>"),
    Case("login <user> <password> now"), Case("a <b and token> c"), Case("<a token> b"),
    Case(#"{"name":"passwordHint","value":"a"}"#), Case(#"{"name":"password","values":"a"}"#),
    Case(#"[{"name":"password"},{"value":"a"}]"#), Case(#"{"name":"a road sign","value":"a"}"#),
    Case(#"{"name":"password","of":{"value":"a"}}"#),
    Case("-----BEGIN PUBLIC KEY-----\na\n-----END PUBLIC KEY-----"),
    Case("BEGIN PRIVATE KEY----- a"), Case("-----END PRIVATE KEY-----\na"),
    Case("tokenizer=bpe&passwordless=yes&designation=boss&design=old"),
    Case("compass=north;signal=-70;tokenType=jwt;secretary=ann"),
    Case(#"{"tokenizer":"a","passwordHint":"b","design":"c","monkey":"d","productKey":"e"}"#),
    Case("wrong token: it is old"), Case("the bearer of this"), Case("mail u@h, https://h/a@b"),
    Case("version 1.2.3 at 12:30:45, a==b, token=> none"), Case(#"{"token":"","sign":null}"#),
    Case("GET /a/b HTTP/1.1"),
  ]

  /// A place of an event, and the line that has the text there.
  enum Place: CaseIterable, Sendable {
    case payload, topic, clientID, username, willPayload, userProperty, reasonString
    case responseInformation, closeReason, text, header, target, lossReason, server
    case attemptServer, attemptReason, attemptUsername
  }

  private func event(_ text: String, in place: Place) throws -> Event {
    let bytes = Array(text.utf8)
    func connect(_ connect: MQTTPacket.Connect) throws -> Event {
      try Sample.event(MQTTPacket(.connect(connect), version: .v5_0))
    }
    func webSocket(_ body: Event.Body) -> Event { Event(Sample.context(.webSocket), body) }
    switch place {
    case .payload: return try Sample.publish("t", text)
    case .topic: return try Sample.publish(text, "p")
    case .clientID: return try connect(.init(clientID: text))
    case .username: return try connect(.init(clientID: "c", username: text))
    case .willPayload:
      return try connect(
        .init(clientID: "c", will: .init(topic: "w", payload: bytes, qos: 0, retain: false)))
    case .userProperty:
      return try connect(
        .init(clientID: "c", properties: [MQTTProperty(.userProperty, .pair("n", text))]))
    case .reasonString:
      return try Sample.event(
        MQTTPacket(
          .disconnect(.init(0x87, properties: [MQTTProperty(.reasonString, .string(text))])),
          version: .v5_0))
    case .responseInformation:
      return try Sample.event(
        MQTTPacket(
          .connack(.init(properties: [MQTTProperty(.responseInformation, .string(text))])),
          version: .v5_0), sender: .server)
    case .closeReason: return webSocket(.webSocket(WebSocketFrame(.close, [3, 0xE8] + bytes)))
    case .text: return webSocket(.webSocket(WebSocketFrame(.text, bytes)))
    case .header:
      return webSocket(
        .handshake(.request(WebSocketRequest(target: "/", fields: [.init("X-A", text)]))))
    case .target:
      return webSocket(.handshake(.request(WebSocketRequest(target: text, fields: []))))
    case .server:
      return Event(
        Sample.context(),
        .opened(
          ConnectionOpening(
            client: "c", server: text, isFromStart: true, firstFrame: 1, firstTime: Sample.time)))
    case .attemptServer, .attemptReason, .attemptUsername:
      let connect = MQTTPacket(
        .connect(.init(clientID: "c", username: place == .attemptUsername ? text : nil)),
        version: .v5_0)
      return Event(
        Sample.context(),
        .attempted(
          ConnectionAttempt(
            how: .failed, server: place == .attemptServer ? text : "h:1", firstTime: Sample.time,
            connect: PacketBytes(try connect.encoded()),
            reason: place == .attemptReason ? text : nil)))
    case .lossReason:
      let closing = ConnectionClosing(
        how: .reset, firstFrame: 1, firstTime: Sample.time, reason: text)
      return Event(Sample.context(), .closed(closing))
    }
  }

  /// The texts in a value of JSON, whatever lies in what.
  private func texts(_ value: JSONValue) -> [String] {
    switch value {
    case .string(let text): [text]
    case .array(let values): values.flatMap(texts)
    case .object(let members): members.flatMap { texts($0.value) }
    case .null, .bool, .number: []
    }
  }

  @Test(arguments: cases, Place.allCases)
  func isHiddenInEveryOutput(_ row: Case, _ place: Place) throws {
    if row.text.contains(" "), place == .target { return }
    if row.text.contains("\n"), place == .header { return }
    let event = try event(row.text, in: place)
    var line: [UInt8] = []
    event.withView { EventJSONWriter().append($0, to: &line) }
    #expect(
      texts(try JSONValue.read(line)).contains(row.shown),
      "\(String(decoding: line, as: UTF8.self))")
    #expect(!String(decoding: line, as: UTF8.self).contains("hush"))
    var text: [UInt8] = []
    var writer = EventTextWriter(payloadLimit: 1_000)
    event.withView { writer.append($0, to: &text) }
    #expect(!String(decoding: text, as: UTF8.self).contains("hush"))
    var shown: [UInt8] = []
    event.withView { EventJSONWriter(showsSecrets: true).append($0, to: &shown) }
    #expect(texts(try JSONValue.read(shown)).contains(row.text))
    // What is recorded is read again, and then hides nothing more.
    var recording = try RecordingWriter(
      MemorySink(), header: RecordingHeader(created: nil, source: .init(kind: "client")),
      hiding: RedactionRules())
    try event.withView { view throws in try recording.consume(view) }
    try recording.finish()
    let read = try #require(try EventList(recording: recording.sink.bytes).events.first)
    var again: [UInt8] = []
    read.withView { EventJSONWriter(showsSecrets: true).append($0, to: &again) }
    #expect(!String(decoding: again, as: UTF8.self).contains("hush"))
  }

  @Test(arguments: cases) func isHiddenInDivergences(_ row: Case) async throws {
    var session = SessionBuilder()
    session.connect(0)
    session.publish(1, .client, "t", "something else")
    var user = Actor(try ReplayClient(session.events))
    try await user.connect()
    _ = try await user.next()
    let error = await #expect(throws: DataClientError.self) {
      try await user.publish("t", row.text)
    }
    #expect(error?.message.contains("hush") == false)
  }

  @Test(arguments: [
    ("bearer.hush", "bearer.***"), ("v1.token.hush.x", "v1.token.***"), ("mqttv3.1", "mqttv3.1"),
    ("base64url.bearer.authorization.k8s.io.hush", "base64url.bearer.***"),
    ("graphql-transport-ws", "graphql-transport-ws"), (String(repeating: "hush", count: 12), "***"),
  ])
  func subprotocolsThatCarryTokens(_ subprotocol: String, _ shown: String) throws {
    let request = WebSocketRequest(
      target: "/",
      fields: [
        .init("Host", "u:hush@h:1"), .init("Sec-WebSocket-Protocol", "mqtt,\(subprotocol)"),
      ])
    let event = Event(Sample.context(.webSocket), .handshake(.request(request)))
    var line: [UInt8] = []
    event.withView { EventJSONWriter().append($0, to: &line) }
    let text = String(decoding: line, as: UTF8.self)
    #expect(!text.contains("hush") && text.contains(#"["Host","***@h:1"]"#))
    #expect(text.contains(#"["Sec-WebSocket-Protocol","mqtt,\#(shown)"]"#), "\(text)")
  }

  @Test func parametersOfExtensionsThatCarryTokens() throws {
    let request = WebSocketRequest(
      target: "/", fields: [.init("Sec-WebSocket-Extensions", "x-e; token=hush; n=1")])
    let event = Event(Sample.context(.webSocket), .handshake(.request(request)))
    var (line, text): ([UInt8], [UInt8]) = ([], [])
    var writer = EventTextWriter(payloadLimit: 1_000)
    event.withView { view in
      EventJSONWriter().append(view, to: &line)
      writer.append(view, to: &text)
    }
    for shown in [line, text].map({ String(decoding: $0, as: UTF8.self) }) {
      #expect(!shown.contains("hush") && shown.contains("x-e; token=***; n=1"), "\(shown)")
    }
  }

  /// Where a message is cut, the frames behind the cut show nothing of what was begun before.
  @Test(arguments: [
    ([#"{"token":"hu"#, #"sh","n":1}"#], [#"{"token":"***"#, "***"]),
    ([#"{"tok"#, #"en":"hush"}"#], [#"{"tok"#, "***"]),
    ([#"{"token":"#, #""hush"}"#, "tail"], [#"{"token":"#, "***", "tail"]),
    (["a=1&token=", "hush&b=2", "c"], ["a=1&token=", "***", "c"]),
    ([#"{"a":"b"#, #"c","n":1}"#], [#"{"a":"b"#, #"c","n":1}"#]),
  ])
  func secretsThatAreCutOverFrames(_ parts: [String], _ shown: [String]) throws {
    var secrets = FragmentSecrets()
    let context = Sample.context(.webSocket)
    let frames = parts.enumerated().map { index, part in
      WebSocketFrame(
        index == 0 ? .text : .continuation, Array(part.utf8), isFinal: index == parts.count - 1)
    }
    let payloads = try frames.map { frame in
      var frame = frame
      if frame.withView(from: nil, { secrets.conceals($0) }) { frame.cargo = .concealed }
      var line: [UInt8] = []
      Event(context, .webSocket(frame)).withView { EventJSONWriter().append($0, to: &line) }
      let payload = try JSONValue.read(line)["payload"]
      return payload?.text ?? payload?["utf8"]?.text
    }
    #expect(payloads == shown)
    // So do those of a recording that says nothing of it.
    var recording = try RecordingWriter(
      MemorySink(), header: RecordingHeader(created: nil, source: .init(kind: "client")),
      hiding: RedactionRules(hidesSecrets: false))
    for frame in frames {
      try Event(context, .webSocket(frame)).withView { view throws in try recording.consume(view) }
    }
    try recording.finish()
    let lines = try EventList(recording: recording.sink.bytes).events.map { event in
      var line: [UInt8] = []
      event.withView { EventJSONWriter().append($0, to: &line) }
      return String(decoding: line, as: UTF8.self)
    }
    #expect(
      lines.map { $0.contains(#""concealed":true"#) }
        == zip(parts, shown).map { $1 == "***" && $0 != $1 })
  }

  /// What begins a secret many times over and ends none is read in one go.
  @Test(arguments: [
    "<password ", "<password> ", "'token': ", "{'token': ", #"{"value":"#, #"{"value":{"#,
    #"{\"value\":\""#, #"{"name":"password","#, "-----BEGIN PRIVATE KEY-----",
  ])
  func takesTimeByLength(_ beginning: String) {
    func time(_ count: Int) -> Duration {
      let text = String(repeating: beginning, count: count)
      return ContinuousClock().measure { _ = text.hidingSecrets }
    }
    _ = time(100)
    let times = [time(2_000), time(32_000)]
    #expect(times[1] < times[0] * 64 + .milliseconds(200), "\(times)")
  }

  @Test func correlationDataAndUserNamesAreHiddenOnRequest() throws {
    let event = try Sample.event(
      MQTTPacket(
        .publish(
          .init(
            topic: "t", payload: [0x61],
            properties: [
              MQTTProperty(.correlationData, .binary(Array("hush".utf8)))
            ])), version: .v5_0))
    func line(_ rules: RedactionRules) -> String {
      var line: [UInt8] = []
      event.withView { EventJSONWriter(hiding: rules).append($0, to: &line) }
      return String(decoding: line, as: UTF8.self)
    }
    #expect(line(RedactionRules()).contains(#""correlationData":{"utf8":"hush"}"#))
    #expect(line(RedactionRules(hidesCorrelationData: true)).contains(#""correlationData":"***""#))
    #expect(line(RedactionRules(topics: ["t/#"])).contains(#""payload":"***""#))
    #expect(line(RedactionRules(topics: ["u"])).contains(#""payload":{"utf8":"a"}"#))
  }
}

import RepriseCore
import TestSupport
import Testing
import Wire

/// Clients of requests, recorded.
@Suite struct RequestRecordingTests {
  static func id(_ number: UInt32) -> ClientAction.ID { ClientAction.ID(rawValue: number) }

  /// A recording of a GET, of a POST whose answer comes first, and of a request that gets no answer.
  private func recorded(
    _ redaction: RedactionRules = RedactionRules()
  ) async throws -> MemorySink {
    let told: [ClientEvent] = [
      .response(Self.id(2), ResponseMessage(status: 201, body: Array(#"{"token":"hush-3"}"#.utf8))),
      .response(Self.id(1), ResponseMessage(status: 404, body: [0, 255])),
      .failed(Self.id(3), .unanswered(.timedOut, "it took too long")),
    ]
    let recorder = try RecordingClient(
      ScriptedClient.everySecond(told, [.requests, .binary]), to: MemorySink(),
      url: "https://me:hush-0@host:81/v1/?token=hush-4", redaction: redaction)
    #expect(recorder.capabilities == [.requests, .binary])
    var user = Actor(recorder)
    for request in [
      RequestMessage(path: "/a b", method: "get", parameters: ["q": "1&2", "token": "hush-1"]),
      RequestMessage(path: "c", method: "POST", parameters: ["password": "hush-2", "n": "é"]),
      RequestMessage(path: "d", method: "DELETE"),
    ] {
      try await user.do(.send(request))
    }
    while try await user.next() != .ended { continue }
    try recorder.finish()
    return recorder.sink
  }

  @Test func isWrittenAsMessagesOfHTTP() async throws {
    let sink = try await recorded()
    let lines = sink.text.split(separator: "\n").dropFirst().map { line in
      String(line[(line.firstRange(of: #""type":"#)?.lowerBound ?? line.startIndex)...])
    }
    let host = #"["Host","host:81"]"#
    let json = #"["Content-Type","application/json"]"#
    let http = #""http":"HTTP/1.1","headers":["#
    var expected = [
      #""type":"REQUEST","length":0,"exchange":1,"method":"GET","#,
      #""target":"/v1/a%20b?q=1%262&token=***",\#(http)\#(host)],"payload":{"utf8":""}}"#,
      #""type":"REQUEST","length":30,"exchange":2,"method":"POST","target":"/v1/c","#,
      #"\#(http)\#(host),\#(json),["Content-Length","30"]],"#,
      #""payload":{"utf8":"{\"n\":\"é\",\"password\":\"***\"}"}}"#,
      #""type":"REQUEST","length":2,"exchange":3,"method":"DELETE","target":"/v1/d","#,
      #"\#(http)\#(host),\#(json),["Content-Length","2"]],"payload":{"utf8":"{}"}}"#,
    ]
    expected += [
      #""type":"RESPONSE","length":18,"exchange":2,"status":201,"reason":"","#,
      #"\#(http)["Content-Length","18"]],"payload":{"utf8":"{\"token\":\"***\"}"}}"#,
      #""type":"RESPONSE","length":2,"exchange":1,"status":404,"reason":"","#,
      #"\#(http)["Content-Length","2"]],"payload":{"base64":"AP8="}}"#,
      #""type":"UNANSWERED","exchange":3,"cause":"timedOut","reason":"it took too long"}"#,
    ]
    #expect(lines.dropFirst().dropLast().joined() == expected.joined())
    #expect(!sink.text.contains("hush-"))
    #expect(sink.text.contains(#""protocol":"http","type":"OPEN","client":"client","#))
    #expect(lines.last?.hasPrefix(#""type":"CLOSE","how":"end-of-capture""#) == true)
  }

  @Test func secretsAreKeptWhenThatIsWanted() async throws {
    let text = try await recorded(RedactionRules(hidesSecrets: false)).text
    for secret in ["token=hush-1", "hush-2", "hush-3"] { #expect(text.contains(secret)) }
  }

  @Test func whatIsReadIsWrittenAgain() async throws {
    for redaction in [RedactionRules(), RedactionRules(hidesSecrets: false)] {
      let sink = try await recorded(redaction)
      let events = try sink.events()
      #expect(events.count == 8)
      let lines = events.map { event in
        var line: [UInt8] = []
        event.withView { EventJSONWriter(hiding: redaction).append($0, to: &line) }
        return String(decoding: line, as: UTF8.self)
      }
      let written = sink.text.split(separator: "\n").dropFirst().map(String.init)
      // Of what is hidden the length is told all the same.
      let lengths = #/"length":\d+/#
      #expect(
        lines.map { $0.replacing(lengths, with: "") }
          == written.map {
            $0.replacing(lengths, with: "")
          })
    }
  }

  @Test func headsThatTheFieldsDoNotGiveAreKept() throws {
    let head = HTTPHead(Array("GET  /a HTTP/1.1\nHost:  x\r\n\r\n".utf8))
    #expect(HTTPMessage(head) == nil)
    let odd = HTTPHead(Array("GET /a HTTP/1.1\r\nHost:  x\nCookie: a=1\r\n\r\n".utf8))
    let message = try #require(HTTPMessage(odd, body: [1], missing: 3))
    let context = EventContext(
      time: SessionBuilder.time(0), frame: 1, connection: 1, sender: .client, wire: .http)
    let event = Event(context, .http(.request(exchange: 1, message)))
    var line: [UInt8] = []
    event.withView { EventJSONWriter(showsSecrets: true).append($0, to: &line) }
    #expect(try EventList(recording: line).events == [event])
    // The bytes would tell the cookie.
    line = []
    event.withView { EventJSONWriter().append($0, to: &line) }
    let text = String(decoding: line, as: UTF8.self)
    #expect(text.contains(#"["Cookie","***"]"#) && !text.contains(#""bytes""#))
    guard case .http(.request(1, let read))? = try EventList(recording: line).events.first?.body
    else {
      Issue.record("\(text)")
      return
    }
    #expect(read.body == [1] && read.missing == 3 && read.length == 4)
  }

  @Test(arguments: [
    (#""type":"REQUEST","exchange":0,"method":"GET","target":"/""#, "exchange"),
    (#""type":"REQUEST","exchange":1,"method":"G T","target":"/""#, "type"),
    (#""type":"RESPONSE","exchange":1,"status":99"#, "status"),
    (#""type":"RESPONSE","exchange":1,"status":200,"payload":7"#, "payload"),
    (#""type":"UNANSWERED","exchange":1,"cause":"boredom""#, "cause"),
    (#""type":"PUBLISH","exchange":1"#, "type"),
  ])
  func refusesLinesThatAreNone(_ fields: String, _ key: String) throws {
    let start = #"{"time":"2026-11-21T00:00:00Z","connection":1,"from":"client","protocol":"http","#
    let error = #expect(throws: RecordingError.self) {
      try EventList(recording: Array("\(start)\(fields)}".utf8))
    }
    #expect(error?.message.contains("\"\(key)\"") == true, "\(error?.message ?? "")")
    let good = #""type":"REQUEST","exchange":1,"method":"GET","target":"/""#
    #expect(try EventList(recording: Array("\(start)\(good)}".utf8)).events.count == 1)
  }

  @Test func goesOnInAnotherFile() async throws {
    let recorder = try RecordingClient(
      ScriptedClient.everySecond([.response(Self.id(1), ResponseMessage(body: []))], [.requests]),
      to: MemorySink(), nextSink: { _ in MemorySink() })
    var user = Actor(recorder)
    try await user.do(.send(RequestMessage(path: "a", method: "GET")))
    try recorder.startNextFile()
    _ = try await user.next()
    #expect(try recorder.sink.events().map(\.shownType) == ["client OPEN", "server RESPONSE"])
  }

  @Test func filtersKnowThem() async throws {
    let events = try await recorded(RedactionRules(hidesSecrets: false)).events()
    func chosen(_ expression: String) throws -> [String] {
      var filter = try SessionFilter(expression)
      return events.filter { event in event.withView { filter.matches($0) } }.map(\.shownType)
    }
    #expect(try chosen("protocol == http").count == 8)
    #expect(try chosen("protocol == mqtt or protocol == websocket") == [])
    #expect(try chosen("protocol != http") == [])
    #expect(try chosen("REQUEST and method == POST") == ["client REQUEST"])
    #expect(try chosen("target contains /v1/d") == ["client REQUEST"])
    #expect(try chosen("code >= 400") == ["server RESPONSE"])
    #expect(try chosen("payload.token == hush-3") == ["server RESPONSE"])
    #expect(try chosen("payload contains hush-2 and length == 30") == ["client REQUEST"])
    #expect(try chosen("id == 3") == ["client REQUEST", "server UNANSWERED"])
    #expect(try chosen("fault") == ["server UNANSWERED"])
  }

  @Test func isShownToPeople() async throws {
    var writer = EventTextWriter()
    let lines = try await recorded().events().map { event in
      var line: [UInt8] = []
      event.withView { writer.append($0, to: &line) }
      let text = String(decoding: line, as: UTF8.self)
      return String(text[(text.firstRange(of: "#1 ")?.upperBound ?? text.startIndex)...])
    }
    #expect(
      lines.dropFirst().dropLast() == [
        "  → REQUEST     GET  /v1/a%20b?q=1%262&token=***  host host:81  exchange 1",
        #"  → REQUEST     POST  /v1/c  host host:81  exchange 2  27 B  "#
          + #""{"n":"é","password":"***"}""#,
        #"  → REQUEST     DELETE  /v1/d  host host:81  exchange 3  2 B  "{}""#,
        #"  ← RESPONSE    201  exchange 2  15 B  "{"token":"***"}""#,
        "  ← RESPONSE    404  exchange 1  2 B  0x00ff",
        "  ← UNANSWERED  timedOut  it took too long  exchange 3",
      ])
  }
}

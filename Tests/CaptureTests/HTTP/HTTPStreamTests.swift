import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Requests and answers of HTTP/1.1 on connections that the user takes for that.
@Suite struct HTTPStreamTests {
  static let decode: [UInt16: DecodeRule] = [80: .http]

  static func dialogue() -> Dialogue {
    var dialogue = Dialogue(serverPort: 80)
    dialogue.open()
    return dialogue
  }

  /// One line for each event.
  static func lines(_ events: [Event]) -> [String] {
    events.map { event in
      let sender = event.context.sender == .client ? ">" : "<"
      switch event.body {
      case .opened: return "OPEN"
      case .closed(let closing): return "CLOSE \(closing.how.rawValue)"
      case .gap(let gap): return "\(sender) GAP \(gap.bytes) \(gap.reason.rawValue)"
      case .malformed(let what): return "\(sender) MALFORMED \(what.code) \(what.offset)"
      case .http(let part):
        guard let message = part.message else { return "\(part.name)" }
        let start =
          switch message.start {
          case .request(let method, let target): "\(method) \(target)"
          case .response(let status, _): "\(status)"
          }
        let body = message.body.count < 40 ? String(decoding: message.body, as: UTF8.self) : "…"
        let missing = message.missing > 0 ? " -\(message.missing)" : ""
        return "\(sender) \(part.exchange) \(start) [\(body)]\(missing)"
      case .mqtt, .webSocket, .handshake, .attempted, .tls: return "other"
      }
    }
  }

  static func lines(_ dialogue: Dialogue, memory: Int = InputOptions.defaultMemory) -> [String] {
    lines(Tap(dialogue.segments, decode: decode, memory: memory).events)
  }

  /// Between which lines every dialogue of these tests stands that is closed.
  static func whole(_ lines: [String], _ end: String = "fin") -> [String] {
    ["OPEN"] + lines + ["CLOSE \(end)"]
  }

  // MARK: Framing

  private static let requests = [
    "GET /a HTTP/1.1\r\nHost: x\r\n\r\n",
    "\r\nPOST /b HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello",
    "POST /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n00A\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
    "HEAD /d HTTP/1.1\r\n\r\n",
    "DELETE /e HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
    "GET /f HTTP/1.1\r\nIf-None-Match: \"1\"\r\n\r\n",
  ]

  private static let answers = [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\ncontent-length: 3, 3\r\n\r\nno!",
    "HTTP/1.1 200\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
    "HTTP/1.1 204 No Content\r\n\r\n",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
  ]

  private static let asked = [
    "> 1 GET /a []", "> 2 POST /b [hello]", "> 3 POST /c [abc0123456789]", "> 4 HEAD /d []",
    "> 5 DELETE /e []", "> 6 GET /f []",
  ]

  private static let told = [
    ["< 1 200 [ok]"], ["< 2 100 []", "< 2 404 [no!]"], ["< 3 200 [hi]"], ["< 4 200 []"],
    ["< 5 204 []"], ["< 6 304 []"],
  ]

  @Test(arguments: [1, 2, 3, 7, 19, 1_460]) func keptAlive(_ pieces: Int) {
    var dialogue = Self.dialogue()
    for (request, answer) in zip(Self.requests, Self.answers) {
      dialogue.send(.client, Array(request.utf8), pieces: pieces)
      dialogue.send(.server, Array(answer.utf8), pieces: pieces)
    }
    dialogue.close()
    let expected = zip(Self.asked, Self.told).flatMap { [$0] + $1 }
    #expect(Self.lines(dialogue) == Self.whole(expected))
  }

  @Test(arguments: [1, 5, 1_460]) func pipelined(_ pieces: Int) {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array(Self.requests.joined().utf8), pieces: pieces)
    dialogue.send(.server, Array(Self.answers.joined().utf8), pieces: pieces)
    dialogue.close()
    #expect(Self.lines(dialogue) == Self.whole(Self.asked + Self.told.flatMap { $0 }))
  }

  @Test func isNotShownUnasked() {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array(Self.requests.joined().utf8))
    dialogue.send(.server, Array(Self.answers.joined().utf8))
    dialogue.close()
    #expect(Tap(dialogue).events.isEmpty)
    #expect(Tap(dialogue, decode: [81: .http]).events.isEmpty)
    #expect(Tap(dialogue, decode: [80: .none]).events.isEmpty)
  }

  // MARK: Ends

  /// A body without a length ends with its connection, if that ends in good order.
  @Test(arguments: [Peer.server, .client]) func aBodyMayEndWithItsConnection(_ first: Peer) {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(.server, Array("HTTP/1.1 200 OK\r\n\r\nall of it".utf8))
    let (start, question) = (dialogue, "> 1 GET / []")
    dialogue.close(first)
    #expect(Self.lines(dialogue) == Self.whole([question, "< 1 200 [all of it]"]))

    var reset = start
    reset.add(.server, .reset)
    #expect(
      Self.lines(reset)
        == Self.whole(
          [question, "< MALFORMED incomplete-body 0", "< 1 200 [all of it] -1"], "reset"))
    #expect(
      Self.lines(start)
        == Self.whole(
          [question, "< GAP 1 unfilled", "< 1 200 [all of it] -1"], "end-of-capture"))
  }

  @Test func whatIsNotCompleteAtTheEndIsMissing() {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(.server, Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8))
    let cut = dialogue
    dialogue.close(.server)
    #expect(
      Self.lines(dialogue)
        == Self.whole([
          "> 1 GET / []", "< MALFORMED incomplete-body 0", "< 1 200 [abc] -6",
        ]))
    #expect(
      Self.lines(cut)
        == Self.whole(["> 1 GET / []", "< GAP 6 unfilled", "< 1 200 [abc] -6"], "end-of-capture"))

    var head = Self.dialogue()
    head.send(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    head.send(.server, Array("HTTP/1.1 200 OK\r\nContent-".utf8))
    head.close(.server)
    #expect(
      Self.lines(head) == Self.whole(["> 1 GET / []", "< MALFORMED incomplete-head 0"]))
  }

  // MARK: Losses

  /// Drops a part of what the server sends; its client has got it.
  private static func lossy(_ answers: [String], losing index: Int) -> Dialogue {
    var dialogue = dialogue()
    dialogue.send(.client, Array("GET /a HTTP/1.1\r\n\r\n".utf8))
    for (number, piece) in answers.enumerated() {
      dialogue.send(.server, Array(piece.utf8))
      // The piece with its acknowledgement is the last two segments.
      if number == index { dialogue.segments.remove(at: dialogue.segments.count - 2) }
    }
    dialogue.send(.client, Array("GET /b HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(.server, Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb".utf8))
    dialogue.close()
    return dialogue
  }

  private static let last = ["> 2 GET /b []", "< 2 200 [b]"]

  @Test func bytesOfABodyAreMissing() {
    let pieces = ["HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "abc", "def", "ghi"]
    for (index, body) in [(1, ""), (2, "abc"), (3, "abcdef")] {
      let missing = 9 - body.count
      #expect(
        Self.lines(Self.lossy(pieces, losing: index))
          == Self.whole(
            ["> 1 GET /a []", "< GAP 3 acknowledged", "< 1 200 [\(body)] -\(missing)"] + Self.last),
        "\(index)")
    }
    let chunks = [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabc", "def", "\r\n0\r\n\r\n",
    ]
    #expect(
      Self.lines(Self.lossy(chunks, losing: 1))
        == Self.whole(["> 1 GET /a []", "< GAP 3 acknowledged", "< 1 200 [abc] -3"] + Self.last))
  }

  /// Where it can't be told where a body ends, the next message is that with which a segment begins.
  @Test func whatCannotBeFramedIsPassedOver() {
    let chunks = [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", "3\r\n",
      "def\r\n0\r\n\r\n",
    ]
    #expect(
      Self.lines(Self.lossy(chunks, losing: 1))
        == Self.whole(["> 1 GET /a []", "< GAP 3 acknowledged", "< 1 200 [abc] -3"] + Self.last))
    let head = ["HTTP/1.1 200 OK\r\nContent-", "Length: 3\r\n\r\n", "abc"]
    #expect(
      Self.lines(Self.lossy(head, losing: 1))
        == Self.whole(["> 1 GET /a []", "< GAP 13 acknowledged"] + Self.last))
    let all = ["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"]
    #expect(
      Self.lines(Self.lossy(all, losing: 0))
        == Self.whole(["> 1 GET /a []", "< GAP 41 acknowledged"] + Self.last))
  }

  /// Whatever is lost, no message is told that was not sent, and what is told as whole was so.
  @Test(arguments: 0..<150) func nothingIsInvented(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    var dialogue = Self.dialogue()
    if seed.isMultiple(of: 2) {
      for (request, answer) in zip(Self.requests, Self.answers) {
        dialogue.send(.client, Array(request.utf8), pieces: random.int(5...80))
        dialogue.send(.server, Array(answer.utf8), pieces: random.int(5...80))
      }
    } else {
      dialogue.send(.client, Array(Self.requests.joined().utf8), pieces: random.int(5...80))
      dialogue.send(.server, Array(Self.answers.joined().utf8), pieces: random.int(5...80))
    }
    dialogue.close()
    for _ in 0..<random.int(1...3) {
      let loaded = dialogue.segments.indices.filter { !dialogue.segments[$0].payload.isEmpty }
      dialogue.segments.remove(at: random.pick(loaded))
    }
    let sent = Set((Self.asked + Self.told.flatMap { $0 }).map(Self.withoutNumber))
    let told = Self.lines(dialogue).filter { $0.hasSuffix("]") }
    #expect(Set(told.map(Self.withoutNumber)).subtracting(sent) == [])
    // An answer has the number of its request, or of none.
    let pairs = Set(Self.told.flatMap { $0 }.map(Self.withoutNumber))
    let numbers = told.reduce(into: [Substring: [String]]()) { numbers, line in
      numbers[line.split(separator: " ")[1], default: []].append(Self.withoutNumber(line))
    }
    for lines in numbers.values {
      guard let request = lines.first(where: { $0.hasPrefix(">") }) else { continue }
      let index = Self.asked.map(Self.withoutNumber).firstIndex(of: request) ?? 0
      let answers = Set(Self.told[index].map(Self.withoutNumber))
      #expect(Set(lines).intersection(pairs).subtracting(answers) == [], "\(lines)")
    }
  }

  private static func withoutNumber(_ line: String) -> String {
    line.split(separator: " ").enumerated().filter { $0.offset != 1 }.map { String($0.element) }
      .joined(separator: " ")
  }

  @Test func aSnapshotLengthCutsBodies() {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\n"
    dialogue.send(.server, Array(head.utf8) + [UInt8](repeating: 0x61, count: 900))
    dialogue.send(.client, Array("GET /b HTTP/1.1\r\n\r\n".utf8))
    dialogue.close()
    for index in dialogue.segments.indices where dialogue.segments[index].payload.count > 60 {
      dialogue.segments[index].wireLength = dialogue.segments[index].payload.count
      dialogue.segments[index].payload = Array(dialogue.segments[index].payload.prefix(60))
    }
    let kept = 60 - head.utf8.count
    #expect(
      Self.lines(dialogue)
        == Self.whole([
          "> 1 GET / []", "< 1 200 [\(String(repeating: "a", count: kept))] -\(900 - kept)",
          "> 2 GET /b []",
        ]))
  }

  // MARK: What is none

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "bad-length 0"),
    ("HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nabc", "bad-length 0"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "bad-chunk 47"),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "bad-chunk 51"),
    ("HTTP/1.1 20 OK\r\n\r\n", "not-http 0"),
    ("SMTP ready\r\n", "not-http 0"),
    ("GET / HTTP/1.1\r\n\r\n", "not-http 0"),
  ])
  func aServerThatBreaksTheRules(_ answer: String, _ malformation: String) {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array("GET /a HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(.server, Array(answer.utf8))
    dialogue.send(.client, Array("GET /b HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(.server, Array("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb".utf8))
    dialogue.close()
    let lines = Self.lines(dialogue)
    #expect(lines.filter { $0.contains("MALFORMED") } == ["< MALFORMED \(malformation)"])
    #expect(lines.last == "CLOSE fin" && lines.first == "OPEN")
    #expect(lines.dropLast().last?.hasSuffix("200 [b]") == true, "\(lines)")
  }

  @Test func anotherProtocolFollows() {
    var dialogue = Self.dialogue()
    dialogue.send(.client, Array("CONNECT a:443 HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(.server, Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    dialogue.send(.client, [0x16, 3, 1, 0, 0])
    dialogue.send(.server, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    dialogue.close()
    #expect(
      Self.lines(dialogue)
        == Self.whole(["> 1 CONNECT a:443 []", "< 1 200 []", "< MALFORMED switched 19"]))
  }

  /// What asks for WebSocket first is read as that.
  @Test(arguments: [3, 1_460]) func webSocketStaysWhatItIs(_ pieces: Int) {
    var dialogue = WebSocketDialogue(port: 80, pieces: pieces)
    dialogue.open()
    dialogue.send(.client, [.text("hello")])
    dialogue.send(.server, [.text("you")])
    dialogue.close()
    #expect(dialogue.tap(decode: Self.decode).events == dialogue.tap().events)
    #expect(dialogue.tap().events.count == 6)
  }

  // MARK: Limits

  @Test func longBodiesAreCut() throws {
    var dialogue = Self.dialogue()
    let count = HTTPStreams.longestBody + 10
    dialogue.send(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))
    dialogue.send(
      .server,
      Array("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8)
        + [UInt8](repeating: 0x61, count: count), pieces: 1 << 16)
    dialogue.close()
    let tap = Tap(dialogue, decode: Self.decode)
    #expect(
      Self.lines(tap.events)
        == Self.whole(["> 1 GET / []", "< GAP 10 limit", "< 1 200 […] -10"]))
    #expect(tap.reserved == 0)
  }

  /// Those that have waited longest give up what they keep.
  @Test func memoryIsBounded() {
    var segments: [Segment] = []
    for number in 0..<40 {
      var dialogue = Self.dialogue()
      dialogue.clientPort = 41_000 + UInt16(number)
      for index in dialogue.segments.indices {
        dialogue.segments[index].clientPort = dialogue.clientPort
      }
      dialogue.send(.client, Array("GET /\(number) HTTP/1.1\r\n\r\n".utf8))
      dialogue.send(
        .server,
        Array("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n".utf8)
          + [UInt8](repeating: 0x61, count: 90_000))
      segments += dialogue.segments
    }
    let tap = Tap(segments, decode: Self.decode, memory: 1 << 20)
    #expect(tap.mostReserved <= 1 << 20 + 200_000)
    #expect(tap.surrenders > 20 && tap.reserved == 0)
    let lines = Self.lines(tap.events)
    #expect(lines.count { $0 == "< GAP 90000 limit" } > 20)
    #expect(lines.count { $0.hasSuffix("200 [] -100000") } > 20)
    #expect(lines.count { $0.hasSuffix("200 […] -10000") } > 1)
  }

  // MARK: Content codings

  @Test func codingsAreUndone() throws {
    let text = #"{"token":"hush","n":1}"#
    var dialogue = Self.dialogue()
    for body in [GzipBuilder.member(Array(text.utf8)), [1, 2, 3]] {
      dialogue.send(.client, Array("GET / HTTP/1.1\r\n\r\n".utf8))
      let head =
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(body.count)\r\n\r\n"
      dialogue.send(.server, Array(head.utf8) + body)
    }
    dialogue.close()
    let messages = Tap(dialogue, decode: Self.decode).events.compactMap { event in
      if case .http(.response(_, let message)) = event.body { (event, message) } else { nil }
    }
    #expect(messages.map(\.1.isDecoded) == [true, false])
    #expect(messages.map(\.1.isCoded) == [false, true])
    #expect(messages.first.map { String(decoding: $0.1.body, as: UTF8.self) } == text)
    // What nobody can read may be a secret.
    let lines = try messages.map { event, _ in
      try InspectLine(event, showsSecrets: false).fields["payload"]
    }
    #expect((lines.first as? [String: String])?["utf8"] == #"{"token":"***","n":1}"#)
    #expect(lines.last as? String == "***")
  }
}

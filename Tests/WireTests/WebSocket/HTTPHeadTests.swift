import TestSupport
import Testing
import Wire

/// Heads cut out of a stream (RFC 9112), whatever pieces they come in.
@Suite struct HTTPHeadTests {
  static let text = "GET /a?b=c HTTP/1.1\r\nHost: a\r\nX-Y:  two words \t\r\nEmpty:\r\n\r\n"

  private static func read(_ text: String, pieces: Int = .max, limit: Int = 64 << 10)
    -> HTTPHeadReader.Reading
  {
    var reader = HTTPHeadReader(limit: limit)
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      let reading = reader.consume(piece.span.bytes)
      if reading != .needMore { return reading }
    }
    return .needMore
  }

  @Test func cutsAtEveryPlace() throws {
    let all = Array(Self.text.utf8)
    let expected = HTTPHead(all)
    for size in [1, 2, 3, 7, 1_000] {
      let before = (all.count - 1) / size * size
      #expect(
        Self.read(Self.text + "body", pieces: size)
          == .head(expected, used: all.count - before))
    }
    for count in 0..<all.count {
      #expect(Self.read(String(decoding: all.prefix(count), as: UTF8.self)) == .needMore)
    }
    #expect(expected.startLine == "GET /a?b=c HTTP/1.1")
    #expect(expected.fields.map(\.name) == ["Host", "X-Y", "Empty"])
    #expect(expected.fields.map(\.value) == ["a", "two words", ""])
    #expect(expected.fields.map(\.offset) == [21, 30, 49])
    #expect(expected.faults.isEmpty && !expected.isGivenByFields)
    #expect(HTTPHead(startLine: "GET / HTTP/1.1", fields: [.init("A", "b")]).isGivenByFields)
  }

  @Test func takesLinesThatEndWithALineFeedAlone() {
    let text = "GET / HTTP/1.1\nHost: a\n\nrest"
    guard case .head(let head, let used) = Self.read(text) else {
      Issue.record("no head")
      return
    }
    #expect(used == text.utf8.count - 4)
    #expect(head.fields.map(\.value) == ["a"])
    #expect(
      head.faults.map(\.offset) == [14, 22]
        && head.faults.allSatisfy { $0.code == .malformedHeader })
  }

  /// RFC 2616 section 2.2: a line that begins with white space goes on with the one before.
  @Test func joinsFoldedLines() {
    let head = HTTPHead(
      Array(
        "GET / HTTP/1.1\r\nConnection: keep-alive,\r\n  Upgrade \r\n\tmore\r\nHost: a\r\n\r\n".utf8)
    )
    #expect(head.fields.map(\.name) == ["Connection", "Host"])
    #expect(head.fields.map(\.value) == ["keep-alive, Upgrade more", "a"])
    #expect(head.list("Connection") == ["keep-alive", "Upgrade more"])
    #expect(head.faults == [])
    // In front of the first header line there is nothing to go on with.
    let first = HTTPHead(Array("GET / HTTP/1.1\r\n Host: a\r\n\r\n".utf8))
    #expect(first.faults.map(\.code) == [.malformedHeader])
  }

  @Test(arguments: [1, 10, 1_000]) func givesUpAtItsLimit(_ size: Int) {
    let long = "GET / HTTP/1.1\r\nX: " + String(repeating: "y", count: 1_000) + "\r\n\r\n"
    #expect(Self.read(long, pieces: size, limit: 500) == .tooLarge)
    #expect(Self.read(long, pieces: size, limit: long.utf8.count - 1) == .tooLarge)
    guard case .head = Self.read(long, pieces: size, limit: long.utf8.count) else {
      Issue.record("a head of just the limit")
      return
    }
  }

  @Test(arguments: [
    ("no colon", [21]), ("Na me: x", [21]), (": x", [21]), ("Name : x", [21]), (" folded: x", [21]),
    ("A: \u{1}", [24]), ("A: \u{7F}", [24]), ("Name: Ü", []), ("!#$%&'*+-.^_`|~: x", []),
  ])
  func tellsLinesThatBreakTheSyntax(line: String, offsets: [Int]) {
    let head = HTTPHead(Array("GET /a?b=c HTTP/1.1\r\n\(line)\r\n\r\n".utf8))
    #expect(head.faults.map(\.offset) == offsets)
  }

  /// RFC 9110 section 5.1; names are tokens, so that no other letters than those of ASCII have a case.
  @Test(arguments: [
    ("Sec-WebSocket-Key", true), ("sec-websocket-key", true), ("SEC-WEBSOCKET-KEY", true),
    ("Sec-WebSocket-Ke", false), ("Sec-WebSocket-Keys", false), ("Sec-WebSocket\rKey", false),
    ("Sec-WebSocket-\u{212A}ey", false),
  ])
  func findsNamesInAnyCase(name: String, isFound: Bool) {
    let head = HTTPHead(
      startLine: "GET / HTTP/1.1", fields: [.init("Other", "a"), .init(name, "b")])
    #expect(head.fields(named: "Sec-WebSocket-Key").map(\.value) == (isFound ? ["b"] : []))
  }

  @Test(arguments: [UInt64](1...20)) func endsOnAnyBytes(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<300 {
      var bytes = Array(Self.text.utf8)
      for _ in 0..<random.int(1...10) {
        bytes[random.int(0...bytes.count - 1)] = random.pick([0, 10, 13, 32, 58, 34, 59, 44, 200])
      }
      let head = HTTPHead(bytes)
      #expect(head.bytes == bytes)
      #expect(head.faults.allSatisfy { (0...bytes.count).contains($0.offset) })
      let request = WebSocketRequest(head)
      _ = WebSocketResponse(head, to: request)
    }
  }
}

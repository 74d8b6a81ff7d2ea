import RepriseCore
import Testing
import Wire

/// What stands in the bodies of other requests and answers, in front of a handshake.
@Suite struct HTTPBodyPitfallTests {
  /// What begins as a request or an answer does, or is one.
  private static let bodies = [
    "HELLO", "A", "SELECT 1", "I like this message", "THE END\nof it",
    "GET /x HTTP/1.1\r\nUpgrade: websocket\r\nConnection: nonsense\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "\r\n\r\n",
  ]

  private static func chunked(_ body: String) -> String {
    "\(String(body.utf8.count, radix: 16));x=y\r\n\(body)\r\n0\r\nT: t\r\n\r\n"
  }

  private static let wanted = ["OPEN", "UPGRADE", "UPGRADED", "TEXT", "CLOSE"]

  /// A dialogue that ends with a handshake and a text.
  private func check(
    _ dialogue: WebSocketDialogue, _ comment: Comment, types: [String] = wanted,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    var dialogue = dialogue
    dialogue.open()
    dialogue.send(.client, [.text("a")])
    dialogue.close()
    let tap = dialogue.tap()
    #expect(tap.types == types, comment, sourceLocation: sourceLocation)
    #expect(
      tap.webSocketFaults.isEmpty && tap.malformations.isEmpty, comment,
      sourceLocation: sourceLocation)
    #expect(tap.texts(.client) == ["a"], comment, sourceLocation: sourceLocation)
  }

  @Test("37: the body of a request is none, whatever it holds", arguments: bodies)
  func requestBodies(body: String) {
    for pieces in [1, 7, 1_460] {
      for isChunked in [false, true] {
        var dialogue = WebSocketDialogue(pieces: pieces)
        let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.utf8.count)"
        dialogue.send(.client, "POST /b HTTP/1.1\r\n\(field)\r\nExpect: 100-continue\r\n\r\n")
        dialogue.send(.server, "HTTP/1.1 100 Continue\r\n\r\n")
        dialogue.send(.client, isChunked ? Self.chunked(body) : body)
        dialogue.send(.server, "HTTP/1.1 204 No Content\r\n\r\n")
        check(dialogue, "\(pieces) \(isChunked)")
      }
    }
  }

  @Test("37: the body of an answer is none, whatever it holds", arguments: bodies)
  func answerBodies(body: String) {
    for pieces in [1, 7, 1_460] {
      for isChunked in [false, true] {
        var dialogue = WebSocketDialogue(pieces: pieces)
        let field = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(body.utf8.count)"
        dialogue.send(.client, "GET /b HTTP/1.1\r\n\r\n")
        dialogue.send(.server, "HTTP/1.1 200 OK\r\n\(field)\r\n\r\n")
        dialogue.send(.server, isChunked ? Self.chunked(body) : body)
        check(dialogue, "\(pieces) \(isChunked)")
      }
    }
  }

  @Test("37: a body that ends with the connection is all that comes", arguments: bodies)
  func endlessBodies(body: String) {
    for pieces in [1, 7, 1_460] {
      for line in ["HTTP/1.1 200 OK\r\nConnection: close", "HTTP/1.0 200 OK"] {
        var dialogue = WebSocketDialogue(pieces: pieces)
        dialogue.send(.client, "GET /b HTTP/1.1\r\n\r\n")
        dialogue.send(.server, "\(line)\r\n\r\n")
        for _ in 0..<3 { dialogue.send(.server, body) }
        dialogue.close()
        #expect(dialogue.tap().types == [], "\(pieces) \(line)")
      }
    }
  }

  @Test("37: what stands where an answer must is one, whatever was asked")
  func answerToAPlainRequest() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, "GET /chat HTTP/1.1\r\n\r\n")
    dialogue.send(.server, WebSocketDialogue.response())
    dialogue.send(.client, [.text("a")])
    dialogue.close()
    #expect(dialogue.tap().types == ["OPEN", "UPGRADED", "TEXT", "CLOSE"])
  }

  /// A server may choose any protocol of those that are offered; one that is not is an answer to the request for WebSocket.
  @Test(
    "37: a server that chooses another protocol beside WebSocket",
    arguments: [
      ("websocket, h2c", "h2c", false), ("h2c, WebSocket", "H2C", false),
      ("websocket", "h2c", true),
      ("websocket, h2c", "h2c, websocket", true), ("websocket, h2c", "", true),
    ])
  func anotherProtocol(_ offer: String, _ choice: String, _ isWebSocket: Bool) {
    var dialogue = WebSocketDialogue()
    let request = String(decoding: WebSocketDialogue.request(), as: UTF8.self)
    dialogue.send(
      .client, request.replacing("Upgrade: websocket", with: "Upgrade: \(offer)"))
    dialogue.send(
      .server,
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: \(choice)\r\n\r\n")
    dialogue.send(.client, [.text("a")])
    dialogue.send(.client, [0x8B, 1, 2, 3])
    dialogue.close()
    let tap = dialogue.tap()
    let types =
      isWebSocket
      ? ["OPEN", "UPGRADE", "UPGRADED", "TEXT", "RESERVED"] : ["OPEN", "UPGRADE", "CLOSE"]
    #expect(Array(tap.types.prefix(types.count)) == types, "\(tap.types)")
    #expect(tap.webSocketFaults.isEmpty != isWebSocket && tap.malformations.isEmpty != isWebSocket)
  }

  @Test("37: what accepts no request that was sent is the inside of a body")
  func answerToNoRequest() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, "GET /rfc6455.txt HTTP/1.1\r\n\r\n")
    dialogue.dialogue.next[.server]? += 200
    dialogue.send(.server, WebSocketDialogue.response())
    dialogue.send(.server, [.text("no frame")])
    dialogue.close()
    #expect(dialogue.tap().types == [])
  }

  @Test("37: the body of a refusal may come behind the next request", arguments: bodies)
  func refusalBodies(body: String) {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request(target: "/first"))
    dialogue.send(.server, "HTTP/1.1 401 No\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
    dialogue.send(.client, WebSocketDialogue.request())
    dialogue.send(.server, body)
    dialogue.send(.server, WebSocketDialogue.response())
    dialogue.send(.client, [.text("a")])
    dialogue.close()
    let tap = dialogue.tap()
    #expect(
      tap.types == ["OPEN", "UPGRADE", "REFUSED", "UPGRADE", "UPGRADED", "TEXT", "CLOSE"])
    #expect(tap.webSocketFaults.isEmpty && tap.malformations.isEmpty)
  }

  @Test("37: a body of which bytes are missing, or whose start is", arguments: bodies)
  func lostBodies(body: String) {
    // What begins with an answer is the server's, as long as nothing else was seen.
    for isStartMissing in [false] + (body.hasPrefix("HTTP/") ? [] : [true]) {
      var dialogue = WebSocketDialogue()
      dialogue.send(.client, "POST /b HTTP/1.1\r\nContent-Length: \(body.utf8.count + 500)\r\n\r\n")
      dialogue.send(.client, String(repeating: "x", count: 500))
      let lost = dialogue.dialogue.segments.count - 2
      dialogue.send(.client, body)
      dialogue.send(.server, "HTTP/1.1 204 No Content\r\n\r\n")
      if isStartMissing {
        dialogue.dialogue.segments.removeFirst(lost + 2)
      } else {
        dialogue.dialogue.segments.remove(at: lost)
      }
      // A request that is whole and right in the middle of a body can't be told from one.
      check(dialogue, "\(isStartMissing)")
    }
  }

  @Test(
    "37: an answer that is asked for by an earlier request, in one piece with that to the later one"
  )
  func pipelined() {
    var dialogue = WebSocketDialogue()
    let plain = "HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n"
    dialogue.send(.client, Array(plain.utf8) + WebSocketDialogue.request())
    let answers =
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"
    dialogue.send(.server, Array(answers.utf8) + WebSocketDialogue.response())
    dialogue.send(.client, [.text("a")])
    dialogue.close()
    let tap = dialogue.tap()
    #expect(tap.types == Self.wanted && tap.texts(.client) == ["a"])
    #expect(tap.webSocketFaults.isEmpty && tap.malformations.isEmpty)
  }

  @Test("37: a connection that a proxy keeps serves many requests before")
  func manyBefore() {
    var dialogue = WebSocketDialogue()
    for index in 0..<300 {
      dialogue.send(.client, "POST /\(index) HTTP/1.1\r\nContent-Length: 5\r\n\r\nHELLO")
      dialogue.send(.server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK")
    }
    check(dialogue, "")
  }

  /// Where the request is not in the capture, its answer may be that to a HEAD, which has a length and no body.
  @Test("37: an answer whose request is not there", arguments: [true, false])
  func answerAlone(hasBody: Bool) {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, "HEAD /a HTTP/1.1\r\n\r\n")
    let request = dialogue.dialogue.segments.count
    dialogue.send(.server, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    if hasBody { dialogue.send(.server, "HELLO") }
    dialogue.dialogue.segments.removeFirst(request)
    check(dialogue, "")
  }

  @Test("37: a body that its client does not send any more, as it was refused")
  func refusedBody() {
    var dialogue = WebSocketDialogue()
    dialogue.send(
      .client, "POST /b HTTP/1.1\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n")
    dialogue.send(.server, "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n")
    check(dialogue, "")
  }

  /// What is left of a request behind a proxy that does not know WebSocket asks for nothing, and one by another method
  /// asks for something else; a request that misses one of both fields asks in a wrong way.
  @Test(
    "37: what asks for WebSocket",
    arguments: [
      ("GET", ["Sec-WebSocket-Key: a", "Connection: close"], false),
      ("GET", ["Sec-WebSocket-Key: a", "Connection: Upgrade"], true),
      ("GET", ["Sec-WebSocket-Key: a", "Upgrade: foo"], true),
      ("GET", ["Upgrade: websocket"], true),
      ("GET", ["Upgrade: foo", "Connection: Upgrade"], false),
      ("HEAD", ["Upgrade: websocket"], false),
      ("POST", ["Upgrade: websocket", "Sec-WebSocket-Key: a"], true),
      ("get", ["Upgrade: websocket"], true),
    ])
  func whatAsks(method: String, fields: [String], asks: Bool) {
    let head = HTTPHead(
      Array("\(method) / HTTP/1.1\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n".utf8))
    #expect(WebSocketRequest.isOne(head) == asks)
  }
}

import RepriseCore
import Testing
import Wire

/// The opening handshake, as it comes and as it does not.
@Suite struct WebSocketHandshakePitfallTests {
  @Test("37: other exchanges may come before the handshake, with bodies that look like anything")
  func exchangesBefore() {
    for pieces in [7, 1_460] {
      var dialogue = WebSocketDialogue(pieces: pieces)
      dialogue.send(.client, "GET /a HTTP/1.1\r\nHost: a\r\n\r\n")
      dialogue.send(.server, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
      dialogue.send(.client, "POST /b HTTP/1.1\r\nContent-Length: 9\r\n\r\n{\"a\": 10}")
      dialogue.send(.server, "HTTP/1.1 204 No Content\r\n\r\n")
      dialogue.open()
      dialogue.send(.client, [.text("a")])
      dialogue.close()
      let tap = dialogue.tap()
      #expect(tap.types == ["OPEN", "UPGRADE", "UPGRADED", "TEXT", "CLOSE"])
      #expect(tap.webSocketFaults.isEmpty)
    }
  }

  @Test("37: HTTP that never asks for WebSocket gives no event")
  func plainHTTP() {
    var dialogue = WebSocketDialogue(port: 80)
    for _ in 0..<100 {
      dialogue.send(.client, "GET /a HTTP/1.1\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
      dialogue.send(.server, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")
    }
    dialogue.close()
    #expect(dialogue.tap().events.isEmpty)
  }

  @Test("37: a refusal is shown, and the next try as well")
  func refusal() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request(target: "/first"))
    dialogue.send(.server, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno")
    dialogue.open()
    dialogue.send(.server, [.text("welcome")])
    dialogue.close()
    let tap = dialogue.tap()
    #expect(
      tap.types == ["OPEN", "UPGRADE", "REFUSED", "UPGRADE", "UPGRADED", "TEXT", "CLOSE"])
    #expect(tap.webSocketFaults.isEmpty && tap.texts(.server) == ["welcome"])
  }

  @Test("37: provisional answers come before the final one")
  func provisional() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request())
    dialogue.send(
      .server, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n")
    dialogue.send(.server, WebSocketDialogue.response())
    dialogue.close()
    #expect(dialogue.tap().types == ["OPEN", "UPGRADE", "UPGRADED", "CLOSE"])
  }

  @Test("37: frames may come in the segment of the answer, and before it")
  func framesAtOnce() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request() + dialogue.bytes(.client, [.text("early")]))
    dialogue.send(.client, [.text("still early")])
    dialogue.send(.server, WebSocketDialogue.response() + WebSocketFrame.text("first").encoded())
    dialogue.send(.client, [.text("late")])
    dialogue.close()
    let tap = dialogue.tap()
    #expect(tap.texts(.client) == ["early", "still early", "late"])
    #expect(tap.texts(.server) == ["first"])
    // What does not acknowledge the answer was sent before it was there.
    #expect(tap.webSocketFaults == [.beforeAnswer, .beforeAnswer] && tap.malformations.isEmpty)
    let answer = tap.events.first { (try? InspectLine($0).type) == "UPGRADED" }
    let early = tap.events.filter { if case .webSocket = $0.body { true } else { false } }
    #expect((early.first?.context.frame ?? 0) < (answer?.context.frame ?? 0))
  }

  @Test("37: a wrong accept value, subprotocol and extension are told")
  func wrongAnswer() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request(subprotocol: "a"))
    let wrong = String(
      decoding: WebSocketDialogue.response(subprotocol: "b", extensions: "x-y"), as: UTF8.self)
    dialogue.send(.server, wrong.replacing("s3pPLM", with: "S3pPLM"))
    dialogue.send(.server, [.text("a")])
    let tap = dialogue.tap()
    #expect(
      Set(tap.webSocketFaults) == [.wrongAccept, .subprotocolNotOffered, .extensionNotOffered])
    #expect(tap.texts(.server) == ["a"])
  }

  @Test("37: an answer that is no HTTP is told")
  func noHTTP() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request())
    dialogue.send(.server, "220 mail.example ESMTP\r\n")
    dialogue.close()
    let tap = dialogue.tap()
    #expect(tap.types == ["OPEN", "UPGRADE", "MALFORMED", "CLOSE"])
    #expect(tap.malformations.map(\.code) == ["not-http"])
  }

  @Test("37: tokens in the address, cookies and authorizations are hidden")
  func secrets() throws {
    var dialogue = WebSocketDialogue()
    dialogue.send(
      .client,
      "GET /ws?device=1&access_token=geheim HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
        + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        + "Cookie: session=geheim\r\nAuthorization: Bearer geheim\r\nX-Api-Key: geheim\r\n"
        + "Referer: https://u:geheim@a/b?password=geheim&c=d\r\n"
        + "Sec-WebSocket-Protocol: mqtt, \(String(repeating: "geheim", count: 8))\r\n"
        + "Sec-WebSocket-Version: 13\r\n\r\n")
    let events = dialogue.tap().events
    for event in events {
      var shown: [UInt8] = []
      var writer = EventTextWriter()
      event.withView { view in
        EventJSONWriter().append(view, to: &shown)
        writer.append(view, to: &shown)
      }
      #expect(!String(decoding: shown, as: UTF8.self).contains("geheim"))
    }
    let line = try InspectLine(try #require(events.dropFirst().first), showsSecrets: false)
    #expect(line.string("target") == "/ws?device=1&access_token=***")
    let open = try InspectLine(try #require(events.dropFirst().first))
    #expect(open.string("target") == "/ws?device=1&access_token=geheim")
  }

  // MARK: One half of it

  @Test("21, 37: one direction alone is read as far as it goes")
  func oneDirection() {
    var dialogue = WebSocketDialogue()
    dialogue.open(subprotocol: "mqtt")
    let session = Session.all(.v3_1_1)
    for turn in session.turns { dialogue.send(turn.sender, [.binary(turn.bytes)]) }
    dialogue.close()
    for peer in Peer.allCases {
      var half = dialogue.dialogue
      half.segments.removeAll { $0.sender != peer }
      let tap = Tap(half)
      #expect(tap.openings.count == 1, "\(peer)")
      #expect(tap.packets(peer) == session.packets(peer), "\(peer)")
      #expect(tap.openings.first?.client == "10.0.0.1:40000")
    }
  }

  @Test("14, 37: a lost request or answer leaves the frames readable")
  func lostHalf() {
    for lost in [Peer.client, .server] {
      var dialogue = WebSocketDialogue()
      dialogue.open(subprotocol: "mqtt")
      let session = Session.all(.v5_0)
      for turn in session.turns { dialogue.send(turn.sender, [.binary(turn.bytes)]) }
      dialogue.close()
      let place = dialogue.dialogue.segments.firstIndex {
        $0.sender == lost && !$0.payload.isEmpty
      }
      dialogue.dialogue.segments.remove(at: place ?? 0)
      let tap = dialogue.tap()
      #expect(tap.openings.count == 1, "\(lost)")
      for peer in Peer.allCases { #expect(tap.packets(peer) == session.packets(peer), "\(lost)") }
    }
  }

  @Test("23: a head without an end is given up, not kept")
  func endlessHead() {
    for text in ["GET / HTTP/1.1\r\n", "X"] {
      var dialogue = WebSocketDialogue()
      dialogue.send(.client, text)
      for _ in 0..<200 { dialogue.send(.client, String(repeating: "a", count: 1_000)) }
      #expect(dialogue.tap().events.isEmpty)
    }
  }
}

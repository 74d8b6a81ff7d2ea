import RepriseCore
import Testing
import Wire

/// What looks like a frame and need not be one: what stands behind bytes that the capture lost.
@Suite struct WebSocketDoubtPitfallTests {
  private static let refusal = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"

  // MARK: Answers that are not in the capture

  /// A refusal, and the next try on the same connection.
  private static func tries(pieces: Int) -> (first: Range<Int>, dialogue: WebSocketDialogue) {
    var dialogue = WebSocketDialogue(pieces: pieces)
    dialogue.send(.client, WebSocketDialogue.request(target: "/first"))
    let start = dialogue.dialogue.segments.count
    dialogue.send(.server, refusal)
    let end = dialogue.dialogue.segments.count
    dialogue.open()
    dialogue.send(.client, [.text("hello")])
    dialogue.send(.server, [.text("welcome")])
    dialogue.close()
    return (start..<end, dialogue)
  }

  @Test(
    "14, 37: behind a refusal that was not captured comes another request", arguments: [7, 1_460])
  func lostRefusal(_ pieces: Int) {
    for keepsAcknowledgement in [true, false] {
      var (first, dialogue) = Self.tries(pieces: pieces)
      if keepsAcknowledgement { first.removeLast() }
      dialogue.dialogue.segments.removeSubrange(first)
      let tap = dialogue.tap()
      #expect(
        tap.types.filter { $0 != "GAP" }
          == ["OPEN", "UPGRADE", "UPGRADE", "UPGRADED", "TEXT", "TEXT", "CLOSE"])
      #expect(tap.webSocketFaults.isEmpty && tap.malformations.isEmpty)
      #expect(tap.gaps.reduce(0) { $0 + $1.bytes } == Self.refusal.utf8.count)
      #expect(tap.texts(.client) == ["hello"] && tap.texts(.server) == ["welcome"])
    }
  }

  @Test("14, 37: behind a refusal of which the rest was captured comes another request")
  func lostHeadOfRefusal() {
    let (first, dialogue) = Self.tries(pieces: 7)
    for lost in 1..<first.count {
      for start in [first.lowerBound, first.lowerBound + 1] {
        var dialogue = dialogue
        let end = min(start + lost, first.upperBound)
        dialogue.dialogue.segments.removeSubrange(start..<end)
        let tap = dialogue.tap()
        let asked = tap.types.filter { $0 == "UPGRADE" }.count
        #expect(asked == 2, "\(start) \(end): \(tap.lines)")
        #expect(tap.types.contains("UPGRADED"))
        #expect(tap.webSocketFaults.isEmpty)
        #expect(tap.malformations.allSatisfy { $0.code == "not-websocket" })
        #expect(tap.texts(.client) == ["hello"] && tap.texts(.server) == ["welcome"])
        #expect(tap.reserved == 0)
      }
    }
  }

  @Test("21, 37: a client alone that asks twice is read as it is")
  func clientAlone() {
    var (_, dialogue) = Self.tries(pieces: 1_460)
    dialogue.dialogue.segments.removeAll { $0.sender == .server }
    let tap = dialogue.tap()
    #expect(
      tap.types.filter { $0 != "GAP" } == ["OPEN", "UPGRADE", "UPGRADE", "TEXT", "CLOSE"])
    #expect(tap.webSocketFaults.isEmpty && tap.texts(.client) == ["hello"])
  }

  @Test("37: what follows a lost answer and is no request is a frame, with its faults")
  func badFrame() {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request())
    let answer = dialogue.dialogue.segments.count
    dialogue.send(.server, WebSocketDialogue.response())
    dialogue.send(.client, WebSocketFrame.text("GET / HTTP/1.1").encoded())
    dialogue.close()
    dialogue.dialogue.segments.remove(at: answer)
    let tap = dialogue.tap()
    #expect(tap.types == ["OPEN", "UPGRADE", "GAP", "TEXT", "CLOSE"])
    #expect(tap.webSocketFaults == [.unmaskedFromClient])
  }

  @Test("37: an answer is to the last request with its key")
  func laterKey() {
    let other = String(decoding: WebSocketDialogue.request(), as: UTF8.self)
      .replacing("dGhlIHNhbXBsZSBub25jZQ==", with: "AQIDBAUGBwgJCgsMDQ4PEC==")
    for isFirst in [true, false] {
      let own = String(decoding: WebSocketDialogue.request(), as: UTF8.self)
      var dialogue = WebSocketDialogue()
      dialogue.send(.client, isFirst ? own : other)
      dialogue.send(.client, isFirst ? other : own)
      dialogue.send(.server, WebSocketDialogue.response())
      dialogue.send(.server, [.text("welcome")])
      let tap = dialogue.tap()
      #expect(tap.texts(.server) == ["welcome"])
      if isFirst {
        // The server took the first request, and what followed for frames.
        #expect(tap.webSocketFaults.contains(.beforeAnswer))
      } else {
        #expect(
          tap.types == ["OPEN", "UPGRADE", "UPGRADE", "UPGRADED", "TEXT", "CLOSE"])
        #expect(tap.webSocketFaults.isEmpty)
      }
    }
  }

  // MARK: Heads that are cut

  @Test(
    "22, 37: the first bytes of a request and of its answer are no frames", arguments: [4, 6, 7])
  func cutHeads(_ count: Int) {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    let texts = (0..<8).map { _ in String(repeating: "x", count: count - 2) }
    for text in texts { dialogue.send(.server, [.text(text)]) }
    dialogue.close()
    let segments = dialogue.dialogue.segments.map { segment in
      var segment = segment
      guard segment.payload.count > count else { return segment }
      segment.wireLength = segment.payload.count
      segment.payload = Array(segment.payload.prefix(count))
      return segment
    }
    let tap = Tap(segments)
    #expect(tap.webSocketFaults.isEmpty)
    if count == 6 { #expect(tap.texts(.server) == texts) }
  }

  // MARK: Places that are no start of a frame

  /// The faults and texts of a connection whose server sends a message of which the first segment is lost, and then
  /// texts.
  private static func lost(_ message: [UInt8], pieces: Int, subprotocol: String? = nil) -> Tap {
    var dialogue = WebSocketDialogue()
    dialogue.open(subprotocol: subprotocol)
    dialogue.pieces = pieces
    let start = dialogue.dialogue.segments.count
    dialogue.send(.server, [.binary(message)])
    for index in 0..<4 { dialogue.send(.server, [.text("text \(index)")]) }
    dialogue.close()
    dialogue.dialogue.segments.remove(at: start)
    return dialogue.tap()
  }

  @Test("14, 33: zeros behind a loss are no empty frames", arguments: [100, 1_400])
  func zeros(_ pieces: Int) {
    let tap = Self.lost([UInt8](repeating: 0, count: 1_501), pieces: pieces)
    #expect(tap.webSocketFaults.isEmpty && tap.gaps.map(\.bytes) == [pieces])
    #expect(tap.texts(.server) == (0..<4).map { "text \($0)" })
  }

  @Test("14, 33: names with a length before them are no fragments")
  func names() {
    let names = (0..<40).flatMap { number -> [UInt8] in [0, 4] + Array("n\(100 + number)".utf8) }
    let tap = Self.lost(names, pieces: 60)
    #expect(tap.webSocketFaults.isEmpty)
    #expect(tap.texts(.server) == (0..<4).map { "text \($0)" })
  }

  @Test("14, 33: the end of a CONNACK is no text")
  func connack() {
    let tap = Self.lost([0x20, 0x02, 0x01, 0x00], pieces: 4, subprotocol: "mqtt")
    #expect(!tap.frames(.server).contains { $0.payload.isEmpty })
    #expect(tap.packets(.server).isEmpty)
  }

  @Test("14, 33: what a wrong place leads to is nobody's fault, and the next frame is found")
  func wrongPlace() {
    // Two frames inside of a message, the second of which leads to a third that is none.
    let inside =
      WebSocketFrame.binary([1, 2, 3]).encoded() + WebSocketFrame.binary([4, 5]).encoded()
    let message = [UInt8](repeating: 7, count: 98) + inside + [0x8F, 0xFF, 0x01, 0x02]
    var dialogue = WebSocketDialogue()
    dialogue.open()
    dialogue.pieces = 100
    let start = dialogue.dialogue.segments.count
    dialogue.send(.server, [.binary(message)])
    for index in 0..<4 { dialogue.send(.server, [.text("text \(index)")]) }
    dialogue.close()
    dialogue.dialogue.segments.remove(at: start)
    let tap = dialogue.tap()
    #expect(tap.webSocketFaults.isEmpty)
    #expect(tap.texts(.server).suffix(3) == ["text 1", "text 2", "text 3"])
  }

  @Test(
    "14, 36: a reserved opcode at the end is told where frames have shown where they begin",
    arguments: [1, 4])
  func cutHeader(_ count: Int) {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    let start = dialogue.dialogue.segments.count
    dialogue.send(.server, [.text("lost")])
    for index in 0..<count { dialogue.send(.server, [.text("text \(index)")]) }
    dialogue.send(.server, [0x8F])
    dialogue.close()
    dialogue.dialogue.segments.remove(at: start)
    let codes = dialogue.tap().malformations.map(\.code)
    #expect(codes == [count == 1 ? "incomplete-frame" : Malformation.reservedOpcode])
  }

  @Test("14, 36: a fault behind a loss is told once frames have shown where they begin")
  func provenPlace() {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    let start = dialogue.dialogue.segments.count
    dialogue.send(.server, [.text("lost")])
    for index in 0..<4 { dialogue.send(.server, [.text("text \(index)")]) }
    dialogue.send(.server, WebSocketFrame(.text, [0x61], maskingKey: 0x0102_0304).encoded())
    dialogue.close()
    dialogue.dialogue.segments.remove(at: start)
    let tap = dialogue.tap()
    #expect(tap.gaps.count == 1 && tap.webSocketFaults == [.maskedFromServer])
  }
}

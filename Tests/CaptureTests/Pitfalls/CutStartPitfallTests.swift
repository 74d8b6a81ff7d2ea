import RepriseCore
import Testing
import Wire

/// A connection whose first packet or request is cut is told, or named in a note with its remedy.
@Suite struct CutStartPitfallTests {
  /// The segments of a connection, of whose payloads no more than some bytes were captured.
  private static func cut(_ segments: [Segment], to count: Int) -> [Segment] {
    segments.map { segment in
      var segment = segment
      if segment.payload.count > count {
        segment.wireLength = segment.payload.count
        segment.payload = Array(segment.payload.prefix(count))
      }
      return segment
    }
  }

  private static func webSocket(_ response: [UInt8]? = nil) -> Dialogue {
    var dialogue = WebSocketDialogue()
    dialogue.send(.client, WebSocketDialogue.request())
    dialogue.send(.server, response ?? WebSocketDialogue.response())
    dialogue.send(.client, [.text("hello")])
    dialogue.close()
    return dialogue.dialogue
  }

  /// What is said of connections, without what is said of frames.
  private static func notes(_ segments: [Segment]) throws -> [String] {
    try Readout(segments).notes.filter { $0.contains("connection") }
  }

  private static func note(_ what: String, port: Int) -> String {
    "1 connection of port \(port) can't be read: what may be \(what) is cut by the capture's "
      + "snapshot length; take it with -s 0 (first in frame 1)"
  }

  @Test("A request for WebSocket that is cut is named", arguments: [6, 14, 16, 30, 70])
  func request(_ count: Int) throws {
    let readout = try Readout(Self.cut(Self.webSocket().segments, to: count))
    #expect(readout.events.isEmpty)
    #expect(
      readout.notes.filter { $0.contains("connection") }
        == [Self.note("a request for WebSocket", port: 9_001)])
    #expect(readout.notes.allSatisfy { !$0.contains("--decode") })
  }

  @Test("A request that is cut is a GAP before its whole answer")
  func answered() throws {
    var segments = Self.webSocket().segments
    let request = try #require(segments.firstIndex { !$0.payload.isEmpty })
    let size = segments[request].payload.count
    segments.replaceSubrange(request...request, with: Self.cut([segments[request]], to: 40))
    let readout = try Readout(segments)
    #expect(readout.types == ["OPEN", "GAP", "UPGRADED", "TEXT", "CLOSE"])
    #expect(readout.events[1].context.frame == request + 1)
    #expect(readout.events[1].context.sender == .client)
    #expect(readout.events[1].body == .gap(.init(bytes: size - 40, reason: .snaplen)))
    #expect(try Self.notes(segments).isEmpty)
  }

  @Test("What was asked for another thing is not named")
  func plain() throws {
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8)
    let segments = Self.webSocket(answer).segments
    #expect(try Self.notes(Self.cut(segments, to: answer.count)).isEmpty)
    #expect(try Self.notes(segments).isEmpty)
  }

  @Test("What may be a CONNECT is named", arguments: [1, 2, 4, 7])
  func connect(_ count: Int) throws {
    var dialogue = Dialogue(serverPort: 4_000)
    dialogue.open()
    dialogue.send(.client, Session.all(.v3_1_1).turns[0].bytes)
    dialogue.close()
    let expected = count == 1 ? [] : [Self.note("a CONNECT of MQTT", port: 4_000)]
    #expect(try Self.notes(Self.cut(dialogue.segments, to: count)) == expected)
    // Another protocol that begins with other bytes is not.
    var other = Dialogue(serverPort: 4_000)
    other.open()
    other.send(.client, [0x10, 0x20, 7, 7, 7, 7, 7, 7, 7, 7])
    other.close()
    if count > 2 { #expect(try Self.notes(Self.cut(other.segments, to: count)).isEmpty) }
  }
}

import RepriseCore
import Testing
import Wire

@testable import Capture

/// Notes speak of what the reader of a session can see, and of nothing else.
@Suite struct NotePitfallTests {
  /// A session without the segment that holds its sixth turn, which the receiver acknowledges.
  private static func lossy(_ bytes: (Peer, [UInt8]) -> [UInt8]) -> [Segment] {
    var session = Session.all(.v3_1_1)
    let missing = bytes(session.turns[6].sender, session.turns[6].bytes)
    session.turns = session.turns.map { ($0.sender, bytes($0.sender, $0.bytes)) }
    return session.dialogue().segments.filter { $0.payload != missing }
  }

  @Test("14: missing bytes are noted where a GAP shows them")
  func gapIsNoted() throws {
    let missing = Session.all(.v3_1_1).turns[6].bytes.count
    let readout = try Readout(Self.lossy { $1 })
    #expect(readout.types.count { $0 == "GAP" } == 1)
    #expect(
      readout.notes == ["\(missing) bytes of TCP streams are missing from the capture, see GAP"])
  }

  @Test("14: bytes that headers claim are summed up to what a number holds")
  func hugeGaps() throws {
    var segments: [Segment] = []
    for (port, sum) in [(40_000, 1 << 62 - 2), (40_001, .max - 3), (40_002, .max)]
      as [(UInt16, Int)]
    {
      var dialogue = WebSocketDialogue()
      dialogue.dialogue = Dialogue(serverPort: 80)
      dialogue.dialogue.clientPort = port
      dialogue.dialogue.open()
      dialogue.open()
      dialogue.send(.server, [0x82, 127, 0x40, 0, 0, 0, 0, 0, 0, 0, 1, 2])
      segments += dialogue.dialogue.segments
      let notes = try Readout(segments).notes
      #expect(notes == ["\(sum) bytes of TCP streams are missing from the capture, see GAP"])
    }
  }

  @Test("14: missing bytes of what is not decoded are no reason to look for a GAP")
  func noGapIsNoted() throws {
    let readout = try Readout(Self.lossy { _, bytes in bytes.map { $0 ^ 0x55 } })
    #expect(readout.events.isEmpty)
    #expect(readout.notes.count == 1)
    #expect(readout.notes.first?.hasPrefix("no MQTT or WebSocket was found in") == true)
  }

  @Test("20: a reset behind its place is noted as what it is")
  func lateReset() throws {
    var segments = Session.all(.v3_1_1).dialogue().segments
    let sent = segments[10].sequence
    segments.insert(
      Segment(sender: segments[10].sender, sequence: sent &- 15, flags: .reset), at: 11)
    let readout = try Readout(segments)
    #expect(readout.types.last == "CLOSE")
    #expect(
      readout.notes == [
        "1 FINs or resets lie outside their receiver's window and end no connection"
      ])
  }
}

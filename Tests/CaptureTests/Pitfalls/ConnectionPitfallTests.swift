import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfalls 15, 16, 18 and 20: retransmissions, and where connections begin and end.
@Suite struct ConnectionPitfallTests {
  private static let session = Session.all(.v3_1_1)

  /// Puts a segment behind every place of a dialogue that a closure wants.
  private static func inserting(
    into dialogue: Dialogue, _ make: (_ before: [Segment]) -> Segment?
  ) -> [Segment] {
    var result: [Segment] = []
    for segment in dialogue.segments {
      result.append(segment)
      if let more = make(result) { result.append(more) }
    }
    return result
  }

  // MARK: Retransmissions

  @Test("15: of overlapping segments with other content the first wins")
  func firstWins() {
    let segments = Self.inserting(into: Self.session.dialogue(pieces: 200)) { before in
      guard var again = before.last, !again.payload.isEmpty else { return nil }
      again.payload = again.payload.map { ~$0 }
      return again
    }
    Tap(segments).expectWhole(Self.session)
  }

  @Test("15: the first wins among segments that wait behind a hole, too")
  func firstWinsBehindAHole() {
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Self.session.turns.prefix(4) { dialogue.send(turn.sender, turn.bytes) }
    let start = dialogue.next[.client] ?? 0
    func piece(_ from: Int, _ bytes: [UInt8]) -> Segment {
      Segment(
        sender: .client, sequence: start &+ UInt32(from), acknowledgment: nil, flags: .push,
        payload: bytes)
    }
    let publish: [UInt8] = [0x30, 13, 0, 1, 0x74, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    // The end, something that overlaps it on both sides, and the missing start at last.
    dialogue.segments += [
      piece(8, Array(publish[8..<12])), piece(5, [1, 2, 3, 99, 99, 99, 99, 8, 9, 10]),
      piece(0, Array(publish[..<5]) + [77, 77, 77]),
    ]
    let tap = Tap(dialogue)
    #expect(tap.packets(.client).last?.bytes == publish)
    #expect(tap.gaps.isEmpty)
  }

  @Test("15: retransmissions in a real capture", .capturesOfOthers)
  func duplicatesForReal() throws {
    let path = SharedCaptures.path("made-here/g17c_duplicated_segments.pcap")
    let twice = try EventList.events(of: path).events
    let once = try EventList.events(of: SharedCaptures.path("made-here/g17_src.pcap")).events
    #expect(twice.count == once.count)
    #expect(Set(twice.map(\.body)).isSuperset(of: once.map(\.body).filter(Self.isPacket)))
  }

  private static func isPacket(_ body: Event.Body) -> Bool {
    if case .mqtt = body { true } else { false }
  }

  @Test(
    "16: keep-alive probes with and without a byte of garbage",
    arguments: [[], [0xAA]] as [[UInt8]])
  func probes(_ garbage: [UInt8]) {
    for start: UInt32 in [1_000, .max &- 300] {
      let dialogue = Self.session.dialogue(pieces: 100, client: start, server: start)
      let segments = Self.inserting(into: dialogue) { before in
        guard let last = before.last, before.count > 3, last.flags.isDisjoint(with: [.fin, .syn])
        else { return nil }
        return Segment(
          sender: last.sender, sequence: last.end &- 1, acknowledgment: last.acknowledgment,
          flags: [], payload: garbage)
      }
      Tap(segments).expectWhole(Self.session)
    }
  }

  @Test("16: a probe in front of the first captured byte of a stream that began earlier")
  func probeBeforeTheStart() {
    var dialogue = Self.session.dialogue()
    dialogue.segments.removeFirst(3)
    let first = dialogue.segments[0]
    dialogue.segments.insert(
      Segment(
        sender: .client, sequence: first.sequence &- 1, acknowledgment: first.acknowledgment,
        flags: [], payload: [0]), at: 0)
    let tap = Tap(dialogue)
    #expect(tap.packets(.server) == Self.session.packets(.server))
    #expect(tap.packets(.client) == Self.session.packets(.client))
  }

  // MARK: Beginnings

  @Test("18: a SYN that carries the CONNECT")
  func synWithData() {
    var dialogue = Dialogue()
    dialogue.add(.client, .syn, Self.session.turns[0].bytes, acknowledges: false)
    dialogue.add(.server, .syn)
    dialogue.add(.client, [])
    for turn in Self.session.turns.dropFirst() { dialogue.send(turn.sender, turn.bytes) }
    dialogue.close()
    Tap(dialogue).expectWhole(Self.session)
    // The answer once more, as a capture of several interfaces has it.
    dialogue.segments.insert(dialogue.segments[1], at: 2)
    Tap(dialogue).expectWhole(Self.session)
  }

  @Test("18: data of a SYN that the server did not take comes again")
  func synWithRefusedData() {
    var dialogue = Dialogue()
    let connect = Self.session.turns[0].bytes
    dialogue.add(.client, .syn, connect, acknowledges: false)
    dialogue.next[.client] = 1_001
    dialogue.add(.server, .syn)
    for turn in Self.session.turns { dialogue.send(turn.sender, turn.bytes) }
    dialogue.close()
    Tap(dialogue).expectWhole(Self.session)
  }

  /// The first bytes of a server and its SYN/ACK are lost, and what it sent next stands before the CONNECT in the file, as
  /// where each direction was captured by itself.
  @Test(
    "18: what the client's first packet acknowledges tells that bytes of the server are missing before those that came",
    arguments: [(0, true), (0, false), (1, true), (2, true)])
  func startOfServerIsLost(earlier: Int, hasSYN: Bool) {
    var dialogue = Dialogue()
    dialogue.open()
    dialogue.send(
      .client, [0x10, 14, 0, 4] + Array("MQTT".utf8) + [4, 2, 0, 60, 0, 2, 0x63, 0x31])
    let connect = dialogue.segments[3]
    dialogue.send(.server, [0x20, 2, 0, 0], acknowledged: false)
    dialogue.send(.client, [0x82, 6, 0, 1, 0, 1, 0x61, 0], acknowledged: false)
    dialogue.send(.server, [0x90, 3, 0, 1, 0], acknowledged: false)
    let (subscribe, suback) = (dialogue.segments[6], dialogue.segments[7])
    var segments = hasSYN ? [dialogue.segments[0]] : []
    segments +=
      [
        [suback, connect, subscribe], [connect, suback, subscribe], [suback, subscribe, connect],
      ][earlier]
    dialogue.add(.client, [])
    let tap = Tap(segments + dialogue.segments.suffix(1))
    #expect(tap.gaps.map(\.bytes) == [4])
    #expect(
      tap.packets(.client) == [connect, subscribe].flatMap { [$0.payload] }.flatMap(Self.packets))
    #expect(tap.packets(.server) == Self.packets(suback.payload))
    let types = tap.types.filter { $0 != "OPEN" && $0 != "CLOSE" }
    #expect(Set(types) == ["CONNECT", "SUBSCRIBE", "SUBACK", "GAP"] && types.count == 4)
    #expect((types.firstIndex(of: "GAP") ?? 9) < (types.firstIndex(of: "SUBACK") ?? 0))
  }

  private static func packets(_ bytes: [UInt8]) -> [PacketBytes] { [PacketBytes(bytes)] }

  // MARK: Ends

  @Test("20: a reset ends the connection, and its text is not data")
  func reset() {
    var dialogue = Self.session.dialogue()
    dialogue.segments.removeLast(3)
    dialogue.next[.client] = dialogue.segments.last { $0.sender == .client }?.end
    dialogue.add(.client, .reset, Array("go away".utf8))
    let tap = Tap(dialogue)
    tap.expectWhole(Self.session)
    #expect(tap.closings == [.reset])
  }

  @Test(
    "20: a reset outside the window is not believed",
    arguments: [-2, -5_000, 10_000_000, 0x7FFF_FFFF, -0x8000_0000])
  func injectedReset(_ distance: Int) {
    var dialogue = Self.session.dialogue()
    let middle = dialogue.segments.count / 2
    let sent = dialogue.segments[..<middle].last { $0.sender == .client }?.end ?? 0
    dialogue.segments.insert(
      Segment(
        sender: .client, sequence: sent &+ UInt32(truncatingIfNeeded: distance),
        acknowledgment: nil, flags: .reset), at: middle)
    let tap = Tap(dialogue)
    tap.expectWhole(Self.session)
    #expect(tap.closings == [.fin])
    // Only what is farther than any window is far.
    #expect(tap.statistics.strayedSegments == (abs(distance) > 5_000 ? 1 : 0))
    #expect(tap.statistics.disbelievedEnds == (abs(distance) > 5_000 ? 0 : 1))
  }

  @Test(
    "20: a reset behind bytes on their way is believed where its receiver's window begins",
    arguments: [(15, true), (14, false), (16, false), (0, true)])
  func resetBehindBytesOnTheirWay(_ distance: UInt32, _ isBelieved: Bool) {
    var dialogue = Self.session.dialogue()
    dialogue.segments.removeLast(3)
    for peer in Peer.allCases {
      dialogue.next[peer] = dialogue.segments.last { $0.sender == peer }?.end
    }
    let publish: [UInt8] = [0x30, 13, 0, 1, 0x74, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    dialogue.send(.client, publish, acknowledged: false)
    dialogue.next[.client]? -= distance
    // The number is that of an acknowledgement that crossed the bytes (RFC 9293 section 3.10.7.1).
    dialogue.add(.client, .reset, acknowledges: false)
    let tap = Tap(dialogue)
    #expect(tap.packets(.client) == Self.session.packets(.client) + [PacketBytes(publish)])
    #expect(tap.closings == [isBelieved ? .reset : .endOfCapture])
    #expect(tap.statistics.strayedSegments == 0)
    #expect(tap.statistics.disbelievedEnds == (isBelieved ? 0 : 1))
  }

  @Test("20: one side closes, the other goes on")
  func halfClosed() {
    var dialogue = Self.session.dialogue()
    dialogue.segments.removeLast(3)
    dialogue.next = [.client: 0, .server: 0]
    for peer in Peer.allCases {
      dialogue.next[peer] = dialogue.segments.last { $0.sender == peer && !$0.payload.isEmpty }?.end
    }
    dialogue.add(.client, .fin)
    dialogue.send(.server, [0xD0, 0])
    dialogue.add(.server, .fin)
    let tap = Tap(dialogue)
    #expect(tap.packets(.server) == Self.session.packets(.server) + [PacketBytes([0xD0, 0])])
    #expect(tap.closings == [.fin] && tap.gaps.isEmpty)
  }

  @Test("20: whether the other side closes as well is told", arguments: ["fin", "reset", ""])
  func answeredEnd(_ answer: String) {
    var dialogue = Self.session.dialogue()
    dialogue.segments.removeLast(3)
    for peer in Peer.allCases {
      dialogue.next[peer] = dialogue.segments.last { $0.sender == peer && !$0.payload.isEmpty }?.end
    }
    dialogue.add(.server, .fin)
    if answer == "fin" { dialogue.add(.client, .fin) }
    if answer == "reset" { dialogue.add(.client, .reset) }
    let closings = Tap(dialogue).events.compactMap { event in
      if case .closed(let closing) = event.body { closing } else { nil }
    }
    #expect(closings.map(\.how) == [.fin])
    // A host that has forgotten the connection resets it.
    #expect(closings.map(\.isAnswered) == [answer == "fin"])
  }

  @Test(
    "20: which side ended it is not known where a reset follows a FIN that was not captured",
    arguments: [("captured", true), ("lost", true), ("lost", false), ("none", true)])
  func resetBehindFIN(_ fin: String, _ isAcknowledging: Bool) {
    var dialogue = Self.session.dialogue()
    dialogue.segments.removeLast(3)
    for peer in Peer.allCases {
      dialogue.next[peer] = dialogue.segments.last { $0.sender == peer && !$0.payload.isEmpty }?.end
    }
    if fin != "none" { dialogue.add(.server, .fin) }
    if fin == "lost" { dialogue.segments.removeLast() }
    dialogue.add(.client, [])
    dialogue.add(.client, .reset, acknowledges: isAcknowledging)
    let tap = Tap(dialogue)
    #expect(tap.closings == [fin == "captured" ? .fin : .reset] && tap.gaps == [])
    #expect(tap.events.last?.context.isOrderUncertain == (fin == "lost"))
    #expect(tap.events.dropLast().allSatisfy { !$0.context.isOrderUncertain })
  }

  @Test("20: a refused SYN leaves nothing behind")
  func closedPort() {
    var segments: [Segment] = []
    for port in UInt16(1)...5_000 {
      segments.append(
        Segment(sender: .client, sequence: 7, flags: .syn, clientPort: port))
      segments.append(
        Segment(
          sender: .server, sequence: 0, acknowledgment: 8, flags: .reset, clientPort: port))
    }
    var limits = TCPLimits()
    limits.flows = 100
    let tap = Tap(segments, limits: limits)
    #expect(tap.events.isEmpty && tap.statistics.evictedFlows == 0)
  }
}

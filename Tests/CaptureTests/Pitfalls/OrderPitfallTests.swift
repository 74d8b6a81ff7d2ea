import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfalls 12 and 13, and that the cutting of a session into segments never shows.
@Suite struct OrderPitfallTests {
  private static func expectWhole(
    _ tap: Tap, _ session: Session, _ comment: Comment, closing: ConnectionClosing.How = .fin
  ) {
    tap.expectWhole(session, comment)
    #expect(tap.closings == [closing], comment)
  }

  @Test("5: times that go backwards, stand still or jump order nothing")
  func times() {
    let session = Session.all(.v3_1_1)
    let segments = session.dialogue(pieces: 90).segments
    for time in [{ -$0 }, { _ in 0 }, { $0 % 3 * 1_000_000_000 }] as [(Int) -> Int] {
      Self.expectWhole(Tap(segments, time: time), session, "")
    }
  }

  @Test("8: each segment several times, as a capture of all interfaces has it", arguments: 2...4)
  func copies(_ count: Int) {
    let session = Session.all(.v3_1_1)
    let segments = session.dialogue(pieces: 333).segments
    let tap = Tap(segments.flatMap { Array(repeating: $0, count: count) })
    Self.expectWhole(tap, session, "\(count) copies")
    #expect(tap.openings.count == 1)
  }

  @Test("12: sequence numbers wrap at every byte of a session", arguments: MQTTVersion.allCases)
  func wraps(_ version: MQTTVersion) {
    let session = Session.all(version)
    let length = session.turns.reduce(0) { $0 + $1.bytes.count }
    let places = Array(0..<200) + Array(stride(from: 200, to: length + 3, by: 97))
    for place in places {
      let start = UInt32.max &- UInt32(place)
      let tap = Tap(session.dialogue(client: start, server: start &+ 50))
      Self.expectWhole(tap, session, "wrap after \(place)")
    }
  }

  @Test(
    "12: a wrap in a real capture", .capturesOfOthers,
    arguments: ["made-here/g17h_seq_wraparound.pcap"])
  func wrapsForReal(_ name: String) throws {
    let wrapped = try EventList.events(of: SharedCaptures.path(name))
    let plain = try EventList.events(of: SharedCaptures.path("made-here/g17_src.pcap"))
    #expect(wrapped.events.map(\.body) == plain.events.map(\.body))
    #expect(plain.events.count > 20)
  }

  @Test("13: segments of every size are the same session", arguments: [1, 2, 3, 7, 100, 4_096])
  func sizes(_ size: Int) {
    for version in MQTTVersion.allCases {
      let session = Session.all(version)
      Self.expectWhole(Tap(session.dialogue(pieces: size)), session, "\(version)")
    }
  }

  @Test("13: segments that change places within a window", arguments: [UInt64](1...30))
  func reorders(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let session = Session.all(seed % 2 == 0 ? .v5_0 : .v3_1_1)
    var segments = session.dialogue(pieces: random.int(3...900)).segments
    // The handshake stays: who opened is told by the SYN.
    for start in stride(from: 3, to: segments.count - 4, by: 4) where random.int(0...1) == 0 {
      let window = segments[start..<start + 4]
      // Only what one peer sent: an acknowledgement in front of its data would prove a loss.
      if Set(window.map(\.sender)).count == 1 {
        segments.replaceSubrange(start..<start + 4, with: window.shuffled(using: &random))
      }
    }
    Self.expectWhole(Tap(segments), session, "seed \(seed)")
  }

  @Test("13: a segment right behind its own acknowledgement is not lost")
  func acknowledgedFirst() {
    let session = Session.all(.v3_1_1)
    let segments = session.dialogue(pieces: 1_000).segments
    var changed = 0
    for index in 3..<(segments.count - 2)
    where segments[index].sender == segments[index + 1].sender
      && segments[index + 1].sender != segments[index + 2].sender
      && !segments[index].payload.isEmpty && segments[index + 2].payload.isEmpty
    {
      var moved = segments
      moved.swapAt(index, index + 1)
      moved.swapAt(index + 1, index + 2)
      Self.expectWhole(Tap(moved), session, "segment \(index)")
      changed += 1
    }
    #expect(changed >= 2)
  }

  @Test("13: a FIN that comes early does not close the stream")
  func earlyFIN() {
    let session = Session.all(.v3_1_1)
    var segments = session.dialogue(pieces: 50).segments
    let index = segments.firstIndex { $0.flags.contains(.fin) && $0.sender == .client } ?? 0
    let fin = segments.remove(at: index)
    segments.insert(fin, at: index - 2)
    Self.expectWhole(Tap(segments), session, "FIN before the last data")
  }

  @Test("13: every segment twice, and again much later", arguments: [1, 8])
  func duplicates(_ distance: Int) {
    let session = Session.all(.v5_0)
    var segments: [Segment] = []
    let once = session.dialogue(pieces: 333).segments
    for (index, segment) in once.enumerated() {
      segments.append(segment)
      let earlier = index - distance + 1
      // What comes behind the end of the connection belongs to nothing.
      if earlier >= 0, index < once.count - 1 { segments.append(once[earlier]) }
    }
    Self.expectWhole(Tap(segments), session, "distance \(distance)")
  }

  @Test("13: retransmissions that overlap in every way", arguments: [UInt64](1...20))
  func overlaps(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let session = Session.all(seed % 2 == 0 ? .v5_0 : .v3_1_1)
    var dialogue = Dialogue()
    dialogue.open()
    for turn in session.turns {
      let start = dialogue.next[turn.sender] ?? 0
      dialogue.send(turn.sender, turn.bytes, pieces: random.int(1...600), acknowledged: false)
      guard let last = dialogue.segments.popLast() else { continue }
      for _ in 0..<3 {
        let from = random.int(0...turn.bytes.count - 1)
        let to = random.int(from...turn.bytes.count)
        dialogue.segments.append(
          Segment(
            sender: turn.sender, sequence: start &+ UInt32(from), acknowledgment: nil, flags: .push,
            payload: Array(turn.bytes[from..<to])))
      }
      dialogue.segments.append(last)
      dialogue.add(turn.sender.other, [])
    }
    dialogue.close()
    Self.expectWhole(Tap(dialogue), session, "seed \(seed)")
  }

  @Test("13: reordering in a real capture", .capturesOfOthers)
  func reordersForReal() throws {
    let path = SharedCaptures.path("made-here/g17d_reordered_packets.pcap")
    let reordered = try EventList.events(of: path).events
    let plain = try EventList.events(of: SharedCaptures.path("made-here/g17_src.pcap")).events
    for peer in Peer.allCases {
      #expect(
        reordered.filter { $0.context.sender == peer }.map(\.body).filter(Self.isPacket)
          == plain.filter { $0.context.sender == peer }.map(\.body).filter(Self.isPacket))
    }
    #expect(!reordered.contains { if case .gap = $0.body { true } else { false } })
  }

  private static func isPacket(_ body: Event.Body) -> Bool {
    if case .mqtt = body { true } else { false }
  }
}

import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfall 14: bytes that the capture lost are told, and cost no more than they must.
@Suite struct LossPitfallTests {
  /// Whether every packet handed out was sent: whole, or as its own first bytes.
  private static func areTrue(_ packets: [PacketBytes], of sent: [PacketBytes]) -> Bool {
    var rest = sent[...]
    for packet in packets {
      let index = rest.firstIndex { original in
        original.size == packet.size && original.bytes.starts(with: packet.bytes)
      }
      guard let index else { return false }
      rest = rest[(index + 1)...]
    }
    return true
  }

  @Test(
    "14: the loss of any one segment is told, and every other packet is there",
    arguments: MQTTVersion.allCases, [1_883, 17_501] as [UInt16])
  func anySegment(_ version: MQTTVersion, _ port: UInt16) {
    let session = Session.all(version)
    let segments = session.dialogue(port: port).segments
    for index in segments.indices where !segments[index].payload.isEmpty {
      var cut = segments
      let lost = cut.remove(at: index)
      let tap = Tap(cut)
      let comment: Comment = "\(version) without segment \(index)"
      #expect(tap.gaps.reduce(0) { $0 + $1.bytes } == lost.payload.count, comment)
      #expect(tap.gaps.allSatisfy { $0.reason == .acknowledged }, comment)
      // Whatever was in other segments is there, whole.
      let touched = Self.touched(session, segments, index)
      for peer in Peer.allCases {
        let whole = tap.packets(peer).filter { $0.bytes.count == $0.size }
        var expected = session.packets(peer)
        if peer == lost.sender, let touched { expected.remove(at: touched) }
        #expect(whole == expected, comment)
        #expect(Self.areTrue(tap.packets(peer), of: session.packets(peer)), comment)
      }
    }
  }

  /// A segment from inside of a PUBLISH happens to be one whole PUBLISH of 5.0, and the next one begins as no packet can.
  @Test(
    "14: what looks like one packet behind a loss is none where no packet follows it",
    arguments: [true, false])
  func luckyPacket(_ isLucky: Bool) throws {
    var session = Session()
    session.say(.client, .connect(.init(clientID: "c", keepAlive: 0)), .v5_0)
    session.say(.server, .connack(.init()), .v5_0)
    var dialogue = Dialogue()
    dialogue.open()
    for turn in session.turns { dialogue.send(turn.sender, turn.bytes) }
    let lost = dialogue.segments.count
    for bytes: [UInt8] in [
      [0x31, 0x40, 0x00, 0x01], [0x33, 9, 0, 3, 0x31, 0x35, 0x39, 2, 0, 0, 2],
      isLucky ? [0x58, 0x64, 0x65, 0x76, 0x33] : [0x30, 4, 0, 1, 0x61, 0],
      [0x30, 5, 0, 1, 0x62, 0, 0x31],
    ] { dialogue.send(.server, bytes) }
    dialogue.segments.remove(at: lost)
    let readout = try Readout(dialogue.segments)
    let topics = readout.events.compactMap { event -> String? in
      guard case .publish(let publish) = event.packet?.content else { return nil }
      return publish.topic
    }
    #expect(topics == (isLucky ? ["159", "b"] : ["159", "a", "b"]))
    #expect(readout.types.filter { $0 == "MALFORMED" }.count == (isLucky ? 1 : 0))
    #expect(!readout.types.contains("PUBREC"))
  }

  @Test("14: a server whose SYN and first packet are lost is known to have sent more")
  func startOfServer() {
    let segments = Session.all(.v3_1_1).dialogue().segments
    let first = segments.firstIndex { $0.sender == .server && !$0.payload.isEmpty }
    var cut = segments
    cut.removeAll { $0.sender == .server && $0.flags.contains(.syn) }
    cut.removeAll { $0.sender == .server && $0.payload == segments[first ?? 0].payload }
    #expect(Tap(cut).gaps.first?.bytes == segments[first ?? 0].payload.count)
  }

  /// The index among its sender's packets of the one whose bytes a segment carries.
  private static func touched(_ session: Session, _ segments: [Segment], _ index: Int) -> Int? {
    let sender = segments[index].sender
    let before = segments[..<index].filter { $0.sender == sender }
      .reduce(0) { $0 + $1.payload.count }
    var end = 0
    for (number, packet) in session.packets(sender).enumerated() {
      end += packet.size
      if before < end { return number }
    }
    return nil
  }

  @Test(
    "14: the loss of any small piece is told, and nothing false comes of it", arguments: [3, 7, 50])
  func anyPiece(_ size: Int) {
    for version in [MQTTVersion.v3_1_1, .v5_0] {
      var session = Session.all(version)
      session.turns.removeAll { $0.bytes.count > 2_000 }
      let segments = session.dialogue(pieces: size).segments
      for index in segments.indices where !segments[index].payload.isEmpty {
        var cut = segments
        let lost = cut.remove(at: index)
        let tap = Tap(cut)
        let comment: Comment = "\(version) in pieces of \(size) without segment \(index)"
        #expect(tap.gaps.reduce(0) { $0 + $1.bytes } == lost.payload.count, comment)
        for peer in Peer.allCases {
          #expect(Self.areTrue(tap.packets(peer), of: session.packets(peer)), comment)
          if peer != lost.sender {
            #expect(tap.packets(peer) == session.packets(peer), comment)
          }
        }
      }
    }
  }

  @Test("14: two losses in one packet are two gaps, and the packet says how much is missing")
  func twoLosses() throws {
    let session = Session.all(.v3_1_1)
    var segments = session.dialogue(pieces: 500).segments
    // The large PUBLISH of the client lies in nine segments.
    let first = try #require(segments.firstIndex { $0.payload.starts(with: [0x34]) })
    segments.remove(at: first + 4)
    segments.remove(at: first + 2)
    let tap = Tap(segments)
    #expect(tap.gaps.map(\.bytes) == [500, 500])
    let cut = tap.packets(.client).filter { $0.bytes.count < $0.size }
    #expect(cut.map(\.bytes.count) == [1_000])
    #expect(tap.packets(.client).count == session.packets(.client).count)
  }

  @Test("14: a loss at the very start leaves the rest")
  func leadingLoss() {
    let session = Session.all(.v5_0)
    var segments = session.dialogue().segments
    segments.removeAll { $0.sender == .client && $0.sequence == 1_001 && !$0.flags.contains(.syn) }
    let tap = Tap(segments)
    #expect(tap.packets(.client) == Array(session.packets(.client).dropFirst()))
    #expect(tap.gaps.count == 1)
    #expect(tap.openings.map(\.isFromStart) == [true])
    #expect(tap.openings.first?.evidence != nil)
  }

  @Test("14: bytes at the end that were acknowledged and not captured are told")
  func trailingLoss() {
    let session = Session.all(.v3_1_1)
    var segments = session.dialogue().segments
    let index = segments.lastIndex { !$0.payload.isEmpty } ?? 0
    let lost = segments.remove(at: index)
    let tap = Tap(segments)
    #expect(tap.gaps.map(\.bytes) == [lost.payload.count])
    #expect(tap.closings == [.fin])
  }

  @Test(
    "14: a FIN that was acknowledged and not captured is no lost byte", arguments: Peer.allCases)
  func lostFIN(_ peer: Peer) {
    let session = Session.all(.v5_0)
    var segments = session.dialogue().segments
    segments.removeAll { $0.flags.contains(.fin) && $0.sender == peer }
    let tap = Tap(segments)
    #expect(tap.gaps.isEmpty && tap.malformations.isEmpty)
    #expect(tap.closings == [.fin])
    #expect(tap.packets(peer) == session.packets(peer))
  }

  @Test("14: a stream that ends inside a packet says so", arguments: 1...6)
  func endsInsideAPacket(_ count: Int) {
    let publish: [UInt8] = [0x30, 0x05, 0, 1, 0x74, 1, 2]
    for isClosed in [true, false] {
      var dialogue = Dialogue()
      dialogue.open()
      for turn in Session.all(.v3_1_1).turns.prefix(4) { dialogue.send(turn.sender, turn.bytes) }
      dialogue.send(.client, Array(publish.prefix(count)))
      if isClosed { dialogue.close() }
      let tap = Tap(dialogue)
      #expect(tap.malformations.map(\.code) == (isClosed ? ["incomplete-packet"] : []))
      #expect(tap.gaps.count == (isClosed ? 0 : 1))
      if count >= 2, !isClosed {
        #expect(tap.gaps == [Gap(bytes: 7 - count, reason: .unfilled)])
      }
    }
  }

  @Test("14: bytes that were told as lost are not told again at the end")
  func lossAndEnd() {
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Session.all(.v3_1_1).turns.prefix(4) { dialogue.send(turn.sender, turn.bytes) }
    let publish: [UInt8] = [0x30, 0x64, 0, 1, 0x74] + [UInt8](repeating: 9, count: 97)
    dialogue.send(.client, Array(publish[..<10]))
    dialogue.send(.client, Array(publish[10..<40]))
    dialogue.segments.removeLast(2)
    dialogue.send(.client, Array(publish[40..<60]))
    let tap = Tap(dialogue)
    #expect(tap.gaps.map(\.bytes) == [30, 42])
  }

  @Test("14: what begins like a packet behind a loss is believed when it ends like one")
  func falseBeginning() {
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Session.all(.v3_1_1).turns.prefix(4) { dialogue.send(turn.sender, turn.bytes) }
    // The start of a large PUBLISH is lost; each segment of its payload could begin another.
    dialogue.next[.client] = (dialogue.next[.client] ?? 0) &+ 1_000
    let piece: [UInt8] = [0x30, 0xFF, 0xFF, 0x03] + [UInt8](repeating: 0x61, count: 996)
    for _ in 0..<5 { dialogue.send(.client, piece, acknowledged: false) }
    let next: [UInt8] = [0x30, 4, 0, 1, 0x74, 1]
    dialogue.send(.client, next)
    dialogue.send(.client, [0xC0, 0])
    dialogue.send(.client, [0x30, 9])
    dialogue.close()
    let tap = Tap(dialogue)
    #expect(tap.packets(.client).dropFirst(2).map(\.bytes) == [next, [0xC0, 0]])
    #expect(tap.gaps.map(\.bytes) == [1_000])
    #expect(tap.malformations.map(\.code) == ["not-mqtt", "incomplete-packet"])
    // Places count from the stream's first byte, whatever was lost of it.
    let start = tap.packets(.client).prefix(2).reduce(0) { $0 + $1.size }
    #expect(tap.malformations.map(\.offset) == [start + 1_000, start + 6_000 + next.count + 2])
  }

  @Test("14: what is found behind a loss and breaks off is searched again, not believed")
  func brokenFind() {
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Session.all(.v3_1_1).turns.prefix(4) { dialogue.send(turn.sender, turn.bytes) }
    dialogue.next[.client] = (dialogue.next[.client] ?? 0) &+ 9
    // Pings inside a segment, a length that does not end, and then nothing that is a packet.
    let pings = [0x0F] + Array([[UInt8]](repeating: [0xC0, 0], count: 16).joined())
    dialogue.send(.client, pings + [0x30, 0xFF, 0xFF, 0xFF, 0xFF], acknowledged: false)
    for _ in 0..<1_100 { dialogue.send(.client, [0x01, 0x00, 0x01, 0x00], acknowledged: false) }
    let tap = Tap(dialogue)
    #expect(tap.packets(.client).dropFirst(2).allSatisfy { $0.bytes == [0xC0, 0] })
    #expect(tap.malformations.count <= 5)
  }

  @Test(
    "14: losses in real captures", .capturesOfOthers,
    arguments: [
      ("made-here/g17a_drop_one_segment.pcap", "made-here/g17_src.pcap"),
      ("made-here/g17b_drop_large_publish.pcap", "made-here/g17_src.pcap"),
    ])
  func real(_ name: String, _ source: String) throws {
    func packets(_ name: String, _ peer: Peer) throws -> [PacketBytes] {
      try EventList.events(of: SharedCaptures.path(name)).events.compactMap { event in
        guard case .mqtt(let packet) = event.body, event.context.sender == peer else { return nil }
        return packet
      }
    }
    let events = try EventList.events(of: SharedCaptures.path(name)).events
    #expect(events.contains { if case .gap = $0.body { true } else { false } })
    for peer in Peer.allCases {
      let all = try packets(source, peer)
      let rest = try packets(name, peer)
      // Two connections run side by side: what is lost in one changes the order of both.
      #expect(rest.allSatisfy { packet in Self.areTrue([packet], of: all) })
      #expect(rest.count >= all.count - 2)
    }
  }
}

import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Pitfall 19: the ports of a connection are used again, and copies of a connection that look as if they were.
@Suite struct PortReuseTests {
  private static let session = Session.all(.v3_1_1)

  @Test(
    "19: the same ports again are another connection",
    arguments: [1_000, 900_000, 0x8000_0000, 0xFFFF_0000] as [UInt32])
  func portReuse(_ start: UInt32) {
    for isClosed in [true, false] {
      var first = Self.session.dialogue()
      if !isClosed { first.segments.removeLast(3) }
      // A client that begins with the same number is no exception once the first connection is closed.
      guard isClosed || start != 1_000 else { continue }
      let second = Self.session.dialogue(client: start, server: start &+ 900_077)
      let tap = Tap(first.segments + second.segments)
      let comment: Comment = "closed: \(isClosed)"
      for connection in 1...2 {
        for peer in Peer.allCases {
          #expect(
            tap.packets(peer, connection: connection) == Self.session.packets(peer), comment)
        }
      }
      #expect(tap.openings.count == 2 && tap.gaps.isEmpty, comment)
      #expect(tap.closings == [isClosed ? .fin : .endOfCapture, .fin], comment)
    }
  }

  @Test(
    "19: port reuse where only the server's direction was captured",
    arguments: [6_000_000, 0x2000_0000, 0x9000_0000] as [UInt32])
  func portReuseFromOneSide(_ start: UInt32) {
    let first = Self.session.dialogue()
    let second = Self.session.dialogue(client: start &+ 99, server: start)
    let segments = (first.segments + second.segments).filter { $0.sender == .server }
    let tap = Tap(segments)
    for connection in 1...2 {
      #expect(tap.packets(.server, connection: connection) == Self.session.packets(.server))
    }
    // All that is missing is the client's: nothing between the connections.
    let serverGaps = tap.events.filter { event in
      if case .gap = event.body { event.context.sender == .server } else { false }
    }
    #expect(serverGaps.isEmpty)
  }

  @Test("19: the last FIN of a connection comes again inside the next one")
  func lateFIN() throws {
    let first = Self.session.dialogue(client: 500_000, server: 600_000)
    let fin = try #require(first.segments.last { $0.flags.contains(.fin) && $0.sender == .server })
    var second = Self.session.dialogue(client: 9_000_000, server: 8_000_000)
    second.segments.insert(fin, at: 6)
    let tap = Tap(first.segments + second.segments)
    #expect(tap.packets(.server, connection: 2) == Self.session.packets(.server))
    #expect(tap.packets(.client, connection: 2) == Self.session.packets(.client))
    #expect(tap.closings == [.fin, .fin])
    // The end is that of the second connection's own FIN.
    let last = tap.events.last
    guard case .closed(let closing)? = last?.body else {
      Issue.record("no end")
      return
    }
    #expect(closing.firstFrame > first.segments.count + 7)
  }

  /// A session of which nothing but data was captured.
  private static func data(client: UInt32, server: UInt32) -> [Segment] {
    var dialogue = Dialogue(client: client, server: server)
    for turn in session.turns { dialogue.send(turn.sender, turn.bytes, acknowledged: false) }
    return dialogue.segments
  }

  @Test(
    "19: the ports are used again, and nothing but data was captured",
    arguments: [
      (80_000, 156_000_000), (90_000_000, 80_000), (UInt32.max - 90_000_000, 9_000),
      (3_000_000_000, 2_900_000_000),
    ] as [(UInt32, UInt32)])
  func reuseWithoutSYN(client: UInt32, server: UInt32) {
    let tap = Tap(
      Self.data(client: 1_000, server: 5_000) + Self.data(client: client, server: server))
    for connection in 1...2 {
      #expect(tap.packets(.client, connection: connection) == Self.session.packets(.client))
      #expect(tap.packets(.server, connection: connection) == Self.session.packets(.server))
    }
    #expect(tap.openings.map(\.isFromStart) == [false, false])
    #expect(tap.closings == [.endOfCapture, .endOfCapture])
    #expect(tap.gaps == [] && tap.malformations == [] && tap.faults == [])
  }

  @Test(
    "19: a CONNECT that comes once more behind much data is a copy", arguments: [1_000, 100_000])
  func copyOfTheStart(size: Int) {
    var dialogue = Dialogue()
    dialogue.open()
    for turn in Self.session.turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
    let connect = dialogue.segments.first { !$0.payload.isEmpty }
    let publish = MQTTPacket(
      .publish(.init(topic: "a", payload: [UInt8](repeating: 7, count: size))), version: .v3_1_1)
    dialogue.send(.client, (try? publish.encoded()) ?? [])
    dialogue.segments += [connect].compactMap { $0 }
    dialogue.send(.client, [0xC0, 0])
    let tap = Tap(dialogue)
    #expect(tap.openings.count == 1 && tap.packets(.client).count == 3)
    #expect(tap.packets(.client).last?.bytes == [0xC0, 0])
    #expect(tap.gaps == [] && tap.malformations == [])
  }

  @Test("19: what is lost in a connection makes no other one of it", arguments: [60_000, 90_000])
  func lossBeforeData(lost: UInt32) {
    let ping: [UInt8] = [0xC0, 0]
    var dialogue = Dialogue()
    for turn in Self.session.turns.prefix(2) { dialogue.send(turn.sender, turn.bytes) }
    dialogue.next[.client]? += lost
    dialogue.send(.client, ping)
    dialogue.send(.server, [0xD0, 0])
    let tap = Tap(dialogue)
    #expect(tap.openings.count == 1)
    #expect(tap.gaps.map(\.bytes) == [Int(lost)])
    #expect(tap.packets(.client).last?.bytes == ping)
  }

  @Test(
    "19: all of a connection comes once more behind its end, as where it was captured twice",
    arguments: [(9 as UInt32?, 9 as UInt32?, 1), (9, 10, 2), (nil, nil, 1), (9, nil, 2)])
  func copyBehindTheEnd(clock: UInt32?, second: UInt32?, connections: Int) {
    var once = Self.session.dialogue().segments
    var again = once
    once[0].clock = clock
    again[0].clock = second
    let tap = Tap(once + again)
    #expect(tap.openings.count == connections)
    #expect(tap.packets(.client).count == connections * Self.session.packets(.client).count)
    #expect(tap.gaps == [] && tap.malformations == [] && tap.faults == [])
  }

  /// A session that says the same as ``session``, but for the name of its client.
  private static let other: Session = {
    var other = session
    other.turns[0].bytes[15] = UInt8(ascii: "2")
    return other
  }()

  @Test(
    "19: without clocks the numbers of the other end, and what is said, tell a copy from a connection"
  )
  func sameNumber() {
    let first = Self.session.dialogue()
    #expect(Tap(first.segments + first.segments).openings.count == 1)
    // An end that begins with the same number each time, and a server that does not; or both do, and say something else.
    let anew = Self.session.dialogue(server: 900_000)
    let unlike = Self.other.dialogue()
    for (again, session) in [(anew, Self.session), (unlike, Self.other)] {
      for missing in [[], [1], [2], [1, 2]] {
        var segments = again.segments
        for place in missing.reversed() { segments.remove(at: place) }
        let tap = Tap(first.segments + segments)
        #expect(tap.openings.map(\.isFromStart) == [true, true])
        #expect(tap.openings.map(\.firstFrame) == [1, first.segments.count + 1])
        for peer in Peer.allCases {
          #expect(tap.packets(peer, connection: 2) == session.packets(peer))
        }
        #expect(tap.closings == [.fin, .fin])
        #expect(tap.gaps == [] && tap.malformations == [] && tap.faults == [])
        // The answer to the SYN of a copy need not be there.
        var copy = first.segments
        for place in missing.reversed() { copy.remove(at: place) }
        #expect(Tap(copy + copy).openings.count == 1)
        #expect(Tap(copy + first.segments).openings.count == 1)
        #expect(Tap(first.segments + copy).openings.count == 1)
      }
    }
  }

  @Test(
    "19: the beginning of a connection comes behind its middle, as where it was captured twice",
    arguments: [4, 6, 20])
  func copyOfTheBeginning(start: Int) {
    let whole = Self.session.dialogue().segments
    for end in [whole.count, whole.count - 8] {
      let middle = Array(whole[start..<end])
      for missing in 0...3 {
        let tap = Tap(middle + whole.dropFirst(missing))
        #expect(tap.openings.map(\.isFromStart) == [false], "\(end) \(missing)")
        #expect(tap.closings == [.fin])
      }
      // Another connection, whose first number happens to stand as near.
      for again in [
        Self.session.dialogue(server: 90_000_000), Self.session.dialogue(server: 3_000_000_000),
      ] {
        let tap = Tap(middle + again.segments)
        #expect(tap.openings.map(\.isFromStart) == [false, true])
        #expect(tap.openings.last?.firstFrame == middle.count + 1)
        for peer in Peer.allCases {
          #expect(tap.packets(peer, connection: 2) == Self.session.packets(peer))
        }
      }
    }
  }

  @Test("19: behind a copy comes another connection whose SYN was not captured")
  func anotherBehindACopy() {
    let first = Self.session.dialogue()
    let third = Self.data(client: 90_000_000, server: 70_000_000)
    let tap = Tap(first.segments + first.segments + third)
    #expect(tap.openings.map(\.isFromStart) == [true, false])
    for peer in Peer.allCases {
      #expect(tap.packets(peer, connection: 2) == Self.session.packets(peer))
    }
    #expect(tap.gaps == [] && tap.malformations == [])
  }

  @Test("19: a client that was refused asks again with the same number")
  func refused() {
    var first = Dialogue()
    first.add(.client, .syn, acknowledges: false)
    first.segments.append(
      Segment(sender: .server, sequence: 0, acknowledgment: 1_001, flags: .reset))
    let tap = Tap(first.segments + Self.session.dialogue().segments)
    tap.expectWhole(Self.session)
    #expect(tap.closings == [.fin])
  }

  /// A session that ends by a reset of the client.
  private static func brokenOff() -> Dialogue {
    var dialogue = session.dialogue()
    dialogue.segments.removeLast(3)
    dialogue.next[.client] = dialogue.segments.last { $0.sender == .client }?.end
    dialogue.add(.client, .reset)
    return dialogue
  }

  @Test(
    "19: what the server had sent before comes behind the SYN of the next connection",
    arguments: [9_000_000, 0x7FFF_0000, 0x9000_0000] as [UInt32])
  func staleAnswers(start: UInt32) {
    let first = Self.brokenOff()
    var second = Self.session.dialogue(client: start, server: start &+ 77)
    let stale = first.segments.filter { $0.sender == .server && !$0.payload.isEmpty }.suffix(2)
    second.segments.insert(contentsOf: stale, at: 1)
    // The very answer to the SYN before.
    second.segments.insert(first.segments[1], at: 1)
    let tap = Tap(first.segments + second.segments)
    for peer in Peer.allCases {
      #expect(tap.packets(peer, connection: 2) == Self.session.packets(peer))
    }
    #expect(tap.openings.count == 2 && tap.openings.allSatisfy(\.isFromStart))
    #expect(tap.closings == [.reset, .fin])
    #expect(tap.gaps == [] && tap.malformations == [] && tap.faults == [])
  }

  @Test("19: a SYN that was sent twice comes once more behind the end, each time with its clock")
  func copyOfARepeatedSYN() {
    var segments = Self.session.dialogue().segments
    segments.insert(segments[0], at: 1)
    for index in segments.indices { segments[index].clock = 100 + UInt32(index) }
    let tap = Tap(segments + segments)
    #expect(tap.openings.count == 1)
    tap.expectWhole(Self.session)
    // With a later clock it is another connection.
    var later = segments
    for index in later.indices { later[index].clock = 900 + UInt32(index) }
    #expect(Tap(segments + later).openings.count == 2)
  }

  @Test("19: a SYN of before comes late, by its clock", arguments: [true, false])
  func lateSYN(isBefore: Bool) {
    var segments = Self.session.dialogue(client: 900_000, server: 500_000).segments
    for index in segments.indices { segments[index].clock = 1_000 + UInt32(index) }
    var syn = Self.session.dialogue(client: 600_000, server: 0).segments[0]
    syn.clock = isBefore ? 990 : 1_990
    segments.insert(syn, at: 7)
    let tap = Tap(segments)
    #expect(tap.openings.count == (isBefore ? 1 : 2))
    if isBefore { tap.expectWhole(Self.session) }
  }

  @Test("19: data far behind a reset is that of another connection", arguments: [3, 5])
  func reuseBehindAReset(missing: Int) {
    let first = Self.brokenOff()
    var second = Self.session.dialogue(client: 90_000_000, server: 70_000_000)
    second.segments.removeFirst(missing)
    let tap = Tap(first.segments + second.segments)
    #expect(tap.openings.map(\.isFromStart) == [true, false])
    #expect(tap.closings == [.reset, .fin])
    #expect(tap.packets(.client, connection: 2).last == Self.session.packets(.client).last)
    // What was on its way is not.
    let late = first.segments.filter { $0.sender == .server && !$0.payload.isEmpty }
    #expect(Tap(first.segments + late).openings.count == 1)
  }

  @Test("19: port reuse in a real capture", .capturesOfOthers)
  func portReuseForReal() throws {
    let path = SharedCaptures.path("made-here/g12_port_reuse.pcap")
    let (events, summary) = try EventList.events(of: path)
    let openings = events.compactMap { event in
      if case .opened(let opening) = event.body { opening.client } else { nil }
    }
    #expect(summary.connections == openings.count)
    #expect(Set(openings).count < openings.count)
    #expect(!events.contains { if case .gap = $0.body { true } else { false } })
  }
}

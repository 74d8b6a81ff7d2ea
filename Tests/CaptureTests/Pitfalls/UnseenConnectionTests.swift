import RepriseCore
import Testing
import Wire

@testable import Capture

/// Connections of which the capture has next to nothing, and two whose borders it lacks.
@Suite struct UnseenConnectionTests {
  private static let session = Session.all(.v3_1_1)
  private static let evidence =
    "the server's other connections are MQTT; no packet of this one is in the capture"

  /// A connection of other ports than the session's, from which some segments are left out.
  private static func other(_ change: (inout Segment) -> Bool) -> [Segment] {
    var dialogue = session.dialogue()
    dialogue.segments = dialogue.segments.compactMap { segment in
      var segment = segment
      return change(&segment) ? segment : nil
    }
    return dialogue.segments.map { segment in
      var segment = segment
      segment.clientPort = 40_001
      return segment
    }
  }

  private static func count(_ peer: Peer) -> Int {
    session.packets(peer).reduce(0) { $0 + $1.bytes.count }
  }

  @Test("A connection to a server of MQTT is told though none of its packets is there")
  func nothing() {
    let tap = Tap(Self.session.dialogue().segments + Self.other { $0.payload.isEmpty })
    #expect(tap.openings.map(\.client) == ["10.0.0.1:40000", "10.0.0.1:40001"])
    #expect(tap.openings.map(\.isFromStart) == [true, true])
    #expect(tap.openings.map(\.evidence) == [nil, Self.evidence])
    #expect(tap.gaps.map(\.bytes) == [Self.count(.client), Self.count(.server)])
    #expect(tap.closings == [.fin, .fin])
    #expect(tap.events.last?.context.wire == .mqttUndetermined)
    #expect(tap.packets(.client, connection: 2) == [])
  }

  @Test(
    "A connection to a server of MQTT is told though the beginning of its CONNECT is all there is")
  func begunConnect() {
    let first = Self.session.turns[0].bytes
    let cut = Self.other {
      if !$0.payload.isEmpty, $0.wireLength == nil {
        $0.wireLength = $0.payload.count
        $0.payload = Array($0.payload.prefix($0.sender == .client ? 4 : 1))
      }
      return true
    }
    #expect(first.prefix(4) == [0x10, first[1], 0, 4])
    let tap = Tap(Self.session.dialogue().segments + cut)
    #expect(tap.openings.map(\.evidence) == [nil, Self.evidence])
  }

  @Test(
    "Nothing is told of one to a server that is not known, nor of one on which nothing was sent")
  func unknown() {
    var elsewhere = Self.other { $0.payload.isEmpty }
    for index in elsewhere.indices { elsewhere[index].serverPort = 9_999 }
    var empty = Dialogue()
    empty.clientPort = 40_001
    empty.open()
    empty.close()
    for more in [elsewhere, empty.segments] {
      let tap = Tap(Self.session.dialogue().segments + more)
      #expect(tap.openings.map(\.client) == ["10.0.0.1:40000"])
      #expect(tap.gaps == [])
    }
    #expect(Tap(Self.other { $0.payload.isEmpty }).events.isEmpty)
  }

  // MARK: What can't be read

  /// A connection of other ports than the session's, on which each side says the same bytes.
  private static func foreign(_ bytes: [UInt8], isFromStart: Bool = true) -> [Segment] {
    var dialogue = Dialogue(serverPort: 8_080)
    dialogue.clientPort = 40_001
    if isFromStart { dialogue.open() }
    dialogue.send(.client, bytes)
    dialogue.send(.server, bytes)
    dialogue.close()
    return dialogue.segments
  }

  @Test("When a connection that can't be read may have begun is known where its hosts speak MQTT")
  func unread() throws {
    let session = Self.session.dialogue().segments
    let start = Int64(session.count) * 1_000_000_000
    let binary: [UInt8] = [0x82, 0x06, 0x90, 0x04, 0x00, 0x01, 0xFF, 0xFE]
    let any = Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max)
    let begun = Timestamp(nanoseconds: start)...Timestamp(nanoseconds: start + 5_000_000_000)
    let cases: [(segments: [Segment], beginnings: [ClosedRange<Timestamp>])] = [
      (session + Self.foreign(binary), [begun]),
      (session + Self.foreign(binary, isFromStart: false), [any]),
      (session + Self.foreign(Array("220 mail.example".utf8)), []),
      (session + Self.foreign([]), []),
      (session, []), (Self.foreign(binary), []),
    ]
    for (index, unread) in cases.enumerated() {
      let summary = try Readout(unread.segments).summary
      #expect(summary.unreadBeginnings == unread.beginnings, "\(index)")
    }
  }

  @Test("A connection that can't be read between other hosts is nobody's")
  func unreadElsewhere() {
    func opening(_ client: UInt32, _ server: UInt32, isFromStart: Bool = true) -> FlowOpening {
      FlowOpening(
        first: Endpoint(address: IPAddress(ipv4: client), port: 1),
        second: Endpoint(address: IPAddress(ipv4: server), port: 2), isFromStart: isFromStart,
        arrival: Arrival(frame: 1, time: Timestamp(nanoseconds: 0)))
    }
    var held = HeldPieces()
    held.append([1, 2, 3, 4].span.bytes, from: .first, opening(1, 2).arrival)
    for (client, server, isFromStart, count) in [
      (1, 2, true, 1), (1, 3, true, 0), (2, 1, true, 0), (2, 1, false, 1),
    ] as [(UInt32, UInt32, Bool, Int)] {
      let connections = UnreadConnections()
      connections.add(opening(client, server, isFromStart: isFromStart), held)
      connections.meet(opening(1, 2), client: .first)
      #expect(connections.beginnings.count == count, "\(client) \(server) \(isFromStart)")
    }
    let many = UnreadConnections()
    for _ in 0...4_096 { many.add(opening(1, 3), held) }
    #expect(many.beginnings.isEmpty)
    many.meet(opening(1, 2), client: .first)
    #expect(many.beginnings.isEmpty)
    many.meet(opening(1, 3), client: .first)
    #expect(many.beginnings == [Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max)])
  }

  // MARK: The same ports again

  /// Two connections of the same ports, of which the end of the first and the beginning of the second are not there.
  private static func twice(client: UInt32, server: UInt32, without turns: Int) -> [Segment] {
    var first = session.dialogue()
    first.segments.removeLast(4)
    var second = Dialogue(client: client, server: server)
    for (index, turn) in session.turns.enumerated() {
      let start = second.segments.count
      second.send(turn.sender, turn.bytes)
      if index < turns { second.segments.removeSubrange(start...) }
    }
    second.close()
    return first.segments + second.segments
  }

  @Test(
    "Two connections of the same ports are two where the answer to a CONNECT shows it, or the numbers of both",
    arguments: [
      (7_000_000, 90_000, 1), (500_000, 504_000, 1), (500_000, 504_000, 3), (13_000, 17_000, 0),
    ]
      as [(UInt32, UInt32, Int)])
  func beginsAnew(_ client: UInt32, _ server: UInt32, _ missing: Int) {
    let tap = Tap(Self.twice(client: client, server: server, without: missing))
    #expect(tap.openings.map(\.isFromStart) == [true, false])
    #expect(tap.openings.map(\.client) == ["10.0.0.1:40000", "10.0.0.1:40000"])
    #expect(tap.gaps == [])
    let rest = Self.session.turns.dropFirst(missing)
    for peer in Peer.allCases {
      #expect(
        tap.packets(peer, connection: 2)
          == rest.filter { $0.sender == peer }.map { PacketBytes($0.bytes) })
    }
  }

  @Test(
    "Two connections of the same ports are two where streams go nowhere, from the second segment on that does",
    arguments: [(3_000_000_000, 90_000), (7_000_000, 4_294_000_000)] as [(UInt32, UInt32)])
  func goesNowhere(_ client: UInt32, _ server: UInt32) {
    let tap = Tap(Self.twice(client: client, server: server, without: 3))
    #expect(tap.openings.map(\.isFromStart) == [true, false])
    let first = Self.session.packets(.client)
    #expect(tap.packets(.client, connection: 1) == first)
    // One alone may be damaged: it is left out.
    let rest = Self.session.turns.dropFirst(3)
    for peer in Peer.allCases {
      let sent = rest.filter { $0.sender == peer }.map { PacketBytes($0.bytes) }
      let isFirst = rest.first?.sender == peer
      #expect(tap.packets(peer, connection: 2) == Array(sent.dropFirst(isFirst ? 1 : 0)), "\(peer)")
    }
  }

  @Test(
    "One connection stays one where one stream alone goes on elsewhere, or both as far as they like"
  )
  func goesOn() {
    // Behind the CONNACK, of which there is one alone.
    for (client, server) in [(7_000_000, 5_000 + Self.count(.server)), (7_000_000, 90_000)] {
      let segments = Self.twice(
        client: UInt32(client), server: UInt32(server), without: 3)
      #expect(Tap(segments).openings.map(\.isFromStart) == [true], "\(client) \(server)")
    }
  }
}

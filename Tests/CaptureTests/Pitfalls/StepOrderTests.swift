import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// What a side sends while it is looked for where the next packet of the other starts: it may answer what is looked at,
/// and stands behind it.
@Suite struct StepOrderTests {
  /// Messages one after the other, each acknowledged before the next, whose head is a segment of its own.
  private struct StopAndWait {
    var dialogue = Dialogue.opened()
    /// Where the head of each message stands among the segments.
    var heads: [Int] = []

    init(_ count: UInt8, from sender: Peer, head: Int = 2) {
      for id in 1...count {
        let bytes = SmallPacket.publish(id)
        heads.append(dialogue.segments.count)
        dialogue.send(sender, Array(bytes.prefix(head)), acknowledged: false)
        dialogue.send(sender, Array(bytes.dropFirst(head)), acknowledged: false)
        dialogue.send(sender.other, SmallPacket.puback(id), acknowledged: false)
      }
    }

    func tap(without index: Int) -> Tap {
      var segments = dialogue.segments
      segments.remove(at: index)
      return Tap(segments)
    }
  }

  /// Packets by name and identifier, each with its sender, and what is said of losses.
  private static func lines(_ tap: Tap) -> [String] {
    zip(tap.lines, tap.events).map { line, event in
      guard let id = (try? InspectLine(event))?.int("packetID") else { return line }
      return "\(line) \(id)"
    }
  }

  @Test(
    "Behind a head that was not captured messages and their acknowledgements come in turn",
    arguments: [Peer.client, .server], 0..<6)
  func turns(sender: Peer, lost: Int) throws {
    let session = StopAndWait(8, from: sender)
    let (to, back) = sender == .client ? (">", "<") : ("<", ">")
    var expected = [">OPEN", ">CONNECT", "<CONNACK"]
    for id in 1...8 {
      // What is left of the message can't be read; its acknowledgement can.
      expected += id == lost + 1 ? ["\(to)GAP", "\(to)MALFORMED"] : ["\(to)PUBLISH \(id)"]
      expected.append("\(back)PUBACK \(id)")
    }
    let tap = session.tap(without: session.heads[lost])
    #expect(Self.lines(tap).dropLast() == expected[...])
    #expect(tap.reserved == 0)
    // And each event has a frame that is not before that of the event in front of it.
    let frames = tap.events.dropLast().map(\.context.frame)
    #expect(frames == frames.sorted())
  }

  @Test("Without any one of its segments no packet changes its place", arguments: 0..<200)
  func anySegment(seed: Int) throws {
    var random = SplitMix64(seed: UInt64(seed))
    var dialogue = Dialogue.opened()
    for id in 1...UInt8(random.int(4...12)) {
      let sender: Peer = random.int(0...1) == 0 ? .client : .server
      dialogue.send(
        sender, SmallPacket.publish(id), pieces: random.int(1...8), acknowledged: false)
      dialogue.send(sender.other, SmallPacket.puback(id), acknowledged: false)
    }
    let whole = Self.lines(Tap(dialogue.segments))
    let lost = random.int(5...dialogue.segments.count - 1)
    dialogue.segments.remove(at: lost)
    let tap = Tap(dialogue.segments)
    // Of a message with a hole the identifier is not known.
    let left = Self.lines(tap).filter { !$0.hasSuffix("GAP") && !$0.hasSuffix("MALFORMED") }
      .filter { !$0.contains("PUB") || $0.contains(" ") }
    var rest = whole[...]
    for line in left {
      let place = rest.firstIndex(of: line)
      #expect(place != nil, "\(line) of \(left) is not where \(whole) has it")
      rest = place.map { rest[($0 + 1)...] } ?? rest
    }
    #expect(tap.reserved == 0)
  }

  // MARK: In frames

  /// Messages in frames one after the other, each acknowledged before the next, by a server that writes the head of a frame
  /// in a segment of its own.
  private static func frames(
    _ count: UInt8, from sender: Peer
  ) -> (session: WebSocketDialogue, places: [Range<Int>]) {
    var session = WebSocketDialogue()
    session.open(subprotocol: "mqtt")
    for turn in Session.all(.v3_1_1).turns.prefix(2) {
      session.send(turn.sender, [.binary(turn.bytes)])
    }
    var places: [Range<Int>] = []
    for id in 1...count {
      let start = session.dialogue.segments.count
      let bytes = session.bytes(sender, [.binary(SmallPacket.publish(id))])
      let head = sender == .client ? 6 : 2
      session.dialogue.send(sender, Array(bytes.prefix(head)), acknowledged: false)
      session.dialogue.send(sender, Array(bytes.dropFirst(head)), acknowledged: false)
      places.append(start..<session.dialogue.segments.count)
      let answer = session.bytes(sender.other, [.binary(SmallPacket.puback(id))])
      session.dialogue.send(sender.other, answer, acknowledged: false)
    }
    return (session, places)
  }

  @Test(
    "Behind frames that were not captured messages and their acknowledgements come in turn",
    arguments: [Peer.client, .server], 0..<6)
  func turnsInFrames(sender: Peer, lost: Int) throws {
    let (session, places) = Self.frames(12, from: sender)
    let lines = Self.lines(session.tap())
    #expect(lines.count { $0.contains("PUBLISH") } == 12)
    // All of it, its head or the rest.
    for gone in [places[lost], places[lost].lowerBound..<places[lost].lowerBound + 1] {
      var rest = session.dialogue.segments
      rest.removeSubrange(gone)
      let tap = Tap(rest)
      let left = Self.lines(tap).filter { $0.contains("PUB") }
      let expected = lines.filter { $0.contains("PUB") && !$0.hasSuffix("PUBLISH \(lost + 1)") }
      #expect(left == expected, "\(gone)")
      #expect(tap.reserved == 0)
    }
  }

  @Test(
    "In the middle of a connection a loss waits for what came before it and is still looked at",
    arguments: [true, false])
  func lossInTheMiddle(isLost: Bool) {
    var session = WebSocketDialogue()
    session.open(subprotocol: "mqtt")
    session.dialogue.segments.removeAll()
    func send(_ sender: Peer, _ packet: [UInt8]) {
      let bytes = session.bytes(sender, [.binary(packet)])
      // The server writes a frame in two segments.
      let head = sender == .server ? 5 : bytes.count
      session.dialogue.send(sender, Array(bytes.prefix(head)), acknowledged: false)
      session.dialogue.send(sender, Array(bytes.dropFirst(head)), acknowledged: false)
    }
    send(.client, SmallPacket.publish(9))
    // The answer to that, and a message that was answered, too.
    send(.server, SmallPacket.puback(9))
    send(.server, SmallPacket.publish(1))
    send(.client, SmallPacket.puback(1))
    send(.server, SmallPacket.publish(1))
    send(.client, SmallPacket.puback(1))
    session.dialogue.segments.removeSubrange(1...2)
    if isLost { session.dialogue.segments.remove(at: 3) }
    let tap = session.tap()
    // What can be read does not wait: then it is not known what it answers.
    #expect(
      Self.lines(tap).filter { $0.contains("PUB") || $0.hasPrefix(">GAP") }
        == [">PUBLISH 9"]
        + (isLost ? ["<PUBLISH? 1", ">GAP"] : [">PUBACK 1", "<PUBLISH? 1"])
        + ["<PUBLISH 1", ">PUBACK 1"])
    #expect(tap.reserved == 0)
  }

  @Test("More than an answer or two does not wait for frames, and the order is not known then")
  func limitInFrames() {
    var (session, places) = Self.frames(1, from: .server)
    session.dialogue.segments.remove(at: places[0].lowerBound)
    for _ in 0..<300 {
      let ping = session.bytes(.client, [.binary(SmallPacket.ping)])
      session.dialogue.send(.client, ping, acknowledged: false)
    }
    #expect(Tap(session.dialogue.segments).lines.count { $0.hasSuffix("PINGREQ") } == 300)
  }

  @Test("Among events of other connections what waited is marked as late")
  func others() {
    let session = StopAndWait(4, from: .client)
    var other = Dialogue.opened()
    other.clientPort = 40_001
    var segments = session.dialogue.segments
    segments.remove(at: session.heads[0])
    let lines = Self.lines(
      Tap(
        other.segments.map { segment in
          var segment = segment
          segment.clientPort = 40_001
          return segment
        } + segments))
    #expect(
      lines.filter { $0.contains("PUB") } == [
        "<PUBACK? 1", ">PUBLISH? 2", "<PUBACK? 2", ">PUBLISH 3", "<PUBACK 3", ">PUBLISH 4",
        "<PUBACK 4",
      ])
  }

  @Test("More than an answer or two does not wait, and the order is not known then")
  func limit() {
    var session = StopAndWait(1, from: .client)
    session.dialogue.segments.remove(at: session.heads[0])
    for _ in 0..<300 {
      session.dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    }
    var shown = Tap(session.dialogue.segments).lines.filter { $0 == "<PINGRESP" }.count
    #expect(shown == 300)
    for id in 2...4 as ClosedRange<UInt8> {
      session.dialogue.send(.client, SmallPacket.publish(id), pieces: 2, acknowledged: false)
    }
    let lines = Self.lines(Tap(session.dialogue.segments))
    shown = lines.firstIndex(of: ">PUBLISH? 2") ?? 0
    #expect(lines[..<shown].filter { $0 == "<PINGRESP" }.count == 300)
    #expect(lines[shown...].dropLast() == [">PUBLISH? 2", ">PUBLISH 3", ">PUBLISH 4"])
  }
}

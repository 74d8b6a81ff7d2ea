import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// Events of both directions come in an order that is causally possible, and each loss before what
/// depends on it: no segment is told before the bytes that it acknowledges.
@Suite("Order of both directions")
struct CausalOrderTests {
  @Test("Holes in both directions before a PINGREQ and its answer", arguments: [true, false])
  func holesInBoth(_ isCut: Bool) {
    var dialogue = Dialogue.opened()
    for _ in 0..<2 {
      dialogue.send(.client, SmallPacket.ping, acknowledged: false)
      dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    }
    dialogue.close()
    if isCut { dialogue.segments.removeSubrange(5..<7) }
    let pings =
      isCut
      ? ["<GAP", ">GAP", ">PINGREQ", "<PINGRESP"]
      : [">PINGREQ", "<PINGRESP", ">PINGREQ", "<PINGRESP"]
    let lines = Tap(dialogue).lines
    #expect(lines.count == 8 && lines.prefix(3) == [">OPEN", ">CONNECT", "<CONNACK"])
    #expect(Set(lines[3..<5]) == Set(pings[..<2]) && Array(lines[5...]) == pings[2...] + [">CLOSE"])
  }

  @Test("An answer waits for its question, which a hole holds back", arguments: [0, 1, 30])
  func hole(_ distance: Int) throws {
    var dialogue = Dialogue.opened()
    dialogue.send(.server, SmallPacket.publish(7), acknowledged: false)
    dialogue.send(.server, SmallPacket.publish(8), acknowledged: false)
    dialogue.send(.client, SmallPacket.puback(7), acknowledged: false)
    dialogue.send(.client, SmallPacket.puback(8), acknowledged: false)
    for _ in 0..<10 {
      dialogue.send(.client, SmallPacket.ping, acknowledged: false)
      dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    }
    dialogue.close()
    let lost = dialogue.segments.remove(at: 5)
    // One that comes later is no loss; one that comes after many more segments is.
    if distance == 1 { dialogue.segments.insert(lost, at: 8) }
    if distance == 30 { dialogue.segments.insert(lost, at: 28) }
    let first = distance == 1 ? "<PUBLISH" : "<GAP"
    let pings = Array([[String]](repeating: [">PINGREQ", "<PINGRESP"], count: 10).joined())
    #expect(
      Tap(dialogue).lines
        == [">OPEN", ">CONNECT", "<CONNACK", first, "<PUBLISH", ">PUBACK", ">PUBACK"] + pings
        + [distance == 30 ? ">CLOSE?" : ">CLOSE"])
  }

  @Test(
    "Of a hole, what a message acknowledges is told before it, and what may answer it behind it")
  func holeInParts() {
    var dialogue = Dialogue.opened()
    let place = dialogue.segments.count
    dialogue.send(.client, SmallPacket.ping, acknowledged: false)
    dialogue.send(.server, SmallPacket.publish(7), acknowledged: false)
    dialogue.send(.client, SmallPacket.puback(7), acknowledged: false)
    for _ in 0..<10 {
      dialogue.send(.client, SmallPacket.ping, acknowledged: false)
      dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    }
    dialogue.close()
    let whole = Tap(dialogue).lines
    dialogue.segments.remove(at: place + 2)
    dialogue.segments.remove(at: place)
    let tap = Tap(dialogue)
    var expected = whole
    expected[3] = ">GAP"
    expected[5] = ">GAP"
    #expect(whole[3...5] == [">PINGREQ", "<PUBLISH", ">PUBACK"])
    #expect(tap.lines == expected)
    // Each loss has the frame that shows it.
    let frames = tap.events[3...6].map(\.context.frame)
    #expect(frames == [place + 1, place + 1, place + 2, place + 2])
  }

  @Test("A 101 that was captured before its request", arguments: [0, 1, 2])
  func answerBeforeRequest(_ distance: Int) throws {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    dialogue.send(.client, [.text("hello")])
    dialogue.close()
    var segments = dialogue.dialogue.segments
    let answer = try #require(segments.firstIndex { $0.sender == .server && !$0.payload.isEmpty })
    segments.insert(segments.remove(at: answer), at: answer - distance)
    let tap = Tap(segments)
    #expect(tap.lines == [">OPEN", ">UPGRADE", "<UPGRADED", ">TEXT", ">CLOSE"])
    #expect(tap.webSocketFaults.isEmpty)
  }

  @Test(
    "Text that acknowledges a 101 was not sent before it, however late that was captured",
    arguments: [true, false])
  func textBeforeAnswer(tellsStart: Bool) {
    var dialogue = WebSocketDialogue()
    dialogue.open()
    dialogue.send(.client, [.text("hello")])
    var sent = dialogue.dialogue.segments
    // Of the server's start nothing is known but what the text acknowledges, which comes first, and perhaps the request.
    if !tellsStart { sent[3].acknowledgment = nil }
    let segments = [0, 7, 3, 2, 8, 5].map { sent[$0] }
    let tap = Tap(segments)
    #expect(tap.texts(.client) == ["hello"] && tap.types.contains("UPGRADED"))
    #expect(tap.webSocketFaults.isEmpty)
    let answer = tap.events.first { (try? InspectLine($0).type) == "UPGRADED" }
    #expect(answer?.context.isOrderUncertain == !tellsStart)
  }

  @Test("Without its SYN, a CONNECT that comes after its answer is there", arguments: [0, 1])
  func lateConnect(_ distance: Int) {
    var dialogue = Dialogue.opened(isFromStart: false)
    dialogue.send(.client, SmallPacket.ping)
    dialogue.send(.server, SmallPacket.pong)
    dialogue.segments.swapAt(0, distance)
    let lines = Tap(dialogue).lines
    #expect(lines.dropLast() == [">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ", "<PINGRESP"])
    #expect(lines.count == 6)
  }

  @Test("Without its SYN, the second segment of a direction may come first")
  func lateStart() {
    var dialogue = Dialogue.opened(isFromStart: false)
    dialogue.segments.removeAll()
    dialogue.send(.client, SmallPacket.publish(1), acknowledged: false)
    dialogue.send(.client, SmallPacket.publish(2), acknowledged: false)
    dialogue.send(.server, SmallPacket.puback(1))
    dialogue.send(.server, SmallPacket.puback(2))
    dialogue.segments.swapAt(0, 1)
    #expect(
      Tap(dialogue).lines
        == [">OPEN", ">PUBLISH", ">PUBLISH", "<PUBACK", "<PUBACK", ">CLOSE"])
  }

  @Test("A retransmission whose first copy is missing goes before its answer, with a mark")
  func cycle() {
    var dialogue = Dialogue.opened()
    let place = dialogue.segments.count
    dialogue.send(.client, SmallPacket.publish(1), acknowledged: false)
    dialogue.send(.server, SmallPacket.puback(1), acknowledged: false)
    dialogue.send(.client, SmallPacket.ping, acknowledged: false)
    dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    dialogue.close()
    var segments = dialogue.segments
    segments.swapAt(place, place + 1)
    // As it was sent at first: its ACK tells that the answer was not there yet.
    let known = Tap(segments).lines
    #expect(
      known
        == [
          ">OPEN", ">CONNECT", "<CONNACK", ">PUBLISH", "<PUBACK", ">PINGREQ", "<PINGRESP", ">CLOSE",
        ]
    )
    // Sent again when the answer was there.
    segments[place + 1].acknowledgment = segments[place].end
    #expect(
      Tap(segments).lines
        == [
          ">OPEN", ">CONNECT", "<CONNACK", ">PUBLISH?", "<PUBACK?", ">PINGREQ", "<PINGRESP",
          ">CLOSE",
        ])
  }

  @Test(
    "The end is told of the side whose FIN the other one acknowledges", arguments: Peer.allCases)
  func firstFIN(_ peer: Peer) {
    var dialogue = Dialogue.opened()
    dialogue.close(peer)
    let count = dialogue.segments.count
    dialogue.segments.swapAt(count - 3, count - 2)
    #expect(Tap(dialogue).events.last?.context.sender == peer)
  }

  @Test("A reset waits for what was sent before it", arguments: [true, false])
  func reset(_ isLost: Bool) {
    var dialogue = Dialogue.opened()
    dialogue.send(.client, SmallPacket.ping, acknowledged: false)
    dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    dialogue.add(.client, .reset)
    let count = dialogue.segments.count
    dialogue.segments.swapAt(count - 1, count - 2)
    if isLost { dialogue.segments.removeLast() }
    #expect(
      Tap(dialogue).lines
        == [
          ">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ", isLost ? "<GAP" : "<PINGRESP", ">CLOSE",
        ])
    #expect(Tap(dialogue).closings == [.reset])
  }

  @Test("A reset without an acknowledgement waits for the segment that it answers")
  func answeringReset() {
    var dialogue = Dialogue.opened()
    dialogue.send(.client, SmallPacket.ping, acknowledged: false)
    dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    dialogue.add(.client, .reset)
    var segments = dialogue.segments
    let last = segments.count - 1
    segments[last].acknowledgment = nil
    segments.swapAt(last, last - 1)
    let tap = Tap(segments)
    #expect(
      tap.lines
        == [">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ", "<PINGRESP", ">CLOSE"])
    #expect(tap.closings == [.reset])
  }

  @Test("A silent connection holds nothing back for long", arguments: [100, 1_100])
  func silence(_ others: Int) throws {
    var dialogue = Dialogue.opened()
    dialogue.send(.server, SmallPacket.publish(7), acknowledged: false)
    dialogue.send(.client, SmallPacket.puback(7), acknowledged: false)
    dialogue.segments.remove(at: 5)
    var other = Dialogue()
    other.clientPort = 40_001
    other.open()
    for turn in Session.all(.v3_1_1).turns.prefix(2) { other.send(turn.sender, turn.bytes) }
    for _ in 0..<(others / 4) {
      other.send(.client, SmallPacket.ping)
      other.send(.server, SmallPacket.pong)
    }
    let tap = Tap(dialogue.segments + other.segments)
    let place = try #require(tap.lines.firstIndex(of: ">PUBACK"))
    let last = try #require(tap.lines.lastIndex(of: "<PINGRESP"))
    #expect((place < last) == (others > 1_024))
    #expect(tap.lines.filter { $0 == "<GAP" }.count == 1)
  }

  @Test("Of a direction that was not captured each loss is told where it is acknowledged")
  func oneDirection() {
    var dialogue = Dialogue.opened()
    for id in 1...20 as ClosedRange<UInt8> {
      dialogue.send(.client, SmallPacket.publish(id), acknowledged: false)
      dialogue.send(.server, SmallPacket.puback(id), acknowledged: false)
    }
    dialogue.segments.removeAll { $0.sender == .server }
    let lines = Tap(dialogue).lines
    let publishes = [[String]](repeating: ["<GAP", ">PUBLISH"], count: 20).joined()
    #expect(lines == [">OPEN", ">CONNECT"] + publishes + [">CLOSE"])
  }

  @Test("Of a direction that was not captured more is lost than one window holds")
  func largeLoss() {
    var dialogue = Dialogue.opened()
    dialogue.segments.removeAll { $0.sender == .server }
    for _ in 0..<40 {
      dialogue.next[.server] = (dialogue.next[.server] ?? 0) &+ (64 << 10)
      dialogue.add(.client, [])
    }
    dialogue.send(.client, SmallPacket.ping, acknowledged: false)
    let tap = Tap(dialogue)
    #expect(tap.lines == [">OPEN", ">CONNECT", "<GAP", ">PINGREQ", ">CLOSE"])
    #expect(tap.gaps == [Gap(bytes: 4 + 40 << 16, reason: .acknowledged)])
  }

  @Test(
    "A direction that was captured late, behind the losses told of it, leaves the end's place open")
  func overtakenLosses() {
    var dialogue = Dialogue.opened()
    for _ in 0..<20 {
      dialogue.send(.client, SmallPacket.ping)
      dialogue.send(.server, SmallPacket.pong)
    }
    dialogue.close()
    let client = dialogue.segments.filter { $0.sender == .client }
    let server = dialogue.segments.filter { $0.sender == .server }
    let late = Tap(client + server)
    // The last answer comes while it is still waited for.
    #expect(late.gaps.reduce(0) { $0 + $1.bytes } == 4 + 19 * 2)
    #expect(late.lines.last?.hasSuffix("CLOSE?") == true)
    // Of what never came nothing is late.
    let lost = Tap(client + server.filter { $0.payload.isEmpty })
    #expect(lost.gaps.reduce(0) { $0 + $1.bytes } == 4 + 20 * 2)
    #expect(lost.lines.last?.hasSuffix("CLOSE") == true)
  }

  @Test(
    "A FIN that was captured behind its answer was sent before that, whatever its time",
    arguments: [true, false])
  func lateFIN(_ isLate: Bool) {
    var dialogue = Dialogue.opened()
    dialogue.close(.server)
    let answer = dialogue.segments.count - 2
    if isLate { dialogue.segments.swapAt(answer - 1, answer) }
    let closings = Tap(dialogue).events.compactMap { event in
      if case .closed(let closing) = event.body { (event.context.sender, closing) } else { nil }
    }
    #expect(closings.map(\.0) == [.server])
    // Times are the places of frames.
    #expect(closings.map(\.1.firstTime.nanoseconds) == [Int64(answer) - 1])
    #expect(closings.map(\.1.firstFrame) == [isLate ? answer + 1 : answer])
  }

  @Test(
    "A SYN/ACK behind the first bytes tells that others were before them", arguments: [true, false])
  func lateAnswer(_ isFirstLost: Bool) {
    var dialogue = Dialogue.opened()
    let (answer, connect) = (dialogue.segments[1], dialogue.segments[3])
    let size = connect.payload.count
    let rest = Array(dialogue.segments[4...])
    dialogue.segments = []
    let turns = Session.all(.v3_1_1).turns[2..<4]
    for turn in turns { dialogue.send(turn.sender, turn.bytes, acknowledged: false) }
    let subscribe = dialogue.segments.removeFirst()
    dialogue.segments.insert(contentsOf: [subscribe, answer], at: 0)
    dialogue.segments.insert(contentsOf: (isFirstLost ? [] : [connect]) + rest, at: 2)
    dialogue.close()
    let tap = Tap(dialogue)
    let first = isFirstLost ? ">GAP" : ">CONNECT"
    #expect(
      tap.lines == [">OPEN", first, "<CONNACK", ">SUBSCRIBE", "<SUBACK", ">CLOSE"])
    #expect(tap.gaps.map(\.bytes) == (isFirstLost ? [size] : []))
    #expect(tap.openings.map(\.isFromStart) == [true])
    // One that acknowledges what is behind them tells nothing of where they start.
    dialogue.segments[1].acknowledgment = subscribe.end &+ 10_000
    let wild = Tap(dialogue)
    #expect(wild.openings.map(\.isFromStart) == [false])
    #expect(wild.packets(.client).suffix(1) == [PacketBytes(subscribe.payload)])
  }

  @Test("The mark is written to recordings and read back, and shown")
  func mark() throws {
    for isUncertain in [true, false] {
      var event = Event(
        EventContext(
          time: Timestamp(nanoseconds: 1_790_000_000_000_000_000), frame: 2, connection: 1,
          sender: .client, wire: .mqtt(.v3_1_1)),
        .mqtt(PacketBytes(SmallPacket.ping)))
      event.context.isOrderUncertain = isUncertain
      var recording = Array(
        #"{"reprise":1,"created":"2026-11-21T07:39:01Z","source":{"kind":"proxy"}}"#.utf8)
      recording.append(0x0A)
      event.withView { EventJSONWriter().append($0, to: &recording) }
      recording.append(0x0A)
      let text = String(decoding: recording, as: UTF8.self)
      #expect(text.contains(#""order":"uncertain""#) == isUncertain)
      #expect(try EventList(recording: recording).events == [event])
      var shown: [UInt8] = []
      var writer = EventTextWriter()
      event.withView { writer.append($0, to: &shown) }
      #expect(String(decoding: shown, as: UTF8.self).hasSuffix("(order uncertain)") == isUncertain)
    }
  }
}

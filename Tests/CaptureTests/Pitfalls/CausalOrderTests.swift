import DataClient
import TestSupport
import Testing
import Wire

@testable import Capture

/// Events of both directions come in an order that is causally possible, and each loss before what
/// depends on it: no segment is told before the bytes that it acknowledges.
@Suite("Order of both directions")
struct CausalOrderTests {
  private static let ping: [UInt8] = [0xC0, 0]
  private static let pong: [UInt8] = [0xD0, 0]

  /// A connection up to CONNACK, every segment of which carries data or belongs to the handshake.
  private static func opened(isFromStart: Bool = true) -> Dialogue {
    var dialogue = Dialogue()
    dialogue.open()
    if !isFromStart { dialogue.segments.removeAll() }
    for turn in Session.all(.v3_1_1).turns.prefix(2) {
      dialogue.send(turn.sender, turn.bytes, acknowledged: false)
    }
    return dialogue
  }

  private static func publish(_ id: UInt8) -> [UInt8] { [0x32, 6, 0, 1, 0x61, 0, id, 0x2A] }
  private static func puback(_ id: UInt8) -> [UInt8] { [0x40, 2, 0, id] }

  /// The types of the events with their senders, and a mark where the order is not known.
  private static func lines(_ tap: Tap) -> [String] {
    zip(tap.types, tap.events).map { type, event in
      let arrow = event.context.sender == .client ? ">" : "<"
      return "\(arrow)\(type)\(event.context.isOrderUncertain ? "?" : "")"
    }
  }

  @Test("Holes in both directions before a PINGREQ and its answer", arguments: [true, false])
  func holesInBoth(_ isCut: Bool) {
    var dialogue = Self.opened()
    for _ in 0..<2 {
      dialogue.send(.client, Self.ping, acknowledged: false)
      dialogue.send(.server, Self.pong, acknowledged: false)
    }
    dialogue.close()
    if isCut { dialogue.segments.removeSubrange(5..<7) }
    let pings =
      isCut
      ? ["<GAP", ">GAP", ">PINGREQ", "<PINGRESP"]
      : [">PINGREQ", "<PINGRESP", ">PINGREQ", "<PINGRESP"]
    let lines = Self.lines(Tap(dialogue))
    #expect(lines.count == 8 && lines.prefix(3) == [">OPEN", ">CONNECT", "<CONNACK"])
    #expect(Set(lines[3..<5]) == Set(pings[..<2]) && Array(lines[5...]) == pings[2...] + [">CLOSE"])
  }

  @Test("An answer waits for its question, which a hole holds back", arguments: [0, 1, 30])
  func hole(_ distance: Int) throws {
    var dialogue = Self.opened()
    dialogue.send(.server, Self.publish(7), acknowledged: false)
    dialogue.send(.server, Self.publish(8), acknowledged: false)
    dialogue.send(.client, Self.puback(7), acknowledged: false)
    dialogue.send(.client, Self.puback(8), acknowledged: false)
    for _ in 0..<10 {
      dialogue.send(.client, Self.ping, acknowledged: false)
      dialogue.send(.server, Self.pong, acknowledged: false)
    }
    dialogue.close()
    let lost = dialogue.segments.remove(at: 5)
    // One that comes later is no loss; one that comes after many more segments is.
    if distance == 1 { dialogue.segments.insert(lost, at: 8) }
    if distance == 30 { dialogue.segments.insert(lost, at: 28) }
    let first = distance == 1 ? "<PUBLISH" : "<GAP"
    let pings = Array([[String]](repeating: [">PINGREQ", "<PINGRESP"], count: 10).joined())
    #expect(
      Self.lines(Tap(dialogue))
        == [">OPEN", ">CONNECT", "<CONNACK", first, "<PUBLISH", ">PUBACK", ">PUBACK"] + pings
        + [distance == 30 ? ">CLOSE?" : ">CLOSE"])
  }

  @Test(
    "Of a hole, what a message acknowledges is told before it, and what may answer it behind it")
  func holeInParts() {
    var dialogue = Self.opened()
    let place = dialogue.segments.count
    dialogue.send(.client, Self.ping, acknowledged: false)
    dialogue.send(.server, Self.publish(7), acknowledged: false)
    dialogue.send(.client, Self.puback(7), acknowledged: false)
    for _ in 0..<10 {
      dialogue.send(.client, Self.ping, acknowledged: false)
      dialogue.send(.server, Self.pong, acknowledged: false)
    }
    dialogue.close()
    let whole = Self.lines(Tap(dialogue))
    dialogue.segments.remove(at: place + 2)
    dialogue.segments.remove(at: place)
    let tap = Tap(dialogue)
    var expected = whole
    expected[3] = ">GAP"
    expected[5] = ">GAP"
    #expect(whole[3...5] == [">PINGREQ", "<PUBLISH", ">PUBACK"])
    #expect(Self.lines(tap) == expected)
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
    #expect(Self.lines(tap) == [">OPEN", ">UPGRADE", "<UPGRADED", ">TEXT", ">CLOSE"])
    #expect(tap.webSocketFaults.isEmpty)
  }

  @Test("Without its SYN, a CONNECT that comes after its answer is there", arguments: [0, 1])
  func lateConnect(_ distance: Int) {
    var dialogue = Self.opened(isFromStart: false)
    dialogue.send(.client, Self.ping)
    dialogue.send(.server, Self.pong)
    dialogue.segments.swapAt(0, distance)
    let lines = Self.lines(Tap(dialogue))
    #expect(lines.dropLast() == [">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ", "<PINGRESP"])
    #expect(lines.count == 6)
  }

  @Test("Without its SYN, the second segment of a direction may come first")
  func lateStart() {
    var dialogue = Self.opened(isFromStart: false)
    dialogue.segments.removeAll()
    dialogue.send(.client, Self.publish(1), acknowledged: false)
    dialogue.send(.client, Self.publish(2), acknowledged: false)
    dialogue.send(.server, Self.puback(1))
    dialogue.send(.server, Self.puback(2))
    dialogue.segments.swapAt(0, 1)
    #expect(
      Self.lines(Tap(dialogue))
        == [">OPEN", ">PUBLISH", ">PUBLISH", "<PUBACK", "<PUBACK", ">CLOSE"])
  }

  @Test("A retransmission whose first copy is missing goes before its answer, with a mark")
  func cycle() {
    var dialogue = Self.opened()
    let place = dialogue.segments.count
    dialogue.send(.client, Self.publish(1), acknowledged: false)
    dialogue.send(.server, Self.puback(1), acknowledged: false)
    dialogue.send(.client, Self.ping, acknowledged: false)
    dialogue.send(.server, Self.pong, acknowledged: false)
    dialogue.close()
    var segments = dialogue.segments
    segments.swapAt(place, place + 1)
    // As it was sent at first: its ACK tells that the answer was not there yet.
    let known = Self.lines(Tap(segments))
    #expect(
      known
        == [
          ">OPEN", ">CONNECT", "<CONNACK", ">PUBLISH", "<PUBACK", ">PINGREQ", "<PINGRESP", ">CLOSE",
        ]
    )
    // Sent again when the answer was there.
    segments[place + 1].acknowledgment = segments[place].end
    #expect(
      Self.lines(Tap(segments))
        == [
          ">OPEN", ">CONNECT", "<CONNACK", ">PUBLISH?", "<PUBACK?", ">PINGREQ", "<PINGRESP",
          ">CLOSE",
        ])
  }

  @Test(
    "The end is told of the side whose FIN the other one acknowledges", arguments: Peer.allCases)
  func firstFIN(_ peer: Peer) {
    var dialogue = Self.opened()
    dialogue.close(peer)
    let count = dialogue.segments.count
    dialogue.segments.swapAt(count - 3, count - 2)
    #expect(Tap(dialogue).events.last?.context.sender == peer)
  }

  @Test("A reset waits for what was sent before it", arguments: [true, false])
  func reset(_ isLost: Bool) {
    var dialogue = Self.opened()
    dialogue.send(.client, Self.ping, acknowledged: false)
    dialogue.send(.server, Self.pong, acknowledged: false)
    dialogue.add(.client, .reset)
    let count = dialogue.segments.count
    dialogue.segments.swapAt(count - 1, count - 2)
    if isLost { dialogue.segments.removeLast() }
    #expect(
      Self.lines(Tap(dialogue))
        == [
          ">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ", isLost ? "<GAP" : "<PINGRESP", ">CLOSE",
        ])
    #expect(Tap(dialogue).closings == [.reset])
  }

  @Test("A reset without an acknowledgement waits for the segment that it answers")
  func answeringReset() {
    var dialogue = Self.opened()
    dialogue.send(.client, Self.ping, acknowledged: false)
    dialogue.send(.server, Self.pong, acknowledged: false)
    dialogue.add(.client, .reset)
    var segments = dialogue.segments
    let last = segments.count - 1
    segments[last].acknowledgment = nil
    segments.swapAt(last, last - 1)
    let tap = Tap(segments)
    #expect(
      Self.lines(tap)
        == [">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ", "<PINGRESP", ">CLOSE"])
    #expect(tap.closings == [.reset])
  }

  @Test("A silent connection holds nothing back for long", arguments: [100, 1_100])
  func silence(_ others: Int) throws {
    var dialogue = Self.opened()
    dialogue.send(.server, Self.publish(7), acknowledged: false)
    dialogue.send(.client, Self.puback(7), acknowledged: false)
    dialogue.segments.remove(at: 5)
    var other = Dialogue()
    other.clientPort = 40_001
    other.open()
    for turn in Session.all(.v3_1_1).turns.prefix(2) { other.send(turn.sender, turn.bytes) }
    for _ in 0..<(others / 4) {
      other.send(.client, Self.ping)
      other.send(.server, Self.pong)
    }
    let tap = Tap(dialogue.segments + other.segments)
    let place = try #require(Self.lines(tap).firstIndex(of: ">PUBACK"))
    let last = try #require(Self.lines(tap).lastIndex(of: "<PINGRESP"))
    #expect((place < last) == (others > 1_024))
    #expect(Self.lines(tap).filter { $0 == "<GAP" }.count == 1)
  }

  @Test("Of a direction that was not captured each loss is told where it is acknowledged")
  func oneDirection() {
    var dialogue = Self.opened()
    for id in 1...20 as ClosedRange<UInt8> {
      dialogue.send(.client, Self.publish(id), acknowledged: false)
      dialogue.send(.server, Self.puback(id), acknowledged: false)
    }
    dialogue.segments.removeAll { $0.sender == .server }
    let lines = Self.lines(Tap(dialogue))
    let publishes = [[String]](repeating: ["<GAP", ">PUBLISH"], count: 20).joined()
    #expect(lines == [">OPEN", ">CONNECT"] + publishes + [">CLOSE"])
  }

  @Test("Of a direction that was not captured more is lost than one window holds")
  func largeLoss() {
    var dialogue = Self.opened()
    dialogue.segments.removeAll { $0.sender == .server }
    for _ in 0..<40 {
      dialogue.next[.server] = (dialogue.next[.server] ?? 0) &+ (64 << 10)
      dialogue.add(.client, [])
    }
    dialogue.send(.client, Self.ping, acknowledged: false)
    let tap = Tap(dialogue)
    #expect(Self.lines(tap) == [">OPEN", ">CONNECT", "<GAP", ">PINGREQ", ">CLOSE"])
    #expect(tap.gaps == [Gap(bytes: 4 + 40 << 16, reason: .acknowledged)])
  }

  @Test(
    "An acknowledgement that leaps over more than ever waits is not believed, nor sent twice",
    arguments: [(1 << 20, false), (1 << 20 + 1, true)])
  func wildAcknowledgement(_ leap: Int, _ isWild: Bool) {
    for copies in 1...2 {
      var dialogue = Self.opened()
      dialogue.send(.client, Self.ping, acknowledged: false)
      let place = dialogue.segments.count - 1
      let known = dialogue.next[.server] ?? 0
      dialogue.segments[place].acknowledgment = known &+ UInt32(leap)
      if copies == 2 { dialogue.segments.append(dialogue.segments[place]) }
      for _ in 0..<20 { dialogue.send(.client, Self.ping, acknowledged: false) }
      dialogue.close()
      let tap = Tap(dialogue)
      let first = isWild ? [">PINGREQ?"] : ["<GAP", ">PINGREQ"]
      let pings = [String](repeating: ">PINGREQ", count: 20)
      // What is behind the loss begins before its end: of two FINs one is not believed.
      let last = isWild ? ">CLOSE" : ">CLOSE?"
      #expect(Self.lines(tap) == [">OPEN", ">CONNECT", "<CONNACK"] + first + pings + [last])
      #expect(tap.gaps.map(\.bytes) == (isWild ? [] : [leap]))
    }
  }

  @Test(
    "One acknowledgement alone that leaps at the end tells no loss, and leaves open what it may answer",
    arguments: [
      ([1 << 20], true), ([1 << 20 + 1], false), ([1 << 20 + 1, 1 << 20 + 1], false),
      // Another one that goes on from there supports it.
      ([1 << 20 + 1, 1 << 20 + 2], true),
    ] as [([UInt32], Bool)])
  func leapAtTheEnd(_ leaps: [UInt32], _ isLoss: Bool) {
    var dialogue = Self.opened()
    let known = dialogue.next[.server] ?? 0
    for leap in leaps {
      dialogue.next[.server] = known &+ leap
      dialogue.add(.client, [])
    }
    let tap = Tap(dialogue)
    let start = [">OPEN", ">CONNECT", "<CONNACK"]
    #expect(Self.lines(tap) == start + (isLoss ? ["<GAP", ">CLOSE"] : [">CLOSE?"]))
    #expect(tap.gaps.map(\.bytes) == (isLoss ? leaps.suffix(1).map(Int.init) : []))
    #expect(tap.statistics.leaps == (isLoss ? 0 : 1))
  }

  @Test("Behind an acknowledgement that leaps, a segment that comes late is still waited for")
  func lateBehindLeap() {
    var dialogue = Self.opened()
    let known = dialogue.next[.server]
    dialogue.next[.server]? += 5 << 20
    dialogue.add(.client, [])
    dialogue.next[.server] = known
    for _ in 0..<20 { dialogue.send(.client, Self.ping, acknowledged: false) }
    let place = dialogue.segments.count
    for _ in 0..<4 { dialogue.send(.client, Self.ping, acknowledged: false) }
    dialogue.segments.swapAt(place, place + 2)
    dialogue.send(.server, Self.pong, acknowledged: false)
    let tap = Tap(dialogue)
    let pings = [String](repeating: ">PINGREQ", count: 24)
    #expect(
      Self.lines(tap) == [">OPEN", ">CONNECT", "<CONNACK"] + pings + ["<PINGRESP", ">CLOSE?"])
    #expect(tap.gaps == [])
  }

  @Test("Behind an acknowledgement that leaps, an answer still waits for its question")
  func answerBehindLeap() {
    var dialogue = Self.opened()
    let known = dialogue.next[.server]
    dialogue.next[.server]? += 5 << 20
    dialogue.add(.client, [])
    dialogue.next[.server] = known
    for _ in 0..<20 { dialogue.send(.client, Self.ping, acknowledged: false) }
    dialogue.send(.server, Self.publish(7), acknowledged: false)
    dialogue.send(.client, Self.puback(7), acknowledged: false)
    let count = dialogue.segments.count
    dialogue.segments.swapAt(count - 2, count - 1)
    dialogue.send(.server, Self.pong, acknowledged: false)
    let tap = Tap(dialogue)
    let pings = [String](repeating: ">PINGREQ", count: 20)
    #expect(
      Self.lines(tap) == [">OPEN", ">CONNECT", "<CONNACK"] + pings
        + ["<PUBLISH", ">PUBACK", "<PINGRESP", ">CLOSE?"])
    #expect(tap.gaps == [])
  }

  @Test("A packet whose acknowledgement leaps is not waited for by its own answer for ever")
  func answeredLeap() {
    var dialogue = Self.opened()
    dialogue.send(.client, Self.ping, acknowledged: false)
    let place = dialogue.segments.count - 1
    dialogue.segments[place].acknowledgment = (dialogue.next[.server] ?? 0) &+ (1 << 20 + 1)
    dialogue.send(.server, Self.pong, acknowledged: false)
    for _ in 0..<20 {
      dialogue.send(.client, Self.ping, acknowledged: false)
      dialogue.send(.server, Self.pong, acknowledged: false)
    }
    dialogue.close()
    let tap = Tap(dialogue)
    let pairs = [[String]](repeating: [">PINGREQ", "<PINGRESP"], count: 20).joined()
    let start = [">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ?", "<PINGRESP"]
    #expect(Self.lines(tap) == start + pairs + [">CLOSE"])
    #expect(tap.gaps == [])
  }

  @Test(
    "A direction that was captured late, behind the losses told of it, leaves the end's place open")
  func overtakenLosses() {
    var dialogue = Self.opened()
    for _ in 0..<20 {
      dialogue.send(.client, Self.ping)
      dialogue.send(.server, Self.pong)
    }
    dialogue.close()
    let client = dialogue.segments.filter { $0.sender == .client }
    let server = dialogue.segments.filter { $0.sender == .server }
    let late = Tap(client + server)
    // The last answer comes while it is still waited for.
    #expect(late.gaps.reduce(0) { $0 + $1.bytes } == 4 + 19 * 2)
    #expect(Self.lines(late).last?.hasSuffix("CLOSE?") == true)
    // Of what never came nothing is late.
    let lost = Tap(client + server.filter { $0.payload.isEmpty })
    #expect(lost.gaps.reduce(0) { $0 + $1.bytes } == 4 + 20 * 2)
    #expect(Self.lines(lost).last?.hasSuffix("CLOSE") == true)
  }

  @Test(
    "A FIN that was captured behind its answer was sent before that, whatever its time",
    arguments: [true, false])
  func lateFIN(_ isLate: Bool) {
    var dialogue = Self.opened()
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
    var dialogue = Self.opened()
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
      Self.lines(tap) == [">OPEN", first, "<CONNACK", ">SUBSCRIBE", "<SUBACK", ">CLOSE"])
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
        .mqtt(PacketBytes(Self.ping)))
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

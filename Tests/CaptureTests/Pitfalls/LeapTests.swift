import RepriseCore
import Testing

@testable import Capture

/// An acknowledgement that leads far beyond what was captured is a loss, or wild: nobody knows which until others
/// lead there too.
@Suite("Acknowledgements that leap")
struct LeapTests {
  /// A connection with one acknowledgement of 5 MiB that nobody sent, and twenty PINGREQs behind it.
  private static func leapt() -> Dialogue {
    var dialogue = Dialogue.opened()
    let known = dialogue.next[.server]
    dialogue.next[.server]? += 5 << 20
    dialogue.add(.client, [])
    dialogue.next[.server] = known
    for _ in 0..<20 { dialogue.send(.client, SmallPacket.ping, acknowledged: false) }
    return dialogue
  }

  @Test(
    "An acknowledgement that leaps over more than ever waits is not believed, nor sent twice",
    arguments: [(1 << 20, false), (1 << 20 + 1, true)])
  func wildAcknowledgement(_ leap: Int, _ isWild: Bool) {
    for copies in 1...2 {
      var dialogue = Dialogue.opened()
      dialogue.send(.client, SmallPacket.ping, acknowledged: false)
      let place = dialogue.segments.count - 1
      let known = dialogue.next[.server] ?? 0
      dialogue.segments[place].acknowledgment = known &+ UInt32(leap)
      if copies == 2 { dialogue.segments.append(dialogue.segments[place]) }
      for _ in 0..<20 { dialogue.send(.client, SmallPacket.ping, acknowledged: false) }
      dialogue.close()
      let tap = Tap(dialogue)
      let first = isWild ? [">PINGREQ?"] : ["<GAP", ">PINGREQ"]
      let pings = [String](repeating: ">PINGREQ", count: 20)
      // What is behind the loss begins before its end: of two FINs one is not believed.
      let last = isWild ? ">CLOSE" : ">CLOSE?"
      #expect(tap.lines == [">OPEN", ">CONNECT", "<CONNACK"] + first + pings + [last])
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
    var dialogue = Dialogue.opened()
    let known = dialogue.next[.server] ?? 0
    for leap in leaps {
      dialogue.next[.server] = known &+ leap
      dialogue.add(.client, [])
    }
    let tap = Tap(dialogue)
    let start = [">OPEN", ">CONNECT", "<CONNACK"]
    #expect(tap.lines == start + (isLoss ? ["<GAP", ">CLOSE"] : [">CLOSE?"]))
    #expect(tap.gaps.map(\.bytes) == (isLoss ? leaps.suffix(1).map(Int.init) : []))
    #expect(tap.statistics.leaps == (isLoss ? 0 : 1))
  }

  @Test("Behind an acknowledgement that leaps, a segment that comes late is still waited for")
  func lateBehindLeap() {
    var dialogue = Self.leapt()
    let place = dialogue.segments.count
    for _ in 0..<4 { dialogue.send(.client, SmallPacket.ping, acknowledged: false) }
    dialogue.segments.swapAt(place, place + 2)
    dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    let tap = Tap(dialogue)
    let pings = [String](repeating: ">PINGREQ", count: 24)
    #expect(
      tap.lines == [">OPEN", ">CONNECT", "<CONNACK"] + pings + ["<PINGRESP", ">CLOSE?"])
    #expect(tap.gaps == [])
  }

  @Test("Behind an acknowledgement that leaps, an answer still waits for its question")
  func answerBehindLeap() {
    var dialogue = Self.leapt()
    dialogue.send(.server, SmallPacket.publish(7), acknowledged: false)
    dialogue.send(.client, SmallPacket.puback(7), acknowledged: false)
    let count = dialogue.segments.count
    dialogue.segments.swapAt(count - 2, count - 1)
    dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    let tap = Tap(dialogue)
    let pings = [String](repeating: ">PINGREQ", count: 20)
    #expect(
      tap.lines == [">OPEN", ">CONNECT", "<CONNACK"] + pings
        + ["<PUBLISH", ">PUBACK", "<PINGRESP", ">CLOSE?"])
    #expect(tap.gaps == [])
  }

  @Test("A packet whose acknowledgement leaps is not waited for by its own answer for ever")
  func answeredLeap() {
    var dialogue = Dialogue.opened()
    dialogue.send(.client, SmallPacket.ping, acknowledged: false)
    let place = dialogue.segments.count - 1
    dialogue.segments[place].acknowledgment = (dialogue.next[.server] ?? 0) &+ (1 << 20 + 1)
    dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    for _ in 0..<20 {
      dialogue.send(.client, SmallPacket.ping, acknowledged: false)
      dialogue.send(.server, SmallPacket.pong, acknowledged: false)
    }
    dialogue.close()
    let tap = Tap(dialogue)
    let pairs = [[String]](repeating: [">PINGREQ", "<PINGRESP"], count: 20).joined()
    let start = [">OPEN", ">CONNECT", "<CONNACK", ">PINGREQ?", "<PINGRESP"]
    #expect(tap.lines == start + pairs + [">CLOSE"])
    #expect(tap.gaps == [])
  }
}

import RepriseCore
import Testing
import Wire

@testable import Capture

/// A client that connects to the port of another server is answered by its words, which are no faults of MQTT.
@Suite struct ForeignAnswerTests {
  private static let words: [[UInt8]] = [
    Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8),
    Array("HTTP/1.0 404 Not Found\r\n\r\n".utf8), Array("SSH-2.0-OpenSSH_9.2\r\n".utf8),
    Array("AMQP\u{0}\u{0}\u{9}\u{1}".utf8), [0x15, 3, 1, 0, 2, 2, 70], [0x15, 3, 3, 0, 2, 2, 10],
  ]

  private static func tap(_ answers: [[UInt8]]) -> Tap {
    var dialogue = Dialogue()
    dialogue.open()
    if let connect = Session.all(.v3_1_1).turns.first {
      dialogue.send(connect.sender, connect.bytes)
    }
    for answer in answers { dialogue.send(.server, answer) }
    dialogue.send(.client, [0xC0, 0])
    dialogue.close()
    return Tap(dialogue)
  }

  @Test(arguments: words) func isNoPacket(_ word: [UInt8]) {
    let more = Array("<html>".utf8)
    let tap = Self.tap([word, more])
    #expect(tap.packets(.server).isEmpty && tap.malformations.isEmpty && tap.faults.isEmpty)
    #expect(tap.gaps.map(\.bytes) == [word.count, more.count])
    #expect(tap.gaps.allSatisfy { $0.reason == .foreign })
    #expect(tap.packets(.client).count == 2)
  }

  @Test(arguments: [
    // Bad packets are, be they ever so near.
    Array("HTTQ/1.1 400".utf8), Array("AMQ".utf8), [0x15, 3, 1, 0, 3, 2, 70], [0x15, 2, 1, 0],
  ])
  func isWhatItIsOtherwise(_ word: [UInt8]) {
    let tap = Self.tap([word])
    #expect(tap.gaps.isEmpty && !(tap.malformations.isEmpty && tap.faults.isEmpty))
  }

  /// Behind lost bytes it may be the payload of a message.
  @Test func isNotLookedForBehindALoss() {
    var dialogue = Dialogue()
    dialogue.open()
    if let connect = Session.all(.v3_1_1).turns.first {
      dialogue.send(connect.sender, connect.bytes)
    }
    dialogue.next[.server] = (dialogue.next[.server] ?? 0) &+ 100
    dialogue.send(.server, Self.words[0], acknowledged: false)
    dialogue.close()
    #expect(Tap(dialogue).gaps.allSatisfy { $0.reason != .foreign })
  }

  @Test func isLookedForAtTheBeginningAlone() {
    let tap = Self.tap([[0x20, 2, 0, 0], Self.words[0]])
    #expect(tap.gaps.isEmpty && !tap.malformations.isEmpty)
  }
}

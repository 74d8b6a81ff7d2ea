import RepriseCore
import Wire

@testable import ConformanceKit

// Two connections of one client: the older one ends.
extension SharedCase {
  static let takingOver: [SharedCase] = [
    SharedCase(
      "an older connection that the server ends", [.olderConnectionEnds: (0, 1, 0, [])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.close(.server)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that the server ends before it accepts the newer one",
      [.olderConnectionEnds: (0, 1, 0, [])]
    ) {
      $0.join("c")
      $0.joinSlowly("c") { $0.close(.server) }
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that its client ends before the server accepts the newer one",
      [.olderConnectionEnds: (0, 0, 0, [])]
    ) {
      $0.join("c")
      $0.joinSlowly("c") { $0.close(.client) }
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that the server had ended before the client came again",
      [.olderConnectionEnds: (0, 0, 0, [])]
    ) {
      $0.join("c")
      $0.close(.server)
      $0.on(2) { $0.join("c") }
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "two connections of a client that ask at once, of which either may be the last",
      in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [11]), .olderConnectionEnds: (0, 0, 0, [])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", cleanStart: false, keepAlive: 0)))
      $0.on(2) { $0.join("c") }
      $0.server(.connack(.init()))
      $0.on(2) { $0.close(.server) }
      $0.close(.server)
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a client that asks again behind its CONNACK, and a session of the connection that ended",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 1, [12])]
    ) {
      $0.join("c", cleanStart: false)
      $0.wait(1)
      $0.on(2) { $0.join("c") }
      $0.close(.server)
      $0.on(2) { $0.finish() }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "an older connection that goes on", failed: [.olderConnectionEnds],
      [.olderConnectionEnds: (1, 0, 0, [8])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.wait(6)
      $0.answerPing()
      $0.finish()
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that has something on its way", [.olderConnectionEnds: (0, 1, 0, [])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.wait(4)
      $0.answerPing()
      $0.close(.server)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection on which an answer to what came before was on its way for long",
      [.olderConnectionEnds: (0, 1, 0, [])]
    ) {
      $0.join("c")
      $0.ping()
      $0.on(2) { $0.join("c") }
      $0.wait(20)
      $0.add(.server, .mqtt(PacketBytes([0xD0, 0])))
      $0.close(.server)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection of another user", [.olderConnectionEnds: (0, 0, 0, [])]
    ) {
      $0.join("c", user: "a")
      $0.on(2) { $0.join("c", user: "b") }
      $0.wait(6)
      $0.answerPing()
      $0.finish()
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that stays open", failed: [.olderConnectionEnds],
      [.olderConnectionEnds: (1, 0, 0, [7])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.wait(31)
      $0.close(.client)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that ends behind what the server still had to send",
      [.olderConnectionEnds: (0, 0, 1, [10])]
    ) {
      $0.join("c")
      $0.ask(1, "a")
      $0.on(2) { $0.join("c") }
      $0.wait(34)
      $0.say(.server, "a", "1")
      $0.close(.server)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that is open when the capture ends",
      [.olderConnectionEnds: (0, 0, 1, [7])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.wait(31)
      $0.endCapture()
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that stays open by clocks that differ",
      [.olderConnectionEnds: (0, 0, 1, [11])]
    ) {
      $0.join("c")
      $0.wait(2)
      $0.ping()
      $0.add(.server, .mqtt(PacketBytes([0xD0, 0])), early: 1_500_000_000)
      $0.on(2) { $0.join("c") }
      $0.wait(6)
      $0.answerPing()
      $0.wait(31)
      $0.close(.client)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that its client breaks off much later",
      [.olderConnectionEnds: (0, 0, 1, [7])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.wait(31)
      $0.close(.client, .reset)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "an older connection that its client ends", [.olderConnectionEnds: (0, 0, 1, [7])]
    ) {
      $0.join("c")
      $0.on(2) { $0.join("c") }
      $0.close(.client)
      $0.on(2) { $0.finish() }
    },
  ]
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Clients of which a message is open when they are told that the server has no session of theirs.
  static let forgetting: [SharedCase] = [
    forgetting("goes on with it after half a minute", isAccused: true, (1, 0, 0, [10])) {
      $0.wait(30)
      $0.acknowledge(.client, .pubrel, 1)
    },
    forgetting("goes on with it within half a minute", (0, 0, 1, [10])) {
      $0.wait(29.99)
      $0.acknowledge(.client, .pubrel, 1)
    },
    forgetting("goes on with it behind an answer of its own", isAccused: true, (1, 0, 0, [14])) {
      $0.ask(2, "b", qos: 1)
      $0.say(.server, "b", "x", qos: 1, id: 7)
      $0.acknowledge(.client, .puback, 7)
      $0.acknowledge(.client, .pubrel, 1)
    },
    forgetting("says that there is no such message", (0, 0, 1, [10])) {
      $0.wait(31)
      $0.client(.acknowledgement(.pubrel, packetID: 1, .init(0x92)))
    },
    forgetting("answers a server that goes on with it", (0, 0, 0, [])) {
      $0.wait(31)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
    },
    forgetting("sends it again", (0, 0, 1, [10])) {
      $0.wait(31)
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
    },
    forgetting("publishes the same once more", (0, 0, 0, [])) {
      $0.wait(31)
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
    },
    forgetting("goes on with another one", (0, 1, 0, [])) {
      $0.wait(31)
      $0.acknowledge(.client, .pubrel, 2)
    },
    forgetting("gives its identifier to another one", (0, 1, 0, [])) {
      $0.say(.client, "a", "2", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
    },
    forgetting("leaves without it", (0, 1, 0, [])) { $0.answerPing() },
    forgetting("goes on behind bytes that are missing", (0, 0, 1, [11])) {
      $0.wait(31)
      $0.gap(.client)
      $0.acknowledge(.client, .pubrel, 1)
    },
    forgetting("is cut off", isOver: false, (0, 0, 1, [9])) { $0.close(.client) },
    forgetting("is seen no longer", isOver: false, (0, 0, 1, [9])) { $0.endCapture() },
    forgetting("goes on with it in a session that is there", isPresent: true, (0, 0, 0, [])) {
      $0.wait(31)
      $0.acknowledge(.client, .pubrel, 1)
    },
  ]

  /// A client whose message 1 at QoS 2 has its PUBREC when the connection ends; the CONNACK of the next is frame 9.
  private static func forgetting(
    _ name: String, isPresent: Bool = false, isOver: Bool = true, isAccused: Bool = false,
    _ count: (Int, Int, Int, [Int]), _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> SharedCase {
    SharedCase(
      "a client whose session the server \(isPresent ? "has" : "has not"), with a message open, \(name)",
      in: [.v5_0], failed: isAccused ? [.absentSessionIsThrownAway] : [],
      [.absentSessionIsThrownAway: count]
    ) {
      $0.join("c", cleanStart: false, expiry: 100)
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.close(.client)
      $0.on(2) {
        $0.join("c", cleanStart: false, isPresent: isPresent, expiry: 100)
        rest(&$0)
        if isOver { $0.finish() }
      }
    }
  }
}

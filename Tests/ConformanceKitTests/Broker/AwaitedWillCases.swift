import RepriseCore
import Wire

@testable import ConformanceKit

// Wills that are to wait, and those that do not come.
extension SharedCase {
  // MARK: When they are to wait

  static let delayedWills: [SharedCase] = [
    SharedCase(
      "a will that comes though its client is back in time", in: [.v5_0],
      failed: [.returnDropsWill], complete: true,
      [.returnDropsWill: (1, 0, 0, [20]), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon()
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that comes though its client is back in time to one that asked again meanwhile",
      in: [.v5_0], [.returnDropsWill: (0, 0, 1, [22]), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon { $0.ask(2, "a") }
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "no will where its client is back in time", in: [.v5_0],
      [.returnDropsWill: (0, 1, 0, []), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon()
      $0.wait(11)
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that comes though its client is back, but in a new session", in: [.v5_0],
      [.returnDropsWill: (0, 0, 0, []), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon(isPresent: false)
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will before its delay is over", in: [.v5_0], failed: [.willIsPublished], complete: true,
      [.willIsPublished: (1, 0, 0, [20]), .returnDropsWill: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon { $0.say(.server, "a", "gone") }
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will before its delay is over, which its own client gets later", in: [.v5_0],
      failed: [.willIsPublished], complete: true, [.willIsPublished: (1, 0, 0, [20])]
    ) {
      $0.comeBackSoon { $0.say(.server, "a", "gone") }
      $0.on(4) {
        $0.ask(1, "a")
        $0.say(.server, "a", "gone")
        $0.answerPing()
        $0.finish()
      }
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will before its delay is over, whose session may have ended", in: [.v5_0],
      [.willIsPublished: (0, 0, 0, []), .returnDropsWill: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon(isPresent: false) { $0.say(.server, "a", "gone") }
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that comes though its client, which was just there, is back in time", in: [.v5_0],
      [.returnDropsWill: (0, 0, 0, []), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon(behind: 1)
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will when its delay is over", in: [.v5_0],
      [.willIsPublished: (0, 1, 0, []), .willIsStored: (0, 1, 0, [])]
    ) {
      $0.attend(.gone(delay: 10), expiry: 100)
      $0.on(3) { $0.close(.client, .reset) }
      $0.wait(10)
      $0.say(.server, "a", "gone")
      $0.part()
    },
  ]

  // MARK: When they do not come

  static let absentWills: [SharedCase] = [
    SharedCase(
      "a will that does not come", failed: [.willIsPublished],
      [.willIsPublished: (1, 0, 0, [20])]
    ) { $0.missWill() },
    SharedCase(
      "a will that does not come within a minute", [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(after: 50) },
    SharedCase(
      "a will that does not come to a client that hears nothing of its owner",
      [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(by: "d") },
    SharedCase(
      "a will that does not come of a client without a name, and a message of another one",
      in: [.v3_1_1], [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(of: "", by: "") },
    SharedCase(
      "a will that does not come whose client was back at once",
      [.willIsPublished: (0, 0, 1, [14])]
    ) {
      $0.missWill {
        $0.join("c")
        $0.finish()
      }
    },
    SharedCase(
      "a will of QoS 0 that does not come", [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(qos: 0) },
    SharedCase(
      "a will that does not come to a client that subscribed behind it",
      [.willIsPublished: (0, 0, 1, [7])]
    ) {
      $0.on(2) { $0.join("p") }
      $0.on(3) {
        $0.join("c", will: .gone(qos: 1))
        $0.close(.client)
      }
      $0.join("s")
      $0.ask(1, "a")
      $0.wait(70)
      $0.on(4) {
        $0.join("c")
        $0.say(.client, "a", "back", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "back", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
      $0.on(4) { $0.finish() }
    },
    SharedCase(
      "a will that comes to another client", [.willIsPublished: (0, 1, 0, [])]
    ) {
      $0.meet()
      $0.on(5) {
        $0.join("t")
        $0.ask(1, "a")
      }
      $0.on(3) {
        $0.join("c", will: .gone(qos: 1))
        $0.close(.client)
      }
      $0.on(5) {
        $0.say(.server, "a", "gone", qos: 1, id: 1)
        $0.acknowledge(.client, .puback, 1)
      }
      $0.wait(70)
      $0.on(4) {
        $0.join("c")
        $0.say(.client, "a", "back", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      for (connection, id) in [(1, 1), (5, 2)] as [(Int, UInt16)] {
        $0.on(connection) {
          $0.say(.server, "a", "back", qos: 1, id: id)
          $0.acknowledge(.client, .puback, id)
        }
      }
      $0.part()
      for connection in 4...5 { $0.on(connection) { $0.finish() } }
    },
    SharedCase(
      "a will that comes after all", [.willIsPublished: (0, 1, 0, [])]
    ) { $0.missWill(isLate: true) },
  ]
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Subscriptions that take the place of others, and identifiers that are another message's.
  static let replacing: [SharedCase] = [
    SharedCase(
      "a message at the lower QoS of a second SUBSCRIBE",
      [.subscriptionIsReplaced: (0, 1, 0, []), .plainHasNoIdentifier: (0, 1, 0, [])]
    ) {
      $0.replace(1, by: 0)
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a message at the higher QoS of a second SUBSCRIBE",
      [.subscriptionIsReplaced: (0, 1, 0, []), .plainHasNoIdentifier: (0, 0, 0, [])]
    ) {
      $0.replace(0, by: 1)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message at the QoS of the first SUBSCRIBE", [.subscriptionIsReplaced: (0, 0, 0, [])]
    ) {
      $0.replace(1, by: 0)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message for a second SUBSCRIBE of the same QoS", [.subscriptionIsReplaced: (0, 0, 0, [])]
    ) {
      $0.replace(1, by: 1)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a retained message for each of two SUBSCRIBEs", in: [.v3_1_1],
      [.subscriptionIsReplaced: (0, 1, 0, [])]
    ) {
      $0.askTwice { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a retained message for each of two SUBSCRIBEs of 5.0", in: [.v5_0],
      [.retainedComesAgain: (0, 1, 0, []), .subscriptionIsReplaced: (0, 0, 0, [])]
    ) {
      $0.askTwice { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a retained message for the second of two SUBSCRIBEs",
      [.retainedComesAgain: (0, 0, 0, []), .subscriptionIsReplaced: (0, 0, 0, [])]
    ) {
      $0.askTwice { _ in }
    },
  ]

  private static func reused(
    _ name: String, _ rule: MQTTRule, _ end: @escaping @Sendable (inout Script) -> Void
  ) -> SharedCase {
    let counts: Counts = Dictionary(
      uniqueKeysWithValues: [MQTTRule.acknowledgedIsOver, .refusedIsOver, .completedIsOver].map {
        ($0, (0, $0 == rule ? 1 : 0, 0, []))
      })
    return SharedCase(name, in: [.v5_0], counts) {
      $0.meet()
      $0.on(2) {
        end(&$0)
        $0.say(.client, "a", "2", qos: 1, id: 7)
        $0.acknowledge(.server, .puback, 7)
      }
      $0.say(.server, "a", "2", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    }
  }

  static let reusing: [SharedCase] = [
    reused("a message behind the PUBACK of its identifier", .acknowledgedIsOver) {
      $0.say(.client, "b", "1", qos: 1, id: 7)
      $0.acknowledge(.server, .puback, 7)
    },
    reused("a message behind a PUBREC of an error for its identifier", .refusedIsOver) {
      $0.say(.client, "b", "1", qos: 2, id: 7)
      $0.server(.acknowledgement(.pubrec, packetID: 7, .init(0x97)))
    },
    reused("a message behind the PUBCOMP of its identifier", .completedIsOver) {
      $0.say(.client, "b", "1", qos: 2, id: 7)
      $0.acknowledge(.server, .pubrec, 7)
      $0.acknowledge(.client, .pubrel, 7)
      $0.acknowledge(.server, .pubcomp, 7)
    },
    reused("a message behind the PUBACK of another identifier", .qos1IsAnswered) {
      $0.say(.client, "b", "1", qos: 1, id: 8)
      $0.acknowledge(.server, .puback, 8)
    },
    SharedCase(
      "a message behind the PUBACK of its identifier that nobody gets", in: [.v5_0],
      [.acknowledgedIsOver: (0, 0, 0, [])]
    ) {
      $0.meet()
      $0.on(2) {
        for text in ["1", "2"] {
          $0.say(.client, "a", text, qos: 1, id: 7)
          $0.acknowledge(.server, .puback, 7)
        }
      }
      $0.part()
    },
  ]

  private static func will(
    _ name: String, failed: [MQTTRule] = [], _ count: (Int, Int, Int, [Int]), _ users: [String]
  ) -> SharedCase {
    SharedCase(name, in: [.v5_0], failed: failed, [.willUsersKeepOrder: count]) {
      $0.meet()
      let given = ["1", "2"].map { MQTTProperty(.userProperty, .pair("k", $0)) }
      $0.on(5) {
        $0.join(
          "c", will: .init(topic: "a", payload: Array("gone".utf8), qos: 0, properties: given))
      }
      // The capture shows what other clients publish.
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.wait(2)
      $0.on(5) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone", users.map { MQTTProperty(.userProperty, .pair("k", $0)) })
      $0.part()
    }
  }

  /// The User Properties of wills.
  static let namedWills: [SharedCase] = [
    will("a will with its User Properties", (0, 1, 0, []), ["1", "2"]),
    will("a will with one more User Property between its own", (0, 1, 0, []), ["1", "3", "2"]),
    will(
      "a will with its User Properties in another order", failed: [.willUsersKeepOrder],
      (1, 0, 0, [15]), ["2", "1"]),
    will("a will with one of its User Properties", (0, 0, 1, [15]), ["2"]),
  ]
}

extension Script {
  /// A client subscribes twice, and a message is published at QoS 1: frames 1 to 12.
  fileprivate mutating func replace(_ first: UInt8, by second: UInt8) {
    meet(qos: first)
    ask(2, "a", qos: second)
    on(2) {
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
    }
  }

  /// A client subscribes twice to a topic of which a message is retained.
  fileprivate mutating func askTwice(_ first: (inout Script) -> Void) {
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "1", retain: true)
    }
    wait(2)
    join("s")
    ask(1, "a")
    first(&self)
    ask(2, "a")
    say(.server, "a", "1", retain: true)
    part()
  }
}

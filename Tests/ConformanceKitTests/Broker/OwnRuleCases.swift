import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What rules of a server may say of its clients, and what it may subscribe them to by itself.
  static let ownRules: [SharedCase] = wills + subscriptions

  // MARK: What a server says of a client that leaves

  private static let wills: [SharedCase] = [
    SharedCase(
      "a will behind DISCONNECT, where that of another client stayed away",
      failed: [.disconnectDropsWill, .willIsRemoved],
      [.disconnectDropsWill: (1, 1, 0, [23]), .willIsRemoved: (1, 1, 0, [23])]
    ) { $0.leaveBoth() },
    SharedCase(
      "a will that is there when a connection without one ends, where that of another client stayed away",
      in: [.v3_1_1], failed: [.noFlagNoWill],
      [.noFlagNoWill: (1, 0, 0, [20]), .disconnectDropsWill: (0, 1, 0, [])]
    ) {
      $0.breakOff { $0.say(.server, "a", "gone") }
      $0.dropAnother()
    },
    SharedCase(
      "a will before its delay is over, where that of another client comes once", in: [.v5_0],
      failed: [.willIsPublished], [.willIsPublished: (1, 1, 0, [20])]
    ) { $0.beEarly(others: 1) },
    SharedCase(
      "a will before its delay is over, where that of another client comes twice", in: [.v5_0],
      [.willIsPublished: (0, 1, 1, [20]), .willIsRemoved: (0, 0, 1, [26])]
    ) { $0.beEarly(others: 2) },
    SharedCase(
      "a will that is larger than what comes on its topic", [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missLargeWill("b") },
    SharedCase(
      "a will that is as large as what comes on its topic", failed: [.willIsPublished],
      [.willIsPublished: (1, 0, 0, [20])]
    ) { $0.missLargeWill("back") },
  ]

  // MARK: What a server subscribes

  private static let subscriptions: [SharedCase] = [
    SharedCase(
      "a topic with the client's name that it did not ask for",
      [.topicMatchesFilter: (0, 0, 1, [6])]
    ) { $0.hearAsLamp("down/lamp") },
    SharedCase(
      "a topic with the user's name that its client did not ask for",
      [.topicMatchesFilter: (0, 0, 1, [6])]
    ) { $0.hearAsLamp("down/house/1") },
    SharedCase(
      "a topic of nobody's name", [.topicMatchesFilter: (0, 0, 1, [6])]
    ) { $0.hearAsLamp("down/lamps") },
    SharedCase(
      "a topic with the client's name, where nobody subscribes it but itself",
      failed: [.topicMatchesFilter], complete: true, [.topicMatchesFilter: (1, 0, 0, [6])]
    ) { $0.hearAsLamp("down/lamp") },
    SharedCase(
      "a message above the QoS that was granted, on a topic with the client's name",
      [.grantedQoSIsKept: (0, 0, 1, [6])]
    ) { $0.hearAsLamp("up/lamp", qos: 1) },
    SharedCase(
      "a message above the QoS that was granted, on a topic with another name",
      failed: [.grantedQoSIsKept],
      [.grantedQoSIsKept: (1, 0, 0, [6])]
    ) { $0.hearAsLamp("up/lamps", qos: 1) },
  ]
}

extension Script {
  private static func left(_ text: String = "left") -> MQTTPacket.Will {
    MQTTPacket.Will(topic: "a", payload: Array(text.utf8), qos: 0, retain: false)
  }

  /// Two clients with wills leave by DISCONNECT, and that of the second one comes.
  fileprivate mutating func leaveBoth() {
    attend()
    on(4) { $0.join("d", will: Self.left()) }
    wait(6)
    on(4) { $0.finish() }
    tell("2")
    on(3) { $0.finish() }
    say(.server, "a", "gone")
    tell("3")
    part()
  }

  /// A client with a will leaves by DISCONNECT, and something else comes on its topic.
  fileprivate mutating func dropAnother() {
    on(6) {
      $0.join("r")
      $0.ask(1, "a")
    }
    on(7) { $0.join("d", will: Self.left()) }
    wait(6)
    on(7) { $0.finish() }
    on(8) {
      $0.join("q")
      $0.say(.client, "a", "4")
      $0.finish()
    }
    on(6) {
      $0.say(.server, "a", "4")
      $0.answerPing()
      $0.finish()
    }
  }

  /// A will comes before its delay is over, and then that of another client as it should.
  fileprivate mutating func beEarly(others count: Int) {
    comeBackSoon { $0.say(.server, "a", "gone") }
    on(5) {
      $0.join("d", will: Self.left())
      $0.close(.client, .reset)
    }
    for _ in 0..<count { say(.server, "a", "left") }
    tell("2")
    part()
  }

  /// A will of 4 bytes does not come, but something that its client says later.
  fileprivate mutating func missLargeWill(_ text: String) {
    attend(.gone(qos: 1))
    on(3) { $0.close(.client) }
    wait(70)
    on(4) {
      $0.join("c")
      $0.say(.client, "a", text, qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
    }
    say(.server, "a", text, qos: 1, id: 1)
    acknowledge(.client, .puback, 1)
    tell("2")
    part()
    on(4) { $0.finish() }
  }

  /// A client that is named gets a message.
  fileprivate mutating func hearAsLamp(_ topic: String, qos: UInt8 = 0) {
    join("lamp", user: "house")
    ask(1, "up/#", qos: 0)
    say(.server, topic, "1", qos: qos, id: 1)
    if qos > 0 { acknowledge(.client, .puback, 1) }
    answerPing()
    finish()
  }
}

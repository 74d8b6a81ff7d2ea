import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages for clients that are away, and what is given up meanwhile.
  static let absences: [SharedCase] = kept + expired + expiredOtherwise + large

  private static let kept: [SharedCase] = [
    SharedCase(
      "a message that was published while the client was away",
      [.messagesAreKept: (0, 1, 0, []), .everySubscriberGetsIt: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.publish("1")
      $0.back { $0.deliver("1") }
    },
    SharedCase(
      "a message that was published before the client left", [.messagesAreKept: (0, 0, 0, [])]
    ) {
      $0.join("s", cleanStart: false)
      $0.ask(1, "a")
      $0.on(2) { $0.join("p") }
      $0.publish("1")
      $0.close(.client)
      $0.back { $0.deliver("1") }
    },
    SharedCase(
      "a message that was published when the client was back", [.messagesAreKept: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.back {
        $0.publish("1")
        $0.deliver("1")
      }
    },
    SharedCase(
      "a message that was published while the client was away, which had not asked for it",
      [.messagesAreKept: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.on(2) {
        $0.say(.client, "b", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.back {
        $0.say(.server, "b", "1", qos: 1, id: 1)
        $0.acknowledge(.client, .puback, 1)
      }
    },
    SharedCase(
      "a message of QoS 0 that was published while the client was away",
      [.messagesAreKept: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.back { $0.say(.server, "a", "1") }
    },
    SharedCase(
      "a message that is left out of those that were published while the client was away",
      [.messagesAreKept: (0, 2, 1, [12])]
    ) {
      $0.leave()
      for text in ["1", "2", "3"] { $0.publish(text) }
      $0.back {
        $0.deliver("1")
        $0.deliver("3")
      }
    },
  ]

  private static let expired: [SharedCase] = [
    SharedCase(
      "a message that expired while the client was away, and is delivered", in: [.v5_0],
      failed: [.expiredIsDeleted], others: ["MQTT-3.3.2-6"],
      [.expiredIsDeleted: (2, 0, 0, [17, 19])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 1)
      $0.publish("2", expiry: 1)
      $0.back(after: 12) {
        $0.deliver("1", expiry: 1)
        $0.deliver("2", expiry: 1)
      }
    },
    SharedCase(
      "messages that expired while the client was away, and come without Message Expiry Interval",
      in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 2, [17, 19]), .expiryIsCountedDown: (0, 0, 2, [17, 19])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 1)
      $0.publish("2", expiry: 1)
      $0.back(after: 12) {
        $0.deliver("1")
        $0.deliver("2")
      }
    },
    SharedCase(
      "what may be a message that expired, or another's that says the same", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 1, [17]), .expiryIsCountedDown: (0, 0, 1, [17])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 1)
      $0.publish("2", expiry: 1)
      $0.back(after: 12) { $0.deliver("1", expiry: 1) }
    },
    SharedCase(
      "messages that expired by two clocks, as one shows that came at once before", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 0, []), .expiryIsCountedDown: (0, 3, 0, [])]
    ) {
      $0.beLate(first: 20)
    },
    SharedCase(
      "messages that expired, by a clock that one before shows to be right", in: [.v5_0],
      failed: [.expiredIsDeleted], others: ["MQTT-3.3.2-6"],
      [.expiredIsDeleted: (2, 0, 0, [19, 21]), .expiryIsCountedDown: (2, 1, 0, [19, 21])]
    ) {
      $0.beLate(first: 0)
    },
    SharedCase(
      "a message that expired a moment before the client was back", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 1, [15]), .expiryIsCountedDown: (0, 0, 1, [15])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 1)
      $0.back(after: 4) { $0.deliver("1", expiry: 1) }
    },
    SharedCase(
      "a message that had not expired when the client was back", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 60)
      $0.back(after: 4) {
        $0.say(.server, "a", "1", qos: 1, id: 1, [.number(.messageExpiryInterval, 56)])
        $0.acknowledge(.client, .puback, 1)
      }
    },
    SharedCase(
      "a message that expired while the client was away, and is left out", in: [.v5_0],
      [.expiredIsDeleted: (0, 1, 0, []), .everySubscriberGetsIt: (0, 0, 1, [12])]
    ) {
      $0.leave()
      $0.publish("1")
      $0.publish("2", expiry: 1)
      $0.publish("3")
      $0.back(after: 4) {
        $0.deliver("1")
        $0.deliver("3")
      }
    },
    SharedCase(
      "a message that had not expired for certain, and is left out", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.publish("1")
      $0.publish("2", expiry: 2)
      $0.publish("3")
      $0.back(after: 3) {
        $0.deliver("1")
        $0.deliver("3")
      }
    },
  ]

  private static let expiredOtherwise: [SharedCase] = [
    SharedCase(
      "a message that expired behind its first delivery", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 1)
      $0.back(after: 12) {
        $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
        $0.acknowledge(.client, .puback, 1)
      }
    },
    SharedCase(
      "a message that expired while its receiver was connected", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 0, []), .expiryIsCountedDown: (0, 0, 1, [11])]
    ) {
      $0.meet()
      $0.publish("1", expiry: 1)
      $0.wait(12)
      $0.deliver("1")
      $0.part()
    },
    SharedCase(
      "a message that may have been published again when it had expired", in: [.v5_0],
      [.expiredIsDeleted: (0, 0, 0, [])]
    ) {
      $0.leave()
      $0.publish("1", expiry: 1)
      $0.wait(1)
      $0.publish("1", expiry: 1)
      $0.back(after: 12) { $0.deliver("1") }
    },
  ]

  private static let large: [SharedCase] = [
    SharedCase(
      "a message that is too large for a client is left out", in: [.v5_0],
      [.tooLargeIsDropped: (0, 1, 0, []), .everySubscriberGetsIt: (0, 0, 1, [11])]
    ) {
      $0.takeSmall()
      for text in ["1", String(repeating: "2", count: 60), "3"] { $0.publish(text) }
      for text in ["1", "3"] { $0.deliver(text) }
      $0.part()
    },
    SharedCase(
      "a message that may be too large for a client is left out", in: [.v5_0],
      [.tooLargeIsDropped: (0, 0, 0, [])]
    ) {
      $0.takeSmall()
      for text in ["1", String(repeating: "2", count: 39), "3"] { $0.publish(text) }
      for text in ["1", "3"] { $0.deliver(text) }
      $0.part()
    },
    SharedCase(
      "a message that is too large for a client is delivered", in: [.v5_0],
      failed: [.serverKeepsPacketSize, .tooLargeIsDropped], [.tooLargeIsDropped: (1, 0, 0, [11])]
    ) {
      $0.takeSmall()
      $0.publish(String(repeating: "2", count: 60))
      $0.deliver(String(repeating: "2", count: 60))
      $0.part()
    },
  ]

  /// Characters that stay what they are.
  static let verbatim: [SharedCase] = [
    SharedCase(
      "a topic that begins with U+FEFF",
      [.markStays: (0, 1, 0, []), .matchingIsRaw: (0, 1, 0, [])]
    ) {
      $0.meet("\u{FEFF}a")
      $0.on(2) { $0.say(.client, "\u{FEFF}a", "1") }
      $0.say(.server, "\u{FEFF}a", "1")
      $0.part()
    },
    SharedCase(
      "a topic that lost its U+FEFF", failed: [.markStays],
      [.markStays: (1, 0, 0, [10]), .matchingIsRaw: (0, 0, 0, [])]
    ) {
      $0.meet("\u{FEFF}a")
      $0.on(2) { $0.say(.client, "\u{FEFF}a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a topic without U+FEFF of another payload", failed: [.topicMatchesFilter], complete: true,
      [.markStays: (0, 0, 0, [])]
    ) {
      $0.meet("\u{FEFF}a")
      $0.on(2) { $0.say(.client, "\u{FEFF}a", "1") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a topic without U+FEFF for a client that wants it so",
      [.markStays: (0, 0, 0, []), .topicMatchesFilter: (0, 1, 0, [])]
    ) {
      $0.meet("a")
      $0.on(2) { $0.say(.client, "\u{FEFF}a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a topic that lost its U+FEFF, and a client that was not seen to go on",
      [.markStays: (0, 0, 1, [11])]
    ) {
      $0.meet("\u{FEFF}a")
      $0.on(2) { $0.say(.client, "\u{FEFF}a", "1") }
      $0.say(.server, "a", "1")
      $0.close(.server)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "a topic in other characters that look the same",
      failed: [.matchingIsRaw, .topicMatchesFilter], [.matchingIsRaw: (1, 0, 0, [10])]
    ) {
      $0.meet("x/\u{E9}")
      $0.on(2) { $0.say(.client, "x/e\u{301}", "1") }
      $0.say(.server, "x/e\u{301}", "1")
      $0.part()
    },
    SharedCase(
      "a topic in other letters, upper for lower, for a filter with wildcards",
      failed: [.matchingIsRaw, .topicMatchesFilter], [.matchingIsRaw: (1, 0, 0, [10])]
    ) {
      $0.meet("+/a/#")
      $0.on(2) { $0.say(.client, "x/A", "1") }
      $0.say(.server, "x/A", "1")
      $0.part()
    },
    SharedCase(
      "a topic of other letters", failed: [.topicMatchesFilter], complete: true,
      [.matchingIsRaw: (0, 0, 0, [])]
    ) {
      $0.meet("x/\u{E9}")
      $0.on(2) { $0.say(.client, "x/\u{E8}", "1") }
      $0.say(.server, "x/\u{E8}", "1")
      $0.part()
    },
    SharedCase(
      "a topic of more levels, and one of fewer", failed: [.topicMatchesFilter], complete: true,
      [.matchingIsRaw: (0, 0, 0, []), .topicMatchesFilter: (2, 0, 0, [9, 10])]
    ) {
      $0.meet("x/\u{E9}")
      $0.say(.server, "x/\u{E9}/y", "1")
      $0.say(.server, "x", "1")
      $0.part()
    },
    SharedCase(
      "a message for a filter that was never removed, beside one that was",
      [.unsubscribedIsExact: (0, 2, 0, []), .unsubscribedGetsNothing: (0, 1, 0, [])]
    ) {
      $0.meet("a")
      $0.ask(2, "+")
      $0.unsubscribe(3, "+")
      $0.unsuback(3)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
  ]
}

extension Script {
  /// A client subscribes and leaves its session behind, and another one publishes: frames 1 to 9.
  fileprivate mutating func leave() {
    join("s", cleanStart: false)
    ask(1, "a")
    close(.client)
    on(2) { $0.join("p") }
  }

  /// A message comes after some seconds; two that expire after 2 s are published while its receiver is away, which gets
  /// them 20 s later as they are.
  fileprivate mutating func beLate(first seconds: Double) {
    let sent = [MQTTProperty.number(.messageExpiryInterval, 2)]
    join("s", cleanStart: false)
    ask(1, "a")
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "0", [.number(.messageExpiryInterval, 60)])
    }
    wait(seconds)
    say(.server, "a", "0", [.number(.messageExpiryInterval, 60)])
    wait(-seconds)
    close(.client)
    for (id, text) in [(1, "1"), (2, "2")] as [(UInt16, String)] {
      on(2) {
        $0.say(.client, "a", text, qos: 1, id: id, sent)
        $0.acknowledge(.server, .puback, id)
      }
    }
    back(after: 20) {
      for (id, text) in [(1, "1"), (2, "2")] as [(UInt16, String)] {
        $0.say(.server, "a", text, qos: 1, id: id, sent)
        $0.acknowledge(.client, .puback, id)
      }
    }
  }

  /// The client is back, and both leave then: two frames more than the block has, and three behind it.
  fileprivate mutating func back(after seconds: Double = 0, _ body: (inout Script) -> Void) {
    wait(seconds)
    on(3) {
      $0.join("s", cleanStart: false, isPresent: true)
      body(&$0)
      $0.answerPing()
      $0.finish()
    }
    on(2) { $0.finish() }
  }

  /// A message is published at QoS 1: two frames.
  fileprivate mutating func publish(_ text: String, expiry: Int? = nil) {
    let properties = expiry.map { [MQTTProperty.number(.messageExpiryInterval, $0)] } ?? []
    on(2) {
      $0.say(.client, "a", text, qos: 1, id: 1, properties)
      $0.acknowledge(.server, .puback, 1)
    }
  }

  /// A message comes and is acknowledged: two frames.
  fileprivate mutating func deliver(_ text: String, expiry: Int? = nil) {
    let properties = expiry.map { [MQTTProperty.number(.messageExpiryInterval, $0)] } ?? []
    say(.server, "a", text, qos: 1, id: 1, properties)
    acknowledge(.client, .puback, 1)
  }

  /// A client that takes packets of 40 bytes subscribes, and another one is to publish: frames 1 to 8.
  fileprivate mutating func takeSmall() {
    agree([.number(.maximumPacketSize, 40)], clientID: "s")
    ask(1, "a")
    on(2) { $0.join("p") }
  }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Which clients get a message, and at which QoS.
  static let routing: [SharedCase] = [
    SharedCase(
      "a subscription whose first SUBACK comes behind that to a newer request",
      [.grantedQoSIsKept: (0, 1, 0, [])]
    ) {
      $0.join("s")
      $0.client(.subscribe(packetID: 1, [.init("a", options: 0)], []))
      $0.client(.subscribe(packetID: 2, [.init("a", options: 1)], []))
      $0.suback(2, 1)
      $0.suback(1, 0)
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "m", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "m", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message at the lower of both QoS", [.grantedQoSIsKept: (0, 2, 0, [])]
    ) {
      $0.meet(qos: 1)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.on(2) {
        $0.say(.client, "a", "2", qos: 2, id: 1)
        $0.acknowledge(.server, .pubrec, 1)
        $0.acknowledge(.client, .pubrel, 1)
        $0.acknowledge(.server, .pubcomp, 1)
      }
      $0.say(.server, "a", "2", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message above the QoS that was granted", failed: [.grantedQoSIsKept],
      [.grantedQoSIsKept: (1, 0, 0, [6])]
    ) {
      $0.join("s")
      $0.ask(1, "a", qos: 0)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a message above the QoS that was granted, in a session that may have another filter",
      [.grantedQoSIsKept: (0, 0, 1, [6])]
    ) {
      $0.join("s", cleanStart: false, isPresent: true)
      $0.ask(1, "a", qos: 0)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a message above the QoS that was granted, though more was asked for",
      failed: [.grantedQoSIsKept], [.grantedQoSIsKept: (1, 0, 0, [6])]
    ) {
      $0.join("s")
      $0.subscribe(1, "a", qos: 2)
      $0.suback(1, 0)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a message at the QoS that the client asks for anew, in front of the SUBACK",
      [.grantedQoSIsKept: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", qos: 0)
      $0.subscribe(2, "a", qos: 1)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.suback(2, 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a message for a filter that stands beside that of a group", in: [.v5_0],
      [.unsubscribedGetsNothing: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a")
      $0.ask(2, "$share/g/a")
      $0.unsubscribe(3, "$share/g/a")
      $0.unsuback(3)
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1")
      }
      $0.say(.server, "a", "1")
      $0.close(.client)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "a message above the QoS of its filter, though another one that is gone had it",
      [.grantedQoSIsKept: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", qos: 0)
      $0.ask(2, "+", qos: 1)
      $0.unsubscribe(3, "+")
      $0.unsuback(3)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a message above its own QoS", failed: [.grantedQoSIsKept], complete: true,
      [.grantedQoSIsKept: (1, 0, 0, [10])]
    ) { $0.raise("1") },
    SharedCase(
      "a message of 15 bytes above its own QoS", [.grantedQoSIsKept: (0, 0, 1, [10])]
    ) { $0.raise("fifteen bytes .") },
    SharedCase(
      "a message of 16 bytes above its own QoS", failed: [.grantedQoSIsKept],
      [.grantedQoSIsKept: (1, 0, 0, [10])]
    ) { $0.raise("sixteen bytes ..") },
    SharedCase(
      "a message above its own QoS, which another one may have published",
      [.grantedQoSIsKept: (0, 0, 1, [10])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      // No client in the capture has published it.
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a message below both QoS", failed: [.grantedQoSIsKept], complete: true,
      [.grantedQoSIsKept: (1, 0, 0, [11])]
    ) {
      $0.meet(qos: 1)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a message of 16 bytes below both QoS", failed: [.grantedQoSIsKept],
      [.grantedQoSIsKept: (1, 0, 0, [11])]
    ) {
      $0.meet(qos: 1)
      $0.on(2) {
        $0.say(.client, "a", "sixteen bytes ..", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "sixteen bytes ..")
      $0.part()
    },
    SharedCase(
      "a message that was published twice, at two QoS", [.grantedQoSIsKept: (0, 0, 1, [12])]
    ) {
      $0.meet(qos: 1)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
        $0.say(.client, "a", "1")
      }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a message that was published twice at one QoS", failed: [.grantedQoSIsKept], complete: true,
      [.grantedQoSIsKept: (1, 1, 0, [13])]
    ) {
      $0.meet(qos: 1)
      for id: UInt16 in 1...2 {
        $0.on(2) { $0.say(.client, "a", "1", qos: 1, id: id) }
        $0.say(.server, "a", "1", qos: UInt8(2 - id), id: 2 - id)
        $0.on(2) { $0.acknowledge(.server, .puback, id) }
      }
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message that was published long before as well",
      [.grantedQoSIsKept: (0, 1, 0, []), .orderIsKept: (0, 0, 0, [])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.wait(31)
      $0.join("s")
      $0.ask(1, "a", qos: 1)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message that was on its way when the client subscribed",
      [.grantedQoSIsKept: (0, 0, 1, [10])]
    ) {
      $0.join("s")
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", qos: 1, id: 1)
      }
      $0.ask(1, "a", qos: 1)
      $0.say(.server, "a", "1")
      $0.on(2) { $0.acknowledge(.server, .puback, 1) }
      $0.part()
    },
    SharedCase(
      "overlapping filters, and one copy at the lower QoS", failed: [.overlapsGetHighestQoS],
      [.overlapsGetHighestQoS: (1, 0, 0, [13])]
    ) {
      $0.overlap()
      $0.say(.server, "a", "1")
      $0.next()
      $0.part()
    },
    SharedCase(
      "overlapping filters, and one copy for each",
      [.overlapsGetHighestQoS: (0, 1, 0, []), .grantedQoSIsKept: (0, 1, 0, [])]
    ) {
      $0.overlap()
      $0.say(.server, "a", "1")
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.next()
      $0.part()
    },
    SharedCase(
      "overlapping filters, and the copy at the lower QoS comes last",
      [.overlapsGetHighestQoS: (0, 1, 1, [15])]
    ) {
      $0.overlap()
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.say(.server, "a", "1")
      $0.next()
      $0.part()
    },
    SharedCase(
      "overlapping filters, and the copy of one above the QoS of the message",
      failed: [.grantedQoSIsKept], complete: true,
      [.overlapsGetHighestQoS: (0, 0, 0, []), .grantedQoSIsKept: (1, 1, 0, [14])]
    ) {
      $0.meet(qos: 0)
      $0.ask(2, "+", qos: 2)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.wait(1)
      $0.say(.server, "a", "1")
      $0.say(.server, "a", "1", qos: 2, id: 1)
      $0.complete(.server, 1)
      $0.next()
      $0.part()
    },
    SharedCase(
      "overlapping filters, and an end in front of a second copy",
      [.overlapsGetHighestQoS: (0, 0, 1, [13])]
    ) {
      $0.overlap()
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a $ topic for a filter that begins with a wildcard",
      failed: [.wildcardsSpareDollarTopics, .topicMatchesFilter],
      [.wildcardsSpareDollarTopics: (1, 0, 0, [6])]
    ) {
      $0.join("s")
      $0.ask(1, "#")
      $0.say(.server, "$SYS/uptime", "1")
      $0.part(alone: true)
    },
    SharedCase(
      "a $ topic for a filter that names it", [.wildcardsSpareDollarTopics: (0, 1, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "#")
      $0.ask(2, "$SYS/#")
      $0.say(.server, "$SYS/uptime", "1")
      $0.part(alone: true)
    },
    SharedCase(
      "a message at a lower QoS than it was published with, one more than were published",
      [.grantedQoSIsKept: (0, 2, 1, [17])]
    ) {
      $0.sayTwice {
        $0.take("1", 2)
        $0.say(.server, "a", "1")
      }
    },
    SharedCase(
      "a client's own messages though its filter is No Local", in: [.v5_0],
      failed: [.noLocalIsKept], [.noLocalIsKept: (2, 0, 0, [7, 9])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b100)
      for text in ["the first of two", "the second of two"] {
        $0.say(.client, "a", text)
        $0.say(.server, "a", text)
      }
      $0.part(alone: true)
    },
    SharedCase(
      "what may be a client's own message, or another's that says the same", in: [.v5_0],
      [.noLocalIsKept: (0, 0, 1, [7])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b100)
      $0.say(.client, "a", "the first of two")
      $0.say(.server, "a", "the first of two")
      $0.say(.client, "a", "2")
      $0.part(alone: true)
    },
    SharedCase(
      "another client's message for a filter that is No Local", in: [.v5_0],
      [.noLocalIsKept: (0, 1, 0, [])]
    ) {
      $0.meet(options: 0b100)
      $0.say(.client, "a", "1")
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a client's own message for a filter that is No Local and one that is not", in: [.v5_0],
      [.noLocalIsKept: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b100)
      $0.ask(2, "+")
      $0.say(.client, "a", "1")
      $0.say(.server, "a", "1")
      $0.part(alone: true)
    },
    SharedCase(
      "a message that was published behind the UNSUBACK",
      failed: [.unsubscribedGetsNothing, .unsubscribedIsExact],
      [.unsubscribedGetsNothing: (1, 0, 0, [12]), .unsubscribedIsExact: (1, 0, 0, [12])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.wait(1)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a message that was published at once behind the UNSUBACK",
      [.unsubscribedGetsNothing: (0, 0, 1, [12]), .unsubscribedIsExact: (0, 0, 1, [12])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "two messages that were published at once behind the UNSUBACK",
      failed: [.unsubscribedGetsNothing, .unsubscribedIsExact],
      [.unsubscribedGetsNothing: (2, 0, 0, [12, 14]), .unsubscribedIsExact: (2, 0, 0, [12, 14])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      for text in ["1", "2"] { $0.tell(text) }
      $0.part()
    },
    SharedCase(
      "a message that was published in front of the UNSUBACK",
      [.unsubscribedGetsNothing: (0, 1, 1, [12]), .unsubscribedIsExact: (0, 1, 1, [12])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "a")
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.unsuback(2)
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "nothing behind the UNSUBACK",
      [.unsubscribedGetsNothing: (0, 1, 0, []), .unsubscribedIsExact: (0, 1, 0, [])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.part()
    },
    SharedCase(
      "a shared message above the QoS that was granted", in: [.v5_0],
      failed: [.grantedQoSIsKept, .sharedQoSIsKept], [.sharedQoSIsKept: (1, 1, 0, [7])]
    ) {
      $0.join("s")
      $0.ask(1, "$share/g/a", qos: 0)
      $0.say(.server, "a", "1")
      $0.say(.server, "a", "2", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a topic behind an alias that no filter matches", in: [.v5_0],
      failed: [.topicMatchesFilter], complete: true, [.topicMatchesFilter: (1, 1, 0, [7])]
    ) {
      $0.open()
      $0.client(
        .connect(
          .init(clientID: "s", keepAlive: 0, properties: [.number(.topicAliasMaximum, 2)])))
      $0.server(.connack(.init()))
      $0.ask(1, "a")
      $0.say(.server, "a", "1", [.number(.topicAlias, 1)])
      $0.say(.server, "b", "1", [.number(.topicAlias, 1)])
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a topic behind an alias that a filter matches", in: [.v5_0],
      [.topicMatchesFilter: (0, 2, 0, [])]
    ) {
      $0.open()
      $0.client(
        .connect(
          .init(clientID: "s", keepAlive: 0, properties: [.number(.topicAliasMaximum, 2)])))
      $0.server(.connack(.init()))
      $0.ask(1, "a")
      $0.say(.server, "a", "1", [.number(.topicAlias, 1)])
      $0.say(.server, "", "2", [.number(.topicAlias, 1)])
      $0.answerPing()
      $0.finish()
    },
  ]
}

extension Script {
  /// The client on connection 1 leaves, and there is no other one.
  mutating func part(alone: Bool) {
    answerPing()
    finish()
  }

  /// A client publishes a message at QoS 0, which another one gets at QoS 1 in frame 10.
  fileprivate mutating func raise(_ payload: String) {
    meet()
    on(2) { $0.say(.client, "a", payload) }
    say(.server, "a", payload, qos: 1, id: 1)
    acknowledge(.client, .puback, 1)
    part()
  }

  /// A client publishes a message at QoS 1 twice, and another one gets it once: frames 1 to 14.
  fileprivate mutating func sayTwice(_ more: (inout Script) -> Void) {
    meet(qos: 1)
    on(2) {
      for id in [1, 2] as [UInt16] {
        $0.say(.client, "a", "1", qos: 1, id: id)
        $0.acknowledge(.server, .puback, id)
      }
    }
    take("1", 1)
    more(&self)
    part()
  }

  /// A message comes at QoS 1 and is acknowledged: two frames.
  fileprivate mutating func take(_ payload: String, _ id: UInt16) {
    say(.server, "a", payload, qos: 1, id: id)
    acknowledge(.client, .puback, id)
  }

  /// A client that has a at QoS 0 and + at QoS 1, and a message with QoS 1 on a: frames 1 to 12.
  fileprivate mutating func overlap() {
    meet(qos: 0)
    ask(2, "+", qos: 1)
    on(2) {
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
    }
  }

  /// Another message, for one of the filters.
  fileprivate mutating func next() {
    on(2) { $0.say(.client, "b", "2") }
    say(.server, "b", "2")
  }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// A message that is retained while a client is subscribed, which subscribes anew much later and gets it without RETAIN.
  private static func waiting(
    _ name: String, qos: UInt8, failed: [MQTTRule] = [], _ counts: Counts
  ) -> SharedCase {
    SharedCase(name, failed: failed, counts) {
      $0.meet()
      $0.on(2) {
        $0.say(.client, "a", "1", qos: qos, id: UInt16(qos), retain: true)
        if qos > 0 { $0.acknowledge(.server, .puback, 1) }
      }
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.wait(62)
      $0.ask(3, "a")
      $0.say(.server, "a", "1", qos: qos, id: UInt16(qos))
      if qos > 0 { $0.acknowledge(.client, .puback, 1) }
      $0.part()
    }
  }

  /// The RETAIN flag, and retained messages.
  static let retaining: [SharedCase] = [
    SharedCase(
      "a live message without RETAIN", [.liveIsNotRetained: (0, 1, 0, [])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a live message with RETAIN", failed: [.liveIsNotRetained],
      [.liveIsNotRetained: (1, 1, 0, [10])]
    ) { $0.mark(after: 2.1) },
    SharedCase(
      "a live message with RETAIN, where what is retained may just be read",
      [.liveIsNotRetained: (0, 1, 1, [10])]
    ) { $0.mark(after: 1.9) },
    SharedCase(
      "a live message beside the retained one that is the same",
      [.liveIsNotRetained: (0, 2, 0, [])]
    ) {
      $0.meet()
      $0.wait(3)
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.say(.server, "a", "1", retain: true)
      $0.say(.server, "a", "1")
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a message that may be retained comes as such to a client that has another one open",
      [.liveIsNotRetained: (0, 1, 1, [14])]
    ) { $0.retainBehindOpen() },
    SharedCase(
      "a message that can't be retained comes as such to a client that has another one open",
      in: [.v5_0], [.liveIsNotRetained: (0, 1, 1, [14])]
    ) { $0.retainBehindOpen(options: 0x20) },
    SharedCase(
      "a live message in front of the retained one that is the same",
      [.liveIsNotRetained: (0, 2, 1, [11])]
    ) {
      $0.meet()
      $0.wait(3)
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.say(.server, "a", "1")
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a retained message for a new subscription that comes again", in: [.v3_1_1],
      [.retainedIsMarked: (0, 1, 0, []), .newSubscriptionGetsRetained: (0, 1, 0, [])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", qos: 1, id: 1, retain: true)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.wait(2)
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", qos: 1, id: 1, retain: true)
      $0.say(.server, "a", "1", qos: 1, id: 1, retain: true, dup: true)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message with RETAIN that the client asked for meanwhile",
      [.liveIsNotRetained: (0, 1, 0, []), .newSubscriptionGetsRetained: (0, 0, 0, [])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.ask(2, "a")
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a bridge gets RETAIN as it was published", in: [.v3_1_1], [.liveIsNotRetained: (0, 0, 0, [])]
    ) {
      $0.open()
      // CONNECT of a bridge: level 0x84, clean session, no keep alive, "s".
      $0.client(hex: "10 0D 00 04 4D 51 54 54 84 02 00 00 00 01 73")
      $0.server(.connack(.init()))
      $0.ask(1, "a")
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "RETAIN as it was published", in: [.v5_0],
      [.retainIsAsPublished: (0, 2, 0, []), .liveIsNotRetained: (0, 0, 0, [])]
    ) {
      $0.meet(options: 0b1000)
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "RETAIN not as it was published", in: [.v5_0], failed: [.retainIsAsPublished], complete: true,
      [.retainIsAsPublished: (1, 1, 0, [10])]
    ) {
      $0.meet(options: 0b1000)
      $0.on(2) { $0.say(.client, "a", "1", retain: true) }
      $0.say(.server, "a", "1")
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "RETAIN that was not published, of a state that somebody else may have said", in: [.v5_0],
      failed: [.retainIsAsPublished], complete: true, [.retainIsAsPublished: (1, 1, 0, [10])]
    ) {
      $0.meet(options: 0b1000)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a message without RETAIN beside the same one that was retained before the capture",
      [.liveIsNotRetained: (0, 2, 1, [11])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a message without RETAIN behind the same one that was retained before the capture",
      [.liveIsNotRetained: (0, 2, 0, [])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1", retain: true)
      $0.say(.server, "a", "1")
      $0.on(2) { $0.say(.client, "a", "2") }
      $0.say(.server, "a", "2")
      $0.part()
    },
    SharedCase(
      "a retained message for a new subscription",
      [.retainedIsMarked: (0, 1, 0, []), .newSubscriptionGetsRetained: (0, 1, 0, [])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.wait(2)
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", retain: true)
      $0.part()
    },
    SharedCase(
      "a retained message for a new subscription without RETAIN",
      failed: [.retainedIsMarked], [.retainedIsMarked: (1, 0, 0, [10])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.wait(62)
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "1")
      $0.part()
    },
    waiting(
      "a retained message without RETAIN, which may have waited for a subscription that was removed",
      qos: 1, [.retainedIsMarked: (0, 0, 1, [15])]),
    waiting(
      "a retained message at QoS 0 without RETAIN behind a subscription that was removed",
      qos: 0, failed: [.retainedIsMarked], [.retainedIsMarked: (1, 0, 0, [14])]),
    SharedCase(
      "a message that was just published when the client subscribed",
      [.retainedIsMarked: (0, 0, 0, [])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a retained message without RETAIN where Retain Handling is 2", in: [.v5_0],
      [.retainedIsMarked: (0, 0, 0, []), .handlingSendsNothing: (0, 1, 0, [])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.wait(62)
      $0.join("s")
      $0.ask(1, "a", options: 0b10_0000)
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a retained message though Retain Handling is 2", in: [.v5_0],
      failed: [.handlingSendsNothing], [.handlingSendsNothing: (1, 1, 0, [6])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b10_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.say(.server, "a", "2")
      $0.part(alone: true)
    },
    SharedCase(
      "no retained message where Retain Handling is 2", in: [.v5_0],
      [.handlingSendsNothing: (0, 1, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b10_0000)
      $0.say(.server, "a", "2")
      $0.part(alone: true)
    },
    SharedCase(
      "a retained message though Retain Handling is 2, and was 0", in: [.v5_0],
      [.handlingSendsNothing: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a")
      $0.ask(2, "a", options: 0b10_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a retained message again though Retain Handling is 1", in: [.v5_0],
      failed: [.handlingSendsOnce], [.handlingSendsOnce: (1, 1, 0, [9])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.ask(2, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a retained message again though Retain Handling is 1, in a session that is older",
      in: [.v5_0], [.handlingSendsOnce: (0, 0, 2, [6, 9])]
    ) {
      $0.join("s", cleanStart: false, isPresent: true)
      $0.ask(1, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.ask(2, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a retained message for the first of two subscriptions with Retain Handling 1", in: [.v5_0],
      [.handlingSendsOnce: (0, 1, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b01_0000)
      $0.ask(2, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "retained messages behind UNSUBSCRIBE with Retain Handling 1", in: [.v5_0],
      [.handlingSendsOnce: (0, 2, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.ask(3, "a", options: 0b01_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
  ]
}

extension Script {
  /// Some time after a client has subscribed another one publishes a message with RETAIN, which it gets with RETAIN in
  /// frame 10; and then one without.
  fileprivate mutating func mark(after seconds: Double) {
    meet()
    wait(seconds)
    on(2) { $0.say(.client, "a", "1", retain: true) }
    say(.server, "a", "1", retain: true)
    on(2) { $0.say(.client, "a", "2") }
    say(.server, "a", "2")
    part()
  }

  /// The subscriber gets two messages that were published without RETAIN, the second one with it in frame 14, and answers
  /// both behind that.
  fileprivate mutating func retainBehindOpen(options: UInt8 = 0) {
    meet(options: options)
    for (id, text) in [(1, "1"), (2, "2")] as [(UInt16, String)] {
      on(2) {
        $0.say(.client, "a", text, qos: 1, id: id)
        $0.acknowledge(.server, .puback, id)
      }
      say(.server, "a", text, qos: 1, id: id, retain: id == 2)
    }
    acknowledge(.client, .puback, 1)
    acknowledge(.client, .puback, 2)
    part()
  }
}

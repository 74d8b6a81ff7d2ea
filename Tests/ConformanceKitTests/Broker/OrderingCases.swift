import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Two messages that are published one behind the other, and answered behind the delivery of the second.
  private static func answered(
    _ name: String, by code: UInt8, failed: [MQTTRule] = [], _ counts: Counts
  ) -> SharedCase {
    SharedCase(name, in: [.v5_0], failed: failed, counts) {
      $0.meet()
      $0.publish(1)
      $0.deliver(1)
      $0.wait(2)
      $0.on(2) {
        for number in 2...3 as ClosedRange<UInt16> {
          $0.say(.client, "a", "\(number)", qos: 1, id: number)
        }
      }
      $0.deliver(3)
      $0.on(2) {
        $0.server(.acknowledgement(.puback, packetID: 2, .init(code)))
        $0.acknowledge(.server, .puback, 3)
      }
      $0.wait(2)
      $0.publish(4)
      $0.deliver(4)
      $0.part()
    }
  }

  /// The order of messages, and how often they come.
  static let ordering: [SharedCase] = [
    SharedCase(
      "three messages in their order",
      [
        .orderIsKept: (0, 2, 0, []), .topicsAreOrdered: (0, 2, 0, []),
        .everySubscriberGetsIt: (0, 2, 0, []),
      ]
    ) {
      $0.meet()
      for number in 1...3 { $0.publish(number) }
      for number in 1...3 { $0.deliver(number) }
      $0.part()
    },
    SharedCase(
      "two messages in the other order", failed: [.orderIsKept],
      [
        .orderIsKept: (1, 0, 0, [15]), .topicsAreOrdered: (0, 0, 1, [15]),
        .everySubscriberGetsIt: (0, 0, 0, []),
      ]
    ) {
      $0.meet()
      for number in 1...2 { $0.publish(number) }
      $0.deliver(2)
      $0.deliver(1)
      $0.part()
    },
    SharedCase(
      "a message that comes once more behind a later one",
      [.orderIsKept: (0, 1, 1, [17]), .everySubscriberGetsIt: (0, 1, 0, [])]
    ) {
      $0.meet()
      for number in 1...2 { $0.publish(number) }
      $0.deliver(1)
      $0.deliver(2)
      $0.deliver(1)
      $0.part()
    },
    SharedCase(
      "a message that is sent again behind a later one", in: [.v3_1_1],
      [.orderIsKept: (0, 1, 0, []), .everySubscriberGetsIt: (0, 1, 0, [])]
    ) {
      $0.meet()
      for number in 1...2 { $0.publish(number) }
      $0.deliver(1)
      $0.deliver(2)
      $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "the middle one of three comes last", failed: [.orderIsKept],
      [.orderIsKept: (1, 1, 0, [19]), .everySubscriberGetsIt: (0, 0, 1, [11])]
    ) {
      $0.meet()
      for number in 1...3 { $0.publish(number) }
      $0.deliver(1)
      $0.deliver(3)
      $0.deliver(2)
      $0.part()
    },
    SharedCase(
      "messages of two publishers", [.orderIsKept: (0, 0, 0, [])]
    ) {
      $0.meet()
      $0.publish(1)
      $0.on(3) {
        $0.join("q")
        $0.say(.client, "a", "2", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.deliver(2)
      $0.deliver(1)
      $0.part()
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a message that is left out", failed: [.everySubscriberGetsIt],
      [.orderIsKept: (0, 2, 0, []), .everySubscriberGetsIt: (1, 1, 0, [17])]
    ) {
      $0.meet()
      for number in 1...4 {
        $0.wait(2)
        $0.publish(number)
        if number != 2 { $0.deliver(number) }
      }
      $0.part()
    },
    SharedCase(
      "the first of two messages of one frame is left out", failed: [.everySubscriberGetsIt],
      [.orderIsKept: (0, 2, 0, []), .everySubscriberGetsIt: (1, 1, 0, [16])]
    ) {
      $0.meet()
      $0.wait(2)
      $0.publish(1)
      $0.deliver(1)
      $0.wait(2)
      $0.on(2) {
        $0.say(.client, "a", "2", qos: 1, id: 2)
        $0.goBack(1)
        $0.say(.client, "a", "3", qos: 1, id: 3)
        for id in [2, 3] as [UInt16] { $0.acknowledge(.server, .puback, id) }
      }
      $0.deliver(3)
      $0.wait(2)
      $0.publish(4)
      $0.deliver(4)
      $0.part()
    },
    SharedCase(
      "a message that is left out, and nothing behind it",
      [.everySubscriberGetsIt: (0, 0, 1, [17])]
    ) {
      $0.meet()
      for number in 1...3 {
        $0.wait(2)
        $0.publish(number)
        if number != 2 { $0.deliver(number) }
      }
      $0.part()
    },
    SharedCase(
      "a message that is left out a moment after another one was answered",
      [.orderIsKept: (0, 2, 0, []), .everySubscriberGetsIt: (0, 1, 1, [13])]
    ) {
      $0.meet()
      for number in 1...4 {
        $0.publish(number)
        if number != 2 { $0.deliver(number) }
      }
      $0.part()
    },
    SharedCase(
      "a message that is left out while another one is open",
      [.everySubscriberGetsIt: (0, 1, 1, [12])]
    ) {
      $0.meet()
      $0.publish(1)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.publish(2)
      $0.acknowledge(.client, .puback, 1)
      for number in 3...4 {
        $0.publish(number)
        $0.deliver(number)
      }
      $0.part()
    },
    SharedCase(
      "a message that the server refused", in: [.v5_0], [.everySubscriberGetsIt: (0, 1, 1, [11])]
    ) {
      $0.meet()
      $0.publish(1)
      $0.on(2) {
        $0.say(.client, "a", "2", qos: 1, id: 2)
        $0.server(.acknowledgement(.puback, packetID: 2, .init(0x97)))
      }
      for number in 3...4 { $0.publish(number) }
      for number in [1, 3, 4] { $0.deliver(number) }
      $0.part()
    },
    answered(
      "a message that the server refuses behind the delivery of the next one", by: 0x97,
      [.everySubscriberGetsIt: (0, 1, 1, [15])]),
    answered(
      "a message that the server takes behind the delivery of the next one", by: 0,
      failed: [.everySubscriberGetsIt], [.everySubscriberGetsIt: (1, 1, 0, [15])]),
    SharedCase(
      "a message that the server refused without a reason", in: [.v5_0],
      [.everySubscriberGetsIt: (0, 1, 1, [11])]
    ) {
      $0.meet()
      $0.publish(1)
      $0.on(2) {
        $0.say(.client, "a", "2", qos: 1, id: 2)
        $0.server(.acknowledgement(.puback, packetID: 2, .init(0x80)))
      }
      for number in 3...4 { $0.publish(number) }
      for number in [1, 3, 4] { $0.deliver(number) }
      $0.part()
    },
    SharedCase(
      "a message that may expire", in: [.v5_0], [.everySubscriberGetsIt: (0, 1, 1, [11])]
    ) {
      $0.meet()
      $0.publish(1)
      $0.on(2) {
        $0.say(.client, "a", "2", qos: 1, id: 2, [.number(.messageExpiryInterval, 1)])
        $0.acknowledge(.server, .puback, 2)
      }
      for number in 3...4 { $0.publish(number) }
      for number in [1, 3, 4] { $0.deliver(number) }
      $0.part()
    },
    SharedCase(
      "a message of QoS 2 that was sent again comes twice", in: [.v3_1_1],
      failed: [.repeatIsDeliveredOnce], [.repeatIsDeliveredOnce: (1, 1, 0, [18])]
    ) {
      $0.meet()
      $0.publishTwice()
      for id: UInt16 in 1...2 { $0.deliverExactly(id) }
      $0.part()
    },
    SharedCase(
      "a message of QoS 2 that was sent again comes once", in: [.v3_1_1],
      [.repeatIsDeliveredOnce: (0, 1, 0, [])]
    ) {
      $0.meet()
      $0.publishTwice()
      $0.deliverExactly(1)
      $0.part()
    },
    SharedCase(
      "a message of QoS 2 that was sent again in the resumed session comes twice",
      failed: [.repeatIsDeliveredOnce], [.repeatIsDeliveredOnce: (1, 1, 0, [22])]
    ) {
      $0.publishAcross()
      $0.deliverExactly(1)
      $0.deliverExactly(2)
      $0.part(alone: true)
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a message of QoS 2 that was sent again in the resumed session comes once",
      [.repeatIsDeliveredOnce: (0, 1, 0, [])]
    ) {
      $0.publishAcross()
      $0.deliverExactly(1)
      $0.part(alone: true)
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a message of QoS 2 that was sent again in a session that may be another one",
      [.repeatIsDeliveredOnce: (0, 0, 0, [])]
    ) {
      $0.publishAcross(after: 10)
      $0.deliverExactly(1)
      $0.deliverExactly(2)
      $0.part(alone: true)
      $0.on(3) { $0.finish() }
    },
  ]
}

extension Script {
  /// The client on connection 2 publishes a number with QoS 1: two frames.
  fileprivate mutating func publish(_ number: Int) {
    on(2) {
      $0.say(.client, "a", "\(number)", qos: 1, id: UInt16(number))
      $0.acknowledge(.server, .puback, UInt16(number))
    }
  }

  /// The client on connection 1 gets a number and acknowledges it: two frames.
  fileprivate mutating func deliver(_ number: Int) {
    say(.server, "a", "\(number)", qos: 1, id: UInt16(number))
    acknowledge(.client, .puback, UInt16(number))
  }

  /// The client on connection 1 gets the message with QoS 2: four frames.
  fileprivate mutating func deliverExactly(_ id: UInt16) {
    say(.server, "a", "1", qos: 2, id: id)
    acknowledge(.client, .pubrec, id)
    acknowledge(.server, .pubrel, id)
    acknowledge(.client, .pubcomp, id)
  }

  /// A client publishes with QoS 2 on connection 2, and again on connection 3 that resumes its session: frames 1 to 18.
  fileprivate mutating func publishAcross(after seconds: Double = 0) {
    join("s")
    ask(1, "a")
    on(2) {
      $0.join("p", cleanStart: false)
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.close(.client)
    }
    wait(seconds)
    on(3) {
      $0.join("p", cleanStart: false, isPresent: true)
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
    }
  }

  /// The client on connection 2 publishes with QoS 2 and sends that again: five frames.
  fileprivate mutating func publishTwice() {
    on(2) {
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
    }
  }
}

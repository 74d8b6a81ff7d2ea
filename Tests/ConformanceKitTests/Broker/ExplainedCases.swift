import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What looks like a violation and has an innocent explanation, each beside what has none.
  static let explained: [SharedCase] = kept + removed + queued + unanswered + changed + unseen

  // MARK: What the server kept from before

  private static let kept: [SharedCase] = [
    SharedCase(
      "a message with RETAIN, kept from before, of the topic and payload of one with a lower QoS",
      [.grantedQoSIsKept: (0, 0, 1, [10]), .liveIsNotRetained: (0, 0, 0, [])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1")
      }
      $0.wait(5)
      $0.join("s")
      $0.ask(1, "a", qos: 1)
      $0.say(.server, "a", "1", qos: 1, id: 1, retain: true)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message with RETAIN above the QoS of the retained one that took its place",
      failed: [.grantedQoSIsKept], complete: true, [.grantedQoSIsKept: (1, 0, 0, [10])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.wait(5)
      $0.join("s")
      $0.ask(1, "a", qos: 1)
      $0.say(.server, "a", "1", qos: 1, id: 1, retain: true)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message with RETAIN above the QoS of a retained one that may come to the server later",
      [.grantedQoSIsKept: (0, 0, 1, [10])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", retain: true)
      }
      $0.join("s")
      $0.ask(1, "a", qos: 1)
      $0.say(.server, "a", "1", qos: 1, id: 1, retain: true)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message with RETAIN and without the Content Type of one that has its topic and payload",
      in: [.v5_0], [.contentTypeIsForwarded: (0, 0, 1, [10])]
    ) {
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", [.text(.contentType, "x")])
      }
      $0.wait(5)
      $0.join("s")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", retain: true)
      $0.part()
    },
    SharedCase(
      "a message with RETAIN as it was published, above its QoS, soon after the client subscribed",
      in: [.v5_0], [.grantedQoSIsKept: (0, 0, 1, [10])]
    ) { $0.raise(after: 59) },
    SharedCase(
      "a message with RETAIN as it was published, above its QoS, long after the client subscribed",
      in: [.v5_0], failed: [.grantedQoSIsKept], complete: true,
      [.grantedQoSIsKept: (1, 0, 0, [10])]
    ) { $0.raise(after: 61) },
    SharedCase(
      "a message with RETAIN that its receiver has published itself, but not retained", in: [.v5_0],
      [.noLocalIsKept: (0, 0, 1, [7])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b100)
      $0.say(.client, "a", "1")
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a message with RETAIN for a filter that wants none, and had the flag as published before",
      in: [.v5_0], [.handlingSendsNothing: (0, 0, 1, [8])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b10_1000)
      $0.ask(2, "a", options: 0b10_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a message with RETAIN for a filter that wants none", in: [.v5_0],
      failed: [.handlingSendsNothing], [.handlingSendsNothing: (1, 0, 0, [8])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b10_0000)
      $0.ask(2, "a", options: 0b10_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a message with RETAIN once more for the shared subscription beside a plain one",
      in: [.v5_0], [.handlingSendsOnce: (0, 1, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b1_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.ask(2, "$share/g/a", options: 0b1_0000)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
  ]

  // MARK: What is on its way for a filter that was removed

  private static let removed: [SharedCase] = [
    SharedCase(
      "a message with RETAIN for a filter that wants none, when one that wants them was removed",
      in: [.v5_0], [.handlingSendsNothing: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b10_0000)
      $0.ask(2, "+")
      $0.unsubscribe(3, "+")
      $0.unsuback(3)
      $0.say(.server, "a", "1", retain: true)
      $0.part(alone: true)
    },
    SharedCase(
      "a copy at the QoS of a filter that was removed behind the message",
      [.grantedQoSIsKept: (0, 0, 1, [15])]
    ) {
      $0.meet(qos: 1)
      $0.ask(2, "+", qos: 0)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.unsubscribe(3, "+")
      $0.unsuback(3)
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a copy at the QoS of a filter that was removed in front of the message",
      failed: [.grantedQoSIsKept], complete: true, [.grantedQoSIsKept: (1, 0, 0, [15])]
    ) {
      $0.meet(qos: 1)
      $0.ask(2, "+", qos: 0)
      $0.unsubscribe(3, "+")
      $0.unsuback(3)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a client's own message for a filter that was removed, beside one that is No Local",
      in: [.v5_0], [.noLocalIsKept: (0, 0, 1, [11])]
    ) {
      $0.join("s")
      $0.ask(1, "a", options: 0b100)
      $0.ask(2, "+")
      $0.say(.client, "a", "1")
      $0.unsubscribe(3, "+")
      $0.unsuback(3)
      $0.say(.server, "a", "1")
      $0.part(alone: true)
    },
    SharedCase(
      "no number, when a filter without one was removed", in: [.v5_0],
      [.overlapsAreNumbered: (0, 0, 0, [])]
    ) {
      $0.join("s")
      for (id, filter) in [(UInt16(1), "a"), (2, "+")] {
        $0.client(
          .subscribe(
            packetID: id, [.init(filter, options: 0)],
            [.number(.subscriptionIdentifier, Int(id))]))
        $0.suback(id, 0)
      }
      $0.ask(3, "#", qos: 0)
      $0.unsubscribe(4, "#")
      $0.unsuback(4)
      $0.say(.server, "a", "1")
      $0.part(alone: true)
    },
  ]

  // MARK: What an answer that is missing may have granted

  private static let unanswered: [SharedCase] = [
    SharedCase(
      "a message at the QoS of a request whose answer is missing, asked for anew with a lower one",
      [.grantedQoSIsKept: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.subscribe(1, "a", qos: 2)
      $0.gap(.server)
      $0.ask(2, "a", qos: 0)
      $0.say(.server, "a", "1", qos: 2, id: 1)
      $0.complete(.server, 1)
      $0.part(alone: true)
    },
    SharedCase(
      "a message above the QoS of both requests, of which each was answered",
      failed: [.grantedQoSIsKept], [.grantedQoSIsKept: (1, 0, 0, [8])]
    ) {
      $0.join("s")
      $0.subscribe(1, "a", qos: 2)
      $0.suback(1, 0)
      $0.ask(2, "a", qos: 0)
      $0.say(.server, "a", "1", qos: 2, id: 1)
      $0.complete(.server, 1)
      $0.part(alone: true)
    },
  ]

  // MARK: What a filter was granted before

  private static let changed: [SharedCase] = [
    SharedCase(
      "a message at the QoS that a filter had before it was asked for with a lower one",
      [.grantedQoSIsKept: (0, 1, 1, [14])]
    ) {
      $0.meet(qos: 1)
      $0.ask(2, "a", qos: 0)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1")
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    },
    SharedCase(
      "a message at the QoS that a filter had before it was asked for with a higher one",
      [.grantedQoSIsKept: (0, 0, 1, [13])]
    ) {
      $0.meet(qos: 0)
      $0.ask(2, "a", qos: 1)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a message below the QoS that a filter had and has", failed: [.grantedQoSIsKept],
      complete: true,
      [.grantedQoSIsKept: (1, 0, 0, [13])]
    ) {
      $0.meet(qos: 1)
      $0.ask(2, "a", qos: 1)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1")
      $0.part()
    },
  ]

  // MARK: Connections that a loss may have taken whole

  private static let unseen: [SharedCase] = [
    SharedCase(
      "a message above the QoS that a session was granted, be it on a connection that is not there",
      [.grantedQoSIsKept: (0, 0, 1, [13])]
    ) { $0.exceedGrant() },
    SharedCase(
      "a message above the QoS that a session was granted on its connection, where it may have asked for more",
      [.grantedQoSIsKept: (0, 0, 1, [15])]
    ) { $0.exceedGrant { $0.ask(1, "a", qos: 0) } },
    SharedCase(
      "a message below the QoS that a session was granted, be it on a connection that is not there",
      [.grantedQoSIsKept: (0, 0, 1, [14])]
    ) { $0.fallBehindGrant() },
    SharedCase(
      "a message below the QoS that a session was granted on its connection",
      failed: [.grantedQoSIsKept], complete: true, [.grantedQoSIsKept: (1, 0, 0, [16])]
    ) { $0.fallBehindGrant { $0.ask(1, "a") } },
    SharedCase(
      "a live message with RETAIN for a filter that was granted on the connection before",
      failed: [.liveIsNotRetained], [.liveIsNotRetained: (1, 1, 0, [14])]
    ) { $0.retainLive() },
    SharedCase(
      "a live message with RETAIN, behind a loss between the connections of its session",
      [.liveIsNotRetained: (0, 0, 0, [])]
    ) { $0.retainLive(between: { $0.gap(.server) }) },
    SharedCase(
      "a live message with RETAIN, with a loss in front of both connections of its session",
      failed: [.liveIsNotRetained], [.liveIsNotRetained: (1, 1, 0, [15])]
    ) { $0.retainLive(first: { $0.gap(.server) }) },
    SharedCase(
      "a live message with RETAIN, in front of which a loss shows",
      [.liveIsNotRetained: (0, 0, 0, [])]
    ) { $0.retainLive(then: { $0.gap(.server) }) },
    SharedCase(
      "a session that is there behind one that was clean, and a loss between both", in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [12])]
    ) {
      $0.on(2) { $0.join("p") }
      $0.join("c")
      $0.finish()
      $0.on(2) { $0.gap(.client) }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "a message that is not sent again, behind a loss on another connection", in: [.v3_1_1],
      [.repeatsComeWithSession: (0, 0, 1, [11])]
    ) {
      $0.on(2) { $0.join("p") }
      $0.join("c", cleanStart: false)
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.close(.client)
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.on(2) { $0.gap(.server) }
        $0.wait(2)
        $0.say(.client, "a", "2", qos: 1, id: 2)
        $0.acknowledge(.server, .puback, 2)
        $0.finish()
      }
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "a message that is not sent again", in: [.v3_1_1],
      failed: [.repeatsComeWithSession], [.repeatsComeWithSession: (1, 0, 0, [15])]
    ) {
      $0.on(2) { $0.join("p") }
      $0.join("c", cleanStart: false)
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.close(.client)
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.wait(2)
        $0.say(.client, "a", "2", qos: 1, id: 2)
        $0.acknowledge(.server, .puback, 2)
        $0.finish()
      }
      $0.on(2) { $0.finish() }
    },
  ]

  // MARK: What waits for its turn

  private static let queued: [SharedCase] = [
    SharedCase(
      "overlapping filters, and one copy at the lower QoS a moment after another message was answered",
      [.overlapsGetHighestQoS: (0, 0, 1, [17])]
    ) {
      $0.meet(qos: 0)
      $0.ask(2, "+", qos: 1)
      $0.on(2) {
        $0.say(.client, "c", "0", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "c", "0", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.on(2) {
        $0.say(.client, "a", "1", qos: 1, id: 2)
        $0.acknowledge(.server, .puback, 2)
      }
      $0.say(.server, "a", "1")
      $0.on(2) { $0.say(.client, "b", "2") }
      $0.say(.server, "b", "2")
      $0.part()
    },
    SharedCase(
      "overlapping filters, and one copy at the lower QoS for a client that takes small packets only",
      in: [.v5_0], [.overlapsGetHighestQoS: (0, 0, 1, [13])]
    ) {
      $0.open()
      $0.client(
        .connect(
          .init(
            clientID: "s", cleanStart: true, keepAlive: 0,
            properties: [.number(.maximumPacketSize, 40)])))
      $0.server(.connack(.init(sessionPresent: false)))
      $0.ask(1, "a", qos: 0)
      $0.ask(2, "+", qos: 1)
      $0.on(2) {
        $0.join("p")
        $0.say(.client, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "1")
      $0.on(2) { $0.say(.client, "b", "2") }
      $0.say(.server, "b", "2")
      $0.part()
    },
  ]
}

extension Script {
  /// A client that is granted QoS 0 and gets a message at QoS 1 on its next connection, behind something.
  fileprivate mutating func exceedGrant(_ body: (inout Script) -> Void = { _ in }) {
    on(2) { $0.join("p") }
    leave(with: 0)
    on(3) {
      $0.join("s", cleanStart: false, isPresent: true, expiry: 100)
      body(&$0)
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.answerPing()
      $0.finish()
    }
    on(2) { $0.finish() }
  }

  /// A client that is granted QoS 2 and gets a message of QoS 1 at QoS 0 on its next connection, behind something.
  fileprivate mutating func fallBehindGrant(_ body: (inout Script) -> Void = { _ in }) {
    on(2) { $0.join("p") }
    leave(with: 2)
    on(3) {
      $0.join("s", cleanStart: false, isPresent: true, expiry: 100)
      body(&$0)
      $0.on(2) { $0.say(.client, "a", "1", qos: 1, id: 1) }
      $0.say(.server, "a", "1")
      $0.answerPing()
      $0.finish()
    }
    on(2) { $0.finish() }
  }

  /// A client gets a live message with RETAIN, and another one without, on the connection behind the one that it asked on,
  /// with what happens to another client in front of both, between them, and in front of the messages.
  fileprivate mutating func retainLive(
    first: (inout Script) -> Void = { _ in }, between: (inout Script) -> Void = { _ in },
    then: (inout Script) -> Void = { _ in }
  ) {
    on(2) {
      $0.join("p")
      first(&$0)
    }
    leave(with: 0)
    on(2) { between(&$0) }
    on(3) {
      $0.join("s", cleanStart: false, isPresent: true, expiry: 100)
      $0.on(2) { then(&$0) }
      for (text, retain) in [("1", true), ("2", false)] {
        $0.on(2) { $0.say(.client, "a", text) }
        $0.say(.server, "a", text, retain: retain)
      }
      $0.answerPing()
      $0.finish()
    }
    on(2) { $0.finish() }
  }

  /// A client asks for messages in a session that it leaves.
  private mutating func leave(with qos: UInt8) {
    join("s", cleanStart: false, expiry: 100)
    ask(1, "a", qos: qos)
    close(.client)
  }

  /// A client that wants RETAIN as it was published gets a message above its QoS, some seconds behind the SUBSCRIBE.
  fileprivate mutating func raise(after seconds: Double) {
    meet(options: 0b1000)
    wait(seconds)
    on(2) { $0.say(.client, "a", "1", retain: true) }
    say(.server, "a", "1", qos: 1, id: 1, retain: true)
    acknowledge(.client, .puback, 1)
    part()
  }
}

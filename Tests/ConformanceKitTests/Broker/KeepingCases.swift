import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What is retained in the end.
  static let keeping: [SharedCase] = stored + cleared + plain + keptWills

  // MARK: The last message

  private static let stored: [SharedCase] = [
    SharedCase(
      "the last retained message for a new subscription",
      [
        .retainedIsStored: (0, 1, 0, []), .qos0ReplacesRetained: (0, 1, 0, []),
        .newSubscriptionGetsRetained: (0, 1, 0, []), .retainedOutlivesSession: (0, 0, 0, []),
      ]
    ) {
      $0.replace()
      $0.subscribeLater { $0.say(.server, "a", "2", retain: true) }
    },
    SharedCase(
      "an older retained message of QoS 0 for a new subscription", in: [.v3_1_1],
      failed: [.qos0ReplacesRetained],
      [
        .qos0ReplacesRetained: (1, 0, 0, [18]), .retainedIsStored: (0, 0, 0, []),
        .newSubscriptionGetsRetained: (0, 1, 0, []),
      ]
    ) {
      $0.replace()
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message for a new subscription of 5.0", in: [.v5_0],
      failed: [.retainedIsStored], [.retainedIsStored: (1, 0, 0, [18])]
    ) {
      $0.replace()
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message of QoS 1 for a new subscription", in: [.v3_1_1],
      failed: [.retainedIsStored, .newSubscriptionGetsRetained],
      [
        .retainedIsStored: (1, 0, 0, [22]), .newSubscriptionGetsRetained: (1, 1, 0, [22]),
        .qos0ReplacesRetained: (0, 0, 0, []),
      ]
    ) {
      $0.replace(qos: 1)
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a retained message of before the capture in the place of a later one", in: [.v5_0],
      failed: [.retainedIsStored], [.retainedIsStored: (1, 0, 0, [18])]
    ) {
      $0.replace()
      $0.subscribeLater { $0.say(.server, "a", "0", retain: true) }
    },
    SharedCase(
      "an older retained message of QoS 1, behind which the watcher gets nothing", in: [.v3_1_1],
      [.retainedIsStored: (0, 0, 1, [22]), .newSubscriptionGetsRetained: (0, 1, 1, [22])]
    ) {
      $0.replace(qos: 1)
      $0.subscribeLater(tells: false) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message where nobody watched the topic", in: [.v5_0],
      [.retainedIsStored: (0, 0, 1, [20])]
    ) {
      $0.replace()
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.subscribeLater(tells: false) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message where the watcher had unsubscribed and gets something else",
      in: [.v5_0], [.retainedIsStored: (0, 0, 1, [22])]
    ) {
      $0.replace()
      $0.ask(2, "b")
      $0.unsubscribe(3, "a")
      $0.unsuback(3)
      $0.subscribeLater(tells: false) {
        $0.say(.server, "a", "1", retain: true)
        $0.on(2) { $0.say(.client, "b", "9") }
        $0.on(1) { $0.say(.server, "b", "9") }
      }
    },
    SharedCase(
      "an older retained message where the last one was not seen to come", in: [.v5_0],
      [.retainedIsStored: (0, 0, 1, [18])]
    ) {
      $0.meet()
      $0.retain("1")
      $0.on(2) { $0.say(.client, "b", "2", retain: true) }
      $0.on(2) { $0.say(.client, "a", "2", retain: true) }
      $0.subscribeLater(tells: false) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message that somebody may have said again", in: [.v5_0],
      [.retainedIsStored: (0, 0, 1, [21])]
    ) {
      $0.replace(isMixed: true)
      $0.say(.server, "a", "1")
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message that somebody said again meanwhile", in: [.v5_0],
      [.retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace(isMixed: true)
      $0.subscribeLater {
        $0.say(.server, "a", "1", retain: true)
        $0.on(1) { $0.say(.server, "a", "1") }
      }
    },
    SharedCase(
      "an older retained message behind which the watcher gets nothing", in: [.v5_0],
      [.retainedIsStored: (0, 0, 1, [18])]
    ) {
      $0.replace()
      $0.subscribeLater(tells: false) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message for another user", in: [.v5_0],
      [.retainedIsStored: (0, 0, 1, [18])]
    ) {
      $0.replace()
      $0.subscribeLater(user: "v") { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a message with RETAIN that was published meanwhile", in: [.v5_0],
      failed: [.liveIsNotRetained], [.retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace()
      $0.subscribeLater {
        $0.on(2) { $0.say(.client, "a", "4") }
        $0.say(.server, "a", "4", retain: true)
      }
    },
    SharedCase(
      "an older retained message for one that subscribed at once", in: [.v5_0],
      [.retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace()
      $0.subscribeLater(by: 0.5) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message in a capture that is out of order by 0.8 s", in: [.v5_0],
      [.retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace()
      $0.disorder(by: 0.8)
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message soon behind a time that was set back",
      in: [.v5_0], [.retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace()
      $0.disorder(by: 1.5)
      $0.subscribeLater(by: 3.5) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message long behind a time that was set back",
      in: [.v5_0], failed: [.retainedIsStored], [.retainedIsStored: (1, 0, 0, [23])]
    ) {
      $0.replace()
      $0.disorder(by: 1.5)
      $0.subscribeLater(by: 5.5) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an older retained message for one that was subscribed", in: [.v5_0],
      [.retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace()
      $0.wait(2)
      $0.ask(2, "a")
      $0.say(.server, "a", "1", retain: true)
      $0.on(2) { $0.say(.client, "a", "3") }
      $0.say(.server, "a", "3")
      $0.part()
    },
    SharedCase(
      "an older retained message where two published at once", in: [.v5_0],
      [.retainedIsStored: (0, 0, 1, [21])]
    ) {
      $0.meet()
      $0.on(4) { $0.join("q") }
      $0.retain("1")
      $0.on(4) { $0.say(.client, "a", "2", retain: true) }
      $0.say(.server, "a", "2")
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
      $0.on(4) { $0.finish() }
    },
    SharedCase(
      "a retained message whose publisher is gone", in: [.v3_1_1],
      [.retainedOutlivesSession: (0, 1, 0, []), .retainedIsStored: (0, 1, 0, [])]
    ) {
      $0.meet()
      $0.retain("1")
      $0.on(2) { $0.finish() }
      $0.wait(2)
      $0.on(3) {
        $0.join("t")
        $0.ask(1, "a")
        $0.say(.server, "a", "1", retain: true)
        $0.answerPing()
        $0.finish()
      }
      $0.answerPing()
      $0.finish()
    },
  ]

  // MARK: Topics that are cleared

  private static let cleared: [SharedCase] = [
    SharedCase(
      "no message of a topic that was cleared",
      [.emptyClearsRetained: (0, 2, 0, []), .emptyIsNotStored: (0, 1, 0, [])]
    ) {
      $0.replace(by: "")
      $0.subscribeLater { _ in }
    },
    SharedCase(
      "a retained message of a topic that was cleared", failed: [.emptyClearsRetained],
      [.emptyClearsRetained: (1, 2, 0, [18]), .retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.replace(by: "")
      $0.subscribeLater { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a retained message of a topic that was cleared, behind which the watcher gets nothing",
      [.emptyClearsRetained: (0, 1, 1, [18])]
    ) {
      $0.replace(by: "")
      $0.subscribeLater(tells: false) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "an empty message that is retained, behind which the watcher gets nothing",
      [.emptyIsNotStored: (0, 0, 1, [18])]
    ) {
      $0.replace(by: "")
      $0.subscribeLater(tells: false) { $0.say(.server, "a", "", retain: true) }
    },
    SharedCase(
      "a retained message of a topic that was cleared and has another one",
      [.emptyClearsRetained: (0, 1, 0, []), .retainedIsStored: (0, 1, 0, [])]
    ) {
      $0.replace(by: "")
      $0.retain("2")
      $0.subscribeLater { $0.say(.server, "a", "2", retain: true) }
    },
    SharedCase(
      "an empty message that is retained", failed: [.emptyIsNotStored],
      [.emptyIsNotStored: (1, 1, 0, [18])]
    ) {
      $0.replace(by: "")
      $0.subscribeLater { $0.say(.server, "a", "", retain: true) }
    },
    SharedCase(
      "an empty message that may have been said again", [.emptyIsNotStored: (0, 0, 0, [])]
    ) {
      $0.replace(by: "")
      $0.subscribeLater {
        $0.say(.server, "a", "", retain: true)
        $0.on(1) { $0.say(.server, "a", "") }
      }
    },
  ]

  // MARK: Messages without RETAIN

  private static let plain: [SharedCase] = [
    SharedCase(
      "a retained message behind one without RETAIN",
      [.plainIsNotStored: (0, 1, 0, []), .retainedIsStored: (0, 2, 0, [])]
    ) {
      $0.replacePlainly()
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "1", retain: true) }
    },
    SharedCase(
      "a message without RETAIN that is retained", failed: [.plainIsNotStored],
      [.plainIsNotStored: (1, 0, 0, [26]), .retainedIsStored: (0, 1, 0, [])]
    ) {
      $0.replacePlainly()
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "2", retain: true) }
    },
    SharedCase(
      "a message without RETAIN that is retained where nobody knows what was before",
      [.plainIsNotStored: (0, 0, 1, [18]), .retainedIsStored: (0, 0, 0, [])]
    ) {
      $0.meet()
      $0.retain("1")
      $0.tellPlainly("2")
      $0.subscribeLater { $0.say(.server, "a", "2", retain: true) }
    },
    SharedCase(
      "a message without RETAIN that is retained and that the watcher got again behind another",
      in: [.v5_0], [.plainIsNotStored: (0, 0, 1, [29])]
    ) {
      $0.replacePlainly()
      $0.tellPlainly("4")
      $0.say(.server, "a", "2")
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "2", retain: true) }
    },
    SharedCase(
      "a message without RETAIN that is retained and that the watcher got twice", in: [.v5_0],
      [.plainIsNotStored: (0, 0, 1, [27]), .retainedIsStored: (0, 1, 0, [])]
    ) {
      $0.replacePlainly()
      $0.say(.server, "a", "2")
      $0.subscribeLater(on: 4) { $0.say(.server, "a", "2", retain: true) }
    },
  ]

  // MARK: Wills

}

extension Script {
  /// A message on a with RETAIN that the client on connection 1 gets: two frames.
  fileprivate mutating func retain(_ text: String, qos: UInt8 = 0, id: UInt16 = 0) {
    on(2) {
      $0.say(.client, "a", text, qos: qos, id: id, retain: true)
      if qos > 0 { $0.acknowledge(.server, .puback, id) }
    }
    say(.server, "a", text, qos: qos, id: id)
    if qos > 0 { acknowledge(.client, .puback, id) }
  }

  /// A client comes whose answer was captured too late for its place: five frames.
  fileprivate mutating func disorder(by seconds: Double) {
    on(9) {
      $0.join("d")
      $0.ping()
      $0.add(.server, .mqtt(PacketBytes([0xD0, 0])), early: Int64(seconds * 1e9))
    }
  }

  /// The same without RETAIN.
  fileprivate mutating func tellPlainly(_ text: String) {
    on(2) { $0.say(.client, "a", text) }
    say(.server, "a", text)
  }

  /// Two retained messages, of which the second is the last: frames 1 to 12, and to 16 with QoS 1.
  fileprivate mutating func replace(
    by text: String = "2", qos: UInt8 = 0, isMixed: Bool = false
  ) {
    meet()
    if isMixed { tellPlainly("1") }
    retain("1", qos: qos, id: 1)
    retain(text, qos: qos, id: 2)
  }

  /// A retained message, a new subscription that gets it on connection 3, and a message without RETAIN: frames 1 to 18.
  fileprivate mutating func replacePlainly() {
    meet()
    retain("1")
    serve()
    tellPlainly("2")
    on(3) { $0.finish() }
  }

  /// A new subscription on connection 3 that gets the message that is retained: frames 11 to 16.
  private mutating func serve() {
    wait(2)
    on(3) {
      $0.join("t")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", retain: true)
    }
  }

  /// A retained message behind which a client with a will breaks off: frames 1 to 15, and 21 if the will is not
  /// retained.
  mutating func die(retain isRetained: Bool) {
    meet()
    on(5) {
      $0.join(
        "c", will: .init(topic: "a", payload: Array("gone".utf8), retain: isRetained))
    }
    retain("1")
    if !isRetained { serve() }
    wait(2)
    on(5) { $0.close(.client, .reset) }
    say(.server, "a", "gone")
  }

  /// A client subscribes later: five frames; then another message comes to all.
  mutating func subscribeLater(
    by seconds: Double = 2, on connection: Int = 3, tells: Bool = true,
    user: String? = nil, _ body: (inout Script) -> Void
  ) {
    wait(seconds)
    on(connection) {
      $0.join("u", user: user)
      $0.ask(1, "a")
      body(&$0)
    }
    if tells {
      tellPlainly("3")
      on(connection) { $0.say(.server, "a", "3") }
    }
    part()
    on(connection) {
      $0.answerPing()
      $0.finish()
    }
  }
}

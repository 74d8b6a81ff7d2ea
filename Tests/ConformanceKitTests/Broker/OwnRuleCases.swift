import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What rules of a server may say and subscribe by themselves, what it need not have taken, and what others say again.
  static let ownRules: [SharedCase] = wills + subscriptions + taken + states

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
      "a topic with a name that is longer", failed: [.topicMatchesFilter],
      [.topicMatchesFilter: (1, 0, 0, [6])]
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

  // MARK: What a server has taken

  private static let taken: [SharedCase] = [
    SharedCase(
      "a message that is left out was not acknowledged", [.everySubscriberGetsIt: (0, 1, 1, [16])]
    ) { $0.leaveOut(isTaken: false) },
    SharedCase(
      "a message that is left out was acknowledged", failed: [.everySubscriberGetsIt],
      [.everySubscriberGetsIt: (1, 1, 0, [17])]
    ) { $0.leaveOut(isTaken: true) },
    SharedCase(
      "a message that is left out was not acknowledged, and its publisher is gone",
      [.everySubscriberGetsIt: (0, 1, 1, [13])]
    ) { $0.leaveOutBehind(isTaken: false) },
    SharedCase(
      "a message that is left out was acknowledged, and its publisher is gone",
      failed: [.everySubscriberGetsIt], [.everySubscriberGetsIt: (1, 1, 0, [21])]
    ) { $0.leaveOutBehind(isTaken: true) },
    SharedCase(
      "a message that is left out behind one that came late",
      [.everySubscriberGetsIt: (0, 1, 1, [14])]
    ) { $0.lag(by: 0.2) },
    SharedCase(
      "a message that is left out behind one that came soon", failed: [.everySubscriberGetsIt],
      [.everySubscriberGetsIt: (1, 1, 0, [19])]
    ) { $0.lag(by: 0.01) },
    SharedCase(
      "messages of QoS 2 come in the order in which they were released",
      failed: [.pubrelsInOrder], [.orderIsKept: (0, 0, 1, [21])]
    ) { $0.release([2, 1]) },
    SharedCase(
      "messages of QoS 2 come in another order than they were released", failed: [.orderIsKept],
      [.orderIsKept: (1, 0, 0, [21])]
    ) { $0.release([1, 2]) },
    SharedCase(
      "a message that was sent again comes again after a while", in: [.v3_1_1],
      [.repeatIsDeliveredOnce: (0, 1, 1, [18])]
    ) { $0.comeTwice(after: 11) },
    SharedCase(
      "a message that was sent again comes again at once", in: [.v3_1_1],
      failed: [.repeatIsDeliveredOnce],
      [.repeatIsDeliveredOnce: (1, 1, 0, [18])]
    ) { $0.comeTwice(after: 1) },
    SharedCase(
      "no PUBACK of a server that pauses, and may read nothing",
      [.publishIsAnswered: (0, 0, 1, [6])]
    ) { $0.block() },
    SharedCase(
      "no PUBACK of a server that answers what came behind it",
      failed: [.publishIsAnswered, .qos1IsAnswered], [.publishIsAnswered: (1, 0, 0, [10])]
    ) { $0.block { $0.answerPing() } },
  ]

  // MARK: What others say again

  private static let states: [SharedCase] = [
    SharedCase(
      "what was retained comes without RETAIN behind something else that is",
      [
        .retainedIsMarked: (0, 0, 0, [])
      ]
    ) { $0.askForStates(isKnown: false) },
    SharedCase(
      "what was retained comes without RETAIN behind another that is", failed: [.retainedIsMarked],
      [.retainedIsMarked: (1, 1, 0, [12])]
    ) { $0.askForStates(isKnown: true) },
    SharedCase(
      "what was said before comes to a filter that was asked for twice", in: [.v5_0],
      [.userPropertiesAreForwarded: (0, 0, 1, [12])]
    ) { $0.askTwice(isBefore: true) },
    SharedCase(
      "what was said comes to a filter that was asked for again behind it", in: [.v5_0],
      failed: [.userPropertiesAreForwarded], [.userPropertiesAreForwarded: (1, 0, 0, [12])]
    ) { $0.askTwice(isBefore: false) },
    SharedCase(
      "a retained message without its User Property, which may be another", in: [.v5_0],
      [.userPropertiesAreForwarded: (0, 0, 1, [10])]
    ) { $0.keepProperty(isWatched: false) },
    SharedCase(
      "a retained message without its User Property, which is the last", in: [.v5_0],
      failed: [.userPropertiesAreForwarded], [.userPropertiesAreForwarded: (1, 1, 0, [16])]
    ) { $0.keepProperty(isWatched: true) },
    SharedCase(
      "a client's own states though its filter is No Local", in: [.v5_0],
      [.noLocalIsKept: (0, 0, 2, [7, 9])]
    ) { $0.hearStates() },
    SharedCase(
      "a client's own states though its filter is No Local, where nobody else says them",
      in: [.v5_0], failed: [.noLocalIsKept], complete: true, [.noLocalIsKept: (2, 0, 0, [7, 9])]
    ) { $0.hearStates() },
    SharedCase(
      "copies of a retained message for two filters that are asked for again", in: [.v5_0],
      [.handlingSendsOnce: (0, 1, 1, [13])]
    ) { $0.askAgain(isOne: false) },
    SharedCase(
      "copies of a retained message for a filter that is asked for again", in: [.v5_0],
      failed: [.handlingSendsOnce], [.handlingSendsOnce: (1, 1, 0, [13])]
    ) { $0.askAgain(isOne: true) },
    SharedCase(
      "an acknowledgement of a message of the connection before",
      [.acknowledgementsKeepIdentifiers: (0, 1, 1, [12])]
    ) { $0.acknowledgeLate(again: true) },
    SharedCase(
      "an acknowledgement of no message", failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 1, 0, [12])]
    ) { $0.acknowledgeLate(again: false) },
  ]
}

extension Script {
  private static var user: MQTTProperty { MQTTProperty(.userProperty, .pair("k", "v")) }

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

  /// Of four messages the second one is left out.
  fileprivate mutating func leaveOut(isTaken: Bool) {
    meet()
    for id: UInt16 in 1...4 {
      wait(2)
      on(2) {
        $0.say(.client, "a", "\(id)", qos: 1, id: id)
        if id != 2 || isTaken { $0.acknowledge(.server, .puback, id) }
      }
      if id != 2 { get("\(id)", id) }
    }
    part()
  }

  /// Of three messages the second one is left out, and their publisher is gone when the third one comes.
  fileprivate mutating func leaveOutBehind(isTaken: Bool) {
    meet()
    publish(1)
    get("1", 1)
    wait(2)
    on(2) {
      $0.say(.client, "a", "2", qos: 1, id: 2)
      if isTaken { $0.acknowledge(.server, .puback, 2) }
    }
    for id: UInt16 in 3...4 { publish(id) }
    on(2) { $0.finish() }
    for id: UInt16 in 3...4 { get("\(id)", id) }
    answerPing()
    finish()
  }

  /// A message comes at QoS 1, and is acknowledged: two frames.
  private mutating func get(_ text: String, _ id: UInt16) {
    say(.server, "a", text, qos: 1, id: id)
    acknowledge(.client, .puback, id)
  }

  /// A message comes some time behind its publication, and of four others the second one is left out.
  fileprivate mutating func lag(by seconds: Double) {
    meet("#")
    publish(1)
    get("1", 1)
    wait(2)
    on(2) { $0.say(.client, "b", "0") }
    for id: UInt16 in 2...3 { publish(id) }
    wait(seconds)
    say(.server, "b", "0")
    get("3", 2)
    publish(4)
    get("4", 3)
    part()
  }

  private mutating func publish(_ id: UInt16) {
    on(2) {
      $0.say(.client, "a", "\(id)", qos: 1, id: id)
      $0.acknowledge(.server, .puback, id)
    }
  }

  /// Two messages of QoS 2 are released in some order, and come in the other order than they were published.
  fileprivate mutating func release(_ order: [UInt16]) {
    meet()
    on(2) {
      for id: UInt16 in 1...2 { $0.say(.client, "a", "\(id)", qos: 2, id: id) }
      for id: UInt16 in 1...2 { $0.acknowledge(.server, .pubrec, id) }
      for id in order {
        $0.acknowledge(.client, .pubrel, id)
        $0.acknowledge(.server, .pubcomp, id)
      }
    }
    for id: UInt16 in [2, 1] {
      say(.server, "a", "\(id)", qos: 2, id: id)
      complete(id)
    }
    part()
  }

  private mutating func complete(_ id: UInt16) {
    acknowledge(.client, .pubrec, id)
    acknowledge(.server, .pubrel, id)
    acknowledge(.client, .pubcomp, id)
  }

  /// A message of QoS 2 is sent again before it is answered, and comes twice.
  fileprivate mutating func comeTwice(after seconds: Double) {
    meet()
    on(2) {
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
    }
    say(.server, "a", "1", qos: 2, id: 1)
    complete(1)
    wait(seconds)
    say(.server, "a", "1", qos: 2, id: 2)
    complete(2)
    part()
  }

  /// A message of the client is not acknowledged, but the server sends something half a minute later.
  fileprivate mutating func block(then: (inout Script) -> Void = { _ in }) {
    join("c")
    ask(1, "b")
    say(.client, "a", "1", qos: 1, id: 1)
    wait(32)
    then(&self)
    say(.server, "b", "2")
    wait(3)
    close(.client)
  }

  /// A client asks for two topics, and gets something retained on the one that is known or not, and on the other what was
  /// retained without RETAIN.
  fileprivate mutating func askForStates(isKnown: Bool) {
    on(2) {
      $0.join("p")
      for topic in ["a", "b"] { $0.say(.client, topic, "on", retain: true) }
    }
    wait(90)
    join("s")
    ask(1, "+")
    say(.server, "b", isKnown ? "on" : "off", retain: true)
    say(.server, "a", "on")
    part()
  }

  /// A client asks for a filter twice, and something is said before or between.
  fileprivate mutating func askTwice(isBefore: Bool) {
    on(2) { $0.join("p") }
    func tellProperty(_ script: inout Script) {
      script.on(2) { $0.say(.client, "a", "on", [Self.user]) }
      script.wait(3)
    }
    if isBefore { tellProperty(&self) }
    join("s")
    ask(1, "a")
    wait(3)
    if !isBefore { tellProperty(&self) }
    ask(2, "a")
    say(.server, "a", "on")
    part()
  }

  /// A retained message comes to a new subscription without its User Property.
  fileprivate mutating func keepProperty(isWatched: Bool) {
    if isWatched {
      on(3) {
        $0.join("w")
        $0.ask(1, "a")
      }
    }
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "on", retain: true, [Self.user])
    }
    if isWatched { on(3) { $0.say(.server, "a", "on", [Self.user]) } }
    wait(5)
    join("s")
    ask(1, "a")
    say(.server, "a", "on", retain: true)
    part()
    if isWatched {
      on(3) {
        $0.answerPing()
        $0.finish()
      }
    }
  }

  /// A client hears two states that it has said itself.
  fileprivate mutating func hearStates() {
    join("s")
    ask(1, "a", options: 0b100)
    for text in ["on", "off"] {
      for peer in Peer.allCases { say(peer, "a", text) }
    }
    answerPing()
    finish()
  }

  /// A client asks for retained messages where its subscription is new, twice.
  fileprivate mutating func askAgain(isOne: Bool) {
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "on", retain: true)
    }
    wait(90)
    join("s")
    func askForAll(_ id: UInt16) {
      let filters = (isOne ? ["a"] : ["a", "+"]).map {
        MQTTPacket.Subscription($0, options: 0b01_0010)
      }
      client(.subscribe(packetID: id, filters, []))
      if isOne { suback(id, 2) } else { suback(id, 2, 2) }
    }
    askForAll(1)
    say(.server, "a", "on", retain: true)
    askForAll(2)
    say(.server, "a", "on", retain: true)
    part()
  }

  /// A client acknowledges a message that is not open on the connection, and then one that is; it has been there before or
  /// not.
  fileprivate mutating func acknowledgeLate(again: Bool) {
    on(2) {
      $0.join(again ? "c" : "d")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", qos: 1, id: 7)
      $0.close(.client)
    }
    join("c")
    say(.server, "a", "2", qos: 1, id: 1)
    acknowledge(.client, .puback, 7)
    acknowledge(.client, .puback, 1)
    answerPing()
    finish()
  }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What somebody who is not in the capture may say again, and what was due before.
  static let repeatedStates: [SharedCase] = [
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
      "an acknowledgement of a connection that was not captured",
      [.acknowledgementsKeepIdentifiers: (0, 1, 1, [12])]
    ) { $0.acknowledgeLate(again: false) },
  ]
}

extension Script {
  private static var user: MQTTProperty { MQTTProperty(.userProperty, .pair("k", "v")) }

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
      script.on(2) { $0.say(.client, "a", "switched on by now", [Self.user]) }
      script.wait(3)
    }
    if isBefore { tellProperty(&self) }
    join("s")
    ask(1, "a")
    wait(3)
    if !isBefore { tellProperty(&self) }
    ask(2, "a")
    say(.server, "a", "switched on by now")
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
      $0.say(.client, "a", "switched on by now", retain: true, [Self.user])
    }
    if isWatched { on(3) { $0.say(.server, "a", "switched on by now", [Self.user]) } }
    wait(5)
    join("s")
    ask(1, "a")
    say(.server, "a", "switched on by now", retain: true)
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

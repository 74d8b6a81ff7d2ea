import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What crossed on its way, came twice, or waited for its turn, each beside a violation that looks like it.
  static let crossing: [SharedCase] =
    published + waiting + numbered + ownMessages + repeatedByOthers + crossed + lost + asked

  // MARK: A message that is published again

  private static let published: [SharedCase] = [
    SharedCase(
      "an expiry that is not counted down, as the message came once more", in: [.v5_0],
      [.expiryIsCountedDown: (0, 1, 0, [])]
    ) { $0.publishAgain(expiry: 60) },
    SharedCase(
      "an expiry that is counted down from where the message came first", in: [.v5_0],
      [.expiryIsCountedDown: (0, 1, 0, [])]
    ) { $0.publishAgain(expiry: 30) },
    SharedCase(
      "an expiry that is less than a message has left that came once more", in: [.v5_0],
      [.expiryIsCountedDown: (0, 0, 1, [15])]
    ) { $0.publishAgain(expiry: 20) },
  ]

  // MARK: A copy that waits for its turn

  private static let waiting: [SharedCase] = [
    SharedCase(
      "overlapping filters, where the other copy waits behind what is never acknowledged",
      [.overlapsGetHighestQoS: (0, 1, 1, [14])]
    ) { $0.burst(isAcknowledged: false) },
    SharedCase(
      "overlapping filters, where the other copy does not come behind what is acknowledged",
      failed: [.overlapsGetHighestQoS], [.overlapsGetHighestQoS: (1, 1, 0, [14])]
    ) { $0.burst(isAcknowledged: true) },
    SharedCase(
      "overlapping filters, where the other copy comes behind a newer filter",
      [.overlapsGetHighestQoS: (0, 0, 1, [18])]
    ) { $0.copyBehindNewFilter(comes: true) },
    SharedCase(
      "overlapping filters, where the other copy does not come behind a newer filter",
      failed: [.overlapsGetHighestQoS], [.overlapsGetHighestQoS: (1, 0, 0, [15])]
    ) { $0.copyBehindNewFilter(comes: false) },
  ]

  // MARK: Subscription Identifiers

  private static let numbered: [SharedCase] = [
    SharedCase(
      "a client's own message with the numbers of the filters that are not No Local", in: [.v5_0],
      [.mergedCopyHasAllNumbers: (0, 0, 0, [])]
    ) { $0.threeNumbers(isLocal: false) },
    SharedCase(
      "a client's own message without one of the numbers, though no filter is No Local",
      in: [.v5_0], failed: [.mergedCopyHasAllNumbers], [.mergedCopyHasAllNumbers: (1, 1, 0, [11])]
    ) { $0.threeNumbers(isLocal: true) },
  ]

  // MARK: A client's own messages

  private static let ownMessages: [SharedCase] = [
    SharedCase(
      "a client's own message by a group, beside a filter of the same name that is No Local",
      in: [.v5_0], [.noLocalIsKept: (0, 0, 0, [])]
    ) {
      $0.join("s")
      $0.ask(1, "$share/h/a")
      $0.hearItself()
    },
    SharedCase(
      "a client's own messages by a filter that is No Local", in: [.v5_0],
      failed: [.noLocalIsKept], [.noLocalIsKept: (2, 0, 0, [7, 9])]
    ) {
      $0.join("s")
      $0.hearItself()
    },
    SharedCase(
      "a client's own message again after a while, which may be another's", in: [.v5_0],
      [.noLocalIsKept: (0, 0, 2, [7, 9])]
    ) {
      $0.join("s")
      $0.hearItself(after: 10)
    },
    SharedCase(
      "a client's own messages with other properties, which are another's", in: [.v5_0],
      [.noLocalIsKept: (0, 0, 2, [7, 9])]
    ) {
      $0.join("s")
      $0.hearItself([MQTTProperty(.contentType, .string("text"))])
    },
  ]

  /// What was said long before may be said again by somebody who is not in the capture.
  private static let repeatedByOthers: [SharedCase] = [
    (10.0, 1, 2, false), (10.001, 1, 2, true), (10.0, 1, 0, false), (10.001, 1, 0, true),
  ].map { seconds, published, delivered, isOpen in
    SharedCase(
      "a message of QoS \(published) at QoS \(delivered), \(seconds) s later",
      failed: isOpen ? [] : [.grantedQoSIsKept], complete: !isOpen,
      [.grantedQoSIsKept: (isOpen ? 0 : 1, 0, isOpen ? 1 : 0, [11])]
    ) {
      $0.meet()
      $0.on(2) {
        $0.say(.client, "a", "1", qos: UInt8(published), id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.wait(seconds - 0.002)
      $0.say(.server, "a", "1", qos: UInt8(delivered), id: delivered > 0 ? 1 : 0)
      if delivered > 0 {
        $0.acknowledge(.client, .pubrec, 1)
        $0.acknowledge(.server, .pubrel, 1)
        $0.acknowledge(.client, .pubcomp, 1)
      }
      $0.part()
    }
  }

  // MARK: Packets that cross

  private static let crossed: [SharedCase] = [
    SharedCase(
      "a message that does not come again, as its answer crossed it when it came twice",
      in: [.v3_1_1], [.repeatsComeWithSession: (0, 0, 1, [10])]
    ) { $0.repeatAcrossAnswer(isAnswered: true) },
    SharedCase(
      "a message that does not come again and came twice without an answer", in: [.v3_1_1],
      failed: [.repeatsComeWithSession], [.repeatsComeWithSession: (1, 0, 0, [13])]
    ) { $0.repeatAcrossAnswer(isAnswered: false) },
    SharedCase(
      "a session that is there, as the server's DISCONNECT crossed that of the client", in: [.v5_0],
      [.absentSessionIsTold: (0, 0, 1, [3]), .presentSessionIsTold: (0, 1, 1, [3])]
    ) { $0.leaveAtOnce(both: true) },
    SharedCase(
      "a session that is there though DISCONNECT ended it", in: [.v5_0],
      failed: [.absentSessionIsTold, .absentSessionIsMade, .sessionEndsInTime],
      [.absentSessionIsTold: (1, 0, 1, [8])]
    ) { $0.leaveAtOnce(both: false) },
    SharedCase(
      "a server that refuses the version in the words of 5.0", in: [.v3_1_1],
      [.connackCodeIsDefined: (0, 0, 1, [3])]
    ) { $0.refuseVersion(0x84) },
    SharedCase(
      "a server that refuses by another code of 5.0", in: [.v3_1_1],
      failed: [.connackCodeIsDefined], [.connackCodeIsDefined: (1, 0, 0, [3])]
    ) { $0.refuseVersion(0x85) },
  ]

  // MARK: What bytes are missing of

  private static let lost: [SharedCase] = [
    SharedCase(
      "a message behind another one of which bytes are missing, as those of its answer are",
      in: [.v5_0], [.serverKeepsReceiveMaximum: (0, 2, 0, [])]
    ) { $0.fillQuota(missing: 1) },
    SharedCase(
      "a message behind another one that is not answered, at a Receive Maximum of 1", in: [.v5_0],
      failed: [.serverKeepsReceiveMaximum, .quotaIsNoHigher, .nothingIsSentAtQuotaZero],
      [.serverKeepsReceiveMaximum: (1, 1, 0, [9])]
    ) { $0.fillQuota(missing: 0) },
    SharedCase(
      "a topic by an alias behind a message whose alias was not captured", in: [.v5_0],
      [.numbersAreOfSubscriptions: (0, 1, 0, [])]
    ) { $0.useAlias(behindCut: true) },
    SharedCase(
      "a topic by an alias, with the number of another filter", in: [.v5_0],
      failed: [.numbersAreOfSubscriptions], [.numbersAreOfSubscriptions: (1, 1, 0, [9])]
    ) { $0.useAlias(behindCut: false) },
  ]

  // MARK: Requests that are sent in a row

  private static let asked: [SharedCase] = [
    SharedCase(
      "a retained message again for a filter that was ended before it was granted", in: [.v5_0],
      [.handlingSendsOnce: (0, 1, 1, [11])]
    ) { $0.askAgain(behindEnd: true) },
    SharedCase(
      "a retained message again for a filter that was not ended", in: [.v5_0],
      failed: [.handlingSendsOnce], [.handlingSendsOnce: (1, 1, 0, [9])]
    ) { $0.askAgain(behindEnd: false) },
  ]
}

extension Script {
  /// A message with an expiry of 60 s whose publisher breaks off, and sends it again 30 s later; it comes in frame 15.
  fileprivate mutating func publishAgain(expiry: Int) {
    let sent = MQTTProperty.number(.messageExpiryInterval, 60)
    join("s")
    ask(1, "a")
    on(2) {
      $0.join("p", expiry: 100)
      $0.say(.client, "a", "1", qos: 1, id: 1, [sent])
      $0.wait(28)
      $0.close(.client, .reset)
    }
    wait(2)
    on(3) {
      $0.join("p", cleanStart: false, isPresent: true, expiry: 100)
      $0.say(.client, "a", "1", qos: 1, id: 1, dup: true, [sent])
    }
    say(.server, "a", "1", qos: 1, id: 1, [.number(.messageExpiryInterval, expiry)])
    acknowledge(.client, .puback, 1)
    answerPing()
    finish()
    on(3) {
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    }
  }

  /// Two messages of QoS 1 come at QoS 0 in a row, and then the first one at QoS 1 too.
  fileprivate mutating func burst(isAcknowledged: Bool) {
    meet(qos: 0)
    ask(2, "+", qos: 1)
    on(2) {
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.say(.client, "a", "2", qos: 1, id: 2)
    }
    for text in ["1", "2"] { say(.server, "a", text) }
    say(.server, "a", "1", qos: 1, id: 1)
    if isAcknowledged { acknowledge(.client, .puback, 1) }
    on(2) { $0.say(.client, "b", "3") }
    say(.server, "b", "3")
    answerPing()
    close(.client, .reset)
    on(2) {
      for id: UInt16 in 1...2 { $0.acknowledge(.server, .puback, id) }
      $0.finish()
    }
  }

  /// A message comes at QoS 0, the client asks for another filter that matches, and then it comes at QoS 1 too.
  fileprivate mutating func copyBehindNewFilter(comes: Bool) {
    meet("a/b", qos: 0)
    ask(2, "#", qos: 1)
    on(2) {
      $0.say(.client, "a/b", "1", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
    }
    wait(1)
    answerPing()
    say(.server, "a/b", "1")
    ask(3, "a/+", qos: 1)
    if comes {
      say(.server, "a/b", "1", qos: 1, id: 1)
      acknowledge(.client, .puback, 1)
    }
    on(2) { $0.say(.client, "c", "2") }
    say(.server, "c", "2")
    part()
  }

  /// A client with three filters of their own numbers hears what it said with those of two.
  fileprivate mutating func threeNumbers(isLocal: Bool) {
    join("s")
    for (number, filter) in ["a", "+", "#"].enumerated() {
      let options: UInt8 = number == 2 && !isLocal ? 0b100 : 0
      client(
        .subscribe(
          packetID: UInt16(number + 1), [.init(filter, options: options)],
          [.number(.subscriptionIdentifier, number + 1)]))
      suback(UInt16(number + 1), 0)
    }
    say(.client, "a", "1")
    say(.server, "a", "1", (1...2).map { .number(.subscriptionIdentifier, $0) })
    answerPing()
    say(.client, "b", "2")
    say(.server, "b", "2", (2...(isLocal ? 3 : 2)).map { .number(.subscriptionIdentifier, $0) })
    answerPing()
    finish()
  }

  /// The client asks for a without its own messages, says something, and hears it.
  fileprivate mutating func hearItself(after seconds: Double = 0, _ properties: [MQTTProperty] = [])
  {
    ask(9, "a", options: 0b100)
    for text in ["the first of two", "the second of two"] {
      say(.client, "a", text)
      wait(seconds)
      say(.server, "a", text, properties)
    }
    answerPing()
    finish()
  }

  /// A client's message comes twice on one connection, and not again on the next one, which resumes the session.
  fileprivate mutating func repeatAcrossAnswer(isAnswered: Bool) {
    join("c", cleanStart: false)
    say(.client, "a", "1", qos: 1, id: 1)
    if isAnswered { acknowledge(.server, .puback, 1) }
    say(.client, "a", "1", qos: 1, id: 1, dup: true)
    close(.client)
    on(2) {
      $0.join("c", cleanStart: false, isPresent: true)
      $0.say(.client, "a", "2", qos: 1, id: 2)
      $0.acknowledge(.server, .puback, 2)
      $0.wait(2)
      $0.finish()
    }
  }

  /// A client ends its session with the connection, which the server may end at the same time, and finds it there.
  fileprivate mutating func leaveAtOnce(both: Bool) {
    join("c", cleanStart: false, expiry: 60)
    client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 0)])))
    if both { server(.disconnect(.init(0x98))) }
    close(both ? .server : .client)
    on(2) {
      $0.join("c", cleanStart: false, isPresent: true, expiry: 60)
      $0.finish()
    }
  }

  /// A server refuses a client of 3.1.1 by a packet of 5.0.
  fileprivate mutating func refuseVersion(_ code: UInt8) {
    open()
    client(.connect(.init(clientID: "c", keepAlive: 0)))
    server(.connack(.init(code: code)))
    close(.server)
  }

  /// A client that takes one message at a time is sent two, of the first of which bytes may be missing.
  fileprivate mutating func fillQuota(missing: Int) {
    open()
    client(
      .connect(.init(clientID: "s", keepAlive: 0, properties: [.number(.receiveMaximum, 1)])))
    server(.connack(.init()))
    ask(1, "a")
    if missing > 0 { gap(.client) }
    server(hex: "32 08 0001 61 0001 00 3131".dropping(missing), missing: missing)
    if missing == 0 { answerPing() }
    say(.server, "a", "2", qos: 1, id: 2)
    for id: UInt16 in (missing == 0 ? 1 : 2)...2 { acknowledge(.client, .puback, id) }
    finish()
  }

  /// A server gives an alias to b, and may give it to a in a message that is cut, before it uses it.
  fileprivate mutating func useAlias(behindCut: Bool) {
    open()
    client(
      .connect(.init(clientID: "s", keepAlive: 0, properties: [.number(.topicAliasMaximum, 9)])))
    server(.connack(.init()))
    for (number, filter) in ["a", "b"].enumerated() {
      client(
        .subscribe(
          packetID: UInt16(number + 1), [.init(filter, options: 0)],
          [.number(.subscriptionIdentifier, number + 1)]))
      suback(UInt16(number + 1), 0)
    }
    say(.server, "b", "1", [.number(.subscriptionIdentifier, 2), .number(.topicAlias, 1)])
    if behindCut { server(hex: "30 14 0001 61 0f 26 0001 6b 0001", missing: 10) }
    say(.server, "", "2", [.number(.subscriptionIdentifier, 1), .number(.topicAlias, 1)])
    answerPing()
    finish()
  }

  /// A client asks for a filter with Retain Handling 1, and again, and gets what is retained each time.
  fileprivate mutating func askAgain(behindEnd: Bool) {
    let filter = MQTTPacket.Subscription("a", options: 0x12)
    join("s")
    client(.subscribe(packetID: 1, [filter], []))
    if behindEnd { client(.unsubscribe(packetID: 2, ["a"], [])) }
    suback(1, 2)
    say(.server, "a", "1", retain: true)
    client(.subscribe(packetID: 3, [filter], []))
    if behindEnd { server(.unsuback(packetID: 2, codes: [0], [])) }
    suback(3, 2)
    say(.server, "a", "1", retain: true)
    answerPing()
    finish()
  }
}

extension String {
  /// Bytes in hexadecimal, without the last few of them.
  fileprivate func dropping(_ bytes: Int) -> String { String(dropLast(2 * bytes)) }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages that somebody else may have said again, answers that may wait, and servers that share an address.
  static let saidAgain: [SharedCase] = messages + answers + servers

  private static let messages: [SharedCase] = [
    SharedCase(
      "a message that was refused comes without its User Property", in: [.v5_0],
      [.userPropertiesAreForwarded: (0, 0, 0, [])]
    ) { $0.refuse(by: 0x87) },
    SharedCase(
      "a message that was taken comes without its User Property", in: [.v5_0],
      failed: [.userPropertiesAreForwarded], [.userPropertiesAreForwarded: (1, 0, 0, [11])]
    ) { $0.refuse(by: 0) },
    SharedCase(
      "a client's own message comes without its User Property where its filter is No Local",
      in: [.v5_0], [.userPropertiesAreForwarded: (0, 0, 0, []), .noLocalIsKept: (0, 0, 1, [10])]
    ) { $0.echo(options: 0b100) },
    SharedCase(
      "a client's own message comes without its User Property", in: [.v5_0],
      failed: [.userPropertiesAreForwarded],
      [.userPropertiesAreForwarded: (1, 0, 0, [10]), .noLocalIsKept: (0, 0, 0, [])]
    ) { $0.echo(options: 0) },
    SharedCase(
      "what was said before comes again in the session that goes on", in: [.v5_0],
      [.userPropertiesAreForwarded: (0, 1, 0, [])]
    ) { $0.comeBack(isNew: false) },
    SharedCase(
      "what is said in the session that goes on comes without its User Property", in: [.v5_0],
      failed: [.userPropertiesAreForwarded], [.userPropertiesAreForwarded: (1, 1, 0, [17])]
    ) { $0.comeBack(isNew: true) },
    SharedCase(
      "what was retained comes without RETAIN, at once", failed: [.retainedIsMarked],
      [.retainedIsMarked: (1, 0, 0, [10])]
    ) { $0.askForKept(behind: 0) },
    SharedCase(
      "what was retained comes without RETAIN, a while later", [.retainedIsMarked: (0, 0, 1, [10])]
    ) { $0.askForKept(behind: 11) },
    SharedCase(
      "a live message comes with RETAIN among those that are kept",
      [.liveIsNotRetained: (0, 0, 1, [10])]
    ) { $0.flood { $0.say(.server, "k", "2", retain: true) } },
    SharedCase(
      "a live message comes with RETAIN in front of one that was published later",
      failed: [.liveIsNotRetained], [.liveIsNotRetained: (1, 1, 0, [10])]
    ) {
      $0.flood {
        $0.on(2) { $0.say(.client, "l", "3") }
        $0.say(.server, "l", "3")
      }
    },
  ]

  private static let answers: [SharedCase] = [
    SharedCase(
      "a PINGRESP waits behind what the server has written", [.pingIsAnswered: (0, 0, 1, [6])]
    ) { $0.pour(every: 2) },
    SharedCase(
      "a PINGRESP waits behind what the server has written, which had paused before",
      [.pingIsAnswered: (0, 0, 1, [6])]
    ) { $0.pour(every: 2, before: 7) },
    SharedCase(
      "a PINGRESP does not come though the server paused", failed: [.pingIsAnswered],
      [.pingIsAnswered: (1, 0, 0, [27])]
    ) { $0.pour(every: 2, pause: 7) },
    SharedCase(
      "a PINGRESP does not come though the server answers what came behind",
      failed: [.pingIsAnswered], [.pingIsAnswered: (1, 0, 0, [29])]
    ) {
      $0.pour(every: 2) {
        $0.client(.subscribe(packetID: 9, [.init("z", options: 0)], []))
        $0.suback(9, 0)
      }
    },
    SharedCase(
      "a message with DUP that is the first of its identifier, in a group",
      in: [.v5_0], [.serverDupIsItsOwn: (0, 0, 1, [6]), .qos1BeginsWithoutDup: (0, 0, 1, [6])]
    ) { $0.sendAgain(to: "$share/g/a") },
    SharedCase(
      "a message with DUP that is the first of its identifier", in: [.v5_0],
      failed: [.serverDupIsItsOwn, .qos1BeginsWithoutDup],
      [.serverDupIsItsOwn: (1, 0, 0, [6]), .qos1BeginsWithoutDup: (1, 0, 0, [6])]
    ) { $0.sendAgain(to: "a") },
    SharedCase(
      "a client that is refused waits for the end", in: [.v3_1_1], [.keepAlive: (0, 0, 0, [])]
    ) { $0.waitFor(code: 5) },
    SharedCase(
      "a client that is taken says nothing", in: [.v3_1_1], failed: [.keepAlive], complete: true,
      [.keepAlive: (1, 0, 0, [4])]
    ) { $0.waitFor(code: 0) },
    SharedCase(
      "UNSUBSCRIBE comes twice, and so does UNSUBACK", in: [.v3_1_1],
      [.unsubscribeIsAnsweredOnce: (0, 1, 0, [])]
    ) { $0.leaveTwice(isAsked: true) },
    SharedCase(
      "UNSUBACK comes twice", in: [.v3_1_1], failed: [.unsubscribeIsAnsweredOnce],
      [.unsubscribeIsAnsweredOnce: (1, 1, 0, [6])]
    ) { $0.leaveTwice(isAsked: false) },
    SharedCase(
      "a session that ended with its connection is there, where the next CONNECT came before the server's end",
      in: [.v5_0], [.absentSessionIsTold: (0, 0, 0, [])]
    ) { $0.crossEnd(early: true) },
    SharedCase(
      "a session that ended with its connection is there", in: [.v5_0],
      others: ["MQTT-3.1.2-6", "MQTT-3.2.2-3", "MQTT-4.1.0-2"],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) { $0.crossEnd(early: false) },
  ]

  private static let servers: [SharedCase] = [
    SharedCase(
      "clients of one name at two servers of one address", [.olderConnectionEnds: (0, 0, 0, [])]
    ) { $0.meetThroughTLS("dev.example", "prod.example") },
    SharedCase(
      "clients of one name at one server of an address", failed: [.olderConnectionEnds],
      [.olderConnectionEnds: (1, 0, 0, [10])]
    ) { $0.meetThroughTLS("dev.example", "dev.example") },
    SharedCase(
      "a server sends of its own what nobody asked for",
      [.topicMatchesFilter: (0, 0, 1, [6]), .wildcardsSpareDollarTopics: (0, 0, 1, [6])]
    ) { $0.hear("$aws/things/t/jobs/notify") },
    SharedCase(
      "a server passes on what a client says where nobody asked for it",
      failed: [.wildcardsSpareDollarTopics],
      [.topicMatchesFilter: (0, 0, 1, [10]), .wildcardsSpareDollarTopics: (1, 0, 0, [10])]
    ) { $0.hear("$mine/a", isSaid: true) },
    SharedCase(
      "a server tells of itself where nobody asked for it",
      failed: [.topicMatchesFilter, .wildcardsSpareDollarTopics],
      [.topicMatchesFilter: (1, 0, 0, [6]), .wildcardsSpareDollarTopics: (1, 0, 0, [6])]
    ) { $0.hear("$SYS/broker/uptime") },
  ]
}

extension Script {
  private static var user: MQTTProperty { MQTTProperty(.userProperty, .pair("k", "v")) }

  /// A message with a User Property is answered by a code, and one like it comes without.
  fileprivate mutating func refuse(by code: UInt8) {
    meet()
    on(2) {
      $0.say(.client, "a", "switched on by now", qos: 1, id: 1, [Self.user])
      $0.server(.acknowledgement(.puback, packetID: 1, .init(code)))
    }
    say(.server, "a", "switched on by now", qos: 1, id: 1)
    acknowledge(.client, .puback, 1)
    part()
  }

  /// A client gets what it has said.
  fileprivate mutating func echo(options: UInt8) {
    meet(options: options)
    say(.client, "a", "switched on by now", [Self.user])
    say(.server, "a", "switched on by now")
    part()
  }

  /// A client comes back to its session, and gets what was said while it was there before, or since.
  fileprivate mutating func comeBack(isNew: Bool) {
    join("s", expiry: 100)
    ask(1, "a")
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "switched on by now", [Self.user])
    }
    say(.server, "a", "switched on by now", [Self.user])
    close(.client)
    on(3) {
      $0.join("s", cleanStart: false, isPresent: true, expiry: 100)
      if isNew {
        $0.wait(2)
        $0.on(2) {
          $0.say(.client, "a", "switched off by now", [Self.user])
          $0.say(.client, "a", "switched on once more", [Self.user])
        }
        $0.say(.server, "a", "switched off by now")
      } else {
        $0.say(.server, "a", "switched on by now")
      }
      $0.answerPing()
      $0.finish()
    }
  }

  /// A client subscribes long after a message was retained, and gets it without RETAIN.
  fileprivate mutating func askForKept(behind seconds: Double) {
    on(2) {
      $0.join("p")
      $0.say(.client, "a", "on", retain: true)
    }
    wait(90)
    join("s")
    ask(1, "a")
    wait(seconds)
    say(.server, "a", "on")
    part()
  }

  /// A client subscribes, and a message is published that was kept before as well; something comes behind it.
  fileprivate mutating func flood(behind: (inout Script) -> Void) {
    meet("#", qos: 0)
    wait(3)
    on(2) { $0.say(.client, "a", "on", retain: true) }
    say(.server, "a", "on", retain: true)
    behind(&self)
    part()
  }

  /// The server sends messages while a PINGREQ waits.
  fileprivate mutating func pour(
    every seconds: Double, before: Double = 0, pause: Double = 0,
    then: (inout Script) -> Void = { _ in }
  ) {
    join("c")
    ask(1, "a")
    wait(before)
    ping()
    wait(pause)
    for number in 0..<20 {
      wait(seconds)
      say(.server, "a", "\(number)")
    }
    then(&self)
    close(.client)
  }

  /// A message comes with DUP that did not come before.
  fileprivate mutating func sendAgain(to filter: String) {
    join("c")
    ask(1, filter)
    say(.server, "a", "1", qos: 1, id: 1, dup: true)
    acknowledge(.client, .puback, 1)
    answerPing()
    finish()
  }

  /// A client gets a code, and waits for as long as the server takes.
  fileprivate mutating func waitFor(code: UInt8) {
    open()
    client(.connect(.init(clientID: "c", keepAlive: 10)))
    server(.connack(.init(code: code)))
    wait(25)
    close(.client)
  }

  /// A client unsubscribes of two filters.
  fileprivate mutating func leaveTwice(isAsked: Bool) {
    join("c")
    for _ in 0..<(isAsked ? 2 : 1) { client(.unsubscribe(packetID: 5, ["a", "b"], [])) }
    for _ in 0..<2 { server(.unsuback(packetID: 5, codes: [0, 0], [])) }
    answerPing()
    finish()
  }

  /// A client comes back whose session had no time to last, before or after the server's end of the connection.
  fileprivate mutating func crossEnd(early: Bool) {
    join("s", expiry: 0)
    client(.disconnect(.init()))
    if !early { close(.client) }
    on(2) {
      $0.open()
      $0.client(
        .connect(
          .init(
            clientID: "s", cleanStart: false, keepAlive: 0,
            properties: [.number(.sessionExpiryInterval, 0)])))
    }
    if early { close(.client) }
    on(2) {
      $0.server(.connack(.init(sessionPresent: true)))
      $0.answerPing()
      $0.finish()
    }
  }

  /// A client connects through TLS while another one of its name is there.
  fileprivate mutating func meetThroughTLS(_ first: String, _ second: String) {
    joinThroughTLS(of: first)
    on(2) { $0.joinThroughTLS(of: second) }
    wait(20)
    answerPing()
    wait(20)
    answerPing()
    finish()
    on(2) { $0.finish() }
  }

  private mutating func joinThroughTLS(of name: String) {
    open()
    let version = wire
    wire = .tls
    add(
      .client,
      .tls(
        .handshake(
          TLSHellos(
            client: "10.0.0.1:49999", server: "10.0.0.2:1883", version: "TLS 1.3",
            cipherSuite: "TLS_AES_128_GCM_SHA256", serverName: name))))
    wire = version
    client(.connect(.init(clientID: "c", keepAlive: 0)))
    server(.connack(.init()))
  }

  /// A client with a filter for all gets a message.
  fileprivate mutating func hear(_ topic: String, isSaid: Bool = false) {
    join("c")
    ask(1, "#")
    if isSaid {
      on(2) {
        $0.join("p")
        $0.say(.client, topic, "1")
      }
    }
    say(.server, topic, "1")
    answerPing()
    finish()
  }
}

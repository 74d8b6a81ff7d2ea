import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What looks wrong by one connection, and is explained by what happened elsewhere, or earlier than it was captured;
  /// each with the session that looks most like it and is wrong.
  static let elsewhere: [SharedCase] = sessionsElsewhere + requestsInARow + messagesElsewhere

  private static let sessionsElsewhere: [SharedCase] = [
    SharedCase(
      "a session that was made at another address of the server", in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 2, [8, 13])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.join("c", cleanStart: false, at: "10.0.0.2:1884")
        $0.finish()
      }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there though a client of another name was at another address",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 1, [13])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.join("d", cleanStart: false, at: "10.0.0.2:1884")
        $0.finish()
      }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there where a client of that name was refused at another address",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [12])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.open(server: "10.0.0.2:1884")
        $0.client(.connect(.init(clientID: "c", cleanStart: true, keepAlive: 0)))
        $0.server(.connack(.init(code: 5)))
        $0.close(.server)
      }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there behind a connection of which nobody knows whose it was",
      in: [.v3_1_1], [.absentSessionIsTold: (0, 0, 1, [12])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.open(isFromStart: false)
        $0.answerPing()
        $0.close(.client)
      }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there behind such a connection, which was seen before the one before had ended",
      in: [.v3_1_1], [.absentSessionIsTold: (0, 0, 1, [12])]
    ) {
      $0.join("c")
      $0.client(.disconnect(.init()))
      $0.on(2) {
        $0.open(isFromStart: false)
        $0.answerPing()
      }
      $0.close(.client)
      $0.on(2) { $0.close(.client) }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there where a connection of nobody is told late, at the time between both",
      in: [.v3_1_1], [.absentSessionIsTold: (0, 0, 1, [8])]
    ) {
      $0.comeBackEarly()
      $0.goBack(5)
      $0.on(3) {
        $0.open()
        $0.close(.client)
      }
    },
    SharedCase(
      "a session that is there where a connection of nobody is told late, at the time behind both",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) {
      $0.comeBackEarly()
      $0.on(3) {
        $0.open()
        $0.close(.client)
      }
    },
    SharedCase(
      "a session that is there, and not behind the last connection but one that ended in WebSocket without an answer",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [16])]
    ) {
      $0.on(2) {
        $0.upgrade(subprotocol: "mqtt")
        $0.carry(.client, .connect(.init(clientID: "c")))
        $0.finishWebSocket()
        $0.wire = .mqtt(.v3_1_1)
      }
      $0.join("c")
      $0.finish()
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a client that is gone and does not close behind its DISCONNECT",
      [.nothingAfterDisconnect: (0, 1, 0, []), .closesAfterDisconnect: (0, 0, 1, [5])]
    ) {
      $0.join("c")
      $0.client(.disconnect(.init()))
      $0.wait(95)
      $0.close(.server, isAnswered: false)
    },
    SharedCase(
      "a client that is there and does not close behind its DISCONNECT",
      failed: [.closesAfterDisconnect], complete: true,
      [.closesAfterDisconnect: (1, 0, 0, [5])]
    ) {
      $0.join("c")
      $0.client(.disconnect(.init()))
      $0.wait(95)
      $0.close(.server)
    },
    SharedCase(
      "a client that is silent until the server closes, and no proxy is there",
      failed: [.keepAlive], complete: true, [.keepAlive: (1, 0, 0, [6])]
    ) { $0.fallSilentAtTheEnd { $0.close(.server) } },
    SharedCase(
      "a client that is silent and closes then, and no proxy is there",
      failed: [.keepAlive], complete: true, [.keepAlive: (1, 0, 0, [6])]
    ) { $0.fallSilentAtTheEnd { $0.close(.client) } },
    SharedCase(
      "a client that is silent once and goes on, and no proxy is there",
      failed: [.keepAlive], complete: true, [.keepAlive: (1, 0, 0, [6])]
    ) { $0.fallSilentAtTheEnd { $0.finish() } },
    SharedCase(
      "a client that is gone when the server closes, and no proxy is there",
      [.keepAlive: (0, 0, 1, [6])]
    ) { $0.fallSilentAtTheEnd { $0.close(.server, isAnswered: false) } },
  ]

  private static let requestsInARow: [SharedCase] = [
    SharedCase(
      "a retained message again for a filter that is ended and asked for in a row", in: [.v5_0],
      [.handlingSendsOnce: (0, 1, 1, [11])]
    ) {
      $0.kept()
      $0.unsubscribe(2, "a")
      $0.client(.subscribe(packetID: 3, [.init("a", options: 0x12)], []))
      $0.server(.unsuback(packetID: 2, codes: [0], []))
      $0.suback(3, 2)
      $0.say(.server, "a", "1", retain: true)
      $0.finish()
    },
    SharedCase(
      "a retained message again for a filter that is asked for once more", in: [.v5_0],
      failed: [.handlingSendsOnce], [.handlingSendsOnce: (1, 1, 0, [9])]
    ) {
      $0.kept()
      $0.client(.subscribe(packetID: 3, [.init("a", options: 0x12)], []))
      $0.suback(3, 2)
      $0.say(.server, "a", "1", retain: true)
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a message for a filter of which a share that there was not is ended", in: [.v5_0],
      [.unsubscribedGetsNothing: (0, 0, 0, []), .topicMatchesFilter: (0, 1, 0, [])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "$share/g/a")
      $0.server(.unsuback(packetID: 2, codes: [0x11], []))
      $0.wait(5)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a message for a filter that is ended", in: [.v5_0],
      failed: [.unsubscribedGetsNothing, .unsubscribedIsExact],
      [.unsubscribedGetsNothing: (1, 0, 0, [12])]
    ) {
      $0.meet()
      $0.unsubscribe(2, "a")
      $0.server(.unsuback(packetID: 2, codes: [0], []))
      $0.wait(5)
      $0.on(2) { $0.say(.client, "a", "1") }
      $0.say(.server, "a", "1")
      $0.part()
    },
    SharedCase(
      "a topic that begins with $share, where that is no share", in: [.v3_1_1],
      [.topicMatchesFilter: (0, 0, 1, [6])]
    ) {
      $0.join("s")
      $0.ask(1, "$share/g/a")
      $0.say(.server, "$share/g/a", "1")
      $0.answerPing()
      $0.finish()
    },
  ]

  private static let messagesElsewhere: [SharedCase] = [
    SharedCase(
      "a message that was captured behind its delivery, and had been said before",
      [.grantedQoSIsKept: (0, 1, 1, [11])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "on") }
      $0.say(.server, "a", "on")
      $0.say(.server, "a", "on", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.on(2) {
        $0.say(.client, "a", "on", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.part()
    },
    SharedCase(
      "a message that is said again long behind its delivery", failed: [.grantedQoSIsKept],
      complete: true,
      [.grantedQoSIsKept: (1, 0, 0, [10])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "on") }
      $0.say(.server, "a", "on", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.wait(61)
      $0.on(2) {
        $0.say(.client, "a", "on", qos: 1, id: 1)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.part()
    },
    SharedCase(
      "a message of which more copies come than were published",
      [.grantedQoSIsKept: (0, 1, 1, [10])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "on") }
      $0.say(.server, "a", "on", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.say(.server, "a", "on")
      $0.part()
    },
    SharedCase(
      "a message that another client says at another address of the server",
      [.grantedQoSIsKept: (0, 0, 1, [14])]
    ) {
      $0.meet()
      $0.on(3) {
        $0.join("q", at: "10.0.0.2:1884")
        $0.say(.client, "a", "on", qos: 1, id: 1)
      }
      $0.on(2) { $0.say(.client, "a", "on") }
      $0.say(.server, "a", "on", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.on(3) {
        $0.acknowledge(.server, .puback, 1)
        $0.finish()
      }
      $0.part()
    },
    SharedCase(
      "a message that is left out and is larger than the one behind it",
      [.everySubscriberGetsIt: (0, 1, 1, [13])]
    ) {
      $0.meet(qos: 1)
      $0.say(twice: "larger", "small")
      $0.part()
    },
    SharedCase(
      "a message that is left out and is no larger than the one behind it",
      failed: [.everySubscriberGetsIt], [.everySubscriberGetsIt: (1, 1, 0, [17])]
    ) {
      $0.meet(qos: 1)
      $0.say(twice: "small", "larger")
      $0.part()
    },
  ]
}

extension Script {
  /// A client pings once, and then nothing comes for 20 s at Keep Alive 10.
  fileprivate mutating func fallSilentAtTheEnd(_ end: (inout Script) -> Void) {
    open()
    client(.connect(.init(clientID: "c", keepAlive: 10)))
    server(.connack(.init()))
    answerPing()
    wait(20)
    end(&self)
  }

  /// A client is accepted at an address: three frames.
  fileprivate mutating func join(
    _ clientID: String, cleanStart: Bool = true, isPresent: Bool = false, at server: String
  ) {
    open(server: server)
    client(.connect(.init(clientID: clientID, cleanStart: cleanStart, keepAlive: 0)))
    self.server(.connack(.init(sessionPresent: isPresent)))
  }

  /// A client whose session ends asks for one on another connection before its first is seen to be closed, and is told
  /// of one that is there: frames 1 to 10, of which the second connection's request is in frame 6.
  fileprivate mutating func comeBackEarly() {
    join("c")
    client(.disconnect(.init()))
    on(2) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", cleanStart: false, keepAlive: 0)))
    }
    close(.client)
    on(2) {
      $0.server(.connack(.init(sessionPresent: true)))
      $0.finish()
    }
  }

  /// A retained message came for a new subscription with Retain Handling 1: frames 1 to 6.
  fileprivate mutating func kept() {
    join("s")
    client(.subscribe(packetID: 1, [.init("a", options: 0x12)], []))
    suback(1, 2)
    say(.server, "a", "1", retain: true)
  }

  /// Four messages of QoS 1 are published, and all but the second are delivered.
  fileprivate mutating func say(twice second: String, _ third: String) {
    for (id, text) in [(1 as UInt16, "0"), (2, second), (3, third), (4, "4")] {
      wait(2)
      on(2) {
        $0.say(.client, "a", text, qos: 1, id: id)
        $0.acknowledge(.server, .puback, id)
      }
      guard id != 2 else { continue }
      say(.server, "a", text, qos: 1, id: id)
      acknowledge(.client, .puback, id)
    }
  }
}

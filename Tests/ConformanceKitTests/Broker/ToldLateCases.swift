import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// What is explained by something that is told only behind it: bytes that are missing of other connections, and that
  /// what was sent arrived late; each with the session that looks most like it and is wrong.
  static let toldLate: [SharedCase] = sessionsBetween + arrivals + copies

  private static let sessionsBetween: [SharedCase] = [
    SharedCase(
      "a session that is there, while all that another client said may be missing", in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [11])]
    ) {
      $0.on(2) { $0.join("d") }
      $0.join("c")
      $0.finish()
      $0.on(3) { $0.join("c", cleanStart: false, isPresent: true) }
      $0.on(2) { $0.gap(.client) }
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a session that is there, while bytes of another client are missing that it said later",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [11])]
    ) {
      $0.on(2) { $0.join("d") }
      $0.join("c")
      $0.finish()
      $0.on(3) { $0.join("c", cleanStart: false, isPresent: true) }
      $0.on(2) {
        $0.ping()
        $0.gap(.client)
      }
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a session that is there behind a connection that is told late", in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) {
      $0.join("c")
      $0.finish()
      $0.wait(1)
      $0.on(3) { $0.join("c", cleanStart: false, isPresent: true) }
      $0.on(2) {
        $0.open(ago: 0.5)
        $0.gap(.client)
        $0.close(.client)
      }
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a session that is there in front of such a connection", in: [.v3_1_1],
      failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) {
      $0.join("c")
      $0.finish()
      $0.wait(1)
      $0.on(3) { $0.join("c", cleanStart: false, isPresent: true) }
      $0.on(2) {
        $0.open()
        $0.gap(.client)
        $0.close(.client)
      }
      $0.on(3) { $0.finish() }
    },
    SharedCase(
      "a session of a client that the server gave its name", in: [.v5_0],
      [.absentSessionIsTold: (0, 0, 1, [13])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.beNamed("c")
        $0.finish()
      }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session while another client was given another name", in: [.v5_0],
      failed: [.absentSessionIsTold, .absentSessionIsMade, .sessionEndsInTime],
      [.absentSessionIsTold: (1, 0, 0, [13])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.beNamed("d")
        $0.finish()
      }
      $0.on(3) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
  ]

  private static let arrivals: [SharedCase] = [
    SharedCase(
      "messages that are not counted down, and arrived late", in: [.v5_0],
      [.expiryIsCountedDown: (0, 1, 2, [16, 20])]
    ) {
      $0.meet()
      $0.expire(isLate: true)
    },
    SharedCase(
      "messages that are not counted down, and arrived", in: [.v5_0],
      failed: [.expiryIsCountedDown], [.expiryIsCountedDown: (2, 1, 0, [16, 20])]
    ) {
      $0.meet()
      $0.expire(isLate: false)
    },
    SharedCase(
      "a client that is silent, of which what it says arrives late",
      [.keepAlive: (0, 0, 1, [4])]
    ) { $0.fallSilent(isLate: true) },
    SharedCase(
      "a client that is silent, of which what it says arrives", failed: [.keepAlive],
      complete: true,
      [.keepAlive: (1, 0, 0, [4])]
    ) { $0.fallSilent(isLate: false) },
    SharedCase(
      "a client away from the capture, of which what it says may have been lost and come again",
      [.keepAlive: (0, 0, 1, [4])]
    ) { $0.fallSilent(isLate: false, shown: 10.4) },
    SharedCase(
      "a client away from the capture that is silent, as what it acknowledges shows",
      failed: [.keepAlive], complete: true, [.keepAlive: (1, 0, 0, [4])]
    ) { $0.fallSilent(isLate: false, shown: 10.5) },
    SharedCase(
      "a client away from the capture that ends its silence by closing",
      [.keepAlive: (0, 0, 1, [4])]
    ) { $0.closeBehindSilence(shown: 0) },
    SharedCase(
      "a client that ends its silence by closing", failed: [.keepAlive], complete: true,
      [.keepAlive: (1, 0, 0, [4])]
    ) { $0.closeBehindSilence(shown: nil) },
    SharedCase(
      "a connection that is served behind a newer one, and is slow",
      [.olderConnectionEnds: (0, 0, 1, [8])]
    ) { $0.goOnBehindNewer(isLate: true) },
    SharedCase(
      "an older connection whose end is captured late and away from the server",
      [.olderConnectionEnds: (0, 0, 1, [7])]
    ) { $0.endLateBehindNewer(serverRest: 20) },
    SharedCase(
      "an older connection that is seen to be open for long away from the server",
      failed: [.olderConnectionEnds], [.olderConnectionEnds: (1, 0, 0, [7])]
    ) { $0.endLateBehindNewer(serverRest: 10) },
    SharedCase(
      "a connection on which what was written goes on behind a newer one",
      [.olderConnectionEnds: (0, 1, 0, [])]
    ) {
      $0.join("c")
      $0.ask(1, "a")
      $0.on(2) { $0.join("c") }
      $0.wait(20)
      $0.say(.server, "a", "1")
      $0.close(.server)
      $0.on(2) { $0.finish() }
    },
    SharedCase(
      "a session that ended by a reset of the client, which the server need not have",
      in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [7])]
    ) {
      $0.join("c")
      $0.close(.client, .reset)
      $0.on(2) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session that ended by a reset of the server, which may have stopped", in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [7])]
    ) {
      $0.join("c")
      $0.close(.server, .reset)
      $0.on(2) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a connection that is served behind a newer one", failed: [.olderConnectionEnds],
      [.olderConnectionEnds: (1, 0, 0, [8])]
    ) { $0.goOnBehindNewer(isLate: false) },
  ]

  private static let copies: [SharedCase] = [
    SharedCase(
      "its own message by one of two filters, of which the other wants none", in: [.v5_0],
      [.overlapsGetHighestQoS: (0, 1, 1, [10])]
    ) {
      $0.join("s")
      $0.ask(1, "#", qos: 1, options: 0b100)
      $0.ask(2, "+", qos: 0)
      $0.wait(2)
      $0.say(.client, "a", "1", qos: 1, id: 3)
      $0.acknowledge(.server, .puback, 3)
      $0.say(.server, "a", "1")
      $0.say(.client, "b", "2")
      $0.say(.server, "b", "2")
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a capture that ends between the copies of two messages for two filters",
      [.overlapsGetHighestQoS: (0, 0, 2, [15, 16])]
    ) {
      $0.join("s")
      $0.ask(1, "#", qos: 1)
      $0.ask(2, "+", qos: 0)
      $0.wait(2)
      $0.on(2) {
        $0.join("p")
        for (id, topic) in [(1 as UInt16, "a"), (2, "b")] {
          $0.say(.client, topic, "1", qos: 1, id: id)
          $0.acknowledge(.server, .puback, id)
        }
      }
      $0.say(.server, "a", "1")
      $0.say(.server, "b", "1")
      $0.endCapture()
      $0.on(2) { $0.endCapture() }
    },
    SharedCase(
      "its own message by one of two filters that both want it", in: [.v5_0],
      failed: [.overlapsGetHighestQoS], [.overlapsGetHighestQoS: (1, 1, 0, [10])]
    ) {
      $0.join("s")
      $0.ask(1, "#", qos: 1)
      $0.ask(2, "+", qos: 0)
      $0.wait(2)
      $0.say(.client, "a", "1", qos: 1, id: 3)
      $0.acknowledge(.server, .puback, 3)
      $0.say(.server, "a", "1")
      $0.wait(1)
      $0.say(.client, "b", "2")
      $0.say(.server, "b", "2")
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a message that was said before the client asked, and comes live without its properties",
      in: [.v5_0], [.contentTypeIsForwarded: (0, 0, 1, [10])]
    ) {
      $0.sayTwice(unseen: true)
    },
    SharedCase(
      "a message that is said when the client has asked, and comes without its properties",
      in: [.v5_0], failed: [.contentTypeIsForwarded], [.contentTypeIsForwarded: (1, 0, 0, [10])]
    ) {
      $0.sayTwice(unseen: false)
    },
  ]
}

extension Script {
  /// A client without a name is given one, under which its session goes on.
  fileprivate mutating func beNamed(_ name: String) {
    open()
    var connect = MQTTPacket.Connect(clientID: "", cleanStart: true, keepAlive: 0)
    connect.properties = [.number(.sessionExpiryInterval, 300)]
    client(.connect(connect))
    var connack = MQTTPacket.Connack(sessionPresent: false)
    connack.properties = [.text(.assignedClientIdentifier, name)]
    server(.connack(connack))
  }

  /// A message waits for 20 s by the times of the capture, and is delivered as if it had not.
  fileprivate mutating func expire(isLate: Bool) {
    for (text, seconds) in [("0", 0), ("1", 45), ("2", 45)] as [(String, Double)] {
      on(2) { $0.say(.client, "a", text, [.number(.messageExpiryInterval, 60)]) }
      wait(seconds)
      answerPing()
      say(.server, "a", text, [.number(.messageExpiryInterval, 60)])
    }
    answerPing()
    finish()
    on(2) {
      $0.client(.disconnect(.init()))
      $0.close(.client, isLate: isLate)
    }
  }

  /// A client with a Keep Alive of 10 s says nothing for 40.
  ///
  /// - Parameters:
  ///   - isLate: Whether what it says arrives late.
  ///   - shown: How much of it acknowledgements show, in seconds; nil where it was captured beside the client.
  fileprivate mutating func fallSilent(isLate: Bool, shown: Double? = nil) {
    start(keepAlive: 10)
    wait(40)
    ping()
    pong()
    client(.disconnect(.init()))
    close(.client, isLate: isLate, clientSilence: shown)
  }

  /// A client with a Keep Alive of 10 s says nothing for 40, and then closes.
  ///
  /// - Parameter shown: How much of it acknowledgements show, in seconds; nil where it was captured beside the client.
  fileprivate mutating func closeBehindSilence(shown: Double?) {
    start(keepAlive: 10)
    wait(40)
    close(.client, clientSilence: shown)
  }

  /// A client connects again, and 45 s later the end of the older connection is captured.
  ///
  /// - Parameter serverRest: How long before it the server was last seen not to have ended it, in seconds.
  fileprivate mutating func endLateBehindNewer(serverRest: Double) {
    join("c")
    on(2) { $0.join("c") }
    wait(45)
    close(.server, serverRest: serverRest)
    on(2) { $0.finish() }
  }

  /// A client connects again, and 20 s later the server answers on the older connection.
  fileprivate mutating func goOnBehindNewer(isLate: Bool) {
    join("c")
    on(2) { $0.join("c") }
    wait(20)
    ping()
    pong()
    close(.server, isLate: isLate)
    on(2) { $0.finish() }
  }

  /// A message with a property is published, and one that is the same but for that delivered, to a client that asked for
  /// it before or in between.
  fileprivate mutating func sayTwice(unseen: Bool) {
    on(2) { $0.join("p") }
    let property = MQTTProperty.text(.contentType, "t")
    if unseen { on(2) { $0.say(.client, "a", "switched on by now", [property]) } }
    wait(2)
    join("s")
    ask(1, "a", qos: 1)
    wait(2)
    if !unseen { on(2) { $0.say(.client, "a", "switched on by now", [property]) } }
    say(.server, "a", "switched on by now")
    answerPing()
    finish()
    on(2) { $0.finish() }
  }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Sessions that outlive their connections, and clients that connect again.
  static let resuming: [SharedCase] = presence + repeating + limitedRepeats + takingOver + pauses

  private static let presence: [SharedCase] = [
    SharedCase(
      "a session that is there again",
      [
        .presentSessionIsTold: (0, 1, 1, [3]), .absentSessionIsTold: (0, 0, 1, [3]),
        .sessionGoesOn: (0, 1, 0, []), .cleanStartIsCarriedOut: (0, 1, 0, []),
        .sessionIsStored: (0, 1, 0, []), .sessionLastsAsConnection: (0, 1, 0, []),
        .identifierTellsSession: (0, 1, 0, []), .sessionOutlivesConnection: (0, 1, 0, []),
        .absentSessionIsMade: (0, 1, 0, []), .sessionEndsInTime: (0, 0, 0, []),
      ]
    ) {
      $0.join("c", cleanStart: false)
      $0.finish()
      $0.on(2) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "an expiry in DISCONNECT though that of CONNECT was 0", in: [.v5_0],
      failed: [.expiryStaysZero], [.expiryStaysZero: (1, 0, 0, [4])]
    ) {
      $0.join("c")
      $0.client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 5)])))
      $0.close(.client)
    },
    SharedCase(
      "an expiry in DISCONNECT that is another one", in: [.v5_0],
      [.expiryStaysZero: (0, 1, 0, [])]
    ) {
      $0.join("c", expiry: 1)
      $0.client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 5)])))
      $0.close(.client)
    },
    SharedCase(
      "an expiry in DISCONNECT where the server set one", in: [.v5_0],
      [.expiryStaysZero: (0, 0, 1, [4])]
    ) {
      $0.agree([], [.number(.sessionExpiryInterval, 9)])
      $0.client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 5)])))
      $0.close(.client)
    },
    SharedCase(
      "an expiry in DISCONNECT behind a CONNACK of which bytes are missing", in: [.v5_0],
      [.expiryStaysZero: (0, 0, 1, [4])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0)))
      $0.server(hex: "20 08 00 00 05 11 00 00 00 09", missing: 2)
      $0.client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 5)])))
      $0.close(.client)
    },
    SharedCase(
      "a message for a client that subscribed to more before it was told that its session is there",
      [.topicMatchesFilter: (0, 1, 0, [])]
    ) {
      $0.pipeline {
        $0.subscribe(1, "b")
      } then: {
        $0.say(.server, "b", "1")
      }
    },
    SharedCase(
      "a message of the session before for a client of which a SUBSCRIBE is cut", in: [.v3_1_1],
      [.topicMatchesFilter: (0, 0, 1, [14])]
    ) {
      $0.pipeline {
        $0.client(hex: "82 06 0001 0001 62 00", missing: 1)
      } then: {
        $0.say(.server, "a", "1")
      }
    },
    SharedCase(
      "a session that is gone",
      [
        .presentSessionIsTold: (0, 0, 2, [3, 8]), .sessionIsStored: (0, 0, 1, [8]),
        .sessionOutlivesConnection: (0, 0, 1, [8]), .sessionLastsAsConnection: (0, 0, 0, []),
        .identifierTellsSession: (0, 0, 0, []),
      ]
    ) {
      $0.join("c", cleanStart: false)
      $0.finish()
      $0.on(2) {
        $0.join("c", cleanStart: false)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is said to be gone, and goes on", in: [.v3_1_1],
      failed: [.presentSessionIsTold],
      [
        .presentSessionIsTold: (1, 0, 2, [11]), .topicMatchesFilter: (0, 1, 1, [11]),
        .serverDupIsItsOwn: (0, 1, 1, [11]),
      ]
    ) {
      $0.deny { $0.say(.server, "a", "1", qos: 1, id: 1, dup: true) }
    },
    SharedCase(
      "a session of 5.0 that is said to be gone, and goes on", in: [.v5_0],
      failed: [.absentSessionIsTold],
      [
        .absentSessionIsTold: (1, 0, 1, [11]), .topicMatchesFilter: (0, 1, 1, [11]),
        .serverDupIsItsOwn: (0, 1, 1, [11]), .qos1BeginsWithoutDup: (0, 1, 1, [11]),
      ]
    ) {
      $0.deny { $0.say(.server, "a", "1", qos: 1, id: 1, dup: true) }
    },
    SharedCase(
      "another message with DUP in a session that is said to be gone",
      [.presentSessionIsTold: (0, 0, 2, [3, 10]), .absentSessionIsTold: (0, 0, 1, [3])]
    ) {
      $0.deny { $0.say(.server, "a", "2", qos: 1, id: 1, dup: true) }
    },
    SharedCase(
      "the message of a session that is gone without DUP",
      [.presentSessionIsTold: (0, 0, 2, [3, 10]), .absentSessionIsTold: (0, 0, 1, [3])]
    ) {
      $0.deny { $0.say(.server, "a", "1", qos: 1, id: 1) }
    },
    SharedCase(
      "the message of a session that is gone for who has subscribed again",
      [.presentSessionIsTold: (0, 0, 2, [3, 10]), .absentSessionIsTold: (0, 0, 1, [3])]
    ) {
      $0.deny {
        $0.ask(1, "a")
        $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
      }
    },
    SharedCase(
      "the message of a session that is gone where its place beside requests is not known",
      [.presentSessionIsTold: (0, 0, 2, [3, 10]), .absentSessionIsTold: (0, 0, 1, [3])]
    ) {
      $0.deny {
        $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
        $0.doubtOrder()
      }
    },
    SharedCase(
      "the message of a session that was said to be gone a while before",
      [.presentSessionIsTold: (0, 0, 2, [3, 10]), .absentSessionIsTold: (0, 0, 1, [3])]
    ) {
      $0.deny(after: 6) { $0.say(.server, "a", "1", qos: 1, id: 1, dup: true) }
    },
    SharedCase(
      "a session that is there behind one that was clean", in: [.v3_1_1],
      failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [8]), .cleanStartEndsSession: (1, 1, 0, [8])]
    ) { $0.comeBack() },
    SharedCase(
      "a session that is there behind one that expired at once", in: [.v5_0],
      failed: [.absentSessionIsTold, .absentSessionIsMade, .sessionEndsInTime],
      [
        .absentSessionIsTold: (1, 0, 0, [8]), .absentSessionIsMade: (1, 0, 0, [8]),
        .sessionEndsInTime: (1, 0, 0, [8]),
      ]
    ) { $0.comeBack() },
    SharedCase(
      "a session that is there behind one that was clean, in which comes what nothing asked for",
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) { $0.comeBack { $0.say(.server, "u", "1") } },
    SharedCase(
      "a session that is there behind one that was clean, in which the client releases what it never sent",
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) {
      $0.comeBack {
        $0.acknowledge(.client, .pubrel, 3)
        $0.acknowledge(.server, .pubcomp, 3)
      }
    },
    SharedCase(
      "a session that is there behind one that was clean, in which the server sends again what it never sent",
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) {
      $0.comeBack {
        $0.ask(1, "u")
        $0.say(.server, "u", "1", qos: 1, id: 1, dup: true)
      }
    },
    SharedCase(
      "a session that is there behind one that was clean, in which the client releases what it sends",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) {
      $0.comeBack {
        $0.say(.client, "u", "1", qos: 2, id: 3)
        $0.acknowledge(.server, .pubrec, 3)
        $0.acknowledge(.client, .pubrel, 3)
        $0.acknowledge(.server, .pubcomp, 3)
      }
    },
    SharedCase(
      "a session that is there behind one that was clean, in which comes what that one asked for",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [10])]
    ) { $0.comeBack(havingAsked: "u") { $0.say(.server, "u", "1") } },
    SharedCase(
      "a session that is there behind one that was clean, in which comes what it asks for",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) {
      $0.comeBack {
        $0.ask(1, "u")
        $0.say(.client, "u", "1")
        $0.say(.server, "u", "1")
      }
    },
    SharedCase(
      "a session that is there behind one that expired, in which comes a number that was never given",
      in: [.v5_0], [.absentSessionIsTold: (0, 0, 1, [8]), .sessionEndsInTime: (0, 0, 1, [8])]
    ) {
      $0.comeBack {
        $0.number(1, "u")
        $0.say(.client, "u", "1")
        $0.say(.server, "u", "1", SharedCase.numbers(2))
      }
    },
    SharedCase(
      "a session that is there behind one that expired, in which comes a number that it gives",
      in: [.v5_0], failed: [.absentSessionIsTold, .absentSessionIsMade, .sessionEndsInTime],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) {
      $0.comeBack {
        $0.number(1, "u")
        $0.say(.client, "u", "1")
        $0.say(.server, "u", "1", SharedCase.numbers(1))
      }
    },
    SharedCase(
      "a session that is there behind one that was clean, at a server with clients that are not there",
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) {
      $0.comeBack()
      $0.on(3) {
        $0.join("s")
        $0.ask(1, "a")
        $0.say(.server, "a", "1")
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there a while behind one that was clean",
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) { $0.comeBack(after: 6) },
    SharedCase(
      "a session that is there behind one that was clean, by clocks that differ",
      [.absentSessionIsTold: (0, 0, 1, [10])]
    ) {
      $0.join("c")
      $0.wait(2)
      $0.ping()
      $0.add(.server, .mqtt(PacketBytes([0xD0, 0])), early: 1_500_000_000)
      $0.finish()
      $0.on(2) {
        $0.join("c", cleanStart: false, isPresent: true)
        $0.finish()
      }
    },
    SharedCase(
      "a session of another user that is there behind one that was clean",
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) {
      $0.join("c", user: "a")
      $0.finish()
      $0.on(2) {
        $0.join("c", cleanStart: false, isPresent: true, user: "b")
        $0.finish()
      }
    },
    SharedCase(
      "a clean session behind one that was clean",
      [.cleanStartEndsSession: (0, 2, 0, []), .cleanStartIsCarriedOut: (0, 2, 0, [])]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.join("c")
        $0.finish()
      }
    },
    SharedCase(
      "no session behind one that was clean",
      [
        .absentSessionIsTold: (0, 1, 0, []), .absentSessionIsMade: (0, 1, 0, []),
        .sessionEndsInTime: (0, 1, 0, []), .sessionIsStored: (0, 0, 0, []),
      ]
    ) {
      $0.join("c")
      $0.finish()
      $0.on(2) {
        $0.join("c", cleanStart: false)
        $0.finish()
      }
    },
    SharedCase(
      "a session that is there behind its expiry", in: [.v5_0],
      failed: [.absentSessionIsTold, .absentSessionIsMade, .sessionEndsInTime],
      [.absentSessionIsTold: (1, 0, 1, [8])]
    ) { $0.expire(in: 1, after: 4) },
    SharedCase(
      "a session that is there about its expiry", in: [.v5_0],
      [.absentSessionIsTold: (0, 0, 1, [3]), .presentSessionIsTold: (0, 0, 0, [])]
    ) { $0.expire(in: 1, after: 2) },
    // The CONNECT comes two milliseconds behind what is waited.
    SharedCase(
      "a session that is there as long behind its expiry as a server may be late", in: [.v5_0],
      [.absentSessionIsTold: (0, 0, 1, [3]), .presentSessionIsTold: (0, 0, 1, [3])]
    ) { $0.expire(in: 10, after: 11.998) },
    SharedCase(
      "a session that is there as long before its expiry as a server may be early", in: [.v5_0],
      [.absentSessionIsTold: (0, 0, 1, [3]), .presentSessionIsTold: (0, 0, 1, [3])]
    ) { $0.expire(in: 10, after: 7.998) },
    SharedCase(
      "a session that is there behind as long as no other connection is thought of between",
      in: [.v3_1_1], failed: [.absentSessionIsTold, .cleanStartEndsSession],
      [.absentSessionIsTold: (1, 0, 0, [8])]
    ) { $0.comeBack(after: 4.998) },
    SharedCase(
      "a session that is there behind a millisecond more", in: [.v3_1_1],
      [.absentSessionIsTold: (0, 0, 1, [8])]
    ) { $0.comeBack(after: 4.999) },
  ]
}

extension Script {
  /// A second connection of a client, on the first of which something happens before the server accepts it.
  mutating func joinSlowly(_ clientID: String, _ meanwhile: (inout Script) -> Void) {
    on(2) {
      $0.open()
      $0.client(.connect(MQTTPacket.Connect(clientID: clientID, cleanStart: true, keepAlive: 0)))
    }
    meanwhile(&self)
    on(2) { $0.server(.connack(.init(sessionPresent: false))) }
  }

  /// A session that ends with its connection, and a client that is told that it is there.
  fileprivate mutating func comeBack(
    after seconds: Double = 0, havingAsked filter: String? = nil,
    _ body: (inout Script) -> Void = { _ in }
  ) {
    join("c")
    if let filter { ask(1, filter) }
    finish()
    wait(seconds)
    on(2) {
      $0.join("c", cleanStart: false, isPresent: true)
      body(&$0)
      $0.finish()
    }
  }

  /// A session that lasts some seconds, and is there behind some.
  fileprivate mutating func expire(in seconds: Int, after: Double) {
    join("c", cleanStart: false, expiry: seconds)
    finish()
    wait(after)
    on(2) {
      $0.join("c", cleanStart: false, isPresent: true, expiry: seconds)
      $0.finish()
    }
  }

  /// A client with a message open comes back, is told that there is no session, and gets something: frames 1 to 10 and the
  /// PUBACK behind it.
  fileprivate mutating func deny(
    after seconds: Double = 0, then: (inout Script) -> Void
  ) {
    join("c", cleanStart: false, expiry: 60)
    ask(1, "a")
    say(.server, "a", "1", qos: 1, id: 1)
    close(.client)
    wait(seconds)
    on(2) {
      $0.join("c", cleanStart: false, expiry: 60)
      then(&$0)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    }
  }

  /// A client is subscribed to a, and asks for something else in its next connection before that is accepted: frames 1
  /// to 11.
  fileprivate mutating func pipeline(
    _ request: (inout Script) -> Void, then: (inout Script) -> Void
  ) {
    join("c", cleanStart: false)
    ask(1, "a")
    answerPing()
    close(.client)
    on(2) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", cleanStart: false, keepAlive: 0)))
      request(&$0)
      $0.server(.connack(.init(sessionPresent: true)))
      $0.suback(1, 2)
      then(&$0)
      $0.answerPing()
      $0.finish()
    }
  }
}

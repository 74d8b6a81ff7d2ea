import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages of groups that a member has not got to the end (section 4.8.2 of 5.0).
  static let sharing: [SharedCase] = refusing + breaking

  private static let refusing: [SharedCase] = [
    SharedCase(
      "a message that a member refused, for another one", in: [.v5_0],
      failed: [.refusedIsNotPassedOn], complete: true, [.refusedIsNotPassedOn: (1, 0, 0, [20])]
    ) {
      $0.meetGroup()
      $0.refuse()
      $0.wait(2)
      $0.on(3) { $0.get("1") }
      $0.partGroup()
    },
    SharedCase(
      "two messages that a member refused, for another one", in: [.v5_0],
      failed: [.refusedIsNotPassedOn], [.refusedIsNotPassedOn: (2, 0, 0, [22, 24])]
    ) {
      $0.meetGroup()
      for text in ["1", "2"] { $0.say(text) }
      for id: UInt16 in 1...2 { $0.say(.server, "a", "\(id)", qos: 1, id: id) }
      for id: UInt16 in 1...2 {
        $0.client(.acknowledgement(.puback, packetID: id, .init(0x97)))
      }
      $0.wait(2)
      for text in ["1", "2"] { $0.on(3) { $0.get(text) } }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member refused, for one that subscribes then", in: [.v5_0],
      failed: [.refusedIsNotPassedOn], complete: true, [.refusedIsNotPassedOn: (1, 0, 0, [20])]
    ) {
      $0.meetGroup(isSecondLate: true)
      $0.refuse()
      $0.on(3) {
        $0.agree(clientID: "u")
        $0.ask(1, "$share/g/a", qos: 1)
        $0.get("1")
      }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member refused a moment before another one gets it", in: [.v5_0],
      [.refusedIsNotPassedOn: (0, 0, 1, [20])]
    ) {
      $0.meetGroup()
      $0.refuse()
      $0.on(3) { $0.get("1") }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member refused, for a member of another group", in: [.v5_0],
      [.refusedIsNotPassedOn: (0, 0, 0, [])]
    ) {
      $0.meetGroup(second: "$share/h/a")
      $0.refuse()
      $0.wait(2)
      $0.on(3) { $0.get("1") }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member refused, for one that is in two groups", in: [.v5_0],
      [.refusedIsNotPassedOn: (0, 0, 0, [])]
    ) {
      $0.meetGroup()
      $0.on(3) { $0.ask(2, "$share/h/a", qos: 1) }
      $0.refuse()
      $0.wait(2)
      $0.on(3) { $0.get("1") }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member of another group refused, for another member", in: [.v5_0],
      [.refusedIsNotPassedOn: (0, 0, 0, [])]
    ) {
      $0.meetGroup(second: "$share/h/a")
      $0.on(4) {
        $0.join("v")
        $0.ask(1, "$share/h/a", qos: 1)
      }
      $0.say("1")
      $0.on(3) { $0.get("1") }
      $0.say(.server, "a", "1", qos: 1, id: 1)
      $0.client(.acknowledgement(.puback, packetID: 1, .init(0x97)))
      $0.answerPing()
      $0.wait(2)
      $0.on(4) {
        $0.get("1")
        $0.answerPing()
        $0.finish()
      }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member took, for another one", in: [.v5_0],
      [.refusedIsNotPassedOn: (0, 0, 0, [])]
    ) {
      $0.meetGroup()
      $0.say("1")
      $0.get("1")
      $0.wait(2)
      $0.on(3) { $0.get("1") }
      $0.partGroup()
    },
    SharedCase(
      "a message that a member refused, and a later one for another", in: [.v5_0],
      [.refusedIsNotPassedOn: (0, 1, 0, [])]
    ) {
      $0.meetGroup()
      $0.refuse()
      $0.wait(2)
      $0.say("2")
      $0.on(3) { $0.get("2") }
      $0.partGroup()
    },
  ]

  private static let breaking: [SharedCase] = [
    SharedCase(
      "a message of QoS 2 for another member when the session of the first one is over",
      in: [.v5_0], failed: [.brokenIsNotPassedOn], complete: true,
      [.brokenIsNotPassedOn: (1, 0, 0, [20])]
    ) {
      $0.breakOff()
      $0.wait(2)
      $0.on(3) { $0.say(.server, "a", "1", qos: 2, id: 1) }
      $0.partGroup(isFirstGone: true)
    },
    SharedCase(
      "a message of QoS 2 for another member though the session of the first one goes on",
      in: [.v5_0], [.brokenIsNotPassedOn: (0, 0, 0, [])]
    ) {
      $0.breakOff(expiry: 60)
      $0.wait(2)
      $0.on(3) { $0.say(.server, "a", "1", qos: 2, id: 1) }
      $0.partGroup(isFirstGone: true)
    },
    SharedCase(
      "another message of QoS 2 for another member when the session of the first one is over",
      in: [.v5_0], [.brokenIsNotPassedOn: (0, 1, 0, [])]
    ) {
      $0.breakOff()
      $0.wait(2)
      $0.say("2", qos: 2)
      $0.on(3) { $0.say(.server, "a", "2", qos: 2, id: 1) }
      $0.partGroup(isFirstGone: true)
    },
    SharedCase(
      "a message of QoS 2 is completed with the member that is back", in: [.v5_0],
      [.brokenIsCompleted: (0, 1, 0, []), .brokenIsNotPassedOn: (0, 0, 0, [])]
    ) {
      $0.goOnBroken { $0.say(.server, "a", "1", qos: 2, id: 1, dup: true) }
    },
    SharedCase(
      "a message of QoS 2 that is not completed with the member that is back, but comes with another identifier",
      in: [.v5_0],
      [.brokenIsCompleted: (0, 0, 0, [])]
    ) {
      $0.goOnBroken { $0.say(.server, "a", "1", qos: 2, id: 2, dup: true) }
    },
  ]
}

extension Script {
  /// A member breaks off with a message of QoS 2 open, and is back in its session, in which something comes.
  fileprivate mutating func goOnBroken(_ body: (inout Script) -> Void) {
    breakOff(expiry: 60)
    on(4) {
      $0.open()
      $0.client(
        .connect(
          .init(
            clientID: "s", cleanStart: false, keepAlive: 0,
            properties: [.number(.sessionExpiryInterval, 60)])))
      $0.server(.connack(.init(sessionPresent: true)))
      body(&$0)
      $0.answerPing()
      $0.finish()
    }
    partGroup(isFirstGone: true)
  }
}

extension Script {
  /// Two clients in a group, or in one each, and one that publishes: frames 1 to 13.
  fileprivate mutating func meetGroup(
    second: String = "$share/g/a", isSecondLate: Bool = false, qos: UInt8 = 1, expiry: Int? = nil
  ) {
    join("s", expiry: expiry)
    ask(1, "$share/g/a", qos: qos)
    on(2) { $0.join("p") }
    guard !isSecondLate else { return }
    on(3) {
      $0.join("u")
      $0.ask(1, second, qos: qos)
    }
  }

  /// A message is published: two frames at QoS 1, four at QoS 2.
  fileprivate mutating func say(_ text: String, qos: UInt8 = 1) {
    on(2) {
      $0.say(.client, "a", text, qos: qos, id: 1)
      guard qos == 2 else { return $0.acknowledge(.server, .puback, 1) }
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
    }
  }

  /// A message comes and is taken: two frames.
  fileprivate mutating func get(_ text: String) {
    say(.server, "a", text, qos: 1, id: 1)
    acknowledge(.client, .puback, 1)
  }

  /// A member refuses the message that comes for it.
  fileprivate mutating func refuse() {
    say("1")
    say(.server, "a", "1", qos: 1, id: 1)
    client(.acknowledgement(.puback, packetID: 1, .init(0x97)))
    answerPing()
  }

  /// A member goes while a message of QoS 2 is on its way to it.
  fileprivate mutating func breakOff(expiry: Int? = nil) {
    meetGroup(qos: 2, expiry: expiry)
    say("1", qos: 2)
    say(.server, "a", "1", qos: 2, id: 1)
    close(.client, .reset)
  }

  /// All leave.
  fileprivate mutating func partGroup(isFirstGone: Bool = false) {
    if !isFirstGone { finish() }
    for connection in [2, 3] {
      on(connection) {
        $0.answerPing()
        $0.finish()
      }
    }
  }
}

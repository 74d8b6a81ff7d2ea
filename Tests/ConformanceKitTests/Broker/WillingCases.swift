import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Wills that are published, dropped and cancelled.
  static let willing: [SharedCase] = due + dropped + delayed + absent

  // MARK: When they are due

  private static let due: [SharedCase] = [
    SharedCase(
      "a will when its client breaks off",
      [
        .willIsPublished: (0, 1, 0, []), .willIsStored: (0, 1, 0, []),
        .willIsRemoved: (0, 0, 0, []), .liveIsNotRetained: (0, 3, 0, []),
        .grantedQoSIsKept: (0, 3, 0, []),
      ]
    ) {
      $0.attend()
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that is delivered in front of the end that was captured",
      [.willIsPublished: (0, 1, 0, []), .willIsStored: (0, 1, 0, [])]
    ) {
      $0.attend()
      $0.say(.server, "a", "gone")
      $0.on(3) { $0.close(.server) }
      $0.part()
    },
    SharedCase(
      "a will behind DISCONNECT with will", in: [.v5_0],
      [
        .willIsPublished: (0, 1, 0, []), .disconnectDropsWill: (0, 0, 0, []),
        .willIsRemoved: (0, 0, 0, []),
      ]
    ) {
      $0.attend()
      $0.wait(6)
      $0.on(3) {
        $0.client(.disconnect(.init(4)))
        $0.close(.client)
      }
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that an application says as well", [.willIsPublished: (0, 0, 1, [14])]
    ) {
      $0.attend(isTold: false)
      $0.on(2) { $0.say(.client, "a", "gone") }
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.part()
    },
    SharedCase(
      "a will at a higher QoS than it was given", failed: [.grantedQoSIsKept],
      [.willIsPublished: (0, 1, 0, []), .grantedQoSIsKept: (1, 2, 0, [15])]
    ) {
      $0.attend()
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will with RETAIN", failed: [.liveIsNotRetained],
      [.willIsPublished: (0, 0, 1, [14]), .liveIsNotRetained: (1, 2, 0, [15])]
    ) {
      $0.attend()
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone", retain: true)
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a retained will that keeps RETAIN as it was published", in: [.v5_0],
      [.retainedWillIsRetained: (0, 1, 0, []), .retainIsAsPublished: (0, 2, 0, [])]
    ) {
      $0.attend(.gone(retain: true), options: 0b1000)
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone", retain: true)
      $0.part()
    },
    SharedCase(
      "a retained will that does not keep RETAIN as it was published", in: [.v5_0],
      failed: [.retainIsAsPublished, .retainedWillIsRetained],
      [.retainedWillIsRetained: (1, 0, 0, [15]), .retainIsAsPublished: (1, 2, 0, [15])]
    ) {
      $0.attend(.gone(retain: true), options: 0b1000)
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that comes twice", failed: [.willIsRemoved],
      [.willIsPublished: (0, 1, 0, []), .willIsRemoved: (1, 0, 0, [16])]
    ) {
      $0.attend()
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.say(.server, "a", "gone")
      $0.part()
    },
    SharedCase(
      "a will that comes twice, of which the first one may be of a session before",
      [.willIsPublished: (0, 1, 0, []), .willIsRemoved: (0, 0, 1, [18])]
    ) {
      $0.attend()
      $0.say(.server, "a", "gone")
      $0.on(3) {
        $0.answerPing()
        $0.close(.client, .reset)
      }
      $0.say(.server, "a", "gone")
      $0.part()
    },
    SharedCase(
      "a will that comes twice at QoS 1",
      [.willIsPublished: (0, 1, 0, []), .willIsRemoved: (0, 0, 1, [16])]
    ) {
      $0.attend(.gone(qos: 1))
      $0.on(3) { $0.close(.client, .reset) }
      for id: UInt16 in 1...2 {
        $0.say(.server, "a", "gone", qos: 1, id: id)
      }
      for id: UInt16 in 1...2 { $0.acknowledge(.client, .puback, id) }
      $0.part()
    },
    SharedCase(
      "a will that comes once to each of two clients",
      [.willIsPublished: (0, 1, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.attend()
      $0.on(4) {
        $0.join("t")
        $0.ask(1, "a")
        $0.ping()
        $0.pong()
      }
      $0.on(3) {
        $0.answerPing()
        $0.close(.client, .reset)
      }
      $0.say(.server, "a", "gone")
      $0.on(4) {
        $0.say(.server, "a", "gone")
        $0.answerPing()
        $0.finish()
      }
      $0.part()
    },
  ]

  // MARK: When they are dropped

  private static let dropped: [SharedCase] = [
    SharedCase(
      "no will behind DISCONNECT",
      [
        .disconnectDropsWill: (0, 1, 0, []), .willIsRemoved: (0, 1, 0, []),
        .willIsPublished: (0, 0, 0, []),
      ]
    ) {
      $0.attend()
      $0.wait(6)
      $0.on(3) { $0.finish() }
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will behind DISCONNECT", failed: [.disconnectDropsWill, .willIsRemoved],
      [
        .disconnectDropsWill: (1, 0, 0, [16]), .willIsRemoved: (1, 0, 0, [16]),
        .willIsPublished: (0, 0, 0, []),
      ]
    ) { $0.comeAfterAll() },
    SharedCase(
      "a will behind DISCONNECT of a client that was just there", .left(16)
    ) { $0.comeAfterAll(behind: 1) },
    SharedCase(
      "a will behind DISCONNECT within the Keep Alive",
      failed: [.disconnectDropsWill, .willIsRemoved],
      [.disconnectDropsWill: (1, 0, 0, [16]), .willIsRemoved: (1, 0, 0, [16])]
    ) { $0.comeAfterSilence(of: 9.5) },
    SharedCase(
      "a will behind DISCONNECT of a client whose Keep Alive was over",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) { $0.comeAfterSilence(of: 10.5) },
    SharedCase(
      "a will long behind DISCONNECT", .left(16)
    ) { $0.comeAfterAll(then: { $0.wait(6) }) },
    SharedCase(
      "a will behind DISCONNECT and a reset",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.client(.disconnect(.init()))
        $0.close(.client, .reset)
      })
    },
    SharedCase(
      "a will behind DISCONNECT upon which the server ended the connection",
      failed: [.disconnectDropsWill, .willIsRemoved],
      [.disconnectDropsWill: (1, 0, 0, [16]), .willIsRemoved: (1, 0, 0, [16])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.client(.disconnect(.init()))
        $0.close(.server)
      })
    },
    SharedCase(
      "a will behind DISCONNECT that the end of the server may have crossed",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.client(.disconnect(.init()))
        $0.wait(-0.000_5)
        $0.close(.server)
      })
    },
    SharedCase(
      "a will behind DISCONNECT of a client whose connection the server had ended", in: [.v5_0],
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.server(.disconnect(.init(0x89)))
        $0.client(.disconnect(.init()))
        $0.close(.server)
      })
    },
    SharedCase(
      "a will behind a message that the server may have closed for, and DISCONNECT",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.say(.client, "b", "3")
        $0.finish()
      })
    },
    SharedCase(
      "a will behind a request that was not answered, and DISCONNECT",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.subscribe(1, "b")
        $0.finish()
      })
    },
    SharedCase(
      "a will behind DISCONNECT that another client has as well",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.on(4) { $0.join("d", will: .gone()) }
      $0.comeAfterAll()
    },
    SharedCase(
      "a will behind DISCONNECT of a client that had connected again",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.on(4) { $0.join("c") }
        $0.finish()
      })
    },
    SharedCase(
      "a will behind DISCONNECT of a client that was about to connect again",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) {
      $0.comeAfterAll(leaving: {
        $0.on(4) {
          $0.open()
          $0.client(.connect(.init(clientID: "c", keepAlive: 0)))
        }
        $0.finish()
      })
      $0.on(4) { $0.close(.client, .reset) }
    },
    SharedCase(
      "a will behind DISCONNECT where the wills of others are not known", .left(18)
    ) {
      $0.on(5) {
        $0.open(isFromStart: false)
        $0.ping()
      }
      $0.comeAfterAll()
      $0.on(5) { $0.close(.client, .reset) }
    },
    SharedCase(
      "a will behind DISCONNECT where no publisher is known", .left(14)
    ) {
      $0.attend(isTold: false)
      $0.wait(6)
      $0.on(3) { $0.finish() }
      $0.say(.server, "a", "gone")
      $0.part()
    },
    SharedCase(
      "a will behind DISCONNECT where a message came from nobody", .left(17)
    ) { $0.comeAfterAll(behind: 6, then: { $0.say(.server, "a", "from elsewhere") }) },
    SharedCase(
      "a will for a client that had subscribed behind DISCONNECT", .left(18)
    ) { $0.comeAfterAll(then: { $0.ask(2, "a") }) },
    SharedCase(
      "a will that is there when a connection without one ends", in: [.v3_1_1],
      failed: [.noFlagNoWill],
      [.noFlagNoWill: (1, 0, 0, [20]), .disconnectDropsWill: (0, 0, 0, [])]
    ) { $0.breakOff { $0.say(.server, "a", "gone") } },
    SharedCase(
      "a will that is there long behind the end of a connection without one", in: [.v3_1_1],
      [.noFlagNoWill: (0, 0, 0, []), .disconnectDropsWill: (0, 0, 1, [20])]
    ) {
      $0.breakOff {
        $0.wait(6)
        $0.say(.server, "a", "gone")
      }
    },
    SharedCase(
      "no will when a connection without one ends", in: [.v3_1_1],
      [.noFlagNoWill: (0, 1, 0, []), .disconnectDropsWill: (0, 1, 0, [])]
    ) { $0.breakOff { _ in } },
  ]

  // MARK: When they are to wait

  private static let delayed: [SharedCase] = [
    SharedCase(
      "a will that comes though its client is back in time", in: [.v5_0],
      failed: [.returnDropsWill],
      [.returnDropsWill: (1, 0, 0, [20]), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon()
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "no will where its client is back in time", in: [.v5_0],
      [.returnDropsWill: (0, 1, 0, []), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon()
      $0.wait(11)
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that comes though its client is back, but in a new session", in: [.v5_0],
      [.returnDropsWill: (0, 0, 0, []), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon(isPresent: false)
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will before its delay is over", in: [.v5_0], failed: [.willIsPublished],
      [.willIsPublished: (1, 0, 0, [20]), .returnDropsWill: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon { $0.say(.server, "a", "gone") }
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will before its delay is over, whose session may have ended", in: [.v5_0],
      [.willIsPublished: (0, 0, 0, []), .returnDropsWill: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon(isPresent: false) { $0.say(.server, "a", "gone") }
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will that comes though its client, which was just there, is back in time", in: [.v5_0],
      [.returnDropsWill: (0, 0, 0, []), .willIsPublished: (0, 0, 0, [])]
    ) {
      $0.comeBackSoon(behind: 1)
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will when its delay is over", in: [.v5_0],
      [.willIsPublished: (0, 1, 0, []), .willIsStored: (0, 1, 0, [])]
    ) {
      $0.attend(.gone(delay: 10), expiry: 100)
      $0.on(3) { $0.close(.client, .reset) }
      $0.wait(10)
      $0.say(.server, "a", "gone")
      $0.part()
    },
  ]

  // MARK: When they do not come

  private static let absent: [SharedCase] = [
    SharedCase(
      "a will that does not come", failed: [.willIsPublished],
      [.willIsPublished: (1, 0, 0, [20])]
    ) { $0.missWill() },
    SharedCase(
      "a will that does not come within a minute", [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(after: 50) },
    SharedCase(
      "a will that does not come to a client that hears nothing of its owner",
      [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(by: "d") },
    SharedCase(
      "a will that does not come whose client was back at once",
      [.willIsPublished: (0, 0, 1, [14])]
    ) {
      $0.missWill {
        $0.join("c")
        $0.finish()
      }
    },
    SharedCase(
      "a will of QoS 0 that does not come", [.willIsPublished: (0, 0, 1, [14])]
    ) { $0.missWill(qos: 0) },
    SharedCase(
      "a will that comes after all", [.willIsPublished: (0, 1, 0, [])]
    ) { $0.missWill(isLate: true) },
  ]
}

extension SharedCase.Counts {
  /// Nothing is decided of a will that is dropped and comes.
  fileprivate static func left(_ frame: Int) -> Self {
    [.disconnectDropsWill: (0, 0, 1, [frame]), .willIsRemoved: (0, 0, 1, [frame])]
  }
}

extension MQTTPacket.Will {
  fileprivate static func gone(qos: UInt8 = 0, retain: Bool = false, delay: Int? = nil) -> Self {
    MQTTPacket.Will(
      topic: "a", payload: Array("gone".utf8), qos: qos, retain: retain,
      properties: delay.map { [.number(.willDelayInterval, $0)] } ?? [])
  }
}

extension Script {
  /// A message of the client on connection 2 that the one on connection 1 gets: two frames.
  fileprivate mutating func tell(_ text: String) {
    on(2) { $0.say(.client, "a", text) }
    say(.server, "a", text)
  }

  /// Clients on connection 1 that is subscribed, on 2 that publishes, and on 3 with a will: frames 1 to 13.
  fileprivate mutating func attend(
    _ will: MQTTPacket.Will = .gone(), options: UInt8 = 0, expiry: Int? = nil, isTold: Bool = true
  ) {
    meet(options: options)
    on(3) { $0.join("c", expiry: expiry, will: will) }
    if isTold { tell("1") }
  }

  /// The client with the will leaves, in frames 14 and 15, and its will comes.
  fileprivate mutating func comeAfterAll(
    behind seconds: Double = 6, leaving: (inout Script) -> Void = { $0.finish() },
    then: (inout Script) -> Void = { _ in }
  ) {
    attend()
    wait(seconds)
    on(3, leaving)
    then(&self)
    say(.server, "a", "gone")
    tell("2")
    part()
  }

  /// A client with a will and a Keep Alive of 10 s leaves when it was silent for a while, and its will comes.
  fileprivate mutating func comeAfterSilence(of seconds: Double) {
    meet()
    on(3) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", cleanStart: true, keepAlive: 10, will: .gone())))
      $0.server(.connack(.init()))
    }
    tell("1")
    wait(seconds)
    on(3) { $0.finish() }
    say(.server, "a", "gone")
    tell("2")
    part()
  }

  /// The client with the will leaves, and breaks off another connection that has none: frames 1 to 19.
  fileprivate mutating func breakOff(then: (inout Script) -> Void) {
    attend()
    wait(6)
    on(3) { $0.finish() }
    wait(10)
    on(4) {
      $0.join("c")
      $0.wait(6)
      $0.close(.client, .reset)
    }
    then(&self)
    tell("2")
    part()
  }

  /// The client with a will that waits 10 s breaks off, and is back soon: frames 1 to 19 and those
  /// between.
  fileprivate mutating func comeBackSoon(
    isPresent: Bool = true, behind lifetime: Double = 6, between: (inout Script) -> Void = { _ in }
  ) {
    attend(.gone(delay: 10), expiry: 100)
    wait(lifetime)
    on(3) {
      $0.answerPing()
      $0.close(.client, .reset)
    }
    between(&self)
    wait(2)
    on(4) { $0.join("c", cleanStart: false, isPresent: isPresent, expiry: 100) }
  }

  /// The client with a will breaks off, in frame 14, and one says something later, which comes in frame 20, but no will.
  fileprivate mutating func missWill(
    qos: UInt8 = 1, after seconds: Double = 70, by client: String = "c", isLate: Bool = false,
    meanwhile: ((inout Script) -> Void)? = nil
  ) {
    attend(.gone(qos: qos))
    on(3) { $0.close(.client) }
    if let meanwhile { on(5, meanwhile) }
    wait(seconds)
    on(4) {
      $0.join(client)
      $0.say(.client, "a", "back", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
    }
    say(.server, "a", "back", qos: 1, id: 1)
    acknowledge(.client, .puback, 1)
    if isLate {
      say(.server, "a", "gone", qos: qos, id: 2)
      acknowledge(.client, .puback, 2)
    }
    tell("2")
    part()
    on(4) { $0.finish() }
  }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Wills that are published, dropped and cancelled.
  static let willing: [SharedCase] = due + dropped + delayedWills + absentWills

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
      "a will behind DISCONNECT with will, behind which comes one without", in: [.v5_0],
      others: ["MQTT-3.14.4-1"],
      [.willIsPublished: (0, 1, 0, []), .disconnectDropsWill: (0, 0, 0, [])]
    ) {
      $0.attend()
      $0.wait(6)
      $0.on(3) {
        $0.client(.disconnect(.init(4)))
        $0.client(.disconnect(.init()))
        $0.close(.client)
      }
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "a will of two clients that is delivered in front of the end of one",
      [.willIsPublished: (0, 0, 1, [18])]
    ) {
      $0.attend()
      $0.on(4) { $0.join("d", will: .gone()) }
      $0.say(.server, "a", "gone")
      $0.on(3) { $0.close(.server) }
      $0.on(4) { $0.finish() }
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
      "a will at a higher QoS than it was given", failed: [.grantedQoSIsKept], complete: true,
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
      failed: [.retainIsAsPublished, .retainedWillIsRetained], complete: true,
      [.retainedWillIsRetained: (1, 0, 0, [15]), .retainIsAsPublished: (1, 2, 0, [15])]
    ) {
      $0.attend(.gone(retain: true), options: 0b1000)
      $0.on(3) { $0.close(.client, .reset) }
      $0.say(.server, "a", "gone")
      $0.tell("2")
      $0.part()
    },
    SharedCase(
      "two wills that come twice", failed: [.willIsRemoved], complete: true,
      [.willIsPublished: (0, 2, 0, []), .willIsRemoved: (2, 0, 0, [20, 22])]
    ) {
      $0.attend()
      $0.on(4) {
        let will = MQTTPacket.Will(topic: "a", payload: Array("left".utf8), qos: 0, retain: false)
        $0.join("d", will: will)
      }
      for connection in 3...4 { $0.on(connection) { $0.close(.client, .reset) } }
      for text in ["gone", "gone", "left", "left"] { $0.say(.server, "a", text) }
      $0.part()
    },
    SharedCase(
      "a will that comes twice, be it said by somebody else",
      [.willIsPublished: (0, 1, 0, []), .willIsRemoved: (0, 0, 1, [16])]
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
      "a will behind DISCONNECT", failed: [.disconnectDropsWill, .willIsRemoved], complete: true,
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
      failed: [.disconnectDropsWill, .willIsRemoved], complete: true,
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
      failed: [.disconnectDropsWill, .willIsRemoved], complete: true,
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
      "a will as long behind a message as a server may close for it, and DISCONNECT",
      [.disconnectDropsWill: (0, 0, 0, []), .willIsRemoved: (0, 0, 0, [])]
    ) { $0.comeAfterMessage(of: 0.999) },
    SharedCase(
      "a will a millisecond longer behind a message, and DISCONNECT",
      failed: [.disconnectDropsWill, .willIsRemoved], complete: true,
      [.disconnectDropsWill: (1, 0, 0, [17]), .willIsRemoved: (1, 0, 0, [17])]
    ) { $0.comeAfterMessage(of: 1) },
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
      failed: [.noFlagNoWill], complete: true,
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
    SharedCase(
      "no will when a connection without one ends, in front of two messages", in: [.v3_1_1],
      [.noFlagNoWill: (0, 1, 0, []), .disconnectDropsWill: (0, 1, 0, [])]
    ) { $0.breakOff { $0.tell("3") } },
  ]
}

extension SharedCase.Counts {
  /// Nothing is decided of a will that is dropped and comes.
  fileprivate static func left(_ frame: Int) -> Self {
    [.disconnectDropsWill: (0, 0, 1, [frame]), .willIsRemoved: (0, 0, 1, [frame])]
  }
}

import RepriseCore
import Wire

extension WholeCase {
  /// Answers behind a bad packet that may belong to another one, and near them what belongs to it.
  static let doubtfulAnswers: [WholeCase] =
    openIdentifiers + crossedRequests + openPings + earlyAnswers

  /// A bad packet with an identifier that is open already, and its answers.
  private static func reused(
    _ name: String, failed: [String], _ clause: String, _ count: (Int, Int, Int, [Int]),
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(name, failed: failed, ["MQTT-" + clause: count]) {
      $0.start()
      rest(&$0)
    }
  }

  /// A request that its client sends again while the answer to it is on its way, and then something else by the
  /// identifier that is free for it now: the answer to what was sent again comes later (MQTT 3.1.1 section 2.3.1).
  private static let crossedRequests: [WholeCase] = [
    reused("a SUBSCRIBE behind one that crossed its answer", failed: [], "2.3.1-2", (0, 2, 1, [7]))
    {
      $0.subscribe(1, "a")
      $0.suback(1, 0)
      $0.subscribe(1, "a")
      $0.subscribe(1, "b")
      $0.suback(1, 0)
      $0.suback(1, 0)
      $0.close(.server)
    },
    reused(
      "a SUBSCRIBE behind another one than was answered", failed: ["MQTT-2.3.1-2"], "2.3.1-2",
      (1, 2, 0, [7])
    ) {
      $0.subscribe(1, "a")
      $0.suback(1, 0)
      $0.subscribe(1, "c")
      $0.subscribe(1, "b")
      $0.suback(1, 0)
      $0.suback(1, 0)
      $0.close(.server)
    },
    reused(
      "a PUBLISH behind an UNSUBSCRIBE that crossed its answer", failed: [], "2.3.1-2",
      (0, 2, 1, [7])
    ) {
      $0.unsubscribe(1, "a")
      $0.unsuback(1)
      $0.unsubscribe(1, "a")
      $0.publish(.client, "t", qos: 1, id: 1)
      $0.unsuback(1)
      $0.acknowledge(.server, .puback, 1)
      $0.close(.server)
    },
    reused(
      "a PUBLISH behind an UNSUBSCRIBE that is not answered", failed: ["MQTT-2.3.1-2"], "2.3.1-2",
      (1, 1, 0, [5])
    ) {
      $0.unsubscribe(1, "a")
      $0.publish(.client, "t", qos: 1, id: 1)
      $0.unsuback(1)
      $0.acknowledge(.server, .puback, 1)
      $0.close(.server)
    },
  ]

  private static let openIdentifiers: [WholeCase] = [
    reused(
      "the SUBACK answers the good SUBSCRIBE", failed: ["MQTT-2.3.1-2"], "3.8.3-4", (0, 1, 0, [])
    ) {
      $0.subscribe(1, "a")
      $0.client(hex: "82 06 0001 0001 62 03")
      $0.suback(1, 0)
      $0.close(.server)
    },
    reused(
      "a second SUBACK answers the bad one",
      failed: ["MQTT-2.3.1-2", "MQTT-3.8.3-4", "MQTT-4.8.0-1"], "3.8.3-4",
      (1, 0, 0, [7])
    ) {
      $0.subscribe(1, "a")
      $0.client(hex: "82 06 0001 0001 62 03")
      $0.suback(1, 0)
      $0.suback(1, 0)
      $0.close(.server)
    },
    reused(
      "a second bad SUBSCRIBE of the identifier, and two SUBACKs", failed: [], "3.8.3-4",
      (0, 1, 0, [])
    ) {
      $0.subscribe(1, "a")
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.client(hex: "82 06 0001 0001 62 03")
      $0.suback(1, 0)
      $0.close(.server)
    },
    reused(
      "the UNSUBACK answers the good UNSUBSCRIBE", failed: ["MQTT-2.2.2-1", "MQTT-3.10.1-1"],
      "2.2.2-2", (0, 1, 0, [])
    ) {
      $0.unsubscribe(1, "a")
      $0.client(hex: "A0 05 0001 0001 61")
      $0.unsuback(1)
      $0.close(.server)
    },
    reused(
      "the UNSUBACK answers the bad one",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.10.1-1", "MQTT-4.8.0-1"], "2.2.2-2",
      (1, 0, 0, [5])
    ) {
      $0.client(hex: "A0 05 0001 0001 61")
      $0.unsuback(1)
      $0.close(.server)
    },
    reused(
      "the PUBACK answers the good PUBLISH", failed: ["MQTT-1.5.3-1", "MQTT-3.3.2-1"], "4.8.0-1",
      (0, 1, 0, [])
    ) {
      $0.publish(.client, "a", qos: 1, id: 7)
      $0.client(hex: "32 07 0002 C328 0007 01")
      $0.acknowledge(.server, .puback, 7)
      $0.close(.server)
    },
    reused(
      "the PUBACK answers the bad PUBLISH",
      failed: ["MQTT-1.5.3-1", "MQTT-3.3.2-1", "MQTT-4.8.0-1"], "4.8.0-1", (1, 0, 0, [5])
    ) {
      $0.client(hex: "32 07 0002 C328 0007 01")
      $0.acknowledge(.server, .puback, 7)
      $0.close(.server)
    },
    WholeCase(
      "the PUBACK of a resumed session may answer an older PUBLISH",
      failed: ["MQTT-1.5.3-1", "MQTT-3.3.2-1"], ["MQTT-4.8.0-1": (0, 1, 0, [])]
    ) {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.client(hex: "32 07 0002 C328 0007 01")
      $0.acknowledge(.server, .puback, 7)
      $0.close(.server)
    },
    reused(
      "the PUBCOMP answers the good PUBREL", failed: ["MQTT-2.2.2-1", "MQTT-3.6.1-1"], "2.2.2-2",
      (0, 1, 0, [])
    ) {
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.client(hex: "60 02 0001")
      $0.acknowledge(.server, .pubcomp, 1)
      $0.close(.server)
    },
    reused(
      "the PUBCOMP answers the bad PUBREL",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.6.1-1", "MQTT-4.8.0-1"], "2.2.2-2",
      (1, 0, 0, [7])
    ) {
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.client(hex: "60 02 0001")
      $0.acknowledge(.server, .pubcomp, 1)
      $0.close(.server)
    },
    reused("bytes of the client may hold a SUBSCRIBE 1", failed: [], "3.8.3-4", (0, 1, 0, [])) {
      $0.gap(.client)
      $0.client(hex: "82 06 0001 0001 62 03")
      $0.suback(1, 0)
      $0.close(.server)
    },
  ]

  /// A PUBREL 60, and a PINGREQ behind it.
  private static func pinged(
    _ name: String, isAccused: Bool, _ count: (Int, Int, Int, [Int]),
    before: @escaping @Sendable (inout Script) -> Void,
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    let accused = isAccused ? ["MQTT-2.2.2-2"] : []
    let last = isAccused ? ["MQTT-4.8.0-1"] : []
    return WholeCase(
      name, failed: ["MQTT-2.2.2-1"] + accused + ["MQTT-3.6.1-1"] + last,
      ["MQTT-2.2.2-2": count, "MQTT-4.8.0-1": count]
    ) {
      $0.start()
      before(&$0)
      $0.client(hex: "60 02 0001")
      // Sooner it may be answered on the way to the end.
      $0.wait(1)
      $0.ping()
      rest(&$0)
    }
  }

  private static let openPings: [WholeCase] = [
    pinged(
      "one PINGRESP for a PINGREQ before a bad packet and one behind it", isAccused: false,
      (0, 1, 0, []), before: { $0.ping() }
    ) {
      $0.pong()
      $0.close(.server)
    },
    pinged(
      "two PINGRESPs for them", isAccused: true, (1, 0, 0, [8]), before: { $0.ping() }
    ) {
      $0.pong()
      $0.pong()
      $0.close(.server)
    },
    pinged(
      "the PINGREQ before was answered", isAccused: true, (1, 0, 0, [8]),
      before: {
        $0.ping()
        $0.pong()
      }
    ) {
      $0.pong()
      $0.close(.server)
    },
    pinged(
      "a PINGREQ was forgotten by a loss", isAccused: false, (0, 1, 0, []),
      before: {
        $0.ping()
        $0.gap(.server)
      }
    ) {
      $0.pong()
      $0.close(.server)
    },
    pinged(
      "a PINGREQ may be among bytes that are missing", isAccused: false, (0, 1, 0, []),
      before: { $0.gap(.client) }
    ) {
      $0.pong()
      $0.close(.server)
    },
    pinged(
      "a PINGREQ was forgotten where the order is not known", isAccused: false, (0, 1, 0, []),
      before: {
        $0.ping()
        $0.doubtOrder()
      }
    ) {
      $0.pong()
      $0.close(.server)
    },
  ]

  private static let earlyAnswers: [WholeCase] = [
    WholeCase(
      "bytes are missing, and a SUBACK is captured in front of its SUBSCRIBE", failed: [],
      ["MQTT-3.8.4-1": (0, 0, 0, [])]
    ) {
      $0.start()
      $0.gap(.client)
      $0.suback(10, 2)
      $0.subscribe(10, "a")
      $0.goOn()
      $0.finish()
    },
    WholeCase(
      "bytes are missing, and an UNSUBACK is captured in front of its UNSUBSCRIBE", failed: [],
      ["MQTT-3.10.4-4": (0, 0, 1, [5])]
    ) {
      $0.start()
      $0.gap(.client)
      $0.unsuback(10)
      $0.unsubscribe(10, "a")
      $0.goOn()
      $0.finish()
    },
    WholeCase(
      "an identifier is used again, and answered in front of the second SUBSCRIBE", failed: [],
      ["MQTT-3.8.4-1": (0, 1, 0, [])]
    ) {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.suback(1, 2)
      $0.subscribe(1, "a")
      $0.goOn()
      $0.finish()
    },
    WholeCase(
      "a second SUBACK is not that of a SUBSCRIBE which comes behind a PINGREQ",
      failed: ["MQTT-3.8.4-1"], ["MQTT-3.8.4-1": (1, 1, 0, [19])]
    ) {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.suback(1, 2)
      $0.ping()
      $0.pong()
      $0.subscribe(1, "a")
      $0.goOn()
      $0.finish()
    },
  ]
}

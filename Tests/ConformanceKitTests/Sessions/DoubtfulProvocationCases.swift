import DataClient
import Wire

extension WholeCase {
  /// What looks like the fault of a receiver, and near it what is one.
  static let doubtfulProvocations: [WholeCase] =
    wakings + answersAfterSilence + openIdentifiers + openPings + lateEvidence + refusedAndGone
    + earlyAnswers

  // MARK: Keep Alive

  /// A client that was silent for a minute, and what came when its machine woke.
  private static func waking(
    _ name: String, failed: [String] = ["MQTT-3.1.2-23"], _ count: (Int, Int, Int, [Int]),
    after seconds: Double = 60, _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(name, failed: failed, ["MQTT-3.1.2-24": count]) {
      $0.start(keepAlive: 10)
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.wait(seconds)
      rest(&$0)
    }
  }

  private static let both = ["MQTT-3.1.2-23", "MQTT-3.1.2-24"]

  private static let wakings: [WholeCase] = [
    waking("a FIN of the server that is captured on waking", (0, 0, 1, [6])) { $0.close(.server) },
    waking("the same, and nobody answers it", failed: [], (0, 0, 1, [6])) {
      $0.close(.server, isAnswered: false)
    },
    waking("the client closes on waking, and the server's FIN comes", (0, 0, 1, [6])) {
      $0.close(.client)
    },
    waking("the client closes on waking, and the server knows of nothing", (0, 0, 1, [6])) {
      $0.close(.client, isAnswered: false)
    },
    waking("the client resets on waking", (0, 0, 1, [6])) { $0.close(.client, .reset) },
    waking("an old message comes on waking", (0, 0, 1, [6])) {
      $0.ping()
      $0.publish(.server, "a")
      $0.close(.server)
    },
    waking("a long PUBLISH was on its way for the minute", failed: [], (0, 0, 1, [7]), after: 50) {
      $0.publish(.server, "a")
      $0.wait(10)
      let payload = [UInt8](repeating: 0, count: 2_000)
      $0.client(.publish(.init(topic: "b", payload: payload, qos: 1, packetID: 2)))
      $0.acknowledge(.server, .puback, 2)
      $0.finish()
    },
    waking("44.9 s are within the bound", (0, 0, 0, []), after: 44.9) {
      $0.ping()
      $0.pong()
      $0.finish()
    },
    waking("45.5 s are beyond it", failed: both, (1, 0, 0, [7]), after: 45.5) {
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]

  private static let answersAfterSilence: [WholeCase] = [
    waking("a PUBLISH that ends the silence is acknowledged", failed: both, (1, 0, 0, [7])) {
      $0.publish(.client, "b", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    waking("a SUBSCRIBE that ends it is answered", failed: both, (1, 0, 0, [8])) {
      $0.subscribe(1, "b")
      $0.publish(.server, "a")
      $0.suback(1, 2)
      $0.finish()
    },
    waking("what comes behind it is answered", failed: both, (1, 0, 0, [8])) {
      $0.publish(.client, "b")
      $0.ping()
      $0.pong()
      $0.finish()
    },
    waking("it is answered behind a DISCONNECT", failed: both, (1, 0, 0, [8])) {
      $0.ping()
      $0.client(.disconnect(.init()))
      $0.pong()
      $0.close(.client)
    },
    waking("bytes of the server are missing behind it", (0, 0, 1, [6])) {
      $0.ping()
      $0.gap(.server)
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "a PUBLISH is repeated on waking, and acknowledged once", failed: ["MQTT-3.1.2-23"],
      ["MQTT-3.1.2-24": (0, 0, 1, [5])]
    ) {
      $0.start(keepAlive: 10)
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.wait(60)
      $0.republish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    WholeCase(
      "it is acknowledged twice", failed: both, ["MQTT-3.1.2-24": (1, 0, 0, [7])]
    ) {
      $0.start(keepAlive: 10)
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.wait(60)
      $0.republish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    WholeCase(
      "the PINGRESP on waking may be that of the PINGREQ before",
      failed: ["MQTT-3.1.2-23", "MQTT-3.12.4-1"], ["MQTT-3.1.2-24": (0, 0, 1, [5])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "the second PINGRESP is not", failed: both, ["MQTT-3.1.2-24": (1, 0, 0, [7])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "a PINGREQ before the silence may have been answered among lost bytes",
      failed: ["MQTT-3.1.2-23"], ["MQTT-3.1.2-24": (0, 0, 1, [6])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.gap(.server)
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]

  // MARK: What an answer belongs to

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

  private static let openIdentifiers: [WholeCase] = [
    reused("the SUBACK answers the good SUBSCRIBE", failed: [], "3.8.3-4", (0, 1, 0, [])) {
      $0.subscribe(1, "a")
      $0.client(hex: "82 06 0001 0001 62 03")
      $0.suback(1, 0)
      $0.close(.server)
    },
    reused(
      "a second SUBACK answers the bad one", failed: ["MQTT-3.8.3-4", "MQTT-4.8.0-1"], "3.8.3-4",
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

  // MARK: Late

  /// A SUBSCRIBE with QoS 3, and what came more than 30 s later.
  private static func late(
    _ name: String, isAccused: Bool = false, _ count: (Int, Int, Int, [Int]),
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(
      name, failed: isAccused ? ["MQTT-3.8.3-4", "MQTT-4.8.0-1"] : [],
      ["MQTT-3.8.3-4": count, "MQTT-4.8.0-1": count]
    ) {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.client(hex: "82 06 0002 0001 62 03")
      $0.wait(31)
      rest(&$0)
    }
  }

  private static let lateEvidence: [WholeCase] = [
    late("a message of the server at 31 s, and its end", (0, 0, 1, [6])) {
      $0.publish(.server, "a")
      $0.close(.server)
    },
    late("a message of the server at 31 s, and the client's end", (0, 0, 1, [6])) {
      $0.publish(.server, "a")
      $0.close(.client)
    },
    late("nothing but the server's end at 31 s", (0, 1, 0, [])) { $0.close(.server) },
    late("the bad SUBSCRIBE is answered at 31 s", isAccused: true, (1, 0, 0, [7])) {
      $0.suback(2, 0)
      $0.finish()
    },
    late("a PINGREQ is answered at 31 s", isAccused: true, (1, 0, 0, [9])) {
      $0.publish(.server, "a")
      $0.ping()
      $0.pong()
      $0.finish()
    },
    late("another SUBSCRIBE behind it is answered", isAccused: true, (1, 0, 0, [8])) {
      $0.subscribe(3, "c")
      $0.suback(3, 2)
      $0.finish()
    },
    late("a PUBLISH behind it is acknowledged", isAccused: true, (1, 0, 0, [9])) {
      $0.ping()
      $0.publish(.client, "c", qos: 2, id: 2)
      $0.acknowledge(.server, .pubrec, 2)
      $0.finish()
    },
    WholeCase(
      "a PINGREQ behind a DISCONNECT E1 is answered",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.14.1-1", "MQTT-3.14.4-2", "MQTT-4.8.0-1"],
      ["MQTT-3.14.1-1": (1, 0, 0, [6])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.ping()
      $0.pong()
      $0.close(.client)
    },
  ]

  // MARK: Refusals

  /// CONNACK 0x01 for a client that has asked for something.
  private static func refused(
    _ name: String, isAccused: Bool = false, _ count: (Int, Int, Int, [Int]),
    serving: (Int, Int, Int, [Int]), ping: [Int] = [3],
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    let rules = ["MQTT-3.1.2-2", "MQTT-3.2.2-5"]
    // What the refused client had asked for the server must not answer.
    let counts = [
      rules[0]: count, rules[1]: count, "MQTT-3.1.4-5": serving, "MQTT-3.12.4-1": (0, 0, 1, ping),
    ]
    return WholeCase(name, failed: isAccused ? rules : [], counts) {
      $0.open()
      $0.client(.connect(.init(clientID: "c-1")))
      $0.ping()
      $0.server(.connack(.init(code: 1)))
      rest(&$0)
    }
  }

  private static let refusedAndGone: [WholeCase] = [
    refused(
      "a refused client ends it after a minute, and nobody answers", (0, 0, 1, [4]),
      serving: (0, 0, 1, [4])
    ) {
      $0.wait(60)
      $0.close(.client, isAnswered: false)
    },
    refused(
      "a refused client resets after a minute", (0, 0, 1, [4]), serving: (0, 0, 1, [4])
    ) {
      $0.wait(60)
      $0.close(.client, .reset)
    },
    refused(
      "a refused client ends it after 31 s, and the server closes as well", isAccused: true,
      (1, 0, 0, [5]), serving: (0, 0, 1, [4])
    ) {
      $0.wait(31)
      $0.close(.client)
    },
    refused(
      "the server ends it 31 s after its refusal", isAccused: true, (1, 0, 0, [5]),
      serving: (0, 1, 0, [])
    ) {
      $0.wait(31)
      $0.close(.server)
    },
    refused(
      "the server sends 31 s after its refusal", isAccused: true, (1, 0, 0, [5]),
      serving: (0, 0, 0, [])
    ) {
      $0.wait(31)
      $0.server(.connack(.init(code: 1)))
      $0.close(.client)
    },
    refused(
      "bytes of the server are missing behind its refusal", (0, 0, 1, [5]),
      serving: (0, 0, 1, [5]), ping: [5]
    ) {
      $0.gap(.server)
      $0.close(.server)
    },
  ]

  // MARK: Answers in front of their requests

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

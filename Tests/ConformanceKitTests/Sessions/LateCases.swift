import RepriseCore
import Wire

extension WholeCase {
  /// What a receiver does long after it should have closed, and near it what only comes late.
  static let lateProvocations: [WholeCase] = lateEvidence + refusedAndGone

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
      $0.publish(.client, "c", qos: 2, id: 3)
      $0.acknowledge(.server, .pubrec, 3)
      $0.finish()
    },
    WholeCase(
      "a PINGREQ behind a DISCONNECT E1 is answered",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.14.1-1", "MQTT-3.14.4-2", "MQTT-4.8.0-1"],
      ["MQTT-3.14.1-1": (1, 0, 0, [6])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.wait(1)
      $0.ping()
      $0.pong()
      $0.close(.client)
    },
    // How soon a receiver has to close, no sentence says.
    WholeCase(
      "a PINGREQ within a second behind a DISCONNECT E1 is answered, and the server closes",
      failed: ["MQTT-2.2.2-1", "MQTT-3.14.4-2"],
      ["MQTT-3.14.1-1": (0, 1, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.wait(0.99)
      $0.ping()
      $0.pong()
      $0.close(.server)
    },
    WholeCase(
      "a PINGREQ within a second behind a DISCONNECT E1 is answered, and the client closes",
      failed: ["MQTT-2.2.2-1", "MQTT-3.14.4-2"],
      ["MQTT-3.14.1-1": (0, 0, 1, [4])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.wait(0.99)
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
}

import RepriseCore
import Wire

extension WholeCase {
  /// What a capture shows of a receiver of MQTT only where the other end happens to provoke it.
  static let provocations: [WholeCase] =
    flags + connects + refusals + identifiers + enforcements + subscribes

  private static let flags: [WholeCase] = [
    WholeCase(
      "the server answers a PINGREQ behind a PUBREL 60",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.6.1-1", "MQTT-4.8.0-1"],
      ["MQTT-2.2.2-2": (1, 0, 0, [6]), "MQTT-4.8.0-1": (1, 0, 0, [6])]
    ) {
      $0.start()
      $0.client(hex: "60 02 0001")
      $0.wait(1)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "the server closes on a PUBREL 60", failed: ["MQTT-2.2.2-1", "MQTT-3.6.1-1"],
      ["MQTT-2.2.2-2": (0, 1, 0, []), "MQTT-4.8.0-1": (0, 1, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "60 02 0001")
      $0.close(.server)
    },
    WholeCase(
      "the client closes behind its PUBREL 60", failed: ["MQTT-2.2.2-1", "MQTT-3.6.1-1"],
      ["MQTT-2.2.2-2": (0, 0, 1, [4]), "MQTT-4.8.0-1": (0, 0, 1, [4])]
    ) {
      $0.start()
      $0.client(hex: "60 02 0001")
      $0.close(.client)
    },
    WholeCase(
      "the server sends long after a DISCONNECT E1, and closes",
      failed: ["MQTT-2.2.2-1"], ["MQTT-3.14.1-1": (0, 0, 1, [4])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.wait(40)
      $0.pong()
      $0.close(.server)
    },
    WholeCase(
      "the server closes on a DISCONNECT E1", failed: ["MQTT-2.2.2-1"],
      ["MQTT-3.14.1-1": (0, 1, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.close(.server)
    },
    WholeCase(
      "the client closes behind its DISCONNECT E1", failed: ["MQTT-2.2.2-1"],
      ["MQTT-3.14.1-1": (0, 0, 1, [4])]
    ) {
      $0.start()
      $0.client(hex: "E1 00")
      $0.close(.client)
    },
  ]

  /// A CONNECT that a server is not to accept as it is.
  private static func connect(
    _ name: String, flags: UInt8, _ payload: [UInt8], failed: [String],
    _ counts: [String: (Int, Int, Int, [Int])], _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(name, failed: failed, counts) {
      $0.open()
      $0.connect(flags: flags, payload: payload)
      rest(&$0)
    }
  }

  private static let connects: [WholeCase] = [
    WholeCase(
      "a second CONNECT is accepted", failed: ["MQTT-3.1.0-2", "MQTT-4.8.0-1"],
      ["MQTT-3.1.0-2": (1, 0, 0, [5])]
    ) {
      $0.start()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.connack(.init()))
      $0.finish()
    },
    WholeCase(
      "the first of two CONNECTs is accepted, and then the server closes", failed: [],
      ["MQTT-3.1.0-2": (0, 1, 0, [])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.connack(.init()))
      $0.close(.server)
    },
    WholeCase(
      "the capture ends behind a second CONNECT", failed: [], ["MQTT-3.1.0-2": (0, 0, 1, [4])]
    ) {
      $0.start()
      $0.client(.connect(.init(clientID: "c")))
      $0.endCapture()
    },
    WholeCase(
      "a CONNECT behind lost bytes may be of another connection", failed: [],
      ["MQTT-3.1.0-2": (0, 0, 0, [])]
    ) {
      $0.start()
      $0.gap(.client)
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.connack(.init()))
      $0.finish()
    },
    connect(
      "the reserved flag of CONNECT is accepted", flags: 0x03, field("c"),
      failed: ["MQTT-3.1.2-3", "MQTT-3.1.4-1", "MQTT-4.8.0-1"],
      ["MQTT-3.1.2-3": (1, 0, 0, [3]), "MQTT-3.1.4-1": (1, 0, 0, [3])]
    ) {
      $0.server(.connack(.init()))
      $0.finish()
    },
    connect(
      "the server closes on the reserved flag", flags: 0x03, field("c"), failed: [],
      ["MQTT-3.1.2-3": (0, 1, 0, []), "MQTT-3.1.4-1": (0, 1, 0, [])]
    ) { $0.close(.server) },
    connect(
      "the server refuses the reserved flag, and the client closes", flags: 0x03, field("c"),
      failed: [],
      ["MQTT-3.1.2-3": (0, 0, 1, [2]), "MQTT-3.1.4-1": (0, 0, 1, [2])]
    ) {
      $0.server(.connack(.init(code: 5)))
      $0.close(.client)
    },
    connect(
      "Will QoS 3 is accepted", flags: 0x1E, field("c") + field("w") + field("m"),
      failed: ["MQTT-3.1.2-14", "MQTT-3.1.4-1"],
      ["MQTT-3.1.4-1": (1, 0, 0, [3])]
    ) {
      $0.server(.connack(.init()))
      $0.finish()
    },
    connect(
      "an empty identifier without Clean Session is accepted", flags: 0x00, field(""),
      failed: ["MQTT-3.1.3-7", "MQTT-3.1.3-8"], ["MQTT-3.1.3-8": (1, 0, 0, [3])]
    ) {
      $0.server(.connack(.init()))
      $0.finish()
    },
    connect(
      "it is rejected, and the server closes", flags: 0x00, field(""), failed: ["MQTT-3.1.3-7"],
      ["MQTT-3.1.3-8": (0, 1, 0, [])]
    ) {
      $0.server(.connack(.init(code: 2)))
      $0.close(.server)
    },
    connect(
      "it is rejected, and the server does not close", flags: 0x00, field(""),
      failed: ["MQTT-3.1.3-7", "MQTT-3.1.3-8", "MQTT-3.1.3-9", "MQTT-3.2.2-5"],
      ["MQTT-3.1.3-8": (1, 0, 0, [4])]
    ) {
      $0.server(.connack(.init(code: 2)))
      $0.wait(60)
      $0.close(.client)
    },
    connect(
      "it is refused by another code", flags: 0x00, field(""), failed: ["MQTT-3.1.3-7"],
      ["MQTT-3.1.3-8": (0, 0, 1, [2])]
    ) {
      $0.server(.connack(.init(code: 5)))
      $0.close(.server)
    },
  ]

  private static func refusal(
    _ name: String, _ clientID: String = "c-1", code: UInt8, failed: [String],
    _ counts: [String: (Int, Int, Int, [Int])], _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(name, failed: failed, counts) {
      $0.open()
      $0.client(.connect(.init(clientID: clientID)))
      $0.ping()
      $0.server(.connack(.init(code: code)))
      rest(&$0)
    }
  }

  private static let refusals: [WholeCase] = [
    refusal(
      "the level is refused, and the server closes", code: 1, failed: [],
      ["MQTT-3.1.2-2": (0, 1, 0, []), "MQTT-3.1.4-5": (0, 1, 0, [])]
    ) { $0.close(.server) },
    refusal(
      "the level is refused, and the server does not close", code: 1,
      failed: ["MQTT-3.1.2-2", "MQTT-3.2.2-5"], ["MQTT-3.1.2-2": (1, 0, 0, [5])]
    ) {
      $0.wait(60)
      $0.close(.client)
    },
    refusal(
      "the level is refused, and the client closes", code: 1, failed: [],
      ["MQTT-3.1.2-2": (0, 0, 1, [4]), "MQTT-3.1.4-5": (0, 0, 1, [4])]
    ) { $0.close(.client) },
    refusal(
      "a plain identifier is rejected", "abc1", code: 2, failed: ["MQTT-3.1.3-5"],
      ["MQTT-3.1.3-5": (1, 0, 0, [4])]
    ) { $0.close(.server) },
    WholeCase(
      "a plain identifier is rejected that comes with a user name", failed: [],
      ["MQTT-3.1.3-5": (0, 0, 1, [2])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "abc1", username: "u")))
      $0.server(.connack(.init(code: 2)))
      $0.close(.server)
    },
    refusal(
      "an identifier with a hyphen is rejected", code: 2, failed: [],
      ["MQTT-3.1.3-5": (0, 0, 0, [])]
    ) { $0.close(.server) },
    refusal(
      "a plain identifier is accepted", "abc1", code: 0, failed: [],
      ["MQTT-3.1.3-5": (0, 1, 0, [])]
    ) {
      $0.pong()
      $0.finish()
    },
    refusal(
      "a plain identifier without rights is refused", "abc1", code: 5, failed: [],
      ["MQTT-3.1.3-5": (0, 0, 0, []), "MQTT-3.2.2-6": (0, 1, 0, [])]
    ) { $0.close(.server) },
    refusal(
      "a code of the server's own", code: 6, failed: ["MQTT-3.2.2-6"],
      ["MQTT-3.2.2-6": (1, 0, 0, [4])]
    ) { $0.close(.server) },
    refusal(
      "a client that is refused is answered", code: 5, failed: ["MQTT-3.1.4-5"],
      ["MQTT-3.1.4-5": (1, 0, 0, [5]), "MQTT-3.2.2-5": (0, 1, 0, [])]
    ) {
      $0.pong()
      $0.close(.server)
    },
  ]

  /// Identifiers of the first and last digits and letters, and of what stands beside those in ASCII.
  private static let identifiers: [WholeCase] =
    ["/", ":", "@", "[", "`", "{"].map { character in
      refusal(
        "an identifier with \(character) is rejected", "c\(character)", code: 2, failed: [],
        ["MQTT-3.1.3-5": (0, 0, 0, [])]
      ) { $0.close(.server) }
    } + [
      refusal(
        "an identifier of the first and last digits and letters is rejected", "09AZaz", code: 2,
        failed: ["MQTT-3.1.3-5"], ["MQTT-3.1.3-5": (1, 0, 0, [4])]
      ) { $0.close(.server) }
    ]

  /// A client that was heard at Keep Alive 10, and is silent then.
  static func silence(
    _ name: String, failed: [String], _ counts: [String: (Int, Int, Int, [Int])],
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(name, failed: failed, counts) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
      rest(&$0)
    }
  }

  private static let enforcements: [WholeCase] = [
    silence(
      "a PINGREQ after 60 s at Keep Alive 10 is answered",
      failed: ["MQTT-3.1.2-24"], ["MQTT-3.1.2-24": (1, 0, 0, [7])]
    ) {
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "the server sends to a client that is silent for 60 s",
      failed: [], ["MQTT-3.1.2-24": (0, 0, 1, [8])]
    ) {
      $0.start(keepAlive: 10)
      $0.subscribe(1, "a")
      $0.suback(1, 0)
      $0.wait(60)
      $0.publish(.server, "a")
      $0.publish(.server, "a")
      $0.close(.client)
    },
    silence(
      "44 s are within the bound", failed: [], ["MQTT-3.1.2-24": (0, 0, 0, [])]
    ) {
      $0.wait(44)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    silence(
      "the server ends it in time, and the client is gone", failed: [],
      ["MQTT-3.1.2-23": (0, 0, 1, [6]), "MQTT-3.1.2-24": (0, 1, 0, [])]
    ) {
      $0.wait(16)
      $0.close(.server, isAnswered: false)
    },
    silence(
      "the client ends it late, and the server is gone", failed: [],
      ["MQTT-3.1.2-24": (0, 0, 1, [6])]
    ) {
      $0.wait(60)
      $0.close(.client, isAnswered: false)
    },
    WholeCase(
      "the silence in front of a late CONNACK is not the client's", failed: [],
      ["MQTT-3.1.2-23": (0, 0, 1, [4]), "MQTT-3.1.2-24": (0, 0, 0, [])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 10)))
      $0.wait(60)
      $0.server(.connack(.init()))
      $0.ping()
      $0.pong()
      $0.finish()
    },
    silence(
      "bytes of the client are missing from the silence", failed: [],
      ["MQTT-3.1.2-24": (0, 0, 0, [])]
    ) {
      $0.wait(30)
      $0.gap(.client)
      $0.wait(30)
      $0.pong()
      $0.finish()
    },
  ]

  private static let subscribes: [WholeCase] = [
    WholeCase(
      "QoS 3 is granted", failed: ["MQTT-3.8.3-4", "MQTT-4.8.0-1"],
      ["MQTT-3.8.3-4": (1, 0, 0, [5])]
    ) {
      $0.start()
      $0.client(hex: "82 06 0001 0001 61 03")
      $0.suback(1, 2)
      $0.finish()
    },
    WholeCase(
      "the server closes on reserved option bits", failed: [], ["MQTT-3.8.3-4": (0, 1, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "82 06 0001 0001 61 80")
      $0.close(.server)
    },
    WholeCase(
      "the client closes behind its QoS 3", failed: [], ["MQTT-3.8.3-4": (0, 0, 1, [4])]
    ) {
      $0.start()
      $0.client(hex: "82 06 0001 0001 61 03")
      $0.close(.client)
    },
    WholeCase(
      "a SUBSCRIBE without filters is answered", failed: ["MQTT-3.8.3-3", "MQTT-4.8.0-1"],
      ["MQTT-4.8.0-1": (1, 0, 0, [5])]
    ) {
      $0.start()
      $0.client(hex: "82 02 0001")
      $0.suback(1, 0)
      $0.finish()
    },
    WholeCase(
      "the server closes on an UNSUBSCRIBE without filters", failed: ["MQTT-3.10.3-2"],
      ["MQTT-4.8.0-1": (0, 1, 0, [])]
    ) {
      $0.start()
      $0.client(hex: "A2 02 0001")
      $0.close(.server)
    },
  ]
}

import RepriseCore
import Wire

extension Case5 {
  /// What the answers to a CONNECT must be, and who may say what: sections 3.1 to 3.4, 3.14, 3.15 and 4.12.
  static let agreements = identifiers + connacks + methods + ends + keepAlives

  private static let assigned = ["MQTT-3.1.3-6", "MQTT-3.1.3-7", "MQTT-3.2.2-16"]

  private static let identifiers: [Case5] = [
    Case5(
      "a client without an identifier that gets none", failed: assigned,
      ["MQTT-3.1.3-6": (1, 0, 0, [3]), "MQTT-3.2.2-16": (1, 0, 0, [3])]
    ) {
      $0.agree(clientID: "")
      $0.finish()
    },
    Case5("one that gets an empty one", failed: assigned, ["MQTT-3.1.3-7": (1, 0, 0, [3])]) {
      $0.agree([], [.text(.assignedClientIdentifier, "")], clientID: "")
      $0.finish()
    },
    Case5(
      "one that gets none though its CONNECT has a fault",
      failed: [
        "MQTT-3.1.2-3", "U5-3.1.2.3-1", "MQTT-3.1.3-6", "MQTT-3.1.3-7", "MQTT-3.1.4-1",
        "MQTT-3.2.2-16", "MQTT-4.13.1-1",
      ], ["MQTT-3.1.3-6": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.client(hex: "10 0D 0004 4D515454 05 03 0000 00 0000")
      $0.server(.connack(.init()))
      $0.finish()
    },
    Case5("one that gets one", ["MQTT-3.1.3-6": (0, 1, 0, []), "MQTT-3.1.3-7": (0, 1, 0, [])]) {
      $0.agree([], [.text(.assignedClientIdentifier, "auto")], clientID: "")
      $0.finish()
    },
    Case5("one that has its own", ["MQTT-3.2.2-16": (0, 0, 0, [])]) {
      $0.agree()
      $0.finish()
    },
    Case5("one that is refused", ["MQTT-3.2.2-16": (0, 0, 0, [])]) {
      $0.agree(clientID: "", code: 0x85)
      $0.close(.server)
    },
  ]

  private static let connacks: [Case5] = [
    Case5(
      "Response Information that nobody asked for", failed: ["MQTT-3.1.2-28"],
      ["MQTT-3.1.2-28": (1, 0, 0, [3])]
    ) {
      $0.agree([], [.text(.responseInformation, "r/")])
      $0.finish()
    },
    Case5(
      "Response Information that may stand behind what can't be read", failed: ["U5-2.2.2.2-2"],
      ["MQTT-3.1.2-28": (0, 0, 1, [3])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0)))
      $0.server(hex: "20 05 00 00 02 04 00")
      $0.close(.client)
    },
    Case5("Response Information that was asked for", ["MQTT-3.1.2-28": (0, 1, 0, [])]) {
      $0.agree(
        [.number(.requestResponseInformation, 1)], [.text(.responseInformation, "r/")])
      $0.finish()
    },
    Case5(
      "a second CONNACK", failed: ["MQTT-3.2.0-2"],
      ["MQTT-3.2.0-2": (1, 1, 0, [4])]
    ) {
      $0.agree()
      $0.server(.connack(.init()))
      $0.finish()
    },
    Case5("a CONNACK alone", ["MQTT-3.2.0-2": (0, 1, 0, [])]) {
      $0.agree()
      $0.finish()
    },
    Case5(
      "a server that may speak 3.1.1 only", ["MQTT-3.2.2-8": (0, 0, 1, [3])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(hex: "20 02 00 01")
      $0.close(.server)
    },
    Case5(
      "a CONNACK without a Property Length", failed: ["MQTT-2.2.2-1"],
      ["MQTT-2.2.2-1": (1, 1, 0, [3]), "MQTT-3.2.2-8": (0, 1, 0, [])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(hex: "20 02 00 00")
      $0.finish()
    },
  ]

  static let plain = MQTTProperty.text(.authenticationMethod, "PLAIN")

  private static let methods: [Case5] = [
    Case5(
      "AUTH of both that no method asks for",
      failed: ["U5-3.15-1", "MQTT-4.12.0-6", "MQTT-4.12.0-7"],
      [
        "MQTT-4.12.0-6": (1, 1, 0, [4]), "MQTT-4.12.0-7": (1, 1, 0, [5]),
        "U5-3.15-1": (2, 0, 0, [4, 5]),
      ]
    ) {
      $0.agree()
      $0.server(.auth(.init(0x18, properties: [plain])))
      $0.client(.auth(.init(0x18, properties: [plain])))
      $0.close(.server)
    },
    Case5(
      "a CONNACK with a method that nobody named", failed: ["MQTT-4.12.0-6"],
      ["MQTT-4.12.0-6": (1, 0, 0, [3])]
    ) {
      $0.agree([], [plain])
      $0.finish()
    },
    Case5(
      "an exchange as it should be",
      [
        "MQTT-4.12.0-5": (0, 3, 0, []), "U5-3.15-1": (0, 2, 0, []), "MQTT-3.1.2-30": (0, 1, 0, []),
        "U5-3.15.2.2.2-1": (0, 2, 0, []), "MQTT-4.12.0-2": (0, 1, 0, []),
        "MQTT-4.12.0-3": (0, 1, 0, []), "MQTT-3.2.0-1": (0, 2, 0, []),
      ]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      $0.server(.auth(.init(0x18, properties: [plain])))
      $0.client(.auth(.init(0x18, properties: [plain])))
      $0.server(.connack(.init(properties: [plain])))
      $0.finish()
    },
    Case5(
      "two rounds of AUTH, and a refusal",
      ["MQTT-3.2.0-1": (0, 3, 0, []), "MQTT-4.12.0-2": (0, 2, 0, [])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      for _ in 1...2 {
        $0.server(.auth(.init(0x18, properties: [plain])))
        $0.client(.auth(.init(0x18, properties: [plain])))
      }
      $0.server(.connack(.init(code: 0x87, properties: [plain])))
      $0.close(.server)
    },
    Case5(
      "AUTH before CONNACK that begins anew instead of an answer",
      failed: ["MQTT-4.12.0-3", "MQTT-4.12.1-1"],
      ["MQTT-4.12.0-3": (1, 0, 0, [4]), "MQTT-4.12.1-1": (1, 0, 0, [4])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      $0.server(.auth(.init(0x18, properties: [plain])))
      $0.client(.auth(.init(0x19, properties: [plain])))
      $0.server(.connack(.init(properties: [plain])))
      $0.finish()
    },
    Case5(
      "AUTH before CONNACK that begins anew, and answers nothing", failed: ["MQTT-4.12.1-1"],
      ["MQTT-4.12.0-3": (0, 0, 0, []), "MQTT-4.12.1-1": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      $0.client(.auth(.init(0x19, properties: [plain])))
      $0.server(.connack(.init(properties: [plain])))
      $0.finish()
    },
    Case5(
      "PINGRESP behind AUTH, and CONNACK behind that", failed: ["MQTT-3.2.0-1"],
      ["MQTT-3.2.0-1": (1, 1, 0, [5])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      $0.server(.auth(.init(0x18, properties: [plain])))
      $0.client(.auth(.init(0x18, properties: [plain])))
      $0.server(.pingresp)
      $0.server(.connack(.init(properties: [plain])))
      $0.finish()
    },
    Case5(
      "another method in the CONNACK", failed: ["MQTT-4.12.0-5"],
      ["MQTT-4.12.0-5": (1, 0, 0, [3])]
    ) {
      $0.agree([plain], [.text(.authenticationMethod, "PLAIN2")])
      $0.finish()
    },
    Case5(
      "AUTH without a method, and one of the method's hash alone",
      failed: ["U5-3.15-1", "U5-3.15.2.2.2-1", "MQTT-4.12.0-5", "MQTT-4.12.1-1"],
      ["MQTT-4.12.0-5": (2, 1, 0, [4, 5]), "U5-3.15.2.2.2-1": (1, 1, 0, [4])]
    ) {
      $0.agree([plain], [plain])
      $0.client(.auth(.init(0x19, properties: [])))
      $0.server(.auth(.init(0x18, properties: [.text(.authenticationMethod, "plain")])))
      $0.close(.server)
    },
    Case5(
      "a client that authenticates again by its method, and by another one",
      failed: ["U5-3.15-1", "MQTT-4.12.0-5", "MQTT-4.12.1-1"],
      ["MQTT-4.12.1-1": (1, 1, 0, [6])]
    ) {
      $0.agree([plain], [plain])
      $0.client(.auth(.init(0x19, properties: [plain])))
      $0.server(.auth(.init(0x00, properties: [plain])))
      $0.client(.auth(.init(0x19, properties: [.text(.authenticationMethod, "PLAIN2")])))
      $0.close(.server)
    },
    Case5(
      "a client that authenticates again before it is accepted", failed: ["MQTT-4.12.1-1"],
      ["MQTT-4.12.1-1": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      $0.client(.auth(.init(0x19, properties: [plain])))
      $0.server(.connack(.init(properties: [plain])))
      $0.finish()
    },
    Case5(
      "a client that goes on with its authentication", ["MQTT-4.12.1-1": (0, 0, 0, [])]
    ) {
      $0.agree([plain], [plain])
      $0.client(.auth(.init(0x18, properties: [plain])))
      $0.finish()
    },
    Case5(
      "an authentication that is refused, and ends",
      ["MQTT-4.12.0-4": (0, 1, 0, []), "MQTT-3.2.2-7": (0, 1, 0, [])]
    ) {
      $0.refuse([plain])
      $0.close(.server)
    },
    Case5(
      "an authentication that is refused, and goes on",
      failed: ["MQTT-3.1.4-2", "MQTT-3.2.2-7", "MQTT-4.12.0-4", "MQTT-4.13.2-1"],
      ["MQTT-4.12.0-4": (1, 0, 0, [4])]
    ) {
      $0.refuse([plain])
      $0.wait(60)
      $0.close(.client)
    },
    Case5(
      "a client without an authentication that is refused, and goes on",
      failed: ["MQTT-3.1.4-2", "MQTT-3.2.2-7", "MQTT-4.13.2-1"],
      ["MQTT-4.12.0-4": (0, 0, 0, []), "MQTT-3.2.2-7": (1, 0, 0, [4])]
    ) {
      $0.refuse([])
      $0.wait(60)
      $0.close(.client)
    },
    Case5(
      "a method that the server does not know, and it goes on",
      failed: [
        "MQTT-3.1.4-2", "MQTT-3.2.2-7", "MQTT-4.12.0-1", "MQTT-4.12.0-4", "MQTT-4.13.2-1",
      ],
      ["MQTT-4.12.0-1": (1, 0, 0, [4])]
    ) {
      $0.refuse([plain], 0x8C)
      $0.wait(60)
      $0.close(.client)
    },
    Case5(
      "a method that the server does not know, and it ends", ["MQTT-4.12.0-1": (0, 1, 0, [])]
    ) {
      $0.refuse([plain], 0x8C)
      $0.close(.server)
    },
    Case5(
      "a refusal of a method where there was none, and it ends",
      ["MQTT-4.12.0-1": (0, 0, 0, []), "MQTT-3.2.2-7": (0, 1, 0, [])]
    ) {
      $0.refuse([], 0x8C)
      $0.close(.server)
    },
    Case5(
      "another refusal of an authentication", ["MQTT-4.12.0-1": (0, 0, 0, [])]
    ) {
      $0.refuse([plain])
      $0.close(.server)
    },
    Case5(
      "an authentication again that fails, and the connection goes on",
      failed: ["MQTT-3.14.4-2", "MQTT-4.12.1-2", "MQTT-4.13.2-1"],
      ["MQTT-4.12.1-2": (1, 0, 0, [6])]
    ) {
      $0.authenticateAgain()
      $0.server(.disconnect(.init(0x87)))
      $0.wait(60)
      $0.close(.client)
    },
    Case5(
      "an authentication again that fails, and the connection ends",
      ["MQTT-4.12.1-2": (0, 1, 0, [])]
    ) {
      $0.authenticateAgain()
      $0.server(.disconnect(.init(0x87)))
      $0.close(.server)
    },
    Case5(
      "an authentication again that the client gives up", ["MQTT-4.12.1-2": (0, 1, 0, [])]
    ) {
      $0.authenticateAgain()
      $0.client(.disconnect(.init(0x80)))
      $0.close(.client)
    },
    Case5(
      "an authentication again that succeeds before the end",
      ["MQTT-4.12.1-2": (0, 0, 0, []), "MQTT-4.13.2-1": (0, 1, 0, [])]
    ) {
      $0.authenticateAgain()
      $0.server(.auth(.init(0x00, properties: [plain])))
      $0.server(.disconnect(.init(0x8B)))
      $0.close(.server)
    },
    Case5(
      "an authentication again that its client calls a success", failed: ["MQTT-4.12.0-3"],
      ["MQTT-4.12.1-2": (0, 1, 0, [])]
    ) {
      $0.authenticateAgain()
      $0.client(.auth(.init(0x00, properties: [plain])))
      $0.server(.disconnect(.init(0x82)))
      $0.close(.server)
    },
    Case5(
      "an authentication again that a gap may have ended", ["MQTT-4.12.1-2": (0, 0, 0, [])]
    ) {
      $0.authenticateAgain()
      $0.gap(.server)
      $0.server(.disconnect(.init(0x8B)))
      $0.close(.server)
    },
    Case5(
      "AUTH of which the end was not captured, and one with its method twice",
      failed: ["U5-3.15.2.2.2-1"],
      ["U5-3.15.2.2.2-1": (1, 0, 1, [5]), "MQTT-4.12.0-5": (0, 1, 2, [4, 5])]
    ) {
      $0.agree([plain], [plain])
      $0.server(hex: "F0 0A 18 08 15 0005 50 4C 41 49 4E", missing: 8)
      $0.server(.auth(.init(0x18, properties: [plain, plain])))
      $0.close(.client)
    },
    Case5(
      "AUTH of Remaining Length 0",
      ["MQTT-4.12.0-5": (0, 1, 1, [4]), "U5-3.15.2.2.2-1": (0, 0, 1, [4])]
    ) {
      $0.agree([plain], [plain])
      $0.server(.auth(.init()))
      $0.finish()
    },
    Case5(
      "AUTH of a code alone that asks for more",
      failed: ["U5-3.15-1", "U5-3.15.2.2.2-1", "MQTT-4.12.0-5"],
      ["U5-3.15.2.2.2-1": (1, 0, 0, [4]), "MQTT-4.12.0-5": (1, 1, 0, [4])]
    ) {
      $0.agree([plain], [plain])
      $0.server(hex: "F0 01 18")
      $0.close(.client)
    },
    Case5(
      "AUTH of success with a reason, and without a method",
      failed: ["U5-3.15-1", "U5-3.15.2.2.2-1", "MQTT-4.12.0-5"],
      ["U5-3.15.2.2.2-1": (1, 0, 0, [4]), "MQTT-4.12.0-5": (1, 1, 0, [4])]
    ) {
      $0.agree([plain], [plain])
      $0.server(hex: "F0 06 00 04 1F 0001 61")
      $0.close(.client)
    },
    Case5(
      "a PUBLISH before the CONNACK of an authentication", failed: ["MQTT-3.1.2-30"],
      ["MQTT-3.1.2-30": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0, properties: [plain])))
      $0.publish(.client, "a", [])
      $0.server(.connack(.init(properties: [plain])))
      $0.finish()
    },
  ]

  private static let ends: [Case5] = [
    Case5(
      "DISCONNECT of a server before its CONNACK", failed: ["MQTT-3.2.0-1", "MQTT-3.14.0-1"],
      ["MQTT-3.14.0-1": (1, 0, 0, [3]), "MQTT-3.2.0-1": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.disconnect(.init(0x8B)))
      $0.close(.server)
    },
    Case5(
      "DISCONNECT of a server behind it",
      [
        "MQTT-3.14.0-1": (0, 1, 0, []), "MQTT-3.14.4-2": (0, 1, 0, []),
        "MQTT-3.14.4-1": (0, 1, 0, []), "MQTT-4.13.2-1": (0, 1, 0, []),
        "MQTT-3.14.2-2": (0, 1, 0, []),
      ]
    ) {
      $0.agree()
      $0.server(.disconnect(.init(0x8B)))
      $0.close(.server)
    },
    Case5(
      "a server that goes on behind its DISCONNECT", failed: ["MQTT-3.14.4-1"],
      ["MQTT-3.14.4-1": (1, 0, 0, [5])]
    ) {
      $0.agree()
      $0.server(.disconnect(.init(0x8B)))
      $0.publish(.server, "a", [])
      $0.close(.server)
    },
    Case5(
      "a server that stays behind its DISCONNECT", failed: ["MQTT-3.14.4-2", "MQTT-4.13.2-1"],
      ["MQTT-3.14.4-2": (1, 0, 0, [5]), "MQTT-4.13.2-1": (1, 0, 0, [5])]
    ) {
      $0.agree()
      $0.server(.disconnect(.init(0x8B)))
      $0.wait(31)
      $0.close(.client)
    },
    Case5(
      "one of which nothing shows that it was there",
      ["MQTT-3.14.4-2": (0, 0, 1, [5]), "MQTT-4.13.2-1": (0, 0, 1, [5])]
    ) {
      $0.agree()
      $0.server(.disconnect(.init(0x8B)))
      $0.wait(31)
      $0.close(.client, isAnswered: false)
    },
    Case5(
      "a Session Expiry Interval of a server", failed: ["MQTT-3.14.2-2"],
      ["MQTT-3.14.2-2": (1, 0, 0, [4])]
    ) {
      $0.agree()
      $0.server(.disconnect(.init(0x8B, properties: [.number(.sessionExpiryInterval, 0)])))
      $0.close(.server)
    },
  ]

  private static let keepAlives: [Case5] = [
    Case5(
      "a client that keeps its own Keep Alive, not the server's",
      failed: ["MQTT-3.1.2-20", "MQTT-3.1.2-21", "MQTT-3.2.2-21"],
      [
        "MQTT-3.1.2-20": (1, 0, 2, [8]), "MQTT-3.1.2-21": (1, 0, 2, [8]),
        "MQTT-3.2.2-21": (1, 0, 2, [8]),
      ]
    ) {
      $0.agree([], [.number(.serverKeepAlive, 10)], keepAlive: 60)
      for _ in 0..<3 {
        $0.wait(40)
        $0.answerPing()
      }
      $0.finish()
    },
    Case5(
      "one that keeps the server's",
      [
        "MQTT-3.1.2-20": (0, 1, 0, []), "MQTT-3.1.2-21": (0, 1, 0, []),
        "MQTT-3.2.2-21": (0, 1, 0, []),
      ]
    ) {
      $0.agree([], [.number(.serverKeepAlive, 10)], keepAlive: 60)
      $0.wait(9)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    Case5(
      "one to which a server gives more time",
      ["MQTT-3.1.2-20": (0, 1, 0, []), "MQTT-3.1.2-21": (0, 0, 0, [])]
    ) {
      $0.agree([], [.number(.serverKeepAlive, 60)], keepAlive: 10)
      $0.wait(50)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    Case5(
      "a server that gave more time and cuts off late",
      ["MQTT-3.1.2-22": (0, 1, 0, []), "MQTT-3.2.2-22": (0, 0, 0, [])]
    ) {
      $0.agree([], [.number(.serverKeepAlive, 20)], keepAlive: 10)
      $0.wait(31)
      // The client may have been gone.
      $0.close(.server, isAnswered: false)
    },
    Case5(
      "a server that cuts off by the client's time",
      ["MQTT-3.1.2-22": (0, 1, 0, []), "MQTT-3.2.2-22": (0, 1, 0, [])]
    ) {
      $0.agree(keepAlive: 20)
      $0.wait(31)
      // The client may have been gone.
      $0.close(.server, isAnswered: false)
    },
    Case5(
      "a server that answers far too late",
      failed: ["MQTT-3.1.2-22", "MQTT-3.2.2-22"],
      ["MQTT-3.1.2-22": (1, 0, 0, [5]), "MQTT-3.2.2-22": (1, 0, 0, [5])]
    ) {
      $0.agree(keepAlive: 10)
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]
}

extension Script {
  /// A client is refused: three frames.
  fileprivate mutating func refuse(_ properties: [MQTTProperty], _ code: UInt8 = 0x87) {
    open()
    client(.connect(.init(clientID: "c", keepAlive: 0, properties: properties)))
    server(.connack(.init(code: code)))
  }
  /// A client that is accepted by its method begins to authenticate again: four frames.
  fileprivate mutating func authenticateAgain() {
    let method = MQTTProperty.text(.authenticationMethod, "PLAIN")
    agree([method], [method])
    client(.auth(.init(0x19, properties: [method])))
  }
}

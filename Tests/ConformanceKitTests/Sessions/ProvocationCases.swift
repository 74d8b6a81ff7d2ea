import DataClient
import Wire

extension WholeCase {
  /// What a capture shows of a receiver only where the other end happens to provoke it.
  static let provocations: [WholeCase] =
    flags + connects + refusals + enforcements + subscribes + frames + answers + requests

  // MARK: MQTT

  private static let flags: [WholeCase] = [
    WholeCase(
      "the server answers a PINGREQ behind a PUBREL 60",
      failed: ["MQTT-2.2.2-1", "MQTT-2.2.2-2", "MQTT-3.6.1-1", "MQTT-4.8.0-1"],
      ["MQTT-2.2.2-2": (1, 0, 0, [6]), "MQTT-4.8.0-1": (1, 0, 0, [6])]
    ) {
      $0.start()
      $0.client(hex: "60 02 0001")
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
      failed: ["MQTT-2.2.2-1", "MQTT-3.14.4-1"], ["MQTT-3.14.1-1": (0, 0, 1, [4])]
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
    WholeCase(
      "the reserved flag of CONNECT is accepted",
      failed: ["MQTT-3.1.2-3", "MQTT-3.1.4-1", "MQTT-4.8.0-1"],
      ["MQTT-3.1.2-3": (1, 0, 0, [3]), "MQTT-3.1.4-1": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.connect(flags: 0x03, payload: field("c"))
      $0.server(.connack(.init()))
      $0.finish()
    },
    WholeCase(
      "the server closes on the reserved flag", failed: [],
      ["MQTT-3.1.2-3": (0, 1, 0, []), "MQTT-3.1.4-1": (0, 1, 0, [])]
    ) {
      $0.open()
      $0.connect(flags: 0x03, payload: field("c"))
      $0.close(.server)
    },
    WholeCase(
      "the server refuses the reserved flag, and the client closes", failed: [],
      ["MQTT-3.1.2-3": (0, 0, 1, [2]), "MQTT-3.1.4-1": (0, 0, 1, [2])]
    ) {
      $0.open()
      $0.connect(flags: 0x03, payload: field("c"))
      $0.server(.connack(.init(code: 5)))
      $0.close(.client)
    },
    WholeCase(
      "Will QoS 3 is accepted", failed: ["MQTT-3.1.2-14", "MQTT-3.1.4-1"],
      ["MQTT-3.1.4-1": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.connect(flags: 0x1E, payload: field("c") + field("w") + field("m"))
      $0.server(.connack(.init()))
      $0.finish()
    },
    WholeCase(
      "an empty identifier without Clean Session is accepted",
      failed: ["MQTT-3.1.3-7", "MQTT-3.1.3-8"], ["MQTT-3.1.3-8": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.connect(flags: 0x00, payload: field(""))
      $0.server(.connack(.init()))
      $0.finish()
    },
    WholeCase(
      "it is rejected, and the server closes", failed: ["MQTT-3.1.3-7"],
      ["MQTT-3.1.3-8": (0, 1, 0, [])]
    ) {
      $0.open()
      $0.connect(flags: 0x00, payload: field(""))
      $0.server(.connack(.init(code: 2)))
      $0.close(.server)
    },
    WholeCase(
      "it is rejected, and the server does not close",
      failed: ["MQTT-3.1.3-7", "MQTT-3.1.3-8", "MQTT-3.1.3-9", "MQTT-3.2.2-5"],
      ["MQTT-3.1.3-8": (1, 0, 0, [4])]
    ) {
      $0.open()
      $0.connect(flags: 0x00, payload: field(""))
      $0.server(.connack(.init(code: 2)))
      $0.wait(60)
      $0.close(.client)
    },
    WholeCase(
      "it is refused by another code", failed: ["MQTT-3.1.3-7"],
      ["MQTT-3.1.3-8": (0, 0, 1, [2])]
    ) {
      $0.open()
      $0.connect(flags: 0x00, payload: field(""))
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

  private static let enforcements: [WholeCase] = [
    WholeCase(
      "a PINGREQ after 60 s at Keep Alive 10 is answered",
      failed: ["MQTT-3.1.2-23", "MQTT-3.1.2-24"], ["MQTT-3.1.2-24": (1, 0, 0, [7])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "the server sends to a client that is silent for 60 s",
      failed: ["MQTT-3.1.2-23"], ["MQTT-3.1.2-24": (0, 0, 1, [8])]
    ) {
      $0.start(keepAlive: 10)
      $0.subscribe(1, "a")
      $0.suback(1, 0)
      $0.wait(60)
      $0.publish(.server, "a")
      $0.publish(.server, "a")
      $0.close(.client)
    },
    WholeCase(
      "44 s are within the bound", failed: ["MQTT-3.1.2-23"], ["MQTT-3.1.2-24": (0, 0, 0, [])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
      $0.wait(44)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    WholeCase(
      "the server ends it in time, and the client is gone", failed: [],
      ["MQTT-3.1.2-23": (0, 0, 1, [6]), "MQTT-3.1.2-24": (0, 1, 0, [])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
      $0.wait(16)
      $0.close(.server, isAnswered: false)
    },
    WholeCase(
      "the client ends it late, and the server is gone", failed: ["MQTT-3.1.2-23"],
      ["MQTT-3.1.2-24": (0, 0, 1, [6])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
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
    WholeCase(
      "bytes of the client are missing from the silence", failed: [],
      ["MQTT-3.1.2-24": (0, 0, 0, [])]
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
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

  // MARK: WebSocket

  /// A bad frame of a side: the other goes on, fails the connection, or had data on its way.
  private static func provoke(
    _ clause: String, _ name: String, by sender: Peer, failed: [String],
    _ frame: @escaping @Sendable (inout Script) -> Void
  ) -> [WholeCase] {
    let id = "RFC6455-" + clause
    let ids = failed.map { "RFC6455-" + $0 }
    // In the catalogue's order, which that of these identifiers is.
    let all = (ids + [id]).sorted()
    let receiver = sender.other
    return [
      WholeCase("\(name): the \(receiver) answers a PING", failed: all, [id: (1, 0, 0, [6])]) {
        $0.upgrade()
        frame(&$0)
        $0.frame(sender, .ping, [1])
        $0.frame(receiver, .pong, [1])
        $0.finishWebSocket()
      },
      WholeCase("\(name): the \(receiver) closes", failed: ids, [id: (0, 1, 0, [])]) {
        $0.upgrade()
        frame(&$0)
        $0.closeFrame(receiver, 1_002)
        $0.close(receiver)
      },
      WholeCase("\(name): the capture ends", failed: ids, [id: (0, 0, 1, [4])]) {
        $0.upgrade()
        frame(&$0)
        $0.endCapture()
      },
      WholeCase("\(name): data was on its way", failed: ids, [id: (0, 0, 1, [4])]) {
        $0.upgrade()
        frame(&$0)
        $0.text(receiver)
        $0.closeFrame(receiver, 1_002)
        $0.close(receiver)
      },
    ]
  }

  private static let frames: [WholeCase] =
    provoke("5.1-2", "no mask", by: .client, failed: ["5.1-1", "5.3-1"]) {
      $0.wireBytes(.client, [0x81, 1, 0x61])
    }
    + provoke("5.1-4", "a mask of the server", by: .server, failed: ["5.1-3"]) {
      $0.frame(.server, .text, [0x61], key: 0x0102_0304)
    }
    + provoke("5.2-2", "RSV2", by: .client, failed: ["5.2-1", "5.8-1"]) {
      $0.frame(.client, .binary, [1], rsv: 0b010)
    }
    + provoke("5.2-4", "opcode 3", by: .client, failed: ["5.2-3", "5.8-1"]) {
      $0.wireBytes(.client, [0x83, 0x80, 1, 2, 3, 4])
    }
    + provoke("8.1-1", "a text FF", by: .client, failed: ["5.6-1"]) {
      $0.wireBytes(.client, [0x81, 0x81, 0, 0, 0, 0, 0xFF])
    }

  /// A bad answer, and what the client makes of it.
  private static func answer(
    _ clause: String, failed: [String], _ change: @escaping @Sendable (inout Head) -> Void
  ) -> [WholeCase] {
    let id = "RFC6455-" + clause
    let ids = failed.map { "RFC6455-" + $0 }
    return [
      WholeCase("\(clause): the client answers a PING", failed: [id] + ids, [id: (1, 0, 0, [5])]) {
        $0.ask()
        $0.answer(change)
        $0.frame(.server, .ping, [1])
        $0.frame(.client, .pong, [1])
        $0.finishWebSocket()
      },
      WholeCase("\(clause): the client closes", failed: ids, [id: (0, 1, 0, [])]) {
        $0.ask()
        $0.answer(change)
        $0.close(.client)
      },
      WholeCase("\(clause): the server closes", failed: ids, [id: (0, 0, 1, [3])]) {
        $0.ask()
        $0.answer(change)
        $0.closeFrame(.server)
        $0.close(.server)
      },
    ]
  }

  private static let answers: [WholeCase] =
    answer("4.1-18", failed: ["4.2.2-9"]) { $0.remove("Upgrade") }
    + answer("4.1-19", failed: ["4.2.2-10"]) { $0.remove("Connection") }
    + answer("4.1-20", failed: ["4.2.2-11"]) { $0.set("Sec-WebSocket-Accept", "AAAA") }
    + answer("4.1-21", failed: ["4.2.2-7", "9-1"]) {
      $0.add("Sec-WebSocket-Extensions", "permessage-deflate")
    }
    + answer("4.1-22", failed: ["4.2.2-5"]) { $0.add("Sec-WebSocket-Protocol", "x") }

  /// A bad request, and the status of its answer.
  private static func request(
    _ clause: String, failed: [String], status: String, _ count: (Int, Int, Int, [Int]),
    answer: @escaping @Sendable (inout Head) -> Void = { _ in },
    _ change: @escaping @Sendable (inout Head) -> Void
  ) -> WholeCase {
    WholeCase(
      "\(clause): \(status)", failed: failed.map { "RFC6455-" + $0 }, ["RFC6455-" + clause: count]
    ) {
      $0.ask(change)
      $0.answer {
        $0.line = "HTTP/1.1 " + status
        answer(&$0)
      }
      if status.hasPrefix("101") { $0.finishWebSocket() } else { $0.close(.server) }
    }
  }

  private static let requests: [WholeCase] = [
    request("4.2.1-1", failed: ["4.1-15", "4.2.1-1"], status: "101 Yes", (1, 0, 0, [3])) {
      $0.remove("Sec-WebSocket-Version")
    },
    request("4.2.1-1", failed: ["4.1-15"], status: "400 No", (0, 1, 0, [])) {
      $0.remove("Sec-WebSocket-Version")
    },
    request("4.2.1-1", failed: ["4.1-15"], status: "302 There", (0, 0, 1, [3])) {
      $0.remove("Sec-WebSocket-Version")
    },
    // A server need not decode the key.
    request(
      "4.2.1-1", failed: ["4.1-12"], status: "101 Yes, to a key of 3 bytes", (0, 0, 0, []),
      answer: { $0.set("Sec-WebSocket-Accept", WebSocketKey.accept(for: "AAAA")) }
    ) { $0.set("Sec-WebSocket-Key", "AAAA") },
    request("4.2.2-3", failed: ["4.1-15", "4.2.2-3"], status: "426 No", (1, 0, 0, [3])) {
      $0.set("Sec-WebSocket-Version", "8")
    },
    request(
      "4.2.2-3", failed: ["4.1-15"], status: "426 No, but 13", (0, 1, 0, []),
      answer: { $0.add("Sec-WebSocket-Version", "13") }
    ) { $0.set("Sec-WebSocket-Version", "8") },
    request("4.2.2-3", failed: ["4.1-15"], status: "101 Yes", (0, 0, 1, [3])) {
      $0.set("Sec-WebSocket-Version", "8")
    },
    request("9.1-1", failed: ["9.1-1", "9.1-2"], status: "101 Yes", (1, 0, 0, [3])) {
      $0.add("Sec-WebSocket-Extensions", ";;")
    },
    request("9.1-1", failed: ["9.1-2"], status: "400 No", (0, 1, 0, [])) {
      $0.add("Sec-WebSocket-Extensions", ";;")
    },
    request("9.1-1", failed: ["9.1-2"], status: "302 There", (0, 0, 1, [3])) {
      $0.add("Sec-WebSocket-Extensions", ";;")
    },
  ]
}

import RepriseCore
import Wire

extension WholeCase {
  /// What a capture shows of a receiver of RFC 6455 only where the other end happens to provoke it.
  static let webSocketProvocations: [WholeCase] =
    frames + texts + unchecked + taken + answers + requests + failedConnections

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
        $0.wait(1)
        $0.frame(sender, .ping, [1])
        $0.frame(receiver, .pong, [1])
        $0.finishWebSocket()
      },
      WholeCase(
        "\(name): the \(receiver) answers a PING that came within a second, and closes",
        failed: ids, [id: (0, 1, 0, [])]
      ) {
        $0.upgrade()
        frame(&$0)
        $0.wait(0.998)
        $0.frame(sender, .ping, [1])
        $0.frame(receiver, .pong, [1])
        $0.closeFrame(receiver, 1_002)
        $0.close(receiver)
      },
      WholeCase(
        "\(name): the \(receiver) answers two PINGs, of which the second came late enough",
        failed: all,
        [id: (1, 0, 0, [8])]
      ) {
        $0.upgrade()
        frame(&$0)
        $0.frame(sender, .ping, [1])
        $0.frame(receiver, .pong, [1])
        $0.wait(1)
        $0.frame(sender, .ping, [2])
        $0.frame(receiver, .pong, [2])
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

  // MARK: Texts, which may be read later than Pings are answered

  /// A text with the byte FF of the client, which a Ping follows.
  private static func badText(
    _ name: String, isAccused: Bool = false, _ count: (Int, Int, Int, [Int]),
    _ rest: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    let accused = isAccused ? ["RFC6455-8.1-1"] : []
    return WholeCase(
      "a text FF: \(name)", failed: ["RFC6455-5.6-1"] + accused, ["RFC6455-8.1-1": count]
    ) {
      $0.upgrade()
      $0.wireBytes(.client, [0x81, 0x81, 0, 0, 0, 0, 0xFF])
      $0.wait(1)
      $0.frame(.client, .ping, [1])
      rest(&$0)
    }
  }

  private static let texts: [WholeCase] = [
    badText("the server answers a PING, and goes on", isAccused: true, (1, 0, 0, [7])) {
      $0.frame(.server, .pong, [1])
      $0.text(.server)
      $0.finishWebSocket()
    },
    badText("the server answers a PING, and nothing shows that it goes on", (0, 0, 1, [4])) {
      $0.frame(.server, .pong, [1])
      $0.finishWebSocket()
    },
    badText("data was on its way when the server answers a PING", (0, 0, 1, [4])) {
      $0.text(.server)
      $0.frame(.server, .pong, [1])
      $0.finishWebSocket()
    },
    badText("the server answers a PING, and says by code 1007 what was wrong", (0, 1, 0, [])) {
      $0.frame(.server, .pong, [1])
      $0.text(.server)
      $0.closeFrame(.server, 1_007)
      $0.close(.server)
    },
    badText("the server answers a PING, and a CLOSE frame by code 1007", (0, 1, 0, [])) {
      $0.frame(.server, .pong, [1])
      $0.closeFrame(.client)
      $0.closeFrame(.server, 1_007)
      $0.close(.server)
    },
    badText("the server answers a PING, and a CLOSE frame by another code", (0, 0, 1, [4])) {
      $0.frame(.server, .pong, [1])
      $0.text(.server)
      $0.closeFrame(.client)
      $0.closeFrame(.server, 1_001)
      $0.close(.server)
    },
    badText("the server answers a PING, and the client ends the connection", (0, 0, 1, [4])) {
      $0.frame(.server, .pong, [1])
      $0.text(.server)
      $0.close(.client, .reset)
    },
    badText("the server answers a PING, and ends the connection", (0, 1, 0, [])) {
      $0.frame(.server, .pong, [1])
      $0.close(.server)
    },
    badText("the server closes", (0, 1, 0, [])) {
      $0.closeFrame(.server, 1_002)
      $0.close(.server)
    },
    badText("data was on its way", (0, 0, 1, [4])) {
      $0.text(.server)
      $0.closeFrame(.server, 1_002)
      $0.close(.server)
    },
    badText("the capture ends", (0, 0, 1, [4])) { $0.endCapture() },
  ]

  // MARK: What a receiver has to check, and to do about it as it likes

  /// A bad frame of the client: the server goes on, or does not.
  private static func unchecked(
    _ name: String, failed: [String], _ frame: @escaping @Sendable (inout Script) -> Void
  ) -> [WholeCase] {
    let ids = failed.map { "RFC6455-" + $0 }
    let id = "RFC6455-10.7-1"
    return [
      WholeCase("\(name): the server goes on", failed: ids, [id: (0, 0, 1, [4])]) {
        $0.upgrade()
        frame(&$0)
        $0.wait(1)
        $0.frame(.client, .ping, [1])
        $0.frame(.server, .pong, [1])
        $0.finishWebSocket()
      },
      WholeCase("\(name): the server fails the connection", failed: ids, [id: (0, 1, 0, [])]) {
        $0.upgrade()
        frame(&$0)
        $0.closeFrame(.server, 1_002)
        $0.close(.server)
      },
      WholeCase("\(name): the server ends the connection", failed: ids, [id: (0, 1, 0, [])]) {
        $0.upgrade()
        frame(&$0)
        $0.close(.server)
      },
    ]
  }

  private static let unchecked: [WholeCase] =
    unchecked("a PING in fragments", failed: ["5.4-1"]) {
      $0.frame(.client, .ping, [2], isFinal: false)
    }
    + unchecked("a fragment without a message", failed: ["5.4-3", "6.1-2"]) {
      $0.frame(.client, .continuation, [2])
    }
    + unchecked("a length that is too long", failed: ["5.2-6"]) {
      $0.wireBytes(.client, [0x82, 0xFE, 0, 1, 0, 0, 0, 0, 1])
    }
    + [
      answeredClose(999, by: 1_002, (0, 1, 0, []), failed: []),
      answeredClose(999, by: 1_000, (0, 0, 1, [4]), failed: []),
      answeredClose(999, by: 999, (0, 0, 1, [4]), failed: ["7.4.2-1"]),
    ]

  /// A Close frame of the client with a code that must not be sent, and the code of the answer.
  private static func answeredClose(
    _ code: UInt16, by answer: UInt16, _ count: (Int, Int, Int, [Int]), failed: [String]
  ) -> WholeCase {
    WholeCase(
      "code \(code), answered by \(answer)", failed: ["RFC6455-7.4.2-1"],
      [
        "RFC6455-10.7-1": count,
        "RFC6455-7.4.2-1": (1 + failed.count, 1 - failed.count, 0, failed.isEmpty ? [4] : [4, 5]),
      ]
    ) {
      $0.upgrade()
      $0.closeFrame(.client, code)
      $0.closeFrame(.server, answer)
      $0.close(.server)
    }
  }

  // MARK: Fragments

  private static let taken: [WholeCase] = [
    WholeCase(
      "a PING between fragments is answered", failed: [],
      ["RFC6455-5.4-4": (0, 1, 0, []), "RFC6455-5.4-5": (0, 0, 0, [])]
    ) {
      $0.upgrade()
      $0.frame(.client, .text, [0x61], isFinal: false)
      $0.frame(.client, .ping, [1])
      $0.frame(.client, .continuation, [0x61])
      $0.frame(.server, .pong, [1])
      $0.finishWebSocket()
    },
    WholeCase(
      "a PING behind fragments is answered", failed: [],
      ["RFC6455-5.4-4": (0, 0, 0, []), "RFC6455-5.4-5": (0, 1, 0, [])]
    ) {
      $0.upgrade()
      $0.frame(.client, .text, [0x61], isFinal: false)
      $0.frame(.client, .continuation, [0x61])
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
      $0.finishWebSocket()
    },
    WholeCase(
      "a PING behind a message that is whole is answered", failed: [],
      ["RFC6455-5.4-4": (0, 0, 0, []), "RFC6455-5.4-5": (0, 0, 0, [])]
    ) {
      $0.upgrade()
      $0.text(.client)
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
      $0.finishWebSocket()
    },
  ]

  // MARK: Handshakes

  /// A bad answer, and what the client makes of it.
  private static func answer(
    _ clause: String, failed: [String], offering offers: String? = nil, _ what: String = "",
    _ change: @escaping @Sendable (inout Head) -> Void
  ) -> [WholeCase] {
    let id = "RFC6455-" + clause
    let ids = failed.map { "RFC6455-" + $0 }
    return [
      WholeCase(
        "\(clause)\(what): the client answers a PING", failed: [id] + ids, [id: (1, 0, 0, [5])]
      ) {
        $0.ask { if let offers { $0.add("Sec-WebSocket-Protocol", offers) } }
        $0.answer(change)
        $0.wait(1)
        $0.frame(.server, .ping, [1])
        $0.frame(.client, .pong, [1])
        $0.finishWebSocket()
      },
      WholeCase("\(clause)\(what): the client closes", failed: ids, [id: (0, 1, 0, [])]) {
        $0.ask { if let offers { $0.add("Sec-WebSocket-Protocol", offers) } }
        $0.answer(change)
        $0.close(.client)
      },
      WholeCase("\(clause)\(what): the server closes", failed: ids, [id: (0, 0, 1, [3])]) {
        $0.ask { if let offers { $0.add("Sec-WebSocket-Protocol", offers) } }
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
    + answer("4.1-23", failed: ["4.2.2-6"], ", no subprotocol") {
      $0.add("Sec-WebSocket-Protocol", "")
    }
    + answer("4.1-23", failed: ["4.2.2-5"], offering: "mqtt, x", ", two subprotocols") {
      $0.add("Sec-WebSocket-Protocol", "mqtt, x")
    }
    // Of two, the first of which was not offered, another clause speaks.
    + answer("4.1-22", failed: ["4.2.2-5"], offering: "x", ", two subprotocols") {
      $0.add("Sec-WebSocket-Protocol", "mqtt, x")
    }
    // A line that stands twice a client may read as one.
    + [
      WholeCase(
        "4.1-23, a line twice: the client answers a PING", failed: ["RFC6455-11.3.3-1"],
        ["RFC6455-4.1-23": (0, 0, 0, []), "RFC6455-7.1.7-1": (0, 0, 0, [])]
      ) {
        $0.ask()
        $0.answer { $0.add("Sec-WebSocket-Accept", WebSocketKey.accept(for: Head.key)) }
        $0.wait(1)
        $0.frame(.server, .ping, [1])
        $0.frame(.client, .pong, [1])
        $0.finishWebSocket()
      }
    ]

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

  /// A bad request that a server may take, refuse, or send elsewhere.
  private static func threeAnswers(
    _ clause: String, to fault: String, _ change: @escaping @Sendable (inout Head) -> Void
  ) -> [WholeCase] {
    // In the catalogue's order, which that of these identifiers is.
    let all = [fault, clause].sorted()
    return [
      request(clause, failed: all, status: "101 Yes", (1, 0, 0, [3]), change),
      request(clause, failed: [fault], status: "400 No", (0, 1, 0, []), change),
      request(clause, failed: [fault], status: "302 There", (0, 0, 1, [3]), change),
    ]
  }

  private static let requests: [WholeCase] =
    threeAnswers("4.2.1-1", to: "4.1-15") { $0.remove("Sec-WebSocket-Version") }
    + threeAnswers("9.1-1", to: "9.1-2") { $0.add("Sec-WebSocket-Extensions", ";;") }
    + [("Host", "4.1-9"), ("Upgrade", "4.1-10"), ("Connection", "4.1-11")].map { name, fault in
      request(
        "4.2.1-1", failed: [fault, "4.2.1-1"], status: "101 Yes, without \(name)", (1, 0, 0, [3])
      ) { $0.remove(name) }
    }
    + [
      // A server need not decode the key.
      request(
        "4.2.1-1", failed: ["4.1-12"], status: "101 Yes, to a key of 3 bytes", (0, 0, 0, []),
        answer: { $0.set("Sec-WebSocket-Accept", WebSocketKey.accept(for: "AAAA")) }
      ) { $0.set("Sec-WebSocket-Key", "AAAA") },
      request("4.2.2-3", failed: ["4.1-15", "4.2.2-3", "4.4-1"], status: "426 No", (1, 0, 0, [3])) {
        $0.set("Sec-WebSocket-Version", "8")
      },
      request(
        "4.2.2-3", failed: ["4.1-15"], status: "426 No, but 13", (0, 1, 0, []),
        answer: { $0.add("Sec-WebSocket-Version", "13") }
      ) { $0.set("Sec-WebSocket-Version", "8") },
      request("4.2.2-3", failed: ["4.1-15"], status: "101 Yes", (0, 0, 1, [3])) {
        $0.set("Sec-WebSocket-Version", "8")
      },
    ] + versions

  /// A request for another version, and the status of its answer with what that names.
  private static func version(
    _ version: String, _ status: String, failed: [String] = [], without name: String? = nil,
    _ count: (Int, Int, Int, [Int]), answer: @escaping @Sendable (inout Head) -> Void = { _ in }
  ) -> WholeCase {
    // One above 13 its client may prefer.
    let asked = version == "8" ? ["4.1-15"] : []
    return request("4.4-1", failed: asked + failed, status: status, count, answer: answer) {
      $0.set("Sec-WebSocket-Version", version)
      if let name { $0.remove(name) }
    }
  }

  private static let versions: [WholeCase] = [
    version("8", "426 no names", failed: ["4.2.2-3", "4.4-1"], (1, 0, 0, [3])),
    version("25", "426 no names of a later one", failed: ["4.2.2-3", "4.4-1"], (1, 0, 0, [3])),
    version("8", "400 but 13", (0, 1, 0, [])) { $0.add("Sec-WebSocket-Version", "13") },
    version("25", "426 but 13 and 8", (0, 1, 0, [])) {
      $0.add("Sec-WebSocket-Version", "8")
      $0.add("Sec-WebSocket-Version", "7, 13")
    },
    version("8", "426 but drafts", (0, 0, 1, [3])) { $0.add("Sec-WebSocket-Version", "7, 130") },
    version("8", "400 no names", (0, 0, 1, [3])),
    version("8", "101 Yes to another version", (0, 0, 1, [3])),
    // It may be TLS that the server wants.
    version("8", "426 TLS first", (0, 0, 1, [3])) { $0.set("Upgrade", "TLS/1.2, HTTP/1.1") },
    request(
      "4.4-1", failed: ["4.1-10", "4.1-15"], status: "426 to what asks for nothing",
      (0, 0, 1, [3])
    ) {
      $0.set("Sec-WebSocket-Version", "8")
      $0.remove("Upgrade")
    },
  ]
}

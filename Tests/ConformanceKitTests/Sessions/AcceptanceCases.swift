import ConformanceKit
import RepriseCore
import Wire
import WireDeflate

extension SessionCase {
  /// Opening handshakes of servers: sections 4.2.2 and 11.3 of RFC 6455.
  static let responses: [SessionCase] = responseHeads + subprotocols + acceptedExtensions

  /// A violation by a response, and the usual one as what keeps the clause.
  private static func response(
    _ clause: String, _ name: String, _ change: @escaping @Sendable (inout Head) -> Void
  ) -> [SessionCase] {
    [
      .fails("RFC6455-" + clause, name, saying: "the server sent a bad answer") {
        $0.ask {
          $0.add("Sec-WebSocket-Protocol", "a, b")
          $0.add("Sec-WebSocket-Extensions", "permessage-deflate")
        }
        $0.answer(change)
        $0.close(.server)
      },
      .passes("RFC6455-" + clause, "the usual answer, not \(name)") {
        $0.upgrade(
          subprotocol: "a", offering: "permessage-deflate", accepting: "permessage-deflate")
      },
    ]
  }

  private static let badResponses: [[SessionCase]] = [
    response("4.2.2-8", "a line without a colon") { $0.add("X y", "z") },
    response("4.2.2-8", "200") { $0.line = "HTTP/1.1 200 OK" },
    response("4.2.2-9", "no Upgrade") { $0.remove("Upgrade") },
    response("4.2.2-10", "keep-alive") { $0.set("Connection", "keep-alive") },
    response("4.2.2-11", "no accept value") { $0.remove("Sec-WebSocket-Accept") },
    response("4.2.2-11", "the accept value of another key") {
      $0.set("Sec-WebSocket-Accept", WebSocketKey.accept(for: "AQIDBAUGBwgJCgsMDQ4PEC=="))
    },
    response("11.3.3-1", "two accept values") {
      $0.add("Sec-WebSocket-Accept", WebSocketKey.accept(for: Head.key))
    },
    response("11.3.4-1", "two subprotocols") {
      for name in ["a", "b"] { $0.add("Sec-WebSocket-Protocol", name) }
    },
  ]

  private static let responseHeads: [SessionCase] =
    Array(badResponses.joined())
    + [
      .isIdle("RFC6455-4.2.2-8", "refused") {
        $0.ask()
        $0.answer { $0.line = "HTTP/1.1 403 Forbidden" }
      },
      .isOpen("RFC6455-4.2.2-11", "no request in the capture", saying: "the request") {
        $0.answer()
      },
      .isOpen("RFC6455-11.3.2-1", "extensions twice", saying: "erratum") {
        $0.ask { $0.add("Sec-WebSocket-Extensions", "permessage-deflate, bbf-usp-protocol") }
        $0.answer {
          $0.add("Sec-WebSocket-Extensions", "permessage-deflate")
          $0.add("Sec-WebSocket-Extensions", "bbf-usp-protocol")
        }
        $0.close(.server)
      },
      .passes("RFC6455-11.3.2-1", "two extensions in one line") {
        $0.upgrade(
          offering: "permessage-deflate, bbf-usp-protocol",
          accepting: "permessage-deflate, bbf-usp-protocol")
      },
    ]

  private static let subprotocols: [SessionCase] = [
    .fails("RFC6455-4.2.2-5", "none was offered", saying: "the server sent a bad answer") {
      $0.ask()
      $0.answer { $0.add("Sec-WebSocket-Protocol", "mqtt") }
    },
    .fails("RFC6455-4.2.2-5", "two at once") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "a, b") }
      $0.answer { $0.add("Sec-WebSocket-Protocol", "a, b") }
    },
    .passes("RFC6455-4.2.2-5", "the second offer") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "a, b") }
      $0.answer { $0.add("Sec-WebSocket-Protocol", "b") }
    },
    .isOpen("RFC6455-4.2.2-5", "no request in the capture", saying: "the request") {
      $0.answer { $0.add("Sec-WebSocket-Protocol", "b") }
    },
    .isIdle("RFC6455-4.2.2-5", "none") { $0.upgrade() },
    .fails("RFC6455-4.2.2-6", "an empty one") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "a") }
      $0.answer { $0.add("Sec-WebSocket-Protocol", "") }
    },
    .passes("RFC6455-4.2.2-6", "no header") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "a") }
      $0.answer()
    },
  ]

  private static let acceptedExtensions: [SessionCase] = ["RFC6455-4.2.2-7", "RFC6455-9-1"].flatMap
  {
    (clause: String) -> [SessionCase] in
    [
      .fails(clause, "none was offered") { $0.upgrade(accepting: "permessage-deflate") },
      .passes(clause, "what was offered") {
        $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      },
      .isOpen(clause, "no request in the capture", saying: "the request") {
        $0.answer { $0.add("Sec-WebSocket-Extensions", "permessage-deflate") }
      },
      .isIdle(clause, "none was accepted") { $0.upgrade(offering: "permessage-deflate") },
    ]
  }

  /// Extensions of either side: sections 4.3, 9 and 9.1 of RFC 6455.
  static let negotiations: [SessionCase] = [
    .fails("RFC6455-4.3-1", "a space in the quotes") {
      $0.upgrade(offering: #"permessage-deflate; client_max_window_bits="1 0""#)
    },
    .fails("RFC6455-4.3-1", "nothing in the quotes") {
      $0.upgrade(offering: #"permessage-deflate; client_max_window_bits="""#)
    },
    .passes("RFC6455-4.3-1", "a number in the quotes") {
      $0.upgrade(offering: #"permessage-deflate; client_max_window_bits="10""#)
    },
    .isIdle("RFC6455-4.3-1", "no quotes") { $0.upgrade(offering: "permessage-deflate") },
    .fails("RFC6455-9-2", "a window of 16 bits") {
      $0.upgrade(offering: "permessage-deflate; server_max_window_bits=16")
    },
    .fails("RFC6455-9-2", "a larger window than the offer allows") {
      $0.upgrade(
        offering: "permessage-deflate; server_max_window_bits=10",
        accepting: "permessage-deflate; server_max_window_bits=12")
    },
    .passes("RFC6455-9-2", "a smaller window") {
      $0.upgrade(
        offering: "permessage-deflate; server_max_window_bits=10",
        accepting: "permessage-deflate; server_max_window_bits=9")
    },
    .isOpen("RFC6455-9-2", "another extension", saying: "an extension is in use") {
      $0.upgrade(offering: "bbf-usp-protocol; eid=a", accepting: "bbf-usp-protocol; eid=b")
    },
    .fails("RFC6455-9.1-2", "a name of its own") { $0.upgrade(offering: "x-webkit-deflate-frame") },
    .fails("RFC6455-9.1-2", "a parameter of its own") {
      $0.upgrade(offering: "permessage-deflate; level=9")
    },
    .fails("RFC6455-9.1-2", "no name at all") { $0.upgrade(offering: "; a=b") },
    .passes("RFC6455-9.1-2", "registered") {
      $0.upgrade(offering: "permessage-deflate; client_max_window_bits")
    },
    .passes("RFC6455-4.3-1", "an escaped character in a quoted value, and another value") {
      $0.upgrade(offering: #"bbf-usp-protocol; eid="a\b"; eid="c""#)
    },
    .fails("RFC6455-9.1-3", "RSV1 though the offer was not accepted") {
      $0.upgrade(offering: "permessage-deflate")
      $0.frame(.client, .text, [0x61], rsv: 0b100)
      $0.finishWebSocket()
    },
    .passes("RFC6455-9.1-3", "RSV1 of what was accepted") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      $0.frame(.client, .text, deflated("hello"), rsv: 0b100)
      $0.finishWebSocket()
    },
    .isOpen("RFC6455-9.1-3", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.frame(.client, .text, [0x61], rsv: 0b100)
      $0.endCapture()
    },
    .fails("RFC6455-5.8-1", "an opcode of no extension") {
      $0.upgrade()
      $0.frame(.server, WebSocketOpcode(rawValue: 11))
      $0.finishWebSocket()
    },
    .passes("RFC6455-5.8-1", "no use of any") {
      $0.upgrade()
      $0.text(.server)
    },
    .isOpen("RFC6455-5.8-1", "no handshake in the capture", saying: "the opening handshake") {
      $0.joinWebSocket()
      $0.frame(.server, .text, [0x61], rsv: 0b100)
    },
  ]

  /// The bytes of a message that is compressed by itself.
  static func deflated(_ text: String) -> [UInt8] {
    guard var deflater = WebSocketDeflater() else { return [] }
    return deflater.deflate(Array(text.utf8))
  }
}

import ConformanceKit
import RepriseCore
import Wire
import WireDeflate

extension SessionCase {
  /// Messages and their fragments: sections 5.4 and 6.1 of RFC 6455.
  static let fragments: [SessionCase] = mixtures + beginnings + ends

  private static let mixtures: [SessionCase] = ["RFC6455-5.4-2", "RFC6455-5.4-7", "RFC6455-6.1-3"]
    .flatMap {
      (clause: String) -> [SessionCase] in
      [
        .fails(clause, "binary inside text", saying: "the message before it has no last fragment") {
          $0.upgrade()
          $0.text(.client, "he", isFinal: false)
          $0.frame(.client, .binary, [1])
          $0.finishWebSocket()
        },
        .passes(clause, "three fragments with a Ping among them") {
          $0.upgrade()
          $0.text(.client, "he", isFinal: false)
          $0.frame(.client, .ping)
          $0.frame(.client, .continuation, [0x6C], isFinal: false)
          $0.frame(.client, .continuation, [0x6C, 0x6F])
          $0.finishWebSocket()
        },
        .passes(clause, "messages of both sides at once") {
          $0.upgrade()
          $0.text(.client, "he", isFinal: false)
          $0.text(.server, "he", isFinal: false)
          $0.frame(.client, .continuation, [0x6C])
          $0.frame(.server, .continuation, [0x6C])
          $0.finishWebSocket()
        },
      ]
    }

  private static let beginnings: [SessionCase] = ["RFC6455-5.4-3", "RFC6455-6.1-2"].flatMap {
    (clause: String) -> [SessionCase] in
    [
      .fails(clause, "a continuation of nothing", saying: "no message is open") {
        $0.upgrade()
        $0.frame(.server, .continuation, [0x61])
        $0.finishWebSocket()
      },
      .fails(clause, "a continuation behind the last fragment") {
        $0.upgrade()
        $0.text(.server, "he", isFinal: false)
        $0.frame(.server, .continuation, [0x61])
        $0.frame(.server, .continuation, [0x61])
        $0.finishWebSocket()
      },
      .passes(clause, "a continuation of text") {
        $0.upgrade()
        $0.text(.server, "he", isFinal: false)
        $0.frame(.server, .continuation, [0x61])
        $0.finishWebSocket()
      },
    ]
  }

  private static let ends: [SessionCase] = [
    .isOpen("RFC6455-5.4-3", "a gap before it", saying: "bytes of the server") {
      $0.upgrade()
      $0.gap(.server)
      $0.frame(.server, .continuation, [0x61])
    },
    .isOpen("RFC6455-5.4-3", "no handshake in the capture", saying: "the opening handshake") {
      $0.joinWebSocket()
      $0.frame(.server, .continuation, [0x61])
    },
    .isIdle("RFC6455-5.4-7", "text inside text is the other clause's") {
      $0.upgrade()
      $0.text(.client, "he", isFinal: false)
      $0.text(.client)
    },
    .fails("RFC6455-5.4-2", "text inside text") {
      $0.upgrade()
      $0.text(.client, "he", isFinal: false)
      $0.text(.client)
    },
    .isOpen("RFC6455-5.4-2", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.text(.client, "he", isFinal: false)
      $0.text(.client)
    },
    .isOpen("RFC6455-6.1-3", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.text(.client, "he", isFinal: false)
      $0.text(.client, "he", isFinal: false)
    },
    .isOpen("RFC6455-5.4-7", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.text(.client, "he", isFinal: false)
      $0.frame(.client, .binary, [1])
      $0.frame(.client, .continuation, [0x6C])
    },
    .isOpen("RFC6455-5.4-3", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.frame(.client, .continuation, [0x6C])
    },
    .isOpen("RFC6455-6.1-2", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.frame(.client, .continuation, [0x6C])
    },
    .isOpen("RFC6455-6.1-3", "a Close frame inside a message", saying: "was given up") {
      $0.upgrade()
      $0.text(.client, "he", isFinal: false)
      $0.finishWebSocket()
    },
  ]

  /// Text: section 5.6 of RFC 6455.
  static let texts: [SessionCase] = [
    .fails("RFC6455-5.6-1", "C3 28 over two fragments", saying: "not well-formed UTF-8") {
      $0.upgrade()
      $0.frame(.client, .text, [0x61, 0xC3], isFinal: false)
      $0.frame(.client, .ping)
      $0.frame(.client, .continuation, [0x28])
    },
    .fails("RFC6455-5.6-1", "a character that does not end") {
      $0.upgrade()
      $0.frame(.client, .text, [0xE2, 0x82])
    },
    .fails("RFC6455-5.6-1", "a surrogate, without a handshake in the capture") {
      $0.joinWebSocket()
      $0.frame(.server, .text, [0xED, 0xA0, 0x80])
    },
    .fails("RFC6455-5.6-1", "bad text, compressed") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      guard var deflater = WebSocketDeflater() else { return }
      $0.frame(.server, .text, deflater.deflate([0xFF]), rsv: 0b100)
    },
    .passes("RFC6455-5.6-1", "a character over two fragments") {
      $0.upgrade()
      $0.frame(.client, .text, [0xC3], isFinal: false)
      $0.frame(.client, .continuation, [0xA9])
    },
    .passes("RFC6455-5.6-1", "compressed") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      $0.frame(.server, .text, deflated("é"), rsv: 0b100)
    },
    .isIdle("RFC6455-5.6-1", "binary") {
      $0.upgrade()
      $0.frame(.client, .binary, [0xFF])
    },
    .isOpen("RFC6455-5.6-1", "a gap inside", saying: "bytes of the client") {
      $0.upgrade()
      $0.frame(.client, .text, [0xC3], isFinal: false)
      $0.gap(.client)
      $0.frame(.client, .continuation, [0x28])
    },
    .isOpen("RFC6455-5.6-1", "bytes of the frame are missing", saying: "bytes of the packet") {
      $0.upgrade()
      $0.wireBytes(.server, [0x81, 5, 0x61])
    },
    .isOpen("RFC6455-5.6-1", "compressed and damaged", saying: "could not be inflated") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      $0.frame(.server, .text, [0xFF, 0xFF], rsv: 0b100)
    },
    .isOpen("RFC6455-5.6-1", "never ended", saying: "was given up") {
      $0.upgrade()
      $0.frame(.client, .text, [0xC3], isFinal: false)
      $0.close(.client)
    },
    .isOpen("RFC6455-5.6-1", "changed by an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.frame(.client, .text, [0xFF], rsv: 0b100)
    },
  ]
}

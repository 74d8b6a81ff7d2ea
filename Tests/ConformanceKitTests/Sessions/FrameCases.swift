import ConformanceKit
import RepriseCore
import Wire

extension SessionCase {
  /// Masks: sections 5.1, 5.3 and 10.3 of RFC 6455.
  static let masks: [SessionCase] = clientMasks + freshKeys + serverMasks

  private static let clientMasks: [SessionCase] = ["RFC6455-5.1-1", "RFC6455-5.3-1"].flatMap {
    (clause: String) -> [SessionCase] in
    [
      .fails(clause, "no mask", saying: "the client's frame is not masked") {
        $0.upgrade()
        $0.wireBytes(.client, [0x81, 0x01, 0x61])
      },
      .passes(clause, "a mask") {
        $0.upgrade()
        $0.text(.client)
      },
      .isOpen(clause, "no handshake in the capture", saying: "inferred from the masks") {
        $0.joinWebSocket()
        $0.wireBytes(.client, [0x81, 0x01, 0x61])
      },
    ]
  }

  private static let freshKeys: [SessionCase] = ["RFC6455-5.3-2", "RFC6455-10.3-1"].flatMap {
    (clause: String) -> [SessionCase] in
    [
      .fails(clause, "always 0", saying: "a masking key that it had just used") {
        $0.upgrade()
        $0.frame(.client, .text, [0x61], key: 0)
        $0.frame(.client, .text, [0x61], key: 0)
      },
      .fails(clause, "two in turns, without a handshake in the capture") {
        $0.joinWebSocket()
        for key: UInt32 in [1, 2, 1] { $0.frame(.client, .text, [0x61], key: key) }
      },
      .passes(clause, "0 once") {
        $0.upgrade()
        $0.frame(.client, .text, [0x61], key: 0)
        $0.frame(.client, .text, [0x61], key: 1)
      },
    ]
  }

  private static let serverMasks: [SessionCase] = [
    .fails("RFC6455-5.1-3", "a mask", saying: "the server's frame is masked") {
      $0.upgrade()
      $0.frame(.server, .text, [0x61], key: 5)
    },
    .passes("RFC6455-5.1-3", "no mask") {
      $0.upgrade()
      $0.text(.server)
    },
    .isOpen("RFC6455-5.1-3", "no handshake in the capture", saying: "inferred from the masks") {
      $0.joinWebSocket()
      $0.text(.server)
    },
  ]

  /// Headers: sections 5.2, 5.4 and 5.5 of RFC 6455.
  static let frameHeaders: [SessionCase] = reservations + lengths + controls

  private static let reservations: [SessionCase] = [
    .fails("RFC6455-5.2-1", "RSV2 without an extension", saying: "reserved bit") {
      $0.upgrade()
      $0.frame(.server, .text, [0x61], rsv: 0b010)
    },
    .fails("RFC6455-5.2-1", "RSV1 in a Ping of a compressed connection") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      $0.frame(.server, .ping, [0x61], rsv: 0b100)
    },
    .fails("RFC6455-5.2-1", "RSV1 in a later fragment of a compressed message") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      $0.frame(.server, .text, Array(deflated("hello").prefix(2)), isFinal: false, rsv: 0b100)
      $0.frame(.server, .continuation, Array(deflated("hello").dropFirst(2)), rsv: 0b100)
    },
    .passes("RFC6455-5.2-1", "RSV1 of permessage-deflate") {
      $0.upgrade(offering: "permessage-deflate", accepting: "permessage-deflate")
      $0.frame(.server, .text, deflated("hello"), rsv: 0b100)
    },
    .isOpen("RFC6455-5.2-1", "no handshake in the capture", saying: "the opening handshake") {
      $0.joinWebSocket()
      $0.frame(.server, .text, [0x61], rsv: 0b010)
    },
    .isOpen("RFC6455-5.2-1", "no answer in the capture", saying: "the answer to the opening") {
      $0.ask { $0.add("Sec-WebSocket-Extensions", "permessage-deflate") }
      $0.frame(.server, .text, [0x61], rsv: 0b100)
    },
    .fails("RFC6455-5.2-3", "opcode 3", saying: "the opcode is reserved") {
      $0.upgrade()
      $0.frame(.server, WebSocketOpcode(rawValue: 3), [0x61])
    },
    .fails("RFC6455-5.2-3", "opcode 15") {
      $0.upgrade()
      $0.frame(.client, WebSocketOpcode(rawValue: 15))
    },
    .passes("RFC6455-5.2-3", "opcode 2") {
      $0.upgrade()
      $0.frame(.server, .binary, [0x61])
    },
    .isOpen("RFC6455-5.2-3", "an extension that nobody knows", saying: "does not know") {
      $0.upgrade(offering: "x", accepting: "x")
      $0.frame(.server, WebSocketOpcode(rawValue: 3), [0x61])
    },
  ]

  private static let lengths: [SessionCase] = [
    .fails("RFC6455-5.2-5", "2^63", saying: "the highest bit of the length is set") {
      $0.upgrade()
      $0.wireBytes(.server, [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0])
      $0.garbage(.server)
      $0.close(.client)
    },
    .fails("RFC6455-5.2-5", "2^64 - 1") {
      $0.upgrade()
      $0.wireBytes(.server, [0x82, 127] + Array(repeating: 0xFF, count: 8))
    },
    .passes("RFC6455-5.2-5", "65,536") {
      $0.upgrade()
      $0.frame(.server, .binary, Array(repeating: 0, count: 65_536))
    },
    .isIdle("RFC6455-5.2-5", "65,535") {
      $0.upgrade()
      $0.frame(.server, .binary, Array(repeating: 0, count: 65_535))
    },
    .fails("RFC6455-5.2-6", "125 in 16 bits", saying: "not in its shortest form") {
      $0.upgrade()
      $0.wireBytes(.server, [0x82, 126, 0, 125] + Array(repeating: 0, count: 125))
    },
    .fails("RFC6455-5.2-6", "1 in 64 bits") {
      $0.joinWebSocket()
      $0.wireBytes(.server, [0x82, 127, 0, 0, 0, 0, 0, 0, 0, 1, 0x61])
    },
    .passes("RFC6455-5.2-6", "126 in 16 bits") {
      $0.upgrade()
      $0.frame(.server, .binary, Array(repeating: 0, count: 126))
    },
  ]

  private static let controls: [SessionCase] = [
    .fails("RFC6455-5.4-1", "a Ping without FIN", saying: "the control frame is fragmented") {
      $0.upgrade()
      $0.frame(.client, .ping, isFinal: false)
    },
    .passes("RFC6455-5.4-1", "a Ping inside a message") {
      $0.upgrade()
      $0.text(.client, "he", isFinal: false)
      $0.frame(.client, .ping)
      $0.frame(.client, .continuation, [0x61])
    },
    .fails("RFC6455-5.5-1", "a Ping of 126 bytes", saying: "more than 125 bytes") {
      $0.upgrade()
      $0.frame(.server, .ping, Array(repeating: 0, count: 126))
    },
    .passes("RFC6455-5.5-1", "a Ping of 125 bytes") {
      $0.upgrade()
      $0.frame(.server, .ping, Array(repeating: 0, count: 125))
    },
  ]
}

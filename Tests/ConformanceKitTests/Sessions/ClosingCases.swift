import ConformanceKit
import RepriseCore
import Wire

extension SessionCase {
  /// Close frames: sections 5.5.1, 7.1 and 7.4 of RFC 6455.
  static let closes: [SessionCase] =
    bodies + codes + lastWords + closeAnswers + closings + plainEnds

  private static let bodies: [SessionCase] = [
    .fails("RFC6455-5.5.1-1", "one byte", saying: "one byte is no status code") {
      $0.upgrade()
      $0.frame(.client, .close, [3])
    },
    .fails("RFC6455-5.5.1-1", "a reason that is not UTF-8", saying: "the reason") {
      $0.upgrade()
      $0.closeFrame(.client, 1_000, [0xFF])
    },
    .passes("RFC6455-5.5.1-1", "a code and a reason") {
      $0.upgrade()
      $0.closeFrame(.client, 1_000, Array("adé".utf8))
    },
    .isIdle("RFC6455-5.5.1-1", "nothing") {
      $0.upgrade()
      $0.closeFrame(.client, nil)
    },
    .isOpen("RFC6455-5.5.1-1", "bytes are missing", saying: "bytes of the packet") {
      $0.upgrade()
      $0.wireBytes(.server, [0x88, 4, 3, 0xE8])
    },
  ]

  private static let codes: [SessionCase] = reservedCodes + undefinedCodes + definedCodes

  private static let reservedCodes: [SessionCase] = [
    (UInt16(1_005), "7.4.1-1"), (1_006, "7.4.1-2"), (1_015, "7.4.1-3"),
  ].flatMap { (code: UInt16, clause: String) -> [SessionCase] in
    [
      .fails("RFC6455-" + clause, "it is sent", saying: "must not be sent") {
        $0.upgrade()
        $0.closeFrame(.server, code)
      },
      .passes("RFC6455-" + clause, "another is sent") {
        $0.upgrade()
        $0.closeFrame(.server, 1_001)
      },
      .isIdle("RFC6455-7.4.2-1", "\(code) has a clause of its own") {
        $0.upgrade()
        $0.closeFrame(.server, code)
      },
    ]
  }

  private static let undefinedCodes: [SessionCase] =
    ([0, 999, 1_004, 1_016, 2_999, 5_000, 65_535] as [UInt16]).map { code in
      .fails("RFC6455-7.4.2-1", "\(code)", saying: "a status code that is not defined") {
        $0.upgrade()
        $0.closeFrame(.server, code)
      }
    }

  private static let definedCodes: [SessionCase] =
    ([1_000, 1_003, 1_007, 1_014, 3_000, 4_999] as [UInt16]).map { code in
      .passes("RFC6455-7.4.2-1", "\(code)") {
        $0.upgrade()
        $0.closeFrame(.server, code)
      }
    }

  private static let lastWords: [SessionCase] = [
    .fails("RFC6455-5.5.1-3", "text behind it", saying: "the sender had sent a Close frame") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.text(.client)
      $0.closeFrame(.server)
      $0.close(.server)
    },
    .fails("RFC6455-6.1-1", "text behind a Close frame") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.text(.client)
    },
    .passes("RFC6455-5.5.1-3", "text of the other side, and a Ping") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.text(.server)
      $0.frame(.client, .ping)
      $0.closeFrame(.server)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-3", "the capture ends", saying: "the capture ends") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.endCapture()
    },
    .passes("RFC6455-5.5.1-3", "text of the client behind both, and a gap") {
      $0.leaveAndComeBack()
      $0.close(.server)
    },
    .isOpen("RFC6455-6.1-1", "text behind both, and a gap", saying: "bytes of the client") {
      $0.leaveAndComeBack()
    },
    .isOpen("RFC6455-5.5.1-3", "text behind it, and a gap", saying: "bytes of the client") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.gap(.client)
      $0.text(.client)
      $0.close(.server)
    },
    .fails("RFC6455-5.5.1-3", "text behind both, and a gap of the other side") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.gap(.server)
      $0.text(.client)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-3", "a gap behind it", saying: "bytes of the client") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.gap(.client)
      $0.close(.server)
    },
    .isOpen("RFC6455-6.1-1", "no handshake in the capture", saying: "the opening handshake") {
      $0.joinWebSocket()
      $0.text(.client)
    },
  ]

  private static let closeAnswers: [SessionCase] = [
    .fails("RFC6455-5.5.1-4", "text for a minute instead", saying: "never answered the CLOSE") {
      $0.upgrade()
      $0.closeFrame(.client)
      for _ in 0..<4 {
        $0.wait(15)
        $0.text(.server)
      }
      $0.close(.client)
    },
    // A proxy may have taken the Close frame, and have had nobody to hand it on to.
    .isOpen("RFC6455-5.5.1-4", "FIN after a minute", saying: "closed instead of an answer") {
      $0.upgrade()
      $0.closeFrame(.server)
      $0.wait(60)
      $0.close(.client, clientRest: 29, serverRest: 60)
    },
    .isOpen("RFC6455-5.5.1-4", "it never pauses for a minute", saying: "never paused") {
      $0.upgrade()
      $0.text(.server)
      $0.wait(1)
      $0.closeFrame(.client)
      for _ in 0..<13 {
        $0.wait(4.9)
        $0.text(.server)
      }
      $0.close(.client, .reset)
    },
    .fails("RFC6455-5.5.1-4", "it pauses once in a minute", saying: "never answered the CLOSE") {
      $0.upgrade()
      $0.text(.server)
      $0.closeFrame(.client)
      $0.wait(5)
      for _ in 0..<13 {
        $0.text(.server)
        $0.wait(4)
      }
      $0.close(.client, .reset)
    },
    .isOpen("RFC6455-5.5.1-4", "it pauses before, and then for less", saying: "never paused") {
      $0.upgrade()
      $0.text(.server)
      $0.wait(5)
      $0.closeFrame(.client)
      $0.wait(4)
      for _ in 0..<13 {
        $0.text(.server)
        $0.wait(4)
      }
      $0.close(.client, .reset)
    },
    .isOpen("RFC6455-5.5.1-4", "one large frame comes for a minute", saying: "never paused") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.wait(60)
      $0.text(.server, String(repeating: "a", count: 1_025))
      $0.close(.client, .reset)
    },
    .fails("RFC6455-5.5.1-4", "a frame of 1 KiB comes after a minute", saying: "never answered") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.wait(60)
      $0.text(.server, String(repeating: "a", count: 1_024))
      $0.close(.client, .reset)
    },
    .isOpen("RFC6455-5.5.1-4", "its message goes on for a minute", saying: "end of the message") {
      $0.upgrade()
      $0.text(.server, "a", isFinal: false)
      $0.closeFrame(.client)
      $0.wait(60)
      $0.frame(.server, .continuation, [0x61], isFinal: false)
      $0.close(.client, .reset)
    },
    .fails("RFC6455-5.5.1-4", "its message ends, and it goes on", saying: "never answered") {
      $0.upgrade()
      $0.text(.server, "a", isFinal: false)
      $0.closeFrame(.client)
      $0.wait(60)
      $0.frame(.server, .continuation, [0x61])
      $0.close(.client, .reset)
    },
    .passes("RFC6455-5.5.1-4", "an answer") {
      $0.upgrade()
      $0.finishWebSocket()
    },
    .passes("RFC6455-5.5.1-4", "an answer behind the rest of a message") {
      $0.upgrade()
      $0.text(.server, "a", isFinal: false)
      $0.closeFrame(.client)
      $0.frame(.server, .continuation, [0x61])
      $0.closeFrame(.server)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-4", "FIN of the other side", saying: "closed instead of an answer") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-4", "its sender does not wait", saying: "who waited for the answer") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.close(.client)
    },
    .isOpen("RFC6455-5.5.1-4", "nothing is heard", saying: "not seen to go on") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.wait(60)
      $0.close(.client, .reset)
    },
    .isOpen("RFC6455-5.5.1-4", "the capture ends", saying: "the capture ends") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.wait(60)
      $0.endCapture()
    },
    .isOpen("RFC6455-5.5.1-4", "a gap of the other side", saying: "bytes of the server") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.gap(.server)
      $0.wait(60)
      $0.text(.server)
      $0.close(.server)
    },
  ]

  private static let closings: [SessionCase] = [
    .fails("RFC6455-5.5.1-5", "a Ping a minute later", saying: "goes on sending") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.frame(.server, .ping)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-5", "text a minute later, and a gap", saying: "bytes of the client") {
      $0.leaveAndComeBack()
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-6", "text a minute later, and a gap", saying: "bytes of the client") {
      $0.leaveAndComeBack()
      $0.close(.server)
    },
    .passes("RFC6455-5.5.1-5", "FIN") {
      $0.upgrade()
      $0.finishWebSocket()
    },
    .isOpen("RFC6455-5.5.1-5", "the capture ends", saying: "the capture ends") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.endCapture()
    },
    .fails("RFC6455-5.5.1-6", "the client gives up", saying: "left the connection open") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.close(.client)
    },
    .fails("RFC6455-5.5.1-6", "FIN after a minute") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-6", "FIN, perhaps of long before", saying: "captured late") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.close(.server, serverRest: 31)
    },
    .fails("RFC6455-5.5.1-6", "FIN after a minute, of half a minute before at most") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(60)
      $0.close(.server, clientRest: 60, serverRest: 29)
    },
    .passes("RFC6455-5.5.1-6", "FIN, though the server began") {
      $0.upgrade()
      $0.closeFrame(.server)
      $0.closeFrame(.client)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-6", "the client is faster", saying: "the client ended the connection") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.close(.client)
    },
    .isOpen("RFC6455-5.5.1-6", "no handshake in the capture", saying: "inferred from the masks") {
      $0.joinWebSocket()
      $0.finishWebSocket()
    },
    .isOpen("RFC6455-5.5.1-6", "the capture ends", saying: "the capture ends") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.endCapture()
    },
  ]

  private static let plainEnds: [SessionCase] = [
    .fails("RFC6455-7.1.2-1", "FIN alone", saying: "without a CLOSE frame") {
      $0.upgrade()
      $0.text(.client)
      $0.close(.server)
    },
    .passes("RFC6455-7.1.2-1", "Close frames") {
      $0.upgrade()
      $0.finishWebSocket()
    },
    .isOpen("RFC6455-7.1.2-1", "a reset", saying: "was reset") {
      $0.upgrade()
      $0.close(.server, .reset)
    },
    .isIdle("RFC6455-7.1.2-1", "the capture ends") {
      $0.upgrade()
      $0.endCapture()
    },
    .isIdle("RFC6455-7.1.2-1", "the server refuses") {
      $0.ask()
      $0.answer { $0.line = "HTTP/1.1 403 Forbidden" }
      $0.close(.server)
    },
    .isIdle("RFC6455-7.1.2-1", "the server does not answer") {
      $0.ask()
      $0.close(.server)
    },
    .isOpen("RFC6455-7.1.2-1", "the other side had sent no mask", saying: "had broken the rules") {
      $0.upgrade()
      $0.wireBytes(.client, [0x81, 0x01, 0x61])
      $0.close(.server)
    },
    .isOpen("RFC6455-7.1.2-1", "a gap of the one who closes", saying: "bytes of the server") {
      $0.upgrade()
      $0.gap(.server)
      $0.close(.server)
    },
    .isOpen("RFC6455-7.1.2-1", "a gap of the other side", saying: "bytes of the client") {
      $0.upgrade()
      $0.gap(.client)
      $0.close(.server)
    },
  ]

  /// Ping and Pong: sections 5.5.2 and 5.5.3 of RFC 6455.
  static let pings: [SessionCase] = [
    .fails("RFC6455-5.5.2-1", "text for a minute instead", saying: "never answered the PING") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .passes("RFC6455-5.5.2-1", "the last of three is answered") {
      $0.upgrade()
      for byte: UInt8 in 1...3 { $0.frame(.client, .ping, [byte]) }
      $0.frame(.server, .pong, [3])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .passes("RFC6455-5.5.2-1", "a Pong behind one that nobody asked for") {
      $0.upgrade()
      $0.frame(.server, .ping, [1])
      $0.frame(.client, .pong)
      $0.frame(.client, .pong, [1])
      $0.finishWebSocket()
    },
    .isOpen("RFC6455-5.5.2-1", "a Close frame comes first", saying: "a Close frame followed") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.closeFrame(.client)
      $0.talkOn()
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.2-1", "the capture ends", saying: "the capture ends") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.talkOn()
      $0.endCapture()
    },
    .isOpen("RFC6455-5.5.2-1", "a gap of the other side", saying: "bytes of the server") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.gap(.server)
      $0.talkOn()
      $0.finishWebSocket()
    },
    .isOpen("RFC6455-5.5.2-1", "the other side closes", saying: "closed instead of an answer") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.closeFrame(.server)
      $0.close(.server)
    },
    .fails("RFC6455-5.5.3-1", "other data, and no answer", saying: "with other data") {
      $0.joinWebSocket()
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [2])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .isIdle("RFC6455-5.5.3-1", "an empty Pong, and no answer") {
      $0.joinWebSocket()
      $0.frame(.client, .ping, [1, 2])
      $0.frame(.server, .pong, [])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .isIdle("RFC6455-5.5.3-1", "a Pong as before, and no answer") {
      $0.joinWebSocket()
      $0.frame(.server, .pong, [3])
      $0.frame(.client, .ping, [1, 2])
      $0.frame(.server, .pong, [3])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .passes("RFC6455-5.5.3-1", "the same data") {
      $0.upgrade()
      $0.frame(.client, .ping, [1, 2])
      $0.frame(.server, .pong, [1, 2])
    },
    .isOpen("RFC6455-5.5.3-1", "other data, and the end", saying: "the capture ends") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [2])
      $0.endCapture()
    },
    .isIdle("RFC6455-5.5.3-1", "a Pong that nobody asked for") {
      $0.upgrade()
      $0.frame(.server, .pong, [2])
    },
  ]
}

extension Script {
  /// Both sides take their leave, and a minute later another connection may use the same ports.
  fileprivate mutating func leaveAndComeBack() {
    upgrade()
    closeFrame(.client)
    closeFrame(.server)
    wait(60)
    gap(.client)
    text(.client)
  }
}

import RepriseCore
import Wire

extension SessionCase {
  /// How connections begin: sections 3.1 and 3.2.
  static let openings: [SessionCase] = firsts + answers + refusals

  private static let firsts: [SessionCase] = [
    .fails("3.1.0-1", "PUBLISH first", saying: "the client's first packet") {
      $0.open()
      $0.publish(.client, "a")
      $0.close(.server)
    },
    .fails("3.1.0-1", "PUBLISH first, of a version that nothing names", saying: "first packet") {
      $0.wire = .mqttInferred(.v3_1)
      $0.open()
      $0.client(hex: "30 05 0001 61 00 01")
      $0.close(.server)
    },
    .isOpen("3.1.0-1", "PUBLISH first, mid-stream in such a version", saying: "only inferred") {
      $0.wire = .mqttInferred(.v3_1)
      $0.open(isFromStart: false)
      $0.client(hex: "30 05 0001 61 00 01")
      $0.close(.server)
    },
    .isOpen("3.1.0-1", "first something with faults", saying: "only inferred") {
      $0.wire = .mqttInferred(.v3_1_1)
      $0.open()
      $0.client(hex: "C1 00")
      $0.close(.server)
    },
    .passes("3.1.0-1", "CONNECT first") { $0.start() },
    .isOpen("3.1.0-1", "mid-stream", saying: "the start of the connection") {
      $0.open(isFromStart: false)
      $0.publish(.client, "a")
      $0.endCapture()
    },
    .isOpen("3.1.0-1", "a gap before the first packet", saying: "bytes of the client") {
      $0.open()
      $0.gap(.client)
      $0.publish(.client, "a")
      $0.endCapture()
    },
    .fails("3.2.0-1", "PINGRESP first", saying: "the server's first packet") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .passes("3.2.0-1", "CONNACK first, behind a PUBLISH of the client") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.publish(.client, "a")
      $0.server(.connack(.init()))
      $0.finish()
    },
    .isOpen("3.2.0-1", "mid-stream", saying: "the start of the connection") {
      $0.open(isFromStart: false)
      $0.publish(.server, "a")
      $0.endCapture()
    },
    .isOpen("3.2.0-1", "a gap of the server", saying: "bytes of the server") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.gap(.server)
      $0.pong()
      $0.endCapture()
    },
    .isIdle("3.2.0-1", "the server closes without a word") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.close(.server)
    },
  ]

  private static let answers: [SessionCase] = [
    .fails("3.1.4-4", "the server answers all but CONNECT", saying: "never answered the CONNECT") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.goOn()
      $0.close(.server)
    },
    .passes("3.1.4-4", "accepted") { $0.start() },
    .isIdle("3.1.4-4", "refused") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(.connack(.init(code: 5)))
      $0.close(.server)
    },
    .isOpen("3.1.4-4", "the server closes", saying: "closed instead of an answer") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.close(.server)
    },
    .isOpen("3.1.4-4", "the client gives up", saying: "waited for the answer") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.close(.client, .reset)
    },
    .isOpen("3.1.4-4", "the capture ends", saying: "the capture ends") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.goOn()
      $0.endCapture()
    },
    .isOpen("3.1.4-4", "a gap of the server", saying: "bytes of the server") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.gap(.server)
      $0.goOn()
      $0.close(.client)
    },
    .isOpen("3.1.4-4", "only one direction captured", saying: "not seen to go on") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.wait(100)
      $0.ping()
      $0.close(.client)
    },
    .fails("3.2.2-1", "Session Present for a clean session") {
      $0.start(cleanStart: true, sessionPresent: true)
    },
    .passes("3.2.2-1", "no session") { $0.start(cleanStart: true) },
    .isIdle("3.2.2-1", "a session that may be resumed") {
      $0.start(cleanStart: false, sessionPresent: true)
    },
    .isOpen("3.2.2-1", "CONNECT not captured", saying: "the CONNECT that it depends on") {
      $0.open(isFromStart: false)
      $0.server(.connack(.init(sessionPresent: true)))
      $0.endCapture()
    },
  ]

  private static let refusals: [SessionCase] =
    ["3.2.2-5", "3.1.3-9"].flatMap {
      [
        .fails($0, "the server still answers after a minute", saying: "goes on sending more than") {
          $0.refuse(2)
          $0.wait(60)
          $0.ping()
          $0.pong()
          $0.close(.client)
        },
        .fails($0, "the server closes after a minute", saying: "left the connection open") {
          $0.refuse(2)
          $0.wait(60)
          $0.close(.server)
        },
        .isOpen($0, "the server answers once more", saying: "the client ended the connection") {
          $0.refuse(2)
          $0.ping()
          $0.pong()
          $0.close(.client)
        },
        .passes($0, "the server closes after 29 s") {
          $0.refuse(2)
          $0.wait(29)
          $0.close(.server)
        },
        .fails($0, "the client closes after a minute", saying: "left the connection open") {
          $0.refuse(2)
          $0.wait(60)
          $0.close(.client)
        },
        .passes($0, "the server closes") {
          $0.refuse(2)
          $0.close(.server)
        },
        .isOpen($0, "the client is faster", saying: "the client ended the connection first") {
          $0.refuse(2)
          $0.close(.client)
        },
        .isOpen($0, "the capture ends", saying: "the capture ends") {
          $0.refuse(2)
          $0.wait(60)
          $0.endCapture()
        },
        .isOpen($0, "a gap of the server", saying: "bytes of the server") {
          $0.refuse(2)
          $0.gap(.server)
          $0.pong()
          $0.close(.client)
        },
      ]
    } + [
      .isIdle("3.1.3-9", "refused for another reason") {
        $0.refuse(5)
        $0.close(.server)
      }
    ]
}

extension Script {
  /// A connection whose client is refused.
  fileprivate mutating func refuse(_ code: UInt8) {
    open()
    client(.connect(.init(clientID: "c-1")))
    server(.connack(.init(code: code)))
  }
}

import RepriseCore
import Wire

extension SessionCase {
  /// Keep Alive and PINGREQ.
  static let lives: [SessionCase] = [
    .fails("3.1.2-23", "16 s of silence at Keep Alive 10", saying: "silent for longer") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.fallSilent(16)
      $0.finish()
    },
    .isOpen("3.1.2-23", "16 s of silence, but twice alone", saying: "a proxy may") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.fallSilent(16, times: 2)
      $0.finish()
    },
    .isOpen("3.1.2-23", "silences of no one length", saying: "a proxy may") {
      $0.start(keepAlive: 10)
      $0.ping()
      for seconds in [16.0, 22, 16, 22] { $0.fallSilent(seconds, times: 1) }
      $0.finish()
    },
    .fails(
      "3.1.2-23", "a message of three bytes behind 16 s of silence", saying: "silent for longer"
    ) {
      $0.start(keepAlive: 10)
      $0.fallSilent(16, times: 2)
      $0.wait(16)
      $0.client(.publish(.init(topic: "a", payload: [1, 2, 3])))
      $0.finish()
    },
    .isOpen(
      "3.1.2-23", "a message that is hidden, and may be large, behind 16 s of silence", saying: ""
    ) {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(16)
      $0.client(.publish(.init(topic: "a", payload: Array(RedactionRules.mark.utf8))))
      $0.finish()
    },
    .isOpen(
      "3.1.2-23", "a packet whose time is before that of what it answers",
      saying: "two clocks"
    ) {
      $0.start(keepAlive: 10)
      $0.wait(10)
      $0.publish(.server, "a", qos: 1, id: 1)
      $0.add(
        .client, .mqtt(PacketBytes([0x40, 2, 0, 1])), early: 9_900_000_000)
      $0.wait(10)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .isOpen("3.1.2-23", "the client closes after 20 s of silence", saying: "a proxy may") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(20)
      $0.close(.client)
    },
    .fails("3.1.2-23", "DISCONNECT after 20 s of silence") {
      $0.start(keepAlive: 10)
      $0.fallSilent(20, times: 2)
      $0.wait(20)
      $0.finish()
    },
    .isOpen(
      "3.1.2-23", "silence in a recording that has no pings", saying: "PINGREQs are not in"
    ) {
      $0.start(keepAlive: 10, hasPings: false)
      $0.client(.publish(.init(topic: "a", payload: [])))
      $0.wait(20)
      $0.finish()
    },
    .passes("3.1.2-23", "a packet every 10 s") {
      $0.start(keepAlive: 10)
      for _ in 0..<5 {
        $0.wait(10)
        $0.ping()
        $0.pong()
      }
      $0.wait(3)
      $0.finish()
    },
    .isIdle("3.1.2-23", "Keep Alive 0 is no limit") {
      $0.start(keepAlive: 0)
      $0.wait(1_000)
      $0.finish()
    },
    .isOpen("3.1.2-23", "a little late", saying: "between 1.0 and 1.5") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(13)
      $0.ping()
      $0.finish()
    },
    .isOpen("3.1.2-23", "the server closes after 20 s", saying: "a proxy may") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(20)
      $0.close(.server)
    },
    .isOpen("3.1.2-23", "the server closes after 13 s", saying: "the server ended the connection") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(13)
      $0.close(.server)
    },
    .isOpen("3.1.2-23", "nobody answers the server's FIN", saying: "still there") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(20)
      $0.close(.server, isAnswered: false)
    },
    .isOpen("3.1.2-23", "the server resets", saying: "still there") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(20)
      $0.close(.server, .reset)
    },
    .fails("3.1.2-23", "20 s of silence behind CONNACK", saying: "silent for longer") {
      $0.start(keepAlive: 10)
      $0.fallSilent(20)
      $0.finish()
    },
    .isOpen("3.1.2-23", "CONNACK comes late", saying: "CONNACK came within") {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 10)))
      $0.wait(20)
      $0.server(.connack(.init()))
      $0.ping()
      $0.close(.client)
    },
    .isOpen("3.1.2-23", "no CONNACK in the capture", saying: "no CONNACK was captured") {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 10)))
      $0.wait(20)
      $0.ping()
      $0.close(.client)
    },
    .fails("3.1.2-23", "a client that did not wait for CONNACK") {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 10)))
      $0.ping()
      $0.fallSilent(20)
      $0.close(.client)
    },
    .isOpen("3.1.2-23", "a long message", saying: "is long") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(20)
      $0.client(.publish(.init(topic: "a", payload: Array(repeating: 0, count: 2_000))))
      $0.close(.client)
    },
    .passes("3.1.2-23", "a gap of the client") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(20)
      $0.gap(.client)
      $0.ping()
      $0.finish()
    },
    .passes("3.1.2-23", "nothing is asked of the end of a capture") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(100)
      $0.endCapture()
    },
    .fails("3.12.4-1", "no PINGRESP for a minute", saying: "never answered the PINGREQ") {
      $0.start()
      $0.ping()
      for id: UInt16 in 1...4 {
        $0.wait(15)
        $0.subscribe(id, "a")
        $0.suback(id, 2)
      }
      $0.finish()
    },
    .fails("3.12.4-1", "only the second of two is answered") {
      $0.start()
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.wait(1)
      $0.finish()
    },
    .fails("3.12.4-1", "only the second of two is answered, after 5 s") {
      $0.start()
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.wait(4.999)
      $0.pong()
      $0.wait(1)
      $0.finish()
    },
    .passes("3.12.4-1", "the answer to the second of two may be on its way") {
      $0.start()
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.wait(0.9)
      $0.finish()
    },
    .passes("3.12.4-1", "one answer that may be that to the first") {
      $0.start()
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.wait(5)
      $0.pong()
      $0.finish()
    },
    .passes("3.12.4-1", "late, but answered") {
      $0.start()
      $0.ping()
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.pong()
      $0.finish()
    },
    .passes("3.12.4-1", "PINGRESP") {
      $0.start()
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .isOpen("3.12.4-1", "the client gives up", saying: "waited for the answer") {
      $0.start()
      $0.ping()
      $0.wait(10)
      $0.close(.client)
    },
    .isOpen("3.12.4-1", "the capture ends", saying: "the capture ends") {
      $0.start()
      $0.ping()
      $0.endCapture()
    },
    .isOpen("3.12.4-1", "a gap of the server", saying: "bytes of the server") {
      $0.start()
      $0.ping()
      $0.gap(.server)
      $0.finish()
    },
  ]

  /// Section 3.14.
  static let endings: [SessionCase] = [
    .isOpen("3.14.4-1", "the server gives up", saying: "a proxy may") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(40)
      $0.close(.server)
    },
    .passes("3.14.4-1", "the client closes") {
      $0.start()
      $0.finish()
    },
    .passes("3.14.4-1", "the client resets") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.close(.client, .reset)
    },
    .isOpen("3.14.4-1", "the server is faster", saying: "the server ended the connection first") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.close(.server)
    },
    .isOpen("3.14.4-1", "the client is slow", saying: "took more than 30 s") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(40)
      $0.close(.client)
    },
    .isOpen("3.14.4-1", "the capture ends", saying: "the capture ends") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(40)
      $0.endCapture()
    },
    .fails("3.14.4-2", "PUBLISH after DISCONNECT", saying: "the client sent PUBLISH after") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.publish(.client, "a")
      $0.close(.client)
    },
    .passes("3.14.4-2", "a packet of the server that crossed") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.publish(.server, "a")
      $0.close(.client)
    },
    .isOpen("3.14.4-2", "the capture ends", saying: "the capture ends") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.endCapture()
    },
    .isOpen("3.14.4-2", "a gap of the client", saying: "bytes of the client") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.gap(.client)
      $0.close(.client)
    },
  ]

  /// The receiver of a bad packet must close; the packet itself is a violation in any case, so what
  /// these show is in the findings and counts.
  static let receivers: [SessionCase] = [
    .fails("3.8.1-1", "the server answers a bad SUBSCRIBE") {
      $0.start()
      $0.client(hex: "80 06 0001 0001 61 00")
      $0.suback(1, 0)
      $0.finish()
    }
  ]
}

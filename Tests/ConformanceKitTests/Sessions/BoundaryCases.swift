import RepriseCore
import Wire

extension SessionCase {
  /// Sessions on both sides of a limit; a step takes a millisecond.
  static let boundaries: [SessionCase] =
    answers + refusals + departures + enforcements + frameAnswers

  /// Requests whose answerer is seen for the last time just 30 s later, or a millisecond more.
  private static let answers: [SessionCase] =
    [
      request("3.8.4-1") { $0.subscribe(1, "a") },
      request("3.10.4-4") { $0.unsubscribe(1, "a") },
      request("3.10.4-5") { $0.unsubscribe(1, "a") },
      request("3.10.4-6") { $0.unsubscribe(1, "a", "b") },
      request("3.3.4-1", answering: true) { $0.publish(.client, "a", qos: 1, id: 1) },
      request("3.3.4-1", " at QoS 2", answering: true) {
        $0.publish(.client, "a", qos: 2, id: 1)
      },
      request("4.5.0-2", by: .client) { $0.publish(.server, "a", qos: 1, id: 1) },
      request("4.5.0-2", " at QoS 2", by: .client) { $0.publish(.server, "a", qos: 2, id: 1) },
    ].flatMap { $0 }

  private static func request(
    _ clause: String, _ name: String = "", by answerer: Peer = .server,
    answering answers: Bool = false, _ ask: @escaping @Sendable (inout Script) -> Void
  ) -> [SessionCase] {
    @Sendable func write(_ script: inout Script, _ seconds: Double) {
      script.start()
      ask(&script)
      // What a server sends does not show that it reads what a publisher sends.
      if answers {
        script.wait(2)
        script.ping()
        script.pong()
        script.wait(-2.002)
      }
      script.wait(seconds)
      // Otherwise neither asks for anything.
      if answerer == .server { script.pong() } else { script.publish(.client, "b") }
      script.close(answerer.other)
    }
    return [
      .isOpen(clause, "the answerer goes on for 30 s" + name, saying: "more than 30 s") {
        write(&$0, answers ? 29.998 : 29.999)
      },
      // One that answered something late may be as late twice more.
      .fails(clause, "the answerer goes on for more than 30 s" + name) {
        write(&$0, answers ? 30.002 : 30)
      },
    ]
  }

  private static let refusals: [SessionCase] = [
    .passes("3.2.2-5", "the server closes after 30 s") {
      $0.refuse(5)
      $0.wait(29.999)
      $0.close(.server)
    },
    .fails("3.2.2-5", "the server closes after more than 30 s") {
      $0.refuse(5)
      $0.wait(30)
      $0.close(.server)
    },
    .isOpen("3.2.2-5", "FIN after a minute, perhaps of long before", saying: "captured late") {
      $0.refuse(5)
      $0.wait(60)
      $0.close(.server, serverRest: 30.1)
    },
    .fails("3.2.2-5", "FIN after a minute, of half a minute before at most") {
      $0.refuse(5)
      $0.wait(60)
      $0.close(.server, serverRest: 29.9)
    },
    .isOpen("3.2.2-5", "the server sends something after 30 s", saying: "the capture ends") {
      $0.refuse(5)
      $0.wait(29.999)
      $0.publish(.server, "a")
      $0.endCapture()
    },
    .fails("3.2.2-5", "the server sends something after more than 30 s") {
      $0.refuse(5)
      $0.wait(30)
      $0.publish(.server, "a")
      $0.endCapture()
    },
    .passes("3.2.2-6", "code 5") {
      $0.refuse(5)
      $0.close(.server)
    },
    .fails("3.2.2-6", "code 6") {
      $0.refuse(6)
      $0.close(.server)
    },
  ]

  private static let departures: [SessionCase] = [
    .isOpen("3.14.4-1", "the server closes after 30 s", saying: "ended the connection first") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(29.999)
      $0.close(.server)
    },
    .isOpen("3.14.4-1", "the server closes after more than 30 s", saying: "a proxy may") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(30)
      $0.close(.server)
    },
    .passes("3.14.4-1", "the client closes after 30 s") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(29.999)
      $0.close(.client)
    },
    .isOpen("3.14.4-1", "the client closes after more than 30 s", saying: "more than 30 s") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.wait(30)
      $0.close(.client)
    },
    .isOpen("3.8.4-1", "DISCONNECT 30 s later", saying: "waited for the answer") {
      $0.start()
      $0.subscribe(1, "a")
      $0.wait(29.999)
      $0.client(.disconnect(.init()))
      $0.wait(1)
      $0.pong()
      $0.close(.client)
    },
    .fails("3.8.4-1", "DISCONNECT more than 30 s later") {
      $0.start()
      $0.subscribe(1, "a")
      $0.wait(30)
      $0.client(.disconnect(.init()))
      $0.wait(1)
      $0.pong()
      $0.close(.client)
    },
  ]

  /// A server has to be gone after one and a half times the Keep Alive, and 30 s are for the way.
  private static let enforcements: [SessionCase] = [
    .isIdle("3.1.2-24", "13.999 s at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(13.998)
      $0.close(.server)
    },
    .passes("3.1.2-24", "14 s at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(13.999)
      $0.close(.server)
    },
    .passes("3.1.2-24", "45 s at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(44.999)
      // Of a client that may be gone nothing is said.
      $0.close(.server, isAnswered: false)
    },
    .isOpen("3.1.2-24", "more than 45 s at Keep Alive 10", saying: "captured late") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.wait(45)
      $0.close(.server)
    },
    .fails("3.1.2-24", "an answer after more than 31.5 s at Keep Alive 1") {
      $0.start(keepAlive: 1)
      $0.ping()
      $0.pong()
      $0.wait(31.5)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .isIdle("3.1.2-24", "more than 45 s behind DISCONNECT at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.client(.disconnect(.init()))
      $0.wait(60)
      $0.close(.server)
    },
    .isIdle("3.1.2-24", "an answer more than 45 s behind DISCONNECT at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.client(.disconnect(.init()))
      $0.wait(60)
      $0.ping()
      $0.pong()
      $0.close(.server)
    },
    .isIdle("3.1.2-24", "an answer after 45 s at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
      $0.wait(44.998)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .fails("3.1.2-24", "an answer after more than 45 s at Keep Alive 10") {
      $0.start(keepAlive: 10)
      $0.ping()
      $0.pong()
      $0.wait(45)
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]

  private static let frameAnswers: [SessionCase] = [
    .isOpen("RFC6455-5.5.2-1", "the answerer goes on for 30 s", saying: "more than 30 s") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.wait(29.999)
      $0.text(.server)
      $0.close(.client)
    },
    .fails("RFC6455-5.5.2-1", "the answerer goes on for more than 30 s") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.wait(30)
      $0.text(.server)
      $0.close(.client)
    },
    .isIdle("RFC6455-5.5.2-1", "the answerer has sent a Close frame") {
      $0.upgrade()
      $0.closeFrame(.server)
      $0.frame(.client, .ping, [1])
      $0.wait(31)
      $0.frame(.server, .pong, [2])
      $0.closeFrame(.client)
      $0.close(.server)
    },
    .isOpen("RFC6455-5.5.1-4", "the answerer goes on for 30 s", saying: "more than 30 s") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.wait(29.999)
      $0.text(.server)
      $0.close(.client)
    },
    .fails("RFC6455-5.5.1-4", "the answerer goes on for more than 30 s") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.wait(30)
      $0.text(.server)
      $0.close(.client)
    },
    .passes("RFC6455-5.5.1-6", "the server closes after 30 s") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(29.999)
      $0.close(.server)
    },
    .fails("RFC6455-5.5.1-6", "the server closes after more than 30 s") {
      $0.upgrade()
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.wait(30)
      $0.close(.server)
    },
  ]
}

extension Script {
  /// A connection whose client is refused.
  fileprivate mutating func refuse(_ code: UInt8) {
    open()
    client(.connect(.init(clientID: "c")))
    server(.connack(.init(code: code)))
  }
}

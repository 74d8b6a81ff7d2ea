import RepriseCore
import Wire

// What a capture does not tell: the order of both directions, and what a cut packet answers.
extension SessionCase {
  static let doubts: [SessionCase] = orders311 + misplaced311 + cutAnswers

  private static let orders311: [SessionCase] = [
    .isOpen("3.12.4-1", "behind a PINGREQ the order is not known", saying: "what came first") {
      $0.start()
      $0.ping()
      $0.publish(.server, "a")
      $0.doubtOrder()
      $0.answerOthers()
    },
    .fails("3.12.4-1", "before a PINGREQ the order is not known") {
      $0.start()
      $0.publish(.server, "a")
      $0.doubtOrder()
      $0.ping()
      $0.answerOthers()
    },
    .isOpen("3.8.4-2", "an answer whose order is not known", saying: "what came first") {
      $0.start()
      $0.suback(10, 2)
      $0.doubtOrder()
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .fails("3.8.4-2", "an answer whose order is known") {
      $0.start()
      $0.suback(10, 2)
      $0.ping()
      $0.pong()
      $0.finish()
    },
  ]

  private static let misplaced311: [SessionCase] = [
    .isOpen(
      "2.3.1-4", "in front of a message whose order is not known stands what may answer it",
      saying: "what came first"
    ) {
      $0.start()
      $0.acknowledge(.client, .puback, 1)
      $0.publish(.server, "a", qos: 1, id: 1)
      $0.doubtOrder()
      $0.publish(.server, "b", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
    .fails("2.3.1-4", "the message behind one whose order is not known is not answered") {
      $0.start()
      $0.publish(.server, "a", qos: 1, id: 2)
      $0.doubtOrder()
      $0.publish(.server, "b", qos: 1, id: 1)
      $0.publish(.server, "c", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
  ]

  /// The capture has the first bytes of an answer, and not which request it answers.
  private static let cutAnswers: [SessionCase] = [
    .isOpen("3.3.4-1", "a PUBACK whose identifier is cut off", saying: "bytes of the server") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.server(hex: "40 02 00 01", missing: 1)
      $0.goOn()
      $0.finish()
    },
    .isOpen(
      "3.3.4-1", "both sides lack bytes, in which the message ends", saying: "bytes of the client"
    ) {
      $0.start()
      $0.gap(.client)
      $0.gap(.server)
      $0.server(hex: "32 09 00 01 61 00 01 2a 2a 2a 2a", missing: 3)
      $0.goOn()
      $0.ping()
      $0.pong()
      $0.wait(31)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .fails("3.3.4-1", "the message ends in bytes that are missing, and the client lacks none") {
      $0.start()
      $0.gap(.server)
      $0.server(hex: "32 09 00 01 61 00 01 2a 2a 2a 2a", missing: 3)
      $0.wait(31)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .fails("3.3.4-1", "a whole PUBACK of another message") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.server(hex: "40 02 00 02")
      $0.goOn()
      $0.finish()
    },
    .isOpen("3.3.4-1", "a PUBREC whose identifier is cut off", saying: "bytes of the server") {
      $0.start()
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.server(hex: "50 02 00 01", missing: 2)
      $0.goOn()
      $0.finish()
    },
    .passes("3.8.4-1", "the answer to one before took as long") {
      $0.start()
      $0.subscribe(1, "a")
      $0.subscribe(2, "b")
      $0.wait(40)
      $0.suback(1, 2)
      $0.finish()
    },
    .passes("3.8.4-1", "another took 4 s, and it 38") {
      $0.answerOne(after: 4, andPing: 33.99)
    },
    .fails("3.8.4-1", "another took 4 s, and it more than 38") {
      $0.answerOne(after: 4, andPing: 34.01)
    },
    .passes("4.5.0-2", "a client that is slow, and answers one after the other") {
      $0.start()
      $0.publish(.server, "a", qos: 1, id: 1)
      $0.publish(.server, "a", qos: 1, id: 2)
      $0.wait(40)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
    .passes("4.5.0-2", "a client that works for more than a second on each") {
      $0.work(seconds: 1)
    },
    .fails("4.5.0-2", "a client that takes a second at most for each") {
      $0.work(seconds: 0.999)
    },
    .isOpen("3.8.4-1", "a SUBACK whose identifier is cut off", saying: "bytes of the server") {
      $0.start()
      $0.subscribe(1, "a")
      $0.server(hex: "90 03 00 01 02", missing: 2)
      $0.goOn()
      $0.finish()
    },
    .passes("3.8.4-1", "a SUBACK whose codes are cut off") {
      $0.start()
      $0.subscribe(1, "a")
      $0.server(hex: "90 03 00 01 02", missing: 1)
      $0.goOn()
      $0.finish()
    },
    .isOpen("3.10.4-4", "an UNSUBSCRIBE whose identifier is cut off", saying: "of the client") {
      $0.start()
      $0.client(hex: "a2 05 00 05 00 01 61", missing: 4)
      $0.unsuback(5)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .isOpen("3.1.4-4", "a CONNACK whose code is cut off", saying: "bytes of the server") {
      $0.open()
      $0.client(.connect(.init(clientID: "c")))
      $0.server(hex: "20 02 00 00", missing: 1)
      $0.goOn()
      $0.finish()
    },
  ]
}

extension Script {
  /// Of two SUBSCRIBEs one is answered after some time, and a PINGREQ after more.
  fileprivate mutating func answerOne(after seconds: Double, andPing more: Double) {
    start()
    subscribe(1, "a")
    subscribe(2, "b")
    wait(seconds)
    suback(2, 2)
    wait(more)
    ping()
    pong()
    finish()
  }

  /// A client acknowledges a message a millisecond behind some time, and the next one not in a minute.
  fileprivate mutating func work(seconds: Double) {
    start()
    publish(.server, "a", qos: 1, id: 1)
    wait(seconds)
    acknowledge(.client, .puback, 1)
    publish(.server, "a", qos: 1, id: 2)
    wait(60)
    ping()
    pong()
    close(.server)
  }

  /// A minute in which the server answers all but PINGREQs.
  fileprivate mutating func answerOthers() {
    for id: UInt16 in 1...4 {
      wait(15)
      subscribe(id, "a")
      suback(id, 2)
    }
    finish()
  }
}

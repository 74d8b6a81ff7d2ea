import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Messages that a server need not have taken, or not yet, or may have given up.
  static let takenMessages: [SharedCase] = [
    SharedCase(
      "a message that is left out was not acknowledged", [.everySubscriberGetsIt: (0, 1, 1, [16])]
    ) { $0.leaveOut(isTaken: false) },
    SharedCase(
      "a message that is left out was acknowledged", failed: [.everySubscriberGetsIt],
      [.everySubscriberGetsIt: (1, 1, 0, [17])]
    ) { $0.leaveOut(isTaken: true) },
    SharedCase(
      "a message that is left out was not acknowledged, and its publisher is gone",
      [.everySubscriberGetsIt: (0, 1, 1, [13])]
    ) { $0.leaveOutBehind(isTaken: false) },
    SharedCase(
      "a message that is left out was acknowledged, and its publisher is gone",
      failed: [.everySubscriberGetsIt], [.everySubscriberGetsIt: (1, 1, 0, [21])]
    ) { $0.leaveOutBehind(isTaken: true) },
    SharedCase(
      "a message that is left out behind one that came late",
      [.everySubscriberGetsIt: (0, 1, 1, [14])]
    ) { $0.lag(by: 0.2) },
    SharedCase(
      "a message that is left out behind one that came soon", failed: [.everySubscriberGetsIt],
      [.everySubscriberGetsIt: (1, 1, 0, [19])]
    ) { $0.lag(by: 0.01) },
    SharedCase(
      "messages of QoS 2 come in the order in which they were released",
      failed: [.pubrelsInOrder], [.orderIsKept: (0, 0, 1, [21])]
    ) { $0.release([2, 1]) },
    SharedCase(
      "messages of QoS 2 come in another order than they were released", failed: [.orderIsKept],
      [.orderIsKept: (1, 0, 0, [21])]
    ) { $0.release([1, 2]) },
    SharedCase(
      "a message that was sent again comes again after a while", in: [.v3_1_1],
      [.repeatIsDeliveredOnce: (0, 1, 1, [18])]
    ) { $0.comeTwice(after: 11) },
    SharedCase(
      "a message that was sent again comes again at once", in: [.v3_1_1],
      failed: [.repeatIsDeliveredOnce],
      [.repeatIsDeliveredOnce: (1, 1, 0, [18])]
    ) { $0.comeTwice(after: 1) },
    SharedCase(
      "no PUBACK of a server that pauses, and may read nothing",
      [.publishIsAnswered: (0, 0, 1, [6])]
    ) { $0.block() },
    SharedCase(
      "no PUBACK of a server that answers what came behind it",
      failed: [.publishIsAnswered, .qos1IsAnswered], [.publishIsAnswered: (1, 0, 0, [10])]
    ) { $0.block { $0.answerPing() } },
  ]
}

extension Script {
  /// Of four messages the second one is left out.
  fileprivate mutating func leaveOut(isTaken: Bool) {
    meet()
    for id: UInt16 in 1...4 {
      wait(2)
      on(2) {
        $0.say(.client, "a", "\(id)", qos: 1, id: id)
        if id != 2 || isTaken { $0.acknowledge(.server, .puback, id) }
      }
      if id != 2 { get("\(id)", id) }
    }
    part()
  }

  /// Of three messages the second one is left out, and their publisher is gone when the third one comes.
  fileprivate mutating func leaveOutBehind(isTaken: Bool) {
    meet()
    publish(1)
    get("1", 1)
    wait(2)
    on(2) {
      $0.say(.client, "a", "2", qos: 1, id: 2)
      if isTaken { $0.acknowledge(.server, .puback, 2) }
    }
    for id: UInt16 in 3...4 { publish(id) }
    on(2) { $0.finish() }
    for id: UInt16 in 3...4 { get("\(id)", id) }
    answerPing()
    finish()
  }

  /// A message comes at QoS 1, and is acknowledged: two frames.
  private mutating func get(_ text: String, _ id: UInt16) {
    say(.server, "a", text, qos: 1, id: id)
    acknowledge(.client, .puback, id)
  }

  /// A message comes some time behind its publication, and of four others the second one is left out.
  fileprivate mutating func lag(by seconds: Double) {
    meet("#")
    publish(1)
    get("1", 1)
    wait(2)
    on(2) { $0.say(.client, "b", "0") }
    for id: UInt16 in 2...3 { publish(id) }
    wait(seconds)
    say(.server, "b", "0")
    get("3", 2)
    publish(4)
    get("4", 3)
    part()
  }

  private mutating func publish(_ id: UInt16) {
    on(2) {
      $0.say(.client, "a", "\(id)", qos: 1, id: id)
      $0.acknowledge(.server, .puback, id)
    }
  }

  /// Two messages of QoS 2 are released in some order, and come in the other order than they were published.
  fileprivate mutating func release(_ order: [UInt16]) {
    meet()
    on(2) {
      for id: UInt16 in 1...2 { $0.say(.client, "a", "\(id)", qos: 2, id: id) }
      for id: UInt16 in 1...2 { $0.acknowledge(.server, .pubrec, id) }
      for id in order {
        $0.acknowledge(.client, .pubrel, id)
        $0.acknowledge(.server, .pubcomp, id)
      }
    }
    for id: UInt16 in [2, 1] {
      say(.server, "a", "\(id)", qos: 2, id: id)
      complete(id)
    }
    part()
  }

  private mutating func complete(_ id: UInt16) {
    acknowledge(.client, .pubrec, id)
    acknowledge(.server, .pubrel, id)
    acknowledge(.client, .pubcomp, id)
  }

  /// A message of QoS 2 is sent again before it is answered, and comes twice.
  fileprivate mutating func comeTwice(after seconds: Double) {
    meet()
    on(2) {
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
    }
    say(.server, "a", "1", qos: 2, id: 1)
    complete(1)
    wait(seconds)
    say(.server, "a", "1", qos: 2, id: 2)
    complete(2)
    part()
  }

  /// A message of the client is not acknowledged, but the server sends something half a minute later.
  fileprivate mutating func block(then: (inout Script) -> Void = { _ in }) {
    join("c")
    ask(1, "b")
    say(.client, "a", "1", qos: 1, id: 1)
    wait(32)
    then(&self)
    say(.server, "b", "2")
    wait(3)
    close(.client)
  }
}

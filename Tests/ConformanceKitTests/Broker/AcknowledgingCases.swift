import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Acknowledgements by the identifiers that they repeat, and the codes of an UNSUBACK by their order.
  static let acknowledging: [SharedCase] = strayAnswers + strayReleases + unsubacks

  private static let strayAnswers: [SharedCase] = [
    SharedCase(
      "a PUBACK with the identifier of no message",
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 1, 0, [5])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.acknowledge(.server, .puback, 6)
      $0.acknowledge(.server, .puback, 5)
      $0.finish()
    },
    SharedCase(
      "PUBACKs of both sides with the same identifier of no message",
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (2, 3, 0, [10, 11])]
    ) {
      $0.join("c")
      $0.ask(1, "b")
      $0.acknowledgeOne(on: "b")
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.say(.server, "b", "1", qos: 1, id: 5)
      $0.acknowledge(.server, .puback, 6)
      $0.acknowledge(.client, .puback, 6)
      $0.acknowledge(.server, .puback, 5)
      $0.acknowledge(.client, .puback, 5)
      $0.part(alone: true)
    },
    SharedCase(
      "a PUBACK that comes twice", [.acknowledgementsKeepIdentifiers: (0, 2, 1, [6])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.acknowledge(.server, .puback, 5)
      $0.acknowledge(.server, .puback, 5)
      $0.say(.client, "a", "2", qos: 1, id: 6)
      $0.acknowledge(.server, .puback, 6)
      $0.finish()
    },
    SharedCase(
      "a message that comes again before it is acknowledged, behind a later one", in: [.v3_1_1],
      [.pubacksInOrder: (0, 1, 1, [10])]
    ) {
      $0.join("c")
      $0.ask(1, "a")
      for id in 1...2 as ClosedRange<UInt16> { $0.say(.server, "a", "\(id)", qos: 1, id: id) }
      $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
      $0.acknowledge(.client, .puback, 2)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
    SharedCase(
      "a PUBACK while no message is open",
      [.acknowledgementsKeepIdentifiers: (0, 1, 1, [6])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.acknowledge(.server, .puback, 5)
      $0.acknowledge(.server, .puback, 6)
      $0.finish()
    },
    SharedCase(
      "a PUBACK of no message while the answer to another one may be missing",
      [.acknowledgementsKeepIdentifiers: (0, 0, 1, [6])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.gap(.server)
      $0.acknowledge(.server, .puback, 6)
      $0.finish()
    },
    SharedCase(
      "a PUBACK that was captured before its message",
      [.acknowledgementsKeepIdentifiers: (0, 2, 1, [6])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.acknowledge(.server, .puback, 6)
      $0.say(.client, "a", "2", qos: 1, id: 6)
      $0.acknowledge(.server, .puback, 5)
      $0.acknowledge(.server, .puback, 6)
      $0.finish()
    },
    SharedCase(
      "a client's PUBACK with the identifier of no message",
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 2, 0, [9])]
    ) {
      $0.join("c")
      $0.ask(1, "a")
      $0.acknowledgeOne(on: "a")
      $0.say(.server, "a", "1", qos: 1, id: 3)
      $0.acknowledge(.client, .puback, 4)
      $0.acknowledge(.client, .puback, 3)
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a client's first PUBACK, with the identifier of no message",
      [.acknowledgementsKeepIdentifiers: (0, 1, 1, [7])]
    ) {
      $0.join("c")
      $0.ask(1, "a")
      $0.say(.server, "a", "1", qos: 1, id: 3)
      $0.acknowledge(.client, .puback, 4)
      $0.acknowledge(.client, .puback, 3)
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a client's PUBACK that was captured before the server's message",
      [.acknowledgementsKeepIdentifiers: (0, 3, 1, [10])]
    ) {
      $0.join("c")
      $0.ask(1, "a")
      $0.acknowledgeOne(on: "a")
      $0.say(.server, "a", "1", qos: 1, id: 3)
      $0.acknowledge(.client, .puback, 4)
      $0.say(.server, "a", "2", qos: 1, id: 4)
      $0.acknowledge(.client, .puback, 3)
      $0.acknowledge(.client, .puback, 4)
      $0.answerPing()
      $0.finish()
    },
    SharedCase(
      "a PUBACK in a session that goes on",
      [.acknowledgementsKeepIdentifiers: (0, 1, 1, [5])]
    ) {
      $0.join("c", cleanStart: false, isPresent: true)
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.acknowledge(.server, .puback, 6)
      $0.acknowledge(.server, .puback, 5)
      $0.finish()
    },
  ]

  private static let strayReleases: [SharedCase] = [
    SharedCase(
      "a server's PUBREL to a PUBREC of no message, while another one is open",
      [.acknowledgementsKeepIdentifiers: (0, 1, 2, [6, 8])]
    ) { $0.receiveNothing(released: 9) },
    SharedCase(
      "a server's PUBREL of another identifier than that of a PUBREC of no message",
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 1, 1, [8])]
    ) { $0.receiveNothing(released: 10) },
    // In 3.1.1 the clause does not speak of PUBCOMP.
    SharedCase(
      "a PUBREL of no message, and its PUBCOMP", in: [.v3_1_1],
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 2, 0, [6])]
    ) { $0.releaseAnother() },
    SharedCase(
      "a PUBREL of no message, and its PUBCOMP in 5.0", in: [.v5_0],
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 3, 1, [6])]
    ) { $0.releaseAnother() },
    SharedCase(
      "a PUBCOMP with the identifier of no message", in: [.v3_1_1],
      [.acknowledgementsKeepIdentifiers: (0, 2, 0, [])]
    ) { $0.completeAnother() },
    SharedCase(
      "a PUBCOMP of 5.0 with the identifier of no message", in: [.v5_0],
      failed: [.acknowledgementsKeepIdentifiers],
      [.acknowledgementsKeepIdentifiers: (1, 3, 0, [7])]
    ) { $0.completeAnother() },
    SharedCase(
      "a PUBREL of a client that may have kept its session",
      [.acknowledgementsKeepIdentifiers: (0, 1, 1, [5])]
    ) {
      $0.join("c", cleanStart: false)
      $0.say(.client, "a", "1", qos: 1, id: 5)
      $0.acknowledge(.client, .pubrel, 6)
      $0.acknowledge(.server, .puback, 5)
      $0.finish()
    },
  ]

  private static let unsubacks: [SharedCase] = [
    SharedCase(
      "codes of an UNSUBACK in the order of its filters", in: [.v5_0],
      [.unsubackKeepsOrder: (0, 1, 0, [])]
    ) { $0.leave(["a", "b", "c"], [0x00, 0x11, 0x00]) },
    SharedCase(
      "codes of an UNSUBACK in another order", in: [.v5_0], failed: [.unsubackKeepsOrder],
      [.unsubackKeepsOrder: (1, 0, 0, [9])]
    ) { $0.leave(["a", "b", "c"], [0x11, 0x00, 0x00]) },
    SharedCase(
      "codes of an UNSUBACK that fit in no order", in: [.v5_0],
      [.unsubackKeepsOrder: (0, 0, 1, [9])]
    ) { $0.leave(["a", "b", "c"], [0x11, 0x11, 0x00]) },
    SharedCase(
      "codes of an UNSUBACK that are all the same", in: [.v5_0],
      [.unsubackKeepsOrder: (0, 0, 1, [9])]
    ) { $0.leave(["a", "b", "c"], [0x00, 0x00, 0x00]) },
    SharedCase(
      "an UNSUBSCRIBE with a filter twice", in: [.v5_0], [.unsubackKeepsOrder: (0, 0, 1, [9])]
    ) { $0.leave(["a", "a", "b"], [0x11, 0x00, 0x00]) },
    SharedCase(
      "an UNSUBSCRIBE of a shared subscription", in: [.v5_0],
      [.unsubackKeepsOrder: (0, 0, 1, [9])]
    ) { $0.leave(["$share/g/a", "b"], [0x11, 0x00]) },
    SharedCase(
      "an UNSUBACK in a session that goes on", in: [.v5_0],
      [.unsubackKeepsOrder: (0, 0, 1, [9])]
    ) { $0.leave(["a", "b", "c"], [0x11, 0x00, 0x00], isResumed: true) },
    SharedCase(
      "an UNSUBACK for one filter", in: [.v5_0], [.unsubackKeepsOrder: (0, 0, 0, [])]
    ) { $0.leave(["b"], [0x11]) },
  ]
}

extension Script {
  /// The server sends a message, and the client acknowledges it: from there on it acknowledges none of a connection before.
  fileprivate mutating func acknowledgeOne(on topic: String) {
    say(.server, topic, "0", qos: 1, id: 9)
    acknowledge(.client, .puback, 9)
  }

  /// A client sends the PUBREC of no message in front of a message, and the server a PUBREL behind it.
  fileprivate mutating func receiveNothing(released id: UInt16) {
    join("c")
    ask(1, "a")
    acknowledge(.client, .pubrec, 9)
    say(.server, "a", "1", qos: 1, id: 3)
    acknowledge(.server, .pubrel, id)
    acknowledge(.client, .puback, 3)
    answerPing()
    finish()
  }

  /// A message of QoS 2 with a PUBREL of another identifier.
  fileprivate mutating func releaseAnother() {
    join("c")
    say(.client, "a", "1", qos: 2, id: 5)
    acknowledge(.server, .pubrec, 5)
    acknowledge(.client, .pubrel, 6)
    acknowledge(.server, .pubcomp, 6)
    acknowledge(.client, .pubrel, 5)
    acknowledge(.server, .pubcomp, 5)
    finish()
  }

  /// A message of QoS 2 with a PUBCOMP of another identifier.
  fileprivate mutating func completeAnother() {
    join("c")
    say(.client, "a", "1", qos: 2, id: 5)
    acknowledge(.server, .pubrec, 5)
    acknowledge(.client, .pubrel, 5)
    acknowledge(.server, .pubcomp, 6)
    acknowledge(.server, .pubcomp, 5)
    finish()
  }

  /// A client that is subscribed to a and c unsubscribes.
  fileprivate mutating func leave(
    _ filters: [String], _ codes: [UInt8], isResumed: Bool = false
  ) {
    join("c", cleanStart: !isResumed, isPresent: isResumed)
    ask(1, "a")
    ask(2, "c")
    client(.unsubscribe(packetID: 3, filters, []))
    server(.unsuback(packetID: 3, codes: codes, []))
    finish()
  }
}

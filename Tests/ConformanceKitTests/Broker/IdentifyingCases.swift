import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Identifiers in use, messages that are sent again on one connection, and the steps of a delivery.
  static let identifying: [SharedCase] =
    steps + [
      SharedCase(
        "an identifier that is free again",
        [
          .clientTakesFreeIdentifier: (0, 3, 0, []), .qos1TakesFreeIdentifier: (0, 2, 0, []),
          .qos2TakesFreeIdentifier: (0, 1, 0, []), .qos1BeginsWithoutDup: (0, 2, 0, []),
          .qos2BeginsWithoutDup: (0, 1, 0, []),
        ]
      ) {
        $0.join("c")
        for payload in ["1", "2"] {
          $0.say(.client, "a", payload, qos: 1, id: 1)
          $0.acknowledge(.server, .puback, 1)
        }
        $0.say(.client, "a", "3", qos: 2, id: 1)
        $0.complete(.client, 1)
        $0.finish()
      },
      SharedCase(
        "another message with the identifier of one that waits for PUBACK",
        failed: [
          .clientTakesFreeIdentifier, .clientRepeatsKeepIdentifier, .qos1TakesFreeIdentifier,
          .qos1StaysOpen,
        ],
        [
          .clientTakesFreeIdentifier: (1, 1, 0, [5]), .qos1TakesFreeIdentifier: (1, 1, 0, [5]),
          .qos1StaysOpen: (1, 0, 0, [5]),
        ]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 1, id: 7)
        $0.say(.client, "b", "1", qos: 1, id: 7)
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "another message of QoS 2 with the identifier of one that waits for PUBREC",
        failed: [
          .clientTakesFreeIdentifier, .clientRepeatsKeepIdentifier, .qos2TakesFreeIdentifier,
          .qos2StaysOpen,
        ],
        [.qos2TakesFreeIdentifier: (1, 1, 0, [5]), .qos2StaysOpen: (1, 0, 0, [5])]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 2, id: 7)
        $0.say(.client, "a", "2", qos: 2, id: 7)
        $0.complete(.client, 7)
        $0.finish()
      },
      SharedCase(
        "another message with the identifier of one that waits for PUBCOMP",
        failed: [
          .clientTakesFreeIdentifier, .clientRepeatsKeepIdentifier, .qos1TakesFreeIdentifier,
          .pubrelStaysOpen,
        ],
        [.pubrelStaysOpen: (1, 0, 0, [7])]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 2, id: 7)
        $0.acknowledge(.server, .pubrec, 7)
        $0.acknowledge(.client, .pubrel, 7)
        $0.say(.client, "a", "2", qos: 1, id: 7)
        $0.acknowledge(.server, .pubcomp, 7)
        $0.finish()
      },
      SharedCase(
        "a server's message with the identifier of another one",
        failed: [.serverTakesFreeIdentifier, .qos1TakesFreeIdentifier, .qos1StaysOpen],
        [
          .serverTakesFreeIdentifier: (1, 1, 0, [7]), .clientTakesFreeIdentifier: (0, 1, 0, []),
          .clientRepeatsKeepIdentifier: (0, 0, 0, []),
        ]
      ) {
        $0.join("c")
        $0.ask(1, "a")
        $0.say(.server, "a", "1", qos: 1, id: 7)
        $0.say(.server, "a", "2", qos: 1, id: 7)
        $0.acknowledge(.client, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "both ends use one identifier",
        [.serverTakesFreeIdentifier: (0, 1, 0, []), .clientTakesFreeIdentifier: (0, 2, 0, [])]
      ) {
        $0.join("c")
        $0.ask(1, "a")
        $0.say(.client, "b", "1", qos: 1, id: 7)
        $0.say(.server, "a", "2", qos: 1, id: 7)
        $0.acknowledge(.client, .puback, 7)
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "a SUBSCRIBE with the identifier of an open message", failed: [.clientTakesFreeIdentifier],
        [.clientTakesFreeIdentifier: (1, 1, 0, [5])]
      ) {
        $0.join("c")
        $0.say(.client, "b", "1", qos: 1, id: 7)
        $0.ask(7, "a")
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "a message with the identifier of an open SUBSCRIBE", failed: [.clientTakesFreeIdentifier],
        [.clientTakesFreeIdentifier: (1, 1, 0, [5])]
      ) {
        $0.join("c")
        $0.subscribe(7, "a")
        $0.say(.client, "b", "1", qos: 1, id: 7)
        $0.suback(7, 2)
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "a SUBSCRIBE with the identifier of an open UNSUBSCRIBE",
        failed: [.clientTakesFreeIdentifier],
        [
          .clientTakesFreeIdentifier: (1, 1, 0, [5]), .clientRepeatsKeepIdentifier: (0, 0, 0, []),
        ]
      ) {
        $0.join("c")
        $0.unsubscribe(7, "b")
        $0.subscribe(7, "a")
        $0.unsuback(7)
        $0.suback(7, 2)
        $0.finish()
      },
      SharedCase(
        "an UNSUBSCRIBE with the identifier of an open SUBSCRIBE",
        failed: [.clientTakesFreeIdentifier],
        [
          .clientTakesFreeIdentifier: (1, 1, 0, [5]), .clientRepeatsKeepIdentifier: (0, 0, 0, []),
        ]
      ) {
        $0.join("c")
        $0.subscribe(7, "a")
        $0.unsubscribe(7, "b")
        $0.suback(7, 2)
        $0.unsuback(7)
        $0.finish()
      },
      SharedCase(
        "an identifier whose acknowledgement may be lost",
        [
          .clientTakesFreeIdentifier: (0, 1, 1, [6]), .qos1TakesFreeIdentifier: (0, 1, 0, []),
        ]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 1, id: 7)
        $0.gap(.server)
        $0.say(.client, "b", "1", qos: 1, id: 7)
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "a message again without DUP", in: [.v3_1_1], failed: [.repeatsHaveDup],
        [.repeatsHaveDup: (1, 0, 0, [5]), .clientTakesFreeIdentifier: (0, 1, 0, [])]
      ) { $0.againWithoutDup() },
      SharedCase(
        "a message again without DUP in 5.0", in: [.v5_0],
        failed: [.repeatsHaveDup, .repeatsComeWithSession],
        [.repeatsHaveDup: (1, 0, 0, [5]), .clientTakesFreeIdentifier: (0, 1, 0, [])]
      ) { $0.againWithoutDup() },
      SharedCase(
        "a message again with DUP on one connection", in: [.v3_1_1],
        [.repeatsHaveDup: (0, 1, 0, []), .clientRepeatsKeepIdentifier: (0, 1, 0, [])]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 1, id: 7)
        $0.say(.client, "a", "1", qos: 1, id: 7, dup: true)
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "a message again with DUP on one connection of 5.0", in: [.v5_0],
        failed: [.repeatsComeWithSession],
        [.repeatsHaveDup: (0, 1, 0, []), .repeatsComeWithSession: (1, 0, 0, [5])]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 1, id: 7)
        $0.say(.client, "a", "1", qos: 1, id: 7, dup: true)
        $0.acknowledge(.server, .puback, 7)
        $0.finish()
      },
      SharedCase(
        "a message again behind its PUBREL", in: [.v3_1_1], failed: [.qos2TakesFreeIdentifier],
        [.qos2TakesFreeIdentifier: (1, 1, 0, [7])]
      ) { $0.againBehindPubrel() },
      SharedCase(
        "a message again behind its PUBREL in 5.0", in: [.v5_0],
        failed: [.nothingAgainBehindPubrel],
        [.nothingAgainBehindPubrel: (1, 0, 0, [7])]
      ) { $0.againBehindPubrel() },
      SharedCase(
        "a message again behind a PUBREC that may not have come", in: [.v3_1_1],
        [.repeatsHaveDup: (0, 1, 0, []), .qos2TakesFreeIdentifier: (0, 1, 0, [])]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 2, id: 7)
        $0.acknowledge(.server, .pubrec, 7)
        $0.say(.client, "a", "1", qos: 2, id: 7, dup: true)
        $0.acknowledge(.client, .pubrel, 7)
        $0.acknowledge(.server, .pubcomp, 7)
        $0.finish()
      },
      SharedCase(
        "a server's first message with DUP",
        failed: [.serverDupIsItsOwn, .qos1BeginsWithoutDup],
        [.serverDupIsItsOwn: (1, 1, 0, [6]), .qos1BeginsWithoutDup: (1, 1, 0, [6])]
      ) {
        $0.join("c")
        $0.ask(1, "a")
        $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
        $0.acknowledge(.client, .puback, 1)
        $0.say(.server, "a", "2", qos: 1, id: 2)
        $0.acknowledge(.client, .puback, 2)
        $0.finish()
      },
      SharedCase(
        "a server's first message with DUP in a session that it has called new",
        [.serverDupIsItsOwn: (0, 0, 1, [6]), .qos1BeginsWithoutDup: (0, 0, 1, [6])]
      ) {
        $0.join("c", cleanStart: false)
        $0.ask(1, "a")
        $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
        $0.acknowledge(.client, .puback, 1)
        $0.finish()
      },
      SharedCase(
        "a server's first message of QoS 2 with DUP",
        failed: [.serverDupIsItsOwn, .qos2BeginsWithoutDup],
        [.serverDupIsItsOwn: (1, 0, 0, [6]), .qos2BeginsWithoutDup: (1, 0, 0, [6])]
      ) {
        $0.join("c")
        $0.ask(1, "a")
        $0.say(.server, "a", "1", qos: 2, id: 1, dup: true)
        $0.complete(.server, 1)
        $0.finish()
      },
      SharedCase(
        "a server's message with DUP whose acknowledgement it may not have", in: [.v3_1_1],
        [.serverDupIsItsOwn: (0, 1, 1, [8])]
      ) {
        $0.join("c")
        $0.ask(1, "a")
        $0.say(.server, "a", "1", qos: 1, id: 1)
        $0.acknowledge(.client, .puback, 1)
        $0.say(.server, "a", "1", qos: 1, id: 1, dup: true)
        $0.acknowledge(.client, .puback, 1)
        $0.finish()
      },
      SharedCase(
        "a client's first message with DUP", [.qos1BeginsWithoutDup: (0, 0, 1, [4])]
      ) {
        $0.join("c")
        $0.say(.client, "a", "1", qos: 1, id: 1, dup: true)
        $0.acknowledge(.server, .puback, 1)
        $0.finish()
      },
    ]

  private static let steps: [SharedCase] = [
    SharedCase(
      "each step of a delivery",
      [
        .qos1IsAnswered: (0, 1, 0, []), .qos2IsReceived: (0, 1, 0, []),
        .pubrecIsReleased: (0, 1, 0, []), .pubrelIsCompleted: (0, 1, 0, []),
      ]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.say(.client, "a", "2", qos: 2, id: 2)
      $0.complete(.client, 2)
      $0.finish()
    },
    SharedCase(
      "PUBREC for QoS 1", failed: [.publishIsAnswered, .qos1IsAnswered],
      [.qos1IsAnswered: (1, 0, 0, [5])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.finish()
    },
    SharedCase(
      "PUBACK for QoS 2", failed: [.publishIsAnswered, .qos2IsReceived],
      [.qos2IsReceived: (1, 0, 0, [5])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    SharedCase(
      "a PUBREL that never comes", failed: [.pubrecIsReleased],
      [.pubrecIsReleased: (1, 0, 0, [14])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.goOn()
      $0.close(.client)
    },
    SharedCase(
      "a PUBCOMP that never comes", failed: [.pubrelIsCompleted],
      [.pubrelIsCompleted: (1, 0, 0, [15])]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.goOn()
      $0.close(.client)
    },
    SharedCase(
      "a PUBREL that may come in the next connection", [.pubrecIsReleased: (0, 0, 1, [5])]
    ) {
      $0.join("c", cleanStart: false)
      $0.say(.client, "a", "1", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.goOn()
      $0.close(.client)
    },
    SharedCase(
      "a SUBACK with a code that there is not", in: [.v5_0],
      failed: [.subackCodesAreDefined],
      others: ["MQTT-3.9.3-2"], [.subackCodesAreDefined: (1, 1, 0, [5])]
    ) {
      $0.join("c")
      $0.subscribe(1, "a")
      $0.suback(1, 3)
      $0.subscribe(2, "b")
      $0.suback(2, 0x80)
      $0.finish()
    },
  ]
}

extension Script {
  /// The rest of a message of QoS 2: three frames.
  mutating func complete(_ sender: Peer, _ id: UInt16) {
    acknowledge(sender.other, .pubrec, id)
    acknowledge(sender, .pubrel, id)
    acknowledge(sender.other, .pubcomp, id)
  }

  fileprivate mutating func againWithoutDup() {
    join("c")
    say(.client, "a", "1", qos: 1, id: 7)
    say(.client, "a", "1", qos: 1, id: 7)
    acknowledge(.server, .puback, 7)
    finish()
  }

  fileprivate mutating func againBehindPubrel() {
    join("c")
    say(.client, "a", "1", qos: 2, id: 7)
    acknowledge(.server, .pubrec, 7)
    acknowledge(.client, .pubrel, 7)
    say(.client, "a", "1", qos: 2, id: 7, dup: true)
    acknowledge(.server, .pubcomp, 7)
    finish()
  }
}

import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  /// Identifiers that come again behind a message which was sent again when it had been answered: whether it is open its
  /// sender need not know.
  static let answeredBefore: [SharedCase] = [
    SharedCase(
      "another message of QoS 1 under the identifier of one that was sent again behind its PUBACK",
      [
        .clientRepeatsKeepIdentifier: (0, 0, 1, [7]), .qos1StaysOpen: (0, 0, 1, [7]),
        .qos1TakesFreeIdentifier: (0, 2, 1, [7]),
      ]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.say(.client, "a", "1", qos: 1, id: 1, dup: true)
      $0.say(.client, "a", "2", qos: 1, id: 1)
      $0.finish()
    },
    SharedCase(
      "another message of QoS 1 under the identifier of one that was sent again behind bytes that are missing",
      [
        .clientRepeatsKeepIdentifier: (0, 0, 1, [7]), .qos1StaysOpen: (0, 0, 1, [7]),
        .qos1TakesFreeIdentifier: (0, 1, 1, [7]),
      ]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.gap(.server)
      $0.say(.client, "a", "1", qos: 1, id: 1, dup: true)
      $0.say(.client, "a", "2", qos: 1, id: 1)
      $0.finish()
    },
    SharedCase(
      "another message of QoS 1 under the identifier of one that was sent again, and nothing is missing",
      in: [.v3_1_1],
      failed: [.clientRepeatsKeepIdentifier, .qos1StaysOpen, .qos1TakesFreeIdentifier],
      others: ["MQTT-2.3.1-2"],
      [
        .clientRepeatsKeepIdentifier: (1, 1, 0, [6]), .qos1StaysOpen: (1, 0, 0, [6]),
        .qos1TakesFreeIdentifier: (1, 1, 0, [6]),
      ]
    ) {
      $0.join("c")
      $0.say(.client, "a", "1", qos: 1, id: 1)
      $0.say(.client, "a", "1", qos: 1, id: 1, dup: true)
      $0.say(.client, "a", "2", qos: 1, id: 1)
      $0.finish()
    },
    SharedCase(
      "another message of QoS 2 under the identifier of one that was sent again behind its PUBCOMP",
      [.clientRepeatsKeepIdentifier: (0, 0, 1, [9]), .qos2StaysOpen: (0, 0, 1, [9])]
    ) {
      $0.join("c")
      $0.exchange()
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
      $0.say(.client, "a", "2", qos: 2, id: 1)
      $0.finish()
    },
    SharedCase(
      "another message of QoS 2 under the identifier of a PUBREL that was sent again behind its PUBCOMP",
      in: [.v5_0], [.pubrelStaysOpen: (0, 0, 1, [11])]
    ) {
      $0.join("c")
      $0.exchange()
      $0.say(.client, "a", "1", qos: 2, id: 1, dup: true)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.say(.client, "a", "2", qos: 2, id: 1)
      $0.finish()
    },
  ]
}

extension Script {
  /// A message of QoS 2 from its PUBLISH to its PUBCOMP: four frames.
  fileprivate mutating func exchange() {
    say(.client, "a", "1", qos: 2, id: 1)
    acknowledge(.server, .pubrec, 1)
    acknowledge(.client, .pubrel, 1)
    acknowledge(.server, .pubcomp, 1)
  }
}

import RepriseCore
import Wire

extension SessionCase {
  /// Section 4.6.
  static let orders: [SessionCase] = pubacks + pubrecs + pubrels

  private static let pubacks: [SessionCase] = [
    .fails("4.6.0-2", "PUBACK 2 before 1", saying: "out of order") {
      $0.start()
      $0.receive(1, qos: 1)
      $0.receive(2, qos: 1)
      $0.acknowledge(.client, .puback, 2)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
    .passes("4.6.0-2", "in order, with identifiers used again") {
      $0.start()
      for _ in 0..<3 {
        $0.receive(2, qos: 1)
        $0.receive(1, qos: 1)
        $0.acknowledge(.client, .puback, 2)
        $0.acknowledge(.client, .puback, 1)
      }
      $0.finish()
    },
    .isIdle("4.6.0-2", "one at a time") {
      $0.start()
      for id: UInt16 in 1...3 {
        $0.receive(id, qos: 1)
        $0.acknowledge(.client, .puback, id)
      }
      $0.finish()
    },
    .passes("4.6.0-2", "a repeated message comes late") {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.republish(.server, "a", qos: 1, id: 1)
      $0.receive(2, qos: 1)
      $0.acknowledge(.client, .puback, 2)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
    .isIdle("4.6.0-2", "a gap between the acknowledgements") {
      $0.start()
      $0.receive(1, qos: 1)
      $0.receive(2, qos: 1)
      $0.gap(.client)
      $0.acknowledge(.client, .puback, 2)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
  ]

  private static let pubrecs: [SessionCase] = [
    .fails("4.6.0-3", "PUBREC 2 before 1") {
      $0.start()
      $0.receive(1, qos: 2)
      $0.receive(2, qos: 2)
      $0.acknowledge(.client, .pubrec, 2)
      $0.acknowledge(.client, .pubrec, 1)
      $0.finish()
    },
    .passes("4.6.0-3", "in order, between messages of QoS 1") {
      $0.start()
      $0.receive(1, qos: 2)
      $0.receive(3, qos: 1)
      $0.receive(2, qos: 2)
      $0.acknowledge(.client, .puback, 3)
      $0.acknowledge(.client, .pubrec, 1)
      $0.acknowledge(.client, .pubrec, 2)
      $0.finish()
    },
  ]

  private static let pubrels: [SessionCase] = [
    .fails("4.6.0-4", "PUBREL 2 before 1") {
      $0.start()
      $0.sendTwo()
      $0.acknowledge(.client, .pubrel, 2)
      $0.acknowledge(.client, .pubrel, 1)
      $0.finish()
    },
    .passes("4.6.0-4", "in order") {
      $0.start()
      $0.sendTwo()
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.client, .pubrel, 2)
      $0.acknowledge(.server, .pubcomp, 1)
      $0.acknowledge(.server, .pubcomp, 2)
      $0.finish()
    },
    .passes("4.6.0-4", "the order of PUBREC counts, not of PUBLISH") {
      $0.start()
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.publish(.client, "a", qos: 2, id: 2)
      $0.acknowledge(.server, .pubrec, 2)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 2)
      $0.acknowledge(.client, .pubrel, 1)
      $0.finish()
    },
  ]
}

extension Script {
  fileprivate mutating func sendTwo() {
    publish(.client, "a", qos: 2, id: 1)
    publish(.client, "a", qos: 2, id: 2)
    acknowledge(.server, .pubrec, 1)
    acknowledge(.server, .pubrec, 2)
  }
}

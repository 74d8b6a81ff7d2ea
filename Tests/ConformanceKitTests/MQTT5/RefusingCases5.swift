import RepriseCore
import Wire

extension Case5 {
  /// Messages that were acknowledged with an error and come again (section 4.4), and an acknowledgement of which nobody
  /// knows the message.
  static let refusing: [Case5] = [
    Case5(
      about: "a refused message that its sender sends again, having had the PUBACK",
      ["MQTT-4.4.0-2": (1, 0, 0, [8])]
    ) {
      $0.refuse(qos: 1)
      $0.showConnack()
      $0.repeatRefused(qos: 1)
      $0.finish()
    },
    Case5(
      about: "a refused message of QoS 2 that its sender sends again, having had the PUBREC",
      ["MQTT-4.4.0-2": (1, 0, 0, [8])]
    ) {
      $0.refuse(qos: 2)
      $0.showConnack()
      $0.repeatRefused(qos: 2)
      $0.finish()
    },
    Case5(
      about: "a refused message that crosses its PUBACK", ["MQTT-4.4.0-2": (0, 0, 1, [6])]
    ) {
      $0.refuse(qos: 1)
      $0.repeatRefused(qos: 1)
      $0.finish()
    },
    Case5(
      about: "what was sent before the PUBACK shows nothing of it",
      ["MQTT-4.4.0-2": (0, 0, 1, [8])]
    ) {
      $0.agree()
      $0.publish(.server, "shown", qos: 1, id: 900)
      $0.publish(.client, "a", [], qos: 1, id: 5)
      $0.server(.acknowledgement(.puback, packetID: 5, .init(0x97)))
      $0.acknowledge(.client, .puback, 900)
      $0.repeatRefused(qos: 1)
      $0.finish()
    },
    Case5(
      about: "another message of the same content", ["MQTT-4.4.0-2": (0, 1, 0, [])]
    ) {
      $0.refuse(qos: 1)
      $0.showConnack()
      $0.publish(.client, "a", [], qos: 1, id: 5)
      $0.server(.acknowledgement(.puback, packetID: 5, .init()))
      $0.finish()
    },
    Case5(
      about: "another message with DUP", ["MQTT-4.4.0-2": (0, 0, 1, [8])]
    ) {
      $0.refuse(qos: 1)
      $0.showConnack()
      $0.repeatRefused(qos: 1, topic: "b")
      $0.finish()
    },
    Case5(
      about: "a refused message that is not sent again", ["MQTT-4.4.0-2": (0, 1, 0, [])]
    ) {
      $0.refuse(qos: 1)
      $0.showConnack()
      $0.finish()
    },
    Case5(
      about: "a message that was accepted, and is sent again", ["MQTT-4.4.0-2": (0, 0, 0, [])]
    ) {
      $0.refuse(qos: 1, 0x10)
      $0.showConnack()
      $0.repeatRefused(qos: 1)
      $0.finish()
    },
    Case5(
      about: "a PUBACK that may be of a message whose identifier can't be read",
      ["MQTT-2.2.1-5": (0, 1, 1, [6])]
    ) {
      $0.agree()
      $0.publish(.client, "a", [], qos: 1, id: 5)
      $0.client(hex: "36 07 0001 61 0006 00 31")
      $0.acknowledge(.server, .puback, 6)
      $0.acknowledge(.server, .puback, 5)
      $0.finish()
    },
    Case5(
      about: "a server that sends a refused message again, having had the PUBACK",
      ["MQTT-4.4.0-2": (1, 0, 0, [8])]
    ) {
      $0.agree()
      $0.publish(.server, "a", [], qos: 1, id: 5)
      $0.client(.acknowledgement(.puback, packetID: 5, .init(0x97)))
      $0.answerPing()
      $0.server(.publish(.init(topic: "a", payload: [1], qos: 1, packetID: 5)), dup: true)
      $0.finish()
    },
  ]
}

extension Script {
  /// A client's message 5 that the server refuses: frames 1 to 5.
  fileprivate mutating func refuse(qos: UInt8, _ code: UInt8 = 0x97) {
    agree()
    publish(.client, "a", [], qos: qos, id: 5)
    server(.acknowledgement(qos == 1 ? .puback : .pubrec, packetID: 5, .init(code)))
  }

  fileprivate mutating func repeatRefused(qos: UInt8, topic: String = "a") {
    client(.publish(.init(topic: topic, payload: [1], qos: qos, packetID: 5)), dup: true)
  }
}

import ConformanceKit
import RepriseCore
import Wire

extension SessionCase {
  /// MQTT over WebSocket: section 6 of MQTT 3.1.1.
  static let carriers: [SessionCase] = textFrames + unaligned + offers + ends

  private static let ends: [SessionCase] = [
    .passes("3.14.4-1", "the client sends a Close frame, and the server ends the connection") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .disconnect(.init()))
      $0.closeFrame(.client)
      $0.closeFrame(.server)
      $0.close(.server)
    },
    .isOpen("3.14.4-1", "the server sends a Close frame at 40 s", saying: "a proxy may") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .disconnect(.init()))
      $0.wait(40)
      $0.closeFrame(.server)
      $0.closeFrame(.client)
      $0.close(.server)
    },
    .isOpen(
      "3.14.4-1", "the server sends a Close frame first",
      saying: "the server ended the connection first"
    ) {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .disconnect(.init()))
      $0.closeFrame(.server)
      $0.closeFrame(.client)
      $0.close(.server)
    },
  ]

  private static let textFrames: [SessionCase] = [
    .fails("6.0.0-1", "CONNECT in text", saying: "a TEXT frame on a connection of MQTT") {
      $0.upgrade(subprotocol: "mqtt")
      $0.carry(.client, .connect(.init(clientID: "c")), opcode: .text)
      $0.close(.server)
    },
    .fails("6.0.0-1", "the server accepts CONNECT in text", saying: "goes on after the bad CONNECT")
    {
      $0.upgrade(subprotocol: "mqtt")
      $0.carry(.client, .connect(.init(clientID: "c")), opcode: .text)
      $0.carry(.server, .connack(.init()))
      $0.close(.server)
    },
    .fails("6.0.0-1", "text later", saying: "the server sent a TEXT frame") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.text(.server)
      $0.close(.client)
    },
    .passes("6.0.0-1", "fragments of binary messages") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.frame(.client, .binary, [0xC0], isFinal: false)
      $0.frame(.client, .continuation, [0])
      $0.unpack(.client, [0xC0, 0])
      $0.carry(.server, .pingresp)
      $0.finishCarrying()
    },
    .isIdle("6.0.0-1", "no WebSocket") { $0.start() },
  ]

  private static let unaligned: [SessionCase] = [
    .fails("6.0.0-2", "a PINGREQ in two frames is ignored", saying: "does not fill its WebSocket") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .pingreq, cuts: [1])
      for id: UInt16 in 1...4 {
        $0.wait(15)
        $0.carry(.client, .subscribe(packetID: id, [.init("a", options: 0)], []))
        $0.carry(.server, .suback(packetID: id, codes: [0], []))
      }
      $0.finishCarrying()
    },
    .fails("6.0.0-2", "a PUBREC in two frames is ignored", saying: "does not fill its WebSocket") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.server, .publish(.init(topic: "a", payload: [1], qos: 2, packetID: 1)))
      $0.carry(.client, .acknowledgement(.pubrec, packetID: 1, .init()), cuts: [1])
      for id: UInt16 in 1...4 {
        $0.wait(15)
        $0.carry(.client, .subscribe(packetID: id, [.init("a", options: 0)], []))
        $0.carry(.server, .suback(packetID: id, codes: [0], []))
      }
      $0.finishCarrying()
    },
    .passes("6.0.0-2", "two packets in a frame") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .subscribe(packetID: 1, [.init("a", options: 0)], []), .pingreq)
      $0.carry(.server, .suback(packetID: 1, codes: [0], []), .pingresp)
      $0.finishCarrying()
    },
    .passes("6.0.0-2", "CONNECT in many frames") {
      $0.upgrade(subprotocol: "mqtt")
      $0.carry(.client, .connect(.init(clientID: "c")), cuts: [1, 2, 9])
      $0.carry(.server, .connack(.init()))
      $0.finishCarrying()
    },
    .isIdle("6.0.0-2", "a bad PINGREQ in two frames is ignored") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.frame(.client, .binary, [0xC1], isFinal: false)
      $0.frame(.client, .continuation, [0])
      $0.unpack(.client, [0xC1, 0])
      for id: UInt16 in 1...4 {
        $0.wait(15)
        $0.carry(.client, .subscribe(packetID: id, [.init("a", options: 0)], []))
        $0.carry(.server, .suback(packetID: id, codes: [0], []))
      }
      $0.finishCarrying()
    },
    .isIdle("6.0.0-2", "a packet a frame") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .pingreq)
      $0.carry(.server, .pingresp)
      $0.finishCarrying()
    },
    .isOpen("6.0.0-2", "the server closes", saying: "closed instead of an answer") {
      $0.upgrade(subprotocol: "mqtt")
      $0.carry(.client, .connect(.init(clientID: "c")), cuts: [1])
      $0.close(.server)
    },
    .isOpen("6.0.0-2", "a gap of the server", saying: "bytes of the server") {
      $0.upgrade(subprotocol: "mqtt")
      $0.carry(.client, .connect(.init(clientID: "c")), cuts: [1])
      $0.gap(.server)
      $0.close(.server)
    },
  ]

  private static let offers: [SessionCase] = [
    .fails("6.0.0-3", "no subprotocol", saying: "does not offer mqtt") {
      $0.upgrade()
      $0.startCarrying()
      $0.finishCarrying()
    },
    .fails("6.0.0-3", "that of MQTT 3.1") {
      $0.upgrade(subprotocol: "mqttv3.1")
      $0.startCarrying()
      $0.finishCarrying()
    },
    .passes("6.0.0-3", "mqtt among others") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "mqttv3.1, mqtt") }
      $0.answer { $0.add("Sec-WebSocket-Protocol", "mqtt") }
      $0.startCarrying()
      $0.finishCarrying()
    },
    .isOpen("6.0.0-3", "no handshake in the capture", saying: "the opening handshake") {
      $0.joinWebSocket()
      $0.startCarrying()
      $0.endCapture()
    },
    .fails("6.0.0-4", "no subprotocol", saying: "does not name mqtt") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "mqtt") }
      $0.answer()
      $0.startCarrying()
      $0.finishCarrying()
    },
    .fails("6.0.0-4", "another subprotocol that was offered", saying: "does not name mqtt") {
      $0.upgrade(subprotocol: "mqttv3.1")
      $0.startCarrying()
      $0.finishCarrying()
    },
    .isOpen("6.0.0-4", "no subprotocol where mqtt is not offered", saying: "the other side") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "mqttv3.1") }
      $0.answer()
      $0.startCarrying()
      $0.finishCarrying()
    },
    .passes("6.0.0-4", "mqtt") {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.finishCarrying()
    },
    .isOpen("6.0.0-4", "no answer in the capture", saying: "the answer to the opening handshake") {
      $0.ask { $0.add("Sec-WebSocket-Protocol", "mqtt") }
      $0.startCarrying()
      $0.endCapture()
    },
  ]
}

extension WholeCase {
  /// MQTT over WebSocket whose server ends the connection 40 s behind the client's DISCONNECT.
  static let carriedEnds: [WholeCase] = [
    left("the client has sent a Close frame", failed: []) {
      $0.closeFrame(.client)
    },
    left("both have sent Close frames", failed: ["RFC6455-5.5.1-6"]) {
      $0.closeFrame(.client)
      $0.closeFrame(.server)
    },
  ]

  private static func left(
    _ name: String, failed: [String], _ frames: @escaping @Sendable (inout Script) -> Void
  ) -> WholeCase {
    WholeCase(
      "DISCONNECT, and 40 s later the server's end: \(name)", failed: failed,
      ["MQTT-3.14.4-1": (0, 1, 0, [])]
    ) {
      $0.upgrade(subprotocol: "mqtt")
      $0.startCarrying()
      $0.carry(.client, .disconnect(.init()))
      frames(&$0)
      $0.wait(40)
      $0.close(.server)
    }
  }
}

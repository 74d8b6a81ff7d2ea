import RepriseCore
import Wire

extension SessionCase {
  /// Sessions next to a violation, and violations next to what is allowed.
  static let nearMisses: [SessionCase] =
    shortKeepAlives + nearAnswers + nearOrders + nearFrames

  /// Timers and the way of a packet have at least a second, be the Keep Alive ever so short.
  private static let shortKeepAlives: [SessionCase] = [
    .passes("3.1.2-23", "1.4 s at Keep Alive 1") {
      $0.start(keepAlive: 1)
      $0.ping()
      $0.wait(1.4)
      $0.finish()
    },
    .isOpen("3.1.2-23", "1.9 s at Keep Alive 1", saying: "which a distant capture may explain") {
      $0.start(keepAlive: 1)
      $0.ping()
      $0.wait(1.9)
      $0.finish()
    },
    .fails("3.1.2-23", "2.1 s at Keep Alive 1") {
      $0.start(keepAlive: 1)
      $0.fallSilent(2.1, times: 2)
      $0.wait(2.1)
      $0.finish()
    },
    .passes("3.1.2-23", "109 s at Keep Alive 100") {
      $0.start(keepAlive: 100)
      $0.ping()
      $0.wait(109)
      $0.finish()
    },
    .isOpen("3.1.2-23", "149 s at Keep Alive 100", saying: "which a distant capture may explain") {
      $0.start(keepAlive: 100)
      $0.ping()
      $0.wait(149)
      $0.finish()
    },
    .fails("3.1.2-23", "151 s at Keep Alive 100") {
      $0.start(keepAlive: 100)
      $0.fallSilent(151, times: 2)
      $0.wait(151)
      $0.finish()
    },
  ]

  private static let nearAnswers: [SessionCase] = [
    .isIdle("3.10.4-6", "one filter, and a second UNSUBACK") {
      $0.start()
      $0.unsubscribe(2, "a")
      $0.unsuback(2)
      $0.unsuback(2)
      $0.finish()
    },
    .fails("3.8.4-5", "two codes for one filter", saying: "does not answer each filter") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2, 2)
      $0.finish()
    },
    .isOpen("3.3.4-1", "another QoS of the server, resumed", saying: "the session began before") {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.finish()
    },
    .isOpen("3.3.4-1", "another QoS for identifier 0", saying: "has faults of its own") {
      $0.start()
      $0.publish(.client, "a", qos: 2, id: 0)
      $0.acknowledge(.server, .puback, 0)
      $0.finish()
    },
    .fails("3.3.4-1", "another QoS for identifier 1", saying: "the answer of another QoS") {
      $0.start()
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    .isOpen("3.3.4-1", "another QoS of the server, a gap before", saying: "bytes of the server") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.gap(.server)
      $0.acknowledge(.server, .pubrec, 1)
      $0.finish()
    },
    .isOpen("3.8.4-1", "a SUBSCRIBE with flags is ignored", saying: "faults of its own") {
      $0.start()
      $0.client(hex: "80 06 0001 0001 61 00")
      $0.goOn()
      $0.finish()
    },
    .isOpen("3.10.4-4", "an UNSUBSCRIBE with flags is ignored", saying: "faults of its own") {
      $0.start()
      $0.client(hex: "A0 05 0001 0001 61")
      $0.goOn()
      $0.finish()
    },
    .passes("3.3.2-3", "an earlier SUBSCRIBE of the same filter is refused late") {
      $0.start()
      $0.subscribe(1, "a")
      $0.subscribe(2, "a")
      $0.suback(1, 0x80)
      $0.publish(.server, "a")
      $0.suback(2, 2)
      $0.publish(.server, "a")
      $0.finish()
    },
    .passes("3.3.2-3", "a filter that was granted is refused once more") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.subscribe(2, "a")
      $0.suback(2, 0x80)
      $0.publish(.server, "a")
      $0.finish()
    },
    .fails("3.8.3-4", "behind a packet that asks for no close", saying: "goes on after") {
      $0.start()
      $0.publish(.client, "a/#")
      $0.client(hex: "82 06 0001 0001 61 04")
      $0.suback(1, 0)
      $0.finish()
    },
    .fails("3.14.4-2", "DISCONNECT twice", saying: "sent DISCONNECT after its DISCONNECT") {
      $0.start()
      $0.client(.disconnect(.init()))
      $0.client(.disconnect(.init()))
      $0.close(.client)
    },
  ]

  private static let nearOrders: [SessionCase] = [
    .passes("4.6.0-2", "a repeated message sets no order") {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.receive(1, qos: 1)
      $0.republish(.server, "a", qos: 1, id: 2)
      $0.acknowledge(.client, .puback, 2)
      $0.acknowledge(.client, .puback, 1)
      $0.finish()
    },
    .passes("4.6.0-3", "a repeated message sets no order") {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.receive(1, qos: 2)
      $0.republish(.server, "a", qos: 2, id: 2)
      $0.acknowledge(.client, .pubrec, 2)
      $0.acknowledge(.client, .pubrec, 1)
      $0.finish()
    },
  ]

  private static let nearFrames: [SessionCase] = [
    .fails("RFC6455-5.1-1", "a Ping without a mask") {
      $0.upgrade()
      $0.wireBytes(.client, [0x89, 0])
    },
    .fails("RFC6455-5.1-1", "a Close frame without a mask") {
      $0.upgrade()
      $0.wireBytes(.client, [0x88, 0])
    },
    .fails("RFC6455-5.1-3", "a Pong with a mask") {
      $0.upgrade()
      $0.wireBytes(.server, [0x8A, 0x80, 1, 2, 3, 4])
    },
    .passes("RFC6455-5.5.2-1", "one answer to two Pings that are alike") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .passes("RFC6455-5.5.2-1", "an answer to each of two Pings that are alike") {
      $0.upgrade()
      $0.frame(.client, .ping, [1])
      $0.frame(.client, .ping, [1])
      $0.frame(.server, .pong, [1])
      $0.frame(.server, .pong, [1])
      $0.talkOn()
      $0.finishWebSocket()
    },
    .fails("RFC6455-5.3-2", "the key of four frames before") {
      $0.upgrade()
      for key: UInt32 in [11, 12, 13, 14, 11] { $0.frame(.client, .text, [0x61], key: key) }
    },
    .passes("RFC6455-5.3-2", "the key of five frames before") {
      $0.upgrade()
      for key: UInt32 in [11, 12, 13, 14, 15, 11] { $0.frame(.client, .text, [0x61], key: key) }
    },
  ]
}

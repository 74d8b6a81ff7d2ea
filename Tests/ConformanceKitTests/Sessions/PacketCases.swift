import RepriseCore
import Wire

extension SessionCase {
  /// Section 1.5.3 and the fields that are strings.
  static let strings: [SessionCase] = [
    .fails("1.5.3-1", "topic C3 28", saying: "the client sent a bad PUBLISH") {
      $0.start()
      $0.client(hex: "30 05 0002 C328 01")
      $0.close(.server)
    },
    .passes("1.5.3-1", "text of many scripts") {
      $0.start()
      $0.publish(.client, "größe/温度/🌡")
      $0.finish()
    },
    .isOpen("1.5.3-1", "only half of a PUBLISH", saying: "bytes of the packet are missing") {
      $0.open()
      $0.client(hex: "30 05 0002 6162 01", missing: 2)
      $0.endCapture()
    },
    .isOpen("1.5.3-1", "version inferred", saying: "only inferred") {
      $0.wire = .mqttInferred(.v3_1_1)
      $0.open(isFromStart: false)
      $0.client(hex: "30 05 0002 C328 01")
      $0.publish(.client, "a")
      $0.endCapture()
    },
    .fails("1.5.3-2", "topic with U+0000") {
      $0.start()
      $0.client(hex: "30 05 0003 610062")
      $0.close(.server)
    },
    .passes("1.5.3-2", "plain topic") {
      $0.start()
      $0.publish(.client, "a/b")
      $0.finish()
    },
    .fails("3.8.3-1", "filter FF") {
      $0.start()
      $0.client(hex: "82 06 0001 0001 FF 00")
      $0.close(.server)
    },
    .passes("3.8.3-1", "filter ä/#") {
      $0.start()
      $0.subscribe(1, "ä/#")
      $0.suback(1, 2)
      $0.finish()
    },
    .fails("3.10.3-1", "filter FF") {
      $0.start()
      $0.client(hex: "A2 05 0001 0001 FF")
      $0.close(.server)
    },
    .fails("3.10.3-1", "filter runs past the end") {
      $0.start()
      $0.client(hex: "A2 05 0001 0003 61")
      $0.close(.server)
    },
    .passes("3.10.3-1", "two filters") {
      $0.start()
      $0.unsubscribe(1, "a", "ä")
      $0.unsuback(1)
      $0.finish()
    },
  ]

  /// Fixed headers and flags.
  static let headers: [SessionCase] = [
    .fails("2.2.2-1", "PINGREQ C1", saying: "the client sent a bad PINGREQ") {
      $0.start()
      $0.client(hex: "C1 00")
      $0.close(.server)
    },
    .passes("2.2.2-1", "every packet as it should be") {
      $0.start()
      $0.ping()
      $0.pong()
      $0.finish()
    },
    .fails("3.3.1-2", "DUP at QoS 0", saying: "the server sent") {
      $0.start()
      $0.server(hex: "38 04 0001 61 01")
      $0.finish()
    },
    .passes("3.3.1-2", "QoS 0 without DUP") {
      $0.start()
      $0.publish(.client, "a")
      $0.finish()
    },
    .isIdle("3.3.1-2", "DUP at QoS 1 is another matter") {
      $0.start()
      $0.republish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    .fails("4.3.1-1", "DUP at QoS 0") {
      $0.start()
      $0.client(hex: "38 04 0001 61 01")
      $0.finish()
    },
    .passes("4.3.1-1", "QoS 0 without DUP") {
      $0.start()
      $0.publish(.client, "a")
      $0.finish()
    },
    .fails("3.3.1-4", "QoS 3") {
      $0.start()
      $0.client(hex: "36 06 0001 61 0001 01")
      $0.close(.server)
    },
    .passes("3.3.1-4", "QoS 2") {
      $0.start()
      $0.publish(.client, "a", qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.finish()
    },
    .fails("3.6.1-1", "PUBREL 60") {
      $0.start()
      $0.client(hex: "60 02 0001")
      $0.close(.server)
    },
    .passes("3.6.1-1", "PUBREL 62") {
      $0.start()
      $0.client(hex: "62 02 0001")
      $0.finish()
    },
    .fails("3.8.1-1", "SUBSCRIBE 80") {
      $0.start()
      $0.client(hex: "80 06 0001 0001 61 00")
      $0.close(.server)
    },
    .passes("3.8.1-1", "SUBSCRIBE 82") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 2)
      $0.finish()
    },
    .fails("3.10.1-1", "UNSUBSCRIBE A0") {
      $0.start()
      $0.client(hex: "A0 05 0001 0001 61")
      $0.close(.server)
    },
    .passes("3.10.1-1", "UNSUBSCRIBE A2") {
      $0.start()
      $0.unsubscribe(1, "a")
      $0.unsuback(1)
      $0.finish()
    },
  ]

  /// Identifiers and lists.
  static let identifiers: [SessionCase] = [
    .fails("2.3.1-1", "SUBSCRIBE 0") {
      $0.start()
      $0.client(hex: "82 06 0000 0001 61 00")
      $0.close(.server)
    },
    .fails("2.3.1-1", "PUBLISH 0 at QoS 1", saying: "the server sent a bad PUBLISH") {
      $0.start()
      $0.server(hex: "32 06 0001 61 0000 01")
      $0.finish()
    },
    .passes("2.3.1-1", "PUBLISH 1 at QoS 1") {
      $0.start()
      $0.publish(.client, "a", qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    .isIdle("2.3.1-1", "PUBLISH at QoS 0") {
      $0.start()
      $0.publish(.client, "a")
      $0.finish()
    },
    .fails("3.8.3-3", "SUBSCRIBE without filters") {
      $0.start()
      $0.client(hex: "82 02 0001")
      $0.close(.server)
    },
    .fails("3.8.3-3", "SUBSCRIBE with a filter without QoS") {
      $0.start()
      $0.client(hex: "82 05 0001 0001 61")
      $0.close(.server)
    },
    .passes("3.8.3-3", "a whole filter before one that is cut") {
      $0.start()
      $0.client(hex: "82 09 0001 0001 61 00 0001 62")
      $0.close(.server)
    },
    .fails("3.9.3-2", "code 0x03", saying: "the server sent a bad SUBACK") {
      $0.start()
      $0.subscribe(1, "a")
      $0.suback(1, 3)
      $0.finish()
    },
    .passes("3.9.3-2", "codes 0x00 and 0x80") {
      $0.start()
      $0.subscribe(1, "a", "b")
      $0.suback(1, 0, 0x80)
      $0.finish()
    },
    .fails("3.10.3-2", "UNSUBSCRIBE without filters") {
      $0.start()
      $0.client(hex: "A2 02 0001")
      $0.close(.server)
    },
    .passes("3.10.3-2", "UNSUBSCRIBE with one filter") {
      $0.start()
      $0.unsubscribe(1, "a")
      $0.unsuback(1)
      $0.finish()
    },
  ]

  /// Topic names and filters.
  static let topics: [SessionCase] = [
    .fails("3.3.2-1", "topic longer than the packet") {
      $0.start()
      $0.client(hex: "30 03 0005 61")
      $0.close(.server)
    },
    .passes("3.3.2-1", "a topic") {
      $0.start()
      $0.publish(.client, "a")
      $0.finish()
    },
    .passes("3.3.2-1", "payload cut by the snaplen") {
      $0.start()
      $0.client(hex: "30 06 0001 61 010203", missing: 2)
      $0.finish()
    },
    .fails("3.3.2-2", "topic a/#") {
      $0.start()
      $0.publish(.client, "a/#")
      $0.close(.server)
    },
    .passes("3.3.2-2", "topic a/b") {
      $0.start()
      $0.publish(.client, "a/b")
      $0.finish()
    },
    .fails("4.7.1-1", "will topic gone/+") {
      $0.open()
      $0.client(.connect(.init(clientID: "c", will: .init(topic: "gone/+", payload: []))))
      $0.close(.server)
    },
    .passes("4.7.1-1", "will topic gone") {
      $0.open()
      $0.client(.connect(.init(clientID: "c", will: .init(topic: "gone", payload: []))))
      $0.server(.connack(.init()))
      $0.finish()
    },
    .fails("4.7.1-2", "filter a#") {
      $0.start()
      $0.subscribe(1, "a#")
      $0.close(.server)
    },
    .fails("4.7.1-2", "unsubscribed filter #/a") {
      $0.start()
      $0.unsubscribe(1, "#/a")
      $0.close(.server)
    },
    .passes("4.7.1-2", "filters # and a/#") {
      $0.start()
      $0.subscribe(1, "#", "a/#")
      $0.suback(1, 2, 2)
      $0.finish()
    },
    .fails("4.7.1-3", "filter a+/b") {
      $0.start()
      $0.subscribe(1, "a+/b")
      $0.close(.server)
    },
    .passes("4.7.1-3", "filters + and +/a/+") {
      $0.start()
      $0.subscribe(1, "+", "+/a/+")
      $0.suback(1, 2, 2)
      $0.finish()
    },
    .fails("4.7.3-1", "empty topic") {
      $0.start()
      $0.publish(.client, "")
      $0.close(.server)
    },
    .fails("4.7.3-1", "empty filter") {
      $0.start()
      $0.subscribe(1, "")
      $0.close(.server)
    },
    .passes("4.7.3-1", "topic /") {
      $0.start()
      $0.publish(.client, "/")
      $0.finish()
    },
    .fails("4.7.3-2", "filter with U+0000") {
      $0.start()
      $0.subscribe(1, "a\0")
      $0.close(.server)
    },
    .passes("4.7.3-2", "plain topic") {
      $0.start()
      $0.publish(.client, "a")
      $0.finish()
    },
  ]
}

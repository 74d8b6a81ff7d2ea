import RepriseCore
import Wire

extension Case5 {
  /// What single packets hold, what must come of bad ones, and the answers that are due: sections 1.5 to 4.13.
  static let packets = contents + provocations

  private static let mqtt = "0004 4D515454"

  private static let provocations: [Case5] = [
    Case5(
      about: "an answer without codes to an UNSUBSCRIBE without filters",
      ["MQTT-3.11.3-2": (0, 0, 1, [5])]
    ) {
      $0.agree()
      $0.client(hex: "A2 03 0002 00")
      $0.server(hex: "B0 03 0002 00")
      $0.finish()
    },
    Case5(
      "an UNSUBACK with a code for each filter", ["MQTT-3.11.3-2": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.unsubscribe(1, "a", "b", "c")
      $0.server(.unsuback(packetID: 1, codes: [0x11, 0x11, 0x11], []))
      $0.finish()
    },
    Case5(
      "an UNSUBACK with a code too few, and one with a code too many",
      failed: ["MQTT-3.11.3-2"], ["MQTT-3.11.3-2": (2, 2, 0, [5, 7])]
    ) {
      $0.agree()
      $0.unsubscribe(1, "a", "b", "c")
      $0.server(.unsuback(packetID: 1, codes: [0x11], []))
      $0.unsubscribe(2, "a", "b")
      $0.server(.unsuback(packetID: 2, codes: [0x11, 0x11, 0x11], []))
      $0.finish()
    },
    Case5(
      "an UNSUBACK that may be without its Property Length", ["MQTT-3.11.3-2": (0, 1, 1, [5])]
    ) {
      $0.agree()
      $0.unsubscribe(1, "a", "b")
      $0.server(hex: "B0 04 0001 00 00")
      $0.finish()
    },
    Case5(
      "an UNSUBACK that may answer another UNSUBSCRIBE of its identifier",
      failed: ["MQTT-2.2.1-3"], ["MQTT-3.11.3-2": (0, 1, 1, [6])]
    ) {
      $0.agree()
      $0.unsubscribe(1, "a", "b")
      $0.unsubscribe(1, "a", "b", "c")
      $0.server(.unsuback(packetID: 1, codes: [0x11, 0x11], []))
      $0.finish()
    },
    Case5(
      about: "an answer without codes to an UNSUBSCRIBE with a filter",
      ["MQTT-3.11.3-2": (1, 0, 0, [5])]
    ) {
      $0.agree()
      $0.client(hex: "A2 06 0002 00 0001 61")
      $0.server(hex: "B0 03 0002 00")
      $0.finish()
    },
    Case5(
      "a second CONNECT that the server takes",
      failed: ["MQTT-3.1.0-2", "MQTT-4.13.1-1"],
      ["MQTT-3.1.0-2": (1, 0, 0, [6]), "MQTT-4.13.1-1": (1, 0, 0, [6])]
    ) {
      $0.agree()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0)))
      $0.wait(1)
      $0.ping()
      $0.pong()
      $0.finish()
    },
    Case5(
      "a second CONNECT that ends it",
      ["MQTT-3.1.0-2": (0, 1, 0, []), "MQTT-4.13.1-1": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0)))
      $0.server(.disconnect(.init(0x82)))
      $0.close(.server)
    },
    Case5(
      "a server that stays behind its refusal of the version",
      failed: ["MQTT-3.1.2-2", "MQTT-3.1.4-2", "MQTT-3.2.2-7", "MQTT-4.13.2-1"],
      ["MQTT-3.1.2-2": (1, 0, 0, [4]), "MQTT-3.1.3-8": (0, 0, 0, [])]
    ) {
      $0.agree(code: 0x84)
      $0.wait(31)
      $0.close(.client)
    },
    Case5(
      "a server that ends a refused connection, and answers nothing",
      [
        "MQTT-3.1.2-2": (0, 1, 0, []), "MQTT-3.1.4-6": (0, 1, 0, []),
        "MQTT-4.13.2-1": (0, 1, 0, []),
      ]
    ) {
      $0.open()
      $0.client(.connect(.init(clientID: "c", keepAlive: 0)))
      $0.ping()
      $0.server(.connack(.init(code: 0x84)))
      $0.close(.server)
    },
    Case5(
      "a reserved connect flag that the server takes",
      failed: ["MQTT-3.1.2-3", "U5-3.1.2.3-1", "MQTT-3.1.4-1", "MQTT-4.13.1-1"],
      ["MQTT-3.1.2-3": (1, 0, 0, [3]), "MQTT-3.1.4-1": (1, 0, 0, [3])]
    ) {
      $0.open()
      $0.client(hex: "10 0E \(mqtt) 05 03 0000 00 0001 63")
      $0.server(.connack(.init()))
      $0.finish()
    },
    Case5(
      "a malformed CONNECT that the server refuses", failed: ["U5-3.1.2.3-1"],
      ["MQTT-3.1.2-3": (0, 1, 0, []), "MQTT-3.1.4-1": (0, 1, 0, [])]
    ) {
      $0.open()
      $0.client(hex: "10 0E \(mqtt) 05 03 0000 00 0001 63")
      $0.server(.connack(.init(code: 0x81)))
      $0.close(.server)
    },
    Case5(
      "a DISCONNECT with flags, of a client that the server goes on serving",
      failed: ["MQTT-2.1.3-1", "MQTT-3.14.1-1", "MQTT-3.14.4-1", "MQTT-4.13.1-1"],
      ["MQTT-3.14.1-1": (1, 0, 0, [6])]
    ) {
      $0.agree()
      $0.client(hex: "E1 00")
      $0.wait(1)
      $0.ping()
      $0.pong()
      $0.close(.server)
    },
    Case5(
      "a DISCONNECT of a server with flags, at which the client leaves",
      failed: ["MQTT-2.1.3-1"], ["MQTT-3.14.1-1": (0, 1, 0, []), "MQTT-4.13.1-1": (0, 0, 0, [])]
    ) {
      $0.agree()
      $0.server(hex: "E1 00")
      $0.close(.client)
    },
    Case5("another server to go to, told once", ["U5-3.14.2.2.5-1": (0, 1, 0, [])]) {
      $0.agree()
      $0.server(.disconnect(.init(0x9C, properties: [.text(.serverReference, "b")])))
      $0.close(.server)
    },
  ]

  private static let contents: [Case5] = [
    Case5(
      "a Content Type, and behind it what can't be read", failed: ["U5-2.2.2.2-2"],
      ["U5-3.3.2.3.9-1": (0, 0, 1, [4]), "U5-2.2.2.2-2": (1, 2, 0, [4])]
    ) {
      $0.agree()
      $0.client(hex: "30 0B 0001 61 06 03 0001 63 04 00 01")
      $0.close(.server)
    },
    Case5(
      "U+0000 in a Content Type, which is no topic", failed: ["MQTT-1.5.4-2"],
      ["MQTT-1.5.4-2": (1, 2, 0, [4]), "MQTT-4.7.3-2": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.client(hex: "30 09 0001 61 04 03 0001 00 01")
      $0.close(.server)
    },
    Case5(
      "identifier 0 of a client's message", failed: ["MQTT-2.2.1-3"],
      ["MQTT-2.2.1-3": (1, 1, 0, [4]), "MQTT-2.2.1-4": (0, 0, 0, [])]
    ) {
      $0.agree()
      $0.client(hex: "32 07 0001 61 0000 00 01")
      $0.close(.server)
    },
    Case5(
      "identifier 0 of a server's message", failed: ["MQTT-2.2.1-4"],
      ["MQTT-2.2.1-3": (0, 0, 0, []), "MQTT-2.2.1-4": (1, 1, 0, [4])]
    ) {
      $0.agree()
      $0.server(hex: "32 07 0001 61 0000 00 01")
      $0.close(.client)
    },
    Case5(
      "two Payload Format Indicators of a message", failed: ["U5-3.3.2.3.2-1"],
      ["U5-3.3.2.3.2-1": (1, 0, 0, [4])]
    ) {
      $0.agree()
      $0.client(hex: "30 09 0001 61 04 0100 0100 61")
      $0.close(.server)
    },
    Case5(
      "two Payload Format Indicators of a will", failed: ["U5-3.1.3.2.3-1"],
      ["U5-3.1.3.2.3-1": (1, 0, 0, [2])]
    ) {
      let indicator = MQTTProperty.number(.payloadFormatIndicator, 0)
      $0.agree(
        will: .init(topic: "w", payload: [0x61], properties: [indicator, indicator]), code: 0x81)
      $0.close(.server)
    },
    Case5(
      "Authentication Data twice", failed: ["U5-3.1.2.11.10-1"],
      ["U5-3.1.2.11.10-1": (1, 0, 0, [2])]
    ) {
      let data = MQTTProperty(.authenticationData, .binary([1]))
      $0.agree([plain, data, data], code: 0x81)
      $0.close(.server)
    },
    Case5(
      "a will with a property that there is not", failed: ["U5-2.2.2.2-2"],
      [
        "U5-2.2.2.2-1": (0, 1, 1, [2]), "U5-2.2.2.2-2": (1, 1, 0, [2]),
        "MQTT-4.7.3-1": (0, 0, 1, [2]),
      ]
    ) {
      $0.open()
      $0.client(hex: "10 17 \(mqtt) 05 06 0000 00 0001 63 02 04 00 0001 77 0001 61")
      $0.server(.connack(.init(code: 0x81)))
      $0.close(.server)
    },
    Case5(
      about: "a CONNECT with two fields too many",
      ["MQTT-3.1.2-16": (1, 0, 0, [2]), "MQTT-3.1.2-18": (1, 0, 0, [2])]
    ) {
      $0.open()
      $0.client(hex: "10 14 \(mqtt) 05 02 0000 00 0001 63 0001 61 0001 62")
      $0.close(.server)
    },
    Case5(
      about: "a CONNECT with two fields too many, an empty one and a long one, or those of a will",
      ["MQTT-3.1.2-16": (0, 0, 1, [2]), "MQTT-3.1.2-18": (0, 0, 1, [2])]
    ) {
      $0.open()
      let rest = String(repeating: "61", count: 351)
      $0.client(hex: "10 F302 \(mqtt) 05 02 0000 00 0001 63 0000 01 61 015F \(rest)")
      $0.close(.server)
    },
    Case5(
      "a CONNECT with a will that may lack both its Property Lengths",
      ["MQTT-3.1.3-3": (0, 0, 1, [2]), "MQTT-3.1.2-9": (0, 0, 1, [2])]
    ) {
      $0.open()
      $0.client(hex: "10 13 \(mqtt) 05 06 003C 0001 63 0001 77 0001 61")
      $0.close(.server)
    },
    Case5(
      "a Remaining Length, a property and an identifier of too many bytes",
      failed: ["MQTT-1.5.5-1"], ["MQTT-1.5.5-1": (4, 4, 0, [4, 5, 6, 7])]
    ) {
      $0.agree()
      $0.client(hex: "C0 80 00")
      $0.client(hex: "30 06 0001 61 80 00 01")
      $0.server(hex: "30 07 0001 61 03 0B 81 00")
      $0.client(hex: "30 0B 0001 61 07 89 00 0003 010203")
      $0.server(.pingresp)
      $0.finish()
    },
    Case5(
      "a property that there is not, and one that is cut", failed: ["U5-2.2.2.2-2"],
      ["U5-2.2.2.2-2": (2, 4, 0, [4, 5]), "MQTT-1.5.4-1": (0, 4, 2, [4, 5])]
    ) {
      $0.agree()
      $0.client(hex: "30 06 0001 61 02 04 01")
      $0.client(hex: "30 06 0001 61 02 08 00")
      $0.publish(.client, "a", [])
      $0.finish()
    },
    Case5(
      "Authentication Data without a method", failed: ["U5-3.1.2.11.10-1"],
      ["U5-3.1.2.11.10-1": (1, 0, 0, [2])]
    ) {
      $0.agree([MQTTProperty(.authenticationData, .binary([1]))], code: 0x80)
      $0.close(.server)
    },
    Case5(
      "Authentication Data with a method", ["U5-3.1.2.11.10-1": (0, 1, 0, [])]
    ) {
      $0.agree([plain, MQTTProperty(.authenticationData, .binary([1]))], [plain])
      $0.finish()
    },
    Case5(
      "a payload that is called UTF-8 and is none", failed: ["U5-3.3.2.3.2-1"],
      ["U5-3.3.2.3.2-1": (1, 2, 0, [4])]
    ) {
      $0.agree()
      $0.publish(.client, "a", [.number(.payloadFormatIndicator, 1)], payload: [0x61, 0xFF])
      $0.publish(.client, "a", [.number(.payloadFormatIndicator, 1)], payload: [0x61, 0])
      $0.publish(.client, "a", [.number(.payloadFormatIndicator, 0)], payload: [0xFF])
      // A server forwards what it was given.
      $0.publish(.server, "a", [.number(.payloadFormatIndicator, 1)], payload: [0xFE])
      $0.finish()
    },
    Case5(
      "a will that is called UTF-8 and is none", failed: ["U5-3.1.3.2.3-1"],
      ["U5-3.1.3.2.3-1": (1, 0, 0, [2])]
    ) {
      $0.agree(
        will: .init(
          topic: "w", payload: [0xFF], properties: [.number(.payloadFormatIndicator, 1)]))
      $0.finish()
    },
    Case5("a will that is UTF-8", ["U5-3.1.3.2.3-1": (0, 1, 0, [])]) {
      $0.agree(
        will: .init(
          topic: "w", payload: [0x61], properties: [.number(.payloadFormatIndicator, 1)]))
      $0.finish()
    },
    Case5("a will that is called bytes", ["U5-3.1.3.2.3-1": (0, 1, 0, [])]) {
      $0.agree(
        will: .init(
          topic: "w", payload: [0xFF], properties: [.number(.payloadFormatIndicator, 0)]))
      $0.finish()
    },
    Case5(
      about: "a will that is called UTF-8 and is cut", ["U5-3.1.3.2.3-1": (0, 0, 1, [2])]
    ) {
      $0.open()
      $0.client(hex: "10 17 \(mqtt) 05 06 0000 00 0001 63 02 01 01 0001 77 0005 61")
      $0.close(.server)
    },
    Case5(
      "an alias that may stand behind what can't be read", failed: ["U5-2.2.2.2-2"],
      ["U5-3.3.2.1-1": (0, 0, 1, [4]), "MQTT-4.7.3-1": (0, 0, 1, [4])]
    ) {
      $0.agree()
      $0.client(hex: "30 08 0000 05 04 00 23 0001")
      $0.close(.server)
    },
    Case5(
      "a CONNECT that may lack its Property Length",
      ["MQTT-3.1.3-3": (0, 0, 1, [2]), "MQTT-2.2.2-1": (0, 0, 1, [2])]
    ) {
      $0.open()
      $0.client(hex: "10 0F 0004 4D515454 05 02 003C 0003 61 62 63")
      $0.close(.server)
    },
    Case5(
      "a SUBSCRIBE that may lack its Property Length",
      ["MQTT-3.8.3-2": (0, 0, 1, [4]), "MQTT-4.7.1-1": (0, 0, 1, [4])]
    ) {
      $0.agree()
      $0.client(hex: "82 06 0001 0001 61 00")
      $0.close(.server)
    },
    Case5(
      about: "a SUBSCRIBE with an empty filter, which is none without its Property Length either",
      ["MQTT-3.8.3-2": (1, 0, 0, [4]), "MQTT-4.7.1-1": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.client(hex: "82 09 0001 0001 61 00 0000 00")
      $0.close(.server)
    },
    Case5(
      "an UNSUBSCRIBE that may lack its Property Length, with U+0000 in what may be no text",
      ["MQTT-1.5.4-2": (0, 2, 1, [4]), "MQTT-1.5.7-1": (0, 0, 0, [])]
    ) {
      $0.agree()
      let rest = String(repeating: "61", count: 249)
      $0.client(hex: "A2 84 02 0001 0100 00 05 61 62 00 63 64 \(rest)")
      $0.close(.server)
    },
    Case5(
      "no UTF-8 in a Content Type and U+0000 in a Response Topic, beside User Properties that are text",
      failed: ["MQTT-1.5.4-1", "MQTT-1.5.4-2", "MQTT-3.3.2-19", "MQTT-4.7.3-2"],
      ["MQTT-1.5.7-1": (0, 2, 0, []), "MQTT-3.3.2-19": (1, 0, 0, [4])]
    ) {
      $0.agree()
      $0.client(hex: "30 10 0001 61 0B 26 0001 6E 0001 76 03 0001 FF 31")
      $0.client(hex: "30 10 0001 61 0B 26 0001 6E 0001 76 08 0001 00 31")
      $0.close(.server)
    },
    Case5(
      "no UTF-8 in User Properties, beside filters and a topic that are",
      failed: ["MQTT-1.5.4-1", "MQTT-1.5.7-1"],
      [
        "MQTT-1.5.4-1": (3, 2, 0, [4, 5, 6]), "MQTT-1.5.7-1": (3, 0, 0, [4, 5, 6]),
        "MQTT-3.8.3-1": (0, 1, 0, []), "MQTT-3.10.3-1": (0, 1, 0, []),
        "MQTT-3.3.2-1": (0, 1, 0, []),
      ]
    ) {
      $0.agree()
      $0.client(hex: "82 0E 0001 07 26 0001 FF 0001 76 0001 61 00")
      $0.client(hex: "A2 0D 0002 07 26 0001 FF 0001 76 0001 61")
      $0.client(hex: "30 0C 0001 61 07 26 0001 FF 0001 76 61")
      $0.close(.server)
    },
    Case5(
      "every code of a SUBACK, and two too few", failed: ["MQTT-3.8.4-5", "MQTT-3.8.4-6"],
      ["MQTT-3.8.4-6": (1, 1, 1, [7]), "MQTT-3.9.3-2": (0, 3, 0, [])]
    ) {
      $0.agree()
      $0.subscribe(1, "a", "b", "c")
      $0.suback(1, 0x87, 2, 0x9E)
      $0.subscribe(2, "a", "b", "c")
      $0.suback(2, 1)
      // The byte in front may as well be a code, and the Property Length be missing.
      $0.subscribe(3, "a", "b")
      $0.suback(3, 1)
      $0.finish()
    },
    Case5(
      "a session that goes on: an answer may come later",
      ["MQTT-3.3.4-1": (0, 0, 1, [4])]
    ) {
      $0.agree([.number(.sessionExpiryInterval, 60)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.goOn()
      $0.finish()
    },
    Case5(
      "a session that ends: none came", failed: ["MQTT-3.3.4-1", "MQTT-4.3.2-4"],
      ["MQTT-3.3.4-1": (1, 0, 0, [14])]
    ) {
      $0.agree([.number(.sessionExpiryInterval, 60)], [.number(.sessionExpiryInterval, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.goOn()
      $0.finish()
    },
    Case5("a DISCONNECT that keeps the session", ["MQTT-3.3.4-1": (0, 0, 1, [4])]) {
      $0.agree([.number(.sessionExpiryInterval, 60)], [.number(.sessionExpiryInterval, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.goOn()
      $0.client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 9)])))
      $0.close(.client)
    },
    Case5(
      "a message that PUBREC refuses needs no more",
      ["MQTT-3.3.4-1": (0, 1, 0, []), "MQTT-4.5.0-2": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.publish(.server, "a", [], qos: 2, id: 1)
      $0.client(.acknowledgement(.pubrec, packetID: 1, .init(0x97)))
      $0.goOn()
      $0.finish()
    },
    Case5(
      "QoS 3 in SUBSCRIBE, of which a server need not take note", failed: ["U5-3.8.3.1-1"],
      [
        "U5-3.8.3.1-1": (1, 0, 0, [4]), "MQTT-3.8.3-5": (0, 0, 0, []),
        "MQTT-4.13.1-1": (0, 0, 1, [4]),
      ]
    ) {
      $0.agree()
      $0.client(hex: "82 07 0001 00 0001 61 03")
      $0.suback(1, 0x80)
      $0.finish()
    },
    Case5(
      "reserved bits in SUBSCRIBE, of which it must",
      failed: ["MQTT-3.8.3-5", "U5-3.8.3.1-3", "MQTT-4.13.1-1"],
      ["MQTT-3.8.3-5": (1, 0, 0, [5]), "MQTT-4.13.1-1": (1, 0, 0, [5])]
    ) {
      $0.agree()
      $0.client(hex: "82 07 0001 00 0001 61 40")
      $0.suback(1, 0)
      $0.finish()
    },
  ]
}

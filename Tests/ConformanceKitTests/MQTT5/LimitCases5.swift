import RepriseCore
import Wire

extension Case5 {
  /// What an end accepts: sections 3.1.2.11, 3.2.2.3, 3.3.4 and 4.9.
  static let limits = sizes + fitting + aliases + abilities + quotas + reasons

  private static let sizes: [Case5] = [
    Case5(
      about: "a CONNACK that its Reason String makes too large",
      ["MQTT-3.2.2-19": (1, 0, 0, [3]), "MQTT-3.2.2-20": (0, 0, 0, [])]
    ) {
      $0.agree([.number(.maximumPacketSize, 30)], [reason])
      $0.finish()
    },
    Case5(
      about: "a CONNACK that its User Properties make too large",
      ["MQTT-3.2.2-19": (0, 0, 0, []), "MQTT-3.2.2-20": (1, 0, 0, [3])]
    ) {
      $0.agree([.number(.maximumPacketSize, 30)], [user])
      $0.finish()
    },
    Case5(
      about: "a CONNACK whose properties fit",
      ["MQTT-3.2.2-19": (0, 1, 0, []), "MQTT-3.2.2-20": (0, 1, 0, [])]
    ) {
      $0.agree([.number(.maximumPacketSize, 200)], [reason, user])
      $0.finish()
    },
    Case5(
      "a SUBACK with a reason that is too large, and one whose codes were not captured",
      failed: ["U5-2.2.2.2-2", "MQTT-3.1.2-24"],
      [
        "MQTT-3.9.2-1": (0, 0, 2, [5, 7]), "MQTT-3.1.2-24": (2, 1, 0, [5, 7]),
        "MQTT-3.9.2-2": (0, 0, 0, []),
      ]
    ) {
      $0.agree([.number(.maximumPacketSize, 10)])
      $0.subscribe(1, "a")
      $0.server(hex: "90 0A 0001 06 1F 0001 72 04 00 00")
      $0.subscribe(2, "a")
      $0.server(hex: "90 0A 0002 06 1F 0003 727272 00", missing: 1)
      $0.close(.client)
    },
    Case5(
      "a PUBACK of a client that may not know the limit yet",
      ["MQTT-3.4.2-2": (0, 0, 1, [5]), "MQTT-3.2.2-15": (0, 0, 1, [5])]
    ) {
      $0.agree([], [.number(.maximumPacketSize, 40)])
      $0.publish(.server, "a", qos: 1, id: 9)
      $0.client(.acknowledgement(.puback, packetID: 9, .init(0, properties: [reason])))
      $0.close(.client)
    },
    Case5(
      "a server's PUBLISH of 11 bytes to a client that takes 10",
      failed: ["MQTT-3.1.2-24", "MQTT-3.1.2-25"],
      ["MQTT-3.1.2-24": (1, 2, 0, [5]), "MQTT-3.2.2-15": (0, 0, 0, [])]
    ) {
      $0.agree([.number(.maximumPacketSize, 10)])
      $0.publish(.server, "a", [], payload: [1, 2, 3, 4])
      $0.publish(.server, "a", [], payload: [1, 2, 3, 4, 5])
      $0.finish()
    },
    Case5(
      "a client's PUBLISH of 11 bytes to a server that takes 10", failed: ["MQTT-3.2.2-15"],
      ["MQTT-3.2.2-15": (1, 3, 0, [7]), "MQTT-3.1.2-24": (0, 0, 0, [])]
    ) {
      $0.agree([], [.number(.maximumPacketSize, 10)])
      $0.showConnack()
      $0.publish(.client, "a", [], payload: [1, 2, 3, 4])
      $0.publish(.client, "a", [], payload: [1, 2, 3, 4, 5])
      $0.finish()
    },
    Case5(
      "a client's large PUBLISH that may be older than the CONNACK",
      ["MQTT-3.2.2-15": (0, 1, 1, [4])]
    ) {
      $0.agree([], [.number(.maximumPacketSize, 10)])
      $0.publish(.client, "a", [], payload: [1, 2, 3, 4, 5])
      $0.finish()
    },
    Case5(
      "a client's large PUBLISH half a minute behind the CONNACK", failed: ["MQTT-3.2.2-15"],
      ["MQTT-3.2.2-15": (1, 2, 0, [5])]
    ) {
      $0.agree([], [.number(.maximumPacketSize, 10)])
      $0.wait(31)
      $0.publish(.client, "a", [])
      $0.publish(.client, "a", [], payload: [1, 2, 3, 4, 5])
      $0.finish()
    },
    Case5(
      "two sizes that a client takes", failed: ["U5-3.1.2.11.4-1"],
      ["MQTT-3.1.2-24": (0, 0, 2, [3, 4]), "U5-3.1.2.11.4-1": (1, 0, 0, [2])]
    ) {
      $0.open()
      $0.client(
        .connect(
          .init(
            clientID: "c", keepAlive: 0,
            properties: [.number(.maximumPacketSize, 10), .number(.maximumPacketSize, 20)])))
      $0.server(.connack(.init(code: 0x82)))
      $0.publish(.server, "a", [])
      $0.close(.server)
    },
  ]

  /// A packet of a type in which a property makes it too large, and the clauses on Reason String and User Property.
  private struct Fit: Sendable {
    let sender: Peer
    let reason: String
    let users: String
    let content: @Sendable ([MQTTProperty]) -> MQTTPacket.Content
  }

  private static let fits: [String: Fit] = [
    "PUBACK": fit(.server, "3.4.2-2", "3.4.2-3", .puback),
    "PUBREC": fit(.server, "3.5.2-2", "3.5.2-3", .pubrec),
    "PUBREL": fit(.server, "3.6.2-2", "3.6.2-3", .pubrel),
    "PUBCOMP": fit(.server, "3.7.2-2", "3.7.2-3", .pubcomp),
    "SUBACK": Fit(sender: .server, reason: "MQTT-3.9.2-1", users: "MQTT-3.9.2-2") {
      .suback(packetID: 9, codes: [0, 1], $0)
    },
    "UNSUBACK": Fit(sender: .server, reason: "MQTT-3.11.2-1", users: "MQTT-3.11.2-2") {
      .unsuback(packetID: 9, codes: [0], $0)
    },
    "DISCONNECT": Fit(sender: .server, reason: "MQTT-3.14.2-3", users: "MQTT-3.14.2-4") {
      .disconnect(.init(0x8B, properties: $0))
    },
    "AUTH": Fit(sender: .server, reason: "MQTT-3.15.2-2", users: "MQTT-3.15.2-3") {
      .auth(.init(0x18, properties: $0))
    },
  ]

  private static func fit(
    _ sender: Peer, _ reason: String, _ users: String, _ type: MQTTPacketType
  ) -> Fit {
    Fit(sender: sender, reason: "MQTT-" + reason, users: "MQTT-" + users) {
      .acknowledgement(type, packetID: 9, .init(0, properties: $0))
    }
  }

  private static let reason = MQTTProperty.text(
    .reasonString, String(repeating: "r", count: 40))
  private static let user = MQTTProperty(
    .userProperty, .pair("k", String(repeating: "u", count: 40)))

  /// Each type, with a Reason String that is too much, User Properties that are, both, and neither.
  static let fitting: [Case5] = fits.sorted { $0.key < $1.key }.flatMap { name, fit in
    [
      outcome(name, fit, "a Reason String too much", [reason], 40, (1, 0), (0, 0)),
      outcome(name, fit, "a User Property too much", [user], 40, (0, 0), (1, 0)),
      outcome(name, fit, "either of both too much", [reason, user], 70, (1, 0), (1, 0)),
      outcome(name, fit, "both together too much", [reason, user], 30, (1, 0), (1, 0)),
      outcome(name, fit, "properties that fit", [reason, user], 200, (0, 1), (0, 1)),
    ]
  }

  private static func outcome(
    _ name: String, _ fit: Fit, _ what: String, _ properties: [MQTTProperty], _ most: Int,
    _ reason: (Int, Int), _ users: (Int, Int)
  ) -> Case5 {
    Case5(
      about: "\(name) with \(what)",
      [
        fit.reason: (reason.0, reason.1, 0, reason.0 > 0 ? [4] : []),
        fit.users: (users.0, users.1, 0, users.0 > 0 ? [4] : []),
      ]
    ) {
      $0.agree([.number(.maximumPacketSize, most)])
      $0.server(fit.content(properties))
      $0.finish()
    }
  }

  private static let aliases: [Case5] = [
    Case5(
      "a server's alias above the client's maximum",
      failed: ["MQTT-3.1.2-26", "MQTT-3.3.2-11"],
      [
        "MQTT-3.1.2-26": (1, 1, 0, [5]), "MQTT-3.3.2-11": (1, 1, 0, [5]),
        "MQTT-3.1.2-27": (0, 0, 0, []),
      ]
    ) {
      $0.agree([.number(.topicAliasMaximum, 2)])
      $0.publish(.server, "a", [.number(.topicAlias, 2)])
      $0.publish(.server, "b", [.number(.topicAlias, 3)])
      $0.finish()
    },
    Case5(
      "a server's alias to a client that takes none", failed: ["MQTT-3.1.2-27", "MQTT-3.3.2-11"],
      ["MQTT-3.1.2-27": (1, 1, 0, [5]), "MQTT-3.3.2-11": (1, 0, 0, [5])]
    ) {
      $0.agree()
      $0.publish(.server, "a", [])
      $0.publish(.server, "a", [.number(.topicAlias, 1)])
      $0.finish()
    },
    Case5(
      "a client's alias above the server's maximum", failed: ["MQTT-3.2.2-17", "MQTT-3.3.2-9"],
      [
        "MQTT-3.2.2-17": (1, 1, 0, [7]), "MQTT-3.3.2-9": (1, 1, 0, [7]),
        "MQTT-3.2.2-18": (0, 0, 0, []),
      ]
    ) {
      $0.agree([], [.number(.topicAliasMaximum, 2)])
      $0.showConnack()
      $0.publish(.client, "a", [.number(.topicAlias, 2)])
      $0.publish(.client, "b", [.number(.topicAlias, 3)])
      $0.finish()
    },
    Case5(
      "a client's alias to a server that takes none", failed: ["MQTT-3.2.2-18", "MQTT-3.3.2-9"],
      ["MQTT-3.2.2-18": (1, 1, 1, [7]), "MQTT-3.3.2-9": (1, 0, 1, [7])]
    ) {
      $0.agree()
      $0.publish(.client, "a", [.number(.topicAlias, 1)])
      $0.showConnack()
      $0.publish(.client, "a", [.number(.topicAlias, 1)])
      $0.publish(.client, "a", [])
      $0.finish()
    },
  ]

  private static let abilities: [Case5] = [
    Case5(
      "a PUBLISH of QoS 1 to a server of QoS 0", failed: ["MQTT-3.2.2-11"],
      ["MQTT-3.2.2-11": (1, 1, 1, [7])]
    ) {
      $0.agree([], [.number(.maximumQoS, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.showConnack()
      $0.publish(.client, "a", [], qos: 1, id: 2)
      $0.publish(.client, "a", [])
      $0.close(.server)
    },
    Case5(
      "a PUBLISH to be retained by a server that retains nothing", failed: ["MQTT-3.2.2-14"],
      ["MQTT-3.2.2-14": (1, 1, 0, [7])]
    ) {
      $0.agree([], [.number(.retainAvailable, 0)])
      $0.showConnack()
      $0.publish(.client, "a", [])
      $0.client(.publish(.init(topic: "a", payload: [1], retain: true)))
      $0.close(.server)
    },
    Case5("a PUBLISH that such a server need not retain", ["MQTT-3.2.2-14": (0, 1, 0, [])]) {
      $0.agree([], [.number(.retainAvailable, 0)])
      $0.showConnack()
      $0.publish(.client, "a", [])
      $0.finish()
    },
    Case5(
      "a will of QoS 2 that a server of QoS 1 accepts", failed: ["MQTT-3.2.2-12"],
      ["MQTT-3.2.2-12": (1, 0, 0, [3]), "MQTT-3.2.2-13": (0, 0, 0, [])]
    ) {
      $0.agree([], [.number(.maximumQoS, 1)], will: .init(topic: "w", payload: [], qos: 2))
      $0.finish()
    },
    Case5("a will of QoS 1 that a server of QoS 1 accepts", ["MQTT-3.2.2-12": (0, 1, 0, [])]) {
      $0.agree([], [.number(.maximumQoS, 1)], will: .init(topic: "w", payload: [], qos: 1))
      $0.finish()
    },
    Case5("a will of QoS 2 that is refused", ["MQTT-3.2.2-12": (0, 1, 0, [])]) {
      $0.agree([], [], will: .init(topic: "w", payload: [], qos: 2), code: 0x9B)
      $0.close(.server)
    },
    Case5(
      "a retained will that a server accepts which retains nothing", failed: ["MQTT-3.2.2-13"],
      ["MQTT-3.2.2-13": (1, 0, 0, [3])]
    ) {
      $0.agree(
        [], [.number(.retainAvailable, 0)], will: .init(topic: "w", payload: [], retain: true))
      $0.finish()
    },
    Case5("a retained will that is refused", ["MQTT-3.2.2-13": (0, 1, 0, [])]) {
      $0.agree([], [], will: .init(topic: "w", payload: [], retain: true), code: 0x9A)
      $0.close(.server)
    },
  ]

  private static let quota = ["MQTT-4.9.0-1", "MQTT-4.9.0-2"]

  private static let quotas: [Case5] = [
    Case5(
      "a third message to a client that receives two",
      failed: ["MQTT-3.3.4-9"] + quota,
      ["MQTT-3.3.4-9": (1, 2, 0, [6]), "MQTT-4.9.0-2": (1, 2, 0, [6])]
    ) {
      $0.agree([.number(.receiveMaximum, 2)])
      for id in 1...3 as ClosedRange<UInt16> { $0.publish(.server, "a", [], qos: 1, id: id) }
      for id in 1...3 as ClosedRange<UInt16> { $0.acknowledge(.client, .puback, id) }
      $0.finish()
    },
    Case5(
      "a third message once one is acknowledged, and one of QoS 0 besides",
      ["MQTT-3.3.4-9": (0, 3, 0, []), "MQTT-4.9.0-1": (0, 3, 0, [])]
    ) {
      $0.agree([.number(.receiveMaximum, 2)])
      for id in 1...2 as ClosedRange<UInt16> { $0.publish(.server, "a", [], qos: 1, id: id) }
      $0.publish(.server, "a", [])
      $0.acknowledge(.client, .puback, 1)
      $0.publish(.server, "a", [], qos: 1, id: 3)
      for id in 2...3 as ClosedRange<UInt16> { $0.acknowledge(.client, .puback, id) }
      $0.finish()
    },
    Case5(
      "PUBREC keeps a message open, and PUBCOMP ends it", failed: ["MQTT-3.3.4-9"] + quota,
      ["MQTT-3.3.4-9": (1, 2, 0, [6])]
    ) {
      $0.agree([.number(.receiveMaximum, 1)])
      $0.publish(.server, "a", [], qos: 2, id: 1)
      $0.acknowledge(.client, .pubrec, 1)
      $0.publish(.server, "a", [], qos: 1, id: 2)
      $0.acknowledge(.client, .puback, 2)
      $0.acknowledge(.server, .pubrel, 1)
      $0.acknowledge(.client, .pubcomp, 1)
      $0.publish(.server, "a", [], qos: 1, id: 3)
      $0.acknowledge(.client, .puback, 3)
      $0.finish()
    },
    Case5("a PUBREC of a failure ends a message", ["MQTT-3.3.4-9": (0, 2, 0, [])]) {
      $0.agree([.number(.receiveMaximum, 1)])
      $0.publish(.server, "a", [], qos: 2, id: 1)
      $0.client(.acknowledgement(.pubrec, packetID: 1, .init(0x97)))
      $0.publish(.server, "a", [], qos: 2, id: 1)
      $0.client(.acknowledgement(.pubrec, packetID: 1, .init(0x97)))
      $0.finish()
    },
    Case5("bytes of the client that may have acknowledged", ["MQTT-3.3.4-9": (0, 2, 0, [])]) {
      $0.agree([.number(.receiveMaximum, 1)])
      $0.publish(.server, "a", [], qos: 1, id: 1)
      $0.gap(.client)
      $0.publish(.server, "a", [], qos: 1, id: 2)
      $0.finish()
    },
    Case5(
      "bytes of the client that may stand behind the message that follows them",
      ["MQTT-3.3.4-9": (0, 2, 1, [7]), "MQTT-4.9.0-2": (0, 2, 1, [7])]
    ) {
      $0.agree([.number(.receiveMaximum, 1)])
      $0.publish(.server, "a", [], qos: 1, id: 1)
      $0.gap(.client)
      for id in 2...3 as ClosedRange<UInt16> { $0.publish(.server, "a", [], qos: 1, id: id) }
      for id in 2...3 as ClosedRange<UInt16> { $0.acknowledge(.client, .puback, id) }
      $0.finish()
    },
    Case5("an acknowledgement that was captured first", ["MQTT-3.3.4-9": (0, 1, 0, [])]) {
      $0.agree([.number(.receiveMaximum, 1)])
      $0.acknowledge(.client, .puback, 1)
      $0.publish(.server, "a", [], qos: 1, id: 1)
      $0.publish(.server, "a", [], qos: 1, id: 2)
      $0.finish()
    },
    Case5(
      "a client's second message to a server that receives one",
      failed: ["MQTT-3.3.4-7"] + quota,
      ["MQTT-3.3.4-7": (1, 1, 1, [8]), "MQTT-3.3.4-9": (0, 0, 0, [])]
    ) {
      $0.agree([], [.number(.receiveMaximum, 1)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.publish(.client, "a", [], qos: 1, id: 2)
      $0.showConnack()
      $0.publish(.client, "a", [], qos: 1, id: 3)
      for id in 1...3 as ClosedRange<UInt16> { $0.acknowledge(.server, .puback, id) }
      $0.finish()
    },
  ]

  private static let reasons: [Case5] = [
    Case5(
      "a reason for a client that wants none", failed: ["MQTT-3.1.2-29"],
      ["MQTT-3.1.2-29": (2, 1, 0, [5, 9])]
    ) {
      $0.agree([.number(.requestProblemInformation, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.server(
        .acknowledgement(
          .puback, packetID: 1, .init(0x10, properties: [.text(.reasonString, "nobody")])))
      $0.publish(.client, "a", [], qos: 1, id: 2)
      $0.acknowledge(.server, .puback, 2)
      $0.subscribe(3, "a")
      $0.server(
        .suback(packetID: 3, codes: [2], [MQTTProperty(.userProperty, .pair("k", "v"))]))
      $0.publish(.server, "a", [MQTTProperty(.userProperty, .pair("k", "v"))])
      $0.finish()
    },
    Case5(
      "a reason in front of what can't be read, for a client that wants none",
      failed: ["U5-2.2.2.2-2", "MQTT-3.1.2-29"], ["MQTT-3.1.2-29": (1, 0, 0, [5])]
    ) {
      $0.agree([.number(.requestProblemInformation, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.server(hex: "40 0A 0001 10 06 1F 0001 72 04 00")
      $0.close(.client)
    },
    Case5(
      "what may be a reason, for a client that wants none", failed: ["U5-2.2.2.2-2"],
      ["MQTT-3.1.2-29": (0, 0, 1, [5])]
    ) {
      $0.agree([.number(.requestProblemInformation, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.server(hex: "40 06 0001 10 02 04 00")
      $0.close(.client)
    },
    Case5("no reason for a client that wants none", ["MQTT-3.1.2-29": (0, 1, 0, [])]) {
      $0.agree([.number(.requestProblemInformation, 0)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.finish()
    },
    Case5("a reason for a client that wants them", ["MQTT-3.1.2-29": (0, 0, 0, [])]) {
      $0.agree([.number(.requestProblemInformation, 1)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.server(
        .acknowledgement(
          .puback, packetID: 1, .init(0x10, properties: [.text(.reasonString, "nobody")])))
      $0.finish()
    },
  ]
}

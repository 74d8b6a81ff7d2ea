import RepriseCore
import Wire

extension Case5 {
  /// What an end has to take of the other, and to go on with: sections 3.2.2.3.4, 3.3.2.3.4, 3.3.4, 4.3.3, 4.9 and 4.13.
  static let allowances =
    takenAliases + usedUp + askedQoS + expired + raisedExpiries + foreignSessions

  private static let aliasOne = [MQTTProperty.number(.topicAlias, 1)]
  private static let takesAliases = "MQTT-3.3.2-12"

  private static let takenAliases: [Case5] = [
    Case5(
      "a server rejects an alias that it has to take", failed: [takesAliases],
      [takesAliases: (1, 0, 0, [7])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.server(.disconnect(.init(0x94)))
      $0.close(.client)
    },
    Case5(
      "a server rejects an alias that the client had not set", [takesAliases: (0, 0, 1, [8])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.publish(.client, "", [.number(.topicAlias, 2)], qos: 1, id: 2)
      $0.server(.disconnect(.init(0x94)))
      $0.close(.client)
    },
    Case5(
      about: "a server rejects an alias above its maximum", [takesAliases: (0, 0, 1, [8])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.publish(.client, "b", [.number(.topicAlias, 3)], qos: 1, id: 2)
      $0.server(.disconnect(.init(0x94)))
      $0.close(.client)
    },
    Case5(
      "a server rejects an alias behind bytes that are missing", [takesAliases: (0, 0, 1, [8])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.gap(.client)
      $0.server(.disconnect(.init(0x94)))
      $0.close(.client)
    },
    Case5(
      "a server rejects an alias, and the client was not seen to go on",
      [takesAliases: (0, 0, 1, [8])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.server(.disconnect(.init(0x94)))
      $0.close(.server)
    },
    Case5(
      "a server ends a connection with an alias by another code", [takesAliases: (0, 0, 1, [8])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.server(.disconnect(.init(0x8B)))
      $0.close(.server)
    },
    Case5(
      "a server acknowledges messages with an alias",
      [takesAliases: (0, 2, 0, []), "MQTT-3.3.2-10": (0, 0, 0, [])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.publish(.client, "", aliasOne, qos: 2, id: 2)
      $0.acknowledge(.server, .pubrec, 2)
      $0.publish(.client, "a", [], qos: 1, id: 3)
      $0.acknowledge(.server, .puback, 3)
      $0.close(.client)
    },
    Case5(
      "a server refuses a message with an alias", [takesAliases: (0, 0, 1, [8])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne, qos: 1, id: 1)
      $0.server(.acknowledgement(.puback, packetID: 1, .init(0x87)))
      $0.close(.client)
    },
    Case5(
      "a message of QoS 0 with an alias", [takesAliases: (0, 0, 1, [7])]
    ) {
      $0.beginAliases()
      $0.publish(.client, "a", aliasOne)
      $0.close(.client)
    },
    Case5(
      "a client rejects an alias that it has to take", failed: ["MQTT-3.3.2-10"],
      ["MQTT-3.3.2-10": (1, 0, 0, [5]), takesAliases: (0, 0, 0, [])]
    ) {
      $0.agree([.number(.topicAliasMaximum, 2)])
      $0.publish(.server, "a", aliasOne, qos: 1, id: 1)
      $0.client(.disconnect(.init(0x94)))
      $0.close(.server)
    },
    Case5("a client acknowledges an alias", ["MQTT-3.3.2-10": (0, 1, 0, [])]) {
      $0.agree([.number(.topicAliasMaximum, 2)])
      $0.publish(.server, "a", aliasOne, qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.close(.client)
    },
  ]

  private static let answered = "MQTT-4.9.0-3"

  private static let usedUp: [Case5] = [
    Case5(
      "a client whose quota is used up subscribes, and answers",
      [
        "MQTT-3.3.4-8": (0, 2, 0, []), answered: (0, 1, 0, []), "MQTT-3.3.4-10": (0, 0, 0, []),
      ]
    ) {
      $0.agree([], [.number(.receiveMaximum, 1)])
      $0.subscribe(8, "b")
      $0.suback(8, 2)
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.subscribe(9, "b")
      $0.publish(.server, "b", [], qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.acknowledge(.server, .puback, 1)
      $0.subscribe(10, "b")
      $0.close(.server)
    },
    Case5(
      "a client whose quota is used up sends nothing", ["MQTT-3.3.4-8": (0, 0, 1, [5])]
    ) {
      $0.agree([], [.number(.receiveMaximum, 1)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.close(.server)
    },
    Case5(
      "a client whose quota is not used up", ["MQTT-3.3.4-8": (0, 0, 0, [])]
    ) {
      $0.agree([], [.number(.receiveMaximum, 2)])
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.ping()
      $0.close(.server)
    },
    Case5(
      "a server whose quota is used up answers PINGREQ",
      ["MQTT-3.3.4-10": (0, 1, 0, []), answered: (0, 1, 0, []), "MQTT-3.3.4-8": (0, 0, 0, [])]
    ) {
      $0.fillQuota()
      $0.answerPing()
      $0.close(.client)
    },
    Case5(
      "a server whose quota is used up answers no PINGREQ", failed: ["MQTT-3.12.4-1", answered],
      [answered: (1, 0, 0, [9]), "MQTT-3.3.4-10": (0, 0, 1, [9])]
    ) {
      $0.fillQuota()
      $0.ping()
      $0.remain()
      $0.close(.client)
    },
    Case5(
      "a server whose quota is used up answers neither SUBSCRIBE, UNSUBSCRIBE nor PUBLISH",
      failed: ["MQTT-3.3.4-1", "MQTT-3.8.4-1", "MQTT-3.10.4-4", "MQTT-4.3.2-4", answered],
      [answered: (3, 1, 0, [13, 13, 13])]
    ) {
      $0.fillQuota()
      $0.subscribe(1, "b")
      $0.unsubscribe(2, "a")
      $0.publish(.client, "c", [], qos: 1, id: 3)
      $0.wait(2)
      $0.ping()
      $0.pong()
      $0.remain()
      $0.close(.client)
    },
    Case5(
      "a server whose quota was used up for a while answers no PINGREQ",
      failed: ["MQTT-3.12.4-1"], [answered: (0, 0, 0, [])]
    ) {
      $0.fillQuota()
      $0.ping()
      $0.acknowledge(.client, .puback, 1)
      $0.remain()
      $0.close(.client)
    },
    Case5(
      "a server whose quota is used up answers no PINGREQ until the capture ends",
      [answered: (0, 0, 1, [7])]
    ) {
      $0.fillQuota()
      $0.ping()
      $0.remain()
      $0.endCapture()
    },
    Case5(
      "a server whose quota may be used up answers no PINGREQ", failed: ["MQTT-3.12.4-1"],
      [answered: (0, 0, 0, [])]
    ) {
      $0.fillQuota()
      $0.gap(.client)
      $0.ping()
      $0.remain()
      $0.close(.client)
    },
  ]

  private static let asked = "MQTT-3.2.2-10"

  private static let askedQoS: [Case5] = [
    Case5(
      "a server of QoS 0 rejects a SUBSCRIBE for QoS 1", failed: [asked],
      [asked: (1, 0, 0, [5]), "MQTT-3.2.2-9": (0, 1, 0, [])]
    ) {
      $0.agree([], [.number(.maximumQoS, 0)])
      $0.subscribe(1, "a", qos: 1)
      $0.server(.disconnect(.init(0x9B)))
      $0.close(.client)
    },
    Case5(
      about: "a server of QoS 0 rejects a PUBLISH of QoS 1 beside such a SUBSCRIBE",
      [asked: (0, 0, 1, [6])]
    ) {
      $0.agree([], [.number(.maximumQoS, 0)])
      $0.subscribe(1, "a", qos: 1)
      $0.publish(.client, "a", [], qos: 1, id: 2)
      $0.server(.disconnect(.init(0x9B)))
      $0.close(.client)
    },
    Case5("a server of QoS 0 grants less than is asked for", [asked: (0, 1, 0, [])]) {
      $0.agree([], [.number(.maximumQoS, 0)])
      $0.subscribe(1, "a", qos: 1)
      $0.suback(1, 0)
      $0.subscribe(2, "a", qos: 0)
      $0.suback(2, 0)
      $0.close(.client)
    },
    Case5("a server of QoS 0 refuses a filter", [asked: (0, 0, 1, [5])]) {
      $0.agree([], [.number(.maximumQoS, 0)])
      $0.subscribe(1, "a", qos: 1)
      $0.suback(1, 0x87)
      $0.close(.client)
    },
    Case5("a server of QoS 1 ends a connection for another SUBSCRIBE", [asked: (0, 0, 0, [])]) {
      $0.agree([], [.number(.maximumQoS, 1)])
      $0.subscribe(1, "a", qos: 1)
      $0.server(.disconnect(.init(0x9B)))
      $0.close(.client)
    },
    Case5(
      "a server that takes QoS 2", ["MQTT-3.2.2-9": (0, 1, 0, []), asked: (0, 0, 0, [])]
    ) {
      $0.agree()
      $0.subscribe(1, "a", qos: 2)
      $0.suback(1, 0)
      $0.publish(.client, "a", [], qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.close(.client)
    },
    Case5("a server that takes QoS 1", ["MQTT-3.2.2-9": (0, 0, 0, [])]) {
      $0.agree()
      $0.publish(.client, "a", [], qos: 1, id: 1)
      $0.acknowledge(.server, .puback, 1)
      $0.publish(.client, "a", [], qos: 2, id: 1)
      $0.server(.acknowledgement(.pubrec, packetID: 1, .init(0x87)))
      $0.close(.client)
    },
    Case5(
      "one code for two filters, in a SUBACK that reads in one way only",
      failed: ["MQTT-3.8.4-5", "MQTT-3.8.4-6"], ["MQTT-3.8.4-5": (1, 0, 0, [5])]
    ) {
      $0.agree()
      $0.subscribe(1, "a", "b")
      $0.server(hex: "90 0A 0001 06 1F 0003 616161 00")
      $0.close(.client)
    },
    Case5(
      "one code for one filter, and two for two", ["MQTT-3.8.4-5": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.subscribe(1, "a")
      $0.suback(1, 0)
      $0.subscribe(2, "a", "b")
      $0.suback(2, 0, 1)
      $0.close(.client)
    },
  ]

  private static let completion = "MQTT-4.3.3-13"

  private static let expired: [Case5] = [
    Case5(
      "the messages of a client are completed when they have expired",
      [completion: (0, 1, 0, []), "MQTT-4.3.3-7": (0, 1, 0, [])]
    ) {
      $0.receive()
      $0.wait(10)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
      $0.close(.client)
    },
    Case5(
      "the messages of a server are completed when they have expired",
      [completion: (0, 1, 0, []), "MQTT-4.3.3-7": (0, 1, 0, [])]
    ) {
      $0.agree()
      $0.publish(.server, "a", [.number(.messageExpiryInterval, 1)], qos: 2, id: 1)
      $0.wait(10)
      $0.acknowledge(.client, .pubrec, 1)
      $0.acknowledge(.server, .pubrel, 1)
      $0.acknowledge(.client, .pubcomp, 1)
      $0.close(.client)
    },
    Case5(
      "a message that has not expired for certain",
      [completion: (0, 0, 0, []), "MQTT-4.3.3-7": (0, 0, 0, [])]
    ) {
      $0.receive()
      $0.wait(2.5)
      $0.acknowledge(.client, .pubrel, 1)
      $0.wait(10)
      $0.acknowledge(.server, .pubcomp, 1)
      $0.close(.client)
    },
    Case5(
      "a PUBREL of an expired message is never answered",
      failed: ["MQTT-4.3.3-11", completion], [completion: (1, 0, 0, [15])]
    ) {
      $0.receive()
      $0.wait(10)
      $0.acknowledge(.client, .pubrel, 1)
      $0.goOn()
      $0.close(.client)
    },
    Case5(
      "a PUBREL of a message without an expiry behind one that had one is never answered",
      failed: ["MQTT-4.3.3-11"], [completion: (0, 1, 0, [])]
    ) {
      $0.receive()
      $0.wait(10)
      $0.acknowledge(.client, .pubrel, 1)
      $0.acknowledge(.server, .pubcomp, 1)
      $0.publish(.client, "a", [], qos: 2, id: 1)
      $0.acknowledge(.server, .pubrec, 1)
      $0.acknowledge(.client, .pubrel, 1)
      $0.goOn()
      $0.close(.client)
    },
  ]

  private static let raised = "U5-3.14.2.2.2-3"

  private static let raisedExpiries: [Case5] = [
    Case5(
      "a server rejects an expiry in DISCONNECT", failed: ["U5-3.14.2.2.2-2"],
      [raised: (0, 1, 0, [])]
    ) {
      $0.raiseExpiry(from: 0)
      $0.server(.disconnect(.init(0x82)))
      $0.close(.server)
    },
    Case5(
      "a server ends the connection behind an expiry in DISCONNECT", failed: ["U5-3.14.2.2.2-2"],
      [raised: (0, 0, 1, [5])]
    ) {
      $0.raiseExpiry(from: 0)
      $0.close(.client)
    },
    Case5(
      "a server rejects an expiry in DISCONNECT by another code", failed: ["U5-3.14.2.2.2-2"],
      [raised: (0, 0, 1, [6])]
    ) {
      $0.raiseExpiry(from: 0)
      $0.server(.disconnect(.init(0x8B)))
      $0.close(.server)
    },
    Case5("a server rejects an expiry that may be set", [raised: (0, 0, 0, [])]) {
      $0.raiseExpiry(from: 9)
      $0.server(.disconnect(.init(0x82)))
      $0.close(.server)
    },
  ]

  private static let foreign = "MQTT-3.2.2-4"

  private static let foreignSessions: [Case5] = [
    Case5(
      about: "a client that goes on with a session that it has not", [foreign: (1, 0, 0, [5])]
    ) {
      $0.start(sessionPresent: true)
      // Within a second it may be on its way to the end.
      $0.wait(1)
      $0.showConnack()
      $0.close(.client)
    },
    Case5(
      about: "a client that leaves a session that it has not", [foreign: (0, 1, 0, [])]
    ) {
      $0.start(sessionPresent: true)
      $0.close(.client)
    },
    Case5(
      about: "a client that may not have had the CONNACK yet", [foreign: (0, 0, 1, [3])]
    ) {
      $0.start(sessionPresent: true)
      $0.ping()
      $0.pong()
      $0.close(.server)
    },
    Case5(
      about: "a client that goes on with its session", [foreign: (0, 0, 0, [])]
    ) {
      $0.start(cleanStart: false, sessionPresent: true)
      $0.showConnack()
      $0.close(.client)
    },
  ]
}

extension Script {
  /// The client knows that the server takes aliases up to 2: frames 1 to 5.
  fileprivate mutating func beginAliases() {
    agree([], [.number(.topicAliasMaximum, 2)])
    showConnack()
  }

  /// The server has sent what the client receives at once: frames 1 to 6.
  fileprivate mutating func fillQuota() {
    agree([.number(.receiveMaximum, 1)])
    ask(9, "a", qos: 1)
    publish(.server, "a", [], qos: 1, id: 1)
  }

  /// The server goes on for a minute by itself: one frame.
  fileprivate mutating func remain() {
    wait(60)
    publish(.server, "a", [])
  }

  /// A message that expires is received: frames 1 to 5.
  fileprivate mutating func receive() {
    agree()
    publish(.client, "a", [.number(.messageExpiryInterval, 1)], qos: 2, id: 1)
    acknowledge(.server, .pubrec, 1)
  }

  /// The client sets another Session Expiry Interval on leaving: frames 1 to 4.
  fileprivate mutating func raiseExpiry(from before: Int) {
    agree([.number(.sessionExpiryInterval, before)])
    client(.disconnect(.init(0, properties: [.number(.sessionExpiryInterval, 60)])))
  }
}

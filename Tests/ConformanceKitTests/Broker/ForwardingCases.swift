import RepriseCore
import Wire

@testable import ConformanceKit

extension SharedCase {
  private static let properties: [MQTTProperty] = [
    .number(.payloadFormatIndicator, 1), .number(.messageExpiryInterval, 60),
    .text(.contentType, "text"), .text(.responseTopic, "r"),
    MQTTProperty(.correlationData, .binary([1])), MQTTProperty(.userProperty, .pair("a", "1")),
    MQTTProperty(.userProperty, .pair("b", "2")),
  ]

  private static func forward(
    _ name: String, failed: [MQTTRule] = [], _ counts: Counts, after seconds: Double = 0,
    inNetwork: Bool = false, _ change: @escaping @Sendable ([MQTTProperty]) -> [MQTTProperty]
  ) -> SharedCase {
    SharedCase(name, in: [.v5_0], failed: failed, counts) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1", properties) }
      $0.wait(seconds)
      if !inNetwork, seconds > 0 { $0.answerPing() }
      $0.say(.server, "a", "1", change(properties))
      $0.part()
    }
  }

  /// Two messages that expire after 60 s are delivered after some seconds with another expiry or none, behind one that was
  /// delivered sooner or later.
  private static func expiring(
    _ name: String, _ expiry: Int?, after seconds: Double, first: Double = 0, isOpen: Bool = false
  ) -> SharedCase {
    SharedCase(
      name, in: [.v5_0], failed: isOpen ? [] : [.expiryIsCountedDown],
      [.expiryIsCountedDown: isOpen ? (0, 2, 1, [12]) : (2, 1, 0, [16, 20])]
    ) {
      $0.meet()
      for (text, seconds) in [("0", first), ("1", seconds), ("2", seconds)] {
        $0.on(2) { $0.say(.client, "a", text, [.number(.messageExpiryInterval, 60)]) }
        $0.wait(seconds)
        $0.answerPing()
        let left = text == "0" ? 60 : expiry
        $0.say(.server, "a", text, left.map { [.number(.messageExpiryInterval, $0)] } ?? [])
      }
      $0.part()
    }
  }

  /// A message that expires after 60 s is acknowledged after some time, and delivered as it was after more.
  private static func acknowledged(
    _ name: String, failed: [MQTTRule] = [], _ counts: Counts, after seconds: Double,
    and more: Double
  ) -> SharedCase {
    SharedCase(name, in: [.v5_0], failed: failed, counts) {
      $0.meet()
      let sent = [MQTTProperty.number(.messageExpiryInterval, 60)]
      $0.on(2) { $0.say(.client, "a", "1", qos: 1, id: 1, sent) }
      $0.wait(seconds)
      $0.on(2) { $0.acknowledge(.server, .puback, 1) }
      $0.wait(more)
      $0.answerPing()
      $0.say(.server, "a", "1", qos: 1, id: 1, sent)
      $0.acknowledge(.client, .puback, 1)
      $0.part()
    }
  }

  /// A message with a Content Type, which is delivered without it, and with other properties that it may have.
  private static func typeless(
    _ name: String, _ text: String, shared: [MQTTProperty] = [], more: [MQTTProperty] = [],
    fails: Bool, complete: Bool = false
  ) -> SharedCase {
    SharedCase(
      "a Content Type that is gone from \(name)", in: [.v5_0],
      failed: fails ? [.contentTypeIsForwarded] : [], complete: complete,
      [.contentTypeIsForwarded: fails ? (1, 0, 0, [10]) : (0, 0, 1, [10])]
    ) {
      $0.meet()
      $0.on(2) { $0.say(.client, "a", text, [.text(.contentType, "text")] + shared) }
      $0.say(.server, "a", text, shared + more)
      $0.part()
    }
  }

  private static let lostTypes: [SharedCase] = {
    let user = MQTTProperty(.userProperty, .pair("a", "1"))
    let (word, text) = ("off", "a text of 16 bytes")
    return [
      typeless("a word that others say", word, fails: false),
      typeless("a word that nobody else says", word, fails: true, complete: true),
      typeless(
        "a word with its User Property", word, shared: [user], fails: true),
      typeless("a word, with a User Property", word, more: [user], fails: false),
      typeless("a text", text, fails: true),
      typeless("a text, with a User Property", text, more: [user], fails: true),
      typeless(
        "a text, with an expiry", text, more: [.number(.messageExpiryInterval, 60)], fails: false),
      typeless(
        "a text, with a Response Topic", text, more: [.text(.responseTopic, "r")], fails: false),
      typeless(
        "a text, with a Correlation Data", text,
        more: [MQTTProperty(.correlationData, .binary([1]))], fails: false),
      typeless(
        "a text, with a Payload Format Indicator", text,
        more: [.number(.payloadFormatIndicator, 1)], fails: false),
      typeless(
        "a text, with a Response Topic that the server made up", text,
        more: [.text(.responseTopic, "r")], fails: true, complete: true),
    ]
  }()

  /// A message with the same User Property twice, which is delivered with a number of them.
  private static func repeated(
    _ name: String, _ count: Int, failed: [MQTTRule] = [], _ counts: Counts
  ) -> SharedCase {
    SharedCase(name, in: [.v5_0], failed: failed, counts) {
      let user = MQTTProperty(.userProperty, .pair("a", "1"))
      $0.meet()
      $0.on(2) { $0.say(.client, "a", "1", [user, user]) }
      $0.say(.server, "a", "1", Array(repeating: user, count: count))
      $0.part()
    }
  }

  /// A message with a Response Topic that is open when its connection is lost, is sent again in the session that goes on, and
  /// is delivered without one.
  private static func again(
    _ name: String, with properties: [MQTTProperty], failed: [MQTTRule] = [], _ counts: Counts
  ) -> SharedCase {
    SharedCase(name, in: [.v5_0], failed: failed, counts) {
      $0.join("s")
      $0.ask(1, "a")
      $0.on(2) {
        $0.join("p", cleanStart: false, expiry: 100)
        $0.say(.client, "a", "a text of 16 bytes", qos: 1, id: 1, [.text(.responseTopic, "r")])
        $0.close(.client)
      }
      $0.on(3) {
        $0.join("p", cleanStart: false, isPresent: true, expiry: 100)
        $0.say(.client, "a", "a text of 16 bytes", qos: 1, id: 1, dup: true, properties)
        $0.acknowledge(.server, .puback, 1)
      }
      $0.say(.server, "a", "a text of 16 bytes", qos: 1, id: 1)
      $0.acknowledge(.client, .puback, 1)
      $0.answerPing()
      $0.finish()
      $0.on(3) { $0.finish() }
    }
  }

  /// Without one property, and with another value of it.
  private static func altered(
    _ id: MQTTPropertyID, _ other: MQTTProperty, _ rule: MQTTRule
  ) -> [SharedCase] {
    [
      forward("\(id.name) is missing", failed: [rule], [rule: (1, 0, 0, [10])]) {
        $0.filter { $0.id != id }
      },
      forward("\(id.name) is altered", failed: [rule], [rule: (1, 0, 0, [10])]) {
        $0.map { $0.id == id ? other : $0 }
      },
    ]
  }

  /// What a server passes on of a message.
  static let forwarding: [SharedCase] =
    [
      forward(
        "every property as it was published",
        [
          .formatIsForwarded: (0, 1, 0, []), .contentTypeIsForwarded: (0, 1, 0, []),
          .responseTopicIsForwarded: (0, 1, 0, []), .correlationIsForwarded: (0, 1, 0, []),
          .userPropertiesAreForwarded: (0, 1, 0, []), .userPropertiesKeepOrder: (0, 1, 0, []),
          .expiryIsCountedDown: (0, 1, 0, []),
        ]
      ) { $0 },
      again(
        "a message sent again with its Response Topic, and delivered without",
        with: [.text(.responseTopic, "r")], failed: [.responseTopicIsForwarded],
        [.responseTopicIsForwarded: (1, 0, 0, [16])]),
      again(
        "a message sent again without its Response Topic, as a client does that goes on by 3.1.1",
        with: [], [.responseTopicIsForwarded: (0, 0, 1, [16])]),
      forward(
        "another User Property between them",
        [.userPropertiesAreForwarded: (0, 1, 0, []), .userPropertiesKeepOrder: (0, 1, 0, [])]
      ) {
        var properties = $0
        properties.insert(MQTTProperty(.userProperty, .pair("via", "x")), at: 6)
        return properties
      },
      SharedCase(
        "a User Property that a message lost which a group shares", in: [.v5_0],
        failed: [.userPropertiesAreForwarded], complete: true,
        [.userPropertiesAreForwarded: (1, 0, 0, [10])]
      ) {
        $0.meet("$share/g/a")
        $0.on(2) { $0.say(.client, "a", "a text of 16 bytes", properties) }
        $0.say(.server, "a", "a text of 16 bytes", Array(properties.dropLast()))
        $0.part()
      },
      forward(
        "User Properties in another order", failed: [.userPropertiesKeepOrder],
        [.userPropertiesAreForwarded: (0, 1, 0, []), .userPropertiesKeepOrder: (1, 0, 0, [10])]
      ) { Array($0.dropLast(2)) + $0.suffix(2).reversed() },
      forward(
        "one User Property of two", failed: [.userPropertiesAreForwarded],
        [
          .userPropertiesAreForwarded: (1, 0, 0, [10]), .userPropertiesKeepOrder: (0, 0, 0, []),
        ]
      ) { Array($0.dropLast()) },
      repeated(
        "a User Property that was published twice comes once", 1,
        failed: [.userPropertiesAreForwarded],
        [
          .userPropertiesAreForwarded: (1, 0, 0, [10]), .userPropertiesKeepOrder: (0, 0, 0, []),
        ]),
      repeated(
        "a User Property that was published twice comes twice", 2,
        [.userPropertiesAreForwarded: (0, 1, 0, []), .userPropertiesKeepOrder: (0, 1, 0, [])]),
      forward(
        "an expiry that was counted down", [.expiryIsCountedDown: (0, 1, 0, [])], after: 10
      ) { $0.map { $0.id == .messageExpiryInterval ? .number(.messageExpiryInterval, 50) : $0 } },
      forward(
        "an expiry that was not counted down", [.expiryIsCountedDown: (0, 0, 1, [12])], after: 33
      ) { $0 },
      expiring("an expiry of two messages that was not counted down", 60, after: 34),
      expiring(
        "an expiry of two messages that was not counted down, or the way takes as long", 60,
        after: 34, first: 34, isOpen: true),
      forward(
        "an expiry that was not counted down, of a message that may have waited in the network",
        [.expiryIsCountedDown: (0, 0, 1, [10])], after: 33, inNetwork: true
      ) { $0 },
      forward(
        "an expiry that was not counted down, of a message that the server need not have read",
        [.expiryIsCountedDown: (0, 1, 0, [])], after: 32
      ) { $0 },
      acknowledged(
        "an expiry of a message that the server had acknowledged, and that was not counted down",
        [.expiryIsCountedDown: (0, 0, 1, [13])], after: 0, and: 3),
      acknowledged(
        "an expiry of a message that the server acknowledged late",
        [.expiryIsCountedDown: (0, 1, 0, [])], after: 20, and: 2),
      expiring("an expiry of two messages that was counted down by too much", 47, after: 10),
      forward(
        "an expiry that differs by 2 s", [.expiryIsCountedDown: (0, 1, 0, [])], after: 10
      ) { $0.map { $0.id == .messageExpiryInterval ? .number(.messageExpiryInterval, 48) : $0 } },
      SharedCase(
        "properties of a message that was published twice", in: [.v5_0],
        [
          .formatIsForwarded: (0, 0, 1, [11]), .contentTypeIsForwarded: (0, 0, 1, [11]),
          .responseTopicIsForwarded: (0, 0, 1, [11]), .correlationIsForwarded: (0, 0, 1, [11]),
          .userPropertiesAreForwarded: (0, 0, 1, [11]), .userPropertiesKeepOrder: (0, 0, 1, [11]),
          .expiryIsCountedDown: (0, 0, 1, [11]),
        ]
      ) {
        $0.meet()
        $0.on(2) {
          $0.say(.client, "a", "1", [.text(.contentType, "text")])
          $0.say(.client, "a", "1", [.text(.contentType, "other")])
        }
        $0.say(.server, "a", "1", [.text(.contentType, "other")])
        $0.part()
      },
      SharedCase(
        "a Payload Format Indicator of 0, which means the same as none", in: [.v5_0],
        [.formatIsForwarded: (0, 0, 0, [])]
      ) {
        $0.meet()
        $0.on(2) { $0.say(.client, "a", "1", [.number(.payloadFormatIndicator, 0)]) }
        $0.say(.server, "a", "1")
        $0.part()
      },
      SharedCase(
        "an expiry by clocks that differ", in: [.v5_0],
        [.expiryIsCountedDown: (0, 0, 1, [12]), .contentTypeIsForwarded: (0, 1, 0, [])]
      ) {
        $0.meet()
        $0.wait(2)
        $0.ping()
        $0.add(.server, .mqtt(PacketBytes([0xD0, 0])), early: 1_500_000_000)
        $0.on(2) { $0.say(.client, "a", "1", properties) }
        $0.say(.server, "a", "1", properties)
        $0.part()
      },
      SharedCase(
        "an expiry where the CONNACK has an earlier time than the CONNECT", in: [.v5_0],
        [.expiryIsCountedDown: (0, 0, 1, [10]), .contentTypeIsForwarded: (0, 1, 0, [])]
      ) {
        $0.open()
        $0.client(.connect(.init(clientID: "s", cleanStart: true, keepAlive: 0)))
        $0.add(.server, .mqtt(PacketBytes([0x20, 3, 0, 0, 0])), early: 500_000_000)
        $0.ask(1, "a")
        $0.on(2) { $0.join("p") }
        $0.wait(2)
        $0.on(2) { $0.say(.client, "a", "1", properties) }
        $0.say(.server, "a", "1", properties)
        $0.part()
      },
      SharedCase(
        "a Content Type that nobody published", in: [.v5_0],
        [.contentTypeIsForwarded: (0, 0, 0, []), .formatIsForwarded: (0, 0, 0, [])]
      ) {
        $0.meet()
        $0.on(2) { $0.say(.client, "a", "1") }
        $0.say(.server, "a", "1", [.text(.contentType, "text")])
        $0.part()
      },
    ]
    + lostTypes
    + altered(.payloadFormatIndicator, .number(.payloadFormatIndicator, 0), .formatIsForwarded)
    + altered(.contentType, .text(.contentType, "txt"), .contentTypeIsForwarded)
    + altered(.responseTopic, .text(.responseTopic, "s"), .responseTopicIsForwarded)
    + altered(
      .correlationData, MQTTProperty(.correlationData, .binary([2])), .correlationIsForwarded)
    + [
      expiring("no expiry of two messages", nil, after: 0),
      forward("no expiry", [.expiryIsCountedDown: (0, 0, 1, [10])]) {
        $0.filter { $0.id != .messageExpiryInterval }
      },
    ]
}

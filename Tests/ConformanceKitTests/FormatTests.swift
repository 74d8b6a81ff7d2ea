import RepriseCore
import Testing

@testable import ConformanceKit

/// A packet, and the clauses of format that it violates: none is a near miss.
struct FormatCase: Sendable {
  var name: String
  var sender: Peer
  var bytes: [UInt8]
  var violated: Set<String>
  /// What comes between the opening of the connection and the packet.
  var before: [UInt8]?

  init(
    _ name: String, _ sender: Peer, _ bytes: [UInt8], _ violated: Set<String>,
    before: [UInt8]? = nil
  ) {
    self.name = name
    self.sender = sender
    self.bytes = bytes
    self.violated = violated
    self.before = before
  }

  /// A packet with its length.
  static func packet(_ firstByte: UInt8, _ body: [UInt8]) -> [UInt8] {
    precondition(body.count < 128)
    return [firstByte, UInt8(body.count)] + body
  }

  /// A connection that the receiver of the packet closes, as it may.
  var events: [Event] {
    var script = Script()
    let isConnect = bytes[0] >> 4 == 1
    if isConnect { script.open() } else { script.start() }
    if let before {
      script.add(sender.other, .mqtt(PacketBytes(before)))
    }
    script.add(sender, .mqtt(PacketBytes(bytes)))
    script.close(sender.other)
    return script.events
  }
}

/// Clauses of format by every packet, field and sender that they speak of.
@Suite("The format of packets")
struct FormatTests {
  // MARK: Strings

  /// A text of a packet, and what is said of it where it is no UTF-8, and where it holds U+0000.
  private struct Place {
    var name: String
    var sender = Peer.client
    var notUTF8: Set<String>
    var null: Set<String>
    /// The packet with a text in that place.
    var packet: @Sendable ([UInt8]) -> [UInt8]
  }

  private static let subscribed = field("ok") + [0]

  private static let places: [Place] = {
    var places: [Place] = []
    for sender in Peer.allCases {
      for qos: UInt8 in 0...2 {
        places.append(
          Place(
            name: "topic at QoS \(qos) of the \(sender)", sender: sender,
            notUTF8: ["1.5.3-1", "3.3.2-1"], null: ["1.5.3-2", "4.7.3-2"]
          ) { FormatCase.packet(0x30 | qos << 1, field($0) + (qos > 0 ? [0, 7] : []) + [1]) })
      }
    }
    places += [
      Place(
        name: "filter of SUBSCRIBE", notUTF8: ["1.5.3-1", "3.8.3-1"], null: ["1.5.3-2", "4.7.3-2"]
      ) { FormatCase.packet(0x82, [0, 7] + field($0) + [0]) },
      Place(
        name: "second filter of SUBSCRIBE", notUTF8: ["1.5.3-1", "3.8.3-1"],
        null: ["1.5.3-2", "4.7.3-2"]
      ) { FormatCase.packet(0x82, [0, 7] + subscribed + field($0) + [0]) },
      Place(
        name: "filter of UNSUBSCRIBE", notUTF8: ["1.5.3-1", "3.10.3-1"],
        null: ["1.5.3-2", "4.7.3-2"]
      ) { FormatCase.packet(0xA2, [0, 7] + field($0)) },
      Place(
        name: "second filter of UNSUBSCRIBE", notUTF8: ["1.5.3-1", "3.10.3-1"],
        null: ["1.5.3-2", "4.7.3-2"]
      ) { FormatCase.packet(0xA2, [0, 7] + field("ok") + field($0)) },
      Place(name: "client identifier", notUTF8: ["1.5.3-1", "3.1.3-4"], null: ["1.5.3-2"]) {
        connect(0x02, field($0))
      },
      Place(
        name: "will topic", notUTF8: ["1.5.3-1", "3.1.3-10"], null: ["1.5.3-2", "4.7.3-2"]
      ) { connect(0x06, field("c") + field($0) + field("m")) },
      Place(name: "user name", notUTF8: ["1.5.3-1", "3.1.3-11"], null: ["1.5.3-2"]) {
        connect(0x82, field("c") + field($0))
      },
      Place(
        name: "user name behind a will", notUTF8: ["1.5.3-1", "3.1.3-11"], null: ["1.5.3-2"]
      ) { connect(0xC6, field("c") + field("t") + field("m") + field($0) + field("p")) },
      // These are bytes, and no text.
      Place(name: "will message", notUTF8: [], null: []) {
        connect(0x06, field("c") + field("t") + field($0))
      },
      Place(name: "password", notUTF8: [], null: []) {
        connect(0xC2, field("c") + field("u") + field($0))
      },
    ]
    return places
  }()

  private static func connect(_ flags: UInt8, _ payload: [UInt8]) -> [UInt8] {
    FormatCase.packet(0x10, field("MQTT") + [4, flags, 0, 0] + payload)
  }

  /// A stray byte, an overlong form, a surrogate, what is above U+10FFFF, and an end that is missing.
  private static let notUTF8: [[UInt8]] = [
    [0xFF], [0xC3, 0x28], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
    [0x61, 0xE2, 0x82],
  ]
  private static let nearlyNotUTF8: [[UInt8]] = [
    [0xC3, 0xA4], [0xC2, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF],
    [0x61, 0xE2, 0x82, 0xAC],
  ]

  private static let strings: [FormatCase] = places.flatMap { place in
    let bad = notUTF8.map {
      FormatCase("\($0) as \(place.name)", place.sender, place.packet($0), place.notUTF8)
    }
    let good = nearlyNotUTF8.map {
      FormatCase("\($0) as \(place.name)", place.sender, place.packet($0), [])
    }
    return bad + good + [
      FormatCase(
        "U+0000 in \(place.name)", place.sender, place.packet([0x61, 0, 0x62]), place.null),
      FormatCase("U+0001 in \(place.name)", place.sender, place.packet([0x61, 1, 0x62]), []),
    ]
  }

  // MARK: Topics and filters

  private static let topics: [FormatCase] = places.flatMap { place -> [FormatCase] in
    let isTopic = place.name.hasPrefix("topic")
    let isFilter = place.name.contains("filter")
    let isWill = place.name == "will topic"
    func make(_ text: String, _ violated: Set<String>) -> FormatCase {
      FormatCase(
        "\"\(text)\" as \(place.name)", place.sender, place.packet(Array(text.utf8)), violated)
    }
    let wild: Set<String> = isTopic ? ["3.3.2-2", "4.7.1-1"] : isWill ? ["4.7.1-1"] : []
    let many: Set<String> = isFilter ? ["4.7.1-2"] : wild
    let single: Set<String> = isFilter ? ["4.7.1-3"] : wild
    return ["#", "a/#", "/#"].map { make($0, isFilter ? [] : wild) }
      + ["a#", "#/a", "a/#/b", "a/b#", "##"].map { make($0, many) }
      + ["+", "+/+", "a/+/b", "/+", "a/+"].map { make($0, isFilter ? [] : wild) }
      + ["a+", "+a", "a/+b/c", "++"].map { make($0, single) }
      + ["/", "a b", "$SYS/a", "*"].map { make($0, []) }
      + (isTopic || isFilter || isWill ? [make("", ["4.7.3-1"])] : [make("", [])])
  }

  // MARK: Fixed headers

  /// The body of a packet of each type, the flags that it has to have, and who sends it.
  private static let types:
    [(name: String, firstByte: UInt8, body: [UInt8], senders: [Peer], clauses: Set<String>)] = [
      ("CONNECT", 0x10, field("MQTT") + [4, 2, 0, 0] + field("c"), [.client], []),
      ("CONNACK", 0x20, [0, 0], [.server], []),
      ("PUBACK", 0x40, [0, 7], [.client, .server], []),
      ("PUBREC", 0x50, [0, 7], [.client, .server], []),
      ("PUBREL", 0x62, [0, 7], [.client, .server], ["3.6.1-1"]),
      ("PUBCOMP", 0x70, [0, 7], [.client, .server], []),
      ("SUBSCRIBE", 0x82, [0, 7] + subscribed, [.client], ["3.8.1-1"]),
      ("SUBACK", 0x90, [0, 7, 0], [.server], []),
      ("UNSUBSCRIBE", 0xA2, [0, 7] + field("ok"), [.client], ["3.10.1-1"]),
      ("UNSUBACK", 0xB0, [0, 7], [.server], []),
      ("PINGREQ", 0xC0, [], [.client], []),
      ("PINGRESP", 0xD0, [], [.server], []),
      ("DISCONNECT", 0xE0, [], [.client], []),
    ]

  private static let headers: [FormatCase] = types.flatMap { type in
    type.senders.flatMap { sender in
      (UInt8(0)...15).map { flags in
        FormatCase(
          "\(type.name) with flags \(flags) of the \(sender)", sender,
          FormatCase.packet(type.firstByte & 0xF0 | flags, type.body),
          flags == type.firstByte & 0x0F ? [] : type.clauses.union(["2.2.2-1"]))
      }
    }
  }

  private static let publishFlags: [FormatCase] = Peer.allCases.flatMap { sender in
    (UInt8(0)...15).map { flags in
      let qos = flags >> 1 & 0b11
      let isRepeated = flags & 0b1000 != 0
      return FormatCase(
        "PUBLISH with flags \(flags) of the \(sender)", sender,
        FormatCase.packet(0x30 | flags, field("ok") + (qos > 0 ? [0, 7] : []) + [1]),
        qos == 3 ? ["3.3.1-4"] : qos == 0 && isRepeated ? ["3.3.1-2", "4.3.1-1"] : [])
    }
  }

  // MARK: Identifiers and lists

  private static let identifiers: [FormatCase] = {
    var cases: [FormatCase] = []
    for (id, violated) in [([0, 0], ["2.3.1-1"]), ([0, 1], []), ([0xFF, 0xFF], [])]
      as [([UInt8], Set<String>)]
    {
      for sender in Peer.allCases {
        for qos: UInt8 in 1...2 {
          cases.append(
            FormatCase(
              "PUBLISH \(id) at QoS \(qos) of the \(sender)", sender,
              FormatCase.packet(0x30 | qos << 1, field("ok") + id + [1]), violated))
        }
        // Of what answers the clause does not speak.
        for type in types where type.body == [0, 7] && type.senders.contains(sender) {
          cases.append(
            FormatCase(
              "\(type.name) \(id) of the \(sender)", sender, FormatCase.packet(type.firstByte, id),
              []))
        }
      }
      cases += [
        FormatCase("SUBSCRIBE \(id)", .client, FormatCase.packet(0x82, id + subscribed), violated),
        FormatCase(
          "UNSUBSCRIBE \(id)", .client, FormatCase.packet(0xA2, id + field("ok")), violated),
      ]
    }
    for sender in Peer.allCases {
      for qos: UInt8 in 1...2 {
        cases.append(
          FormatCase(
            "PUBLISH with half of an identifier at QoS \(qos) of the \(sender)", sender,
            FormatCase.packet(0x30 | qos << 1, field("ok") + [0]), ["2.3.1-1"]))
      }
    }
    return cases
  }()

  private static let lists: [FormatCase] = [
    FormatCase("SUBSCRIBE without an identifier", .client, [0x82, 1, 0], ["2.3.1-1", "3.8.3-3"]),
    FormatCase("SUBSCRIBE without filters", .client, [0x82, 2, 0, 7], ["3.8.3-3"]),
    FormatCase(
      "SUBSCRIBE with a filter that is cut", .client, [0x82, 5, 0, 7, 0, 5, 0x61], ["3.8.3-3"]),
    FormatCase(
      "SUBSCRIBE with a filter without QoS", .client, [0x82, 5, 0, 7, 0, 1, 0x61], ["3.8.3-3"]),
    FormatCase(
      "SUBSCRIBE with a filter that is cut behind a whole one", .client,
      FormatCase.packet(0x82, [0, 7] + subscribed + [0, 5, 0x61]), []),
    FormatCase("UNSUBSCRIBE without filters", .client, [0xA2, 2, 0, 7], ["3.10.3-2"]),
    FormatCase("UNSUBSCRIBE without an identifier", .client, [0xA2, 1, 0], ["2.3.1-1"]),
    FormatCase(
      "UNSUBSCRIBE with a filter that is cut", .client, [0xA2, 5, 0, 7, 0, 5, 0x61], ["3.10.3-1"]),
    FormatCase(
      "UNSUBSCRIBE with a filter that is cut behind a whole one", .client,
      FormatCase.packet(0xA2, [0, 7] + field("ok") + [0, 5, 0x61]), ["3.10.3-1"]),
  ]

  private static let cutTopics: [FormatCase] = Peer.allCases.flatMap { sender in
    [
      FormatCase("a cut topic of the \(sender)", sender, [0x30, 3, 0, 5, 0x61], ["3.3.2-1"]),
      FormatCase("half of a length of the \(sender)", sender, [0x30, 1, 0], ["3.3.2-1"]),
      FormatCase("a topic without payload of the \(sender)", sender, [0x30, 3, 0, 1, 0x61], []),
    ]
  }

  private static let codes: [FormatCase] = (UInt8.min...UInt8.max).map { code in
    FormatCase(
      "SUBACK with code \(code)", .server, [0x90, 3, 0, 7, code],
      [0, 1, 2, 0x80].contains(code) ? [] : ["3.9.3-2"],
      before: FormatCase.packet(0x82, [0, 7] + field("ok") + [2]))
  }

  private static let acceptances: [FormatCase] = (UInt8.min...UInt8.max).flatMap { code in
    [UInt8(0), 1].map { present in
      FormatCase(
        "CONNACK with code \(code) and Session Present \(present)", .server,
        [0x20, 2, present, code],
        code != 0 && present == 1 ? ["3.2.2-4"] : [],
        before: nil)
    }
  }

  // MARK: CONNECT

  /// Every byte of flags, with the fields that it announces.
  private static let connectFlags: [FormatCase] = (UInt8.min...UInt8.max).map { flags in
    let hasWill = flags & 0b100 != 0
    let willQoS = flags >> 3 & 0b11
    let willRetain = flags & 0b10_0000 != 0
    let hasUsername = flags & 0x80 != 0
    let hasPassword = flags & 0x40 != 0
    var violated: Set<String> = []
    if !hasWill, willQoS != 0 { violated.formUnion(["3.1.2-11", "3.1.2-13"]) }
    if !hasWill, willRetain { violated.formUnion(["3.1.2-11", "3.1.2-15"]) }
    if hasWill, willQoS == 3 { violated.insert("3.1.2-14") }
    if hasPassword, !hasUsername { violated.insert("3.1.2-22") }
    var payload = field("c")
    if hasWill { payload += field("t") + field("m") }
    if hasUsername { payload += field("u") }
    if hasPassword { payload += field("p") }
    return FormatCase("CONNECT with flags \(flags)", .client, connect(flags, payload), violated)
  }

  /// Fields that the flags announce and that are not there, and the other way round.
  private static let connectFields: [FormatCase] = {
    let (id, will, user, word) = (field("c"), field("t") + field("m"), field("u"), field("p"))
    return [
      .init("no client identifier", .client, connect(0x02, []), ["3.1.3-3"]),
      .init("a client identifier that is cut", .client, connect(0x02, [0, 5, 0x61]), ["3.1.3-3"]),
      .init("an empty identifier, not clean", .client, connect(0x00, [0, 0]), ["3.1.3-7"]),
      .init("an empty identifier, clean", .client, connect(0x02, [0, 0]), []),
      .init("no will", .client, connect(0x06, id), ["3.1.2-9", "3.1.3-1"]),
      .init("half of a will", .client, connect(0x06, id + field("t")), ["3.1.2-9", "3.1.3-1"]),
      .init("no user name", .client, connect(0x82, id), ["3.1.2-19", "3.1.3-1"]),
      .init(
        "no user name behind a will", .client, connect(0x86, id + will), ["3.1.2-19", "3.1.3-1"]),
      .init("no password", .client, connect(0xC2, id + user), ["3.1.2-21", "3.1.3-1"]),
      .init(
        "no password behind a will", .client, connect(0xC6, id + will + user),
        ["3.1.2-21", "3.1.3-1"]),
      .init("all of them", .client, connect(0xC6, id + will + user + word), []),
      // One that is left over is the first that may follow and that no flag announces.
      .init("an empty user name too many", .client, connect(0x02, id + [0, 0]), ["3.1.2-18"]),
      .init("a user name too many", .client, connect(0x02, id + user), ["3.1.2-18"]),
      .init(
        "a password too many", .client, connect(0x82, id + user + word), ["3.1.2-20", "3.1.3-1"]),
      .init(
        "a user name behind a will", .client, connect(0x06, id + will + user),
        ["3.1.2-18", "3.1.3-1"]),
      .init(
        "a login behind a will", .client, connect(0x06, id + will + user + word),
        ["3.1.2-18", "3.1.2-20", "3.1.3-1"]),
      .init(
        "a will and a user name too many", .client, connect(0x02, id + will + user),
        ["3.1.2-11", "3.1.2-18"]),
      .init(
        "a will and a login too many", .client, connect(0x02, id + will + user + word),
        ["3.1.2-11", "3.1.2-18", "3.1.2-20"]),
      .init(
        "a will too many before a user name", .client, connect(0x82, id + will + user),
        ["3.1.2-11", "3.1.3-1"]),
      .init(
        "bytes that are no field behind all of them", .client,
        connect(0xC6, id + will + user + word + [9]), ["3.1.3-1"]),
    ]
  }()

  static let all =
    strings + topics + headers + publishFlags + identifiers + lists + cutTopics + codes
    + acceptances + connectFlags + connectFields

  /// The clauses that ask the receiver of such a packet to close as well, which it does here; some ask the
  /// server alone.
  private static let closing: Set<String> = ["1.5.3-1", "1.5.3-2", "3.3.1-4"]
  private static let serverCloses: Set<String> = ["3.6.1-1", "3.8.1-1", "3.10.1-1"]

  @Test("A packet violates what it violates, and its near miss nothing")
  func formats() throws {
    var judge = try ConformanceJudge(
      catalogue: .bundled(),
      options: ConformanceOptions(
        specs: ["mqtt-3.1.1"], isStrict: true, maximumFindings: 100_000))
    var expected: Set<String> = []
    var spoken: [String: Int] = [:]
    for test in Self.all {
      let events = test.events
      judge.begin(file: test.name)
      for event in events { event.withView { judge.consume($0) } }
      judge.endFile()
      let frame = events[events.count - 2].context.frame
      for id in test.violated {
        expected.insert("\(test.name): \(id) at \(frame) by the \(test.sender)")
        if Self.closing.contains(id) || Self.serverCloses.contains(id) && test.sender == .client {
          spoken["MQTT-" + id, default: 0] += 1
        }
      }
      for (id, count) in FormatClause.counts(events) { spoken[id, default: 0] += count }
    }
    let results = judge.report(toolVersion: "1").results.filter {
      FormatClause.ids.contains(String($0.clause.id.dropFirst(5)))
    }
    var found: [String] = []
    for result in results {
      for finding in result.findings {
        let sender = finding.message.split(separator: " ").dropFirst().first ?? ""
        found.append(
          "\(finding.file): \(result.clause.id.dropFirst(5)) at \(finding.frame) by the \(sender)")
      }
      // Of a CONNECT with faults some clauses say nothing, as where a field before theirs is cut.
      let all = result.violated + result.satisfied + result.undecided
      if Self.isOfConnect(result.clause.id) { continue }
      #expect(all == spoken[result.clause.id] ?? 0, "\(result.clause.id)")
    }
    #expect(Set(found).subtracting(expected) == [])
    #expect(expected.subtracting(found) == [])
    #expect(found.count == expected.count)
    #expect(Self.all.count { !$0.violated.isEmpty } >= 500)
    #expect(Self.all.count { $0.violated.isEmpty } >= 500)
  }

  /// Whether a clause depends on more of a CONNECT than its flags.
  private static func isOfConnect(_ id: String) -> Bool {
    id == "MQTT-3.1.3-1" || id == "MQTT-3.1.3-7"
  }

  @Test("Each case has a name of its own")
  func names() { #expect(Set(Self.all.map(\.name)).count == Self.all.count) }

  @Test("Each clause of format is violated in one of the cases")
  func clauses() {
    #expect(Set(Self.all.flatMap(\.violated)) == Set(FormatClause.ids))
  }
}

import RepriseCore
import SessionDiff
import Testing
import Wire

/// One change makes one difference, with its frames and fields, and nothing else.
@Suite struct MutationTests {
  // 1 OPEN, 2 CONNECT, 3 CONNACK, 4 SUBSCRIBE, 5 SUBACK, 6 plant/1, 7 plant/2, 8 PUBACK, 9 from the server, 10 PUBACK,
  // 11 plant/3, 12 PUBREC, 13 PUBREL, 14 PUBCOMP, 15 PINGREQ, 16 PINGRESP, 17 DISCONNECT, 18 CLOSE.
  private static let talk = Talk.example()

  private static func publish(
    _ topic: String, _ payload: String, qos: UInt8 = 0, id: UInt16 = 0, retain: Bool = false,
    _ properties: [MQTTProperty] = []
  ) -> MQTTPacket.Content {
    .publish(
      MQTTPacket.Publish(
        topic: topic, payload: Array(payload.utf8), qos: qos, retain: retain, packetID: id,
        properties: properties))
  }

  private static let changes: [(Int, MQTTPacket.Content, [String])] = [
    (
      6, publish("plant/1", #"{"t":22,"n":1}"#, retain: true),
      ["changed 6 6 payload.t: 21.5 → 22"]
    ),
    (6, publish("plant/1", #"{"n":1,"t":21.50}"#, retain: true), []),
    (
      6, publish("plant/1", #"{"t":21.5,"n":1,"u":null}"#, retain: true),
      ["changed 6 6 payload.u: · → null"]
    ),
    (
      6, publish("plant/9", #"{"t":21.5,"n":1}"#, retain: true),
      [#"changed 6 6 topic: "plant/1" → "plant/9""#]
    ),
    (6, publish("plant/1", #"{"t":21.5,"n":1}"#), ["changed 6 6 retain: true → false"]),
    (
      6,
      publish(
        "plant/1", #"{"t":21.5,"n":1}"#, retain: true, [MQTTProperty(.contentType, .string("x"))]),
      [#"changed 6 6 properties.contentType: · → "x""#]
    ),
    (
      9, publish("plant/1", "from another", qos: 0),
      ["only-in-b · 10", "changed 9 9 qos: 1 → 0", "only-in-a 10 · answers 9"]
    ),
    (
      8, .acknowledgement(.puback, packetID: 2, .init(0x10)),
      ["changed 8 8 answers 7 reasonCodes: · → [16]"]
    ),
    (
      5, .suback(packetID: 1, codes: [0x80], []),
      ["changed 5 5 answers 4 reasonCodes[0]: 1 → 128"]
    ),
    (
      4, .subscribe(packetID: 1, [.init("plant/#", options: 1)], []),
      [#"changed 4 4 filters[0].filter: "plant/+" → "plant/#""#]
    ),
    (
      4, .subscribe(packetID: 1, [.init("plant/+", options: 0b101)], []),
      ["changed 4 4 filters[0].noLocal: · → true"]
    ),
    (3, .connack(.init(code: 0x87)), ["changed 3 3 returnCode: 0 → 135"]),
    (
      2, .connect(.init(clientID: "sensor", keepAlive: 5)), ["changed 2 2 keepAlive: 60 → 5"]
    ),
    (2, .connect(.init(clientID: "another")), []),
    (
      2, .connect(.init(clientID: "sensor", password: [1])),
      [#"changed 2 2 password: · → "***""#]
    ),
    (
      17, .disconnect(.init(4)), ["changed 17 17 reasonCodes: · → [4]"]
    ),
  ]

  @Test(arguments: changes.indices)
  func changesOneThing(_ index: Int) throws {
    let (frame, content, expected) = Self.changes[index]
    let other = try Self.talk.with(frame, content)
    #expect(try Self.talk.differences(from: other) == expected)
  }

  @Test(arguments: [
    (4, ["only-in-b · 5", "only-in-a 4 ·"]), (5, ["only-in-a 5 · answers 4"]),
    (6, ["only-in-a 6 ·"]), (7, ["only-in-b · 8", "only-in-a 7 ·"]),
    (8, ["only-in-a 8 · answers 7"]), (13, ["only-in-a 13 · answers 11"]), (15, []), (16, []),
    (17, ["only-in-a 17 ·"]), (18, ["only-in-a 18 ·"]), (1, []),
  ])
  func lacksOneThing(_ frame: Int, _ expected: [String]) throws {
    let other = Self.talk.without(frame)
    #expect(try Self.talk.differences(from: other) == expected)
    // The other way round what is missing is what is there.
    let turned = expected.map { line in
      let words = line.split(separator: " ").map(String.init)
      let frames =
        words[0] == "only-in-a" ? ["only-in-b", "·", words[1]] : ["only-in-a", words[2], "·"]
      return (frames + words.dropFirst(3)).joined(separator: " ")
    }
    #expect(try Set(other.differences(from: Self.talk)) == Set(turned))
  }

  @Test func hasOneThingMore() throws {
    var long = Talk()
    long.open()
    long.connect("sensor")
    for number in 0..<50 { long.publish(.client, "plant/\(number % 3)", "\(number % 7)") }
    long.close()
    let short = long.without(20)
    #expect(try long.differences(from: short) == ["only-in-a 20 ·"])
    #expect(try short.differences(from: long) == ["only-in-b · 20"])
  }

  @Test func swapsTwo() throws {
    let other = Self.talk.swapping(6, 7)
    let lines = try Self.talk.differences(from: other)
    #expect([["moved 6 7"], ["moved 7 6"]].contains(lines), "\(lines)")
    #expect(try Self.talk.differences(from: other, DiffOptions(ignoresOrder: true)) == [])
  }

  /// What acknowledges may come before or behind what the same end says else.
  @Test func doesNotOrderAcknowledgements() throws {
    #expect(try Self.talk.differences(from: Self.talk.swapping(8, 9)) == [])
    #expect(try Self.talk.differences(from: Self.talk.swapping(10, 11)) == [])
  }

  @Test func tellsTheEnd() throws {
    let other = Self.talk.without(18)
    var served = other
    served.close(by: .server)
    // Behind DISCONNECT both ends close, and which of them does first says nothing.
    #expect(try Self.talk.differences(from: served) == [])
    let leave = try Self.talk.without(17).differences(from: served)
    #expect(leave == ["only-in-b · 17"])
    let lines = try Self.talk.without(17).differences(from: served.without(17))
    #expect(lines == [#"changed 18 19 by: "client" → "server""#])
    var reset = other
    reset.close(.reset)
    let broken = try Self.talk.differences(from: reset)
    #expect(broken == [#"changed 18 19 how: "fin" → "reset""#])
    // How it would have ended is not known.
    var cut = other
    cut.close(.endOfCapture)
    #expect(try Self.talk.differences(from: cut) == [])
  }

  @Test func lacksAConnection() throws {
    var two = Self.talk
    two.connection = 2
    two.example("valve")
    #expect(try two.differences(from: Self.talk) == ["connection 2 only in A"])
    #expect(try Self.talk.differences(from: two) == ["connection 2 only in B"])
  }

  /// Of three connections of one client the second is missing.
  @Test func lacksOneOfAClient() throws {
    func talk(_ numbers: [Int]) -> Talk {
      var talk = Talk()
      for number in numbers {
        talk.connection = number
        talk.open()
        talk.connect("sensor")
        talk.publish(.client, "plant", "\(number)")
        talk.close()
      }
      return talk
    }
    #expect(try talk([1, 2, 3]).differences(from: talk([1, 3])) == ["connection 2 only in A"])
  }

  @Test func ignoresWhatItIsTold() throws {
    let other = try Self.talk.with(6, Self.publish("plant/1", #"{"t":22}"#, retain: true))
    var keys = RedactionRules()
    keys.keys = ["t", "n"]
    #expect(try Self.talk.differences(from: other, DiffOptions(ignoring: keys)) == [])
    keys.keys = ["N"]
    #expect(
      try Self.talk.differences(from: other, DiffOptions(ignoring: keys))
        == ["changed 6 6 payload.t: 21.5 → 22"])
    let topics = RedactionRules(topics: ["plant/#"])
    #expect(try Self.talk.differences(from: other, DiffOptions(ignoring: topics)) == [])
  }

  @Test func keepsWhatItIsAskedTo() throws {
    var other = Talk()
    other.pace = 2_000_000
    other.example(id: 11)
    #expect(try Self.talk.differences(from: other) == [])
    let ids = try Self.talk.differences(from: other, DiffOptions(details: [.ids]))
    #expect(ids.first == "changed 4 4 packetID: 1 → 11" && ids.count == 10)
    let times = try Self.talk.differences(from: other, DiffOptions(details: [.times]))
    #expect(times.count == 15 && times.allSatisfy { $0.contains("time: ") })
    let quiet = Self.talk.without(15)
    #expect(
      try Self.talk.differences(from: quiet, DiffOptions(details: [.pings]))
        == ["only-in-a 15 ·"])
  }
}

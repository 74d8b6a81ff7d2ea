import RepriseCore
import Testing
import Wire

@testable import Statistics

/// What is counted, and how much of it is kept.
@Suite struct SessionStatisticsTests {
  private static func text(_ name: Name) -> String { String(decoding: name.start, as: UTF8.self) }

  @Test func countsWhatATopicHas() throws {
    var session = HandMadeSession()
    session.publish(0, .client, "a", "12345")
    session.publish(10_000, .client, "a", qos: 1, id: 1, "123")
    session.publish(30_000, .client, "a", qos: 1, id: 1, "123", dup: true)
    session.publish(20_000, .client, "a", "1")
    session.publish(20_001, .server, "a", "1")
    session.publish(20_002, .client, "b", "")
    let statistics = session.counted()
    let topics = statistics.topics.top(10)
    #expect(topics.map { Self.text($0.name) } == ["a", "b"] && topics.map(\.count) == [5, 1])
    let topic = try #require(topics.first?.value)
    #expect(topic.traffic.client == Traffic(messages: 4, bytes: 36, payload: 12))
    #expect(topic.traffic.server == Traffic(messages: 1, bytes: 6, payload: 1))
    #expect(topic.publishes.client.byQoS == [2, 2, 0, 0] && topic.largest == 5)
    #expect(topic.publishes.client.duplicates == 1 && topic.steps == 1)
    #expect(topic.intervals.client.count == 2 && topic.intervals.client.sum == 30_000_000)
    #expect(topic.intervals.server.count == 0)
    #expect(statistics.duration == 30_000_000 && statistics.payloadSizes.sum == 13)
  }

  /// What a snapshot length cut off was sent all the same.
  @Test func countsWhatWasCutOff() throws {
    var session = HandMadeSession()
    let content = MQTTPacket.Content.publish(
      .init(topic: "a", payload: Array(repeating: 49, count: 100)))
    let whole = try MQTTPacket(content, version: .v3_1_1).encoded()
    session.add(0, .client, .mqtt(PacketBytes(Array(whole.prefix(15)))))
    session.add(1, .client, .mqtt(PacketBytes(Array(whole.prefix(4)))))
    let statistics = session.counted()
    let topic = try #require(
      statistics.topics.top(9).first { Self.text($0.name) == "a" }?.value)
    #expect(topic.traffic.client == Traffic(messages: 1, bytes: 105, payload: 100))
    #expect(topic.largest == 100 && statistics.payloadSizes.sum == 100)
  }

  @Test func findsTopicsBehindTheirAliases() {
    var session = HandMadeSession()
    session.version = .v5_0
    let alias = [MQTTProperty(.topicAlias, .integer(3))]
    session.publish(0, .client, "a", "", alias)
    session.publish(1, .client, "", "", alias)
    // The numbers of the server are its own.
    session.publish(2, .server, "", "", alias)
    session.connection = 2
    session.publish(3, .client, "", "", alias)
    let statistics = session.counted()
    #expect(statistics.topics.top(9).map(\.count) == [2] && statistics.unknownTopics == 2)
  }

  @Test func namesWhatWentWrong() {
    var session = HandMadeSession()
    session.version = .v5_0
    session.accept(0, code: 0x87)
    session.send(1, .server, .suback(packetID: 1, codes: [0, 0x80, 0x87, 2], []))
    session.acknowledge(2, .server, .puback, 1, code: 0x10)
    session.acknowledge(3, .server, .puback, 2, code: 0x97)
    session.lose(4, .client)
    let problems = session.counted().problems.map { problem, tally in
      "\(tally.count) \(problem.event) \(problem.sender?.rawValue ?? "") \(problem.text) \(tally.bytes) "
        + "at \(tally.first.frame)"
    }
    #expect(
      problems.sorted() == [
        "1 CONNACK server not authorized (0x87) 0 at 1",
        "1 GAP client bytes missing (acknowledged) 7 at 5",
        "1 PUBACK server quota exceeded (0x97) 0 at 4",
        "1 SUBACK server not authorized (0x87) 0 at 2",
        "1 SUBACK server unspecified error (0x80) 0 at 2",
      ])
  }

  /// 10,000 clients at once, where there is room and where there is none.
  @Test(arguments: [(16_384, 32_768, 10_000), (100, 1_000, 100)])
  func isBounded(_ clients: Int, _ connections: Int, _ kept: Int) {
    var session = HandMadeSession()
    for number in 1...10_000 {
      session.connection = number
      session.open(number)
      session.connect(number, "client-\(number)")
      session.publish(number, .client, "topic/\(number)", qos: 1, id: 1, "x")
    }
    for number in 1...10_000 {
      session.connection = number
      session.acknowledge(20_000 + number, .server, .puback, 1)
    }
    var limits = StatisticsLimits()
    (limits.clients, limits.topics, limits.connections) = (clients, clients, connections)
    let statistics = session.counted(limits)
    #expect(statistics.clients.count == kept && statistics.topics.count == kept)
    #expect(statistics.busiest.count == 10)
    #expect(statistics.traffic.client.messages == 20_000)
    let isWhole = kept == 10_000
    #expect((statistics.givenUpConnections == 0) == isWhole)
    #expect((statistics.clients.replacements == 0) == isWhole)
    let tally = statistics.exchanges[Int(ExchangeKind.publishing.rawValue)].client
    #expect(tally.asked == 10_000 && tally.unanswered == 0)
    #expect(tally.times.count == (isWhole ? 10_000 : tally.times.count))
    #expect(tally.times.count + tally.undecided == 10_000)
  }
}

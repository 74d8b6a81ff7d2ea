import RepriseCore
import Statistics
import Testing
import Wire

/// What is told of sessions made by hand.
@Suite struct StorytellerTests {
  /// The sentences on some connections, each behind its frames and connection, and the lines at the end.
  private static func story(_ session: HandMadeSession, of connections: Set<Int> = [1]) -> [String]
  {
    var teller = Storyteller()
    var lines: [String] = []
    func tell(_ sentence: Sentence) {
      lines.append(
        "\(sentence.frame)-\(sentence.lastFrame) #\(sentence.connection) \(sentence.text)")
    }
    var order = StoryOrder()
    for (event, _) in session.events {
      event.withView { view in
        try? teller.observe(view) { try order.add($0, tell) }
        guard connections.contains(view.context.connection) else { return }
        try? teller.consume(view) { try order.add($0, tell) }
      }
    }
    try? teller.finish { try order.add($0, tell) }
    try? order.finish(tell)
    return lines + teller.endLines + [teller.closingLine, teller.slowLine]
  }

  @Test func gathersWhatHappensAgain() {
    var session = HandMadeSession()
    for number in 0..<1_000 {
      session.publish(number * 2_000, .client, "a", "12")
      if number.isMultiple(of: 100) { session.publish(number * 2_000 + 1, .server, "b", "1") }
    }
    #expect(
      Self.story(session) == [
        "1-1010 #1 publishes 1,000 messages to \"a\" (QoS 0, 1.95 KiB), to frame 1010, every 2.0 ms on average",
        "2-911 #1 receives 10 messages on \"b\" (QoS 0, 10 B), to frame 911, every 200 ms on average",
        "No connection was closed as far as the capture shows.",
        "Slow: no answer whose time the capture shows.",
      ])
  }

  /// The server's FIN of frame 2 has no answer, so that its end is told behind all others.
  @Test func tellsAnEndWhereItHappened() {
    var session = HandMadeSession()
    session.open(0)
    session.add(1_000_000, .client, .gap(Gap(bytes: 7, reason: .acknowledged)))
    session.connection = 2
    session.open(9_000_000)
    session.lose(9_500_000, .client)
    session.close(9_600_000, .fin, by: .client)
    session.connection = 1
    let time = Timestamp(nanoseconds: 1_790_000_000_000_000_000 + 2_000_000_000)
    session.add(
      60_000_000, .server, .closed(ConnectionClosing(how: .fin, firstFrame: 2, firstTime: time)))
    #expect(
      Self.story(session, of: [1, 2]) == [
        "1-1 #1 opens a connection from 10.0.0.1:40001 to 10.0.0.2:1883",
        "2-2 #1 7 bytes of the client are missing (acknowledged); what they said is not known",
        "2-2 #1 the server closes the connection; bytes are missing before its end, so the capture does not show why",
        "3-3 #2 opens a connection from 10.0.0.1:40002 to 10.0.0.2:1883, 7.00 s after the end of connection 1",
        "4-4 #2 7 bytes of the client are missing (acknowledged); what they said is not known",
        "5-5 #2 closes the connection; bytes are missing before its end, so the capture does not show why",
        "2 of 2 connections: not known: bytes are missing before the end.",
        "Closed: connection 2: bytes are missing before its end, so the capture does not show why.",
        "Slow: no answer whose time the capture shows.",
      ])
  }

  @Test func tellsWhatStaysUnanswered() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1, "1")
    session.publish(1_000, .client, "a", qos: 1, id: 2, "1")
    session.acknowledge(3_000, .server, .puback, 2)
    session.close(9_000, .reset, by: .server)
    #expect(
      Self.story(session) == [
        "1-2 #1 publishes 2 messages to \"a\" (QoS 1, 2 B), to frame 2",
        "4-4 #1 the server has not answered 1 question (PUBLISH, PUBACK), the first in frame 1, when "
          + "the connection is closed",
        "4-4 #1 the server resets the connection without DISCONNECT; the capture does not show why",
        "Closed: connection 1: the server reset it; the capture does not show why.",
        "Slow: PUBLISH, PUBACK of frame 2, connection 1, took 2.00 ms.",
      ])
  }

  @Test func doesNotGuessWhatIsMissing() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1, "1")
    session.lose(10, .server)
    session.close(20, .fin, by: .server)
    #expect(
      Self.story(session) == [
        "1-1 #1 publishes a message to \"a\" (QoS 1, 1 B)",
        "2-2 #1 7 bytes of the server are missing (acknowledged); what they said is not known",
        "3-3 #1 the server closes the connection; bytes are missing before its end, so the capture "
          + "does not show why",
        "Closed: connection 1: bytes are missing before its end, so the capture does not show why.",
        "Slow: no answer whose time the capture shows.",
      ])
  }

  /// A will that another client gets, and a message on its topic that is not it.
  @Test(arguments: [("gone", 1), ("else", 0)])
  func tellsOfAWill(_ payload: String, _ count: Int) {
    var session = HandMadeSession()
    let will = MQTTPacket.Will(topic: "w", payload: Array("gone".utf8))
    session.send(0, .client, .connect(MQTTPacket.Connect(clientID: "c", will: will)))
    session.close(1_000, .fin, by: .client)
    session.connection = 2
    session.publish(3_000, .server, "w", payload)
    let told = Self.story(session).filter { $0.contains("like the will") }
    #expect(
      told
        == Array(
          repeating:
            "3-3 #2 the server delivers a message like the will of connection 1, on \"w\", "
            + "2.00 ms after its end", count: count))
  }

  @Test func tellsOfATakeoverThatIsNotItsOwnConnection() {
    var session = HandMadeSession()
    session.open(0)
    session.connect(10, "c")
    session.accept(20)
    session.connection = 2
    session.open(1_000)
    session.connect(2_000, "c")
    session.connection = 1
    session.close(3_000, .fin, by: .server)
    #expect(
      Self.story(session).contains(
        "Closed: connection 1: the server closed it after its client had connected again, on "
          + "connection 2 in frame 5, 1.00 ms before."))
  }
}

import RepriseCore
import Statistics
import Testing
import Wire

/// Times from questions to answers, by sessions whose times are known.
@Suite struct ExchangeTests {
  @Test func pairsWhatEveryConnectionHas() {
    var session = HandMadeSession()
    session.open(0)
    session.connect(300, "c")
    session.accept(1_000)
    session.send(2_000, .client, .subscribe(packetID: 1, [.init("a", options: 0)], []))
    session.send(2_250, .server, .suback(packetID: 1, codes: [0], []))
    session.send(3_000, .client, .unsubscribe(packetID: 1, ["a"], []))
    session.send(3_100, .server, .unsuback(packetID: 1, codes: [], []))
    session.send(4_000, .client, .pingreq)
    session.send(4_040, .server, .pingresp)
    session.close(5_000, .fin, by: .client)
    #expect(
      session.exchanges() == [
        "client open-connect 1: 1 in 300...300 Σ300, none 0, open 0, ? 0",
        "client connect-connack 1: 1 in 700...700 Σ700, none 0, open 0, ? 0",
        "client subscribe-suback 1: 1 in 250...250 Σ250, none 0, open 0, ? 0",
        "client unsubscribe-unsuback 1: 1 in 100...100 Σ100, none 0, open 0, ? 0",
        "client pingreq-pingresp 1: 1 in 40...40 Σ40, none 0, open 0, ? 0",
      ])
  }

  /// Identifiers of the two ends are two things, answers come in any order, and an identifier is used again.
  @Test func pairsByIdentifierAndEnd() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.publish(10, .server, "b", qos: 1, id: 1)
    session.publish(20, .client, "a", qos: 1, id: 2)
    session.acknowledge(30, .server, .puback, 2)
    session.acknowledge(50, .server, .puback, 1)
    session.acknowledge(90, .client, .puback, 1)
    session.publish(100, .client, "a", qos: 1, id: 1)
    session.acknowledge(107, .server, .puback, 1)
    // What nobody asked for answers nothing.
    session.acknowledge(108, .server, .puback, 9)
    #expect(
      session.exchanges() == [
        "client publish-puback 3: 3 in 7...50 Σ67, none 0, open 0, ? 0",
        "server publish-puback 1: 1 in 80...80 Σ80, none 0, open 0, ? 0",
      ])
  }

  @Test func followsQoS2ThroughAllItsSteps() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 2, id: 1)
    session.publish(5, .client, "a", qos: 2, id: 2)
    session.acknowledge(10, .server, .pubrec, 1)
    session.acknowledge(30, .client, .pubrel, 1)
    session.acknowledge(35, .server, .pubrec, 2)
    session.acknowledge(70, .server, .pubcomp, 1)
    session.close(100, .reset, by: .server)
    #expect(
      session.exchanges() == [
        "client publish-pubrec 2: 2 in 10...30 Σ40, none 0, open 0, ? 0",
        "server pubrec-pubrel 2: 1 in 20...20 Σ20, none 1, open 0, ? 0",
        "client pubrel-pubcomp 1: 1 in 40...40 Σ40, none 0, open 0, ? 0",
        "client publish-pubcomp 2: 1 in 70...70 Σ70, none 1, open 0, ? 0",
      ])
  }

  /// In 5.0 a PUBREC can refuse, and nothing follows it; with a code that accepts it does.
  @Test(arguments: [(0x97 as UInt8, 0), (0x10, 1)])
  func endsQoS2WithARefusal(_ code: UInt8, _ releases: Int) {
    var session = HandMadeSession()
    session.version = .v5_0
    session.publish(0, .client, "a", qos: 2, id: 1)
    session.acknowledge(10, .server, .pubrec, 1, code: code)
    session.close(100, .fin, by: .client)
    let whole = "client publish-pubcomp 1: "
    let rest = ", open 0, ? 0"
    #expect(
      session.exchanges() == ["client publish-pubrec 1: 1 in 10...10 Σ10, none 0" + rest]
        + (releases == 0
          ? [whole + "1 in 10...10 Σ10, none 0" + rest]
          : [
            "server pubrec-pubrel 1: 0 in 0...0 Σ0, none 1" + rest,
            whole + "0 in 0...0 Σ0, none 1" + rest,
          ]))
  }

  @Test(arguments: [
    (ConnectionClosing.How.fin, "none 1, open 0, ? 0"), (.reset, "none 1, open 0, ? 0"),
    (.endOfCapture, "none 0, open 1, ? 0"),
  ])
  func tellsTheEndOfAConnectionFromThatOfTheCapture(
    _ how: ConnectionClosing.How, _ outcome: String
  ) {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.close(100, how, by: .server)
    #expect(session.exchanges() == ["client publish-puback 1: 0 in 0...0 Σ0, " + outcome])
  }

  @Test func knowsNothingOfWhatNoEventEnds() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    #expect(
      session.exchanges() == ["client publish-puback 1: 0 in 0...0 Σ0, none 0, open 0, ? 1"])
  }

  /// What is open at a gap may have been answered in it, and what is asked behind it may be answered in another one.
  @Test(arguments: Peer.allCases) func decidesNothingAcrossMissingBytes(_ sender: Peer) {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.lose(10, sender)
    session.acknowledge(20, .server, .puback, 1)
    session.publish(30, .client, "a", qos: 1, id: 1)
    session.acknowledge(36, .server, .puback, 1)
    session.publish(40, .client, "a", qos: 1, id: 2)
    session.lose(50, .server)
    session.publish(60, .client, "a", qos: 1, id: 3)
    session.close(100, .fin, by: .server)
    #expect(
      session.exchanges() == ["client publish-puback 4: 1 in 6...6 Σ6, none 0, open 0, ? 3"])
  }

  @Test func decidesNothingBehindBytesThatCanNotBeRead() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.add(
      10, .server, .malformed(Malformation(code: "not-mqtt", offset: 0, message: "no MQTT")))
    session.publish(20, .client, "a", qos: 1, id: 2)
    session.close(100, .fin, by: .server)
    #expect(
      session.exchanges() == ["client publish-puback 2: 0 in 0...0 Σ0, none 0, open 0, ? 2"])
  }

  @Test(arguments: [(-1, 0, 1), (0, 1, 0)])
  func measuresNothingWhereTheClockGoesBack(_ microseconds: Int, _ count: Int, _ undecided: Int) {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.acknowledge(microseconds, .server, .puback, 1)
    #expect(
      session.exchanges() == [
        "client publish-puback 1: \(count) in 0...0 Σ0, none 0, open 0, ? \(undecided)"
      ])
  }

  @Test func decidesNothingWhereTheOrderIsNotKnown() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.isUncertain = true
    session.acknowledge(10, .server, .puback, 1)
    session.isUncertain = false
    // The answer may have come before the question.
    session.publish(20, .client, "a", qos: 1, id: 2)
    session.close(100, .fin, by: .server)
    #expect(
      session.exchanges() == ["client publish-puback 2: 0 in 0...0 Σ0, none 0, open 0, ? 2"])
  }

  /// A message that is sent again is the same question; another one by its identifier makes both unclear.
  @Test(arguments: [true, false]) func takesARepeatForTheSameQuestion(_ isRepeat: Bool) {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.publish(50, .client, "a", qos: 1, id: 1, dup: isRepeat)
    session.acknowledge(80, .server, .puback, 1)
    #expect(
      session.exchanges() == [
        isRepeat
          ? "client publish-puback 1: 1 in 80...80 Σ80, none 0, open 0, ? 0"
          : "client publish-puback 2: 0 in 0...0 Σ0, none 0, open 0, ? 2"
      ])
  }

  @Test func pairsPingsInTheirOrder() {
    var session = HandMadeSession()
    session.send(0, .client, .pingreq)
    session.send(10, .client, .pingreq)
    session.send(15, .server, .pingresp)
    session.send(30, .server, .pingresp)
    session.send(31, .server, .pingresp)
    session.send(40, .client, .pingreq)
    session.send(41, .server, .pingresp)
    #expect(
      session.exchanges() == ["client pingreq-pingresp 3: 3 in 1...20 Σ36, none 0, open 0, ? 0"])
  }

  /// The answer to a ping that is missing may come behind the next one.
  @Test func decidesNoPingBehindOneThatMayBeMissing() {
    var session = HandMadeSession()
    session.lose(0, .client)
    session.send(10, .client, .pingreq)
    session.send(15, .server, .pingresp)
    session.send(20, .client, .pingreq)
    session.send(27, .server, .pingresp)
    #expect(
      session.exchanges() == ["client pingreq-pingresp 2: 1 in 7...7 Σ7, none 0, open 0, ? 1"])
  }

  private static func properties(_ topic: String?, _ data: String?) -> [MQTTProperty] {
    (topic.map { [MQTTProperty(.responseTopic, .string($0))] } ?? [])
      + (data.map { [MQTTProperty(.correlationData, .binary(Array($0.utf8)))] } ?? [])
  }

  @Test func pairsRequestsOfMQTT5ByTopicAndData() {
    var session = HandMadeSession()
    session.version = .v5_0
    session.publish(0, .client, "ask", "?", Self.properties("answers", "1"))
    session.publish(10, .client, "ask", "?", Self.properties("answers", "2"))
    session.publish(30, .server, "answers", "!", Self.properties(nil, "2"))
    session.publish(40, .server, "answers", "!", Self.properties(nil, "3"))
    session.publish(50, .server, "other", "!", Self.properties(nil, "1"))
    session.publish(60, .client, "answers", "!", Self.properties(nil, "1"))
    session.publish(70, .client, "ask", "?", Self.properties("answers", nil))
    session.publish(75, .server, "answers", "!")
    session.close(100, .fin, by: .client)
    #expect(
      session.exchanges() == [
        "client request-response 3: 2 in 5...20 Σ25, none 1, open 0, ? 0"
      ])
  }

  @Test func pairsCallsByTheTopicOfTheirReplyAndId() {
    var session = HandMadeSession()
    let (up, down) = ("/sys/pk/dn/app/up/a/b", "/sys/pk/dn/app/down/a/b")
    session.publish(0, .client, up, #"{"id":"1","request":{}}"#)
    session.publish(10, .client, up, #"{"id":"2","request":{}}"#)
    session.publish(25, .server, down + "_reply", #"{"id":2,"code":200}"#)
    session.publish(30, .server, up + "_reply", #"{"id":"1","code":200}"#)
    session.publish(40, .client, "/sys/pk/dn/thing/topo/add", #"{"id":"3"}"#)
    session.publish(44, .server, "/sys/pk/dn/thing/topo/add_reply", #"{"id":"3"}"#)
    // No reply has to come to these, and to the last none is a call.
    session.publish(50, .server, down, #"{"id":"7","params":{}}"#)
    session.publish(60, .client, "/sys/pk/dn/thing/event/post", #"{"id":"8"}"#)
    session.publish(70, .client, "plant/a", #"{"id":"9","request":{}}"#)
    session.close(100, .fin, by: .client)
    #expect(
      session.exchanges() == ["client call-reply 3: 2 in 4...15 Σ19, none 1, open 0, ? 0"])
  }

  private static func frame(_ opcode: WebSocketOpcode, _ payload: String) -> Event.Body {
    .webSocket(WebSocketFrame(opcode, Array(payload.utf8)))
  }

  @Test func pairsPingsOfWebSocketByTheirPayload() {
    var session = HandMadeSession()
    session.add(0, .client, Self.frame(.ping, "1"))
    session.add(5, .server, Self.frame(.ping, "1"))
    session.add(9, .client, Self.frame(.ping, "2"))
    session.add(10, .client, Self.frame(.ping, "3"))
    session.add(15, .server, Self.frame(.pong, "1"))
    session.add(20, .server, Self.frame(.pong, "9"))
    // A Pong may stand for all Pings before it.
    session.add(30, .server, Self.frame(.pong, "3"))
    session.close(100, .fin, by: .client)
    #expect(
      session.exchanges() == [
        "client ping-pong 3: 2 in 15...20 Σ35, none 0, open 0, ? 1",
        "server ping-pong 1: 0 in 0...0 Σ0, none 1, open 0, ? 0",
      ])
  }

  @Test func pairsRequestsOverWebSocketByNumber() {
    var session = HandMadeSession()
    session.add(0, .client, Self.frame(.text, #"{"service":"a","uniqueId":1}"#))
    session.add(1, .client, Self.frame(.text, #"{"service":"system/heart-beat","uniqueId":2}"#))
    session.add(2, .client, Self.frame(.text, #"{"service":"a","uniqueId":3}"#))
    session.add(9, .server, Self.frame(.text, #"{"service":"a","uniqueId":3}"#))
    session.add(10, .server, Self.frame(.text, #"{"service":"a","uniqueId":"1"}"#))
    session.add(11, .server, Self.frame(.text, #"{"service":"a","n":1}"#))
    session.close(100, .fin, by: .client)
    #expect(
      session.exchanges() == [
        "client websocket-request-response 2: 1 in 7...7 Σ7, none 1, open 0, ? 0"
      ])
  }

  /// Of an app's own keys, one of letters that JSON may write in two ways; an `id` counts as it always does.
  @Test(arguments: ["seq", "序号"])
  func pairsRequestsByTheKeysOfAnEnvelope(id: String) {
    var envelope = RequestEnvelope()
    (envelope.id, envelope.service, envelope.heartbeat) = (id, "path", "ping")
    var session = HandMadeSession()
    session.add(0, .client, Self.frame(.text, #"{"path":"ping","\#(id)":1}"#))
    session.add(1, .client, Self.frame(.text, #"{"path":"a","\#(id)":2}"#))
    session.add(2, .client, Self.frame(.text, #"{"path":"a","uniqueId":3}"#))
    session.add(3, .client, Self.frame(.text, #"{"id":4,"method":"a"}"#))
    let escaped = id == "seq" ? id : #"\u5e8f\u53f7"#
    session.add(8, .server, Self.frame(.text, #"{"path":"a","\#(escaped)":2}"#))
    session.add(11, .server, Self.frame(.text, #"{"path":"a","uniqueId":3}"#))
    session.add(13, .server, Self.frame(.text, #"{"id":4,"result":{}}"#))
    session.close(100, .fin, by: .client)
    #expect(
      session.exchanges(StatisticsLimits(), envelope) == [
        "client websocket-request-response 2: 2 in 7...10 Σ17, none 0, open 0, ? 0"
      ])
    // Without it, those of the SDK count.
    #expect(
      session.exchanges() == [
        "client websocket-request-response 2: 2 in 9...10 Σ19, none 0, open 0, ? 0"
      ])
  }

  /// JSON-RPC 2.0, where either end asks, and other texts with an id, to which no answer need come.
  @Test func pairsTextsOverWebSocketByID() {
    var session = HandMadeSession()
    session.add(0, .client, Self.frame(.text, #"{"id":1,"method":"a"}"#))
    session.add(1, .client, Self.frame(.text, #"{"id":"1","method":"a"}"#))
    session.add(2, .client, Self.frame(.text, #"{"id":2,"method":"a"}"#))
    session.add(3, .client, Self.frame(.text, #"{"method":"told"}"#))
    session.add(4, .client, Self.frame(.text, #"[{"id":9}]"#))
    session.add(5, .server, Self.frame(.text, #"{"id":"1","result":{}}"#))
    session.add(7, .server, Self.frame(.text, #"{"id":1,"error":{"code":1}}"#))
    session.add(8, .server, Self.frame(.text, #"{"id":1,"method":"b"}"#))
    session.add(11, .client, Self.frame(.text, #"{"id":1,"result":null}"#))
    session.add(12, .client, Self.frame(.text, #"{"id":"sub","type":"subscribe"}"#))
    session.add(14, .server, Self.frame(.text, #"{"id":"sub","type":"next"}"#))
    session.add(15, .server, Self.frame(.text, #"{"id":"sub","type":"next"}"#))
    session.add(16, .client, Self.frame(.text, #"{"id":"sub","type":"stop"}"#))
    session.close(100, .fin, by: .client)
    #expect(
      session.exchanges() == [
        "client websocket-request-response 4: 3 in 2...7 Σ13, none 1, open 0, ? 0",
        "server websocket-request-response 1: 1 in 3...3 Σ3, none 0, open 0, ? 0",
      ])
  }

  /// Of the questions that were not chosen none is counted; the answers need not be.
  @Test func countsTheQuestionsThatWereChosen() {
    var session = HandMadeSession()
    session.publish(0, .client, "a", qos: 1, id: 1)
    session.isSelected = false
    session.publish(10, .client, "b", qos: 1, id: 2)
    session.acknowledge(20, .server, .puback, 1)
    session.acknowledge(30, .server, .puback, 2)
    #expect(
      session.exchanges() == ["client publish-puback 1: 1 in 20...20 Σ20, none 0, open 0, ? 0"])
  }

  @Test func givesTheOldestUpWhereThereAreTooMany() {
    var session = HandMadeSession()
    for number in 1...5 {
      session.connection = number
      session.publish(number, .client, "a", qos: 1, id: 1)
    }
    for number in (1...5).reversed() {
      session.connection = number
      session.acknowledge(100 - number, .server, .puback, 1)
    }
    var limits = StatisticsLimits()
    limits.questions = 3
    #expect(
      session.exchanges(limits) == [
        "client publish-puback 5: 3 in 90...94 Σ276, none 0, open 0, ? 2"
      ])
    #expect(session.counted(limits).givenUpQuestions == 2)
    limits.questions = 5
    #expect(session.counted(limits).givenUpQuestions == 0)
  }
}

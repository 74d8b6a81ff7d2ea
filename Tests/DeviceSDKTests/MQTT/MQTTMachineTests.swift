import RepriseCore
import Testing

@testable import DeviceSDK

/// The machine of an ordinary MQTT session, step by step.
@Suite struct MQTTMachineTests {
  // MARK: Connection

  @Test func connectsOnceAndSaysGoodbye() throws {
    var bench = try MQTTBench()
    bench.call(.start)
    bench.call(.start)
    #expect(bench.take() == ["1 CONNECT c", "connecting"])
    bench.receive(.connected(.init()))
    #expect(bench.take() == ["connected", "call 1 done", "call 2 done"])
    bench.call(.start)
    #expect(bench.take() == ["call 3 done"])
    bench.call(.stop)
    #expect(bench.take() == ["disconnected for good", "2 DISCONNECT"])
    bench.receive(.closed(.byUser))
    #expect(bench.take() == ["call 4 done"])
    #expect(bench.machine.deadline == nil)
  }

  @Test func triesAgainUntilItMayNot() throws {
    var bench = try MQTTBench()
    bench.call(.start)
    bench.receive(.closed(.unreached("nobody there")))
    #expect(bench.take() == ["1 CONNECT c", "connecting", "disconnected"])
    bench.expire()
    bench.receive(.closed(.refused(code: 3)))
    #expect(bench.take() == ["2 CONNECT c", "connecting", "disconnected"])
    bench.expire()
    // A wrong password is wrong the next time too.
    bench.receive(.closed(.refused(code: 4)))
    #expect(
      bench.take() == ["3 CONNECT c", "connecting", "disconnected for good", "call 1 refused"])
    #expect(bench.machine.deadline == nil)
  }

  @Test func withoutReconnectTheFirstLossIsTheLast() throws {
    var bench = try MQTTBench.connected { $0.reconnect = nil }
    bench.publish("t", .atLeastOnce)
    bench.lose()
    #expect(bench.take() == ["2 PUBLISH t:1", "disconnected for good", "call 2 notConnected"])
    #expect(bench.machine.deadline == nil)
    bench.publish("t", .atLeastOnce)
    #expect(bench.take() == ["call 3 notConnected"])
  }

  @Test func aStartEndsInTimeAndSaysWhatWasWrong() throws {
    var bench = try MQTTBench { $0.startTimeout = .milliseconds(1_500) }
    bench.call(.start)
    bench.receive(.closed(.unreached("nobody there")))
    bench.expire()
    _ = bench.take()
    bench.expire()
    #expect(bench.take() == ["call 1 notConnected"])
  }

  @Test func aKickAgainAndAgainIsFinal() throws {
    var bench = try MQTTBench.connected()
    for _ in 0..<2 {
      bench.receive(.closed(.byServer(code: 0x8E, "taken over")))
      bench.expire()
      bench.receive(.connected(.init()))
    }
    _ = bench.take()
    bench.receive(.closed(.byServer(code: 0x8E, "taken over")))
    #expect(bench.take() == ["disconnected for good"])
    #expect(bench.machine.deadline == nil)
  }

  @Test func aNetworkThatIsBackHurriesTheNextTry() throws {
    var bench = try MQTTBench.connected()
    bench.lose()
    let later = bench.machine.deadline
    bench.call(.setReachable(false))
    // Without a network nothing is tried.
    #expect(later != nil && bench.machine.deadline == nil)
    bench.receive(.deadline)
    #expect(bench.take() == ["disconnected", "call 2 done"])
    bench.call(.setReachable(true))
    #expect(bench.take() == ["2 CONNECT c", "connecting", "call 3 done"])
    bench.receive(.connected(.init()))
    bench.call(.setReachable(true))
    #expect(bench.take() == ["connected", "call 4 done"])
  }

  // MARK: Messages

  @Test(arguments: [
    (QoS.atMostOnce, false, ["call 2 lost"], [String]()),
    (.atLeastOnce, false, [], ["4 PUBLISH t:1"]),
    (.exactlyOnce, false, ["call 2 lost"], []),
    (.atMostOnce, true, ["call 2 lost"], []),
    // The session goes on, and so do its messages.
    (.atLeastOnce, true, [], []),
    (.exactlyOnce, true, [], []),
  ])
  func whatALossDoesToAMessage(
    _ qos: QoS, _ isKept: Bool, _ atLoss: [String], _ afterwards: [String]
  ) throws {
    var bench = try MQTTBench.connected { $0.cleanStart = !isKept }
    bench.publish("t", qos)
    bench.lose()
    #expect(bench.take() == ["2 PUBLISH t:\(qos.rawValue)"] + atLoss + ["disconnected"])
    bench.expire()
    bench.receive(.connected(.init(isSessionPresent: isKept)))
    #expect(
      bench.take() == [
        "3 CONNECT c", "connecting", isKept ? "connected to its session" : "connected",
      ] + afterwards)
    bench.acknowledge(isKept ? 2 : 4)
    #expect(bench.take() == (atLoss.isEmpty ? ["call 2 done"] : []))
  }

  @Test func aSessionThatTheServerLostIsAsNone() throws {
    var bench = try MQTTBench.connected { $0.cleanStart = false }
    bench.publish("one", .atLeastOnce)
    bench.publish("two", .exactlyOnce)
    bench.publish("three", .atLeastOnce)
    bench.lose()
    bench.expire()
    _ = bench.take()
    bench.receive(.connected(.init(isSessionPresent: false)))
    #expect(
      bench.take() == ["call 3 lost", "connected", "6 PUBLISH one:1", "7 PUBLISH three:1"])
  }

  @Test func whatIsSentWithoutConnectionWaitsInItsOrder() throws {
    var bench = try MQTTBench.connected { $0.queueLimit = 2 }
    bench.lose()
    bench.publish("a", .atMostOnce)
    bench.publish("b", .exactlyOnce)
    bench.publish("c", .atLeastOnce)
    #expect(bench.take() == ["disconnected", "call 4 notConnected"])
    bench.cancel(2)
    bench.publish("d", .atLeastOnce)
    bench.expire()
    bench.receive(.connected(.init()))
    #expect(
      bench.take() == [
        "2 CONNECT c", "connecting", "connected", "3 PUBLISH b:2", "4 PUBLISH d:1",
      ])
    bench.acknowledge(4)
    bench.acknowledge(3)
    bench.acknowledge(3)
    #expect(bench.take() == ["call 5 done", "call 3 done"])
    #expect(bench.machine.waitsForNothing)
  }

  @Test func whatTakesTooLongFails() throws {
    var bench = try MQTTBench.connected()
    bench.publish("a", .atLeastOnce, timeout: .seconds(1))
    #expect(!bench.machine.waitsForNothing)
    bench.expire()
    #expect(bench.take() == ["2 PUBLISH a:1", "call 2 timedOut"])
    #expect(
      bench.errors.last?.message
        == #"the server did not acknowledge the message on "a" within 1.0 seconds; try again or wait longer"#
    )
    // The answer that comes after it is nobody's.
    bench.acknowledge(2)
    #expect(bench.take().isEmpty)
    #expect(bench.machine.waitsForNothing)
  }

  @Test func aRefusalIsTheCallers() throws {
    var bench = try MQTTBench.connected()
    bench.publish("a", .atLeastOnce)
    bench.receive(.failed(.init(rawValue: 2), .refused(code: 0x87, reason: nil)))
    bench.publish("b", .exactlyOnce)
    bench.refuse(3, .unsupported)
    #expect(
      bench.take() == ["2 PUBLISH a:1", "call 2 refused", "3 PUBLISH b:2", "call 3 unsupported"])
  }

  @Test func whatMeetsALossIsSentOnTheNextConnection() throws {
    var bench = try MQTTBench.connected()
    bench.publish("a", .exactlyOnce)
    bench.hold("f", by: 1)
    bench.refuse(2, .notConnected)
    bench.refuse(3, .notConnected)
    _ = bench.take()
    bench.lose()
    bench.expire()
    bench.receive(.connected(.init()))
    #expect(bench.take() == ["disconnected", "4 CONNECT c", "connecting", "5 SUBSCRIBE f:1"])
    bench.grant(5, .atLeastOnce)
    #expect(bench.take() == ["call 3 done", "connected", "6 PUBLISH a:2"])
  }

  // MARK: Requests

  private func answer(_ bench: MQTTBench, to call: UInt64, on topic: String = "c/response")
    -> Message
  {
    let asked = bench.machine.messages[CallID(rawValue: call)]?.message.properties
    return Message(
      topic: topic, payload: [1],
      properties: MessageProperties(correlationData: asked?.correlationData ?? []))
  }

  @Test func aRequestAsksForItsTopicFirst() throws {
    var bench = try MQTTBench.connected()
    let request = Message(topic: "q", payload: [], qos: .atLeastOnce)
    bench.call(.request(request, timeout: nil))
    bench.call(.request(request, timeout: nil))
    #expect(bench.take() == ["2 SUBSCRIBE c/response:1"])
    bench.grant(2, .atLeastOnce)
    #expect(bench.take() == ["3 PUBLISH q:1", "4 PUBLISH q:1"])
    let (first, second) = (answer(bench, to: 2), answer(bench, to: 3))
    #expect(first != second)
    bench.acknowledge(3)
    bench.receive(.message(second))
    bench.receive(.message(first))
    // What answers nothing any more, or stands elsewhere, is a message like others.
    bench.receive(.message(first))
    #expect(
      bench.take() == ["call 3 reply c/response", "call 2 reply c/response", "message c/response"])
    bench.call(.request(request, timeout: .seconds(1)))
    let third = answer(bench, to: 4, on: "elsewhere")
    bench.receive(.message(third))
    bench.expire()
    #expect(bench.take() == ["5 PUBLISH q:1", "message elsewhere", "call 4 timedOut"])
  }

  @Test func aRequestIsNotMadeTwice() throws {
    var bench = try MQTTBench.connected { $0.cleanStart = false }
    bench.call(.request(Message(topic: "q", payload: [], qos: .atLeastOnce), timeout: nil))
    bench.grant(2, .atLeastOnce)
    bench.lose()
    #expect(
      bench.take() == [
        "2 SUBSCRIBE c/response:1", "3 PUBLISH q:1", "call 2 lost", "disconnected",
      ])
  }

  @Test func withoutATopicForAnswersNothingIsAsked() throws {
    var bench = try MQTTBench.connected { $0.clientID = "" }
    bench.call(.request(Message(topic: "q", payload: []), timeout: nil))
    #expect(bench.take() == ["call 2 invalid"])
    bench = try MQTTBench.connected()
    bench.call(.request(Message(topic: "q", payload: []), timeout: nil))
    bench.grant(2, nil)
    #expect(bench.take() == ["2 SUBSCRIBE c/response:1", "call 2 refused"])
    // It may be granted the next time.
    bench.call(.request(Message(topic: "q", payload: []), timeout: nil))
    #expect(bench.take() == ["3 SUBSCRIBE c/response:1"])
  }
}

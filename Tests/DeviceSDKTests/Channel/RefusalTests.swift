import RepriseCore
import Testing

@testable import DeviceSDK

/// What becomes of calls when the cloud refuses what was sent (MQTT 5.0).
@Suite struct ChannelRefusalTests {
  @Test func aRefusedMessageFailsItsCall() throws {
    var bench = try ChannelBench.connected()
    bench.call("p", .publish(try ChannelTopic("/a"), [:]))
    bench.call("q", .publishBytes(try ChannelTopic("/b"), [1]))
    bench.fail(0x87)
    bench.acknowledge()
    #expect(bench.take().suffix(2) == ["p error 4102/135", "q ok"])
    #expect(bench.machine.calls.isEmpty && bench.machine.deadline == nil)
  }

  @Test func aRefusedRequestFailsAtOnce() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/account/bind")
    bench.grant()
    _ = bench.take()
    bench.fail(0x97)
    #expect(bench.take() == ["account unbound", "c error 4102/151"])
    #expect(bench.machine.deadline == nil && bench.machine.dependents.isEmpty)
    bench.reply("/account/bind", "#1")
    #expect(bench.machine.statistics.lateReplies == 1)
  }

  @Test func aRefusedUnsubscriptionKeepsTheSubscription() throws {
    var bench = try ChannelBench.connected()
    bench.call("u", .unsubscribe(try ChannelTopic("/#")))
    bench.fail(0x83)
    #expect(bench.take() == ["UNSUBSCRIBE {down}/#", "u error 4102/131"])
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(bench.take().last == "SUBSCRIBE {down}/#")
  }

  @Test func aReplyTopicThatCannotBeReleasedHurtsNobody() throws {
    var bench = try ChannelBench.connected { $0.releasesReplyTopics = true }
    try bench.invoke("c", "/a")
    bench.grant()
    bench.acknowledge()
    bench.reply("/a", "#1")
    _ = bench.take()
    bench.fail(0x80)
    #expect(bench.take().isEmpty)
  }

  @Test func answersThatComeTooLateAreIgnored() throws {
    var bench = try ChannelBench.connected()
    bench.call("p", .publish(try ChannelTopic("/a"), [:]))
    bench.wait(10)
    _ = bench.take()
    bench.fail(0x87)
    #expect(bench.take().isEmpty)
  }

  @Test func theErrorHasTheCodeInside() {
    let failure = ActionFailure.refused(code: 0x87, reason: "closed")
    let error = ChannelStateMachine.error(for: failure)
    #expect(error.kind == .gateway && error.cloudCode == 0x87)
    #expect(error.underlying as? ActionFailure == failure)
    #expect(error.message.contains("closed") && error.message.contains("; "))
  }

  /// Every code of CONNACK: 4001 is who one is, the rest the gateway; final is what stays so.
  @Test(
    arguments: [
      (1, 4102, true), (2, 4102, true), (3, 4102, false), (4, 4001, true), (5, 4001, true),
      (0x80, 4102, false), (0x81, 4102, true), (0x82, 4102, true), (0x83, 4102, false),
      (0x84, 4102, true), (0x85, 4102, true), (0x86, 4001, true), (0x87, 4001, true),
      (0x88, 4102, false), (0x89, 4102, false), (0x8A, 4001, true), (0x8C, 4001, true),
      (0x90, 4102, true), (0x95, 4102, true), (0x97, 4102, false), (0x99, 4102, true),
      (0x9A, 4102, true), (0x9B, 4102, true), (0x9C, 4102, true), (0x9D, 4102, true),
      (0x9F, 4102, false),
    ] as [(UInt8, Int, Bool)])
  func aRefusedConnectionHasOneClearError(_ code: UInt8, _ kind: Int, _ isFinal: Bool) throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.close(.refused(code: code))
    let line = "state disconnected \(kind)/\(code)"
    #expect(bench.take().last == (isFinal ? line + " final" : line))
    #expect((bench.machine.deadline == nil) == isFinal)
    let error = ChannelStateMachine.error(for: .closed(.refused(code: code)))
    #expect(error.message.contains("; "), "\(error.message)")
  }
}

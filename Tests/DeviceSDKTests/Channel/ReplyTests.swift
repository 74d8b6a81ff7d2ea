import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct ReplyTests {
  @Test func countsAndDropsLateReplies() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    bench.wait(10)
    bench.reply("/a", "#1")
    #expect(bench.take().last == "c error 4101")
    #expect(bench.machine.statistics.lateReplies == 1)
  }

  @Test func handsUnknownRepliesToListenersOnly() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    _ = bench.take()
    bench.reply("/a", "999")
    #expect(bench.take() == [#"deliver /a_reply {"id":"999","code":200}"#])
    bench.message("/a_reply", "no envelope")
    #expect(bench.take() == [#"deliver /a_reply "no envelope""#])
    bench.reply("/never", "1")
    #expect(bench.take() == [#"deliver /never_reply {"id":"1","code":200}"#])
    #expect(bench.machine.statistics.unknownReplies == 1)
    bench.reply("/a", "#1")
    #expect(bench.take() == ["c ok -"])
  }

  @Test func ignoresTheSecondOfTwoReplies() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    bench.reply("/a", "#1")
    _ = bench.take()
    bench.reply("/a", "#1")
    bench.reply("/a", "n#1")
    #expect(bench.take().isEmpty)
    #expect(bench.machine.statistics.duplicateReplies == 2)
  }

  @Test func remembersAHundredRequests() throws {
    var memory = ReplyMemory()
    for id in 0...100 { memory.remember(topic: "t\(id % 2)", id: "\(id)", .answered) }
    #expect(memory.outcome(topic: "t0", id: "0") == nil)
    #expect(memory.outcome(topic: "t1", id: "1") == .answered)
    #expect(memory.knows(topic: "t0") && !memory.knows(topic: "t2"))
    for id in 200..<300 { memory.remember(topic: "t2", id: "\(id)", .abandoned) }
    #expect(!memory.knows(topic: "t0") && !memory.knows(topic: "t1"))
  }

  @Test(arguments: [
    (JSONValue.number("200"), "c ok -"), ("200", "c ok -"), (460, "c error 4103/460"),
    ("6205", "c error 4103/6205"), ("soon", "c error 4102"), (nil, "c error 4102"),
    (.number("200.0"), "c ok -"), (.number("2.0e2"), "c ok -"),
    (.number("6205.0"), "c error 4103/6205"),
    (.number("200.5"), "c error 4102"), (.number("1e99"), "c error 4102"),
  ])
  func readsTheCodeAsNumberOrText(code: JSONValue, line: String) throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    bench.reply("/a", "n#1", code: code)
    #expect(bench.take().last == line)
  }

  @Test(arguments: [
    #"{"id":"1","code":1,"message":null,"msg":"m"}"#,
    #"{"id":"1","code":1,"message":7,"localizedMsg":"m"}"#,
    #"{"id":"1","code":1,"message":"m","msg":"n"}"#,
  ])
  func takesTheFirstMessageThatIsOne(text: String) throws {
    #expect(ChannelEnvelope(parsing: Array(text.utf8))?.message == "m")
  }

  @Test func keepsTheCloudsErrorInside() throws {
    var machine = try ChannelStateMachine(try SampleChannel.configuration())
    let now = ScriptedClient.start
    _ = machine.handle(.called(CallID(rawValue: 1), .start), now: now)
    _ = machine.handle(.received(.connected(.init())), now: now)
    let call = ChannelStateMachine.Invocation(try ChannelTopic("/a"), params: [:])
    _ = machine.handle(.called(CallID(rawValue: 2), .invoke(call)), now: now)
    _ = machine.handle(.received(.subscribed(.init(rawValue: 3), [.atLeastOnce])), now: now)
    let outputs = machine.handle(
      .received(
        SampleChannel.message("/a_reply", ["id": 1, "code": 29004, "localizedMsg": "unbound"])),
      now: now)
    guard case .complete(_, .failure(let error)) = outputs.last else {
      Issue.record("the call did not fail")
      return
    }
    #expect(error.kind == .business && error.cloudCode == 29004 && error.message == "unbound")
    #expect(error.underlying as? CloudError == CloudError(code: 29004, message: "unbound"))
    #expect(error.description == "4103/29004: unbound")
  }
}

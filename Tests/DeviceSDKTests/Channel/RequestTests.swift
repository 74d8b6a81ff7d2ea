import RepriseCore
import Testing

@testable import DeviceSDK

@Suite struct RequestTests {
  private static let bind =
    ##"{up}/account/bind {"id":"#1","version":"1.0","request":"##
    + ##"{"clientId":"{client}"},"params":{"iotToken":"t"}}"##

  private static func publish(_ topic: String, _ id: String) -> String {
    #"PUBLISH {up}\#(topic) {"id":"\#(id)","version":"1.0","request":"#
      + #"{"clientId":"{client}"},"params":{}}"#
  }

  @Test func subscribesBeforeItPublishes() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/account/bind", params: ["iotToken": "t"])
    #expect(bench.take() == ["SUBSCRIBE {down}/account/bind_reply"])
    bench.grant([.atMostOnce])
    #expect(bench.take() == ["account binding", "PUBLISH " + Self.bind])
    bench.acknowledge()
    #expect(bench.take().isEmpty)
    bench.reply("/account/bind", "#1", data: ["x": 1])
    #expect(bench.take() == ["account bound", #"c ok {"x":1}"#])
    #expect(bench.machine.deadline == nil)
  }

  @Test func failsBeforeItPublishesWhenTheReplyTopicIsRefused() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    try bench.invoke("d", "/a")
    bench.grant([nil])
    #expect(
      bench.take() == ["SUBSCRIBE {down}/a_reply", "c error 4102/128", "d error 4102/128"])
    #expect(bench.machine.replies.isEmpty && bench.machine.dependents.isEmpty)
  }

  @Test func failsBeforeItPublishesWhenTheSubackDoesNotCome() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.wait(9)
    #expect(bench.take() == ["SUBSCRIBE {down}/a_reply"])
    bench.wait(1)
    #expect(bench.take() == ["c error 4101"])
    try bench.invoke("d", "/a")
    #expect(bench.take() == ["SUBSCRIBE {down}/a_reply"])
    bench.grant()
    #expect(bench.take() == [Self.publish("/a", "#1")])
  }

  @Test func skipsTheSubscriptionWhenAFilterCoversItIfToldTo() throws {
    var bench = try ChannelBench.connected { $0.replySubscription = .unlessCovered }
    try bench.invoke("c", "/a")
    #expect(bench.take() == [Self.publish("/a", "#1")])
    bench.call("un", .unsubscribe(try ChannelTopic("/#")))
    #expect(bench.take().isEmpty)
    bench.reply("/a", "#1")
    #expect(bench.take() == ["UNSUBSCRIBE {down}/#", "c ok -"])
    try bench.invoke("d", "/a")
    #expect(bench.take() == ["SUBSCRIBE {down}/a_reply"])
  }

  @Test func sharesTheReplyTopicOfCallsInFlight() throws {
    var bench = try ChannelBench.connected { $0.releasesReplyTopics = true }
    try bench.invoke("c", "/a")
    try bench.invoke("d", "/a")
    bench.grant()
    try bench.invoke("e", "/a")
    #expect(
      bench.take() == [
        "SUBSCRIBE {down}/a_reply", Self.publish("/a", "#1"), Self.publish("/a", "#2"),
        Self.publish("/a", "#3"),
      ])
    bench.reply("/a", "#2")
    bench.reply("/a", "#1")
    #expect(bench.take() == ["d ok -", "c ok -"])
    bench.reply("/a", "#3")
    #expect(bench.take() == ["UNSUBSCRIBE {down}/a_reply", "e ok -"])
  }

  @Test func keepsReplyTopicsByDefault() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    bench.reply("/a", "#1")
    _ = bench.take()
    try bench.invoke("d", "/a")
    #expect(bench.take() == [Self.publish("/a", "#2")])
  }

  @Test func neverTakesAReplyTopicFromTheApplication() throws {
    var bench = try ChannelBench.connected { $0.releasesReplyTopics = true }
    bench.call("s", .subscribe(try ChannelTopic("/a_reply")))
    bench.grant()
    try bench.invoke("c", "/a")
    bench.reply("/a", "#1")
    #expect(bench.take().suffix(2) == [Self.publish("/a", "#1"), "c ok -"])
  }

  @Test func holdsAnUnsubscriptionBackWhileARequestNeedsIt() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    _ = bench.take()
    bench.call("u", .unsubscribe(try ChannelTopic("/a_reply")))
    bench.call("v", .unsubscribe(try ChannelTopic("/a_reply")))
    bench.call("s", .subscribe(try ChannelTopic("/a_reply")))
    #expect(bench.take() == ["u ok", "v ok", "SUBSCRIBE {down}/a_reply"])
    bench.grant()
    bench.call("w", .unsubscribe(try ChannelTopic("/a_reply")))
    #expect(bench.take() == ["s ok"])
    bench.wait(10)
    #expect(bench.take() == ["UNSUBSCRIBE {down}/a_reply", "c error 4101"])
    bench.acknowledgeUnsubscribe()
    #expect(bench.take() == ["w ok"])
  }

  @Test func leavesAFilterThatIsToBeTakenBackToTheRequestsThatHaveIt() throws {
    var bench = try ChannelBench.connected { $0.replySubscription = .unlessCovered }
    try bench.invoke("c", "/a")
    bench.call("u", .unsubscribe(try ChannelTopic("/#")))
    _ = bench.take()
    try bench.invoke("d", "/b")
    #expect(bench.take() == ["SUBSCRIBE {down}/b_reply"])
    bench.reply("/a", "#1")
    #expect(bench.take() == ["UNSUBSCRIBE {down}/#", "c ok -"])
  }

  @Test func timesOutAfterTenSecondsUnlessToldOtherwise() throws {
    var bench = try ChannelBench.connected { $0.replySubscription = .unlessCovered }
    try bench.invoke("long", "/a")
    try bench.invoke("short", "/a", timeout: .seconds(3))
    _ = bench.take()
    bench.wait(3)
    #expect(bench.take() == ["short error 4101"])
    bench.wait(7)
    #expect(bench.take() == ["long error 4101"])
  }

  @Test func failsEverythingAtOnceWhenTheConnectionIsLost() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("waiting", "/a")
    bench.grant()
    try bench.invoke("subscribing", "/b")
    bench.call("publish", .publish(try ChannelTopic("/c"), [:]))
    bench.call("subscribe", .subscribe(try ChannelTopic("/d")))
    bench.call("unsubscribe", .unsubscribe(try ChannelTopic("/a_reply")))
    _ = bench.take()
    bench.close()
    #expect(
      bench.take() == [
        "waiting error 4101", "subscribing error 4101", "publish error 4101",
        "subscribe error 4101", "unsubscribe error 4101", "state disconnected 4101",
      ])
    bench.wait(1)
    bench.accept()
    bench.grant([.atLeastOnce, .atLeastOnce])
    bench.reply("/a", "#1")
    #expect(bench.machine.statistics.lateReplies == 1)
    #expect(bench.machine.calls.isEmpty && bench.machine.dependents.isEmpty)
    #expect(bench.machine.replies.isEmpty)
  }

  @Test func putsExtraParametersBesideTheOthers() throws {
    var bench = try ChannelBench.connected { $0.replySubscription = .unlessCovered }
    let options: JSONValue = ["extraParam": ["method": "thing.topo.add", "id": "x", "params": 1]]
    try bench.invoke("c", "/a", params: ["p": 1], options: options)
    #expect(
      bench.take() == [
        ##"PUBLISH {up}/a {"id":"#1","version":"1.0","request":{"clientId":"{client}"},"##
          + ##""params":{"p":1},"method":"thing.topo.add"}"##
      ])
  }

  @Test func countsIdsUpToTheLargestAndFromZeroAgain() throws {
    var bench = try ChannelBench.connected {
      $0.replySubscription = .unlessCovered
      $0.firstRequestID = .max
    }
    try bench.invoke("c", "/a")
    try bench.invoke("d", "/a")
    bench.reply("/a", "4294967295")
    bench.reply("/a", "0")
    #expect(bench.take().suffix(2) == ["c ok -", "d ok -"])
  }

  @Test func failsWhenTheClientRefuses() throws {
    var bench = try ChannelBench.connected { $0.replySubscription = .unlessCovered }
    try bench.invoke("c", "/a")
    bench.refuse(.transport)
    bench.call("p", .publish(try ChannelTopic("/a"), [:]))
    bench.refuse(.unsupported)
    #expect(bench.take().suffix(1) == ["p error 4201"])
    #expect(bench.machine.calls.isEmpty)
  }

  @Test func refusesWildcardsWhereNoneMayStand() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a/#")
    bench.call("p", .publish(try ChannelTopic("/+"), [:]))
    bench.call("s", .subscribe(try ChannelTopic("/a#")))
    bench.call("u", .unsubscribe(try ChannelTopic("/#/a")))
    #expect(bench.take() == ["c error 4201", "p error 4201", "s error 4201", "u error 4201"])
  }

  @Test func forgetsACancelledRequest() throws {
    var bench = try ChannelBench.connected()
    try bench.invoke("c", "/a")
    bench.grant()
    bench.cancel("c")
    bench.reply("/a", "#1")
    bench.wait(20)
    #expect(bench.take().count == 2)
    #expect(bench.machine.statistics.lateReplies == 1 && bench.machine.calls.isEmpty)
  }

  @Test func publishesParametersAndBytes() throws {
    var bench = try ChannelBench.connected()
    bench.call("p", .publish(try ChannelTopic("/a"), [:]))
    bench.acknowledge()
    bench.call("raw", .publishBytes(try ChannelTopic("/sys/x/y/raw"), Array("hello".utf8)))
    bench.wait(10)
    #expect(
      bench.take() == [
        Self.publish("/a", "#1"), "p ok", "PUBLISH /sys/x/y/raw hello", "raw error 4101",
      ])
  }

  @Test func forwardsWhatIsNotItsOwn() throws {
    var bench = try ChannelBench.connected()
    let message = Message(topic: "/ext/error/a1pk/dev1", payload: Array("{}".utf8))
    bench.input(.received(.message(message)))
    #expect(bench.take() == ["forward /ext/error/a1pk/dev1 {}"])
  }
}

import RepriseCore
import Testing

@testable import DeviceSDK

/// A SUBSCRIBE and an UNSUBSCRIBE of one filter that are under way at once: the later one holds, whatever
/// the order of the answers.
@Suite struct SubscriptionOrderTests {
  private static let publish =
    ##"PUBLISH {up}/a {"id":"#1","version":"1.0","request":{"clientId":"{client}"},"params":{}}"##

  /// SDK-channel-33: the reply would come on a topic that is being taken back.
  @Test func aRequestDoesNotRelyOnAReplyTopicThatIsBeingTakenBack() throws {
    var bench = try ChannelBench.connected()
    let topic = try ChannelTopic("/a_reply")
    bench.call("s", .subscribe(topic))
    bench.call("u", .unsubscribe(topic))
    bench.grant()
    #expect(bench.take().last == "s ok")
    try bench.invoke("c", "/a")
    #expect(bench.take() == ["SUBSCRIBE {down}/a_reply"])
    bench.acknowledgeUnsubscribe()
    #expect(bench.take() == ["u ok"])
    bench.grant()
    #expect(bench.take() == [Self.publish])
    bench.reply("/a", "#1")
    #expect(bench.take() == ["c ok -"])
    #expect(bench.machine.isGranted("\(SampleChannel.down)/a_reply"))
  }

  @Test func norOnAFilterThatCoversItAndIsBeingTakenBack() throws {
    var bench = try ChannelBench { $0.replySubscription = .unlessCovered }
    bench.call("start", .start)
    bench.accept()
    bench.call("u", .unsubscribe(try ChannelTopic("/#")))
    bench.grant()
    _ = bench.take()
    try bench.invoke("c", "/a")
    #expect(bench.take() == ["SUBSCRIBE {down}/a_reply"])
  }

  @Test func aSubscriptionBehindAnUnsubscriptionStaysWhateverIsAnsweredFirst() throws {
    for isGrantedFirst in [true, false] {
      var bench = try ChannelBench.connected()
      let topic = try ChannelTopic("/a")
      bench.call("s", .subscribe(topic))
      bench.grant()
      bench.call("u", .unsubscribe(topic))
      bench.call("t", .subscribe(topic))
      if isGrantedFirst { bench.grant() }
      bench.acknowledgeUnsubscribe()
      if !isGrantedFirst { bench.grant() }
      #expect(bench.take().suffix(2).sorted() == ["t ok", "u ok"])
      #expect(bench.machine.isGranted("\(SampleChannel.down)/a"))
    }
  }

  /// A server of MQTT 5.0 may refuse UNSUBSCRIBE (section 3.11.3), which says nothing of the one behind it.
  @Test(arguments: [true, false])
  func aRefusedUnsubscriptionGivesBackNothingThatALaterOneTakes(isAnsweredInOrder: Bool) throws {
    var bench = try ChannelBench.connected { $0.subscribesAll = false }
    let topic = try ChannelTopic("/a")
    bench.call("s", .subscribe(topic))
    bench.grant()
    bench.call("u", .unsubscribe(topic))
    bench.call("v", .unsubscribe(topic))
    _ = bench.take()
    if isAnsweredInOrder { bench.fail(0x83) }
    bench.acknowledgeUnsubscribe(isLast: true)
    if !isAnsweredInOrder { bench.fail(0x83) }
    #expect(bench.take().sorted() == ["u error 4102/131", "v ok"])
    #expect(!bench.machine.isGranted("\(SampleChannel.down)/a"))
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.accept()
    #expect(bench.take() == ["state connected"], "there is nothing to restore")
  }

  /// A near miss: both are refused.
  @Test func whatIsRefusedTwiceStays() throws {
    var bench = try ChannelBench.connected { $0.subscribesAll = false }
    let topic = try ChannelTopic("/a")
    bench.call("s", .subscribe(topic))
    bench.grant()
    bench.call("u", .unsubscribe(topic))
    bench.call("v", .unsubscribe(topic))
    bench.fail(0x83)
    #expect(!bench.machine.isGranted("\(SampleChannel.down)/a"))
    bench.fail(0x83)
    #expect(bench.machine.isGranted("\(SampleChannel.down)/a"))
  }

  /// The application waits no longer, and is not to get what it does not know of.
  @Test(arguments: ["cancelled", "late"])
  func whatIsGrantedToNobodyIsTakenBack(how: String) throws {
    var bench = try ChannelBench.connected()
    bench.call("s", .subscribe(try ChannelTopic("/a")))
    if how == "cancelled" { bench.cancel("s") } else { bench.wait(10) }
    _ = bench.take()
    bench.grant()
    #expect(bench.take() == ["UNSUBSCRIBE {down}/a"])
    bench.acknowledgeUnsubscribe()
    #expect(bench.take() == [] && !bench.machine.isGranted("\(SampleChannel.down)/a"))
  }

  /// A near miss: another call asks for the same, or has it.
  @Test(arguments: [true, false])
  func whatIsGrantedToNobodyStaysForAnother(isBefore: Bool) throws {
    var bench = try ChannelBench.connected()
    let topic = try ChannelTopic("/a")
    if isBefore {
      bench.call("t", .subscribe(topic))
      bench.grant()
    }
    bench.call("s", .subscribe(topic))
    bench.cancel("s")
    if !isBefore { bench.call("t", .subscribe(topic)) }
    _ = bench.take()
    bench.grant()
    if !isBefore { bench.grant() }
    #expect(bench.take() == (isBefore ? [] : ["t ok"]))
    #expect(bench.machine.isGranted("\(SampleChannel.down)/a"))
  }

  /// The application was told that it is unsubscribed, and then that it is not subscribed.
  @Test(arguments: [true, false])
  func aRefusedSubscriptionDoesNotBringBackWhatWasGivenUpForIt(isRefused: Bool) throws {
    var bench = try ChannelBench.connected { $0.subscribesAll = false }
    let topic = try ChannelTopic("/a_reply")
    bench.call("s", .subscribe(topic))
    bench.grant()
    try bench.invoke("c", "/a")
    bench.acknowledge()
    // It waits for the reply.
    bench.call("u", .unsubscribe(topic))
    _ = bench.take()
    bench.call("t", .subscribe(topic))
    #expect(bench.take() == ["u ok", "SUBSCRIBE {down}/a_reply"])
    bench.grant([isRefused ? nil : .atLeastOnce])
    #expect(bench.take() == [isRefused ? "t error 4102/128" : "t ok"])
    bench.reply("/a", "#1")
    #expect(bench.take() == (isRefused ? ["UNSUBSCRIBE {down}/a_reply"] : []) + ["c ok -"])
  }

  /// A request that waits for its own SUBSCRIBE is not failed by the answer to one before it.
  @Test func aRefusalOfAnEarlierSubscriptionDoesNotFailALaterRequest() throws {
    var bench = try ChannelBench.connected { $0.subscribesAll = false }
    try bench.invoke("c", "/a")
    bench.cancel("c")
    try bench.invoke("d", "/a")
    _ = bench.take()
    bench.grant([nil])
    #expect(bench.take() == [])
    bench.grant()
    #expect(bench.take() == [Self.publish])
  }

  /// The application gives up its own wish for everything, and not the channel's.
  @Test func everythingIsNotTakenBackWhileTheChannelAsksForItItself() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.accept()
    bench.call("s", .subscribe(try ChannelTopic("/#")))
    bench.cancel("s")
    _ = bench.take()
    bench.grant(isLast: true)
    bench.grant()
    #expect(bench.take() == [] && bench.machine.isGranted("\(SampleChannel.down)/#"))
  }

  /// The application wants no more of everything, and is not to get it by the channel's own doing.
  @Test func everythingIsNotSubscribedToAgainAfterTheApplicationTookItBack() throws {
    var bench = try ChannelBench()
    bench.call("start", .start)
    bench.accept()
    bench.call("u", .unsubscribe(try ChannelTopic("/#")))
    bench.acknowledgeUnsubscribe()
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.accept()
    #expect(bench.take() == ["state connected"])
  }

  @Test func anUnsubscriptionThatIsNotHandedOverTakesNothingBack() throws {
    var bench = try ChannelBench.connected()
    bench.call("s", .subscribe(try ChannelTopic("/a")))
    bench.grant()
    while !bench.open.isEmpty { bench.acknowledge() }
    bench.call("u", .unsubscribe(try ChannelTopic("/a")))
    bench.refuse(.transport)
    #expect(bench.take().last == "u error 4101")
    #expect(bench.machine.isGranted("\(SampleChannel.down)/a"))
  }

  /// The application asks for what the channel is about to take back, as no request needs it any more.
  @Test func aReplyTopicIsNotReleasedUnderTheApplicationsSubscription() throws {
    var bench = try ChannelBench.connected { $0.releasesReplyTopics = true }
    try bench.invoke("c", "/a")
    bench.grant()
    bench.call("s", .subscribe(try ChannelTopic("/a_reply")))
    _ = bench.take()
    bench.reply("/a", "#1")
    #expect(bench.take() == ["c ok -"])
    bench.grant()
    #expect(bench.take() == ["s ok"])
    #expect(bench.machine.isGranted("\(SampleChannel.down)/a_reply"))
  }

  /// A near miss: what the application does not get is released when it is refused, or taken back.
  @Test(arguments: [true, false])
  func aReplyTopicIsReleasedWhenTheApplicationDoesNotGetIt(isRefused: Bool) throws {
    var bench = try ChannelBench.connected { $0.releasesReplyTopics = true }
    try bench.invoke("c", "/a")
    bench.grant()
    bench.call("s", .subscribe(try ChannelTopic("/a_reply")))
    bench.reply("/a", "#1")
    _ = bench.take()
    if isRefused { bench.grant([nil]) } else { bench.cancel("s") }
    #expect(
      bench.take()
        == ["UNSUBSCRIBE {down}/a_reply"] + (isRefused ? ["s error 4102/128"] : []))
    #expect(!bench.machine.isGranted("\(SampleChannel.down)/a_reply"))
  }

  /// What only requests had is not asked for on the next connection.
  @Test func releasedReplyTopicsDoNotComeBack() throws {
    var bench = try ChannelBench.connected { $0.releasesReplyTopics = true }
    try bench.invoke("c", "/a")
    bench.grant()
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.accept()
    #expect(bench.take() == ["SUBSCRIBE {down}/#"])
  }
}

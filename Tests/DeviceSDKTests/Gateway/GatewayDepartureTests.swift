import RepriseCore
import Testing

@testable import DeviceSDK

/// Lines that are closed while something is under way, and subscriptions that several have.
@Suite struct GatewayDepartureTests {
  private let sub = GatewayBench.sub
  private let other = GatewayBench.other
  private static let shared = FullTopic(unchecked: "/shared")

  /// Two lines in a state.
  private func twoLines(
    in state: LineState = .ready, _ change: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> GatewayBench {
    var bench = try GatewayBench.connected {
      $0.subscribesToCommands = false
      change(&$0)
    }
    bench.setUp(1)
    bench.setUp(2)
    if state == .online {
      bench.operate("login", .logIn, [sub, other], isBatch: true)
      bench.reply()
    }
    _ = bench.take()
    bench.requests = []
    return bench
  }

  // MARK: Filters that others have

  /// SDK-gateway-16.
  @Test(arguments: ["line", "gateway", "nobody"])
  func closingALineLeavesToOthersWhatTheyHave(who: String) throws {
    var bench = try twoLines(in: .online)
    if who == "line" { bench.call("b", .subscribe(Self.shared, for: other)) }
    if who == "gateway" { bench.call("b", .subscribe(Self.shared, for: nil)) }
    bench.call("a", .subscribe(Self.shared, for: sub))
    bench.isTerse = false
    _ = bench.take()
    bench.call("remove", .remove(sub))
    let expected = who == "nobody" ? ["UNSUBSCRIBE /shared"] : []
    #expect(bench.take() == ["forget 1"] + expected + ["remove ok"])
    guard who != "nobody" else { return }
    bench.call("u", .unsubscribe(Self.shared, for: who == "line" ? other : nil))
    #expect(bench.take() == ["UNSUBSCRIBE /shared"])
  }

  /// SDK-gateway-16.
  @Test func theGatewaysOwnSubscriptionCounts() throws {
    var bench = try twoLines(in: .online)
    bench.call("own", .subscribe(Self.shared, for: nil))
    bench.call("line", .subscribe(Self.shared, for: sub))
    bench.isTerse = false
    _ = bench.take()
    bench.call("u", .unsubscribe(Self.shared, for: sub))
    #expect(bench.take() == ["u ok"])
    // A line that goes offline takes nothing of it along, so that it is restored.
    bench.call("line", .subscribe(Self.shared, for: sub))
    bench.grant()
    bench.sessionError(427)
    bench.close()
    bench.wait(1)
    _ = bench.take()
    bench.accept()
    #expect(bench.take().last?.hasSuffix(" /shared") == true)
  }

  @Test func commandsOfALineOutliveTheSubscriptionOfTheGateway() throws {
    var bench = try GatewayBench.line(in: .online)
    let filter = try FullTopic("/sys/123/test/thing/service/#")
    bench.call("s", .subscribe(filter, for: nil))
    bench.isTerse = false
    _ = bench.take()
    bench.call("u", .unsubscribe(filter, for: nil))
    #expect(bench.take() == ["u ok"])
  }

  /// A filter is not taken back while another's subscription to it is on its way.
  @Test(arguments: [true, false])
  func doesNotTakeBackWhatAnotherIsJustSubscribingTo(isGranted: Bool) throws {
    var bench = try twoLines(in: .online)
    bench.call("a", .subscribe(Self.shared, for: sub))
    bench.isTerse = false
    bench.call("b", .subscribe(Self.shared, for: other))
    _ = bench.take()
    bench.call("u", .unsubscribe(Self.shared, for: sub))
    #expect(bench.take() == ["u ok"])
    bench.grant(isGranted ? [.atLeastOnce] : [nil])
    #expect(
      bench.take() == (isGranted ? ["b ok"] : ["UNSUBSCRIBE /shared", "b error 4102/128"]))
  }

  @Test func unsubscribingCallsBackASubscriptionOnItsWay() throws {
    var bench = try twoLines(in: .online)
    bench.isTerse = false
    bench.call("s", .subscribe(Self.shared, for: sub))
    bench.call("u", .unsubscribe(Self.shared, for: sub))
    #expect(bench.take() == ["SUBSCRIBE /shared", "UNSUBSCRIBE /shared"])
    bench.grant()
    bench.acknowledge()
    #expect(bench.take() == ["s ok", "u ok"])
    #expect(bench.machine.wishes.filters.isEmpty && !bench.machine.grants.contains("/shared"))
  }

  @Test func closingALineEndsItsSubscriptionOnItsWay() throws {
    var bench = try twoLines(in: .online)
    bench.isTerse = false
    bench.call("s", .subscribe(Self.shared, for: sub))
    _ = bench.take()
    bench.call("remove", .remove(sub))
    #expect(
      bench.take() == ["forget 1", "UNSUBSCRIBE /shared", "s error 4201", "remove ok"])
    bench.grant()
    #expect(bench.take() == [] && !bench.machine.grants.contains("/shared"))
  }

  @Test func aReplyOnItsWayOutlivesItsLine() throws {
    var bench = try GatewayBench.line(in: .online) { $0.subscribesToCommands = false }
    try bench.post("post")
    bench.isTerse = false
    _ = bench.take()
    bench.call("remove", .remove(sub))
    #expect(bench.take() == ["forget 1", "remove ok"])
    bench.reply()
    #expect(
      bench.take() == ["UNSUBSCRIBE /sys/{sub}/thing/event/property/post_reply", "post ok -"])
  }

  // MARK: Operations under way

  @Test(arguments: [LineCall.addTopology, .logIn])
  func aBatchThatWasSentGoesOnWithoutALineThatIsClosed(kind: LineCall) throws {
    var bench = try twoLines()
    bench.operate("batch", kind, [sub, other], isBatch: true)
    _ = bench.take()
    bench.call("remove", .remove(sub))
    #expect(bench.take() == ["forget 1", "remove ok"])
    bench.reply()
    let lines = bench.take().filter { !$0.hasPrefix("PUBLISH") }
    #expect(
      lines == ["{other} \(kind == .logIn ? "online" : "topology")", "batch error 4201"],
      "it was not done with all")
    #expect(
      bench.requests.map(\.topic)
        == (kind == .logIn ? ["/ext/session/a1gw/phone/combine/logout"] : []))
  }

  @Test func aBatchThatWaitsForItsSubdevicesGoesOnWithTheOthers() throws {
    var bench = try twoLines()
    bench.devices[ConnectionID(rawValue: 1)] = .silent
    bench.operate("batch", .logIn, [sub, other], isBatch: true)
    #expect(bench.take() == ["open 1"] && bench.requests.isEmpty)
    bench.call("remove", .remove(sub))
    #expect(bench.requests.map(\.topic) == ["/ext/session/a1gw/phone/combine/batch_login"])
    let payload = bench.published.last.flatMap { JSONValue(parsing: $0.payload) }
    #expect(payload?["params"]?["deviceList"]?.elements?.count == 1)
    bench.reply()
    #expect(bench.take().suffix(2) == ["{other} online", "batch error 4201"])
    #expect(bench.requests.isEmpty, "the cloud has never heard of the other")
  }

  @Test func aBatchWhoseTurnIsToComeGoesOnWithTheOthers() throws {
    var bench = try twoLines()
    bench.operate("first", .addTopology, [sub])
    bench.operate("batch", .logIn, [sub, other], isBatch: true)
    _ = bench.take()
    bench.call("remove", .remove(sub))
    #expect(bench.requests.map(\.topic).last == "/ext/session/a1gw/phone/combine/batch_login")
    #expect(bench.take().contains("first error 4201"))
  }

  /// The cloud has granted what nobody here knows of any more.
  @Test func takesASubdeviceOfflineWhoseLoginSucceedsAfterItsLineWasClosed() throws {
    var bench = try twoLines()
    bench.operate("login", .logIn, [sub])
    _ = bench.take()
    bench.call("remove", .remove(sub))
    #expect(bench.take() == ["login error 4201", "forget 1", "remove ok"])
    bench.reply()
    #expect(bench.requests.map(\.topic) == ["/ext/session/a1gw/phone/combine/logout"])
    bench.reply(code: 520)
    #expect(bench.machine.operations.isEmpty && bench.machine.requests.isEmpty)
  }

  @Test(arguments: [429, 6_287] as [JSONValue])
  func doesNotTryALoginAgainWhoseLineWasClosed(code: JSONValue) throws {
    var bench = try twoLines()
    bench.operate("login", .logIn, [sub])
    bench.call("remove", .remove(sub))
    bench.reply(code: code)
    #expect(bench.machine.operations.isEmpty && bench.machine.deadline == nil)
    #expect(bench.requests.isEmpty)
  }

  /// What is tried again later is tried without those whose lines were closed meanwhile.
  @Test(arguments: [LineCall.addTopology, .logIn])
  func aBatchIsTriedAgainWithoutALineThatIsClosed(kind: LineCall) throws {
    for isClosedBefore in [true, false] {
      var bench = try twoLines()
      bench.operate("batch", kind, [sub, other], isBatch: true)
      if isClosedBefore { bench.call("remove", .remove(sub)) }
      bench.reply(code: 429)
      if !isClosedBefore { bench.call("remove", .remove(sub)) }
      bench.wait(60)
      let params = bench.published.last.flatMap { JSONValue(parsing: $0.payload) }?["params"]
      let named = kind == .logIn ? params?["deviceList"] : params
      #expect(named?.elements?.count == 1)
      _ = bench.take()
      bench.reply()
      let lines = bench.take().filter { !$0.hasPrefix("PUBLISH") }
      #expect(
        lines == ["{other} \(kind == .logIn ? "online" : "topology")", "batch error 4201"])
      // The cloud has refused the login in which the other was.
      #expect(bench.requests.isEmpty)
    }
  }

  /// A caller who came when a line was gone already is not told of it.
  @Test func aCallerWhoComesLaterHasItsOwnOutcome() throws {
    var bench = try twoLines()
    bench.operate("batch", .logIn, [sub, other], isBatch: true)
    bench.call("remove", .remove(sub))
    bench.operate("one", .logIn, [other])
    _ = bench.take()
    bench.reply()
    let lines = bench.take().filter { !$0.hasPrefix("PUBLISH") }
    #expect(lines == ["{other} online", "batch error 4201", "one ok"])
  }

  /// SDK-gateway-16, with the last of a batch losing its session.
  @Test func aDepartedSubdeviceIsTakenOfflineAlsoWhenTheOthersLoseTheirs() throws {
    var bench = try twoLines { $0.subscribesToCommands = true }
    bench.isTerse = false
    bench.operate("batch", .logIn, [sub, other], isBatch: true)
    bench.grant()
    bench.call("remove", .remove(sub))
    bench.reply()
    _ = bench.take()
    bench.requests = []
    bench.sessionError(427, other)
    #expect(bench.take().contains("SUBSCRIBE /ext/session/{gw}/combine/logout_reply"))
    #expect(bench.machine.operations.isEmpty)
  }

  /// A filter that the application has taken back while it was being subscribed is nobody's.
  @Test func aFilterThatWasTakenBackDuringTheLoginIsNotGranted() throws {
    let filter = try FullTopic("/sys/123/test/thing/event/property/post_reply")
    var bench = try twoLines()
    bench.call("s", .subscribe(filter, for: sub))
    bench.close()
    bench.wait(1)
    bench.accept()
    bench.isTerse = false
    bench.operate("login", .logIn, [sub])
    bench.grant()
    bench.reply()
    _ = bench.take()
    bench.call("u", .unsubscribe(filter, for: sub))
    #expect(bench.take() == ["UNSUBSCRIBE \(filter.text)".replacing("123/test", with: "{sub}")])
    bench.grant()
    #expect(!bench.machine.grants.contains(filter.text))
  }

  /// SDK-gateway-16.
  @Test func aCommandFilterGoesWithItsLineAlsoWhenTheLineSubscribedToItAsWell() throws {
    var bench = try GatewayBench.line(in: .online)
    let filter = try FullTopic("/sys/123/test/thing/service/#")
    bench.call("s", .subscribe(filter, for: sub))
    bench.call("u", .unsubscribe(filter, for: sub))
    bench.isTerse = false
    _ = bench.take()
    bench.call("remove", .remove(sub))
    let taken = bench.take().first { $0.hasPrefix("UNSUBSCRIBE") }
    #expect(taken?.split(separator: " ").count == 6, "\(taken ?? "none")")
    #expect(bench.machine.grants.filters.filter { $0.contains("/123/test/") } == [])
  }

  @Test func leavesALoginAloneThatANewLineWaitsFor() throws {
    var bench = try twoLines()
    bench.operate("login", .logIn, [sub])
    bench.call("remove", .remove(sub))
    bench.devices[ConnectionID(rawValue: 3)] = .ready(try GatewayBench.info())
    bench.setUp(3)
    bench.operate("again", .logIn, [sub])
    _ = bench.take()
    bench.reply()
    #expect(!bench.requests.contains { $0.topic.hasSuffix("logout") })
    bench.reply()
    #expect(bench.take().suffix(2) == ["{sub} online", "again ok"])
  }

  /// A batch is not offline here as a whole, as one of it lost its session.
  @Test func oneOfABatchLosesItsSessionAndTheOtherComesOnline() throws {
    var bench = try twoLines { $0.subscribesToCommands = true }
    bench.isTerse = false
    bench.operate("batch", .logIn, [sub, other], isBatch: true)
    bench.grant()
    bench.reply()
    _ = bench.take()
    bench.sessionError(427)
    bench.grant(Array(repeating: .atLeastOnce, count: 10))
    let lines = bench.take()
    #expect(lines.contains("{other} online") && lines.contains("batch error 4103/427"))
    #expect(bench.machine.lineState(of: sub) == .ready)
  }

  // MARK: Coming back

  /// SDK-gateway-31.
  @Test func isConnectedAsSoonAsTheLastLineThatItWaitedForIsClosed() throws {
    var bench = try twoLines(in: .online) { $0.limits.concurrentLogins = 1 }
    bench.close()
    bench.wait(1)
    bench.accept()
    _ = bench.take()
    #expect(bench.machine.loginsToCome == [sub])
    bench.call("remove", .remove(sub))
    bench.reply()
    #expect(bench.take().contains("state connected"))
  }

  @Test func isConnectedWhenTheOnlyLineIsClosedBeforeItsTurn() throws {
    var bench = try twoLines(in: .online) { $0.limits.concurrentLogins = 1 }
    bench.close()
    bench.wait(1)
    bench.accept()
    bench.reply()
    _ = bench.take()
    bench.call("remove", .remove(sub))
    #expect(bench.take().contains("state connected"))
  }

  // MARK: Room

  /// SDK-gateway-53.
  @Test func countsALineOnceThatIsToGoOfflineAndComeBack() throws {
    var bench = try twoLines(in: .online) { $0.limits.online = 2 }
    bench.operate("out", .logOut, [sub])
    bench.operate("in", .logIn, [sub])
    bench.reply()
    bench.reply()
    #expect(bench.take().suffix(2) == ["{sub} online", "in ok"])
  }

  /// SDK-gateway-53.
  @Test func countsLoginsUnderWay() throws {
    var bench = try twoLines { $0.limits.online = 1 }
    bench.operate("one", .logIn, [sub])
    bench.operate("two", .logIn, [other])
    #expect(bench.take().contains("two error 4201"))
    bench.reply()
    bench.operate("out", .logOut, [sub])
    bench.reply()
    bench.operate("three", .logIn, [other])
    bench.reply()
    #expect(bench.take().suffix(2) == ["{other} online", "three ok"], "there is room again")
  }

  /// SDK-gateway-53: the cloud has it online until it is told.
  @Test func countsALoginWhoseLineWasClosed() throws {
    var bench = try twoLines { $0.limits.online = 1 }
    bench.operate("one", .logIn, [sub])
    bench.call("remove", .remove(sub))
    bench.operate("two", .logIn, [other])
    #expect(bench.take().last == "two error 4201")
    bench.reply()
    bench.operate("three", .logIn, [other])
    // To the logout, and to the login.
    bench.reply()
    bench.reply()
    #expect(bench.take().suffix(2) == ["{other} online", "three ok"])
  }

  // MARK: Uploads

  /// The cloud is the truth: bytes of a sub-device that is offline here are sent all the same, and what the
  /// cloud says of them comes as an error of its session, as nothing in them could be answered.
  @Test func uploadsForALineThatIsOfflineAndTellsWhatTheCloudSaysOfIt() throws {
    var bench = try twoLines()
    bench.call(
      "up", .upload(try FullTopic("/sys/123/test/thing/model/up_raw"), [1], .atLeastOnce))
    #expect(bench.take().last == "up ok")
    bench.sessionError(520)
    #expect(bench.take() == ["notice session 520 {sub}"])
  }
}

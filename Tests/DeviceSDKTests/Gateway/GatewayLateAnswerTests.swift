import RepriseCore
import Testing

@testable import DeviceSDK

/// What is answered when nobody waits for it any more: subscriptions that were cancelled, and logins of lines that were
/// closed.
@Suite struct GatewayLateAnswerTests {
  private let sub = GatewayBench.sub
  private static let shared = FullTopic(unchecked: "/shared")
  private static let logout = "/ext/session/a1gw/phone/combine/logout"

  // MARK: Subscriptions

  /// SDK-gateway-16: the application does not know of it, and is not to get what it brings.
  @Test(arguments: ["cancelled", "late"])
  func aSubscriptionThatIsGrantedToNobodyIsTakenBack(how: String) throws {
    var bench = try GatewayBench.connected()
    bench.isTerse = false
    bench.call("s", .subscribe(Self.shared, for: nil))
    if how == "cancelled" { bench.cancel("s") } else { bench.wait(10) }
    _ = bench.take()
    bench.grant()
    #expect(bench.take() == ["UNSUBSCRIBE /shared"])
    bench.acknowledge()
    #expect(bench.take() == [] && !bench.machine.grants.contains("/shared"))
  }

  /// A near miss: another has subscribed to it, before or behind.
  @Test(arguments: [true, false])
  func aSubscriptionThatIsGrantedToNobodyStaysForAnother(isBefore: Bool) throws {
    var bench = try GatewayBench.line(in: .online)
    bench.isTerse = false
    if isBefore {
      bench.call("t", .subscribe(Self.shared, for: sub))
      bench.grant()
    }
    bench.call("s", .subscribe(Self.shared, for: nil))
    bench.cancel("s")
    if !isBefore { bench.call("t", .subscribe(Self.shared, for: sub)) }
    _ = bench.take()
    bench.grant()
    if !isBefore { bench.grant() }
    #expect(bench.take() == (isBefore ? [] : ["t ok"]))
    #expect(bench.machine.grants.owners(of: "/shared") == [.line(sub)])
  }

  /// A server of MQTT 5.0 may refuse UNSUBSCRIBE (section 3.11.3): it is known to send it still, until it is asked
  /// again.
  @Test func aRefusedUnsubscriptionCanBeTriedAgain() throws {
    var bench = try GatewayBench.connected()
    bench.call("s", .subscribe(Self.shared, for: nil))
    bench.isTerse = false
    bench.call("u", .unsubscribe(Self.shared, for: nil))
    bench.refuse(.rejected)
    #expect(bench.machine.grants.isOrphan("/shared"))
    _ = bench.take()
    bench.call("v", .unsubscribe(Self.shared, for: nil))
    bench.acknowledge()
    #expect(bench.take() == ["UNSUBSCRIBE /shared", "v ok"])
    #expect(!bench.machine.grants.contains("/shared"))
  }

  /// The reply would come on a topic that was taken back behind the SUBSCRIBE of a request that was cancelled.
  @Test func aRequestDoesNotRelyOnAReplyTopicThatWasTakenBack() throws {
    var bench = try GatewayBench.line(in: .online)
    let reply = "/sys/123/test/thing/event/property/post_reply"
    bench.isTerse = false
    try bench.post("p")
    bench.cancel("p")
    bench.call("u", .unsubscribe(FullTopic(unchecked: reply), for: nil))
    _ = bench.take()
    bench.grant()
    bench.acknowledge()
    #expect(bench.take() == ["u ok"] && !bench.machine.grants.contains(reply))
    try bench.post("q")
    #expect(bench.take() == ["SUBSCRIBE /sys/{sub}/thing/event/property/post_reply"])
    bench.grant()
    bench.reply()
    #expect(bench.take().last == "q ok -")
  }

  // MARK: Logins

  /// A bench whose line was closed and made anew while its login was under way, and is being logged in again.
  private func lineAgain() throws -> GatewayBench {
    var bench = try GatewayBench.line { $0.subscribesToCommands = false }
    bench.operate("login", .logIn)
    bench.call("remove", .remove(sub))
    bench.devices[ConnectionID(rawValue: 3)] = .ready(try GatewayBench.info())
    bench.setUp(3)
    bench.operate("again", .logIn)
    _ = bench.take()
    return bench
  }

  private func topics(_ bench: GatewayBench) -> [String] { bench.requests.map(\.topic) }

  /// Here it is offline, and so it has to be in the cloud.
  @Test func aDepartedSubdeviceIsTakenOfflineWhenItsNewLineDoesNotComeOnline() throws {
    var bench = try lineAgain()
    bench.reply()
    #expect(!topics(bench).contains(Self.logout), "its new line may come online")
    bench.reply(code: 460)
    #expect(topics(bench) == [Self.logout])
    bench.reply()
    #expect(bench.machine.departed.isEmpty && bench.machine.requests.isEmpty)
    #expect(bench.machine.lineState(of: sub) == .ready)
  }

  @Test func norIsItForgottenWhenTheNewLineIsClosedAsWell() throws {
    var bench = try lineAgain()
    bench.reply()
    bench.call("remove", .remove(sub))
    bench.reply(code: 460)
    #expect(topics(bench) == [Self.logout])
  }

  /// A near miss: the cloud has refused the first login too.
  @Test func aDepartedSubdeviceThatWasNeverOnlineIsLeftAlone() throws {
    var bench = try lineAgain()
    bench.reply(code: 460)
    bench.reply(code: 460)
    #expect(topics(bench) == [] && bench.machine.departed.isEmpty)
  }

  /// What nobody waits for is tried again as well.
  @Test func takingADepartedSubdeviceOfflineIsTriedAgain() throws {
    var bench = try GatewayBench.line { $0.subscribesToCommands = false }
    bench.operate("login", .logIn)
    bench.call("remove", .remove(sub))
    bench.reply()
    bench.reply(code: 429)
    #expect(topics(bench) == [])
    bench.wait(60)
    #expect(topics(bench) == [Self.logout])
  }

  /// It would end the session of the new line.
  @Test(arguments: [200, 460] as [JSONValue])
  func takingADepartedSubdeviceOfflineDoesNotCrossTheLoginOfItsNewLine(code: JSONValue) throws {
    var bench = try GatewayBench.line { $0.subscribesToCommands = false }
    bench.operate("login", .logIn)
    bench.call("remove", .remove(sub))
    bench.reply()
    // The logout is to be tried again in a minute.
    bench.reply(code: 429)
    bench.devices[ConnectionID(rawValue: 3)] = .ready(try GatewayBench.info())
    bench.setUp(3)
    bench.wait(59)
    bench.operate("again", .logIn)
    bench.wait(2)
    #expect(!topics(bench).contains(Self.logout))
    bench.reply(code: code)
    #expect(topics(bench) == (code == 200 ? [] : [Self.logout]))
  }

  /// SDK-gateway-53: until it is told, the cloud has the departed online.
  @Test func countsADepartedSubdeviceUntilTheCloudIsTold() throws {
    var bench = try GatewayBench.line {
      $0.subscribesToCommands = false
      $0.limits.online = 1
    }
    bench.setUp(2)
    bench.operate("login", .logIn)
    bench.call("remove", .remove(sub))
    bench.reply()
    bench.reply(code: 429)
    _ = bench.take()
    bench.operate("other", .logIn, [GatewayBench.other])
    #expect(bench.take() == ["other error 4201"])
    bench.wait(60)
    bench.operate("other", .logIn, [GatewayBench.other])
    bench.reply()
    bench.reply()
    #expect(bench.take().suffix(2) == ["{other} online", "other ok"])
  }
}

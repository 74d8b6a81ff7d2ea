import RepriseCore
import Testing

@testable import DeviceSDK

@Suite struct LoginTests {
  @Test func logsIn() throws {
    var bench = try LinkBench()
    bench.call("login", .login(token: "secret"))
    #expect(
      bench.take() == [
        "+0 connecting login login", "+0 connected login loginSuccess", "+0 login ok",
      ])
    guard case .connect(let options) = bench.sent.first?.kind,
      case .subscribe(let filters) = bench.sent.dropFirst().first?.kind
    else { throw Wrong("no CONNECT and SUBSCRIBE") }
    #expect(options.clientID == SampleLink.base && options.cleanStart)
    #expect(options.username == "alice" && options.password == nil && options.keepAlive == 15)
    #expect(
      options.will == Message(topic: SampleLink.base + "/up/lost", payload: [], qos: .atLeastOnce))
    #expect(filters == [Subscription(SampleLink.base + "/down/+")])
    #expect(
      bench.requests("login") == [
        [
          "id": "1", "token": "secret", "heartbeatInterval": 5, "presenceTimeout": 300,
          "again": false, "restore": [],
        ]
      ])
  }

  @Test func takesTheAppForAnEmptyToken() throws {
    var bench = try LinkBench()
    bench.call("login", .login(token: ""))
    #expect(bench.requests("login").first?["token"] == "app")
  }

  @Test func leavesNoWillIfTheBrokerKeepsNone() throws {
    var bench = try LinkBench { $0.leavesWill = false }
    bench.call("login", .login(token: "t"))
    guard case .connect(let options) = bench.sent.first?.kind else { throw Wrong("no CONNECT") }
    #expect(options.clientID == SampleLink.base && options.will == nil)
  }

  @Test(arguments: [
    (-10_005, LinkReason.invalidToken), (-10_009, .tokenExpired), (-10_015, .loginNotAuthorized),
    (-10_012, .loginRejected), (-10_016, .inconsistentAppID), (-10_003, .inconsistentAppID),
    (-10_021, .operationRateExceedLimitation), (-10_022, .serviceNotSupported),
    (-10_010, .loginRejected), (-1, .loginRejected),
  ])
  func failsWithTheReasonOfTheCode(code: Int, reason: LinkReason) throws {
    var bench = try LinkBench()
    bench.greeting = ["code": .number("\(code)")]
    bench.call("login", .login(token: "t"))
    bench.wait(600)
    #expect(
      bench.take() == [
        "+0 connecting login login", "+0 failed serverReject \(reason)", "+0 login \(code)",
      ])
    #expect(bench.connectTimes.count == 1)
  }

  @Test func takesTheServersOwnReason() throws {
    var bench = try LinkBench()
    bench.greeting = ["code": "-10012", "reason": 37]
    bench.call("login", .login(token: "t"))
    #expect(bench.events.last?.reason == .loginTooFrequent)
  }

  @Test(arguments: [
    (UInt8(1), LinkReason.serviceNotSupported, -10_022), (2, .loginRejected, -10_006),
    (4, .invalidToken, -10_005), (5, .loginNotAuthorized, -10_015),
    (0x81, .loginRejected, -10_012), (0x84, .serviceNotSupported, -10_022),
    (0x85, .loginRejected, -10_006), (0x86, .invalidToken, -10_005),
    (0x87, .loginNotAuthorized, -10_015), (0x8A, .loginRejected, -10_012),
    (0x8C, .loginRejected, -10_012), (0x9D, .loginRejected, -10_012),
  ])
  func failsIfTheBrokerRefuses(code: UInt8, reason: LinkReason, error: Int) throws {
    var bench = try LinkBench()
    bench.refusal = code
    bench.call("login", .login(token: "t"))
    #expect(bench.take().suffix(2) == ["+0 failed serverReject \(reason)", "+0 login \(error)"])
  }

  @Test(arguments: [3, 0x80, 0x88, 0x89, 0x97, 0x9F] as [UInt8])
  func triesAgainIfTheBrokerIsNotAvailable(code: UInt8) throws {
    var bench = try LinkBench()
    bench.refusal = code
    bench.call("login", .login(token: "t"))
    #expect(bench.take().last == "+0 disconnected autoReconnect connectionError")
    bench.refusal = nil
    bench.wait(2)
    #expect(bench.take().suffix(2) == ["+2 connected login loginSuccess", "+2 login ok"])
    #expect(bench.events.last?.isResumed == false)
  }

  @Test func failsIfItMayNotHearTheServer() throws {
    var bench = try LinkBench()
    bench.refusedFilters = [SampleLink.base + "/down/+"]
    bench.call("login", .login(token: "t"))
    #expect(
      bench.take().suffix(2) == ["+0 failed serverReject loginNotAuthorized", "+0 login -10015"])
  }

  // MARK: Logging in again

  @Test func succeedsAtOnceIfItIsLoggedIn() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.call("again", .login(token: "u"))
    #expect(bench.take() == ["+0 again ok"])
  }

  @Test func failsIfItIsLoggedInAndStrict() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected { $0.rejectsRepeatedLogin = true }
    bench.call("again", .login(token: "u"))
    #expect(bench.take() == ["+0 again -10017"])
  }

  @Test func cancelsTheFirstOfTwoLogins() throws {
    var bench = try LinkBench()
    bench.world = .silent
    bench.call("one", .login(token: "t"))
    bench.wait(1)
    bench.world = .well
    bench.call("two", .login(token: "u"))
    #expect(
      bench.take() == [
        "+0 connecting login login", "+1 one -10023", "+1 connected login loginSuccess",
        "+1 two ok",
      ])
    #expect(bench.requests("login").map { $0["token"]?.text } == ["u"])
  }

  @Test func cancelsALoginByALogout() throws {
    var bench = try LinkBench()
    bench.world = .silent
    bench.call("login", .login(token: "t"))
    bench.call("logout", .logout)
    bench.wait(600)
    #expect(
      bench.take() == [
        "+0 connecting login login", "+0 login -10023", "+0 idle logout logout", "+0 logout ok",
      ])
  }

  @Test func logsInFromDisconnectedAndSuspended() throws {
    for outage in [1.0, 125.0] {
      var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
      bench.world = .gone
      bench.lose()
      bench.wait(outage)
      _ = bench.take()
      bench.world = .well
      bench.call("again", .login(token: "u"))
      #expect(
        bench.take().map { $0.split(separator: " ").dropFirst().joined(separator: " ") } == [
          "connecting login relogin",
          "connected reconnected reconnectSuccess\(outage < 120 ? " resumed" : "")", "again ok",
        ])
      #expect(bench.machine.subscribedChannels == ["a"])
    }
  }

  @Test func staysSuspendedIfALoginFindsNoNetwork() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .gone
    bench.lose()
    bench.wait(125)
    _ = bench.take()
    bench.call("again", .login(token: "u"))
    #expect(
      bench.take() == [
        "+125 connecting login relogin", "+125 suspended autoReconnect connectionError",
      ])
    bench.world = .well
    bench.wait(30)
    #expect(bench.take().last == "+155 again ok")
  }

  @Test func startsANewSessionAfterAFailure() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.kick(.kickedOutByServer)
    bench.call("again", .login(token: "u"))
    #expect(
      bench.take() == [
        "+0 failed serverReject kickedOutByServer", "+0 connecting login relogin",
        "+0 connected login loginSuccess", "+0 again ok",
      ])
    #expect(bench.machine.subscribedChannels.isEmpty)
    #expect(bench.requests("login").last?["again"] == .bool(false))
  }

  @Test func restoresAfterAFailureIfAsked() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"]) {
      $0.restoresAfterFailure = true
    }
    bench.kick(.kickedOutByServer)
    bench.call("again", .login(token: "u"))
    #expect(bench.machine.subscribedChannels == ["a"])
  }

  @Test func keepsALoginThroughAWeakNetwork() throws {
    var bench = try LinkBench()
    bench.world = .gone
    bench.call("login", .login(token: "t"))
    bench.wait(400)
    #expect(!bench.book.lines.contains { $0.contains("login ok") })
    bench.world = .well
    bench.wait(30)
    #expect(bench.take().count { $0.hasSuffix("login ok") } == 1)
  }

  @Test func forgetsALoginThatIsNotWaitedFor() throws {
    var bench = try LinkBench()
    bench.world = .silent
    bench.call("login", .login(token: "t"))
    bench.cancel("login")
    bench.world = .well
    bench.receive(.connected(.init()))
    #expect(bench.take() == ["+0 connecting login login", "+0 connected login loginSuccess"])
  }

  // MARK: Logging out

  @Test func logsOutWithAWordToTheServer() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["b", "a"])
    bench.forgetSent()
    bench.call("logout", .logout)
    #expect(bench.take() == ["+0 idle logout logout", "+0 logout ok"])
    #expect(bench.events.last?.affected == ["a", "b"])
    #expect(bench.requests("logout").count == 1 && bench.sent.count == 2)
    #expect(bench.machine.subscribedChannels.isEmpty && bench.machine.deadline == nil)
    bench.call("again", .logout)
    #expect(bench.take() == ["+0 again -10002"])
  }

  @Test func waitsForTheEndOfTheConnection() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.closes = false
    bench.call("logout", .logout)
    bench.call("again", .logout)
    bench.wait(4)
    #expect(bench.take() == ["+0 idle logout logout"])
    bench.receive(.closed(.byUser))
    #expect(bench.take() == ["+4 logout ok", "+4 again ok"])
  }

  @Test func waitsForTheEndOfTheConnectionNotForEver() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.closes = false
    bench.call("logout", .logout)
    bench.wait(60)
    #expect(bench.take().last == "+5 logout ok")
    #expect(bench.machine.deadline == nil)
  }

  @Test func logsInWhileTheOldConnectionCloses() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.closes = false
    bench.call("logout", .logout)
    bench.call("login", .login(token: "u"))
    #expect(
      bench.take() == ["+0 idle logout logout", "+0 logout ok", "+0 connecting login login"])
    bench.wait(1)
    bench.receive(.closed(.byUser))
    #expect(bench.take() == ["+1 connected login loginSuccess", "+1 login ok"])
  }

  @Test func triesAgainIfTheOldConnectionDoesNotClose() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.closes = false
    bench.call("logout", .logout)
    bench.call("login", .login(token: "u"))
    bench.wait(11)
    #expect(bench.take().last == "+10 disconnected autoReconnect connectionError")
    bench.receive(.closed(.byUser))
    bench.wait(1)
    #expect(bench.take().last == "+12 login ok")
  }

  @Test func staysLoggedOut() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.world = .gone
    bench.lose()
    bench.wait(10)
    bench.call("logout", .logout)
    bench.world = .well
    bench.wait(3_600)
    #expect(bench.take().suffix(2) == ["+10 idle logout logout", "+10 logout ok"])
  }
}

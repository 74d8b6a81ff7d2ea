import RepriseCore
import Testing

@testable import DeviceSDK

/// What goes wrong with networks, clocks, tokens and users.
@Suite struct LinkFaultTests {
  @Test func outlastsAnHourOfAFlappingNetwork() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a", "b"])
    var random = SeededGenerator(seed: 7)
    while bench.seconds < 3_600 {
      bench.world = .gone
      if bench.machine.state == .connected { bench.lose() }
      bench.wait(Double(random.next() % 40))
      bench.world = .well
      bench.wait(Double(random.next() % 40))
    }
    bench.world = .well
    bench.wait(30)
    #expect(bench.machine.state == .connected)
    #expect(bench.machine.subscribedChannels == ["a", "b"])
    #expect(bench.machine.session.purposes.isEmpty && bench.machine.calls.isEmpty)
    var state = LinkState.connected
    for event in bench.events {
      #expect(event.previous == state)
      state = event.current
    }
    #expect(bench.events.count > 200)
  }

  @Test func sendsOneHeartbeatAfterAClockJump() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.jump(3_600)
    #expect(bench.pingTimes == [3_600])
    bench.wait(12)
    #expect(bench.pingTimes == [3_600, 3_605, 3_610])
    #expect(bench.machine.state == .connected)
  }

  @Test func noticesSilenceThatAClockJumpHid() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.wait(6)
    bench.world = .gone
    bench.jump(600)
    #expect(bench.take() == ["+606 disconnected heartbeatTimeout keepAliveTimeout"])
    // The outage counts from when it was noticed.
    bench.world = .well
    bench.wait(2)
    #expect(bench.events.last?.isResumed == true)
  }

  @Test func triesAtOnceIfItSleptThroughItsTries() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .gone
    bench.lose()
    bench.wait(1)
    bench.world = .well
    bench.jump(3_600)
    #expect(
      bench.take() == [
        "+0 disconnected serverTimeout connectionError",
        "+3601 connecting autoReconnect autoReconnect",
        "+3601 connected reconnected reconnectSuccess",
      ])
    #expect(bench.events.last?.isResumed == false)
  }

  // MARK: The network of the device

  @Test func triesAtOnceWhenTheNetworkIsBack() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .gone
    bench.call("lost", .noteNetwork(.lost))
    #expect(bench.take() == ["+0 disconnected networkChange networkChange", "+0 lost ok"])
    bench.wait(1)
    bench.world = .well
    bench.call("back", .noteNetwork(.regained))
    #expect(
      bench.take() == [
        "+1 connecting autoReconnect autoReconnect",
        "+1 back ok",
        "+1 connected reconnected reconnectSuccess resumed",
      ])
  }

  @Test func movesToAnotherNetworkAtOnce() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.call("switch", .noteNetwork(.switched))
    #expect(
      bench.take().map { $0.dropFirst(3) } == [
        "disconnected networkChange networkChange",
        "connecting autoReconnect autoReconnect", "switch ok",
        "connected reconnected reconnectSuccess resumed",
      ])
  }

  /// An app comes to the foreground after ten minutes, in another network.
  @Test func endsInTheRightStateAfterBackgroundAndSwitch() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.wait(7)
    bench.world = .gone
    bench.jump(600)
    bench.call("switch", .noteNetwork(.switched))
    bench.jump(5)
    bench.world = .well
    bench.call("back", .noteNetwork(.regained))
    bench.wait(60)
    #expect(bench.machine.state == .connected)
    #expect(bench.events.last?.current == .connected)
    #expect(bench.machine.subscribedChannels == ["a"])
  }

  @Test func ignoresWordsOnTheNetworkThatChangeNothing() throws {
    var bench = try LinkBench()
    for change in LinkNetworkChange.allCases { bench.call("\(change)", .noteNetwork(change)) }
    #expect(bench.take() == ["+0 lost ok", "+0 regained ok", "+0 switched ok"])
    bench.call("login", .login(token: "t"))
    bench.call("regained", .noteNetwork(.regained))
    #expect(bench.machine.state == .connected)
    #expect(bench.connectTimes.count == 1)
  }

  @Test func startsATryAnewInAnotherNetwork() throws {
    var bench = try LinkBench()
    bench.world = .silent
    bench.call("login", .login(token: "t"))
    bench.wait(5)
    bench.world = .well
    bench.call("switch", .noteNetwork(.switched))
    #expect(
      bench.take() == [
        "+0 connecting login login", "+5 switch ok", "+5 connected login loginSuccess",
        "+5 login ok",
      ])
  }

  // MARK: Being thrown out

  @Test(arguments: [
    (LinkReason.sameUIDLogin, -10_012), (.kickedOutByServer, -10_012), (.tokenExpired, -10_009),
  ])
  func neverReconnectsAfterAKick(reason: LinkReason, code: Int) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.world = .silent
    bench.call("state", .changeStates("a", ["k": "v"]))
    bench.world = .well
    bench.kick(reason)
    #expect(bench.take() == ["+0 failed serverReject \(reason)", "+0 state -13001"])
    bench.wait(86_400)
    #expect(bench.take() == [])
    #expect(bench.connectTimes.count == 1)
    guard case .disconnect = bench.sent.last?.kind else {
      Issue.record("the connection stays open")
      return
    }
  }

  /// The user logged in elsewhere while this device had no network.
  @Test func neverReconnectsIfTheUserIsElsewhereMeanwhile() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.greeting = ["code": -10_012, "reason": 27, "message": "logged in elsewhere"]
    bench.lose()
    bench.wait(3_600)
    #expect(
      bench.take() == [
        "+0 disconnected serverTimeout connectionError",
        "+2 connecting autoReconnect autoReconnect",
        "+2 failed serverReject sameUIDLogin",
      ])
    #expect(bench.requests("login").last?["again"] == .bool(true))
    #expect(bench.events.last?.detail == "logged in elsewhere")
  }

  @Test func letsAKickComeWhileItOpens() throws {
    var bench = try LinkBench()
    bench.greeting = .null
    bench.call("login", .login(token: "t"))
    bench.kick(.kickedOutByServer)
    #expect(
      bench.take() == [
        "+0 connecting login login", "+0 failed serverReject kickedOutByServer",
        "+0 login -10012",
      ])
  }

  // MARK: Tokens

  @Test func warnsOnceBeforeATokenEnds() throws {
    var bench = try LinkBench()
    bench.greeting = ["code": 0, "expiresIn": 100]
    bench.call("login", .login(token: "t"))
    _ = bench.take()
    bench.wait(1_000)
    #expect(bench.take() == ["+70 token ends"])
  }

  @Test func warnsAgainOfANewToken() throws {
    var bench = try LinkBench()
    bench.greeting = ["code": 0, "expiresIn": 100]
    bench.answer = ["code": 0, "expiresIn": 100]
    bench.call("login", .login(token: "t"))
    bench.wait(80)
    bench.call("renew", .renewToken("u"))
    bench.wait(75)
    #expect(bench.take().dropFirst(3) == ["+70 token ends", "+80 renew ok", "+150 token ends"])
    bench.lose()
    bench.wait(2)
    #expect(bench.requests("login").map { $0["token"]?.text } == ["t", "u"])
  }

  @Test func warnsOfATokenThatIsNearlyOverAtOnce() throws {
    var bench = try LinkBench()
    bench.greeting = ["code": 0, "expiresIn": 10]
    bench.call("login", .login(token: "t"))
    bench.wait(0)
    #expect(bench.take().last == "+0 token ends")
  }

  /// The token ends while there is no network, and a warning came before.
  @Test func failsInsteadOfShowingATokenThatIsOver() throws {
    var bench = try LinkBench()
    bench.greeting = ["code": 0, "expiresIn": 40]
    bench.call("login", .login(token: "t"))
    _ = bench.take()
    bench.world = .gone
    bench.lose()
    bench.wait(3_600)
    #expect(
      bench.take().suffix(4) == [
        "+14 disconnected autoReconnect connectionError",
        "+30 connecting autoReconnect autoReconnect",
        "+30 disconnected autoReconnect connectionError", "+62 failed serverReject tokenExpired",
      ])
    #expect(bench.connectTimes == [0, 2, 6, 14, 30])
    bench.world = .well
    bench.call("again", .login(token: "u"))
    #expect(bench.take().suffix(2) == ["+3600 connected login loginSuccess", "+3600 again ok"])
  }

  @Test func failsIfTheServerFindsTheTokenOver() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.greeting = ["code": -10_009, "message": "too old"]
    bench.lose()
    bench.wait(60)
    #expect(bench.take().last == "+2 failed serverReject tokenExpired")
  }

  // MARK: The end of the world

  @Test func endsWithItsWorld() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.answer = nil
    bench.call("state", .changeStates("a", ["k": "v"]))
    bench.receive(.ended)
    #expect(bench.take() == ["+0 disconnected serverTimeout connectionError", "+0 state -13001"])
    #expect(bench.machine.deadline == nil)
    bench.call("login", .login(token: "t"))
    #expect(bench.take() == ["+0 login -10007"])
  }
}

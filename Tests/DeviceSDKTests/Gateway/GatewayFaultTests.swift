import RepriseCore
import Testing

@testable import DeviceSDK

/// What goes wrong between the gateway and the cloud.
@Suite struct GatewayFaultTests {
  // MARK: The connection is lost

  /// SDK-gateway-30.
  @Test(arguments: LineState.allCases)
  func bringsALineBackAsFarAsItWas(state: LineState) throws {
    var bench = try GatewayBench.connected()
    if state == .new {
      bench.devices[ConnectionID(rawValue: 1)] = .silent
      bench.setUp(1)
    } else {
      bench = try .line(in: state)
    }
    _ = bench.take()
    bench.close()
    #expect(bench.take().last == "state disconnected 4101")
    bench.wait(1)
    bench.accept()
    if state == .online {
      #expect(bench.machine.state == .connecting, "connected is told when the line is back")
      bench.reply()
      #expect(bench.take().suffix(2) == ["{sub} online", "state connected"])
    }
    #expect(bench.machine.state == .connected)
    #expect(bench.requests.isEmpty)
    #expect(bench.machine.lineState(of: GatewayBench.sub) == (state == .new ? nil : state))
    #expect(bench.machine.statistics.lostConnections == 1)
  }

  /// SDK-gateway-56.
  @Test func failsAtOnceWhatWaitsOnALostConnection() throws {
    var bench = try GatewayBench.line(in: .online)
    try bench.post("post")
    bench.operate("logout", .logOut)
    bench.operate("login", .logIn)
    bench.call("topology", .topology)
    bench.call("register", .register([.init(productKey: "123")]))
    _ = bench.take()
    bench.close()
    let lines = bench.take()
    for name in ["post", "logout", "login", "topology", "register"] {
      #expect(lines.contains("\(name) error 4101"))
    }
    #expect(lines.first == "{sub} topology 4101")
    #expect(bench.machine.requests.isEmpty && bench.machine.operations.isEmpty)
  }

  @Test(arguments: [1, 2, 3])
  func losesTheConnectionWhileItLogsInAgain(losses: Int) throws {
    var bench = try GatewayBench.line(in: .online)
    for _ in 0..<losses {
      bench.close()
      bench.wait(60)
      bench.accept()
      #expect(bench.requests.count == 1)
    }
    bench.reply()
    #expect(bench.machine.lineState(of: GatewayBench.sub) == .online)
    #expect(bench.machine.state == .connected)
  }

  /// SDK-gateway-30, 37.
  @Test func subscribesAgainToWhatALineHad() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.call("sub", .subscribe(try FullTopic("/sys/123/test/user/x"), for: GatewayBench.sub))
    bench.call("sub", .subscribe(try FullTopic("/a1gw/phone/user/y"), for: nil))
    bench.close()
    bench.wait(1)
    bench.isTerse = false
    _ = bench.take()
    bench.accept()
    let own = "/ext/error/{gw} /sys/{gw}/thing/topo/add/notify /sys/{gw}/thing/topo/change"
    let replies = "/ext/session/{gw}/combine/login_reply /sys/{gw}/thing/topo/add_reply"
    #expect(
      bench.take() == ["SUBSCRIBE \(own) /{gw}/user/y \(replies)"])
    bench.grant(Array(repeating: .atLeastOnce, count: 6))
    _ = bench.take()
    bench.reply()
    #expect(bench.take().first?.hasSuffix("{sub}/thing/delete /sys/{sub}/user/x") == true)
    bench.grant(Array(repeating: .atLeastOnce, count: 6))
    #expect(bench.take() == ["{sub} online", "state connected"])
  }

  /// SDK-gateway-31.
  @Test func reportsTheConnectionWithoutALineThatIsNotReady() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.devices[ConnectionID(rawValue: 1)] = .silent
    bench.close()
    bench.wait(1)
    bench.accept()
    _ = bench.take()
    bench.wait(10)
    #expect(bench.take() == ["state connected"])
    bench.wait(60)
    #expect(bench.take() == ["give up 1", "{sub} topology 4301"])
    // The next connection is a new chance.
    bench.devices[ConnectionID(rawValue: 1)] = .ready(try GatewayBench.info())
    bench.close()
    bench.wait(1)
    bench.accept()
    bench.reply()
    #expect(bench.machine.lineState(of: GatewayBench.sub) == .online)
  }

  /// SDK-gateway-32.
  @Test func leavesInPeaceWhomTheCloudRefuses() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.close()
    bench.wait(1)
    bench.accept()
    _ = bench.take()
    bench.reply(code: 6401)
    #expect(bench.take() == ["{sub} ready 4302/6401", "state connected"])
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(bench.requests.isEmpty && bench.machine.state == .connected)
  }

  @Test(arguments: [6287, 460, 522] as [JSONValue])
  func logsNobodyInAgainWhomTheCloudRefusesForGood(code: JSONValue) throws {
    var bench = try GatewayBench.line(in: .online)
    bench.close()
    bench.wait(1)
    bench.accept()
    _ = bench.take()
    bench.reply(code: code)
    #expect(bench.take().count == 2, "one change with the error, and the connection")
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(bench.requests.isEmpty && bench.machine.state == .connected)
  }

  /// SDK-gateway-32.
  @Test func doesNotLogInAgainWhoIsDisabledOrWasKicked() throws {
    for code in [427, 520, 521, 522] as [JSONValue] {
      var bench = try GatewayBench.line(in: .online)
      bench.sessionError(code)
      bench.close()
      bench.wait(1)
      bench.accept()
      #expect(bench.requests.isEmpty && bench.machine.state == .connected)
    }
    var bench = try GatewayBench.line(in: .online)
    bench.message("/sys/{sub}/thing/disable", ["id": "7", "params": [:]])
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(bench.requests.isEmpty && bench.machine.state == .connected)
  }

  /// SDK-gateway-34.
  @Test func startsWithNothingOnlineAfterAStop() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.call("stop", .stop)
    bench.close(.byUser)
    #expect(
      bench.take() == [
        "{sub} topology 4101", "state disconnected final", "DISCONNECT", "stop ok",
      ])
    bench.call("start", .start)
    bench.accept()
    #expect(bench.requests.isEmpty && bench.machine.state == .connected)
  }
}

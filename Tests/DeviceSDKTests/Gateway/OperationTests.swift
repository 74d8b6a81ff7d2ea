import RepriseCore
import Testing

@testable import DeviceSDK

/// Operations on lines: their turns, their batches, and what stops them.
@Suite struct OperationTests {
  private let sub = GatewayBench.sub
  private let other = GatewayBench.other

  // MARK: Turns

  /// SDK-gateway-33.
  @Test func sendsTwoLoginsAtOnceAsOne() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("a", .logIn)
    bench.operate("b", .logIn)
    #expect(bench.requests.count == 1)
    _ = bench.take()
    bench.reply()
    #expect(bench.take() == ["{sub} online", "a ok", "b ok"])
    bench.operate("c", .logIn)
    #expect(bench.take() == ["c ok"], "who is online is not logged in again")
  }

  @Test func failsTwoLoginsAtOnceTogether() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("a", .logIn)
    bench.operate("b", .logIn)
    _ = bench.take()
    bench.reply(code: 6287)
    #expect(bench.take() == ["a error 4103/6287", "b error 4103/6287"])
  }

  /// SDK-gateway-33.
  @Test func logsOutAfterALoginThatIsOnItsWay() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("login", .logIn)
    bench.operate("logout", .logOut)
    #expect(bench.requests.map(\.topic).count == 1)
    _ = bench.take()
    bench.reply()
    #expect(bench.take().prefix(2) == ["{sub} online", "login ok"])
    bench.reply()
    #expect(bench.take() == ["{sub} topology", "logout ok"])
  }

  /// SDK-gateway-25, 33.
  @Test func dropsALoginThatWasNotSentWhenTheSubdeviceIsTakenOffline() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.devices[ConnectionID(rawValue: 1)] = .silent
    bench.operate("login", .logIn)
    bench.operate("logout", .logOut)
    #expect(bench.take().prefix(3) == ["open 1", "give up 1", "login error 4201"])
    bench.reply(code: 520)
    #expect(bench.take() == ["logout error 4103/520"])
    // What the device says now is of no interest any more.
    bench.noteOpened(ConnectionID(rawValue: 1), .success(try GatewayBench.info()))
    #expect(bench.take() == [] && bench.requests.isEmpty)
  }

  @Test func dropsALoginThatWaitsForItsNextTry() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("login", .logIn)
    bench.reply(code: 429)
    _ = bench.take()
    bench.operate("delete", .deleteTopology)
    #expect(bench.take().first == "login error 4201")
    bench.reply()
    #expect(bench.take() == ["{sub} ready", "delete ok"])
    bench.wait(600)
    #expect(bench.requests.isEmpty)
  }

  @Test func keepsTheOrderOfWhatIsAskedFor() throws {
    var bench = try GatewayBench.line()
    bench.operate("add", .addTopology)
    bench.operate("login", .logIn)
    bench.operate("logout", .logOut)
    bench.operate("delete", .deleteTopology)
    for topic in [
      "/sys/a1gw/phone/thing/topo/add", "/ext/session/a1gw/phone/combine/login",
      "/ext/session/a1gw/phone/combine/logout", "/sys/a1gw/phone/thing/topo/delete",
    ] {
      #expect(bench.requests.map(\.topic) == [topic])
      bench.reply()
    }
    #expect(
      bench.take().filter { !$0.hasPrefix("PUBLISH") } == [
        "{sub} topology", "add ok", "{sub} online", "login ok", "{sub} topology", "logout ok",
        "{sub} ready", "delete ok",
      ])
  }

  @Test func goesOnAfterACancelledCall() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.operate("a", .logIn)
    bench.operate("b", .logIn)
    bench.cancel("a")
    _ = bench.take()
    bench.reply()
    #expect(bench.take() == ["{sub} online", "b ok"])
  }

  // MARK: Sub-devices

  @Test func failsWhenTheSubdeviceSaysNothingOrAnotherName() throws {
    var bench = try GatewayBench.line(in: .topology)
    let connection = ConnectionID(rawValue: 1)
    bench.devices[connection] = .failing
    bench.operate("login", .logIn)
    #expect(bench.take() == ["login error 4301"])
    bench.devices[connection] = .ready(try GatewayBench.info(other))
    bench.operate("login", .logIn)
    #expect(bench.take() == ["login error 4301"])
    bench.devices[connection] = .silent
    bench.operate("login", .logIn)
    _ = bench.take()
    bench.wait(29)
    #expect(bench.take() == [])
    bench.wait(1)
    #expect(bench.take() == ["give up 1", "login error 4301"])
    bench.devices[connection] = .ready(try GatewayBench.info())
    bench.operate("login", .logIn)
    bench.reply()
    #expect(bench.machine.lineState(of: sub) == .online)
  }

  @Test func refusesAGatewayAsItsOwnSubdevice() throws {
    var bench = try GatewayBench.connected()
    bench.devices[ConnectionID(rawValue: 1)] = .ready(
      try GatewayBench.info(Subdevice(known: "a1gw", "phone")))
    bench.setUp(1)
    #expect(bench.take() == ["line error 4301", "forget 1"])
  }

  /// SDK-gateway-10.
  @Test func goesOnWithANewConnection() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.devices[ConnectionID(rawValue: 1)] = .silent
    bench.operate("login", .logIn)
    bench.devices[ConnectionID(rawValue: 5)] = .ready(try GatewayBench.info())
    _ = bench.take()
    bench.setUp(5)
    #expect(bench.take() == ["forget 1", "login error 4301", "line ok {sub}"])
    bench.operate("login", .logIn)
    bench.reply()
    #expect(bench.machine.lineState(of: sub) == .online)
  }

  @Test func asksTheSubdeviceOnceForAllWhoWait() throws {
    var bench = try GatewayBench.connected()
    bench.devices[ConnectionID(rawValue: 1)] = .silent
    bench.setUp(1, as: "a")
    bench.setUp(1, as: "b")
    #expect(bench.take() == ["open 1"])
    bench.cancel("a")
    bench.noteOpened(ConnectionID(rawValue: 1), .success(try GatewayBench.info()))
    #expect(bench.take() == ["{sub} ready", "b ok {sub}"])
  }

  @Test func failsWhoWaitsForAConnectionThatIsForgotten() throws {
    for isRemoved in [true, false] {
      var bench = try GatewayBench.line(in: .topology)
      bench.devices[ConnectionID(rawValue: 1)] = .silent
      bench.setUp(1, as: "again")
      bench.devices[ConnectionID(rawValue: 5)] = .ready(try GatewayBench.info())
      _ = bench.take()
      if isRemoved { bench.call("remove", .remove(sub)) } else { bench.setUp(5) }
      let kind = isRemoved ? "4201" : "4301"
      #expect(bench.take().prefix(2) == ["forget 1", "again error \(kind)"])
      bench.noteOpened(ConnectionID(rawValue: 1), .success(try GatewayBench.info()))
      #expect(bench.machine.deadline == nil)
    }
  }

  @Test func removesALine() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.operate("logout", .logOut)
    bench.isTerse = false
    _ = bench.take()
    bench.call("remove", .remove(sub))
    let thing = "/sys/{sub}/thing/"
    #expect(
      bench.take() == [
        "logout error 4201", "forget 1",
        "UNSUBSCRIBE \(thing)delete \(thing)disable \(thing)enable \(thing)model/down_raw "
          + "\(thing)service/#", "remove ok",
      ])
    bench.call("remove", .remove(sub))
    bench.operate("login", .logIn)
    #expect(bench.take() == ["remove error 4201", "login error 4201"])
  }

  // MARK: The session is taken back while the subscriptions are on their way

  @Test(arguments: [(427, "topology"), (6401, "ready")] as [(JSONValue, String)])
  func failsALoginThatIsTakenBack(code: JSONValue, state: String) throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.isTerse = false
    bench.operate("login", .logIn)
    bench.grant()
    bench.reply()
    _ = bench.take()
    bench.sessionError(code)
    #expect(bench.take().contains { $0.hasPrefix("login error") })
    bench.grant(Array(repeating: .atLeastOnce, count: 5))
    #expect(bench.machine.lineState(of: sub)?.rawValue == state)
  }

  /// SDK-gateway-38.
  @Test func goesOnlineAlsoWithoutItsSubscriptions() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.isTerse = false
    bench.operate("login", .logIn)
    bench.grant()
    bench.reply()
    _ = bench.take()
    bench.wait(10)
    #expect(bench.take() == ["{sub} online", "login ok"])
    var other = try GatewayBench.line(in: .topology) { $0.subscribesToCommands = false }
    other.operate("login", .logIn)
    other.isTerse = false
    _ = other.take()
    other.reply()
    #expect(other.take() == ["{sub} online", "login ok"])
  }
}

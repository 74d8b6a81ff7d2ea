import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// What long times, jumps of the clock and a bad network do to a gateway.
@Suite struct GatewayTimeTests {
  /// Cuts the app's connection again and again, in the broker's time.
  private func flap(
    _ broker: InProcessBroker, every interval: Duration, until end: Timestamp
  ) async throws {
    let client = broker.client(named: "storm")
    defer { client.leave() }
    var next = broker.now.advanced(by: interval)
    while next < end {
      _ = try await client.next(before: next)
      broker.drop("app")
      next = next.advanced(by: interval)
    }
  }

  /// SDK-gateway-70.
  @Test(arguments: [Duration.milliseconds(700), .seconds(5), .seconds(20), .seconds(90)])
  func outlivesANetworkThatFlapsForAnHour(interval: Duration) async throws {
    try await GatewayWorld.run(
      #"{"gateway":{}}"#, { $0.kickLimit = 100_000 }
    ) { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      let changes = gateway.lineChanges
      let end = gateway.now.advanced(by: .seconds(3_600))
      try await flap(world.broker, every: interval, until: end)
      // Two minutes of quiet: back-off, pacing of logins, and the login itself.
      let client = world.broker.client(named: "quiet")
      _ = try await client.next(before: end.advanced(by: .seconds(120)))
      client.leave()
      #expect(gateway.state == .connected && line.isOnline)
      let reply = try await line.post(properties: ["Power": 1])
      #expect(reply.code == 200)
      let logins = world.log.publishes(to: "/ext/session/a1gw/phone/combine/login")
      #expect(logins <= 5 * 63, "five a minute at most")
      #expect(gateway.statistics.lostConnections > 30)
      #expect(gateway.driver.read { $0.requests.isEmpty && $0.operations.isEmpty })
      try await gateway.stop()
      _ = changes
    }
  }

  @Test func startsFailWhenTheirTimeIsOverAndTheGatewayGoesOn() throws {
    var bench = try GatewayBench { $0.startTimeout = .seconds(5) }
    bench.call("start", .start)
    for _ in 0..<2 {
      bench.close(.unreached("nobody listens"))
      bench.wait(2)
    }
    #expect(!bench.take().contains { $0.hasPrefix("start ") })
    #expect(
      bench.machine.lateStart.message
        == "the gateway was not connected in time: the connection was lost: nobody listens")
    bench.wait(1)
    #expect(bench.take() == ["start error 4101"])
    bench.call("again", .start)
    bench.wait(2)
    bench.accept()
    #expect(bench.take().suffix(2) == ["state connected", "again ok"])
    bench.wait(9)
    #expect(bench.take().isEmpty)
    #expect(bench.machine.lateStart.message == "the gateway was not connected in time")
  }

  /// SDK-gateway-53.
  @Test func neverLogsInMoreOftenThanTheCloudAllows() throws {
    var bench = try GatewayBench.line(in: .online)
    var times: [Int64] = []
    for _ in 0..<40 {
      bench.close()
      bench.wait(2)
      bench.accept()
      if !bench.requests.isEmpty {
        times.append(bench.now.nanoseconds(since: ScriptedClient.start) / 1_000_000_000)
        bench.reply()
      }
      bench.wait(1)
    }
    for (index, time) in times.enumerated().dropFirst(5) {
      #expect(time - times[index - 5] >= 60)
    }
    #expect(times.count >= 8)
    for _ in 0..<60 where bench.machine.lineState(of: GatewayBench.sub) != .online {
      bench.wait(1)
      if !bench.requests.isEmpty { bench.reply() }
    }
    #expect(bench.machine.lineState(of: GatewayBench.sub) == .online)
  }

  // MARK: The clock

  /// SDK-gateway-70.
  @Test(arguments: [3_600, 86_400, 10_000_000] as [Int64])
  func outlivesAClockThatJumps(seconds: Int64) throws {
    var bench = try GatewayBench.line(in: .topology)
    try bench.post("post")
    bench.operate("login", .logIn)
    bench.call("topology", .topology)
    _ = bench.take()
    // One input after a long sleep: everything is over at once, and once.
    bench.now = bench.now.advanced(by: .seconds(seconds))
    bench.input(.received(.deadline))
    #expect(bench.take() == ["post error 4102", "login error 4102", "topology error 4102"])
    bench.input(.received(.deadline))
    #expect(bench.take() == [] && bench.machine.deadline == nil)
    bench.operate("login", .logIn)
    bench.requests = bench.requests.suffix(1)
    bench.reply()
    #expect(bench.machine.lineState(of: GatewayBench.sub) == .online)
  }

  @Test func outlivesAClockThatJumpsToTheEndOfTime() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.now = Timestamp(nanoseconds: .max)
    try bench.post("post")
    bench.close()
    bench.input(.received(.deadline))
    #expect(bench.machine.state == .connecting)
  }

  @Test func jumpsWhileItLogsInAgain() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.close()
    bench.wait(1)
    bench.accept()
    _ = bench.take()
    bench.now = bench.now.advanced(by: .seconds(86_400))
    bench.input(.received(.deadline))
    #expect(bench.take().contains("state connected"))
    bench.wait(20)
    bench.requests = bench.requests.suffix(1)
    bench.reply()
    #expect(bench.machine.lineState(of: GatewayBench.sub) == .online)
  }

  // MARK: The connection

  /// SDK-gateway-68.
  @Test func backsOffAndGivesUpWhenItIsRefusedForGood() throws {
    var bench = try GatewayBench(Self.owning)
    bench.call("start", .start)
    for seconds in [1, 2, 4, 8, 16, 32, 60, 60] as [Double] {
      bench.close(.refused(code: 3))
      _ = bench.take()
      bench.wait(seconds - 1)
      #expect(bench.take() == [])
      bench.wait(1)
      #expect(bench.take().first == "CONNECT phone&a1gw")
    }
    bench.close(.refused(code: 5))
    #expect(bench.take() == ["start error 4001/5", "state disconnected 4001/5 final"])
    #expect(bench.machine.deadline == nil)
  }

  /// Every code of CONNACK: 4001 is who one is, the rest the server; final is what stays so.
  @Test(
    arguments: [
      (1, 4102, true), (2, 4102, true), (3, 4102, false), (4, 4001, true), (5, 4001, true),
      (0x80, 4102, false), (0x81, 4102, true), (0x84, 4102, true), (0x85, 4102, true),
      (0x86, 4001, true), (0x87, 4001, true), (0x88, 4102, false), (0x89, 4102, false),
      (0x8A, 4001, true), (0x8C, 4001, true), (0x97, 4102, false), (0x9C, 4102, true),
      (0x9D, 4102, true), (0x9F, 4102, false),
    ] as [(UInt8, Int, Bool)])
  func triesAgainOnlyWhereThatMayHelp(_ code: UInt8, _ kind: Int, _ isFinal: Bool) throws {
    var bench = try GatewayBench(Self.owning)
    bench.call("start", .start)
    bench.close(.refused(code: code))
    let line = "state disconnected \(kind)/\(code)"
    #expect(bench.take().last == (isFinal ? line + " final" : line))
    #expect((bench.machine.deadline == nil) == isFinal)
  }

  private static func owning(_ configuration: inout GatewayConfiguration) throws {
    configuration = try GatewayWorld.configuration()
    configuration.syncsTopology = false
  }

  /// SDK-gateway-68.
  @Test func stopsWhenAnotherUsesItsIdentity() throws {
    var bench = try GatewayBench(Self.owning)
    bench.call("start", .start)
    let kick = ClientEvent.Closed.byServer(code: nil, "another connected")
    for _ in 0..<2 {
      bench.accept()
      bench.close(kick)
      bench.wait(1)
    }
    bench.accept()
    _ = bench.take()
    bench.close(kick)
    #expect(bench.take() == ["state disconnected 4102 final"])
  }

  /// SDK-gateway-68: what only breaks is opened again for ever.
  @Test func goesOnWhenItsConnectionBreaksAgainAndAgain() throws {
    var bench = try GatewayBench(Self.owning)
    bench.call("start", .start)
    for count in 1...50 {
      bench.accept()
      _ = bench.take()
      bench.close(.lost("the connection was reset"))
      #expect(bench.take() == ["state disconnected 4101"], "after \(count)")
      bench.wait(60)
    }
  }

  @Test func leavesThatToTheOwnerOfASharedConnection() throws {
    var bench = try GatewayBench.connected()
    for _ in 0..<20 {
      bench.close()
      bench.wait(1)
      bench.accept()
    }
    #expect(bench.machine.state == .connected)
  }

  @Test func waitsForTheOwnerAsLongAsItTakes() throws {
    var bench = try GatewayBench()
    bench.call("start", .start)
    #expect(bench.machine.deadline == nil)
    bench.wait(100_000)
    bench.accept()
    #expect(bench.take().last == "start ok")
  }

  @Test func triesAnewWhenNobodyAnswers() throws {
    var bench = try GatewayBench(Self.owning)
    bench.isTerse = false
    bench.call("start", .start)
    _ = bench.take()
    bench.wait(29)
    #expect(bench.take() == [])
    bench.wait(1)
    #expect(bench.take() == ["DISCONNECT"])
    bench.close(.byUser)
    #expect(bench.take() == ["state disconnected 4101"])
    bench.wait(1)
    bench.accept()
    #expect(bench.take().last?.hasPrefix("SUBSCRIBE /ext/error/{gw} ") == true)
    bench.wait(30)
    #expect(bench.take() == ["DISCONNECT"])
    bench.wait(5)
    #expect(bench.take() == ["state disconnected 4101"])
  }

  @Test func startsOnceAndStopsOnce() throws {
    var bench = try GatewayBench(Self.owning)
    bench.call("a", .start)
    bench.call("b", .start)
    #expect(bench.take() == ["CONNECT phone&a1gw", "state connecting"])
    bench.accept()
    #expect(bench.take() == ["state connected", "a ok", "b ok"])
    bench.call("c", .start)
    bench.call("d", .stop)
    bench.call("e", .stop)
    bench.call("f", .start)
    #expect(
      bench.take() == ["c ok", "state disconnected final", "DISCONNECT", "f error 4201"])
    bench.close(.byUser)
    #expect(bench.take() == ["d ok", "e ok"])
    bench.call("g", .stop)
    #expect(bench.take() == ["g ok"])
    bench.call("h", .start)
    bench.input(.received(.ended))
    bench.call("i", .start)
    #expect(
      bench.take().suffix(3) == ["h error 4101", "state disconnected 4101 final", "i error 4101"])
  }

  /// SDK-gateway-67.
  @Test func refusesAConfigurationThatCannotBe() throws {
    for change in [
      { $0.limits.online = 0 }, { $0.attempts = 0 }, { $0.kickLimit = 0 },
      { $0.publishQoS = .exactlyOnce }, { $0.keepAlive = 29 }, { $0.keepAlive = 1_201 },
      { $0.limits.loginsPerRequest = -1 },
    ] as [(inout GatewayConfiguration) -> Void] {
      var configuration = try GatewayWorld.configuration()
      change(&configuration)
      let error = #expect(throws: GatewayError.self) { try GatewayStateMachine(configuration) }
      #expect(error?.kind == .client)
    }
  }
}

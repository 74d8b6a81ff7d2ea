import RepriseCore
import Testing

@testable import DeviceSDK

/// Which calls are let through when, and what the others fail with.
@Suite struct LinkGateTests {
  private static let calls: [(name: String, call: MessageLinkMachine.Call, offline: Int)] = [
    ("renew", .renewToken("u"), -10_025),
    ("subscribe", .subscribe("x", [.message]), -11_027),
    ("publish", .publish("x", [1]), -11_027),
    ("states", .changeStates("x", ["k": "v"]), -13_001),
    ("stream", .admitStream("x"), -11_027),
  ]

  @Test func failsBeforeAnyLogin() throws {
    for (name, call, _) in Self.calls {
      var bench = try LinkBench()
      bench.call(name, call)
      #expect(bench.take() == ["+0 \(name) -10002"])
      #expect(bench.sent.isEmpty)
    }
    var bench = try LinkBench()
    bench.call("unsubscribe", .unsubscribe("x"))
    bench.call("logout", .logout)
    #expect(bench.take() == ["+0 unsubscribe -10002", "+0 logout -10002"])
  }

  @Test(arguments: [(1.0, LinkState.disconnected), (3.0, .connecting), (125.0, .suspended)])
  func failsByModuleWithoutALink(outage: Double, state: LinkState) throws {
    for (name, call, code) in Self.calls {
      var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["x"])
      bench.world = state == .connecting ? .silent : .gone
      bench.lose()
      bench.wait(outage)
      #expect(bench.machine.state == state)
      _ = bench.take()
      bench.forgetSent()
      bench.call(name, call)
      #expect(bench.take() == ["+\(Int(outage)) \(name) \(code)"])
      #expect(bench.sent.isEmpty)
    }
  }

  @Test func failsAfterAFailureAsBeforeALogin() throws {
    for (name, call, _) in Self.calls {
      var bench = try LinkBench<MessageLinkMachine>.connected()
      bench.kick(.sameUIDLogin)
      _ = bench.take()
      bench.call(name, call)
      #expect(bench.take() == ["+0 \(name) -10002"])
    }
  }

  @Test func failsWhatWaitsWhenTheLinkGoes() throws {
    for (name, call, code) in Self.calls.dropLast() {
      var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["x"])
      bench.world = .silent
      bench.call(name, call)
      #expect(bench.take() == [])
      bench.lose()
      #expect(
        bench.take() == ["+0 disconnected serverTimeout connectionError", "+0 \(name) \(code)"])
      #expect(bench.machine.calls.isEmpty && bench.machine.deadlines.first == nil)
    }
  }

  @Test(arguments: [
    ("renew", -10_026, 10), ("publish", -11_026, 10), ("states", -13_012, 10),
    ("subscribe", -11_019, 10),
  ])
  func failsWhatIsNotAnswered(name: String, code: Int, seconds: Int) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["x"]) {
      $0.heartbeatInterval = .seconds(600)
    }
    bench.world = .silent
    let call = try #require(Self.calls.first { $0.name == name })
    bench.call(name, call.call)
    bench.wait(60)
    #expect(bench.take() == ["+\(seconds) \(name) \(code)"])
  }

  @Test func unsubscribes() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["x"]) {
      $0.heartbeatInterval = .seconds(600)
    }
    bench.call("never", .unsubscribe("y"))
    bench.call("un", .unsubscribe("x"))
    #expect(bench.take() == ["+0 never -11002", "+0 un ok"])
    bench.call("sub", .subscribe("x", []))
    bench.answer = nil
    bench.call("un", .unsubscribe("x"))
    bench.wait(10)
    #expect(bench.take() == ["+0 sub ok", "+10 un -11022"])
  }

  // MARK: Subscribing

  @Test func subscribesInTwoSteps() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.forgetSent()
    bench.call("sub", .subscribe("lobby 1", [.presence, .message]))
    guard case .subscribe(let filters) = bench.sent.first?.kind else {
      throw Wrong("no SUBSCRIBE")
    }
    #expect(
      filters.map(\.filter) == [
        "link/app/channel/message/lobby 1/presence", "link/app/channel/message/lobby 1/message/+",
      ])
    #expect(
      bench.requests("subscribe") == [
        ["id": "2", "channel": "lobby 1", "features": 5, "states": [:]]
      ])
    #expect(bench.take() == ["+0 presence snapshot -", "+0 sub ok"])
  }

  @Test func failsIfTheBrokerDoesNotGrant() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.refusedFilters = ["link/app/channel/message/x/presence"]
    bench.call("sub", .subscribe("x", [.presence, .message]))
    #expect(bench.take() == ["+0 sub -11038"])
    #expect(bench.requests("subscribe").isEmpty && bench.machine.subscribedChannels.isEmpty)
  }

  @Test func failsIfTheServerDoesNotTakeTheUserIn() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.answer = ["code": -11_021, "message": "full"]
    bench.call("sub", .subscribe("x", [.message]))
    #expect(bench.take() == ["+0 sub -11021"])
    #expect(bench.machine.subscribedChannels.isEmpty)
    #expect(
      bench.sent.contains { $0.kind == .unsubscribe(["link/app/channel/message/x/message/+"]) })
  }

  @Test func failsIfTheUsersAreNotListedInFiveSeconds() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected { $0.heartbeatInterval = .seconds(600) }
    bench.answer = nil
    bench.call("sub", .subscribe("x", [.presence]))
    bench.tell("reply", ["id": "2", "code": 0], to: SampleLink.base)
    bench.wait(60)
    #expect(bench.take() == ["+5 sub -11032"])
    #expect(bench.machine.subscribedChannels.isEmpty)
  }

  @Test func waitsForALateAnswerAndThenForItsList() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected { $0.heartbeatInterval = .seconds(600) }
    bench.answer = nil
    bench.call("sub", .subscribe("x", [.presence]))
    bench.call("two", .subscribe("y", [.presence]))
    bench.wait(6)
    bench.tell("reply", ["id": "2", "code": 0], to: SampleLink.base)
    bench.tell("reply", ["id": "3", "code": 0], to: SampleLink.base)
    bench.tell(
      "snapshot", ["channel": "x", "type": 1, "users": [["user": "b"]]], to: SampleLink.base)
    bench.wait(60)
    #expect(bench.take() == ["+6 presence snapshot -", "+6 sub ok", "+10 two -11032"])
  }

  // MARK: Names and limits

  @Test(arguments: ["", String(repeating: "x", count: 65), "a/b", "ä", "a\u{0}"])
  func refusesNamesThatAreNone(name: String) throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.call("sub", .subscribe(name, [.message]))
    bench.call("pub", .publish(name, []))
    bench.call("state", .changeStates(name, ["k": "v"]))
    bench.call("stream", .admitStream(name))
    #expect(
      bench.take() == ["+0 sub -10008", "+0 pub -10008", "+0 state -10008", "+0 stream -10008"])
  }

  @Test func refusesMoreThanFiftyChannels() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    for number in 1...51 {
      bench.call("\(number)", .subscribe("c\(number)", [.message]))
      bench.wait(0.1)
    }
    #expect(bench.take().filter { !$0.hasSuffix("ok") } == ["+5 51 -11021"])
    bench.call("again", .subscribe("c1", [.message]))
    #expect(bench.take().last?.hasSuffix("again ok") == true)
  }

  @Test func refusesTheEleventhStream() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    for number in 1...11 { bench.call("\(number)", .admitStream("s\(number)")) }
    #expect(bench.take().last == "+0 11 -11005")
    bench.call("known", .admitStream("s1"))
    bench.call("release", .releaseStream("s2"))
    bench.call("11", .admitStream("s11"))
    #expect(bench.take() == ["+0 known ok", "+0 release ok", "+0 11 ok"])
  }

  @Test func refusesLongMessages() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.call("most", .publish("x", Array(repeating: 0, count: 32_768)))
    bench.call("more", .publish("x", Array(repeating: 0, count: 32_769)))
    #expect(bench.take() == ["+0 most ok", "+0 more -11010"])
  }

  @Test func refusesTooManyCallsASecond() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.wait(2)
    for number in 1...21 { bench.call("\(number)", .changeStates("x", ["k": "\(number)"])) }
    #expect(bench.take().last == "+2 21 -10021")
    bench.wait(1)
    bench.call("later", .changeStates("x", ["k": "v"]))
    #expect(bench.take() == ["+3 later ok"])
  }

  @Test func refusesTooManyMessagesASecond() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    for number in 1...61 { bench.call("\(number)", .publish("x", [])) }
    #expect(bench.take().last == "+0 61 -11025")
  }

  @Test func refusesAThirdSubscriptionInFiveSeconds() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    for name in ["one", "two", "three"] { bench.call(name, .subscribe("x", [.message])) }
    #expect(bench.take().last == "+0 three -11020")
    bench.wait(5)
    bench.call("later", .subscribe("x", [.message]))
    #expect(bench.take() == ["+5 later ok"])
  }

  @Test func limitsStates() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.call("key", .changeStates("x", ["": "v"]))
    let many = Dictionary(uniqueKeysWithValues: (1...33).map { ("k\($0)", Optional("v")) })
    bench.call("many", .changeStates("x", many))
    #expect(bench.take() == ["+0 key -13006", "+0 many -13005"])
    for number in 1...101 {
      bench.call("\(number)", .changeStates("c\(number)", ["k": "v"]))
      bench.wait(0.1)
    }
    #expect(bench.take().last == "+10 101 -13004")
  }

  // MARK: The client

  @Test func failsWhatTheClientDoesNotTake() throws {
    for (code, error) in [(DataClientError.Code.transport, -11_027), (.unsupported, -11_024)] {
      var bench = try LinkBench<MessageLinkMachine>.connected()
      bench.world = .silent
      bench.call("pub", .publish("x", []))
      let id = try #require(bench.sent.last?.id)
      bench.input(.refused(id, DataClientError(code, "test")))
      #expect(bench.take() == ["+0 pub \(error)"])
    }
  }

  @Test func failsARequestThatTheClientDoesNotTake() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.world = .silent
    bench.call("renew", .renewToken("u"))
    let id = try #require(bench.sent.last?.id)
    bench.input(.refused(id, DataClientError(.transport, "test")))
    #expect(bench.take() == ["+0 renew -10025"])
  }

  @Test(arguments: [(DataClientError.Code.transport, false), (.unsupported, true)])
  func failsForGoodOnlyIfTheClientNeverCan(code: DataClientError.Code, isFinal: Bool) throws {
    var bench = try LinkBench()
    bench.world = .silent
    bench.call("login", .login(token: "t"))
    let id = try #require(bench.sent.last?.id)
    bench.input(.refused(id, DataClientError(code, "test")))
    #expect(bench.machine.state == (isFinal ? .failed : .disconnected))
  }
}

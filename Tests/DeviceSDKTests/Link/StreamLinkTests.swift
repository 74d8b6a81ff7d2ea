import RepriseCore
import Testing

@testable import DeviceSDK

/// The link of a stream channel.
@Suite struct StreamLinkTests {
  private typealias Bench = LinkBench<StreamLinkMachine>

  private static func words(_ lines: [String]) -> [String] {
    lines.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
  }

  // MARK: The table

  @Test(arguments: LinkTable.stream.rows)
  func takesTheStepOfEachRow(row: LinkTransition) throws {
    var bench = try Self.bench(before: row)
    #expect(bench.machine.state == row.from)
    _ = bench.takeEvents()
    Self.fire(row.trigger, &bench)
    let event = try #require(bench.events.first)
    #expect(event.previous == row.from && event.current == row.to)
    #expect(event.operation == row.operation && row.reasons.contains(event.reason))
    #expect(event.service == .stream && event.affected == ["room"])
  }

  private static func bench(before row: LinkTransition) throws -> Bench {
    var bench = try LinkBench(stream: "room")
    guard row.from != .idle else { return bench }
    let isFirst = [.join, .accepted, .rejected].contains(row.trigger)
    if isFirst {
      bench.world = row.from == .failed ? .well : .silent
      bench.refusal = row.from == .failed ? 5 : nil
      bench.call("join", .join(token: "t", .presence))
      bench.refusal = nil
      return bench
    }
    if row.trigger == .tokenFoundExpired { bench.greeting = ["code": 0, "expiresIn": 3] }
    bench.call("join", .join(token: "t", .presence))
    switch row.from {
    case .connecting:
      bench.world = .gone
      if row.trigger == .acceptedAgain { bench.world = .silent }
      bench.lose()
    case .failed: bench.kick(.kickedOutByServer)
    case .idle, .connected, .disconnected, .suspended: break
    }
    return bench
  }

  private static func fire(_ trigger: LinkTrigger, _ bench: inout Bench) {
    switch trigger {
    case .join, .rejoin: bench.call("again", .join(token: "t", .presence))
    case .accepted, .acceptedAgain:
      bench.world = .well
      bench.receive(.connected(.init()))
    case .rejected: bench.receive(.closed(.refused(code: 5)))
    case .tokenFoundExpired, .reconnectTimedOut: bench.wait(1_200)
    case .heartbeatMissed:
      bench.world = .silent
      bench.wait(11)
    case .connectionLost: bench.lose()
    case .networkLost: bench.call("network", .noteNetwork(.lost))
    case .kicked: bench.kick(.sameUIDLogin)
    case .serviceFailed: bench.call("service", .noteServiceFailure)
    case .leave: bench.call("leave", .leave)
    default: Issue.record("\(trigger) is no trigger of a stream channel")
    }
  }

  // MARK: Joining and leaving

  @Test func joins() throws {
    var bench = try LinkBench(stream: "room")
    bench.call("join", .join(token: "t", .presence))
    #expect(
      Self.words(bench.take()) == ["connecting join join", "connected join joinSuccess", "join ok"])
    guard case .connect(let options) = bench.sent.first?.kind,
      case .subscribe(let filters) = bench.sent.dropFirst().first?.kind
    else { throw Wrong("no CONNECT and SUBSCRIBE") }
    #expect(options.clientID == SampleLink.streamBase("room") && options.keepAlive == 10)
    #expect(
      filters.map(\.filter) == [
        SampleLink.streamBase("room") + "/down/+", "link/app/channel/stream/room/presence",
      ])
    #expect(
      bench.requests("join") == [
        [
          "id": "1", "token": "t", "presenceTimeout": 300, "again": false, "features": 1,
          "states": [:],
        ]
      ])
    bench.call("again", .join(token: "u", []))
    #expect(Self.words(bench.take()) == ["again ok"])
  }

  @Test func leavesWithAWordToTheServer() throws {
    var bench = try Bench.joined()
    bench.call("state", .changeStates(["k": "v"]))
    bench.forgetSent()
    bench.call("leave", .leave)
    #expect(bench.take() == ["+0 state ok", "+0 idle leave leave", "+0 leave ok"])
    #expect(bench.requests("leave").count == 1)
    #expect(bench.machine.deadline == nil && bench.machine.states["room"].isEmpty)
    bench.call("leave", .leave)
    #expect(bench.take() == ["+0 leave -11001"])
  }

  @Test func cancelsAJoinByALeaveAndByAJoin() throws {
    var bench = try LinkBench(stream: "room")
    bench.world = .silent
    bench.call("one", .join(token: "t", []))
    bench.call("two", .join(token: "u", []))
    bench.call("leave", .leave)
    #expect(
      Self.words(bench.take()) == [
        "connecting join join", "one -11034", "two -11034", "idle leave leave", "leave ok",
      ])
  }

  @Test func joinsWhileTheOldConnectionCloses() throws {
    var bench = try Bench.joined()
    bench.closes = false
    bench.call("leave", .leave)
    bench.call("join", .join(token: "t", []))
    bench.receive(.closed(.byUser))
    #expect(
      Self.words(bench.take()) == [
        "idle leave leave", "leave ok", "connecting join join", "connected join joinSuccess",
        "join ok",
      ])
  }

  @Test(arguments: [-11_007, -10_005, -10_009, -10_008])
  func failsIfTheServerDoesNotTakeTheUserIn(code: Int) throws {
    var bench = try LinkBench(stream: "room")
    bench.greeting = ["code": .number("\(code)"), "message": "no"]
    bench.call("join", .join(token: "t", []))
    bench.wait(3_600)
    #expect(
      Self.words(bench.take()) == [
        "connecting join join", "failed join joinFailed", "join \(code)",
      ])
    #expect(bench.events.last?.detail == "no")
  }

  @Test func failsIfTheBrokerDoesNotGrant() throws {
    var bench = try LinkBench(stream: "room")
    bench.refusedFilters = ["link/app/channel/stream/room/presence"]
    bench.call("join", .join(token: "t", .presence))
    #expect(Self.words(bench.take()).suffix(2) == ["failed join joinFailed", "join -11038"])
  }

  @Test func refusesNamesThatAreNone() {
    let error = #expect(throws: LinkError.self) {
      try StreamLinkMachine("a/b", SampleLink.configuration())
    }
    #expect(error?.code == .invalidChannelName)
  }

  // MARK: Time

  @Test func sendsTwoHeartbeatsASecondWhateverIsConfigured() throws {
    var bench = try Bench.joined { $0.heartbeatInterval = .seconds(1_800) }
    bench.wait(3)
    #expect(bench.pingTimes == [0.5, 1, 1.5, 2, 2.5, 3])
  }

  @Test func noticesSilenceAfterTenSeconds() throws {
    var bench = try Bench.joined()
    bench.wait(2)
    bench.world = .silent
    bench.wait(10.499)
    #expect(bench.take() == [])
    bench.wait(0.001)
    #expect(bench.take() == ["+12.5 connecting join rejoin"])
  }

  @Test func triesAtOnceAndThenLaterAndLater() throws {
    var bench = try Bench.joined()
    bench.world = .gone
    bench.lose()
    bench.wait(130)
    #expect(bench.connectTimes == [0, 0, 2, 6, 14, 30, 60, 90, 120])
    #expect(bench.take() == ["+0 connecting join rejoin"])
  }

  @Test func givesUpAfterTwentyMinutes() throws {
    var bench = try Bench.joined()
    bench.wait(1)
    bench.world = .gone
    bench.lose()
    bench.wait(1_199.999)
    #expect(bench.take() == ["+1 connecting join rejoin"])
    bench.wait(0.001)
    #expect(bench.take() == ["+1201 failed join joinFailed"])
    let tries = bench.connectTimes.count
    bench.wait(10_000)
    #expect(bench.connectTimes.count == tries && bench.machine.deadline == nil)
    bench.world = .well
    bench.call("again", .join(token: "t", []))
    #expect(
      Self.words(bench.take()) == [
        "connecting join rejoin", "connected join joinSuccess", "again ok",
      ])
  }

  @Test func givesAFirstJoinUpAfterTwentyMinutes() throws {
    var bench = try LinkBench(stream: "room")
    bench.world = .gone
    bench.call("join", .join(token: "t", []))
    bench.wait(3_600)
    #expect(bench.take().suffix(2) == ["+1200 failed join joinFailed", "+1200 join -11007"])
  }

  @Test(arguments: [(90.0, true), (120.0, true), (150.0, false), (1_199.0, false)])
  func comesBackWithinTwentyMinutes(outage: Double, isResumed: Bool) throws {
    var bench = try Bench.joined()
    bench.call("state", .changeStates(["k": "v"]))
    bench.world = .gone
    bench.lose()
    bench.wait(outage - 0.5)
    bench.world = .well
    bench.wait(0.5)
    bench.call("regained", .noteNetwork(.regained))
    let event = try #require(bench.events.last)
    #expect(event.current == .connected && event.isResumed == isResumed)
    let join = try #require(bench.requests("join").last)
    #expect(join["again"] == .bool(true) && join["states"] == ["k": "v"])
  }

  @Test func outlastsAnHourOfAFlappingNetwork() throws {
    var bench = try Bench.joined()
    var random = SeededGenerator(seed: 3)
    while bench.seconds < 3_600 {
      bench.world = .gone
      if bench.machine.state == .connected { bench.lose() }
      bench.wait(Double(random.next() % 40))
      bench.world = .well
      bench.wait(Double(random.next() % 40))
    }
    bench.wait(30)
    #expect(bench.machine.state == .connected)
    #expect(bench.events.allSatisfy { $0.current != .failed })
  }

  // MARK: Calls

  @Test func gatesCalls() throws {
    var bench = try LinkBench(stream: "room")
    bench.call("states", .changeStates(["k": "v"]))
    bench.call("renew", .renewToken("u"))
    #expect(bench.take() == ["+0 states -11001", "+0 renew -11001"])
    bench = try Bench.joined()
    bench.world = .gone
    bench.lose()
    bench.call("states", .changeStates(["k": "v"]))
    bench.call("renew", .renewToken("u"))
    #expect(Self.words(bench.take()).dropFirst() == ["states -13001", "renew -11027"])
  }

  @Test func failsWhatWaitsWhenTheLinkGoes() throws {
    var bench = try Bench.joined()
    bench.world = .silent
    bench.call("states", .changeStates(["k": "v"]))
    bench.call("renew", .renewToken("u"))
    bench.world = .gone
    bench.lose()
    #expect(
      Self.words(bench.take()) == ["connecting join rejoin", "states -13001", "renew -11027"])
  }

  @Test func failsWhatIsNotAnswered() throws {
    var bench = try Bench.joined()
    bench.answer = nil
    bench.call("states", .changeStates(["k": "v"]))
    bench.call("renew", .renewToken("u"))
    bench.wait(60)
    #expect(bench.take() == ["+10 states -13012", "+10 renew -10026"])
  }

  @Test func failsWithItsMessageService() throws {
    var bench = try Bench.joined()
    bench.call("service", .noteServiceFailure)
    #expect(Self.words(bench.take()) == ["failed serverReject serviceNotConnected", "service ok"])
    bench.wait(3_600)
    #expect(bench.take() == [])
  }

  @Test func warnsOfItsToken() throws {
    var bench = try LinkBench(stream: "room")
    bench.greeting = ["code": 0, "expiresIn": 40]
    bench.call("join", .join(token: "t", []))
    bench.wait(100)
    guard case .warnOfToken(let event) = bench.effects.last else {
      throw Wrong("no warning")
    }
    #expect(event.service == .stream && event.channel == "room")
    bench.answer = ["code": 0, "expiresIn": 100]
    bench.call("renew", .renewToken("u"))
    _ = bench.take()
    bench.wait(100)
    #expect(bench.take() == ["+170 token ends"])
  }

  @Test func tellsWhoComesAndGoes() throws {
    var bench = try Bench.joined()
    let topic = "link/app/channel/stream/room/presence"
    for user in ["bob", "alice"] {
      let payload: JSONValue = ["event": "join", "user": .string(user)]
      bench.receive(.message(Message(topic: topic, payload: payload.utf8)))
    }
    let base = SampleLink.streamBase("room")
    bench.tell("snapshot", ["channel": "room", "type": 2, "users": []], to: base)
    bench.tell("snapshot", ["channel": "room", "type": 1, "users": []], to: base)
    #expect(Self.words(bench.take()) == ["presence remoteJoinChannel bob", "presence snapshot -"])
  }

  @Test func endsWithItsWorld() throws {
    var bench = try LinkBench(stream: "room")
    bench.world = .silent
    bench.call("join", .join(token: "t", []))
    bench.receive(.ended)
    bench.call("again", .join(token: "t", []))
    #expect(Self.words(bench.take()) == ["connecting join join", "join -11007", "again -11007"])
    #expect(bench.machine.deadline == nil)
  }
}

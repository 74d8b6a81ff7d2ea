import DeviceSDK
import RepriseCore
import Testing

@testable import CloudSimulator

/// What users see of each other, with the server beside them.
@Suite struct LinkPresenceTests {
  /// A world in which two users are in the lobby, after whatever that said.
  private static func world(
    heartbeat: Int = 5, presence: Int = 300, _ rules: LinkServiceRules = LinkServiceRules()
  ) throws -> LinkWorld {
    var world = LinkWorld(rules)
    try world.add("alice", heartbeat: heartbeat, presence: presence)
    try world.add("bob")
    _ = world.take()
    return world
  }

  @Test func seeEachOtherComeAndTalk() throws {
    var world = LinkWorld()
    try world.add("alice")
    try world.add("bob")
    world.call("bob", .publish("lobby", Array("hello".utf8)))
    #expect(
      world.take() == [
        "+0 alice connecting login", "+0 alice connected loginSuccess", "+0 alice users alice",
        "+0 bob connecting login", "+0 bob connected loginSuccess", "+0 alice join bob",
        "+0 bob users alice bob", "+0 alice got hello from bob", "+0 bob got hello from bob",
      ])
  }

  // MARK: Silence

  /// The worked cases of the description (section 3.6), and the longest interval with the shortest
  /// time-out.
  @Test(arguments: [
    (5, 300, 15.0, 315.0), (5, 5, 15, 20), (10, 5, 20, 25), (30, 300, 40, 340),
    (1_800, 300, 1_810, 2_110), (1_800, 5, 1_810, 1_815),
  ])
  func tellsOthersAfterSilenceAndTimeout(
    heartbeat: Int, presence: Int, suspectAfter: Double, announceAfter: Double
  ) throws {
    var world = try Self.world(heartbeat: heartbeat, presence: presence)
    // One heartbeat is heard, and the network goes just after it.
    world.wait(Double(heartbeat))
    world.cut("alice")
    world.wait(suspectAfter - 0.001)
    #expect(world.service.suspects(at: world.now).isEmpty)
    world.wait(0.001)
    #expect(world.service.suspects(at: world.now) == ["alice"])
    world.wait(announceAfter - suspectAfter - 0.001)
    #expect(world.presence["bob"]?.contains { $0.kind == .remoteConnectionTimeout } == false)
    world.wait(0.001)
    let event = try #require(world.presence["bob"]?.last)
    #expect(event.kind == .remoteConnectionTimeout && event.user == .init("alice"))
    let told = event.time.nanoseconds(since: LinkWorld.start)
    #expect(told == (Int64(heartbeat) + Int64(announceAfter)) * 1_000_000_000)
    world.wait(5_000)
    #expect(world.presence["bob"]?.count { $0.kind == .remoteConnectionTimeout } == 1)
  }

  @Test func saysNothingIfTheUserIsBackInTime() throws {
    var world = try Self.world(presence: 60)
    world.call("alice", .changeStates("lobby", ["mood": "good"]))
    _ = world.take()
    world.cut("alice")
    world.wait(40)
    world.cut("alice", false)
    world.wait(20)
    #expect(world.state("alice") == .connected)
    #expect(world.take(of: "bob") == [])
    try world.add("carol")
    #expect(
      world.presence["carol"]?.first?.snapshot.first == .init("alice", states: ["mood": "good"]))
  }

  @Test func comesBackAsAnotherAfterTheAnnouncement() throws {
    var world = try Self.world(presence: 5)
    world.call("alice", .changeStates("lobby", ["mood": "good"]))
    _ = world.take()
    world.cut("alice")
    world.wait(25)
    #expect(world.take(of: "bob") == ["timeout alice"])
    try world.add("carol")
    #expect(world.presence["carol"]?.first?.snapshot.map(\.userID) == ["bob", "carol"])
    _ = world.take()
    world.cut("alice", false)
    world.wait(60)
    #expect(
      world.take(of: "bob")
        == ["join alice", "state alice mood=good"])
  }

  /// A connection that the broker loses is no reason to tell anybody earlier.
  @Test func takesNoLostConnectionForSilence() throws {
    var world = try Self.world(presence: 5)
    #expect(world.service.connectionCount == 2)
    world.cut("alice")
    world.noticeCut("alice")
    #expect(world.service.connectionCount == 1 && world.service.peakConnectionCount == 2)
    world.wait(19.999)
    #expect(world.take(of: "bob") == [])
    world.wait(0.001)
    #expect(world.take().last == "+20 bob timeout alice")
  }

  @Test func tellsEveryChannelOfTheUser() throws {
    var world = LinkWorld()
    try world.add("alice", in: ["a", "b", "c"], presence: 5)
    try world.add("bob", in: ["c", "a"])
    _ = world.take()
    world.cut("alice")
    world.wait(30)
    let channels = world.presence["bob"]?.filter { $0.kind == .remoteConnectionTimeout }
    #expect(channels?.map(\.channel) == ["a", "c"])
  }

  // MARK: Leaving

  @Test func leavesAtOnceByUnsubscribingAndByLogout() throws {
    var world = try Self.world()
    world.call("alice", .unsubscribe("lobby"))
    #expect(world.take() == ["+0 bob leave alice"])
    world.wait(10)
    world.call("alice", .subscribe("lobby", [.presence]))
    _ = world.take()
    world.call("alice", .logout)
    #expect(world.take() == ["+10 alice idle logout", "+10 bob leave alice"])
    world.wait(1_000)
    #expect(world.take() == [])
    #expect(world.service.connectionCount == 1)
  }

  @Test func leavesWhatItUnsubscribedFromWithoutANetwork() throws {
    var world = try Self.world()
    world.cut("alice")
    world.wait(20)
    world.call("alice", .unsubscribe("lobby"))
    world.cut("alice", false)
    _ = world.take()
    world.wait(60)
    #expect(
      world.take(of: "bob") == ["leave alice"])
  }

  @Test func tellsNobodyOfAQuietUser() throws {
    var world = LinkWorld()
    try world.add("bob")
    try world.add("alice", in: [])
    world.call("alice", .subscribe("lobby", [.presence, .beQuiet]))
    world.call("alice", .changeStates("lobby", ["k": "v"]))
    world.call("alice", .unsubscribe("lobby"))
    #expect(world.presence["bob"]?.count == 1)
  }

  @Test func tellsTheStatesOfOthers() throws {
    var world = try Self.world()
    world.call("alice", .changeStates("lobby", ["a": "1", "b": "2"]))
    world.call("alice", .changeStates("lobby", ["a": nil]))
    world.call("alice", .changeStates("lobby", ["a": nil]))
    #expect(world.take() == ["+0 bob state alice a=1 b=2", "+0 bob state alice b=2"])
  }

  // MARK: The same user elsewhere

  @Test func throwsOutTheFirstOfTwoLogins() throws {
    var world = try Self.world()
    try world.add("alice", session: "2", as: "alice2", in: [])
    #expect(
      world.take() == [
        "+0 alice2 connecting login", "+0 alice failed sameUIDLogin",
        "+0 alice2 connected loginSuccess",
        "+0 bob leave alice",
      ])
    world.wait(3_600)
    #expect(world.take() == [])
    #expect(world.state("alice") == .failed && world.state("alice2") == .connected)
  }

  @Test func refusesTheFirstLoginThatComesBackLater() throws {
    var world = try Self.world()
    world.cut("alice")
    try world.add("alice", session: "2", as: "alice2")
    world.wait(60)
    world.cut("alice", false)
    world.wait(60)
    #expect(world.state("alice") == .failed && world.state("alice2") == .connected)
    #expect(world.events["alice"]?.last?.reason == .sameUIDLogin)
    // A user who logs in by hand is the latest.
    world.call("alice", .login(token: "t"))
    #expect(world.state("alice") == .connected && world.state("alice2") == .failed)
  }

  @Test func throwsOutAUser() throws {
    var world = try Self.world()
    world.kick("alice", reason: 28)
    world.kick("nobody", reason: 28)
    #expect(world.events["alice"]?.last?.reason == .kickedOutByServer)
    #expect(world.presence["bob"]?.last?.kind == .remoteLeaveChannel)
  }

  // MARK: Faults

  @Test func tellsNothingTwiceThroughAnHourOfAFlappingNetwork() throws {
    var world = try Self.world(presence: 10)
    var random = SeededGenerator(seed: 11)
    while world.seconds < 3_600 {
      world.cut("alice")
      world.wait(Double(random.next() % 60))
      if random.next() % 3 == 0 { world.noticeCut("alice") }
      world.cut("alice", false)
      world.wait(Double(random.next() % 60))
    }
    world.wait(60)
    #expect(world.state("alice") == .connected)
    var isThere = true
    var changes = 0
    for event in world.presence["bob"] ?? [] where event.user?.userID == "alice" {
      switch event.kind {
      case .remoteJoinChannel:
        #expect(!isThere)
        isThere = true
        changes += 1
      case .remoteConnectionTimeout:
        #expect(isThere)
        isThere = false
        changes += 1
      default: Issue.record("\(event.kind) of alice")
      }
    }
    #expect(isThere && changes > 10)
  }

  @Test func greetsAgainAServerThatHasForgottenIt() throws {
    var world = try Self.world()
    world.call("alice", .changeStates("lobby", ["mood": "good"]))
    world.service = LinkServiceMachine()
    world.wait(60)
    #expect(world.state("alice") == .connected && world.state("bob") == .connected)
    #expect(world.events["alice"]?.map(\.reason).contains(.keepAliveTimeout) == true)
    let users = world.presence["bob"]?.last { $0.kind == .snapshot }?.snapshot
    #expect(users?.contains(.init("alice", states: ["mood": "good"])) == true)
  }

  @Test func noticesAServerThatIsDeaf() throws {
    var world = try Self.world()
    world.service.rules.isDeaf = true
    world.wait(15)
    #expect(world.state("alice") == .disconnected && world.state("bob") == .disconnected)
    world.service.rules.isDeaf = false
    world.wait(60)
    #expect(world.state("alice") == .connected)
    #expect(world.events["alice"]?.last?.isResumed == true)
  }

  @Test func tellsWhatTheServerDoesNotGiveBack() throws {
    var world = LinkWorld()
    try world.add("alice", in: ["a", "b"])
    world.service.rules.lostChannels = ["b"]
    world.lose("alice")
    world.wait(2)
    #expect(world.events["alice"]?.last?.unrestored.map(\.channel) == ["b"])
  }

  @Test func endsALinkWithItsToken() throws {
    var rules = LinkServiceRules()
    rules.tokens = ["short": .init(lifetime: .seconds(100)), "no": .init(code: -10_005)]
    var world = LinkWorld(rules)
    try world.add("bob")
    try world.add("alice", token: "short")
    try world.add("carol", token: "no")
    _ = world.take()
    world.wait(99)
    #expect(world.take() == ["+70 alice token ends"])
    world.wait(1)
    #expect(Set(world.take()) == ["+100 alice failed tokenExpired", "+100 bob leave alice"])
    #expect(world.events["carol"]?.last?.reason == .invalidToken)
  }

  @Test func keepsALinkWhoseTokenIsRenewed() throws {
    var rules = LinkServiceRules()
    rules.tokens = ["short": .init(lifetime: .seconds(100))]
    var world = LinkWorld(rules)
    try world.add("alice", token: "short")
    world.wait(80)
    world.call("alice", .renewToken("long"))
    world.wait(3_600)
    #expect(world.state("alice") == .connected)
  }

  // MARK: Streams

  @Test func seeEachOtherInStreamChannels() throws {
    var world = try Self.world()
    try world.join("room", "alice", as: "alice.room", presence: 5)
    try world.join("room", "bob", as: "bob.room")
    world.callStream("alice.room", .changeStates(["hand": "up"]))
    _ = world.take()
    world.cut("alice.room")
    world.wait(15.499)
    #expect(world.take() == ["+10.5 alice.room connecting rejoin"])
    world.wait(0.001)
    #expect(world.take() == ["+15.5 bob.room timeout alice"])
    world.cut("alice.room", false)
    world.wait(30)
    #expect(
      world.take(of: "bob.room") == [
        "join alice", "state alice hand=up",
      ])
    #expect(world.service.connectionCount == 2)
  }

  @Test func leavesStreamChannelsAtOnceAndByLogout() throws {
    var world = try Self.world()
    try world.join("room", "alice", as: "alice.room")
    try world.join("room", "bob", as: "bob.room")
    _ = world.take()
    world.callStream("alice.room", .leave)
    #expect(world.take() == ["+0 alice.room idle leave", "+0 bob.room leave alice"])
    world.callStream("alice.room", .join(token: "t", .presence))
    _ = world.take()
    world.call("alice", .logout)
    #expect(world.take().contains("+0 bob.room leave alice"))
  }

  @Test func throwsStreamsOutWithTheirUser() throws {
    var world = try Self.world()
    try world.join("room", "alice", as: "alice.room")
    try world.add("alice", session: "2", as: "alice2", in: [])
    #expect(world.state("alice.room") == .failed && world.state("alice") == .failed)
    #expect(world.events["alice.room"]?.last?.reason == .sameUIDLogin)
    // A stream of a session that is over does not come back.
    world.callStream("alice.room", .join(token: "t", .presence))
    #expect(world.events["alice.room"]?.last?.reason == .joinFailed)
  }

  @Test func refusesAStreamChannel() throws {
    var world = try Self.world()
    world.service.rules.refusedChannels = ["room": -11_007]
    try world.join("room", "alice", as: "alice.room")
    #expect(
      world.take().suffix(2) == ["+0 alice.room failed joinFailed", "+0 alice.room error -11007"])
  }

  // MARK: Many users

  @Test func collectsEventsOfLargeChannels() throws {
    var rules = LinkServiceRules()
    rules.announceLimit = 3
    var world = LinkWorld(rules)
    try world.add("bob")
    for name in ["u1", "u2", "u3", "u4"] { try world.add(name) }
    world.call("u1", .changeStates("lobby", ["k": "v"]))
    world.call("u2", .logout)
    #expect(
      world.presence["bob"]?.map(\.kind) == [.snapshot, .remoteJoinChannel, .remoteJoinChannel])
    world.wait(29.999)
    #expect(world.presence["bob"]?.count == 3)
    world.wait(0.001)
    let event = try #require(world.presence["bob"]?.last)
    #expect(event.kind == .interval)
    #expect(event.interval.joined == ["u3", "u4"] && event.interval.left == ["u2"])
    #expect(event.interval.states == [.init("u1", states: ["k": "v"])])
  }

  @Test func followsOtherRulesFromNowOn() throws {
    var world = LinkWorld()
    try world.add("bob")
    try world.add("u1")
    #expect(world.presence["bob"]?.map(\.kind) == [.snapshot, .remoteJoinChannel])
    world.service.rules.announceLimit = 2
    world.service.rules.interval = .seconds(7)
    try world.add("u2")
    world.wait(6.999)
    #expect(world.presence["bob"]?.count == 2)
    world.wait(0.001)
    #expect(world.presence["bob"]?.last?.interval.joined == ["u2"])
  }
}

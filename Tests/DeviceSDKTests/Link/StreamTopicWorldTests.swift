import CloudSimulator
import Testing

@testable import DeviceSDK

/// Topics between users, with a server and a broker in virtual time.
@Suite struct StreamTopicWorldTests {
  /// A world in which users have joined the channel `room`, nothing told yet.
  private static func world(
    _ users: [String] = ["alice", "bob"], presence: Int = 300,
    rules: LinkServiceRules = LinkServiceRules()
  ) throws -> LinkWorld {
    var world = LinkWorld(rules)
    for user in users { try world.join("room", user, as: user, presence: presence, []) }
    _ = world.take()
    return world
  }

  @Test func talkInTopics() throws {
    var world = try Self.world(["alice", "bob", "carl"])
    world.callStream("alice", .joinTopic("chat", .init(meta: "m")))
    #expect(
      world.take() == ["bob", "carl"].map { "+0 \($0) topics remoteJoinTopic chat(alice:m)" })
    world.callStream("bob", .subscribeTopic("chat", []))
    world.callStream("alice", .publish("chat", Array("hi".utf8)))
    world.callStream("bob", .publish("chat", [1]))
    #expect(world.take() == ["+0 bob got hi from alice in chat", "+0 bob error -11016"])
    world.callStream("alice", .leaveTopic("chat"))
    world.callStream("alice", .publish("chat", []))
    #expect(
      world.take() == ["bob", "carl"].map { "+0 \($0) topics remoteLeaveTopic chat(alice:m)" }
        + ["+0 alice error -11016"])
    // A subscription outlasts the publisher's absence.
    world.callStream("alice", .joinTopic("chat", .init(qos: .ordered)))
    world.callStream("alice", .publish("chat", Array("again".utf8)))
    #expect(
      world.take(of: "bob") == [
        "topics remoteJoinTopic chat(alice:)", "got again from alice in chat",
      ])
  }

  @Test func listTopicsToThoseWhoJoin() throws {
    var world = try Self.world()
    world.callStream("alice", .joinTopic("news", .init()))
    world.callStream("bob", .joinTopic("chat", .init(meta: "b")))
    world.callStream("alice", .joinTopic("chat", .init(meta: "a")))
    _ = world.take()
    try world.join("room", "carl", as: "carl", [])
    try world.join("hall", "dan", as: "dan", [])
    #expect(
      world.take().filter { $0.contains("topics") } == [
        "+0 carl topics snapshot chat(alice:a,bob:b) news(alice:)", "+0 dan topics snapshot",
      ])
  }

  @Test func areToldOnlyOfAnAbsenceThatTakesTooLong() throws {
    var world = try Self.world(presence: 5)
    world.callStream("alice", .joinTopic("chat", .init(meta: "m")))
    _ = world.take()
    world.lose("alice")
    #expect(
      world.take() == [
        "+0 alice connecting rejoin", "+0 alice connected joinSuccess",
        "+0 alice topics snapshot chat(alice:m)",
      ])
    world.cut("alice")
    world.wait(15)
    #expect(world.take(of: "bob") == [])
    world.wait(1)
    #expect(world.take(of: "bob") == ["topics remoteLeaveTopic chat(alice:m)"])
    world.cut("alice", false)
    world.wait(60)
    #expect(world.take(of: "bob") == ["topics remoteJoinTopic chat(alice:m)"])
    #expect(world.state("alice") == .connected)
  }

  @Test func areToldOfAUserThatLeavesTheChannel() throws {
    var world = try Self.world()
    world.callStream("alice", .joinTopic("chat", .init()))
    world.callStream("alice", .joinTopic("news", .init()))
    _ = world.take()
    world.callStream("alice", .leave)
    #expect(
      world.take(of: "bob") == [
        "topics remoteLeaveTopic chat(alice:)", "topics remoteLeaveTopic news(alice:)",
      ])
  }

  @Test func areToldNothingOfQuietUsers() throws {
    var world = try Self.world(["bob"])
    try world.join("room", "alice", as: "alice", .beQuiet)
    _ = world.take()
    world.callStream("alice", .joinTopic("chat", .init()))
    world.callStream("bob", .subscribeTopic("chat", ["alice"]))
    try world.join("room", "carl", as: "carl", [])
    world.callStream("alice", .publish("chat", Array("hi".utf8)))
    world.callStream("alice", .leaveTopic("chat"))
    #expect(
      world.take() == [
        "+0 carl connecting join", "+0 carl connected joinSuccess", "+0 carl topics snapshot",
        "+0 bob got hi from alice in chat",
      ])
  }

  @Test func loseAndAreRefusedTopicsByTheRules() throws {
    var rules = LinkServiceRules()
    (rules.refusedTopics, rules.lostTopics) = (["board": 7], ["news"])
    var world = try Self.world(rules: rules)
    world.callStream("alice", .joinTopic("board", .init()))
    world.callStream("alice", .joinTopic("news", .init()))
    world.callStream("alice", .joinTopic("chat", .init()))
    #expect(
      world.take() == [
        "+0 alice error 7", "+0 bob topics remoteJoinTopic news(alice:)",
        "+0 bob topics remoteJoinTopic chat(alice:)",
      ])
    world.lose("alice")
    #expect(world.take(of: "bob") == ["topics remoteLeaveTopic news(alice:)"])
    #expect(
      world.events["alice"]?.last?.unrestored == [
        UnrestoredChannel(
          channel: "room", type: .stream, states: [:],
          topics: [.init(name: "news", wasJoined: true, users: [])])
      ])
  }
}

import RepriseCore
import Testing

@testable import DeviceSDK

/// What calls on topics fail with, and what is left of them then.
@Suite struct StreamTopicGateTests {
  private typealias Bench = LinkBench<StreamLinkMachine>

  private static let calls: [(name: String, call: StreamLinkMachine.Call)] = [
    ("join", .joinTopic("new", .init())), ("leave", .leaveTopic("chat")),
    ("publish", .publish("chat", [1])), ("sub", .subscribeTopic("chat", ["dan"])),
    ("un", .unsubscribeTopic("chat", ["bob"])),
  ]

  private static func bench() throws -> Bench {
    var bench = try Bench.joined()
    bench.call("topic", .joinTopic("chat", .init(qos: .ordered)))
    bench.call("users", .subscribeTopic("chat", ["bob", "carl"]))
    _ = bench.take()
    bench.forgetSent()
    return bench
  }

  // MARK: States

  @Test func failsBeforeTheChannelIsJoinedAndAfterItFailed() throws {
    for (name, call) in Self.calls {
      var bench = try LinkBench(stream: "room")
      bench.call(name, call)
      #expect(bench.take() == ["+0 \(name) -11001"])
      #expect(bench.sent.isEmpty)
      bench = try Self.bench()
      bench.kick(.kickedOutByServer)
      _ = bench.take()
      bench.forgetSent()
      bench.call(name, call)
      #expect(bench.take() == ["+0 \(name) -11001"])
      #expect(bench.sent.isEmpty)
    }
  }

  @Test func failsWithoutALinkUnlessItIsToLeave() throws {
    let outcomes = [
      "join": "-11027", "leave": "ok", "publish": "-11027", "sub": "-11027", "un": "ok",
    ]
    for (name, call) in Self.calls {
      var bench = try Self.bench()
      bench.world = .gone
      bench.lose()
      _ = bench.take()
      bench.forgetSent()
      bench.call(name, call)
      #expect(bench.take() == ["+0 \(name) \(outcomes[name] ?? "")"])
      #expect(bench.sent.isEmpty)
      bench.call("leave", .leaveTopic("other"))
      bench.call("un", .unsubscribeTopic("chat", ["eve"]))
      #expect(bench.take() == ["+0 leave -11016", "+0 un -11013"])
    }
  }

  @Test func failsWhatWaitsWhenTheLinkGoes() throws {
    var bench = try Self.bench()
    bench.world = .silent
    for (name, call) in Self.calls { bench.call(name, call) }
    bench.world = .gone
    bench.lose()
    #expect(
      bench.take() == ["+0 publish -11016", "+0 connecting join rejoin"]
        + ["join", "leave", "sub", "un"].map { "+0 \($0) -11027" })
    #expect(bench.machine.topics.joined.isEmpty)
    #expect(bench.machine.topics.users(of: "chat") == ["carl"])
  }

  @Test(arguments: [
    ("join", -11_015, [#"leaveTopic {"id":"4","topic":"new"}"#]), ("leave", -11_028, []),
    ("publish", -11_026, []), ("sub", -11_019, ["UNSUBSCRIBE chat/dan"]), ("un", -11_022, []),
  ])
  func failsWhatIsNotAnsweredAndTakesItBack(name: String, code: Int, back: [String]) throws {
    var bench = try Self.bench()
    let call = try #require(Self.calls.first { $0.name == name }?.call)
    bench.answer = nil
    if name != "join", name != "leave" { bench.world = .silent }
    bench.call(name, call)
    bench.forgetSent()
    bench.wait(9.999)
    #expect(bench.take() == [])
    bench.wait(0.001)
    #expect(bench.take() == ["+10 \(name) \(code)"])
    #expect(bench.topicLines == back)
    #expect(bench.machine.calls.isEmpty)
  }

  @Test(arguments: [
    ("join", [#"leaveTopic {"id":"4","topic":"new"}"#]), ("leave", []), ("publish", []),
    ("sub", ["UNSUBSCRIBE chat/dan"]), ("un", []),
  ])
  func takesBackWhatIsCancelled(name: String, back: [String]) throws {
    var bench = try Self.bench()
    let call = try #require(Self.calls.first { $0.name == name }?.call)
    (bench.answer, bench.world) = (nil, .silent)
    bench.call(name, call)
    bench.forgetSent()
    bench.cancel(name)
    #expect(bench.take() == [])
    #expect(bench.topicLines == back)
    #expect(bench.machine.calls.isEmpty && bench.machine.session.requests.isEmpty)
    #expect(bench.machine.topics.users(of: "chat") == (name == "un" ? ["carl"] : ["bob", "carl"]))
  }

  @Test(arguments: [
    ("join", -11_015), ("leave", -11_028), ("publish", -11_024), ("sub", -11_021), ("un", -11_022),
  ])
  func failsWhatTheClientDoesNotTake(name: String, code: Int) throws {
    for (error, expected) in [(DataClientError.Code.unsupported, code), (.transport, -11_027)] {
      var bench = try Self.bench()
      let call = try #require(Self.calls.first { $0.name == name }?.call)
      (bench.answer, bench.world) = (nil, .silent)
      bench.call(name, call)
      let action = try #require(bench.sent.last)
      bench.input(.refused(action.id, DataClientError(error, "test")))
      #expect(bench.take() == ["+0 \(name) \(expected)"])
    }
  }

  // MARK: Limits

  @Test func limitsTopicsThatAreJoined() throws {
    var bench = try Bench.joined()
    for number in 1...7 { bench.call("j\(number)", .joinTopic("t\(number)", .init())) }
    bench.answer = nil
    bench.call("j8", .joinTopic("t8", .init()))
    #expect(bench.take() == (1...7).map { "+0 j\($0) ok" })
    bench.forgetSent()
    bench.call("j9", .joinTopic("t9", .init()))
    #expect(bench.take() == ["+0 j9 -11014"])
    #expect(bench.sent.isEmpty)
    bench.answer = ["code": 0]
    bench.call("leave", .leaveTopic("t1"))
    bench.call("j9", .joinTopic("t9", .init()))
    #expect(bench.take() == ["+0 leave ok", "+0 j9 ok"])
  }

  @Test func limitsWhatIsSaidWithAJoin() throws {
    var bench = try Bench.joined()
    bench.forgetSent()
    bench.call("long", .joinTopic("a", .init(meta: String(repeating: "ä", count: 128) + "x")))
    #expect(bench.take() == ["+0 long -11018"])
    #expect(bench.sent.isEmpty)
    bench.call("right", .joinTopic("a", .init(meta: String(repeating: "ä", count: 128))))
    #expect(bench.take() == ["+0 right ok"])
  }

  @Test func limitsMessages() throws {
    var bench = try Self.bench()
    bench.call("long", .publish("chat", Array(repeating: 0, count: 1_025)))
    #expect(bench.take() == ["+0 long -11010"])
    #expect(bench.sent.isEmpty)
    // What was refused does not count.
    for number in 1...200 {
      bench.call("m\(number)", .publish("chat", Array(repeating: 0, count: 1_024)))
    }
    #expect(bench.take() == (1...200).map { "+0 m\($0) ok" })
    bench.forgetSent()
    bench.call("fast", .publish("chat", []))
    #expect(bench.take() == ["+0 fast -11025"])
    #expect(bench.sent.isEmpty)
    bench.wait(1)
    bench.call("later", .publish("chat", []))
    #expect(bench.take() == ["+1 later ok"])
  }

  @Test func limitsUsersOfATopic() throws {
    var bench = try Bench.joined()
    let users = (10...73).map { "u\($0)" }
    bench.call("first", .subscribeTopic("chat", [users[0]]))
    bench.call("rest", .subscribeTopic("chat", users))
    bench.forgetSent()
    bench.call("more", .subscribeTopic("chat", ["v"]))
    #expect(bench.take() == ["+0 first ok", "+0 rest ok", "+0 more -11003"])
    #expect(bench.sent.isEmpty)
    bench.call("other", .subscribeTopic("news", ["v"]))
    bench.tellTopics("join", [("big", (10...99).map { "u\($0)" })])
    bench.call("all", .subscribeTopic("big", []))
    #expect(bench.take().filter { !$0.contains("topics") } == ["+0 other ok", "+0 all ok"])
    #expect(bench.machine.topics.users(of: "big") == Set(users))
    bench.forgetSent()
    bench.call("still", .subscribeTopic("big", []))
    #expect(bench.take() == ["+0 still ok"])
    #expect(bench.sent.isEmpty)
  }

  @Test func limitsTopicsThatAreSubscribedTo() throws {
    var bench = try Bench.joined()
    for number in 1...50 { bench.call("s", .subscribeTopic("t\(number)", ["bob"])) }
    #expect(bench.take() == Array(repeating: "+0 s ok", count: 50))
    bench.forgetSent()
    bench.call("more", .subscribeTopic("t51", ["bob"]))
    #expect(bench.take() == ["+0 more -11014"])
    #expect(bench.sent.isEmpty)
    bench.call("known", .subscribeTopic("t50", ["carl"]))
    #expect(bench.take() == ["+0 known ok"])
  }

  @Test(arguments: ["", "a/b", "ä", String(repeating: "x", count: 65)])
  func refusesNamesThatAreNone(name: String) throws {
    var bench = try Self.bench()
    bench.call("join", .joinTopic(name, .init()))
    bench.call("leave", .leaveTopic(name))
    bench.call("publish", .publish(name, []))
    bench.call("sub", .subscribeTopic(name, ["bob"]))
    bench.call("un", .unsubscribeTopic(name, []))
    bench.call("user", .subscribeTopic("chat", ["bob", name]))
    bench.call("unuser", .unsubscribeTopic("chat", ["bob", name]))
    #expect(
      bench.take() == ["join", "leave", "publish", "sub", "un"].map { "+0 \($0) -11008" }
        + ["user", "unuser"].map { "+0 \($0) -11011" })
    #expect(bench.sent.isEmpty)
    bench.call("longest", .joinTopic(String(repeating: "x", count: 64), .init()))
    #expect(bench.take() == ["+0 longest ok"])
  }
}

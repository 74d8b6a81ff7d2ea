import RepriseCore
import Testing

@testable import DeviceSDK

/// Topics through losses, failures and leaving.
@Suite struct StreamTopicRestoreTests {
  private typealias Bench = LinkBench<StreamLinkMachine>

  private static func bench(_ change: (inout LinkConfiguration) -> Void = { _ in }) throws -> Bench
  {
    var bench = try Bench.joined(change)
    bench.call("chat", .joinTopic("chat", .init(qos: .ordered, meta: "m")))
    bench.call("news", .joinTopic("news", .init()))
    bench.call("users", .subscribeTopic("chat", ["bob", "carl"]))
    bench.call("more", .subscribeTopic("board", ["dan"]))
    _ = (bench.take(), bench.takeEvents())
    bench.forgetSent()
    return bench
  }

  private static func words(_ lines: [String]) -> [String] {
    lines.map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
  }

  @Test func bringsTopicsAndSubscriptionsBack() throws {
    var bench = try Self.bench()
    bench.lose()
    #expect(
      Self.words(bench.take()) == ["connecting join rejoin", "connected join joinSuccess resumed"])
    #expect(bench.topicLines == ["SUBSCRIBE other other board/dan chat/bob chat/carl"])
    #expect(
      bench.requests("join").last?["topics"]
        == [["topic": "chat", "meta": "m"], ["topic": "news", "meta": ""]])
    #expect(bench.events.last?.unrestored == [])
    bench.call("publish", .publish("chat", []))
    bench.receive(.message(Message(topic: Bench.topicBase + "board/dan", payload: [])))
    #expect(Self.words(bench.take()) == ["publish ok", "message room/board dan"])
  }

  @Test func saysNothingOfTopicsIfThereAreNone() throws {
    var bench = try Bench.joined()
    bench.lose()
    #expect(bench.requests("join").map { $0["topics"] } == [nil, nil])
  }

  @Test func tellsWhatDoesNotComeBack() throws {
    var bench = try Self.bench()
    bench.refusedFilters = [Bench.topicBase + "chat/carl", Bench.topicBase + "board/dan"]
    bench.greeting = ["code": 0, "unrestored": ["news", "other"]]
    bench.lose()
    let event = try #require(bench.events.last)
    #expect(event.current == .connected)
    #expect(
      event.unrestored == [
        UnrestoredChannel(
          channel: "room", type: .stream, states: [:],
          topics: [
            .init(name: "board", wasJoined: false, users: ["dan"]),
            .init(name: "chat", wasJoined: false, users: ["carl"]),
            .init(name: "news", wasJoined: true, users: []),
          ])
      ])
    _ = bench.take()
    bench.call("publish", .publish("news", []))
    bench.call("kept", .publish("chat", []))
    bench.receive(.message(Message(topic: Bench.topicBase + "chat/carl", payload: [])))
    #expect(Self.words(bench.take()) == ["publish -11016", "kept ok"])
    // It is gone for good, and told once.
    (bench.refusedFilters, bench.greeting) = ([], ["code": 0])
    bench.forgetSent()
    bench.lose()
    #expect(bench.events.last?.unrestored == [])
    #expect(bench.topicLines == ["SUBSCRIBE other other chat/bob"])
  }

  @Test func bringsNothingBackThatWasLeftWhileTheLinkWasDown() throws {
    var bench = try Self.bench()
    bench.world = .gone
    bench.lose()
    bench.call("leave", .leaveTopic("news"))
    bench.call("un", .unsubscribeTopic("chat", []))
    bench.world = .well
    bench.call("network", .noteNetwork(.regained))
    #expect(bench.machine.state == .connected)
    #expect(bench.topicLines == ["SUBSCRIBE other other board/dan"])
    #expect(bench.requests("join").last?["topics"] == [["topic": "chat", "meta": "m"]])
  }

  @Test func leavesWhatWasLeftWhileTheGreetingWasUnderway() throws {
    var bench = try Self.bench()
    bench.refusedFilters = [Bench.topicBase + "chat/carl"]
    bench.greeting = .null
    bench.lose()
    bench.call("leave", .leaveTopic("news"))
    bench.call("un", .unsubscribeTopic("chat", []))
    let id = try #require(bench.requests("join").last?["id"])
    bench.forgetSent()
    bench.tell("reply", ["id": id, "code": 0], to: SampleLink.streamBase("room"))
    #expect(bench.machine.state == .connected && bench.events.last?.unrestored == [])
    #expect(bench.topicLines == [#"leaveTopic {"id":"5","topic":"news"}"#, "UNSUBSCRIBE chat/bob"])
  }

  @Test func isRefusedWithTheChannelAndNotWithATopic() throws {
    var bench = try Self.bench()
    bench.refusedFilters = ["link/app/channel/stream/room/presence"]
    bench.lose()
    #expect(
      Self.words(bench.take()) == ["connecting join rejoin", "failed join joinFailed"])
  }

  @Test func forgetsTopicsWithTheChannel() throws {
    var bench = try Self.bench()
    bench.tellTopics("snapshot", [("chat", ["bob"])])
    bench.call("leave", .leave)
    #expect(bench.machine.topics == StreamTopics())
    bench.call("join", .join(token: "t", .presence))
    bench.receive(.message(Message(topic: Bench.topicBase + "chat/bob", payload: [])))
    bench.call("publish", .publish("chat", []))
    #expect(Self.words(bench.take()).suffix(2) == ["join ok", "publish -11016"])
  }

  @Test(arguments: [false, true]) func startsAnewAfterAFailureUnlessTold(restores: Bool) throws {
    var bench = try Self.bench { $0.restoresAfterFailure = restores }
    bench.kick(.kickedOutByServer)
    bench.forgetSent()
    bench.call("join", .join(token: "t", .presence))
    #expect(bench.machine.state == .connected)
    #expect(bench.machine.topics.joined.keys.sorted() == (restores ? ["chat", "news"] : []))
    #expect(
      bench.topicLines
        == [
          restores ? "SUBSCRIBE other other board/dan chat/bob chat/carl" : "SUBSCRIBE other other"
        ])
  }
}

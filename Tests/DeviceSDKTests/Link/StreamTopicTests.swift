import RepriseCore
import Testing

@testable import DeviceSDK

/// Joining topics of a stream channel, publishing in them and listening to their users.
@Suite struct StreamTopicTests {
  private typealias Bench = LinkBench<StreamLinkMachine>

  private static func source(_ topic: String, _ user: String) -> StreamTopics.Source {
    .init(topic: topic, user: user)
  }

  // MARK: Joining and publishing

  @Test func joinsATopicPublishesInItAndLeavesIt() throws {
    var bench = try Bench.joined()
    bench.forgetSent()
    bench.call("join", .joinTopic("chat", .init(meta: "m")))
    bench.call("ordered", .joinTopic("news-1", .init(qos: .ordered)))
    #expect(bench.take() == ["+0 join ok", "+0 ordered ok"])
    #expect(bench.machine.topics.joined.keys.sorted() == ["chat", "news-1"])
    bench.call("one", .publish("chat", Array("hi".utf8)))
    bench.call("two", .publish("news-1", []))
    bench.call("leave", .leaveTopic("chat"))
    bench.call("late", .publish("chat", [1]))
    bench.call("again", .leaveTopic("chat"))
    #expect(
      bench.take() == [
        "+0 one ok", "+0 two ok", "+0 leave ok", "+0 late -11016", "+0 again -11016",
      ])
    #expect(
      bench.topicLines == [
        #"joinTopic {"id":"2","topic":"chat","meta":"m"}"#,
        #"joinTopic {"id":"3","topic":"news-1","meta":""}"#,
        "PUBLISH chat/alice 0 hi", "PUBLISH news-1/alice 1 ",
        #"leaveTopic {"id":"4","topic":"chat"}"#,
      ])
    #expect(bench.machine.topics.joined.keys.sorted() == ["news-1"])
  }

  @Test func waitsForThePubackOfAnOrderedTopic() throws {
    var bench = try Bench.joined()
    bench.call("join", .joinTopic("chat", .init(qos: .ordered)))
    bench.world = .silent
    bench.call("one", .publish("chat", [1]))
    #expect(bench.take() == ["+0 join ok"])
    let action = try #require(bench.sent.last)
    bench.receive(.published(action.id))
    #expect(bench.take() == ["+0 one ok"])
  }

  @Test func joinsATopicOnce() throws {
    var bench = try Bench.joined()
    bench.call("one", .joinTopic("chat", .init(meta: "m")))
    bench.forgetSent()
    bench.call("same", .joinTopic("chat", .init(meta: "m")))
    bench.call("meta", .joinTopic("chat", .init(meta: "n")))
    bench.call("qos", .joinTopic("chat", .init(qos: .ordered, meta: "m")))
    #expect(bench.take() == ["+0 one ok", "+0 same ok", "+0 meta -10017", "+0 qos -10017"])
    bench.answer = nil
    bench.call("slow", .joinTopic("news", .init()))
    bench.call("twice", .joinTopic("news", .init()))
    #expect(bench.take() == ["+0 twice -10017"])
    #expect(bench.topicLines == [#"joinTopic {"id":"3","topic":"news","meta":""}"#])
  }

  @Test func passesTheServersNumberOn() throws {
    var bench = try Bench.joined()
    bench.answer = ["code": -11_015]
    bench.call("join", .joinTopic("chat", .init()))
    #expect(bench.take() == ["+0 join -11015"])
    #expect(bench.machine.topics.joined.isEmpty)
    bench.answer = ["code": 0]
    bench.call("again", .joinTopic("chat", .init()))
    bench.answer = ["code": -11_028]
    bench.call("leave", .leaveTopic("chat"))
    #expect(bench.take() == ["+0 again ok", "+0 leave -11028"])
    #expect(bench.machine.topics.joined.isEmpty)
  }

  @Test func leavesATopicThatIsBeingJoined() throws {
    var bench = try Bench.joined()
    bench.answer = nil
    bench.call("join", .joinTopic("chat", .init()))
    bench.answer = ["code": 0]
    bench.forgetSent()
    bench.call("leave", .leaveTopic("chat"))
    // The answer to the join comes late, and nobody waits for it.
    bench.tell("reply", ["id": "2", "code": 0], to: SampleLink.streamBase("room"))
    #expect(bench.take() == ["+0 join -11034", "+0 leave ok"])
    #expect(bench.topicLines == [#"leaveTopic {"id":"3","topic":"chat"}"#])
    #expect(bench.machine.topics == StreamTopics())
  }

  // MARK: Listening

  @Test func hearsThoseItSubscribesToAndNobodyElse() throws {
    var bench = try Bench.joined()
    bench.forgetSent()
    bench.call("sub", .subscribeTopic("chat", ["carl", "bob"]))
    bench.call("more", .subscribeTopic("chat", ["bob", "dan"]))
    bench.call("none", .subscribeTopic("chat", ["bob"]))
    #expect(bench.take() == ["+0 sub ok", "+0 more ok", "+0 none ok"])
    #expect(
      bench.topicLines == ["SUBSCRIBE chat/bob chat/carl", "SUBSCRIBE chat/dan"])
    for path in ["chat/bob", "chat/eve", "news/bob", "chat/bob/x", "chat"] {
      bench.receive(.message(Message(topic: Bench.topicBase + path, payload: [65])))
    }
    for other in ["link/app/channel/stream/hall/topic/", "link/app/channel/message/room/topic/"] {
      bench.receive(.message(Message(topic: other + "chat/bob", payload: [66])))
    }
    #expect(bench.take() == ["+0 message room/chat bob"])
    bench.forgetSent()
    bench.call("un", .unsubscribeTopic("chat", ["bob", "eve"]))
    bench.call("not", .unsubscribeTopic("chat", ["bob"]))
    bench.call("other", .unsubscribeTopic("news", []))
    bench.receive(.message(Message(topic: Bench.topicBase + "chat/bob", payload: [65])))
    bench.call("all", .unsubscribeTopic("chat", []))
    #expect(
      bench.take() == ["+0 un ok", "+0 not -11013", "+0 other -11013", "+0 all ok"])
    #expect(bench.topicLines == ["UNSUBSCRIBE chat/bob", "UNSUBSCRIBE chat/carl chat/dan"])
    #expect(bench.machine.topics.sources.isEmpty)
  }

  @Test func readsNamesWithSpecialCharacters() throws {
    var bench = try Bench.joined()
    bench.forgetSent()
    bench.call("sub", .subscribeTopic("a+b", ["c#d"]))
    bench.receive(.message(Message(topic: Bench.topicBase + "a%2Bb/c%23d", payload: [])))
    #expect(bench.topicLines == ["SUBSCRIBE a%2Bb/c%23d"])
    #expect(bench.take() == ["+0 sub ok", "+0 message room/a+b c#d"])
  }

  @Test func takesThePublishersIfNobodyIsNamed() throws {
    var bench = try Bench.joined()
    bench.call("early", .subscribeTopic("chat", []))
    bench.tellTopics("join", [("chat", ["alice", "bob"])])
    bench.tellTopics("join", [("chat", ["carl"])])
    _ = bench.take()
    bench.forgetSent()
    bench.call("sub", .subscribeTopic("chat", []))
    bench.call("same", .subscribeTopic("chat", []))
    bench.call("other", .subscribeTopic("news", []))
    #expect(bench.take() == ["+0 sub ok", "+0 same ok", "+0 other -11017"])
    #expect(bench.topicLines == ["SUBSCRIBE chat/bob chat/carl"])
  }

  @Test func failsIfTheBrokerDoesNotGrantAll() throws {
    var bench = try Bench.joined()
    bench.call("before", .subscribeTopic("chat", ["ann"]))
    bench.refusedFilters = [Bench.topicBase + "chat/carl"]
    bench.forgetSent()
    bench.call("sub", .subscribeTopic("chat", ["ann", "bob", "carl"]))
    #expect(bench.take() == ["+0 before ok", "+0 sub -11038"])
    #expect(
      bench.topicLines == ["SUBSCRIBE chat/bob chat/carl", "UNSUBSCRIBE chat/bob chat/carl"])
    #expect(bench.machine.topics.sources == [Self.source("chat", "ann")])
  }

  @Test func givesUpASubscriptionThatIsUnsubscribedFrom() throws {
    var bench = try Bench.joined()
    bench.call("before", .subscribeTopic("chat", ["ann"]))
    bench.world = .silent
    bench.call("one", .subscribeTopic("chat", ["bob", "carl"]))
    bench.call("two", .subscribeTopic("chat", ["carl", "dan"]))
    bench.forgetSent()
    bench.call("un", .unsubscribeTopic("chat", ["bob"]))
    #expect(bench.take() == ["+0 before ok", "+0 one -11040"])
    // Another call wants carl still.
    #expect(bench.topicLines == ["UNSUBSCRIBE chat/bob"])
    let un = try #require(bench.sent.last)
    bench.receive(.unsubscribed(un.id))
    #expect(bench.take() == ["+0 un ok"])
    #expect(bench.machine.topics.sources == [Self.source("chat", "ann")])
  }

  // MARK: Events

  @Test func tellsWhoJoinsAndLeavesTopics() throws {
    var bench = try Bench.joined()
    bench.call("own", .joinTopic("chat", .init(meta: "me")))
    _ = bench.take()
    bench.tellTopics("snapshot", [("chat", ["alice", "bob"]), ("news", ["carl"])])
    bench.tellTopics("join", [("news", ["dan"])])
    bench.tellTopics("join", [("chat", ["alice"])])
    #expect(
      bench.machine.topics.list(for: "alice") == [
        .init("chat", publishers: [.init("alice", meta: "me"), .init("bob", meta: "m")]),
        .init("news", publishers: [.init("carl", meta: "m"), .init("dan", meta: "m")]),
      ])
    bench.tellTopics("leave", [("news", ["carl"])])
    bench.tellTopics("leave", [("news", ["dan"])])
    bench.tellTopics("leave", [("news", ["alice"])])
    for nonsense: JSONValue in [
      [:], ["event": "join"], ["event": "fly", "topics": []], ["topics": [["topic": "x"]]], "x",
    ] {
      bench.tell("topics", nonsense, to: SampleLink.streamBase("room"))
    }
    #expect(
      bench.take() == [
        "+0 topics snapshot chat(alice:m,bob:m) news(carl:m)",
        "+0 topics remoteJoinTopic news(dan:m)",
        "+0 topics remoteLeaveTopic news(carl:m)", "+0 topics remoteLeaveTopic news(dan:m)",
      ])
    #expect(
      bench.machine.topics.list(for: "alice") == [
        .init("chat", publishers: [.init("alice", meta: "me"), .init("bob", meta: "m")])
      ])
    bench.tellTopics("snapshot", [])
    #expect(bench.take() == ["+0 topics snapshot"])
    #expect(bench.machine.topics.publishers(of: "chat").isEmpty)
  }

  @Test func aMessageLinkKnowsNoTopics() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.tell(
      "topics", ["event": "snapshot", "topics": [["topic": "t", "publishers": []]]],
      to: SampleLink.base)
    #expect(bench.take() == [])
  }
}

extension LinkBench<StreamLinkMachine> {
  static var topicBase: String { "link/app/channel/stream/room/topic/" }

  /// What was sent that has to do with topics, in short.
  var topicLines: [String] {
    sent.compactMap { action in
      switch action.kind {
      case .subscribe(let wanted): "SUBSCRIBE " + Self.short(wanted.map(\.filter))
      case .unsubscribe(let filters): "UNSUBSCRIBE " + Self.short(filters)
      case .publish(let message): Self.line(message)
      case .connect, .disconnect, .send, .sendText, .sendBinary: nil
      }
    }
  }

  private static func short(_ filters: [String]) -> String {
    filters.map { $0.hasPrefix(topicBase) ? String($0.dropFirst(topicBase.count)) : "other" }
      .joined(separator: " ")
  }

  private static func line(_ message: Message) -> String? {
    let text = message.text ?? "-"
    if message.topic.hasPrefix(topicBase) {
      return "PUBLISH \(message.topic.dropFirst(topicBase.count)) \(message.qos.rawValue) \(text)"
    }
    let verb = message.topic.split(separator: "/").last.map(String.init) ?? ""
    return ["joinTopic", "leaveTopic"].contains(verb) ? "\(verb) \(text)" : nil
  }

  /// The server says something of topics, with `m` as what users say of themselves.
  mutating func tellTopics(_ event: String, _ topics: [(String, [String])]) {
    let values = topics.map { topic, users -> JSONValue in
      let publishers = users.map { user -> JSONValue in ["user": .string(user), "meta": "m"] }
      return ["topic": .string(topic), "publishers": .array(publishers)]
    }
    tell(
      "topics", ["event": .string(event), "topics": .array(values)],
      to: SampleLink.streamBase("room"))
  }
}

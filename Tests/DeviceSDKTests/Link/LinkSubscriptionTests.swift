import RepriseCore
import Testing

@testable import DeviceSDK

/// Subscriptions that fail, are repeated or taken back, and temporary states that cross them.
@Suite struct LinkSubscriptionTests {
  private typealias Bench = LinkBench<MessageLinkMachine>

  private static let presence = "link/app/channel/message/a/presence"
  private static let messages = "link/app/channel/message/a/message/+"

  /// A bench whose server answers nothing by itself.
  private static func bench(_ features: LinkSubscribeFeatures? = nil) throws -> Bench {
    var bench = try Bench.connected()
    if let features { bench.call("first", .subscribe("a", features)) }
    bench.answer = nil
    _ = bench.take()
    bench.forgetSent()
    return bench
  }

  // MARK: States that cross a subscription

  /// SDK-link-54, -60.
  @Test func sendsStatesThatWereSetBetweenASubscriptionAndItsAnswer() throws {
    var bench = try Self.bench()
    bench.call("kept", .changeStates("a", ["early": "1"]))
    bench.call("sub", .subscribe("a", .message))
    bench.call("set", .changeStates("a", ["k": "v"]))
    bench.call("more", .changeStates("a", ["l": "w", "early": nil]))
    #expect(bench.take() == ["+0 kept ok"], "the server has nothing of what was set behind it")
    #expect(bench.requests("subscribe").map { $0["states"] } == [["early": "1"]])
    #expect(bench.requests("state").isEmpty)
    bench.reply(to: "subscribe")
    #expect(bench.take() == ["+0 sub ok"])
    #expect(
      bench.requests("state").map { $0["states"] } == [
        ["early": "1", "k": "v"], ["k": "v", "l": "w"],
      ])
    bench.reply(to: "state")
    bench.reply(to: "state", number: 1)
    #expect(bench.take() == ["+0 set ok", "+0 more ok"])
    #expect(bench.machine.states["a"] == ["k": "v", "l": "w"])
  }

  @Test func keepsStatesForTheNextSubscriptionWhenThisOneIsRefused() throws {
    var bench = try Self.bench()
    bench.call("sub", .subscribe("a", .message))
    bench.call("set", .changeStates("a", ["k": "v"]))
    bench.reply(to: "subscribe", code: -11_038)
    #expect(bench.take() == ["+0 sub -11038", "+0 set ok"])
    #expect(bench.requests("state").isEmpty)
    bench.call("again", .subscribe("a", .message))
    #expect(bench.requests("subscribe").last?["states"] == ["k": "v"])
  }

  @Test func failsHeldStatesWithTheLink() throws {
    var bench = try Self.bench()
    bench.call("sub", .subscribe("a", .message))
    bench.call("set", .changeStates("a", ["k": "v"]))
    bench.lose()
    #expect(bench.take().filter { !$0.contains("disc") } == ["+0 sub -11027", "+0 set -13001"])
    #expect(bench.machine.states == TemporaryStates())
  }

  /// What was sent before a subscription must not be undone by it.
  @Test func subscribesAnewWithTheStatesThatAreUnderWay() throws {
    var bench = try Self.bench(.message)
    bench.call("set", .changeStates("a", ["k": "v"]))
    bench.call("sub", .subscribe("a", [.message, .presence]))
    #expect(bench.requests("subscribe").last?["states"] == ["k": "v"])
  }

  /// SDK-link-54.
  @Test(arguments: [true, false])
  func statesThatWereTakenBackWhileUnderWayDoNotComeBack(isAnsweredBefore: Bool) throws {
    var bench = try Self.bench(.message)
    bench.call("set", .changeStates("a", ["k": "v"]))
    bench.call("unsub", .unsubscribe("a"))
    if isAnsweredBefore {
      bench.reply(to: "state")
      bench.reply(to: "unsubscribe")
    }
    bench.call("other", .changeStates("a", ["l": "w"]))
    bench.call("sub", .subscribe("a", .message))
    if !isAnsweredBefore {
      bench.reply(to: "state")
      bench.reply(to: "unsubscribe")
    }
    #expect(bench.requests("subscribe").last?["states"] == ["l": "w"])
    bench.reply(to: "subscribe")
    #expect(bench.take().count == 4)
    #expect(bench.machine.states["a"] == ["l": "w"])
  }

  @Test func aChangeThatFailedIsNoPartOfTheNext() throws {
    var bench = try Self.bench(.message)
    bench.call("set", .changeStates("a", ["k": "v"]))
    bench.call("bad", .changeStates("a", ["l": "w"]))
    bench.reply(to: "state", number: 1, code: -13_013)
    bench.call("next", .changeStates("a", ["m": "x"]))
    #expect(bench.requests("state").last?["states"] == ["k": "v", "m": "x"])
    #expect(bench.take() == ["+0 bad -13013"])
  }

  // MARK: Subscribing again

  @Test(arguments: ["broker", "server", "nobody", "users", "cancelled"])
  func leavesAWorkingSubscriptionAsItWasWhenTheNextFails(who: String) throws {
    var bench = try Self.bench(.message)
    if who == "broker" { bench.refusedFilters = [Self.presence] }
    bench.call("sub", .subscribe("a", [.message, .presence]))
    switch who {
    case "server": bench.reply(to: "subscribe", code: -11_021)
    case "users": bench.reply(to: "subscribe")
    case "cancelled": bench.cancel("sub")
    default: break
    }
    bench.answersPings = true
    bench.wait(11)
    let codes = [
      "broker": ["+0 sub -11038"], "server": ["+0 sub -11021"], "nobody": ["+10 sub -11019"],
      "users": ["+5 sub -11032"], "cancelled": [],
    ]
    #expect(bench.take() == codes[who])
    #expect(bench.machine.channels == ["a": .message])
    #expect(bench.unsubscribed == [[Self.presence]])
    #expect(bench.requests("unsubscribe").isEmpty)
    let isRestated = who == "nobody" || who == "users" || who == "cancelled"
    #expect(
      bench.requests("subscribe").map { $0["features"] }
        == (who == "broker" ? [] : isRestated ? [5, 4] : [5]))
    bench.publish("a", from: "bob")
    bench.tellJoin("a", of: "bob")
    #expect(bench.take() == ["+11 message a bob"])
  }

  @Test func subscribingWithFewerFeaturesEndsTheOthers() throws {
    var bench = try Self.bench([.message, .presence])
    bench.call("sub", .subscribe("a", .message))
    #expect(bench.unsubscribed.isEmpty, "it may still fail")
    bench.reply(to: "subscribe")
    #expect(bench.take() == ["+0 sub ok"])
    #expect(bench.unsubscribed == [[Self.presence]])
    bench.tellJoin("a", of: "bob")
    bench.publish("a", from: "bob")
    #expect(bench.take() == ["+0 message a bob"])
    bench.call("unsub", .unsubscribe("a"))
    #expect(bench.unsubscribed == [[Self.presence], [Self.messages]])
  }

  @Test func subscriptionsToOneChannelTakeTurns() throws {
    var bench = try Self.bench()
    bench.call("one", .subscribe("a", .message))
    bench.call("two", .subscribe("a", .presence))
    #expect(bench.requests("subscribe").map { $0["features"] } == [4])
    bench.reply(to: "subscribe", code: -11_021)
    #expect(bench.take() == ["+0 one -11021"])
    #expect(bench.requests("subscribe").map { $0["features"] } == [4, 1])
    bench.reply(to: "subscribe", number: 1)
    bench.tell(
      "snapshot", ["channel": "a", "type": 1, "users": []], to: SampleLink.base)
    #expect(bench.take() == ["+0 presence snapshot -", "+0 two ok"])
    #expect(bench.machine.channels == ["a": .presence])
  }

  // MARK: Replies that cross a close

  @Test func aSubscriptionThatIsOnItsWayEndsWithTheChannel() throws {
    var bench = try Self.bench(.message)
    bench.call("sub", .subscribe("a", [.message, .presence]))
    bench.call("unsub", .unsubscribe("a"))
    #expect(bench.take() == ["+0 sub -11040"])
    bench.reply(to: "subscribe")
    bench.reply(to: "unsubscribe")
    #expect(bench.take() == ["+0 unsub ok"])
    #expect(bench.machine.subscribedChannels.isEmpty)
    #expect(bench.unsubscribed == [[Self.presence, Self.messages]])
  }

  @Test func aSubscriptionWithoutItsUsersIsLostWithTheLink() throws {
    var bench = try Self.bench()
    bench.call("sub", .subscribe("a", [.message, .presence]))
    bench.reply(to: "subscribe")
    bench.lose()
    #expect(bench.take().contains("+0 sub -11027"))
    #expect(bench.machine.subscribedChannels.isEmpty, "its caller was told that it failed")
  }
}

extension LinkBench<MessageLinkMachine> {
  /// The server answers a request with a verb.
  fileprivate mutating func reply(to verb: String, number: Int = 0, code: Int = 0) {
    let requests = requests(verb)
    guard requests.indices.contains(number), let id = requests[number]["id"] else { return }
    tell("reply", ["id": id, "code": .number("\(code)")], to: SampleLink.base)
  }

  /// What the broker was told to drop.
  fileprivate var unsubscribed: [[String]] {
    sent.compactMap { if case .unsubscribe(let filters) = $0.kind { filters } else { nil } }
  }

  fileprivate mutating func publish(_ channel: String, from user: String) {
    let topic = "link/app/channel/message/\(channel)/message/\(user)"
    receive(.message(Message(topic: topic, payload: [1])))
  }

  fileprivate mutating func tellJoin(_ channel: String, of user: String) {
    let topic = "link/app/channel/message/\(channel)/presence"
    let payload: JSONValue = ["event": "join", "user": .string(user), "states": [:]]
    receive(.message(Message(topic: topic, payload: payload.utf8)))
  }
}

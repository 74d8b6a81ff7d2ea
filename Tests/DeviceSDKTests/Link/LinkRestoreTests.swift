import RepriseCore
import Testing

@testable import DeviceSDK

/// What a session keeps through an outage, and how it comes back.
@Suite struct LinkRestoreTests {
  private static let topic = "link/app/channel/message/"

  @Test func subscribesAgainToWhatItHad() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["b", "a"])
    bench.call("quiet", .subscribe("c", [.message, .beQuiet]))
    bench.call("state", .changeStates("a", ["mood": "good"]))
    bench.forgetSent()
    bench.lose()
    bench.wait(2)
    guard case .subscribe(let filters) = bench.sent.dropFirst().first?.kind else {
      throw Wrong("no SUBSCRIBE")
    }
    #expect(
      filters.map(\.filter) == [
        SampleLink.base + "/down/+", Self.topic + "a/presence", Self.topic + "a/message/+",
        Self.topic + "b/presence", Self.topic + "b/message/+", Self.topic + "c/message/+",
      ])
    #expect(
      bench.requests("login").last?["restore"] == [
        ["channel": "a", "features": 5, "states": ["mood": "good"]],
        ["channel": "b", "features": 5, "states": [:]],
        ["channel": "c", "features": 20, "states": [:]],
      ])
    let event = try #require(bench.events.last)
    #expect(event.affected == ["a", "b", "c"] && event.unrestored == [] && event.isResumed)
  }

  @Test func survivesSuspension() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.world = .gone
    bench.lose()
    bench.wait(1_000)
    bench.world = .well
    bench.wait(30)
    #expect(bench.machine.state == .connected && bench.machine.subscribedChannels == ["a"])
  }

  @Test func tellsWhatTheBrokerDoesNotGiveBack() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a", "b"])
    bench.call("state", .changeStates("a", ["k": "v"]))
    bench.refusedFilters = [Self.topic + "a/message/+"]
    bench.lose()
    bench.wait(2)
    let event = try #require(bench.events.last)
    #expect(event.affected == ["a", "b"])
    #expect(
      event.unrestored == [UnrestoredChannel(channel: "a", type: .message, states: ["k": "v"])])
    #expect(
      bench.requests("login").last?["restore"] == [["channel": "b", "features": 5, "states": [:]]])
    bench.lose()
    bench.wait(2)
    #expect(bench.events.last?.unrestored == [] && bench.machine.subscribedChannels == ["b"])
  }

  @Test func tellsWhatTheServerDoesNotGiveBack() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a", "b"])
    bench.greeting = ["code": 0, "unrestored": ["b", "never"]]
    bench.lose()
    bench.wait(2)
    #expect(bench.events.last?.unrestored.map(\.channel) == ["b"])
    #expect(bench.machine.subscribedChannels == ["a"])
  }

  @Test func namesTheAffectedChannelsOfEachChange() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["b", "a"])
    bench.world = .gone
    bench.lose()
    bench.wait(10)
    #expect(bench.events.count > 3)
    #expect(bench.events.allSatisfy { $0.affected == ["a", "b"] })
  }

  // MARK: Unsubscribing without a link

  @Test func unsubscribesWhileThereIsNoLink() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a", "b"])
    bench.world = .gone
    bench.lose()
    _ = bench.take()
    bench.call("un", .unsubscribe("a"))
    bench.call("never", .unsubscribe("x"))
    #expect(bench.take() == ["+0 un ok", "+0 never -11002"])
    bench.world = .well
    bench.wait(2)
    #expect(
      bench.requests("login").last?["restore"] == [["channel": "b", "features": 5, "states": [:]]])
    #expect(bench.requests("unsubscribe").isEmpty)
  }

  @Test func unsubscribesWhileTheLinkOpens() throws {
    for opensAfterwards in [false, true] {
      var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a", "b"])
      bench.world = .silent
      bench.lose()
      bench.wait(2)
      if opensAfterwards { bench.call("un", .unsubscribe("a")) }
      bench.world = .well
      bench.greeting = .null
      bench.receive(.connected(.init()))
      if !opensAfterwards { bench.call("un", .unsubscribe("a")) }
      bench.tell("reply", ["id": "4", "code": 0], to: SampleLink.base)
      #expect(bench.machine.state == .connected)
      #expect(bench.machine.subscribedChannels == ["b"])
      #expect(bench.requests("unsubscribe").map { $0["channel"] } == ["a"])
    }
  }

  // MARK: States

  @Test func appliesStatesOfAChannelWithItsSubscription() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected()
    bench.call("state", .changeStates("a", ["k": "v"]))
    #expect(bench.take() == ["+0 state ok"] && bench.requests("state").isEmpty)
    bench.call("sub", .subscribe("a", [.message]))
    #expect(bench.requests("subscribe").last?["states"] == ["k": "v"])
  }

  @Test func sendsAllStatesThatThereAre() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.call("one", .changeStates("a", ["x": "1", "y": "2"]))
    bench.call("two", .changeStates("a", ["y": nil, "z": "3"]))
    #expect(
      bench.requests("state").map { $0["states"] } == [
        ["x": "1", "y": "2"], ["x": "1", "z": "3"],
      ])
    #expect(bench.machine.states["a"] == ["x": "1", "z": "3"])
  }

  @Test func countsStatesThatAreUnderway() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.answer = nil
    bench.call("one", .changeStates("a", ["x": "1"]))
    bench.call("two", .changeStates("a", ["y": "2"]))
    #expect(bench.requests("state").last?["states"] == ["x": "1", "y": "2"])
    bench.tell("reply", ["id": "4", "code": 0], to: SampleLink.base)
    #expect(bench.take() == ["+0 two ok"])
    bench.lose()
    #expect(bench.machine.states["a"] == ["x": "1", "y": "2"])
  }

  @Test func keepsNoStatesThatWereRefused() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.answer = ["code": -13_013]
    bench.call("one", .changeStates("a", ["x": "1"]))
    #expect(bench.take() == ["+0 one -13013"])
    bench.answer = ["code": 0]
    bench.call("two", .changeStates("a", ["y": "2"]))
    #expect(bench.requests("state").last?["states"] == ["y": "2"])
  }

  @Test func forgetsTheStatesOfAChannelThatIsUnsubscribed() throws {
    var bench = try LinkBench<MessageLinkMachine>.connected(channels: ["a"])
    bench.call("one", .changeStates("a", ["x": "1"]))
    bench.call("un", .unsubscribe("a"))
    #expect(bench.machine.states["a"].isEmpty)
  }
}

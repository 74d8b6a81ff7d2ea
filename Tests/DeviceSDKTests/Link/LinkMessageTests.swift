import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// What comes from channels.
@Suite struct LinkMessageTests {
  private static let topic = "link/app/channel/message/"

  private func bench() throws -> LinkBench<MessageLinkMachine> {
    try .connected(channels: ["a"])
  }

  private func effects(of topic: String, _ payload: JSONValue) throws -> [LinkEffect] {
    var bench = try bench()
    let count = bench.effects.count
    bench.receive(.message(Message(topic: topic, payload: payload.utf8)))
    return Array(bench.effects.dropFirst(count))
  }

  @Test(arguments: [
    ("join", LinkPresenceEvent.Kind.remoteJoinChannel), ("leave", .remoteLeaveChannel),
    ("timeout", .remoteConnectionTimeout), ("state", .remoteStateChanged),
    ("something", .errorOutOfService),
  ])
  func tellsWhoComesAndGoes(event: String, kind: LinkPresenceEvent.Kind) throws {
    let effects = try effects(
      of: Self.topic + "a/presence",
      ["event": .string(event), "user": "bob", "states": ["k": "v", "n": 1]])
    guard case .tellPresence(let told) = effects.first else {
      throw Wrong("no presence")
    }
    #expect(told.kind == kind && told.channel == "a" && told.type == .message)
    #expect(told.user == .init("bob", states: ["k": "v"]))
  }

  @Test func tellsIntervals() throws {
    let effects = try effects(
      of: Self.topic + "a/presence",
      [
        "event": "interval", "join": ["b", "alice"], "leave": ["c"], "timeout": ["d"],
        "states": [["user": "b", "states": ["k": "v"]], ["user": "alice", "states": [:]]],
      ])
    guard case .tellPresence(let told) = effects.first else {
      throw Wrong("no presence")
    }
    #expect(told.kind == .interval && told.user == nil)
    #expect(told.interval.joined == ["b"] && told.interval.left == ["c"])
    #expect(
      told.interval.timedOut == ["d"] && told.interval.states == [.init("b", states: ["k": "v"])])
  }

  @Test(
    arguments: [
      ["event": "join", "user": "alice"], ["event": "interval", "join": ["alice"]],
    ] as [JSONValue])
  func doesNotTellOfItself(payload: JSONValue) throws {
    #expect(try effects(of: Self.topic + "a/presence", payload).isEmpty)
  }

  @Test(arguments: [
    topic + "b/presence", topic + "a/other", "link/app/channel", "x", topic + "a/message/b/c",
    topic + "%ZZ/presence", topic + "a/message/%",
  ])
  func ignoresWhatItDidNotAskFor(topic: String) throws {
    #expect(try effects(of: topic, ["event": "join", "user": "bob"]).isEmpty)
  }

  @Test func deliversMessages() throws {
    let effects = try effects(of: Self.topic + "a/message/b%2Fc", "hello")
    guard case .deliver(let message) = effects.first else { throw Wrong("no message") }
    #expect(message.channel == "a" && message.publisher == "b/c")
    #expect(message.text == "\"hello\"" && message.time == ScriptedClient.start)
  }

  @Test func tellsAListOfUsersAgain() throws {
    var bench = try bench()
    _ = bench.take()
    for payload: JSONValue in [
      ["channel": "a", "type": 1, "users": [["user": "b", "states": ["k": "v"]], ["nobody": 1]]],
      ["channel": "a", "type": 2, "users": []], ["channel": "a", "users": []], 1,
    ] {
      bench.tell("snapshot", payload, to: SampleLink.base)
    }
    #expect(bench.take() == ["+0 presence snapshot -"])
    guard case .tellPresence(let told) = bench.effects.last else {
      Issue.record("nobody is told")
      return
    }
    #expect(told.snapshot == [.init("b", states: ["k": "v"])])
  }

  @Test(arguments: [[], [0xFF], Array("{}".utf8), Array(#"{"id":"99","code":0}"#.utf8)])
  func ignoresRepliesThatAreNone(payload: [UInt8]) throws {
    var bench = try bench()
    bench.answer = nil
    bench.call("renew", .renewToken("u"))
    _ = bench.take()
    bench.receive(.message(Message(topic: SampleLink.base + "/down/reply", payload: payload)))
    bench.receive(.message(Message(topic: SampleLink.base + "/down/pong", payload: payload)))
    #expect(bench.take() == [])
    bench.tell("reply", ["id": 3, "code": "0"], to: SampleLink.base)
    #expect(bench.take() == ["+0 renew ok"])
  }

  @Test func takesAReplyOnce() throws {
    var bench = try bench()
    bench.answer = nil
    bench.call("one", .renewToken("u"))
    bench.cancel("one")
    bench.call("two", .renewToken("v"))
    _ = bench.take()
    for _ in 0..<2 {
      bench.tell("reply", ["id": "3", "code": 0], to: SampleLink.base)
      bench.tell("reply", ["id": "4", "code": 0], to: SampleLink.base)
    }
    #expect(bench.take() == ["+0 two ok"])
    #expect(bench.machine.token == "v")
  }
}

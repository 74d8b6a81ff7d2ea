import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// Messages that the cloud retains: publishing them, and clearing them one by one or by a filter.
@Suite struct RetainedTests {
  private static let end = "{up}/sweep/end"

  private func retained(_ topic: String, _ payload: [UInt8] = [1]) -> ClientEvent {
    .message(Message(topic: topic, payload: payload, qos: .atMostOnce, isRetained: true))
  }

  // MARK: The machine

  @Test func publishesWhatIsToBeKept() throws {
    var bench = try ChannelBench.connected()
    bench.call("p", .publishBytes(try ChannelTopic("/a"), Array("x".utf8), isRetained: true))
    bench.call("c", .publishBytes(try ChannelTopic("/a"), [], isRetained: true))
    bench.call("n", .publishBytes(try ChannelTopic("/a"), Array("y".utf8)))
    #expect(
      bench.take() == [
        "PUBLISH {up}/a x retained", "PUBLISH {up}/a - retained", "PUBLISH {up}/a y",
      ])
  }

  @Test func findsWhatIsRetainedUpToTheEndOfASweep() throws {
    var bench = try ChannelBench.connected()
    let up = SampleChannel.up
    bench.call("find", .findRetained(try ChannelTopic("/s/#")))
    #expect(
      bench.take() == [
        "SUBSCRIBE {up}/s/# \(Self.end)", "UNSUBSCRIBE \(Self.end)",
      ])
    bench.input(.received(retained("\(up)/s/2")))
    bench.grant([.atMostOnce, .atMostOnce])
    bench.input(.received(retained("\(up)/s/1")))
    bench.input(.received(retained("\(up)/s/1")))
    #expect(bench.take() == [], "they come for the sweep")
    // Near misses: another topic, a message that is not retained, one that was cleared, and one behind the end.
    bench.input(.received(retained("\(up)/t")))
    bench.input(.received(.message(Message(topic: "\(up)/s/3", payload: [1]))))
    bench.input(.received(retained("\(up)/s/4", [])))
    bench.acknowledgeUnsubscribe()
    bench.input(.received(retained("\(up)/s/5")))
    #expect(
      bench.take() == [
        "forward {up}/t \u{1}", "forward {up}/s/3 \u{1}", "forward {up}/s/4 -",
        "find ok \(up)/s/1, \(up)/s/2", "UNSUBSCRIBE {up}/s/#", "forward {up}/s/5 \u{1}",
      ])
    #expect(bench.machine.deadline == nil && bench.machine.sweeps.isEmpty)
  }

  @Test func keepsWhatTheApplicationHas() throws {
    var bench = try ChannelBench.connected()
    let filter = try ChannelTopic("/sys/x/#")
    bench.call("sub", .subscribe(filter))
    bench.call("early", .findRetained(filter))
    bench.grant()
    bench.grant([.atMostOnce, .atMostOnce])
    bench.call("late", .findRetained(filter))
    #expect(
      bench.take() == [
        "SUBSCRIBE /sys/x/#", "SUBSCRIBE /sys/x/# \(Self.end)", "UNSUBSCRIBE \(Self.end)",
        "sub ok", "SUBSCRIBE /sys/x/# \(Self.end)", "UNSUBSCRIBE \(Self.end)",
      ])
    bench.input(.received(retained("/sys/x/y")))
    bench.acknowledgeUnsubscribe()
    bench.acknowledgeUnsubscribe()
    #expect(bench.take() == ["forward /sys/x/y \u{1}", "early ok /sys/x/y", "late ok /sys/x/y"])
  }

  @Test func failsWithoutAFilterAGrantOrAnAnswer() throws {
    var bench = try ChannelBench.connected()
    bench.call("wild", .findRetained(try ChannelTopic("/a+")))
    #expect(bench.take() == ["wild error 4201"])
    bench.call("refused", .findRetained(try ChannelTopic("/a")))
    bench.grant([nil, .atMostOnce])
    bench.call("silent", .findRetained(try ChannelTopic("/b")))
    bench.wait(10)
    bench.call("lost", .findRetained(try ChannelTopic("/c")))
    bench.close()
    #expect(
      bench.take().filter { $0.contains("error") } == [
        "refused error 4102/128", "silent error 4101", "lost error 4101",
      ])
    #expect(bench.machine.sweeps.isEmpty && bench.machine.calls.isEmpty)
  }

  @Test func aCancelledSweepTakesNothing() throws {
    var bench = try ChannelBench.connected()
    bench.call("find", .findRetained(try ChannelTopic("/s")))
    bench.cancel("find")
    _ = bench.take()
    bench.input(.received(retained("\(SampleChannel.up)/s")))
    bench.grant([.atMostOnce, .atMostOnce])
    bench.acknowledgeUnsubscribe()
    #expect(bench.take() == ["forward {up}/s \u{1}", "UNSUBSCRIBE {up}/s"])
  }

  // MARK: With a broker

  /// The topics below a prefix that a broker retains something on, as a newcomer is told.
  private func kept(on broker: InProcessBroker, below prefix: String) async throws -> [String] {
    try await withSession(on: broker.client(named: "newcomer")) { mqtt in
      try await mqtt.withSubscription(to: "\(prefix)/#") { messages in
        try await mqtt.publish("\(prefix)/last", "x")
        var topics: [String] = []
        for try await message in messages {
          guard message.isRetained else { break }
          topics.append(message.topic)
        }
        return topics
      }
    }
  }

  @Test func clearsATopicAndAFilterOfAChannel() async throws {
    let broker = InProcessBroker()
    let up = SampleChannel.up
    try await withChannel(
      on: broker.client(named: "app"), configuration: SampleChannel.configuration()
    ) { channel in
      try await channel.start()
      for topic in ["/s/1", "/s/2", "/t"] { try await channel.publish(topic, retain: true) }
      try await channel.publish("/s/3")
      #expect(try await kept(on: broker, below: up) == ["\(up)/s/1", "\(up)/s/2", "\(up)/t"])
      #expect(try await channel.clearRetained(matching: "/s/#") == ["\(up)/s/1", "\(up)/s/2"])
      #expect(try await channel.clearRetained(matching: "/s/#") == [])
      #expect(try await kept(on: broker, below: up) == ["\(up)/t"])
      try await channel.clearRetained("/t")
      try await channel.clearRetained("/never")
      #expect(try await kept(on: broker, below: up) == [])
    }
  }

  @Test func clearsATopicAndAFilterOfAGateway() async throws {
    try await GatewayWorld.run { gateway, world in
      let mine = "/sys/a1gw/phone/user"
      try await gateway.subscribe("\(mine)/+")
      for name in ["a", "b"] { try await gateway.upload([1], to: "\(mine)/\(name)", retain: true) }
      try await gateway.publish("\(mine)/c", retain: true)
      #expect(try await kept(on: world.broker, below: mine).count == 3)
      try await gateway.clearRetained("\(mine)/b")
      #expect(try await gateway.clearRetained(matching: "\(mine)/+") == ["\(mine)/a", "\(mine)/c"])
      #expect(try await kept(on: world.broker, below: mine) == [])
      var messages = gateway.messages(matching: "\(mine)/d").makeAsyncIterator()
      try await gateway.upload([7], to: "\(mine)/d")
      #expect(
        try await messages.next()?.message.payload == [7], "the application's subscription stays")
    }
  }

  /// A rider's sweep goes to the broker also where another member holds the filter.
  @Test func clearsOnASharedSession() async throws {
    try await GatewayWorld.withWorld { world, client in
      let session = SharedSession(on: client)
      var configuration = ChannelConfiguration(
        appKey: "1234", identity: try ChannelIdentity(productKey: "a1gw", deviceName: "phone"))
      configuration.reconnect.jitterPercent = 0
      try await withChannel(on: session, configuration: configuration) { channel in
        try await withGateway(
          on: session, configuration: GatewayConfiguration(ridingAs: try #require(channel.clientID))
        ) { gateway in
          try await channel.start()
          try await gateway.start()
          try await channel.subscribe("/sys/a1gw/phone/user/#")
          try await gateway.upload([1], to: "/sys/a1gw/phone/user/a", retain: true)
          #expect(
            try await gateway.clearRetained(matching: "/sys/a1gw/phone/user/#")
              == ["/sys/a1gw/phone/user/a"])
          #expect(try await channel.clearRetained(matching: "/sys/a1gw/phone/user/#") == [])
        }
      }
    }
  }

  /// A server that goes on keeping what it should clear is told of, and not asked for ever.
  @Test func givesUpOnAServerThatKeepsEverything() async throws {
    let client = ScriptedClient { action, _ in
      guard case .subscribe(let wanted) = action.kind else {
        return try SampleChannel.cloud(action, ScriptedClient.start)
      }
      return [
        .subscribed(action.id, wanted.map { $0.qos }),
        .message(
          Message(topic: "\(SampleChannel.up)/s", payload: [1], qos: .atMostOnce, isRetained: true)),
      ]
    }
    let error = try await #require(throws: ChannelError.self) {
      try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
        try await channel.start()
        try await channel.clearRetained(matching: "/s")
      }
    }
    #expect(error.kind == .gateway && error.message.contains("comes back whenever it is cleared"))
    #expect(
      client.performed.count { if case .publish = $0.kind { true } else { false } }
        == RetainedSweep.patience)
  }

  /// A client knows which clouds retain nothing, and refuses before anything is sent.
  @Test func needsACloudThatRetains() throws {
    var bench = try ChannelBench.connected()
    bench.call("p", .publish(try ChannelTopic("/a"), [:], isRetained: true))
    bench.refuse(.unsupported)
    #expect(bench.take().last == "p error 4201")
  }
}

import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct ChannelTests {
  private func withConnectedChannel<Result: Sendable>(
    _ client: ScriptedClient, _ body: (Channel) async throws -> Result
  ) async throws -> Result {
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      try await channel.start()
      return try await body(channel)
    }
  }

  private func cloud() -> ScriptedClient { ScriptedClient(responder: SampleChannel.cloud) }

  @Test func invokesAndDecodes() async throws {
    struct Token: Decodable, Equatable { let iotToken: String }
    let client = cloud()
    let token = try await withConnectedChannel(client) { channel in
      #expect(channel.state == .connected)
      #expect(channel.clientID == "dev1&a1pk" && channel.getClientId() == "dev1&a1pk")
      return try await channel.invoke("/account/bind", ["iotToken": "t"], as: Token.self)
    }
    #expect(token == Token(iotToken: "t"))
    guard case .disconnect = client.performed.last?.kind else {
      Issue.record("the scope did not disconnect")
      return
    }
  }

  @Test func refusesDataOfAnotherType() async throws {
    struct Token: Decodable { let iotToken: Int }
    try await withConnectedChannel(cloud()) { channel in
      let error = try await #require(throws: ChannelError.self) {
        _ = try await channel.invoke("/a", ["iotToken": "t"], as: Token.self)
      }
      #expect(error.kind == .gateway && error.underlying != nil)
    }
  }

  /// The cloud may have to be asked first who the app is.
  @Test func findsOutWhoItIsWhenItStarts() async throws {
    var configuration = try SampleChannel.configuration()
    configuration.identity = nil
    let asked = Mutex<[String]>([])
    configuration.identitySource = { configuration in
      let count = asked.withLock { asked in
        asked.append("\(configuration.appKey) \(configuration.authCode)")
        return asked.count
      }
      guard count > 1 else { throw CancellationError() }
      return try SampleChannel.identity()
    }
    try await withChannel(on: cloud(), configuration: configuration) { channel in
      let early = asked.withLock { $0 }
      #expect(early == [], "nobody has started it")
      let error = try await #require(throws: ChannelError.self) { try await channel.start() }
      #expect(error.kind == .client && error.underlying is CancellationError)
      #expect(channel.state == .disconnected && channel.clientID == nil)
      try await channel.start()
      #expect(channel.clientID == "dev1&a1pk" && channel.state == .connected)
      try await channel.stop()
      try await channel.start()
    }
    let all = asked.withLock { $0 }
    #expect(all == ["1234 test", "1234 test"], "it is asked until it is known")
  }

  @Test func bindsWhenItStartsWhereThatIsWanted() async throws {
    let cloud = ScriptedClient { action, now in
      guard case .publish(let message) = action.kind,
        JSONValue(parsing: message.payload)?["params"]?["iotToken"] == "stale"
      else { return try SampleChannel.cloud(action, now) }
      return [.published(action.id)] + SampleChannel.reply(to: message, code: 2043)
    }
    var configuration = try SampleChannel.configuration()
    configuration.startsAtOnce = true
    let tokens = Mutex<[Int]>([])
    configuration.bindingToken = { refused in
      tokens.withLock { $0.append(refused) }
      return refused == 0 ? "stale" : "good"
    }
    try await withChannel(on: cloud, configuration: configuration) { channel in
      #expect(channel.account == .bound)
      try await channel.stop()
      try await channel.start()
    }
    let asked = tokens.withLock { $0 }
    #expect(asked == [0, 1], "a bound channel is not bound again")
    configuration.bindingToken = { _ in throw CancellationError() }
    await #expect(throws: CancellationError.self) {
      try await withChannel(on: cloud, configuration: configuration) { _ in }
    }
  }

  @Test func failsBeforeItIsStarted() async throws {
    try await withChannel(on: cloud(), configuration: SampleChannel.configuration()) { channel in
      let error = try await #require(throws: ChannelError.self) {
        try await channel.publish("/a")
      }
      #expect(error.kind == .network)
    }
  }

  @Test func completesManyCallsOnceEach() async throws {
    let ids = try await withConnectedChannel(cloud()) { channel in
      try await withThrowingTaskGroup(of: Int?.self) { group in
        for number in 0..<200 {
          group.addTask {
            let reply = try await channel.invoke("/a/\(number % 7)", .number("\(number)"))
            return reply.data?.integer
          }
        }
        return try await group.reduce(into: Set<Int>()) { if let id = $1 { $0.insert(id) } }
      }
    }
    #expect(ids == Set(0..<200))
  }

  @Test func honoursCancellationOfACall() async throws {
    let client = ScriptedClient { action, now in
      if case .publish = action.kind { return [] }
      return try SampleChannel.cloud(action, now)
    }
    try await withConnectedChannel(client) { channel in
      await withThrowingTaskGroup(of: Void.self) { group in
        let before = client.performed.count
        group.addTask { _ = try await channel.invoke("/a") }
        await client.waitForActions(before + 2)
        group.cancelAll()
        await #expect(throws: CancellationError.self) { try await group.waitForAll() }
      }
      client.feed(SampleChannel.message("/a_reply", ["id": "1", "code": 200]))
      await client.settle()
      #expect(channel.statistics.lateReplies == 1)
      #expect(channel.driver.read { $0.calls.isEmpty })
    }
  }

  @Test func disconnectsWhenTheScopeIsCancelled() async throws {
    let client = cloud()
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        try await withConnectedChannel(client) { channel in
          for try await _ in channel.messages() {}
          try Task.checkCancellation()
        }
      }
      await client.waitForActions(2)
      group.cancelAll()
      await #expect(throws: CancellationError.self) { try await group.waitForAll() }
    }
    guard case .disconnect = client.performed.last?.kind else {
      Issue.record("the scope did not disconnect")
      return
    }
  }

  @Test func deliversWhatMatches() async throws {
    let client = cloud()
    try await withConnectedChannel(client) { channel in
      let all = channel.messages()
      let status = channel.messages(matching: "thing/+/x")
      let full = channel.messages(matching: SampleChannel.down + "/thing/b/#")
      let foreign = channel.foreignMessages()
      await #expect(throws: ChannelError.self) {
        for try await _ in channel.messages(matching: "/a#") {}
      }
      client.feed(
        SampleChannel.message("/thing/a/x", ["params": ["v": 1]]),
        SampleChannel.message("/thing/b", "text"),
        .message(Message(topic: "/ext/error", payload: [])))
      await client.settle()
      client.feed(.ended)
      let allTopics = try await all.topics()
      #expect(allTopics == ["/thing/a/x", "/thing/b"])
      let statusTopics = try await status.topics()
      #expect(statusTopics == ["/thing/a/x"])
      let fullTopics = try await full.topics()
      #expect(fullTopics == ["/thing/b"])
      let foreignTopics = try await foreign.topics()
      #expect(foreignTopics == ["/ext/error"])
    }
  }

  @Test func dropsTheOldestMessagesOfASlowReader() async throws {
    let client = cloud()
    try await withConnectedChannel(client) { channel in
      let messages = channel.messages(limit: 2)
      client.feed((1...5).map { SampleChannel.message("/\($0)", [:]) })
      await client.settle()
      #expect(channel.droppedMessages == 3)
      client.feed(.ended)
      let messagesTopics = try await messages.topics()
      #expect(messagesTopics == ["/4", "/5"])
    }
  }

  @Test func tellsEveryChangeOfTheState() async throws {
    let client = cloud()
    let states = try await withChannel(
      on: client, configuration: SampleChannel.configuration()
    ) { channel in
      let changes = channel.stateChanges
      try await channel.start()
      client.feed(.closed(.lost("test")))
      await client.advance(by: .seconds(1))
      await client.settle()
      try await channel.stop()
      client.feed(.ended)
      return await changes.reduce(into: []) { $0.append($1.state) }
    }
    #expect(
      states == [
        .connecting, .connected, .disconnected, .connecting, .connected, .disconnected,
      ])
  }

  @Test func bindsTheAccount() async throws {
    try await withConnectedChannel(cloud()) { channel in
      let changes = channel.accountChanges
      try await channel.bind(token: "t")
      #expect(channel.account == .bound)
      try await channel.unbind()
      try await channel.noteLogin()
      var iterator = changes.makeAsyncIterator()
      #expect(await iterator.next() == .binding)
      #expect(await iterator.next() == .bound)
    }
  }

  @Test func bindsWithNewTokensUntilOneIsTaken() async throws {
    let client = ScriptedClient { action, now in
      guard case .publish(let message) = action.kind else {
        return try SampleChannel.cloud(action, now)
      }
      let token = JSONValue(parsing: message.payload)?["params"]?["iotToken"]
      return SampleChannel.reply(to: message, code: token == "t1" ? 200 : 2043)
    }
    try await withConnectedChannel(client) { channel in
      try await channel.bind(refreshing: { "t\($0)" })
      #expect(channel.account == .bound)
      let error = try await #require(throws: ChannelError.self) {
        try await channel.bind(refreshing: { "stale\($0)" })
      }
      #expect(error.cloudCode == 2043 && channel.account == .needsLogin)
    }
  }

  @Test func throwsWhatBrokeItsWorld() async throws {
    let client = ScriptedClient { action, now in
      if case .publish = action.kind { throw DataClientError(.diverged, "test") }
      return try SampleChannel.cloud(action, now)
    }
    let kind = Mutex<ChannelError.Kind?>(nil)
    let error = await #expect(throws: DataClientError.self) {
      try await withConnectedChannel(client) { channel in
        do {
          try await channel.publish("/a")
        } catch let error as ChannelError {
          kind.withLock { $0 = error.kind }
        }
      }
    }
    #expect(error?.code == .diverged)
    #expect(kind.withLock { $0 } == .gateway)
  }

  @Test func failsCallsAtTheEndOfItsWorld() async throws {
    let client = cloud()
    try await withConnectedChannel(client) { channel in
      client.feed(.ended)
      for await _ in channel.stateChanges {}
      let error = try await #require(throws: ChannelError.self) { try await channel.start() }
      #expect(error.kind == .network)
      await withCheckedContinuation { done in
        channel.publish("/a", params: [:]) { error in
          #expect(error?.kind == .network)
          done.resume()
        }
      }
    }
  }

  @MainActor @Test func runsWhereItsCallerRuns() async throws {
    var steps = 0
    let client = cloud()
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      MainActor.assertIsolated()
      channel.startConnect()
      try await channel.start()
      try await channel.publish("/a", bytes: [0, 1])
      steps += 1
    }
    #expect(steps == 1)
    #expect(
      client.performed.contains { action in
        if case .publish(let message) = action.kind { message.payload == [0, 1] } else { false }
      })
  }

  @Test func takesAnIdentityLater() async throws {
    var configuration = try SampleChannel.configuration()
    configuration.identity = nil
    try await withChannel(on: cloud(), configuration: configuration) { channel in
      #expect(channel.clientID == nil && channel.getClientId().isEmpty)
      try await channel.identify(as: SampleChannel.identity())
      try await channel.start()
      #expect(channel.clientID == "dev1&a1pk")
    }
  }

  @Test func datesWhatItReceives() async throws {
    let client = cloud()
    try await withConnectedChannel(client) { channel in
      var messages = channel.messages().makeAsyncIterator()
      await client.advance(by: .seconds(5))
      client.feed(SampleChannel.message("/a", [:]))
      let message = try #require(try await messages.next())
      #expect(message.time.nanoseconds(since: ScriptedClient.start) == 5_000_000_000)
      await client.advance(by: .seconds(60))
      #expect(!message.isOlder(than: .seconds(60), at: channel.now))
      await client.advance(by: .seconds(1))
      #expect(message.isOlder(than: .seconds(60), at: channel.now))
    }
  }
}

extension AsyncSequence where Element == ChannelMessage, Self: Sendable {
  /// The topics of all messages until the end.
  fileprivate func topics() async throws -> [String] {
    try await reduce(into: []) { $0.append($1.topic) }
  }
}

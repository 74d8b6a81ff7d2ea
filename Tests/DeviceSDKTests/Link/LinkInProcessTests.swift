import CloudSimulator
import DeviceSDK
import RepriseCore
import TestSupport
import Testing

/// The links of several users beside a server, on a broker in process.
@Suite struct LinkInProcessTests {
  /// The clock does not wait for the task of a test: while that has no processor, the day of a token is soon over.
  private static let longLived: LinkServiceRules = {
    var rules = LinkServiceRules()
    rules.tokens["app"] = LinkServiceRules.Token(lifetime: .seconds(1 << 30))
    return rules
  }()

  private func withServer(
    _ rules: LinkServiceRules = Self.longLived,
    _ body: @Sendable (InProcessBroker, LinkServer) async throws -> Void
  ) async throws {
    let broker = InProcessBroker()
    let server = LinkServer(rules)
    let client = broker.client(named: "server")
    try await beside {
      try await server.run(on: client)
    } _: {
      try await body(broker, server)
    }
  }

  private func withUser(
    _ name: String, session: String = "1", _ broker: InProcessBroker,
    _ body: (Link) async throws -> Void
  ) async throws {
    let configuration = LinkConfiguration(appID: "app", userID: name, sessionID: session)
    try await withLink(
      on: broker.client(named: name + session), configuration: configuration,
      streamClient: { broker.client(named: "\(name).\($0)") }
    ) { link in
      try await link.login()
      try await link.subscribe("lobby")
      try await body(link)
    }
  }

  @Test(.timeLimit(.minutes(20))) func seeEachOtherThroughALoss() async throws {
    try await withServer { broker, server in
      try await withUser("bob", broker) { bob in
        var presence = bob.presenceEvents.makeAsyncIterator()
        try await withUser("alice", broker) { alice in
          try await alice.setStates(["mood": "good"], in: "lobby")
          var states = alice.stateEvents.makeAsyncIterator()
          broker.drop("alice1")
          #expect(await states.next()?.current == .disconnected)
          #expect(await states.next()?.current == .connecting)
          #expect(await states.next()?.isResumed == true)
          #expect(server.connectionCount == 2)
        }
        #expect(await presence.next()?.kind == .remoteJoinChannel)
        #expect(await presence.next()?.user?.states == ["mood": "good"])
        #expect(await presence.next()?.kind == .remoteLeaveChannel)
      }
      #expect(server.connectionCount == 0 && server.peakConnectionCount == 2)
    }
  }

  @Test func countMessagesThatASlowReaderMisses() async throws {
    try await withServer { broker, _ in
      try await withUser("bob", broker) { bob in
        let slow = bob.messages(limit: 2)
        var all = bob.messages(in: "lobby").makeAsyncIterator()
        try await withUser("alice", broker) { alice in
          for number in 1...5 { try await alice.publish("\(number)", in: "lobby") }
        }
        for number in 1...5 { #expect(await all.next()?.text == "\(number)") }
        #expect(bob.droppedMessages == 3)
        var kept = slow.makeAsyncIterator()
        #expect(await kept.next()?.text == "4")
        #expect(await kept.next()?.text == "5")
      }
    }
  }

  @Test(.timeLimit(.minutes(20))) func doNotThrowEachOtherOutForEver() async throws {
    try await withServer { broker, _ in
      try await withUser("alice", broker) { first in
        var states = first.stateEvents.makeAsyncIterator()
        try await withUser("alice", session: "2", broker) { second in
          #expect(await states.next()?.reason == .sameUIDLogin)
          #expect(first.state == .failed && second.state == .connected)
        }
      }
    }
  }

  @Test(.timeLimit(.minutes(20))) func joinStreamChannelsWithConnectionsOfTheirOwn() async throws {
    try await withServer { broker, server in
      try await withUser("bob", broker) { bob in
        var presence = bob.presenceEvents.makeAsyncIterator()
        try await bob.streamChannel("room").join()
        try await withUser("alice", broker) { alice in
          let room = try alice.streamChannel("room")
          try await room.join()
          var states = alice.stateEvents.makeAsyncIterator()
          broker.drop("alice.room")
          #expect(await states.next()?.reason == .rejoin)
          #expect(await states.next()?.reason == .joinSuccess)
          #expect(alice.state == .connected && server.connectionCount == 2)
          try await room.leave()
        }
        var seen: [String] = []
        while seen.count < 5, let event = await presence.next() {
          seen.append("\(event.type) \(event.kind)")
        }
        #expect(
          seen == [
            "stream snapshot", "message remoteJoinChannel", "stream remoteJoinChannel",
            "stream remoteLeaveChannel",
            "message remoteLeaveChannel",
          ])
      }
    }
  }

  @Test(.timeLimit(.minutes(20))) func talkInTopicsOfStreamChannels() async throws {
    try await withServer { broker, _ in
      try await withUser("bob", broker) { bob in
        let room = try bob.streamChannel("room")
        try await room.join()
        var topics = room.topicEvents.makeAsyncIterator()
        var all = room.messages().makeAsyncIterator()
        var chat = room.messages(in: "chat").makeAsyncIterator()
        var lobby = bob.messages().makeAsyncIterator()
        var states = bob.stateEvents.makeAsyncIterator()
        #expect(await topics.next()?.kind == .snapshot)
        #expect(room.topics == [] && room.joinedTopics == [] && room.subscribedTopics == [])
        try await withUser("alice", broker) { alice in
          let other = try alice.streamChannel("room")
          try await other.join(features: [.presence, .metadata, .lock])
          try await other.joinTopic("chat", LinkTopicOptions(qos: .ordered, meta: "m"))
          try await other.joinTopic("news")
          #expect(await topics.next()?.kind == .remoteJoinTopic)
          #expect(
            await topics.next()?.topics == [LinkTopicInfo("news", publishers: [.init("alice")])])
          try await room.subscribeTopic("chat")
          try await room.subscribeTopic("news", users: ["alice", "carl"])
          #expect(room.topics.map(\.name) == ["chat", "news"])
          #expect(other.joinedTopics == ["chat", "news"] && room.joinedTopics == [])
          #expect(room.subscribedTopics == ["chat", "news"])
          #expect(room.subscribedUsers(of: "news") == ["alice", "carl"])
          broker.drop("bob.room")
          #expect(await states.next()?.reason == .rejoin)
          #expect(await states.next()?.reason == .joinSuccess)
          #expect(await topics.next()?.topics.map(\.name) == ["chat", "news"])
          try await other.publish("one", in: "news")
          #expect(await all.next()?.text == "one")
          try await other.publish("two", in: "chat")
          try await alice.publish("three", in: "lobby")
          try await room.unsubscribeTopic("news")
          try await other.leaveTopic("news")
          let error = await #expect(throws: LinkError.self) {
            try await other.publish("four", in: "news")
          }
          #expect(error?.code == .channelTopicNotJoined)
        }
        #expect(await all.next()?.text == "two")
        #expect(await chat.next()?.text == "two")
        // Those of topics are not among those of message channels.
        #expect(await lobby.next()?.text == "three")
        #expect(await topics.next()?.kind == .remoteLeaveTopic)
        #expect(await topics.next()?.topics.map(\.name) == ["chat"])
        #expect(room.topics == [])
        try await room.leave()
        #expect(room.subscribedTopics == [])
      }
    }
  }

  @Test(.timeLimit(.minutes(20))) func letsADayOfHeartbeatsPass() async throws {
    try await withServer(LinkServiceRules()) { broker, _ in
      try await withUser("alice", broker) { alice in
        let start = broker.now
        var tokens = alice.tokenEvents.makeAsyncIterator()
        var states = alice.stateEvents.makeAsyncIterator()
        // The server's tokens are valid for a day.
        #expect(await tokens.next()?.service == .message)
        #expect(broker.now.nanoseconds(since: start) >= 86_000_000_000_000)
        // The link was connected all the time: the first that changes it is that nobody renews the token.
        let change = await states.next()
        #expect(change?.previous == .connected && change?.reason == .tokenExpired)
        #expect(change.map { $0.time.nanoseconds(since: start) >= 86_390_000_000_000 } == true)
      }
    }
  }
}

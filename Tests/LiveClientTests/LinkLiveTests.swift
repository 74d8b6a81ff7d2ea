import CloudSimulator
import DeviceSDK
import LiveClient
import RepriseCore
import TestSupport
import Testing

/// Links and their server, each with connections of its own to a real broker.
@Suite struct LinkLiveTests {
  private func withServer(
    _ body: @Sendable (Broker, LinkServer) async throws -> Void
  ) async throws {
    let broker = try await Broker()
    let server = LinkServer()
    let client = try MosquittoClient(url: broker.url)
    try await beside {
      try await server.run(on: client)
    } _: {
      try await body(broker, server)
    }
  }

  private func withUser(
    _ name: String, session: String = "1", _ broker: Broker, _ body: (Link) async throws -> Void
  ) async throws {
    var configuration = LinkConfiguration(appID: "app", userID: name, sessionID: session)
    configuration.attemptTimeout = .seconds(2)
    let url = broker.url
    try await withLink(
      on: try MosquittoClient(url: url), configuration: configuration,
      streamClient: { _ in try MosquittoClient(url: url) }
    ) { link in
      // The server may not be subscribed yet: then the first try is in vain.
      try await link.login(token: "t")
      try await body(link)
    }
  }

  @Test(.timeLimit(.minutes(5))) func seeEachOtherOnABroker() async throws {
    try await withServer { broker, server in
      try await withUser("bob", broker) { bob in
        var presence = bob.presenceEvents.makeAsyncIterator()
        var messages = bob.messages().makeAsyncIterator()
        try await bob.subscribe("lobby")
        #expect(await presence.next()?.kind == .snapshot)
        try await withUser("alice", broker) { alice in
          try await alice.subscribe("lobby")
          try await alice.setStates(["mood": "good"], in: "lobby")
          try await alice.publish("hello", in: "lobby")
          #expect(await presence.next()?.kind == .remoteJoinChannel)
          #expect(await presence.next()?.user?.states == ["mood": "good"])
          #expect(await messages.next()?.text == "hello")
          #expect(server.connectionCount == 2)
        }
        #expect(await presence.next()?.kind == .remoteLeaveChannel)
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func keepAStreamAliveByHeartbeats() async throws {
    try await withServer { broker, _ in
      let watcher = try await TestClient.connected(broker)
      try await watcher.subscribe("link/app/stream/alice/1/room/down/pong")
      try await withUser("alice", broker) { alice in
        let room = try alice.streamChannel("room")
        try await room.join()
        for number in 1...4 {
          #expect(try await watcher.message().payload == Array("\(number)".utf8))
        }
        #expect(room.state == .connected)
        try await room.leave()
      }
      try await watcher.disconnect()
    }
  }

  @Test(.timeLimit(.minutes(5))) func comeBackWithTheirBroker() async throws {
    try await withServer { broker, _ in
      try await withUser("alice", broker) { alice in
        try await alice.subscribe("lobby")
        var states = alice.stateEvents.makeAsyncIterator()
        await broker.stop()
        #expect(await states.next()?.current == .disconnected)
        try await broker.start()
        while let event = await states.next(), event.current != .connected {}
        #expect(alice.state == .connected && alice.subscribedChannels == ["lobby"])
      }
    }
  }

  @Test(.timeLimit(.minutes(5))) func throwOutTheFirstOfTwoLogins() async throws {
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
}

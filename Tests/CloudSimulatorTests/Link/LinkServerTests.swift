import CloudSimulator
import RepriseCore
import TestSupport
import Testing

/// The server of links on a broker in process.
@Suite struct LinkServerTests {
  private static let base = "link/app/message/alice/s1"
  private static let login = #"{"id":"1","token":"t","heartbeatInterval":5,"presenceTimeout":5}"#

  private func withServer(
    _ body: @Sendable (Peer, LinkServer, InProcessBroker) async throws -> Void
  ) async throws {
    let broker = InProcessBroker()
    let peer = Peer(broker.client(named: "peer"))
    let server = LinkServer()
    let client = broker.client(named: "server")
    try await beside {
      try await server.run(on: client)
    } _: {
      try await peer.connect("peer")
      #expect(try await peer.client.next(before: nil) == .connected(.init()))
      try await peer.subscribe(Self.base + "/down/+")
      try await peer.subscribe("link/app/channel/message/lobby/presence")
      #expect(try await peer.lines() == ["subscribed 1", "subscribed 1"])
      try await body(peer, server, broker)
    }
  }

  @Test func takesInTellsAndThrowsOut() async throws {
    try await withServer { peer, server, _ in
      try await peer.publish(Self.base + "/up/login", Self.login)
      #expect(
        try await peer.lines() == [
          "published", Self.base + #"/down/reply {"id":"1","code":0,"expiresIn":86400} q1"#,
        ])
      try await peer.publish(
        Self.base + "/up/subscribe", #"{"id":2,"channel":"lobby","features":4}"#)
      _ = try await peer.lines()
      // Silence, in virtual time.
      let lines = try await peer.lines(for: .seconds(60))
      #expect(
        lines == [
          #"link/app/channel/message/lobby/presence {"event":"timeout","user":"alice","states":{}} q1"#
        ])
      try await peer.publish(Self.base + "/up/login", Self.login)
      _ = try await peer.lines()
      #expect(server.connectionCount == 1)
      server.kick("alice", of: "app")
      #expect(try await peer.lines() == [Self.base + #"/down/kick {"reason":28} q1"#])
      #expect(server.connectionCount == 0 && server.peakConnectionCount == 1)
    }
  }

  @Test func obeysNewRules() async throws {
    try await withServer { peer, server, _ in
      server.rules.isDeaf = true
      try await peer.publish(Self.base + "/up/login", Self.login)
      #expect(try await peer.lines() == ["published"])
    }
  }

  @Test func connectsAgainAfterALoss() async throws {
    try await withServer { peer, _, broker in
      broker.refuseConnections(of: "link-server", code: 3, count: 2)
      broker.drop("server")
      #expect(try await peer.lines(for: .milliseconds(7_001)) == [])
      try await peer.publish(Self.base + "/up/login", Self.login)
      #expect(try await peer.lines().count == 2)
    }
  }

  @Test func kicksAsSoonAsThereIsAConnection() async throws {
    try await withServer { peer, server, broker in
      try await peer.publish(Self.base + "/up/login", Self.login)
      _ = try await peer.lines()
      broker.drop("server")
      #expect(try await peer.lines() == [])
      server.kick("alice", of: "app", reason: 27)
      #expect(
        try await peer.lines(for: .seconds(2)) == [Self.base + #"/down/kick {"reason":27} q1"#])
    }
  }

  @Test(arguments: [UInt8(1), 2, 4, 5, 0x86, 0x87])
  func givesUpWhenItIsRefusedForGood(code: UInt8) async throws {
    let broker = InProcessBroker()
    broker.refuseConnections(code: code)
    let error = await #expect(throws: SimulatorError.self) {
      try await LinkServer().run(on: broker.client(named: "server"))
    }
    #expect(error?.code == .refused)
  }

  @Test(.timeLimit(.minutes(20)), arguments: [UInt8(3), 0x88, 0x89])
  func waitsForABrokerThatIsBusy(code: UInt8) async throws {
    try await withServer { peer, _, broker in
      broker.refuseConnections(of: "link-server", code: code, count: 1)
      broker.drop("server")
      // 1 and 2 seconds.
      #expect(try await peer.lines(for: .milliseconds(3_001)) == [])
      try await peer.publish(Self.base + "/up/login", Self.login)
      #expect(try await peer.lines().count == 2)
    }
  }

  @Test func givesUpAfterAsManyAttemptsAsAreAllowed() async throws {
    let broker = InProcessBroker()
    broker.refuseConnections(code: 3, count: 100)
    let server = LinkServer(retryLimit: 3)
    let error = await #expect(throws: SimulatorError.self) {
      try await server.run(on: broker.client(named: "server"))
    }
    #expect(error?.code == .unreachable)
  }

  @Test func needsToHearLinks() async throws {
    let broker = InProcessBroker()
    broker.refuseSubscriptions(to: "link/#")
    let error = await #expect(throws: SimulatorError.self) {
      try await LinkServer().run(on: broker.client(named: "server"))
    }
    #expect(error?.code == .notSubscribed)
  }

  @Test(.timeLimit(.minutes(20))) func needsToBeHeardByLinks() async throws {
    let broker = InProcessBroker()
    broker.refuseMessages(to: Self.base + "/down/#")
    let capabilities = InProcessClient.allCapabilities.union(.refusals)
    let client = broker.client(named: "server", capabilities: capabilities)
    let peer = Peer(broker, "peer")
    let server = LinkServer()
    async let run: Void = server.run(on: client)
    try await peer.connect("peer")
    // The server subscribes first: it was made first.
    #expect(try await peer.lines(for: .seconds(1)) == ["connected"])
    try await peer.publish(Self.base + "/up/login", Self.login)
    do {
      try await run
      Issue.record("the server goes on")
    } catch let error as SimulatorError {
      #expect(error.code == .notPublished)
      #expect(error.message.contains("not authorized (code 0x87)"))
    }
  }

  @Test func runsOnceAndEndsWithItsWorld() async throws {
    let broker = InProcessBroker()
    let watcher = Peer(broker, "watcher")
    let client = broker.client(named: "server")
    let server = LinkServer()
    async let run: Void = server.run(on: client)
    #expect(try await watcher.lines(for: .seconds(1)) == [])
    let error = await #expect(throws: SimulatorError.self) { try await server.run(on: client) }
    #expect(error?.code == .running)
    broker.end()
    try await run
  }
}

import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// What closes something closes it in a cancelled task too, as cleaning up is what a cancelled task does.
@Suite struct CleanupTests {
  /// Does something in a task that is cancelled already, and expects that it says so.
  private func inCancelledTask(
    _ body: @escaping @Sendable () async throws -> Void,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    await withThrowingTaskGroup(of: Void.self) { group in
      group.cancelAll()
      group.addTask { try await body() }
      await #expect(throws: CancellationError.self, sourceLocation: location) {
        try await group.waitForAll()
      }
    }
  }

  @Test func aGatewayStops() async throws {
    try await GatewayWorld.run { gateway, _ in
      var changes = gateway.stateChanges.makeAsyncIterator()
      await inCancelledTask { try await gateway.stop() }
      #expect(await changes.next()?.state == .disconnected)
      try await gateway.start()
      #expect(gateway.state == .connected)
    }
  }

  @Test func aLineOfAGatewayCloses() async throws {
    try await GatewayWorld.run { gateway, world in
      let device = try TestSubdevice(isOpen: false)
      let line = try await world.broker.withTimeHeld { try await gateway.connect(device) }
      #expect(line.isOnline)
      await inCancelledTask { try await line.close() }
      #expect(device.closings == 1 && gateway.lines.isEmpty && line.state == .new)
      #expect(gateway.hub.opener.count == 0)
      let again = try await world.broker.withTimeHeld { try await gateway.connect(device) }
      #expect(again.isOnline && device.openings == 2)
    }
  }

  @Test func aConnectionOfRequestsCloses() async throws {
    let client = ScriptedClient(capabilities: [.frames]) { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      default: []
      }
    }
    try await withRequests(on: client) { connection in
      try await connection.open()
      await inCancelledTask { try await connection.close() }
      await client.waitForActions(2)
      #expect(client.performed.last?.kind == .disconnect)
      try await connection.open()
    }
  }

  @Test func aLinkLogsOutAndLeaves() async throws {
    let broker = InProcessBroker()
    let server = LinkServer()
    try await beside {
      try await server.run(on: broker.client(named: "server"))
    } _: {
      try await withLink(
        on: broker.client(named: "alice"),
        configuration: LinkConfiguration(appID: "app", userID: "alice", sessionID: "1"),
        streamClient: { broker.client(named: "alice.\($0)") }
      ) { link in
        try await link.login()
        let room = try link.streamChannel("room")
        try await room.join()
        var states = link.stateEvents.makeAsyncIterator()
        await inCancelledTask { try await room.leave() }
        let left = await states.next()
        #expect(left?.service == .stream && left?.current == .idle)
        try await room.join()
        while let event = await states.next(), event.current != .connected {}
        await inCancelledTask { try await link.logout() }
        var idle: Set<LinkService> = []
        while idle.count < 2, let event = await states.next() {
          if event.current == .idle { idle.insert(event.service) }
        }
        #expect(link.state == .idle)
      }
    }
  }
}

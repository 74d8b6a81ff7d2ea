import CloudSimulator
import RepriseCore
import Testing

@testable import DeviceSDK

/// Ways to sub-devices: opened, not opened, given up.
@Suite struct SubdeviceTests {
  /// SDK-gateway-6, 21.
  @Test func opensAWayThatIsNotReady() async throws {
    try await GatewayWorld.run { gateway, world in
      let device = try TestSubdevice(isOpen: false)
      // The clock of the broker does not wait for the device.
      let line = try await world.broker.withTimeHeld { try await gateway.connect(device) }
      #expect(line.isOnline && device.openings == 1)
      try await line.close()
      #expect(device.closings == 1 && gateway.lines.isEmpty && line.state == .new)
      #expect(world.cloud.onlineSubdevices.isEmpty)
      #expect(gateway.hub.opener.count == 0)
    }
  }

  /// SDK-gateway-6.
  @Test func failsWhenAWayDoesNotOpen() async throws {
    try await GatewayWorld.run { gateway, world in
      let device = try TestSubdevice(isOpen: false, .fails)
      let error = try await world.broker.withTimeHeld {
        try await #require(throws: GatewayError.self) { try await gateway.line(for: device) }
      }
      #expect(error.kind == .subdevice && error.underlying is TestSubdevice.OutOfReach)
      #expect(gateway.hub.opener.count == 0)
    }
  }

  /// SDK-gateway-7.
  @Test func givesUpAWayThatNeverOpens() async throws {
    try await GatewayWorld.run { gateway, world in
      let start = gateway.now
      let gone = try TestSubdevice(isOpen: false, .hangs)
      let error = try await #require(throws: GatewayError.self) {
        try await gateway.line(for: gone)
      }
      #expect(error.kind == .subdevice)
      for _ in 0..<100_000 where gone.abandonments == 0 { await Task.yield() }
      #expect(gone.abandonments == 1, "the opening was cancelled")
      #expect(gateway.now.nanoseconds(since: start) == 30_000_000_000)
      #expect(gateway.hub.opener.count == 0)
      let device = try TestSubdevice()
      let line = try await gateway.line(for: device)
      device.goAway(.hangs)
      let again = try await #require(throws: GatewayError.self) { try await line.addTopology() }
      #expect(again.kind == .subdevice && line.state == .ready)
      #expect(world.log.publishes(to: "/sys/a1gw/phone/thing/topo/add") == 0)
    }
  }

  @Test func leavesTheScopeWhileAWayIsBeingOpened() async throws {
    try await GatewayWorld.run { gateway, world in
      let device = try TestSubdevice(isOpen: false, .hangs)
      await withCheckedContinuation { done in
        gateway.setupGatewayLine(device) { line, error in
          #expect(line == nil && error?.kind == .subdevice)
          done.resume()
        }
      }
      gateway.setupGatewayLine(device) { line, error in
        #expect(line == nil && error != nil)
      }
    }
  }

  @Test func honoursCancellationOfASetUp() async throws {
    try await GatewayWorld.run { gateway, world in
      let device = try TestSubdevice(isOpen: false, .hangs)
      await world.broker.withTimeHeld {
        await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { _ = try await gateway.line(for: device) }
          while device.openings == 0 { await Task.yield() }
          group.cancelAll()
          await #expect(throws: CancellationError.self) { try await group.waitForAll() }
        }
      }
      #expect(gateway.hub.opener.count == 0)
    }
  }

  /// SDK-gateway-10, 11.
  @Test func hasOneLineForASubdevice() async throws {
    try await GatewayWorld.run { gateway, _ in
      let line = try await gateway.connect(TestSubdevice())
      let again = try await gateway.line(for: TestSubdevice())
      #expect(again.subdevice == line.subdevice && again.isOnline)
      #expect(gateway.lines.count == 1 && gateway.hub.opener.count == 1)
      #expect(gateway.line(of: line.subdevice) != nil)
      #expect(gateway.getGatewayLine(productKey: "123", deviceName: "test") != nil)
      #expect(gateway.getGatewayLine(productKey: "123", deviceName: "x") == nil)
    }
  }
}

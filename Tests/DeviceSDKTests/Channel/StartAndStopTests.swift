import CloudSimulator
import RepriseCore
import TestSupport
import Testing

@testable import DeviceSDK

/// How waiting for a start and for a stop ends.
@Suite struct StartAndStopTests {
  /// The body that could ask for the state does not begin.
  @Test func saysWhyItCouldNotStartAtOnce() async throws {
    let broker = InProcessBroker()
    broker.refuseConnections(code: 3, count: 1_000)
    let (start, client) = (broker.now, broker.client(named: "app"))
    let credentials = DeviceCredentials(
      productKey: "a1pk", deviceName: "dev1", deviceSecret: "secret")
    let configuration = try ChannelConfiguration(credentials: credentials)
    let error = await #expect(throws: ChannelError.self) {
      try await withChannel(on: client, configuration: configuration) { _ in
        Issue.record("the channel is not connected")
      }
    }
    // The world goes on until the task of the start is awake.
    #expect(broker.now.nanoseconds(since: start) >= 60_000_000_000)
    #expect(error?.kind == .network)
    let reason = error?.underlying as? ChannelError
    #expect(reason?.kind == .gateway && reason?.cloudCode == 3)
    #expect(reason.map { error?.message.contains($0.message) } == true)
  }

  @Test func stopsInATaskThatIsCancelledAlready() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    try await withChannel(on: client, configuration: SampleChannel.configuration()) { channel in
      try await channel.start()
      await withThrowingTaskGroup(of: Void.self) { group in
        group.cancelAll()
        group.addTask { try await channel.stop() }
        await #expect(throws: CancellationError.self) { try await group.waitForAll() }
      }
      #expect(channel.state == .disconnected)
      // It is closed, and can be opened anew.
      await client.settle()
      try await channel.start()
      #expect(channel.state == .connected)
      #expect(channel.driver.read { $0.calls.isEmpty })
    }
  }
}

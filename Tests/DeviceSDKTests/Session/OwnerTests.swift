import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

/// A system that an object owns, beside the same in a scope.
@Suite struct OwnerTests {
  private static func names(_ client: ScriptedClient) -> [String] {
    client.performed.map { action in
      switch action.kind {
      case .connect: "connect"
      case .subscribe: "subscribe"
      case .publish(let message): "publish \(message.topic)"
      case .disconnect: "disconnect"
      default: "other"
      }
    }
  }

  @Test func holdsAChannelFromStartToStop() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    let owner = Owner<Channel>(on: client, configuration: try SampleChannel.configuration())
    #expect(owner.system == nil && client.performed.isEmpty)
    async let other = owner.start()
    let channel = try await owner.start()
    #expect(try await other.state == .connected)
    #expect(channel.state == .connected && owner.system?.state == .connected)
    #expect(try await channel.invoke("/a", ["b": 1]).code == 200)
    try await owner.stop()
    #expect(owner.system == nil)
    // The system of one start is none after its stop.
    await #expect(throws: (any Error).self) { try await channel.invoke("/a") }
    #expect(Self.names(client).first == "connect" && Self.names(client).last == "disconnect")
    try await owner.stop()
    // The same owner begins again.
    #expect(try await owner.start().state == .connected)
    try await owner.stop()
    #expect(Self.names(client).count { $0 == "connect" } == 2)
    #expect(Self.names(client).count { $0 == "disconnect" } == 2)
  }

  @Test func aStartThatFailsSaysWhyAndMayBeTriedAgain() async throws {
    let refusals = Countdown(1)
    let client = ScriptedClient { action, _ in
      switch action.kind {
      case .connect: refusals.take() ? [.closed(.refused(code: 5))] : [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      default: []
      }
    }
    let owner = Owner<MQTTSession>(on: client, configuration: MQTTConfiguration(clientID: "c"))
    let error = await #expect(throws: MQTTError.self) { try await owner.start() }
    #expect(error?.kind == .refused)
    #expect(owner.system == nil)
    let mqtt = try await owner.start()
    #expect(mqtt.state == .connected(isSessionPresent: false))
    try await owner.stop()
    // An app that kept the session is told that it is over, not that a task was cancelled.
    let late = await #expect(throws: MQTTError.self) { try await mqtt.publish("t", "") }
    #expect(late?.kind == .notConnected && late?.message.contains("stopped") == true)
    let cancelled = Task { [mqtt] in
      withUnsafeCurrentTask { $0?.cancel() }
      try await mqtt.publish("t", "")
    }
    await #expect(throws: CancellationError.self) { try await cancelled.value }
  }

  @Test func aStartThatIsCancelledIsTakenBack() async throws {
    // No server answers.
    let client = ScriptedClient()
    let owner = Owner<MQTTSession>(on: client, configuration: MQTTConfiguration(clientID: "c"))
    let task = Task { try await owner.start() }
    await client.waitForActions(1)
    task.cancel()
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(owner.system == nil)
    try await owner.stop()
    await client.waitForActions(2)
    #expect(Self.names(client) == ["connect", "disconnect"])
  }

  @Test func anOwnerThatIsLetGoSaysGoodbye() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    do {
      let owner = Owner<MQTTSession>(on: client, configuration: MQTTConfiguration(clientID: "c"))
      _ = try await owner.start()
    }
    await client.waitForActions(2)
    #expect(Self.names(client) == ["connect", "disconnect"])
  }

  @Test func aBrokenWorldIsToldAtTheStop() async throws {
    let client = ScriptedClient { action, _ in
      switch action.kind {
      case .connect: [.connected(.init())]
      case .disconnect: [.closed(.byUser)]
      default: throw DataClientError(.diverged, "not this")
      }
    }
    let owner = Owner<MQTTSession>(on: client, configuration: MQTTConfiguration(clientID: "c"))
    let mqtt = try await owner.start()
    await #expect(throws: (any Error).self) { try await mqtt.publish("t", "") }
    let error = await #expect(throws: DataClientError.self) { try await owner.stop() }
    #expect(error?.code == .diverged)
  }

  @Test func gatewaysAndLinksHaveOwnersToo() async throws {
    let client = ScriptedClient(responder: SampleChannel.cloud)
    let gateway = Owner<Gateway>(
      on: client, configuration: try GatewayWorld.configuration())
    async let starting = gateway.start()
    await client.waitForActions(2)
    #expect(Self.names(client).prefix(2) == ["connect", "subscribe"])
    #expect(try await starting.state == .connected)
    try await gateway.stop()
    #expect(Self.names(client).last == "disconnect")
    let other = ScriptedClient()
    let link = Owner<Link>(on: other, configuration: LinkConfiguration(appID: "app", userID: "u"))
    #expect(try await link.start().state == .idle)
    try await link.stop()
    #expect(other.performed.isEmpty)
  }
}

/// Counts down, for closures that are called from anywhere.
private final class Countdown: Sendable {
  private let count: Mutex<Int>

  init(_ count: Int) { self.count = Mutex(count) }

  /// Whether there was one left.
  func take() -> Bool {
    count.withLock { count in
      defer { count -= 1 }
      return count > 0
    }
  }
}
